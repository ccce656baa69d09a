/* The tube of `koine compare`, at curves whose distance is known. */
#include "formats/compare.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define CURVE(t, v) ((Curve){ t, v, sizeof(t) / sizeof *(t), false })

static Deviation compare(const Curve *a, const Curve *b, double width, double height)
{
    Arena *const arena = arena_create(NULL);
    const Deviation d = compare_curves(a, b, width, height, arena);
    arena_destroy(arena);
    return d;
}

/* Height: a part of the range; of a thousandth of the largest value; or what is given. */
static void test_height_of_the_tube(void **state)
{
    (void)state;
    const double t[] = { 0, 1 }, wide[] = { -3, 5 }, ripple[] = { 300, 300.001 }, zero[] = { 0, 0 };
    assert_float_equal(tube_height(&CURVE(t, wide), 2e-3, 1e-9), 0.016, 1e-15);
    assert_float_equal(tube_height(&CURVE(t, ripple), 2e-3, 1e-9), 2e-3 * 0.300001, 1e-15);
    assert_float_equal(tube_height(&CURVE(t, zero), 2e-3, 1e-9), 1e-9, 0);
}

static void test_a_curve_is_in_its_own_tube(void **state)
{
    (void)state;
    const double t[] = { 0, 1, 1, 2, 5 }, v[] = { 0, 3, -1, 7, (double)NAN };
    assert_true(compare(&CURVE(t, v), &CURVE(t, v), 0, 0).deviation == 0);
}

/* y = t from 0 to 10 against y = t + 0.5: within `width` of t the reference reaches t + width. */
static void test_width_moves_the_reference(void **state)
{
    (void)state;
    const double t[] = { 0, 10 }, v[] = { 0, 10 }, s[] = { 0, 2, 8 }, w[] = { 0.5, 2.5, 8.5 };
    assert_float_equal(compare(&CURVE(t, v), &CURVE(s, w), 0, 0).deviation, 0.5, 1e-12);
    assert_float_equal(compare(&CURVE(t, v), &CURVE(s, w), 0.2, 0).deviation, 0.3, 1e-12);
    assert_true(compare(&CURVE(t, v), &CURVE(s, w), 0.5, 0).deviation <= 1e-12);
}

/* A jump that comes late by less than the width agrees; by more it differs by the whole jump. */
static void test_a_late_jump(void **state)
{
    (void)state;
    const double t[] = { 0, 1, 1, 2 }, late[] = { 0, 1.01, 1.01, 2 }, v[] = { 0, 0, 1, 1 };
    assert_true(compare(&CURVE(t, v), &CURVE(late, v), 0.02, 0).deviation == 0);
    const Deviation d = compare(&CURVE(t, v), &CURVE(late, v), 0.004, 0);
    assert_true(d.deviation == 1);
    assert_true(d.time == 1.01);
    assert_true(d.value == 0 && d.low == 1 && d.high == 1);
}

/* The other curve has no point where the reference has its peak: the line between its points is looked at. */
static void test_peaks_between_points_are_seen(void **state)
{
    (void)state;
    const double t[] = { 0, 1, 2 }, peak[] = { 0, 4, 0 }, s[] = { 0, 2 }, flat[] = { 0, 0 };
    const Deviation d = compare(&CURVE(t, peak), &CURVE(s, flat), 0, 0);
    assert_true(d.deviation == 4 && d.time == 1);
}

static void test_gaps_agree_with_gaps_only(void **state)
{
    (void)state;
    const double t[] = { 0, 1, 2 }, gap[] = { 0, (double)NAN, 0 }, whole[] = { 0, 0, 0 };
    assert_true(compare(&CURVE(t, gap), &CURVE(t, gap), 0, 0).deviation == 0);
    assert_true(isinf(compare(&CURVE(t, whole), &CURVE(t, gap), 0, 0).deviation));
}

/* Against a search through all points, on curves without a pattern. */
static void test_against_a_direct_search(void **state)
{
    (void)state;
    enum { N = 300 };
    double t[N], v[N], s[N], w[N];
    uint64_t random = 88172645463325252u;
    for (int k = 0; k < N; k++) {
        double r[4];
        for (int i = 0; i < 4; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            r[i] = (double)(random >> 11) * 0x1p-53;
        }
        t[k] = k + 0.4 * r[0];
        v[k] = r[1];
        s[k] = k + 0.4 * r[2];
        w[k] = 2 * r[3] - 0.5;
    }
    const double width = 3.25;
    double worst = 0;
    for (int k = 0; k < N; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int j = 0; j < N; j++) { /* points inside, and where lines cross the borders of the window */
            if (fabs(t[j] - s[k]) <= width) {
                low = fmin(low, v[j]);
                high = fmax(high, v[j]);
            }
            for (int side = -1; side <= 1 && j > 0; side += 2) {
                const double at = s[k] + side * width;
                if (at < t[j - 1] || at > t[j])
                    continue;
                const double y = v[j - 1] + (v[j] - v[j - 1]) * ((at - t[j - 1]) / (t[j] - t[j - 1]));
                low = fmin(low, y);
                high = fmax(high, y);
            }
        }
        worst = fmax(worst, fmax(w[k] - high, low - w[k]));
    }
    assert_float_equal(compare(&CURVE(t, v), &CURVE(s, w), width, 0).deviation, worst, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_height_of_the_tube),
        cmocka_unit_test(test_a_curve_is_in_its_own_tube),
        cmocka_unit_test(test_width_moves_the_reference),
        cmocka_unit_test(test_a_late_jump),
        cmocka_unit_test(test_peaks_between_points_are_seen),
        cmocka_unit_test(test_gaps_agree_with_gaps_only),
        cmocka_unit_test(test_against_a_direct_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
