/* Branches, tables and roots that have no value beyond a border: coming to it is an event or nothing, never an
 * error. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define BORDERS KOINE_SOURCE_DIR "/tests/sim/borders/"

static const char *const solvers[] = { "auto",        "dopri5", "dop853",     "cvode-bdf",
                                       "cvode-adams", "ida",    "arkode-erk", "arkode-dirk" };
enum { N_SOLVERS = sizeof solvers / sizeof *solvers };

static const char *const all_solvers[] = { "auto",
                                           "dopri5",
                                           "dop853",
                                           "cvode-bdf",
                                           "cvode-adams",
                                           "ida",
                                           "arkode-erk",
                                           "arkode-dirk",
                                           "simplex-euler",
                                           "simplex-rk4",
                                           "simplex-fehlberg",
                                           "simplex-gauss",
                                           "simplex-bulirsch-stoer",
                                           "simplex-rosenbrock" };
enum { N_ALL = sizeof all_solvers / sizeof *all_solvers };

/* simplex-euler keeps the error of each step, but there are many. */
static double allowed(const char *solver, double error)
{
    return strcmp(solver, "simplex-euler") == 0 ? 30 * error : error;
}

/* h = (1 - t/2)^2 until 2, then 0. At 0 the slope of the root is infinite: what is near to 0 stays near to it. */
static void test_s9_a_signed_root_comes_to_rest(void **state)
{
    (void)state;
    static const char *const paths[] = { BORDERS "signed_root.dym", BORDERS "sign_root.dym" };
    for (uint32_t k = 0; k < N_ALL; k++)
        for (uint32_t j = 0; j < 2; j++) {
            RunResult *r = run_model(&(RunRequest){
                .path = paths[j], .solver = all_solvers[k], .stop = 3, .interval = 0.25, .tolerance = 1e-6 });
            expect_done(r);
            for (int n = 0; n <= 12; n++) {
                const double t = 0.25 * n;
                expect_near(run_at(r, "h", t), t < 2 ? (1 - t / 2) * (1 - t / 2) : 0, allowed(all_solvers[k], 2e-5));
            }
            assert_true(r->report.statistics.integration.steps < 150000);
            assert_int_equal(r->report.statistics.events.state_events, 0);
            run_free(r);
        }
}

/* ---- three tanks ---- */
static void levels(const double *h, double *slope)
{
    static const double k[3] = { 1e-3, 2e-3, 5e-4 }, area[3] = { 1, 0.5, 0.3 };
    static const int from[3] = { 0, 1, 0 }, to[3] = { 1, 2, 2 };
    slope[0] = slope[1] = slope[2] = 0;
    for (int j = 0; j < 3; j++) {
        const double p = 9810 * (h[from[j]] - h[to[j]]), q = k[j] * (p > 0 ? sqrt(p) : -sqrt(-p));
        slope[from[j]] -= q / area[from[j]];
        slope[to[j]] += q / area[to[j]];
    }
}

/* Runge and Kutta's method in equal steps of 1e-4. */
static void levels_at(double t, double *h)
{
    const int n = (int)(t / 1e-4 + 0.5);
    const double step = t / n;
    double k[4][3], x[3];
    h[0] = 2;
    h[1] = 0.1;
    h[2] = 1;
    for (int j = 0; j < n; j++) {
        levels(h, k[0]);
        for (int stage = 1; stage < 4; stage++) {
            for (int i = 0; i < 3; i++)
                x[i] = h[i] + (stage == 3 ? 1 : 0.5) * step * k[stage - 1][i];
            levels(x, k[stage]);
        }
        for (int i = 0; i < 3; i++)
            h[i] += step / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

static void fill(KoineModel *model)
{
    set_value(model, "t1.h", 2);
    set_value(model, "t2.h", 0.1);
    set_value(model, "t3.h", 1);
}

static void test_s9_three_tanks_with_every_solver(void **state)
{
    (void)state;
    double h[3];
    levels_at(5, h);
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        RunResult *r = run_model(&(RunRequest){ .path = BORDERS "tanks.dym",
                                                .solver = solvers[k],
                                                .stop = 20,
                                                .interval = 1,
                                                .tolerance = 1e-6,
                                                .prepare = fill });
        expect_done(r);
        expect_near(run_at(r, "t1.h", 5), h[0], 2e-5);
        expect_near(run_at(r, "t2.h", 5), h[1], 2e-5);
        expect_near(run_at(r, "t3.h", 5), h[2], 2e-5);
        expect_near(run_last(r, "V"), 2.35, 1e-9); /* 2*1 + 0.1*0.5 + 1*0.3 */
        expect_near(run_last(r, "t1.h"), 2.35 / 1.8, 1e-5);
        expect_near(run_last(r, "t2.h"), 2.35 / 1.8, 1e-5);
        expect_near(run_last(r, "t3.h"), 2.35 / 1.8, 1e-5);
        assert_true(r->report.statistics.integration.steps < 75000);
        run_free(r);
    }
}

/* In balance the flow is half of what comes in: h1 - h2 = 0.05^2, with what is left of the way there below 1e-17. */
static void test_s9_a_root_without_derivative_at_the_start(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        RunResult *r = run_model(&(RunRequest){
            .path = BORDERS "equal_tanks.dym", .solver = solvers[k], .stop = 3, .interval = 0.5, .tolerance = 1e-6 });
        expect_done(r);
        expect_near(run_at(r, "h1", 0.5), 1, 1e-12);
        expect_near(run_last(r, "h1"), 1.10125, 1e-6);
        expect_near(run_last(r, "h2"), 1.09875, 1e-6);
        run_free(r);
    }
}

/* The branch ends with an event; its root is not taken of what is beyond. h' = -(1 + sqrt(h)): h is 0 at 2 (1 - ln
 * 2). */
static void test_s9_a_root_that_ends_with_its_branch(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        RunResult *r = run_model(&(RunRequest){
            .path = BORDERS "jump_root.dym", .solver = solvers[k], .stop = 1, .interval = 0.125, .tolerance = 1e-8 });
        expect_done(r);
        assert_int_equal(r->report.statistics.events.state_events, 1);
        expect_near(run_last(r, "h"), 0, 1e-7);
        double end = 0;
        for (uint32_t row = 1; row < r->n_rows && end == 0; row++)
            if (r->rows[row].values[run_column(r, "q")] == 0)
                end = r->rows[row].time;
        expect_near(end, 2 * (1 - log(2.0)), 1e-6);
        run_free(r);
    }
}

static void test_s9_a_root_without_value_in_its_own_branch(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = BORDERS "wrong_root.dym", .stop = 2, .interval = 0.25 });
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    fail_if(!strstr(r->report.text, "square root of a negative number: sqrt(b)"), "%s", r->report.text);
    run_free(r);
}

/* ---- a state that an event stops at the end of a table ---- */
static double rate;
static void set_rate(KoineModel *model)
{
    set_value(model, "V", rate);
}

/* X' = V (1 + 0.3 X) to and fro between 0 and 6, from 0.1 on. */
static double position(double t)
{
    const double way = log(2.8) / (0.3 * rate), begin = log(1.03) / (0.3 * rate), phase = fmod(t + begin, 2 * way);
    return phase < way ? (exp(0.3 * rate * phase) - 1) / 0.3 : (2.8 * exp(-0.3 * rate * (phase - way)) - 1) / 0.3;
}

static double table(double x)
{
    static const double at[] = { 0, 1, 2.5, 3, 6 }, value[] = { 10, 9, 6, 4.5, 0 };
    int k = 0;
    while (k < 3 && x > at[k + 1])
        k++;
    return value[k] + (value[k + 1] - value[k]) * (x - at[k]) / (at[k + 1] - at[k]);
}

static void check_edge(const char *solver, double stop, double tolerance, double error)
{
    RunResult *r = run_model(&(RunRequest){ .path = BORDERS "Edge.mdl",
                                            .solver = solver,
                                            .stop = stop,
                                            .interval = 2.5,
                                            .tolerance = tolerance,
                                            .prepare = set_rate });
    expect_done(r);
    for (int n = 0; 2.5 * n <= stop; n++) {
        expect_near(run_at(r, "X", 2.5 * n), position(2.5 * n), error);
        expect_near(run_at(r, "Y", 2.5 * n), table(position(2.5 * n)), 3 * error);
    }
    run_free(r);
}

static void test_s9_a_state_that_stops_at_the_end_of_a_table(void **state)
{
    (void)state;
    static const double rates[] = { 0.1, 0.3, 0.5, 0.7, 0.9, 1.1, 1.7 };
    static const char *const some[] = { "auto", "dop853", "cvode-bdf", "ida" };
    for (uint32_t k = 0; k < 7; k++)
        for (uint32_t j = 0; j < 4; j++) {
            rate = rates[k];
            check_edge(some[j], 50, 1e-8, 2e-5);
        }
}

/* Where a step is made again up to the event, its end is not where the interpolant was: it may lie beyond the table. */
static void test_s9_every_solver_stops_at_the_end_of_a_table(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 18; k++)
        for (uint32_t j = 0; j < N_ALL; j++) {
            rate = 0.2 * k;
            check_edge(all_solvers[j], 20, 1e-6, allowed(all_solvers[j], 6e-4));
        }
}

/* ---- a table whose argument is a remainder of just its range ---- */
static double period;
static void set_period(KoineModel *model)
{
    set_value(model, "Period", period);
}

/* The area of a period is that of the trapezoids, 90, and with cubic pieces of slopes 1/6 and -1/2 at the ends 3 (1/6 +
 * 1/2) more. */
static void test_s9_a_table_over_the_range_of_a_remainder(void **state)
{
    (void)state;
    static const double area[4] = { 90, 90, 92, 90 };
    static const char *const names[4] = { "A", "B", "C", "D" };
    period = 24;
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        RunResult *r = run_model(&(RunRequest){ .path = BORDERS "Remainder.mdl",
                                                .solver = solvers[k],
                                                .stop = 240,
                                                .interval = 24,
                                                .tolerance = 1e-8,
                                                .prepare = set_period });
        expect_done(r);
        for (int j = 0; j < 4; j++)
            expect_near(run_last(r, names[j]), 10 * area[j], 920 * 1e-8 * 100);
        run_free(r);
    }
}

static void test_s9_a_remainder_beyond_its_table(void **state)
{
    (void)state;
    period = 24.00001;
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        RunResult *r = run_model(&(RunRequest){ .path = BORDERS "Remainder.mdl",
                                                .solver = solvers[k],
                                                .stop = 240,
                                                .interval = 24,
                                                .prepare = set_period });
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        fail_if(!strstr(r->report.text, "lies outside 0 .. 24"), "%s", r->report.text);
        run_free(r);
    }
}

/* ---- a tank that an event stops when it is empty ---- */
static double pump, leak;
static void set_drain(KoineModel *model)
{
    set_value(model, "Q", pump);
    set_value(model, "Leak", leak);
}

/* Of H' = a - b sqrt(H): the time from level h to level g. */
static double time_between(double a, double b, double h, double g)
{
    const double s = sqrt(h), e = sqrt(g);
    return 2 / b * (s - e) + 2 * a / (b * b) * log((a - b * s) / (a - b * e));
}

static void check_drain(const char *solver, double tolerance, double error)
{
    RunResult *r = run_model(&(RunRequest){ .path = BORDERS "Drain.mdl",
                                            .solver = solver,
                                            .stop = 40,
                                            .interval = 1,
                                            .tolerance = tolerance,
                                            .prepare = set_drain });
    expect_done(r);
    const uint32_t on = run_column(r, "On");
    double t = time_between(0.05 - pump, leak, 1, 0), last = 1;
    for (uint32_t row = 0; row < r->n_rows; row++) {
        if (r->rows[row].values[on] == last)
            continue;
        last = r->rows[row].values[on];
        expect_near(r->rows[row].time, t, error);
        t += last == 0 ? time_between(0.05, leak, 0, 0.15) : time_between(0.05 - pump, leak, 0.15, 0);
    }
    assert_true(t > 40 - error);
    run_free(r);
}

static void test_s9_a_tank_that_runs_empty(void **state)
{
    (void)state;
    static const double pumps[] = { 0.1, 0.2, 0.3, 0.5 }, leaks[] = { 0.01, 0.1 };
    static const char *const some[] = { "auto", "dop853", "cvode-bdf", "ida" };
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t j = 0; j < 8; j++) {
            pump = pumps[k];
            leak = leaks[j % 2];
            check_drain(some[j / 2], 1e-8, 2e-5);
        }
}

static void test_s9_a_tank_that_runs_empty_with_every_solver(void **state)
{
    (void)state;
    leak = 0.1;
    for (uint32_t k = 3; k <= 20; k++)
        for (uint32_t j = 0; j < N_ALL; j++) {
            pump = 0.05 * k;
            check_drain(all_solvers[j], 1e-6, allowed(all_solvers[j], 1e-3));
        }
}

/* ---- noEvent and smooth ---- */
static void check_literal(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.events.state_events, 1); /* that of z */
    expect_near(run_last(r, "z"), 0.5 - 2 * 0.25, 1e-9);
    expect_near(run_last(r, "x"), 0, 1e-4); /* error control alone finds the corner */
    expect_near(run_last(r, "y"), 0, 1e-4);
    expect_near(run_last(r, "w"), 0, 1e-4);
}

static void test_s5_literal_comparisons_make_no_events(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = BORDERS "literal.dym", .stop = 0.75, .interval = 0.25, .tolerance = 1e-8 },
                     check_literal);
}

static void test_s5_smooth_wants_a_number(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = BORDERS "bad_smooth.dym", .stop = 1, .interval = 1 });
    assert_false(r->is_compiled);
    assert_non_null(strstr(r->messages, "`smooth` wants a whole number here"));
    assert_non_null(strstr(r->messages, "`noEvent` has 1 argument, not 2"));
    run_free(r);
}

/* 50 turns: the mean of the angle is pi/2 from -pi/2 to 3 pi/2, else 0; one or two events a turn and kind of angle,
 * none for what only swings. */
static void test_jumps_of_angles_are_events(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846, stop = 100 * pi;
    const char *const names[] = { "auto", "dop853", "cvode-bdf", "simplex-rosenbrock" };
    for (uint32_t k = 0; k < 4; k++) {
        RunResult *r =
            run_model(&(RunRequest){ .path = BORDERS "Angle.mdl", .solver = names[k], .stop = stop, .interval = stop });
        expect_done(r);
        expect_near(run_last(r, "A"), stop * pi / 2, 3e-2 * (k > 1) + 2e-4);
        expect_near(run_last(r, "B"), stop * pi / 2, 3e-2 * (k > 1) + 2e-4);
        expect_near(run_last(r, "C"), 0, 3e-2 * (k > 1) + 2e-4);
        const double rest = 3 * stop - 942;
        expect_near(run_last(r, "D"), (471 + rest * rest / 2) / 3, 1e-5);
        expect_near((double)r->report.statistics.events.state_events, 100 + 942, 0);
        run_free(r);
        r = run_model(&(RunRequest){ .path = BORDERS "angle.dym", .solver = names[k], .stop = stop, .interval = stop });
        expect_done(r);
        expect_near(run_last(r, "a"), 0, 3e-2 * (k > 1) + 3e-4);
        expect_near((double)r->report.statistics.events.state_events, 100, 0);
        run_free(r);
    }
}

/* |sin t|^0.3 by quadrature, piece by piece: behind each corner it begins with an infinite slope. */
static void test_s9_a_step_that_begins_at_a_cusp(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        RunResult *r =
            run_model(&(RunRequest){ .path = BORDERS "Cusp.mdl", .solver = solvers[k], .stop = 20, .interval = 20 });
        expect_done(r);
        expect_near(run_last(r, "F"), 16.682493398579247, 100e-6 * 16.7);
        expect_near((double)r->report.statistics.events.state_events, 6, 0);
        run_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_s9_a_signed_root_comes_to_rest),
        cmocka_unit_test(test_s9_three_tanks_with_every_solver),
        cmocka_unit_test(test_s9_a_root_without_derivative_at_the_start),
        cmocka_unit_test(test_s9_a_root_that_ends_with_its_branch),
        cmocka_unit_test(test_s9_a_root_without_value_in_its_own_branch),
        cmocka_unit_test(test_s9_a_state_that_stops_at_the_end_of_a_table),
        cmocka_unit_test(test_s9_every_solver_stops_at_the_end_of_a_table),
        cmocka_unit_test(test_s9_a_table_over_the_range_of_a_remainder),
        cmocka_unit_test(test_s9_a_remainder_beyond_its_table),
        cmocka_unit_test(test_s9_a_tank_that_runs_empty),
        cmocka_unit_test(test_s9_a_tank_that_runs_empty_with_every_solver),
        cmocka_unit_test(test_s5_literal_comparisons_make_no_events),
        cmocka_unit_test(test_s5_smooth_wants_a_number),
        cmocka_unit_test(test_jumps_of_angles_are_events),
        cmocka_unit_test(test_s9_a_step_that_begins_at_a_cusp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
