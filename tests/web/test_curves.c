/* Curves for a picture: every row, or the smallest and largest value of each piece of time. */
#include "web/curves.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static Arena *arena;
static char path[] = "/tmp/koine-test-curves.XXXXXX";

enum { ROWS = 100000, PEAK = 77777 };

/* A sine with one narrow peak; steps of a counter; two rows at time 50000, where the counter jumps. */
static Result *open_example(void)
{
    const int file = mkstemp(path);
    FILE *const to = fdopen(file, "w");
    fprintf(to, "time,wave,count\n");
    for (int k = 0; k <= ROWS; k++) {
        fprintf(to, "%d,%.17g,%d\n", k, k == PEAK ? 9.0 : sin(k * 1e-3), k >= 50000 ? k / 1000 : 0);
        if (k == 50000)
            fprintf(to, "%d,%.17g,%d\n", k, sin(k * 1e-3), k / 1000 + 1);
    }
    fclose(to);
    const char *error = "";
    Result *const result = result_open(path, arena, &error);
    if (!result)
        fail_msg("%s", error);
    return result;
}

static int set_up(void **state)
{
    arena = arena_create(NULL);
    *state = open_example();
    return 0;
}

static int tear_down(void **state)
{
    result_close(*state);
    arena_destroy(arena);
    unlink(path);
    return 0;
}

static void a_narrow_peak_is_seen_from_afar(void **state)
{
    const Result *const result = *state;
    const uint32_t columns[] = { 1 };
    Curves curves;
    assert_true(curves_read(result, columns, 1, (CurvesWindow){ -INFINITY, INFINITY, 100, false }, arena, &curves));
    assert_true(curves.is_reduced);
    assert_true(curves.n <= 200);
    double most = -INFINITY, at = 0;
    for (uint64_t k = 0; k < curves.n; k++) {
        assert_true(k == 0 || curves.times[k] >= curves.times[k - 1]);
        if (curves.columns[0][k] > most) {
            most = curves.columns[0][k];
            at = curves.times[k];
        }
    }
    assert_true(most == 9.0);
    assert_true(fabs(at - PEAK) <= ROWS / 100);
    assert_true(curves.times[0] == 0 && curves.times[curves.n - 1] == ROWS);
}

/* Against the rows themselves: the pieces hold exactly the extremes of a plain loop. */
static void pieces_have_the_extremes_of_their_rows(void **state)
{
    const Result *const result = *state;
    const uint32_t columns[] = { 1, 2 }, width = 37;
    const double from = 1234.5, to = 87654.5;
    Curves curves;
    assert_true(curves_read(result, columns, 2, (CurvesWindow){ from, to, width, false }, arena, &curves));
    double low = INFINITY, high = -INFINITY;
    for (uint64_t k = 0; k < curves.n; k++) {
        low = fmin(low, curves.columns[0][k]);
        high = fmax(high, curves.columns[0][k]);
    }
    double plain_low = INFINITY, plain_high = -INFINITY;
    for (uint64_t row = 1234; row <= 87655 + 1; row++) { /* one row on either side; one time stands twice */
        double value;
        assert_true(result_read(result, 1, row, 1, &value));
        plain_low = fmin(plain_low, value);
        plain_high = fmax(plain_high, value);
    }
    assert_true(low == plain_low && high == plain_high);
}

static void few_rows_are_given_as_they_are(void **state)
{
    const Result *const result = *state;
    const uint32_t columns[] = { 2 };
    Curves curves;
    assert_true(curves_read(result, columns, 1, (CurvesWindow){ 49990, 50010, 100, false }, arena, &curves));
    assert_false(curves.is_reduced);
    assert_int_equal(curves.n, 24); /* 21 times, one of them twice, one row on either side */
    assert_true(curves.times[11] == 50000 && curves.times[12] == 50000);
    assert_true(curves.columns[0][11] == 50 && curves.columns[0][12] == 51);
}

static void points_stay_whole(void **state)
{
    const Result *const result = *state;
    const uint32_t columns[] = { 1 };
    Curves curves;
    assert_true(curves_read(result, columns, 1, (CurvesWindow){ 0, ROWS, 500, true }, arena, &curves));
    assert_true(curves.n > 250 && curves.n <= 501);
    for (uint64_t k = 0; k < curves.n; k++)
        if (curves.times[k] != PEAK)
            assert_true(fabs(curves.columns[0][k] - sin(curves.times[k] * 1e-3)) < 1e-15);
}

static void events_are_times_with_two_rows(void **state)
{
    const CurvesEvents all = curves_events(*state, -INFINITY, INFINITY, 10, arena);
    assert_int_equal(all.n, 1);
    assert_true(all.is_all && all.times[0] == 50000);
    assert_int_equal(curves_events(*state, 60000, INFINITY, 10, arena).n, 0);
}

static void windows_that_make_no_sense_do_no_harm(void **state)
{
    const uint32_t columns[] = { 1 };
    static const CurvesWindow windows[] = { { 10, 5, 100, false },       { NAN, NAN, 100, false },
                                            { 1e300, 1e301, 1, false },  { -1e301, -1e300, 0, false },
                                            { 5, 5, UINT32_MAX, false }, { INFINITY, -INFINITY, 1, true } };
    for (size_t k = 0; k < sizeof windows / sizeof *windows; k++) {
        Curves curves;
        assert_true(curves_read(*state, columns, 1, windows[k], arena, &curves));
        assert_true(curves.n <= 2 * CURVES_WIDTH_MOST + ROWS + 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_narrow_peak_is_seen_from_afar), cmocka_unit_test(pieces_have_the_extremes_of_their_rows),
        cmocka_unit_test(few_rows_are_given_as_they_are),  cmocka_unit_test(points_stay_whole),
        cmocka_unit_test(events_are_times_with_two_rows),  cmocka_unit_test(windows_that_make_no_sense_do_no_harm),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
