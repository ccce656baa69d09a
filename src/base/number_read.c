/* Decimal text to the nearest double, ties to even, whatever the locale.
 *
 * Three ways, each exact where it answers: one floating-point operation on two exact operands
 * (W. D. Clinger, PLDI 1990); a 64 x 128 bit product with a known error, after the idea of Eisel and
 * Lemire ("Number parsing at a gigabyte per second", 2021); and, when that error could matter, a
 * comparison of the text with the middle between two doubles in big integers. */
#include "base/ascii.h"
#include "base/bug.h"
#include "base/number.h"
#include "base/text.h"
#include <math.h>

enum {
    WORD_DIGITS = 19,  /* always fit into 64 bits */
    EXACT_DIGITS = 780 /* the middle of two doubles has at most 767 significant digits */
};
static const int64_t EXPONENT_LIMIT = 1000000000; /* larger ones are all zero or infinite */
static const int64_t UNIT_SMALLEST = -1074;       /* the smallest double is 2^-1074 */

typedef struct {
    uint64_t word;            /* the first WORD_DIGITS significant digits */
    int64_t exponent;         /* value = word * 10^exponent, or a little more when is_cut */
    const char *first, *stop; /* the digits in the text, from the first that is not 0 */
    int64_t last_exponent;    /* exponent of ten of the last digit in the text */
    bool is_cut;              /* there are more digits, not all 0 */
} Parts;

typedef struct {
    uint64_t bits; /* the nearest double; when not certain: the one at or below */
    bool is_certain;
} Guess;

/* The nearest double to word * 10^k. The product of the word and the table's entry is high * 2^64 + low;
 * its leading bits are the mantissa, and a carry out of the mantissa is the next exponent. */
static Guess guess_nearest(uint64_t word, int k)
{
    const int shift = __builtin_clzll(word);
    const Power power = number_powers[k - POWER_FIRST];
    const uint64_t w = word << shift;
    const Wide partial = (Wide)w * power.low;
    const Wide high = (Wide)w * power.high + (uint64_t)(partial >> 64);
    const uint64_t low = (uint64_t)partial;
    const int top = high >> 127 ? 127 : 126;
    const int exponent = top + 64 + power_log2(k) - 127 - shift; /* 2^exponent <= value < 2^(exponent + 1) */

    const int kept = exponent < -1022 ? 53 + 1022 + exponent : 53; /* bits of the mantissa, fewer below 2^-1022 */
    if (kept < 0)
        return (Guess){ 0, true };
    const int cut = top + 1 - kept;
    const uint64_t mantissa = cut > 127 ? 0 : (uint64_t)(high >> cut);
    const Wide rest = cut > 127 ? high : high & (((Wide)1 << cut) - 1);
    const Wide half = (Wide)1 << (cut - 1);

    /* A normal mantissa has its leading 1, which adds one to the exponent field. */
    const uint64_t bits = mantissa + (exponent < -1022 ? 0 : (uint64_t)(exponent + 1022) << 52);
    if (k >= 0 && k <= POWER_LAST_EXACT) {
        const bool up = rest > half || (rest == half && (low != 0 || (mantissa & 1)));
        return (Guess){ bits + up, true };
    }
    if (rest >= half - 2 && rest <= half) /* the true product is in [high, high + 2) */
        return (Guess){ bits, false };
    return (Guess){ bits + (rest > half), true };
}

/* ---- big integers, just enough to compare ---- */

enum { BIG_LIMBS = 144 };
typedef struct {
    uint32_t limb[BIG_LIMBS]; /* lowest first */
    int n;
} Big;

static void big_multiply_add(Big *big, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (int i = 0; i < big->n; i++) {
        carry += (uint64_t)big->limb[i] * factor;
        big->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) {
        REQUIRE(big->n < BIG_LIMBS);
        big->limb[big->n++] = (uint32_t)carry;
    }
}

static void big_times_power(Big *big, uint32_t base, uint32_t chunk, int per_chunk, int64_t power)
{
    for (; power >= per_chunk; power -= per_chunk)
        big_multiply_add(big, chunk, 0);
    for (; power > 0; power--)
        big_multiply_add(big, base, 0);
}

static void big_times_two(Big *big, int64_t power)
{
    big_times_power(big, 2, (uint32_t)1 << 31, 31, power);
}

static void big_times_five(Big *big, int64_t power)
{
    big_times_power(big, 5, 1220703125, 13, power);
}

static int big_compare(const Big *a, const Big *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (int i = a->n; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* All digits of the text; beyond EXACT_DIGITS a single 1 stands for "and a little more". */
static int64_t big_from_digits(Big *big, const Parts *parts)
{
    int64_t exponent = parts->last_exponent;
    int taken = 0;
    bool is_more = false;
    for (const char *at = parts->first; at < parts->stop; at++) {
        if (!is_digit(*at))
            continue;
        if (taken < EXACT_DIGITS) {
            big_multiply_add(big, 10, (uint32_t)(*at - '0'));
            taken++;
        } else {
            is_more |= *at != '0';
            exponent++;
        }
    }
    if (is_more) {
        big_multiply_add(big, 10, 1);
        exponent--;
    }
    return exponent;
}

/* The value rounds to `below` or to its successor: which one? */
static uint64_t nearest_exactly(const Parts *parts, uint64_t below)
{
    const int64_t biased = (int64_t)(below >> 52);
    const uint64_t mantissa = biased ? (below & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52 : below;
    const int64_t unit = biased ? biased - 1075 : UNIT_SMALLEST;
    Big value = { .n = 0 };
    Big middle = { .limb = { (uint32_t)(2 * mantissa + 1), (uint32_t)(mantissa >> 31) }, .n = mantissa >> 31 ? 2 : 1 };
    const int64_t ten = big_from_digits(&value, parts);

    /* value * 10^ten against middle * 2^(unit - 1) */
    if (ten >= 0)
        big_times_five(&value, ten);
    else
        big_times_five(&middle, -ten);
    const int64_t twos = ten - (unit - 1);
    if (twos >= 0)
        big_times_two(&value, twos);
    else
        big_times_two(&middle, -twos);
    const int order = big_compare(&value, &middle);
    return below + (order > 0 || (order == 0 && (mantissa & 1)));
}

static uint64_t nearest_bits(const Parts *parts)
{
    static const uint64_t INFINITE = (uint64_t)0x7ff << 52;
    if (parts->word == 0 || parts->exponent < POWER_FIRST)
        return 0;
    if (parts->exponent > 308)
        return INFINITE;
    const int k = (int)parts->exponent;
    const Guess guess = guess_nearest(parts->word, k);
    if (guess.bits >= INFINITE)
        return INFINITE;
    if (guess.is_certain && !parts->is_cut)
        return guess.bits;
    if (guess.is_certain) {
        const Guess above = guess_nearest(parts->word + 1, k);
        if (above.is_certain && above.bits == guess.bits)
            return guess.bits;
    }
    return nearest_exactly(parts, guess.bits);
}

static double nearest_double(const Parts *parts)
{
    static const double TENS[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    if (parts->word <= (uint64_t)1 << 53 && parts->exponent >= -22 && parts->exponent <= 22 && !parts->is_cut)
        return parts->exponent < 0 ? (double)parts->word / TENS[-parts->exponent]
                                   : (double)parts->word * TENS[parts->exponent];
    const uint64_t bits = nearest_bits(parts);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* digits [ "." digits ] with at least one digit; returns the end or `from`. */
static const char *read_mantissa(const char *from, const char *end, Parts *parts)
{
    int64_t after_point = 0, taken = 0, left_out = 0;
    bool has_digit = false, has_point = false;
    const char *at = from;
    for (; at < end; at++) {
        if (*at == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (!is_digit(*at))
            break;
        has_digit = true;
        after_point += has_point;
        if (taken == 0 && *at == '0')
            continue;
        if (taken == 0)
            parts->first = at;
        if (taken < WORD_DIGITS) {
            parts->word = parts->word * 10 + (uint64_t)(*at - '0');
            taken++;
        } else {
            parts->is_cut |= *at != '0';
            left_out++;
        }
    }
    parts->stop = at;
    parts->exponent = left_out - after_point;
    parts->last_exponent = -after_point;
    return has_digit ? at : from;
}

/* "e" [ "+" | "-" ] digits; returns the end, or `from` when it is not complete. */
static const char *read_exponent(const char *from, const char *end, int64_t *exponent)
{
    const char *at = from;
    if (at == end || (*at != 'e' && *at != 'E'))
        return from;
    at++;
    const bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end || !is_digit(*at))
        return from;
    int64_t size = 0;
    for (; at < end && is_digit(*at); at++)
        if (size < EXPONENT_LIMIT)
            size = size * 10 + (*at - '0');
    *exponent = is_negative ? -size : size;
    return at;
}

/* `word` in any case, not followed by a letter, digit or underscore. */
static const char *read_word(const char *from, const char *end, const char *word)
{
    const char *at = from;
    for (; *word; word++, at++)
        if (at == end || (*at | 0x20) != *word)
            return from;
    if (at < end && (is_digit(*at) || *at == '_' || ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z')))
        return from;
    return at;
}

const char *text_to_real(const char *from, const char *end, double *value)
{
    const char *at = from;
    const bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    const char *begin = at;
    double size;
    if (at < end && (is_digit(*at) || *at == '.')) {
        Parts parts = { 0 };
        at = read_mantissa(begin, end, &parts);
        if (at == begin)
            return from;
        int64_t exponent = 0;
        at = read_exponent(at, end, &exponent);
        parts.exponent += exponent;
        parts.last_exponent += exponent;
        size = nearest_double(&parts);
    } else if ((at = read_word(begin, end, "inf")) != begin || (at = read_word(begin, end, "infinity")) != begin) {
        size = INFINITY;
    } else if ((at = read_word(begin, end, "nan")) != begin) {
        size = NAN;
    } else {
        return from;
    }
    *value = is_negative ? -size : size;
    return at;
}
