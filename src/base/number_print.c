/* Shortest decimal text of a double.
 *
 * Method: Schubfach, R. Giulietti, "The Schubfach way to render doubles" (2020). Of all decimals that
 * round to the double the shortest is taken, of several equally short ones the closest. The symbols
 * are the paper's: the double is c * 2^q; k is the exponent of the decimal candidates; the interval
 * that rounds to the double is [vl, vr], its middle v, all three scaled by 4 and rounded to odd. */
#include "base/number.h"
#include "base/text.h"

typedef struct {
    uint64_t digits;
    int exponent; /* value = digits * 10^exponent */
} Decimal;

static const int MANTISSA_BITS = 52;
static const int EXPONENT_BIAS = 1075;

/* floor(g * c / 2^128) with its last bit set when something was cut off. */
static uint64_t round_to_odd(Power g, uint64_t c)
{
    const Wide low = (Wide)g.low * c;
    const Wide high = (Wide)g.high * c + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* The smallest number with 128 bits that is not below 10^k, scaled. */
static Power power_ceiling(int k)
{
    Power g = number_powers[k - POWER_FIRST];
    if (k < 0 || k > POWER_LAST_EXACT) {
        g.low++;
        g.high += g.low == 0;
    }
    return g;
}

static Decimal shortest_decimal(uint64_t fraction, int biased)
{
    const uint64_t c = biased ? fraction | (uint64_t)1 << MANTISSA_BITS : fraction;
    const int q = (biased ? biased : 1) - EXPONENT_BIAS;
    if (q <= 0 && q >= -MANTISSA_BITS && (c & (((uint64_t)1 << -q) - 1)) == 0)
        return (Decimal){ c >> -q, 0 }; /* an integer below 2^53 is its own shortest text */

    const bool is_even = (c & 1) == 0;
    const bool is_closer_below = fraction == 0 && biased > 1; /* a power of two: the gap below is half as wide */
    const int k = (q * 1262611 - (is_closer_below ? 524031 : 0)) >> 22; /* floor of log10 of the interval's width */
    const int h = q + power_log2(-k) + 1;
    const Power g = power_ceiling(-k);
    const uint64_t vl = round_to_odd(g, (4 * c - 2 + is_closer_below) << h);
    const uint64_t v = round_to_odd(g, (4 * c) << h);
    const uint64_t vr = round_to_odd(g, (4 * c + 2) << h);
    const uint64_t lower = vl + !is_even, upper = vr - !is_even;

    const uint64_t s = v / 4;
    if (s >= 10) { /* one digit less: at most one multiple of ten lies in the interval */
        const uint64_t ten = s / 10 * 10;
        const bool is_down_inside = lower <= 4 * ten, is_up_inside = 4 * ten + 40 <= upper;
        if (is_down_inside != is_up_inside)
            return (Decimal){ ten / 10 + is_up_inside, k + 1 };
    }
    const bool is_down_inside = lower <= 4 * s, is_up_inside = 4 * s + 4 <= upper;
    if (is_down_inside != is_up_inside)
        return (Decimal){ s + is_up_inside, k };
    const uint64_t middle = 4 * s + 2;
    return (Decimal){ s + (v > middle || (v == middle && (s & 1))), k };
}

static const char PAIRS[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                            "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

/* Eight digits with leading zeros. */
static void put_eight(char *to, uint32_t value)
{
    const uint32_t high = value / 10000, low = value % 10000;
    memcpy(to, PAIRS + 2 * (high / 100), 2);
    memcpy(to + 2, PAIRS + 2 * (high % 100), 2);
    memcpy(to + 4, PAIRS + 2 * (low / 100), 2);
    memcpy(to + 6, PAIRS + 2 * (low % 100), 2);
}

/* The digits end at DIGITS_END and zeros follow, so that pieces of fixed size may be copied from them:
 * a copy whose size the compiler knows is one or two moves. */
enum { DIGITS_END = 24, DIGITS_SIZE = 48, MOST_DIGITS = 17 };

/* Writes the digits of a value below 10^17; returns how many there are without leading zeros. */
static int put_digits(char to[DIGITS_SIZE], uint64_t value)
{
    memset(to + DIGITS_END, '0', DIGITS_SIZE - DIGITS_END);
    const uint64_t high = value / 100000000;
    put_eight(to + 16, (uint32_t)(value % 100000000));
    put_eight(to + 8, (uint32_t)(high % 100000000));
    to[7] = (char)('0' + high / 100000000);
    int begin = 7;
    while (begin < DIGITS_END - 1 && to[begin] == '0')
        begin++;
    return DIGITS_END - begin;
}

static char *put_exponent(char *to, int exponent)
{
    *to++ = 'e';
    *to++ = exponent < 0 ? '-' : '+';
    const int size = exponent < 0 ? -exponent : exponent;
    if (size >= 100)
        *to++ = (char)('0' + size / 100);
    if (size >= 10)
        *to++ = (char)('0' + size / 10 % 10);
    *to++ = (char)('0' + size % 10);
    return to;
}

/* Plain notation reaches from 0.00001 to 17 digits before the point. */
static const int PLAIN_SMALLEST = -5, PLAIN_LARGEST = 16;

/* `point`: how many of the n digits stand before the decimal point. Writes at most 26 bytes. */
static char *put_decimal(char *to, const char *digits, int n, int point)
{
    if (point - 1 < PLAIN_SMALLEST || point - 1 > PLAIN_LARGEST) {
        to[0] = digits[0];
        to[1] = '.';
        memcpy(to + 2, digits + 1, MOST_DIGITS - 1);
        return put_exponent(to + (n > 1 ? n + 1 : 1), point - 1);
    }
    if (point <= 0) {
        memcpy(to, "0.000000", 8);
        memcpy(to + 2 - point, digits, MOST_DIGITS);
        return to + 2 - point + n;
    }
    memcpy(to, digits, MOST_DIGITS);
    if (point >= n)
        return to + point;
    to[point] = '.';
    if (point > 8)
        memcpy(to + point + 1, digits + point, 8);
    else
        memcpy(to + point + 1, digits + point, 16);
    return to + n + 1;
}

size_t real_to_text(double value, char *to)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & (((uint64_t)1 << MANTISSA_BITS) - 1);
    const int biased = (int)(bits >> MANTISSA_BITS & 0x7ff);
    char *at = to;
    if (biased == 0x7ff && fraction) {
        memcpy(to, "nan", 3);
        return 3;
    }
    if (bits >> 63)
        *at++ = '-';
    if (biased == 0x7ff) {
        memcpy(at, "inf", 3);
        return (size_t)(at + 3 - to);
    }
    if (biased == 0 && fraction == 0) {
        *at++ = '0';
        return (size_t)(at - to);
    }
    const Decimal decimal = shortest_decimal(fraction, biased);
    char digits[DIGITS_SIZE];
    int n = put_digits(digits, decimal.digits);
    const char *first = digits + DIGITS_END - n;
    const int point = n + decimal.exponent;
    while (n > 1 && first[n - 1] == '0')
        n--;
    return (size_t)(put_decimal(at, first, n, point) - to);
}
