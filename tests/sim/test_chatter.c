/* Comparisons that chatter: what slides stays within a stated width of its border with the mean on it, whatever the
 * output interval and the solver, and its events leave no rows. References: the sliding motion of Filippov in closed
 * form. */
#include "run.h"
#include <math.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/chatter/"

static const char *const SOLVERS[] = { "auto",
                                       "dopri5",
                                       "dop853",
                                       "cvode-bdf",
                                       "cvode-adams",
                                       "ida",
                                       "arkode-erk",
                                       "arkode-dirk",
                                       "simplex-rk4",
                                       "simplex-fehlberg",
                                       "simplex-gauss",
                                       "simplex-bulirsch-stoer",
                                       "simplex-rosenbrock",
                                       "simplex-euler" };
enum { N_SOLVERS = sizeof SOLVERS / sizeof *SOLVERS };

static RunResult *run_with(const char *file, const char *solver, double stop, double interval, double tolerance)
{
    RunResult *r = run_model(&(RunRequest){
        .path = file, .tier = "interp", .solver = solver, .stop = stop, .interval = interval, .tolerance = tolerance });
    expect_done(r);
    return r;
}

/* On the surface from t1 = sqrt(5/3) - 1 on, with X = 1 - 1.5 t1^2: X' = -X from there. */
static double slide_x(double t)
{
    const double t1 = sqrt(5.0 / 3) - 1;
    return (1 - 1.5 * t1 * t1) * exp(t1 - t);
}

/* Rows: those of the grid, and two for each of the 32 events by which it was noticed. */
static void check_slide(const char *solver, double stop, double interval, double tolerance)
{
    RunResult *r = run_with(HERE "Slide.mdl", solver, stop, interval, 1e-6);
    const KoineHeldBack *held = &r->report.statistics.held[0];
    expect_near(run_last(r, "X"), slide_x(stop), tolerance);
    assert_true(r->n_rows <= stop / interval + 70);
    assert_int_equal(r->report.statistics.n_held, 1);
    expect_near(held->from, sqrt(5.0 / 3) - 1, 3e-4);
    expect_near(held->to, stop, 0);
    assert_true(held->width > 0 && held->width < 2e-3);
    assert_int_equal(held->crossings, r->report.statistics.events.chattering_events);
    assert_non_null(strstr(held->text, "Slide.mdl:9)"));
    for (uint32_t k = 0; k < r->n_rows; k++)
        if (r->rows[k].time > held->from)
            assert_true(fabs(r->rows[k].values[run_column(r, "S")]) <= held->width * (1 + 1e-6));
    run_free(r);
}

static void test_s16_sliding_does_not_depend_on_the_interval(void **state)
{
    (void)state;
    check_slide("auto", 10, 0.001, 1e-6);
    check_slide("auto", 10, 0.02, 1e-6);
    check_slide("auto", 10, 0.2, 1e-6);
    check_slide("auto", 10, 1, 1e-6);
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        check_slide(SOLVERS[k], 0.6, 0.001, 3e-4);
        check_slide(SOLVERS[k], 0.6, 0.2, 3e-4);
    }
}

/* What a step passes over behind an event is no size of a state: else the width is that of the longest step that was
 * tried. */
static void test_s16_the_width_does_not_depend_on_steps_that_events_cut(void **state)
{
    (void)state;
    double widths[3];
    static const double intervals[3] = { 0.001, 0.1, 1 };
    for (int k = 0; k < 3; k++) {
        RunResult *r = run_with(HERE "Slide.mdl", "arkode-dirk", 10, intervals[k], 1e-6);
        widths[k] = r->report.statistics.held[0].width;
        expect_near(run_last(r, "X"), slide_x(10), 1e-6 + widths[k]);
        run_free(r);
    }
    expect_near(widths[0], 8e-4, 1e-6); /* 200 tolerances of 1, doubled twice in 43,000 changes */
    expect_near(widths[1], widths[0], 1e-9);
    expect_near(widths[2], widths[0], 1e-9);
}

static void test_s16_sliding_at_every_tolerance(void **state)
{
    (void)state;
    for (double tolerance = 1e-4; tolerance > 1e-11; tolerance /= 10) {
        RunResult *r = run_with(HERE "Slide.mdl", NULL, 2, 0.5, tolerance);
        expect_near(run_last(r, "X"), slide_x(2), 3e-5);
        assert_in_range(r->report.statistics.events.state_events, 1000, 100000);
        run_free(r);
    }
}

/* y slides from 0.3752118 on, w = (3 + 0.5 cos(3t))/5 of the time above 0.1: p = 6.0870656 at 10. */
static void test_s16_two_relays_slide_at_once(void **state)
{
    (void)state;
    RunResult *r = run_with(HERE "two.dym", NULL, 10, 0.5, 1e-6);
    expect_near(run_last(r, "x"), 0, 5e-4);
    expect_near(run_last(r, "y"), 0.1, 5e-4);
    expect_near(run_last(r, "p"), 6.087065612530238, 3e-4);
    assert_int_equal(r->report.statistics.n_held, 2);
    assert_true(r->n_rows < 200);
    run_free(r);
}

/* Both at once: x + y/2 = 0.2 and y = x. The second one is moved by the first one's sawtooth and never chatters
 * alone. */
static void test_s16_two_coupled_relays_slide_at_once(void **state)
{
    (void)state;
    RunResult *r = run_with(KOINE_SOURCE_DIR "/tests/sim/dymola/sliding.dym", NULL, 10, 0.5, 1e-6);
    expect_near(run_last(r, "x"), 0.2 / 1.5, 5e-4);
    expect_near(run_last(r, "y"), 0.2 / 1.5, 5e-4);
    assert_int_equal(r->report.statistics.n_held, 2);
    assert_true(r->n_rows < 200);
    assert_true(r->report.statistics.events.state_events < 100000);
    run_free(r);
}

/* Sticks from 3.3136469 to 3.9896547, from 6.2003313 to 7.1312474 and from 9.3419239 on: pieces of
 * v = v0 + 2(cos t0 - cos t) -+ 1.5(t - t0), each held as long as |2 sin t| < 1.5. */
static void test_s16_friction_by_the_sign_of_the_speed(void **state)
{
    (void)state;
    RunResult *r = run_with(HERE "friction.dym", NULL, 10, 0.5, 1e-6);
    expect_near(run_last(r, "x"), 2.0481621158779713, 5e-4);
    expect_near(run_last(r, "v"), 0, 3e-4);
    assert_int_equal(r->report.statistics.held[0].times, 3);
    expect_near(r->report.statistics.held[0].from, 3.313646867838868, 1e-5);
    run_free(r);
}

/* Slips 159 times, to and fro, from s = 5t with sin s = 0.75 on until 4(cos s0 - cos s) = 3(s - s0): by
 * 0.23744542449584. In all it changes far more often than one slide may. */
static void test_s16_each_slide_has_a_width_and_a_number_of_its_own(void **state)
{
    (void)state;
    RunResult *r = run_with(HERE "slips.dym", NULL, 100, 50, 1e-6);
    const KoineHeldBack *held = &r->report.statistics.held[0];
    expect_near(run_last(r, "x"), 0.7374454244958413, 2e-4);
    expect_near(run_last(r, "v"), 0, 3e-4);
    assert_int_equal(held->times, 160);
    assert_true(held->width < 3e-4);
    assert_true(held->crossings > 300000);
    run_free(r);
}

/* v2 = 0 is left with -1.96 to one side, with 0.036 to the other: 32 events take long enough to be none of a chain.
 * References: DOP853 at 1e-11 with sticking as a mode of its own. */
static void check_masses(const char *file, double stop, const char *const *names, const double *values, uint32_t n)
{
    const double intervals[] = { stop, stop / 500 };
    double first[6] = { 0 };
    for (uint32_t j = 0; j < 2; j++) {
        RunResult *r = run_with(file, NULL, stop, intervals[j], 1e-6);
        for (uint32_t k = 0; k < n; k++) {
            const double value = run_last(r, names[k]);
            expect_near(value, values[k], 3e-4);
            expect_near(value, j ? first[k] : value, 1e-8);
            first[k] = value;
        }
        assert_true(r->report.statistics.events.state_events < 200000);
        run_free(r);
    }
}

static void test_s16_what_leaves_one_side_slowly_slides(void **state)
{
    (void)state;
    static const char *const names[] = { "x1", "v1", "x2", "v2", "x3", "v3" };
    static const double two[] = { 2.321304282804764, -0.8181708951871997, 2.853955713575175, -0.5769873482944847 };
    static const double three[] = { 0.421336349654383,  -0.11005117017692569, 0.8695681386442532,
                                    -0.565791017949856, 1.2116062753227015,   -0.6959308969132939 };
    check_masses(HERE "two_masses.dym", 10, names, two, 4);
    check_masses(HERE "three_masses.dym", 5, names, three, 6);
}

/* Then x = 0.1 (t - 5)^2. Euler's method is left out: without sliding, too, it is off by 7e-4. */
static void test_s16_sliding_that_ends(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SOLVERS - 1; k++) {
        RunResult *r = run_with(HERE "leaves.dym", SOLVERS[k], 10, 1, 1e-6);
        expect_near(run_last(r, "x"), 2.5, 3e-4);
        expect_near(r->report.statistics.held[0].to, 5, 0.3);
        run_free(r);
    }
}

static void test_s16_sliding_on_a_curve_and_along_a_function_of_time(void **state)
{
    (void)state;
    RunResult *r = run_with(HERE "circle.dym", NULL, 3, 0.5, 1e-6);
    expect_near(run_last(r, "x"), cos(3), 2e-4);
    expect_near(run_last(r, "y"), sin(3), 2e-4);
    run_free(r);
    r = run_with(HERE "reference.dym", NULL, 5, 0.5, 1e-6);
    expect_near(run_last(r, "x"), sin(5), 3e-4);
    run_free(r);
}

static double size_set;
static void set_size(KoineModel *model)
{
    set_value(model, "size", size_set);
}

/* s = v + x + size: x = size*(X - 1) of the motion above, the same number of events in every unit. */
static void test_s16_sliding_at_every_scale(void **state)
{
    (void)state;
    uint64_t events = 0;
    for (size_set = 1e-9; size_set < 2e6; size_set *= 1000) {
        RunResult *r = run_model(&(RunRequest){
            .path = HERE "scale.dym", .stop = 2, .interval = 0.5, .tolerance = 1e-6, .prepare = set_size });
        expect_done(r);
        expect_near(run_last(r, "x") / size_set, slide_x(2) - 1, 1e-5);
        events = events ? events : r->report.statistics.events.state_events;
        expect_near((double)r->report.statistics.events.state_events, (double)events, 0.02 * (double)events);
        run_free(r);
    }
}

/* X = 0.5 - 0.7t reaches 0 at 5/7; then Y' = 0.3 is the mean that keeps X there. The clock finds X inside of its band:
 * that decides nothing. Between two changes X moves by twice the width: with 0.7 down, with 1.3 up; the width doubles
 * 14 times until then, after 32 changes each. */
static void test_s16_other_events_leave_what_chatters_alone(void **state)
{
    (void)state;
    RunResult *r = run_with(HERE "Clocked.mdl", NULL, 2, 0.5, 1e-6);
    const KoineHeldBack *held = &r->report.statistics.held[0];
    const double t1 = 5.0 / 7, period = 2 * held->width * (1 / 0.7 + 1 / 1.3);
    expect_near(run_last(r, "Y"), t1 + 0.3 * (2 - t1), 2e-4);
    expect_near((double)held->crossings, 14 * 32 + 2 * (2 - t1) / period, 0.03 * (double)held->crossings);
    expect_near(run_last(r, "N"), 5406, 0);
    run_free(r);
}

static void test_s16_a_run_goes_on_sliding(void **state)
{
    (void)state;
    RunResult *r = run_model(
        &(RunRequest){ .path = HERE "Slide.mdl", .stop = 2, .interval = 0.5, .tolerance = 1e-6, .pause = 1.1 });
    expect_done(r);
    expect_near(run_last(r, "X"), slide_x(2), 1e-5);
    run_free(r);
}

static void test_s16_what_slides_too_fast_ends_the_run(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = HERE "fast.dym", .stop = 10, .interval = 1 });
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_int_equal(r->report.fault.cause, KOINE_CAUSE_SLIDING);
    assert_non_null(strstr(r->report.text, "\"x > 0.0\" of fast ("));
    assert_non_null(strstr(r->report.text, "fast.dym:4)"));
    assert_non_null(strstr(r->report.text, "which is 0.01 of their size"));
    assert_true(r->report.statistics.events.state_events < 301000);
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_s16_sliding_does_not_depend_on_the_interval),
        cmocka_unit_test(test_s16_the_width_does_not_depend_on_steps_that_events_cut),
        cmocka_unit_test(test_s16_sliding_at_every_tolerance),
        cmocka_unit_test(test_s16_two_relays_slide_at_once),
        cmocka_unit_test(test_s16_two_coupled_relays_slide_at_once),
        cmocka_unit_test(test_s16_friction_by_the_sign_of_the_speed),
        cmocka_unit_test(test_s16_each_slide_has_a_width_and_a_number_of_its_own),
        cmocka_unit_test(test_s16_what_leaves_one_side_slowly_slides),
        cmocka_unit_test(test_s16_sliding_that_ends),
        cmocka_unit_test(test_s16_sliding_on_a_curve_and_along_a_function_of_time),
        cmocka_unit_test(test_s16_sliding_at_every_scale),
        cmocka_unit_test(test_s16_other_events_leave_what_chatters_alone),
        cmocka_unit_test(test_s16_a_run_goes_on_sliding),
        cmocka_unit_test(test_s16_what_slides_too_fast_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
