/* Delays along a position, in every tier: what went in comes out where the position has moved on by the length.
 * Expected values are closed forms, and where the flow turns what each piece of matter had when it last came in. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define ALONG KOINE_SOURCE_DIR "/tests/sim/along/"
#define PI    3.14159265358979323846

static const char *const SOLVERS[] = { "rk4", "dop853", "cvode-bdf", "ida" };
enum { N_SOLVERS = 4 };

static bool is_left_row(const RunResult *r, uint32_t k)
{
    return k + 1 < r->n_rows && r->rows[k + 1].time <= r->rows[k].time;
}

static void run_everywhere(RunRequest request, double pause, void (*check)(const RunResult *))
{
    run_in_all_tiers(request, check);
    request.pause = pause;
    run_in_all_tiers(request, check);
    request.pause = 0;
    request.n_pieces = 7;
    request.changes_hands = true;
    run_in_all_tiers(request, check);
    request.n_pieces = 0;
    request.changes_hands = false;
    request.tolerance = 1e-8;
    request.step = 0.01;
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        request.solver = SOLVERS[k];
        RunResult *r = run_model(&request);
        check(r);
        run_free(r);
    }
}

/* ---- one direction: x = t + sin(t)/2 ---- */
static double position(double t)
{
    return t + 0.5 * sin(t);
}

static double time_of(double x)
{
    double low = 0, high = 8;
    for (int k = 0; k < 100; k++)
        *(position((low + high) / 2) < x ? &low : &high) = (low + high) / 2;
    return low;
}

static double wave(double x)
{
    return x > 0 ? sin(3 * time_of(x)) : 0;
}

static double initially(double share)
{
    return share <= 0.5 ? 1 + 4 * share : 3 - 10 * (share - 0.5);
}

static void check_pipe(const RunResult *r)
{
    expect_done(r);
    const double arrival = time_of(1 + position(1));
    bool arrives = false, steps = false;
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time, *v = r->rows[k].values, x = position(t);
        if (is_left_row(r, k)) {
            const double *next = r->rows[k + 1].values;
            arrives |= fabs(t - arrival) < 1e-6 && v[run_column(r, "jump")] == 0 &&
                       fabs(next[run_column(r, "jump")] - 1) < 1e-6;
            steps |= fabs(t - 2) < 1e-9 && v[run_column(r, "stepped")] == 0 &&
                     fabs(next[run_column(r, "stepped")] - 1) < 1e-9;
            continue;
        }
        expect_near(v[run_column(r, "steady")], sin(3 * fmax(t - 1, 0)), 1e-6);
        expect_near(v[run_column(r, "waves")], wave(x - 1), 1e-6);
        expect_near(v[run_column(r, "twice")], wave(x - 1.5), 1e-6);
        if (fabs(x - 1) > 1e-6)
            expect_near(v[run_column(r, "filled")], x < 1 ? initially(1 - x) : wave(x - 1), 2e-6);
        if (fabs(x - 2) > 1e-6)
            expect_near(v[run_column(r, "was")], x < 2 ? 7 : wave(x - 2), 1e-6);
        expect_near(v[run_column(r, "long")], 0, 0);
        if (fabs(t - arrival) > 1e-6)
            expect_near(v[run_column(r, "jump")], t < arrival ? 0 : time_of(x - 1), 1e-6);
    }
    assert_true(arrives && steps);
}

static void test_what_goes_in_comes_out(void **state)
{
    (void)state;
    run_everywhere((RunRequest){ .path = ALONG "pipe.ir", .stop = 4, .interval = 0.25 }, 2.3, check_pipe);
}

/* ---- the flow turns: x = 0.6 sin(t) ---- */
static const double REACH = 0.6;

static double near_end(double t)
{
    return 10 + sin(2 * t);
}

static double far_end(double t)
{
    return 20 + t;
}

/* The last time before t that is base + 2 pi k; negative: none in the run. */
static double latest(double base, double t)
{
    return base + 2 * PI * floor((t - base) / (2 * PI));
}

/* What passed the near end at x = place: there when the flow went forwards, or at the far end, at x = place + 1, when
 * it went back; else it is there since the start. */
static double matter(double place, double t)
{
    const double before = t - 1e-9;
    const double forth = fabs(place) <= REACH ? latest(asin(place / REACH), before) : -1;
    const double back = fabs(place + 1) <= REACH ? latest(PI - asin((place + 1) / REACH), before) : -1;
    if (forth < 0 && back < 0)
        return initially(-place);
    return forth > back ? near_end(forth) : far_end(back);
}

static double at_far(double t)
{
    return cos(t) >= 0 ? matter(REACH * sin(t) - 1, t) : far_end(t);
}

static double at_near(double t)
{
    return cos(t) >= 0 ? near_end(t) : matter(REACH * sin(t), t);
}

static uint32_t compare(double value, double (*expected)(double), double t)
{
    enum { EARLIER, LATER };
    const double around[] = { expected(t - 1e-4), expected(t + 1e-4) };
    if (fabs(around[EARLIER] - around[LATER]) > 0.1 || fabs(cos(t)) < 1e-6) /* it jumps here, or turns */
        return 0;
    expect_near(value, expected(t), 2e-5);
    return 1;
}

static void check_turns(const RunResult *r)
{
    uint32_t n = 0;
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time, *v = r->rows[k].values;
        if (t < 0.01 || is_left_row(r, k))
            continue;
        n += compare(v[run_column(r, "out1")], at_far, t);
        n += compare(v[run_column(r, "out0")], at_near, t);
    }
    assert_true(n > 200);
}

static void test_what_goes_back_comes_back(void **state)
{
    (void)state;
    run_everywhere((RunRequest){ .path = ALONG "turns.ir", .stop = 12, .interval = 0.1 }, 5.05, check_turns);
}

/* ---- the flow rests ---- */
static double rested(double t)
{
    return t < 0.5 ? 0 : t < 1 ? t - 0.5 : t < 2 ? 0.5 : t < 2.5 ? t - 1.5 : t - 0.5;
}

/* 1 - cos(t), 2 from pi to 2 pi, and on; what goes in meanwhile is no more than a point. */
static double swept(double t)
{
    const double z = t < PI ? 1 - cos(t) : t < 2 * PI ? 2 : 3 - cos(t);
    return z < 1 ? 0 : z < 3 ? acos(2 - z) : 2 * PI + acos(4 - z);
}

static void check_rests(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time, *v = r->rows[k].values;
        if (is_left_row(r, k))
            continue;
        if (fabs(t - 2.5) > 1e-6)
            expect_near(v[run_column(r, "y")], rested(t), 1e-6);
        if (fabs(t - 2.5 * PI) > 1e-4)
            expect_near(v[run_column(r, "w")], swept(t), 2e-3);
    }
}

static void test_the_flow_may_rest(void **state)
{
    (void)state;
    run_everywhere((RunRequest){ .path = ALONG "rests.ir", .stop = 8.5, .interval = 0.125 }, 1.55, check_rests);
}

/* ---- what is wrong ---- */
static void expect_refusal(RunRequest request, const char *text, double time)
{
    request.stop = 4;
    request.interval = 0.5;
    RunResult *r = run_model(&request);
    assert_true(r->is_compiled);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_int_equal(r->report.fault.cause, KOINE_CAUSE_DEAD_TIME);
    assert_non_null(strstr(r->report.fault.text, text));
    assert_true(r->report.fault.place.line > 0);
    expect_near(r->report.time, time, 0.2);
    run_free(r);
}

static void set_negative(KoineModel *model)
{
    set_value(model, "reach", -1);
}

static void set_beyond(KoineModel *model)
{
    set_value(model, "second", 0.25);
    set_value(model, "fourth", 1.25);
}

static void set_right(KoineModel *model)
{
    set_value(model, "second", 0.25);
}

static void set_longer(KoineModel *model)
{
    set_value(model, "reach", 3);
}

static void test_impossible_positions_end_the_run(void **state)
{
    (void)state;
    expect_refusal((RunRequest){ .path = ALONG "back.ir" }, "the position goes back, and nothing is said", 1);
    expect_refusal((RunRequest){ .path = ALONG "against.ir" }, "against the direction", 1);
    expect_refusal((RunRequest){ .path = ALONG "jumps.ir" }, "the position jumps", 1);
}

static void test_impossible_profiles_end_the_run(void **state)
{
    (void)state;
    expect_refusal((RunRequest){ .path = ALONG "points.ir" }, "must ascend from 0 to 1", 0);
    expect_refusal((RunRequest){ .path = ALONG "points.ir", .prepare = set_beyond }, "must ascend from 0 to 1", 0);
    expect_refusal((RunRequest){ .path = ALONG "points.ir", .prepare = set_negative }, "must be greater than 0", 0);
    expect_refusal((RunRequest){ .path = ALONG "points.ir", .prepare = set_right, .pause = 1.5, .between = set_longer },
                   "another position or length", 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_goes_in_comes_out),
        cmocka_unit_test(test_what_goes_back_comes_back),
        cmocka_unit_test(test_the_flow_may_rest),
        cmocka_unit_test(test_impossible_positions_end_the_run),
        cmocka_unit_test(test_impossible_profiles_end_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
