/* Numbers as text: the shortest text that reads back, and the nearest double of a text.
 *
 * Expected values come from the table computed anew with big integers, from the C library (glibc rounds
 * printf and strtod correctly) and from the published hard cases named at each test. Called with
 * --print-powers the program writes src/base/number_powers.c instead. */
#include "assertions.h"
#include "base/number.h"
#include "base/text.h"
#include "comma_locale.h"
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

/* ---- the table ---- */

enum { LIMBS = 40 }; /* 1280 bits: 5^342 has 795, and 128 must be left of the quotient */

typedef struct {
    uint32_t limb[LIMBS]; /* lowest first */
} Fixed;

static void fixed_multiply(Fixed *x, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)x->limb[i] * factor;
        x->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    assert_int_equal(carry, 0);
}

/* floor(x / divisor). Floors of quotients nest: dividing by 5 n times is the floor of x / 5^n. */
static void fixed_divide(Fixed *x, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int i = LIMBS; i-- > 0;) {
        rest = rest << 32 | x->limb[i];
        x->limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
}

static bool fixed_bit(const Fixed *x, int bit)
{
    return bit >= 0 && (x->limb[bit / 32] >> bit % 32 & 1);
}

static Power fixed_leading(const Fixed *x)
{
    int top = LIMBS * 32 - 1;
    while (!fixed_bit(x, top))
        top--;
    Power power = { 0, 0 };
    for (int i = 0; i < 64; i++) {
        power.high = power.high << 1 | fixed_bit(x, top - i);
        power.low = power.low << 1 | fixed_bit(x, top - 64 - i);
    }
    return power;
}

static Power computed_power(int k)
{
    Fixed x = { { 0 } };
    x.limb[k < 0 ? LIMBS - 1 : 0] = k < 0 ? (uint32_t)1 << 31 : 1;
    for (int i = 0; i < abs(k); i++) {
        if (k < 0)
            fixed_divide(&x, 5);
        else
            fixed_multiply(&x, 5);
    }
    return fixed_leading(&x);
}

static void print_powers(void)
{
    printf("/* Written by `base_test_number --print-powers`; see number.h. */\n"
           "#include \"base/number.h\"\n\n"
           "const Power number_powers[POWER_LAST - POWER_FIRST + 1] = {\n");
    for (int k = POWER_FIRST; k <= POWER_LAST; k++) {
        const Power power = computed_power(k);
        printf("    { 0x%016llxu, 0x%016llxu }, /* 1e%d */\n", (unsigned long long)power.high,
               (unsigned long long)power.low, k);
    }
    printf("};\n");
}

static void table_is_what_big_integers_give(void **state)
{
    (void)state;
    for (int k = POWER_FIRST; k <= POWER_LAST; k++) {
        const Power power = computed_power(k);
        assert_int_equal(number_powers[k - POWER_FIRST].high, power.high);
        assert_int_equal(number_powers[k - POWER_FIRST].low, power.low);
    }
    /* 1e0 = 2^127 and 1e1 = 1.25 * 2^3, by hand */
    assert_int_equal(number_powers[0 - POWER_FIRST].high, 0x8000000000000000u);
    assert_int_equal(number_powers[1 - POWER_FIRST].high, 0xa000000000000000u);
}

/* ---- helpers ---- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t random_next(uint64_t *seed) /* splitmix64 */
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double read_all(const char *text)
{
    double value = -12345;
    const char *const end = text + strlen(text);
    fail_if(text_to_real(text, end, &value) != end, "'%s' was not read to its end", text);
    return value;
}

/* The significant digits of a number's text, without zeros at either end; returns how many. */
static int digits_in(const char *text, char digits[64])
{
    int n = 0, used = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (n == 0 && *text == '0'))
            continue;
        digits[n++] = *text;
        used = *text == '0' ? used : n;
    }
    digits[used] = 0;
    return used;
}

/* Round trip through both readers; no text with one digit less reads back; of the texts of equal length it is
 * the closest, which is what printf rounds to. */
static void check_shortest(double value)
{
    char text[REAL_TEXT_SIZE + 1];
    const size_t n = real_to_text(value, text);
    assert_true(n <= REAL_TEXT_SIZE);
    text[n] = 0;
    fail_if(bits_of(read_all(text)) != bits_of(value) || bits_of(strtod(text, NULL)) != bits_of(value),
            "%.17g became '%s'", value, text);
    if (value == 0)
        return;
    char ours[64], theirs[64], other[64];
    const int digits = digits_in(text, ours);
    if (digits > 1) {
        snprintf(other, sizeof other, "%.*e", digits - 2, value);
        fail_if(strtod(other, NULL) == value, "'%s' is shorter than '%s'", other, text);
    }
    snprintf(other, sizeof other, "%.*e", digits - 1, value);
    if (strtod(other, NULL) == value) {
        digits_in(other, theirs);
        assert_string_equal(ours, theirs);
    }
}

static void check_text(double value, const char *expected)
{
    char text[REAL_TEXT_SIZE + 1];
    text[real_to_text(value, text)] = 0;
    assert_string_equal(text, expected);
}

/* ---- printing ---- */

static void notation_is_plain_in_the_middle_and_exponential_outside(void **state)
{
    (void)state;
    check_text(0, "0");
    check_text(-0.0, "-0");
    check_text(1, "1");
    check_text(-100, "-100");
    check_text(0.1, "0.1");
    check_text(0.1 + 0.2, "0.30000000000000004");
    check_text(1.0 / 3, "0.3333333333333333");
    check_text(123456.789, "123456.789");
    check_text(1e-5, "0.00001");
    check_text(1.25e-5, "0.0000125");
    check_text(9.5e-6, "9.5e-6");
    check_text(1e16, "10000000000000000");
    check_text(12345678901234567.0, "12345678901234568");
    check_text(1e17, "1e+17");
    check_text(1e30, "1e+30");
    check_text(1.5e300, "1.5e+300");
    check_text(9007199254740992.0, "9007199254740992");
    check_text(9007199254740993.0 * 2, "18014398509481984");
    check_text(INFINITY, "inf");
    check_text(-INFINITY, "-inf");
    check_text(NAN, "nan");
    check_text(-NAN, "nan");
    check_text(DBL_MAX, "1.7976931348623157e+308");
    check_text(DBL_MIN, "2.2250738585072014e-308");
    check_text(5e-324, "5e-324");
}

/* Hard cases of Ryu's and Schubfach's own tests (Adams 2018, Giulietti 2020). */
static void hard_cases_of_the_papers_print_as_published(void **state)
{
    (void)state;
    check_text(2e23, "2e+23");
    check_text(9.007199254740991e15, "9007199254740991");
    check_text(4.708356024711512e18, "4.708356024711512e+18");
    check_text(9.409340012568248e18, "9.409340012568248e+18");
    check_text(1.8531501765868567e21, "1.8531501765868567e+21");
    check_text(-3.347727380279489e33, "-3.347727380279489e+33");
    check_text(9.5e-323, "9.4e-323"); /* 19 * 2^-1074 = 9.387e-323 */
    check_text(2.98023223876953125e-8, "2.9802322387695312e-8");
    check_text(4.35e-322, "4.35e-322");
    check_text(1.9430376160308388e16, "19430376160308388");
    check_text(5.764607523034235e39, "5.764607523034235e+39");
}

static void powers_of_two_and_ten_and_their_neighbours_are_shortest(void **state)
{
    (void)state;
    for (int e = -1074; e <= 1023; e++) {
        const double power = ldexp(1, e);
        check_shortest(power);
        check_shortest(-power);
        check_shortest(nextafter(power, 0));
        if (e < 1023)
            check_shortest(nextafter(power, INFINITY));
    }
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        const double power = strtod(text, NULL);
        check_shortest(power);
        check_shortest(nextafter(power, 0));
        check_shortest(nextafter(power, INFINITY));
    }
}

static void subnormals_are_shortest(void **state)
{
    (void)state;
    for (uint64_t bits = 1; bits < 4000; bits++)
        check_shortest(from_bits(bits));
    uint64_t seed = 3;
    for (int i = 0; i < 50000; i++)
        check_shortest(from_bits(random_next(&seed) & (((uint64_t)1 << 52) - 1)));
    check_shortest(from_bits(((uint64_t)1 << 52) - 1));
    check_shortest(from_bits((uint64_t)1 << 52));
}

static void integers_print_as_integers(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 200000; i++) {
        const int64_t integer = (int64_t)(random_next(&seed) >> (11 + random_next(&seed) % 50));
        char text[REAL_TEXT_SIZE + 1], expected[32];
        text[real_to_text((double)integer, text)] = 0;
        snprintf(expected, sizeof expected, "%lld", (long long)integer);
        assert_string_equal(text, expected);
    }
}

static bool is_time_over(clock_t begin, double seconds)
{
    return (double)(clock() - begin) / CLOCKS_PER_SEC > seconds;
}

static void random_bit_patterns_read_back(void **state)
{
    (void)state;
    uint64_t seed = 7;
    const clock_t begin = clock();
    int done = 0;
    for (; done < 10000000 && !(done % 4096 == 0 && is_time_over(begin, 5)); done++) {
        const double value = from_bits(random_next(&seed));
        if (isnan(value))
            continue;
        char text[REAL_TEXT_SIZE];
        const size_t n = real_to_text(value, text);
        double back = 0;
        fail_if(text_to_real(text, text + n, &back) != text + n || bits_of(back) != bits_of(value),
                "%.17g became '%.*s'", value, (int)n, text);
    }
    assert_true(done >= 200000);
}

static void random_bit_patterns_and_short_decimals_are_shortest(void **state)
{
    (void)state;
    uint64_t seed = 11;
    const clock_t begin = clock();
    for (int i = 0; i < 1000000 && !(i % 4096 == 0 && is_time_over(begin, 3)); i++) {
        const double value = from_bits(random_next(&seed));
        if (isfinite(value))
            check_shortest(value);
        check_shortest((double)(random_next(&seed) % 1000000) / 1000);
    }
}

/* ---- reading ---- */

static void check_read(const char *text)
{
    const double ours = read_all(text), expected = strtod(text, NULL);
    fail_if(bits_of(ours) != bits_of(expected), "'%s' read as %.17g, strtod says %.17g", text, ours, expected);
}

static void syntax_of_numbers_is_accepted_and_the_rest_left(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t taken;
        double value;
    } cases[] = {
        { "1", 1, 1 },
        { "1.5", 3, 1.5 },
        { ".5", 2, 0.5 },
        { "5.", 2, 5 },
        { "+2", 2, 2 },
        { "-2e3", 4, -2000 },
        { "1e", 1, 1 },
        { "1e+", 1, 1 },
        { "1e+x", 1, 1 },
        { "1,5", 1, 1 },
        { "0x10", 1, 0 },
        { "1.2.3", 3, 1.2 },
        { "", 0, 0 },
        { "-", 0, 0 },
        { ".", 0, 0 },
        { "e5", 0, 0 },
        { "abc", 0, 0 },
        { " 1", 0, 0 },
        { "inf", 3, INFINITY },
        { "-Infinity", 9, -INFINITY },
        { "infant", 0, 0 },
        { "nano", 0, 0 },
        { "1e999", 5, INFINITY },
        { "1e-999", 6, 0 },
        { "0e999999999999999999999", 23, 0 },
        { "00001", 5, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 0;
        const char *const text = cases[i].text;
        assert_int_equal(text_to_real(text, text + strlen(text), &value) - text, cases[i].taken);
        assert_true(value == cases[i].value);
    }
    double value = 0;
    assert_true(isnan(read_all("nan")));
    assert_true(signbit(read_all("-0")));
    static const char bounded[] = "12345";
    assert_ptr_equal(text_to_real(bounded, bounded + 2, &value), bounded + 2);
    assert_true(value == 12);
}

/* Published stress cases: Clinger 1990, Paxson 1991, D. Gay's and Go's test lists, the PHP and Java hang. */
static void hard_decimals_read_like_strtod(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47032822920623272088e-324",
        "2.470328229206232720882843964341106861825299013071623822127928412503e-324",
        "1e23",
        "8.5e22",
        "9007199254740993",
        "9007199254740992.99999999999999999999",
        "9007199254740993.00000000000000000000000001",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797758720709633028641"
        "66928879109465555478519404026306574886715058206819089020007083836762738548458177115317644757302700698555713669"
        "59622842914819860834936475292719074168444365510704342711559699508093042880",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "5e-20",
        "67e14",
        "985e15",
        "7693e-42",
        "55895e-16",
        "996622e44",
        "7038531e-32",
        "60419369e-46",
        "702990899e-20",
        "6930161142e-48",
        "25933168707e13",
        "596428896559e20",
        "3e-324",
        "0.000000000000000000000000000000000000000000000000000000000000001e63",
        "6.02214076e23",
        "6.62607015e-34",
        "3.141592653589793238462643383279502884197",
        "1e-342",
        "1e-343",
        "9e-324",
        "9999999999999999999e-343",
        "2.5e-324",
        "123456789012345678901234567890e-20",
        "0.1e-400000000000000000000",
        "8.98846567431158e307",
        "1.797693134862315708145274237317e308",
        "30078505129381147446200",
        "1090544144181609348835077142190",
        "6929495644600919.5",
        "4503599627370496.5",
        "4503599627475352.5",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_read(cases[i]);
}

/* The exact middle of two doubles, a hair below and a hair above: hundreds of digits. */
static void middles_of_doubles_round_to_even_and_hairs_decide(void **state)
{
    (void)state;
    uint64_t seed = 13;
    for (int i = 0; i < 3000; i++) {
        const uint64_t bits = random_next(&seed) & 0x7fffffffffffffffu;
        const double low = from_bits(i % 3 == 0 ? bits >> 12 : bits);
        if (!isfinite(low) || !isfinite(nextafter(low, INFINITY)))
            continue;
        char text[1200];
        const long double middle = ((long double)low + (long double)nextafter(low, INFINITY)) / 2;
        const int n = snprintf(text, sizeof text - 4, "%.*Le", 800, middle);
        assert_true(n > 0 && (size_t)n < sizeof text - 4);
        check_read(text);
        char *const exponent = strchr(text, 'e');
        exponent[-1] = '1';
        check_read(text);
    }
}

static void random_decimals_read_like_strtod(void **state)
{
    (void)state;
    uint64_t seed = 17;
    for (int i = 0; i < 300000; i++) {
        char text[128];
        const uint64_t r = random_next(&seed);
        const uint64_t mantissa = random_next(&seed) >> r % 64;
        const int exponent = (int)(r >> 8) % 360;
        switch (r >> 40 & 3) {
        case 0: snprintf(text, sizeof text, "%llue%d", (unsigned long long)mantissa, exponent); break;
        case 1:
            snprintf(text, sizeof text, "%llu%llu.%llue%d", (unsigned long long)mantissa,
                     (unsigned long long)random_next(&seed), (unsigned long long)r, exponent);
            break;
        case 2:
            snprintf(text, sizeof text, "0.000%llu%llu", (unsigned long long)mantissa,
                     (unsigned long long)random_next(&seed));
            break;
        default: snprintf(text, sizeof text, "%.*g", (int)(r % 18) + 1, from_bits(mantissa)); break;
        }
        if (text[0] != 'n' && text[1] != 'n')
            check_read(text);
    }
}

static void a_locale_with_decimal_comma_changes_nothing(void **state)
{
    (void)state;
    if (!set_comma_locale()) {
        print_message("no locale with a decimal comma can be had: skipped\n");
        skip();
    }
    char text[REAL_TEXT_SIZE + 1];
    text[real_to_text(1234.5, text)] = 0;
    const double value = read_all("1234.5");
    char printed[32];
    snprintf(printed, sizeof printed, "%.1f", 1234.5);
    setlocale(LC_ALL, "C");
    assert_string_equal(printed, "1234,5"); /* the locale is really in force */
    assert_string_equal(text, "1234.5");
    assert_true(value == 1234.5);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* others may use the machine */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void print_speed(void)
{
    enum { N = 1 << 16, ROUNDS = 64 };
    static double values[N];
    static char texts[N][REAL_TEXT_SIZE];
    static size_t lengths[N];
    for (int kind = 0; kind < 3; kind++) {
        uint64_t seed = 19;
        for (int i = 0; i < N; i++) {
            const double unit = (double)(random_next(&seed) >> 11) * 0x1p-53;
            double any = from_bits(random_next(&seed));
            while (!isfinite(any))
                any = from_bits(random_next(&seed));
            values[i] = kind == 0 ? unit * 100 - 50 : kind == 1 ? floor(unit * 1e6) / 1000 : any;
        }
        double begin = seconds_now();
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < N; i++)
                lengths[i] = real_to_text(values[i], texts[i]);
        const double print = seconds_now() - begin;
        begin = seconds_now();
        double sum = 0, value = 0;
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < N; i++) {
                text_to_real(texts[i], texts[i] + lengths[i], &value);
                sum += value != values[i];
            }
        const double read = seconds_now() - begin;
        static const char *const names[] = { "17 digits in -50..50", "3 decimals", "random bits" };
        printf("%-22s print %5.1f ns  read %5.1f ns  wrong %g\n", names[kind], print * 1e9 / N / ROUNDS,
               read * 1e9 / N / ROUNDS, sum);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--print-powers") == 0) {
        print_powers();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--speed") == 0) {
        print_speed();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_what_big_integers_give),
        cmocka_unit_test(notation_is_plain_in_the_middle_and_exponential_outside),
        cmocka_unit_test(hard_cases_of_the_papers_print_as_published),
        cmocka_unit_test(powers_of_two_and_ten_and_their_neighbours_are_shortest),
        cmocka_unit_test(subnormals_are_shortest),
        cmocka_unit_test(integers_print_as_integers),
        cmocka_unit_test(random_bit_patterns_read_back),
        cmocka_unit_test(random_bit_patterns_and_short_decimals_are_shortest),
        cmocka_unit_test(syntax_of_numbers_is_accepted_and_the_rest_left),
        cmocka_unit_test(hard_decimals_read_like_strtod),
        cmocka_unit_test(middles_of_doubles_round_to_even_and_hairs_decide),
        cmocka_unit_test(random_decimals_read_like_strtod),
        cmocka_unit_test(a_locale_with_decimal_comma_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
