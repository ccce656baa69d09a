/* The search for crossings of functions of the time: the pieces it proves cover the run, and no point of any of them is
 * on the other side. Functions, their crossings and places are in closed form. */
#include "runtime/support/time_search.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double PI = 3.14159265358979323846;

enum { MOST = 32 };
typedef struct { /* code under construction */
    KoineTimeInstruction at[MOST];
    double numbers[MOST];
    uint32_t n, n_numbers;
} Code;

static uint32_t put(Code *c, KoineTimeOp op, uint32_t a, uint32_t b)
{
    c->at[c->n] = (KoineTimeInstruction){ op, a, b, KOINE_NONE };
    return c->n++;
}
static uint32_t number(Code *c, double x)
{
    c->numbers[c->n_numbers] = x;
    return put(c, KOINE_TIME_NUMBER, c->n_numbers++, KOINE_NONE);
}
static uint32_t now(Code *c)
{
    return put(c, KOINE_TIME_NOW, 0, KOINE_NONE);
}
static uint32_t sine(Code *c, double rate)
{
    return put(c, KOINE_TIME_SIN, put(c, KOINE_TIME_MUL, number(c, rate), now(c)), KOINE_NONE);
}

typedef struct {
    uint32_t n;      /* crossings */
    double at[4096]; /* ... when */
    uint64_t looks;
    uint32_t doubtful;
} Found;

/* Goes over [from, to], changing sides at crossings; left > right is false at the start. `exact`: left - right. */
static Found search(const Code *c, uint32_t left, uint32_t right, double from, double to, double (*exact)(double))
{
    static Found found;
    Cell cells[MOST];
    const KoineTimeCode code = { c->n, left, right, c->at, c->numbers, NULL };
    Watched w = { .code = &code, .cells = cells, .n_borders = 1, .borders = { { -1, 0, false } } };
    TimeSearch s = { 0 };
    memset(&found, 0, sizeof found);
    koine_search_begin(&s, from);
    double reached = from;
    while (s.from < to) {
        const uint64_t before = s.work;
        const PieceKind kind = koine_search_piece(&w, &s);
        found.looks += s.work - before;
        assert_true(s.from >= reached); /* no gap: a piece begins where the one before it ends */
        assert_true(found.looks < 2000000);
        for (int k = 0; kind == PIECE_PROVED && k <= 16 && isfinite(s.from); k++)
            assert_true(w.borders[0].sign * exact(reached + (s.from - reached) * k / 16) > -1e-13);
        found.doubtful += kind == PIECE_DOUBTFUL;
        reached = s.from;
        if (kind != PIECE_CROSSED || s.from >= to)
            continue;
        found.at[found.n++] = s.from;
        w.borders[0].sign *= -1;
        w.borders[0].zero_crosses = !w.borders[0].zero_crosses;
        koine_search_begin(&s, s.from);
    }
    return found;
}

static double fast_sine(double t)
{
    return sin(314 * t) - 0.5;
}

/* 314 t = pi/6 + 2 k pi and 5 pi/6 + 2 k pi: 1000 of them below 10 s. */
static void test_every_crossing_of_a_sine_is_found(void **state)
{
    (void)state;
    Code c = { .n = 0 };
    const uint32_t left = sine(&c, 314), right = number(&c, 0.5);
    const Found f = search(&c, left, right, 0, 10, fast_sine);
    assert_int_equal(f.n, 1000);
    assert_int_equal(f.doubtful, 0);
    for (uint32_t k = 0; k < f.n; k++) {
        const double phase = (k % 2 ? 5 * PI / 6 : PI / 6) + 2 * PI * (k / 2);
        assert_true(fabs(f.at[k] - phase / 314) < 1e-13);
    }
}

static double near_top(double t)
{
    return sin(314 * t) - (1 - 1e-9);
}
static double at_top(double t)
{
    return sin(314 * t) - 1;
}

/* Above 1 - 1e-9 a sine is 1.8e-4 of a radian, once a period; it touches 1 in the band, which is no event. */
static void test_thresholds_near_the_extreme(void **state)
{
    (void)state;
    Code c = { .n = 0 }, d = { .n = 0 };
    const uint32_t left = sine(&c, 314), right = number(&c, 1 - 1e-9);
    assert_int_equal(search(&c, left, right, 0, 10, near_top).n, 1000);
    const uint32_t top = sine(&d, 314), one = number(&d, 1);
    assert_int_equal(search(&d, top, one, 0, 10, at_top).n, 0);
}

static double beats(double t)
{
    return sin(t) * sin(9.9 * t) - 0.93;
}

/* 228 crossings up to 300: counted by signs at 3 million points. */
static void test_products_of_sines(void **state)
{
    (void)state;
    Code c = { .n = 0 };
    const uint32_t a = sine(&c, 1), b = sine(&c, 9.9);
    const Found f = search(&c, put(&c, KOINE_TIME_MUL, a, b), number(&c, 0.93), 0, 300, beats);
    uint32_t n = 0;
    for (int k = 0; k < 3000000; k++)
        n += (beats(k * 1e-4) > 0) != (beats((k + 1) * 1e-4) > 0);
    assert_int_equal(n, 228);
    assert_int_equal(f.n, n);
}

static double pulse(double t)
{
    return exp(-pow((t - 5) / 1e-6, 2)) - 0.5;
}

/* A pulse of 1.7 microseconds in 1000 seconds: at 5 -+ 1e-6*sqrt(ln 2). */
static void test_a_narrow_pulse_is_found(void **state)
{
    (void)state;
    Code c = { .n = 0 };
    const uint32_t x = put(&c, KOINE_TIME_DIV, put(&c, KOINE_TIME_SUB, now(&c), number(&c, 5)), number(&c, 1e-6));
    const uint32_t square = put(&c, KOINE_TIME_POW, x, number(&c, 2));
    const uint32_t left = put(&c, KOINE_TIME_EXP, put(&c, KOINE_TIME_NEG, square, KOINE_NONE), KOINE_NONE);
    const Found f = search(&c, left, number(&c, 0.5), 0, 1000, pulse);
    assert_int_equal(f.n, 2);
    assert_true(fabs(f.at[0] - (5 - 1e-6 * sqrt(log(2)))) < 1e-14);
    assert_true(fabs(f.at[1] - (5 + 1e-6 * sqrt(log(2)))) < 1e-14);
    assert_true(f.looks < 1000);
}

static double pole(double t)
{
    return 1 / (t - 5);
}

/* 1/(t - 5) changes its sign by way of infinity. */
static void test_a_pole_is_a_crossing(void **state)
{
    (void)state;
    Code c = { .n = 0 };
    const uint32_t below = put(&c, KOINE_TIME_SUB, now(&c), number(&c, 5));
    const uint32_t left = put(&c, KOINE_TIME_DIV, number(&c, 1), below), right = number(&c, 0);
    const Found f = search(&c, left, right, 0, 100, pole);
    assert_int_equal(f.n, 1);
    assert_true(fabs(f.at[0] - 5) < 1e-13);
}

static double parabola(double t)
{
    return -(t - 1) * (t - 1);
}

/* 0 > t*t - 2*t + 1 never holds, but rounding says so near 1: no event, and no creeping. */
static void test_rounding_is_no_crossing(void **state)
{
    (void)state;
    Code c = { .n = 0 };
    const uint32_t t = now(&c), square = put(&c, KOINE_TIME_MUL, t, t);
    const uint32_t twice = put(&c, KOINE_TIME_MUL, number(&c, 2), t), less = put(&c, KOINE_TIME_SUB, square, twice);
    const uint32_t sum = put(&c, KOINE_TIME_ADD, less, number(&c, 1)), zero = number(&c, 0);
    const Found f = search(&c, zero, sum, 0, 10, parabola);
    assert_int_equal(f.n, 0);
    assert_true(f.looks < 1000);
}

static double middle_part(double t)
{
    const double h = 1 + 0.5 * sin(t);
    return fmin(t, h) - fmin(20 - t, h);
}

static void expect_one_crossing_at_the_end(const Found *f)
{
    assert_int_equal(f->n, 1);
    assert_true(fabs(20 - f->at[0] - (1 + 0.5 * sin(f->at[0]))) < 1e-12);
    assert_true(f->looks < 1000);
}

/* min(t, h) > min(20 - t, h) with h = 1 + sin(t)/2: from 1.5 to 18.5 both sides are h, bit by bit. They differ from
 * where 20 - t falls below h; that falls all the way, so it has one root. The same as a difference, as two amounts of
 * what is negative, and as a choice. */
static void test_sides_that_are_the_same_do_not_cross(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        Code c = { .n = 0 };
        const uint32_t t = now(&c), half = put(&c, KOINE_TIME_MUL, number(&c, 0.5), sine(&c, 1));
        const uint32_t h = put(&c, KOINE_TIME_ADD, number(&c, 1), half);
        const uint32_t rest = put(&c, KOINE_TIME_SUB, number(&c, 20), t);
        uint32_t left = put(&c, KOINE_TIME_MIN, t, h), right = put(&c, KOINE_TIME_MIN, rest, h);
        if (form == 1) {
            left = put(&c, KOINE_TIME_SUB, left, right);
            right = number(&c, 0);
        } else if (form == 2) { /* |-min| + 0 is the min from 0 on */
            left = put(&c, KOINE_TIME_ABS, put(&c, KOINE_TIME_NEG, left, KOINE_NONE), KOINE_NONE);
            right = put(&c, KOINE_TIME_ADD, right, number(&c, 0));
        } else if (form == 3) {
            const uint32_t is_less = put(&c, KOINE_TIME_GREATER, h, rest);
            right = put(&c, KOINE_TIME_IF, is_less, rest);
            c.at[right].c = h;
        }
        const Found f = search(&c, left, right, 0, 20, middle_part);
        expect_one_crossing_at_the_end(&f);
    }
}

/* sqrt(t - 2) has no value before 2: without a guard that is where the search ends at once, with one it goes on. */
static void test_what_has_no_value_keeps_its_side_if_it_is_guarded(void **state)
{
    (void)state;
    Code c = { .n = 0 };
    const uint32_t root = put(&c, KOINE_TIME_SQRT, put(&c, KOINE_TIME_SUB, now(&c), number(&c, 2)), KOINE_NONE);
    Cell cells[MOST];
    const uint32_t right = number(&c, 3);
    const KoineTimeCode code = { c.n, root, right, c.at, c.numbers, NULL };
    Watched w = { .code = &code, .cells = cells, .n_borders = 1, .borders = { { -1, 0, false } }, .is_guarded = true };
    TimeSearch s = { 0 };
    koine_search_begin(&s, 0);
    PieceKind kind = PIECE_PROVED;
    for (int k = 0; k < 1000 && kind != PIECE_CROSSED; k++)
        kind = koine_search_piece(&w, &s);
    assert_true(kind == PIECE_CROSSED && fabs(s.from - 11) < 1e-12 && !s.is_blind);
    w.is_guarded = false;
    koine_search_begin(&s, 0);
    assert_true(koine_search_piece(&w, &s) == PIECE_CROSSED && s.from == 0 && s.is_blind);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_crossing_of_a_sine_is_found),
                                        cmocka_unit_test(test_thresholds_near_the_extreme),
                                        cmocka_unit_test(test_products_of_sines),
                                        cmocka_unit_test(test_a_narrow_pulse_is_found),
                                        cmocka_unit_test(test_a_pole_is_a_crossing),
                                        cmocka_unit_test(test_rounding_is_no_crossing),
                                        cmocka_unit_test(test_sides_that_are_the_same_do_not_cross),
                                        cmocka_unit_test(test_what_has_no_value_keeps_its_side_if_it_is_guarded) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
