/* The time grid of SIMPLEX (TScal) and runs that are continued. Numbers: section 5 of the specification of SIMPLEX-MDL,
 * and closed forms, given beside the assertions. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define GRID KOINE_SOURCE_DIR "/tests/sim/simplex/grid/"

static const char *const solvers[] = {
    "auto", "dopri5",      "dop853",           "cvode-bdf",         "ida", "arkode-erk", "euler",
    "rk4",  "simplex-rk4", "simplex-fehlberg", "simplex-rosenbrock"
};
enum { SOLVERS = sizeof solvers / sizeof solvers[0] };

static void assert_near(double actual, double expected, double tolerance)
{
    fail_if(!(fabs(actual - expected) <= tolerance), "%.17g, expected %.17g within %g", actual, expected, tolerance);
}

static RunResult *done(RunResult *r)
{
    fail_if(!r->is_compiled, "%s", r->messages);
    fail_if(r->report.end != KOINE_RUN_DONE, "%s", r->report.text);
    return r;
}

static RunResult *failed(RunResult *r, KoineRunEnd end)
{
    fail_if(!r->is_compiled, "%s", r->messages);
    assert_int_equal(r->report.end, end);
    return r;
}

/* Rows first .. of one and rows from `other_first` on of the other have the same bits. */
static void assert_same_rows(const RunResult *a, uint32_t first, const RunResult *b, uint32_t other_first)
{
    assert_int_equal(a->n_rows - first, b->n_rows - other_first);
    for (uint32_t k = 0; first + k < a->n_rows; k++) {
        assert_memory_equal(&a->rows[first + k].time, &b->rows[other_first + k].time, sizeof(double));
        assert_int_equal(a->rows[first + k].kind, b->rows[other_first + k].kind);
        assert_memory_equal(a->rows[first + k].values, b->rows[other_first + k].values, a->n_columns * sizeof(double));
    }
}

/* The same request in the other tiers gives the same bits. */
static RunResult *in_all_tiers(RunRequest request)
{
    RunResult *r = done(run_model(&request));
    static const char *const tiers[] = { "tcc", "cc" };
    for (uint32_t k = 0; k < 2; k++) {
        request.tier = tiers[k];
        RunResult *other = done(run_model(&request));
        assert_same_rows(r, 0, other, 0);
        run_free(other);
    }
    return r;
}

static uint32_t rows_of_kind(const RunResult *r, int kind)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->n_rows; k++)
        n += r->rows[k].kind == kind;
    return n;
}

/* 5.4 a: with R = 1 z is 2, 3, 4, 5 -> 1, 2, 3, 4, 5 -> 1: events at 3 and 7, 0.5 too high. */
static void test_sx116_late_event(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < SOLVERS; k++) {
        RunResult *r = done(run_model(&(RunRequest){
            .path = GRID "Spaet.mdl", .solver = solvers[k], .stop = 9, .interval = 1, .step = 1, .resolution = 1 }));
        static const double expected[] = { 2, 3, 4, 1, 2, 3, 4, 1, 2, 3 };
        for (int t = 0; t <= 9; t++)
            assert_near(run_at(r, "z", t), expected[t], 1e-8);
        assert_near(run_last(r, "n"), 2, 0);
        assert_near(run_last(r, "tLetzt"), 7, 0);
        assert_near(run_last(r, "zLetzt"), 5, 1e-8);
        run_free(r);
    }
}

/* The finer R the closer to 2.5, 6, 9.5: each event is late by less than a cell, and the next is counted from it. */
static void test_sx116_finer_grids_converge(void **state)
{
    (void)state;
    static const double grids[] = { 0.3, 0.07, 0.01, 0.001 };
    for (int k = 0; k < 4; k++) {
        RunResult *r = done(
            run_model(&(RunRequest){ .path = GRID "Spaet.mdl", .stop = 12, .interval = 12, .resolution = grids[k] }));
        assert_near(run_last(r, "n"), 3, 0);
        assert_true(run_last(r, "tLetzt") >= 9.5 - 1e-9);
        assert_near(run_last(r, "tLetzt"), 9.5, 3 * grids[k] + 1e-9);
        run_free(r);
    }
    run_free(in_all_tiers((RunRequest){ .path = GRID "Spaet.mdl", .stop = 12, .interval = 0.5, .resolution = 0.007 }));
}

/* 5.4 b with R = 1: the Euler step across the kink ends at 2.5, whatever the method; then 0.25 a unit of time. */
static void test_sx109_euler_step_across_the_kink(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < SOLVERS; k++) {
        RunResult *r = done(run_model(&(RunRequest){
            .path = GRID "Knick.mdl", .solver = solvers[k], .stop = 4, .interval = 1, .step = 1, .resolution = 1 }));
        assert_near(run_at(r, "z", 1), 1.5, 1e-8);
        assert_near(run_at(r, "z", 2), 2.5, 1e-8);
        assert_near(run_at(r, "z", 4), 3, 1e-8);
        assert_int_equal(rows_of_kind(r, KOINE_POINT_REGION), 1); /* Takt -1: no transition fired */
        assert_int_equal(rows_of_kind(r, KOINE_POINT_RIGHT), 0);
        run_free(r);
    }
}

/* Exact: z(2) = 2 + 0.25*0.5. At R = 0.001 the switch lies in the cell that ends at 1.5 or 1.501. */
static void test_sx107_sx108_kink_on_a_fine_grid(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < SOLVERS; k++) {
        RunResult *r = done(run_model(&(RunRequest){ .path = GRID "Knick.mdl",
                                                     .solver = solvers[k],
                                                     .stop = 2,
                                                     .interval = 2,
                                                     .step = 0.1,
                                                     .resolution = 0.001 }));
        assert_near(run_last(r, "z"), 2.125, 0.001);
        assert_int_equal(rows_of_kind(r, KOINE_POINT_REGION), 1);
        for (uint32_t j = 0; j < r->n_rows; j++)
            if (r->rows[j].kind == KOINE_POINT_REGION) { /* its left side is a cell before */
                assert_true(r->rows[j].time == 1.5 || r->rows[j].time == 1.501);
                assert_int_equal(r->rows[j - 1].kind, KOINE_POINT_LEFT);
                assert_near(r->rows[j - 1].time, r->rows[j].time - 0.001, 1e-12);
            }
        assert_int_equal(r->report.statistics.control.region_searches, 1);
        assert_int_equal(r->report.statistics.control.steps_cut_at_regions, 1);
        assert_int_equal(r->report.statistics.events.crossing_searches, 0);
        run_free(r);
    }
    run_free(in_all_tiers((RunRequest){ .path = GRID "Knick.mdl", .stop = 2, .interval = 0.1, .resolution = 0.001 }));
}

/* A step of one unit has 2^20 cells: halving looks at 20 of them at most. Without a grid the same switch is a REGION
 * point, too. */
static void test_sx107_sx108_halving(void **state)
{
    (void)state;
    RunResult *r = done(run_model(&(RunRequest){
        .path = GRID "Knick.mdl", .solver = "rk4", .stop = 2, .interval = 1, .step = 1, .resolution = ldexp(1, -20) }));
    assert_near(run_last(r, "z"), 2.125, 1e-6);
    assert_int_equal(r->report.statistics.control.region_search_steps, 20);
    run_free(r);
    r = done(run_model(&(RunRequest){ .path = GRID "Knick.mdl", .stop = 2, .interval = 1 }));
    assert_near(run_last(r, "z"), 2.125, 1e-9);
    assert_int_equal(rows_of_kind(r, KOINE_POINT_REGION), 1);
    run_free(r);
}

/* x' = -1 - sqrt(|x|) from 1, which passes 0 at t0 = 2 - 2 ln 2: substituting u = sqrt(x), t = 2 (1 - ln(1 + u))
 * taken between. Beyond, -x grows in the same way: x(2 t0) = -1 by symmetry. No root of a negative number is taken. */
static void test_sx111_no_domain_error_on_the_grid(void **state)
{
    (void)state;
    const double t0 = 2 - 2 * log(2);
    for (uint32_t k = 0; k < SOLVERS; k++) {
        RunResult *r = done(run_model(&(RunRequest){ .path = GRID "Wurzel.mdl",
                                                     .solver = solvers[k],
                                                     .stop = 2 * t0,
                                                     .interval = 2 * t0,
                                                     .tolerance = 1e-4,
                                                     .step = 0.01,
                                                     .resolution = 1e-4 }));
        assert_near(r->report.time, 2 * t0, 1e-4);
        assert_near(run_last(r, "x"), -1, solvers[k][0] == 'e' ? 0.02 : 2e-3);
        run_free(r);
    }
}

/* Conditions that are discrete are not searched for. */
static void test_sx112_discrete_condition_costs_no_search(void **state)
{
    (void)state;
    RunResult *r = done(run_model(
        &(RunRequest){ .path = GRID "Schalter.mdl", .solver = "rk4", .stop = 4, .step = 0.1, .resolution = 0.001 }));
    assert_near(run_last(r, "n"), 4, 0);
    assert_int_equal(r->report.statistics.control.region_searches, 0);
    assert_int_equal(r->report.statistics.events.crossing_searches, 0);
    assert_int_equal(r->report.statistics.integration.root_evaluations, 0);
    run_free(r);
}

/* x = e^t. First grid point with x >= 1000: ln 1000 = 6.9077..., with x > 20: ln 20 = 2.9957...; what x is above the
 * threshold is less than a cell's change. */
static void test_sx114_sx115_sx120_crossings_on_the_grid(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < SOLVERS; k++) {
        if (strcmp(solvers[k], "euler") == 0)
            continue;
        RunResult *r = done(run_model(&(RunRequest){ .path = GRID "Schwelle.mdl",
                                                     .solver = solvers[k],
                                                     .stop = 8,
                                                     .interval = 8,
                                                     .tolerance = 1e-8,
                                                     .step = 0.01,
                                                     .resolution = 0.001 }));
        assert_true(run_last(r, "tGanz") == 6.908);
        assert_true(run_last(r, "tL") == 2.996);
        assert_true(run_last(r, "xGanz") >= 1000 && run_last(r, "xGanz") <= 1000 * exp(0.001));
        run_free(r);
    }
}

/* Halving the cells of a step takes log2(h/R) looks: with R = 2^-28 and steps above 2^-4 at least 24. */
static void test_sx117_regula_falsi_looks_less_often(void **state)
{
    (void)state;
    RunRequest request = { .path = GRID "Schwelle.mdl",
                           .solver = "dop853",
                           .stop = 7.5,
                           .interval = 8,
                           .tolerance = 1e-6,
                           .resolution = ldexp(1, -28) };
    RunResult *r = done(run_model(&request));
    assert_near(run_last(r, "tGanz"), log(1000), 1e-5); /* the relative error of x */
    const KoineRunStatistics *s = &r->report.statistics;
    assert_int_equal(s->events.crossing_searches, 2);
    assert_true(s->integration.steps < 64); /* the mean step is above 7.5/64 > 2^-4 */
    assert_true(s->events.crossing_search_steps < 2 * 12);
    run_free(r);
    request.max_crossing = 3;
    r = failed(run_model(&request), KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text, "takes more than 3 steps (MaxCro)"));
    assert_non_null(strstr(r->report.text, "crossing of \"x > 20.0\" of Schwelle ("));
    assert_non_null(strstr(r->report.text, "Schwelle.mdl:10)"));
    assert_non_null(strstr(r->report.text, "(at time "));
    run_free(r);
}

/* Slope +-1, amplitude 1 to 1 + R, period 4 to 4 + 4 R; the split generator gives the same trace. */
static void test_sx122_triangle_on_the_grid(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < SOLVERS; k++) {
        RunRequest request = { .path = KOINE_SOURCE_DIR "/examples/triangle/Dreieck1.mdl",
                               .solver = solvers[k],
                               .stop = 12,
                               .interval = 0.5,
                               .step = 0.5,
                               .resolution = 0.001 };
        RunResult *r = done(run_model(&request));
        const uint32_t z = run_column(r, "Z2");
        double last_value = 0, last_time = 0, sign = -1;
        uint32_t n = 0;
        for (uint32_t j = 0; j < r->n_rows; j++) {
            if (r->rows[j].kind != KOINE_POINT_RIGHT)
                continue;
            const double value = r->rows[j].values[z], time = r->rows[j].time;
            assert_true(sign * value >= 1 - 1e-9 && sign * value <= 1.001 + 1e-9);
            assert_near(time, 1.001 + 2.002 * n, 0.002 * n + 0.0011); /* 1.001, 3.003, ... or a cell earlier each */
            if (n)                                                    /* slope +-1 between two switches */
                assert_near(fabs(value - last_value) / (time - last_time), 1, 1e-9);
            last_value = value;
            last_time = time;
            sign = -sign;
            n++;
        }
        assert_int_equal(n, 6);
        run_free(r);
    }
}

/* T > 1 changes at 1 + R, T >= 1 at 1, T >= 1.0005 at 1.001, and so on: the rule of ceil and floor + 1. All times are
 * exactly the numbers one would write. */
static void test_sx125_sx130_sx131_time_comparisons(void **state)
{
    (void)state;
    RunResult *r = in_all_tiers((RunRequest){ .path = GRID "Uhr.mdl", .stop = 6, .interval = 1, .resolution = 0.001 });
    static const struct {
        const char *name;
        double time;
    } expected[] = { { "groesser", 1.001 }, { "gleich", 1 },     { "zwischen", 1.001 }, { "krumm", 1.001 },
                     { "drei", 0.3 },       { "gespiegelt", 5 }, { "kleiner", 2 },      { "kleinergleich", 2.001 } };
    for (uint32_t k = 0; k < sizeof expected / sizeof expected[0]; k++)
        fail_if(run_last(r, expected[k].name) != expected[k].time, "%s: %.17g, expected %.17g", expected[k].name,
                run_last(r, expected[k].name), expected[k].time);
    assert_near(run_at(r, "vor", 4), 1, 0);
    assert_near(run_at(r, "vor", 5), 0, 0);
    for (uint32_t k = 0; k < r->n_rows; k++)
        assert_true(r->rows[k].time == round(1000 * r->rows[k].time) / 1000);
    run_free(r);
    r = done(run_model(&(RunRequest){ .path = GRID "Uhr.mdl", .stop = 6, .interval = 1, .resolution = 0.1 }));
    assert_true(run_last(r, "drei") == 0.3); /* 0.3/0.1 rounds to just below 3 */
    assert_true(run_last(r, "groesser") == 1.1);
    assert_true(run_last(r, "zwischen") == 1.1);
    run_free(r);
}

/* 0.1 has no exact binary number: added up, a million of them are off by 1e-6. */
static void test_sx126_no_drift(void **state)
{
    (void)state;
    RunResult *r = done(
        run_model(&(RunRequest){ .path = GRID "Pendel.mdl", .stop = 100000, .interval = 100000, .resolution = 0.1 }));
    assert_near(run_last(r, "n"), 1000000, 0);
    assert_true(run_last(r, "tLetzt") == 100000);
    assert_int_equal(r->report.statistics.events.time_events, 1000000);
    run_free(r);
}

static void test_sx127_largest_time(void **state)
{
    (void)state;
    RunRequest request = { .path = GRID "Uhr.mdl", .stop = 2147483.648, .interval = 1e6, .resolution = 0.001 };
    RunResult *r = failed(run_model(&request), KOINE_RUN_OPTIONS);
    assert_string_equal(r->report.text, "the stop time 2147483.648 lies beyond the largest time 2147483.647 (TMax: "
                                        "2147483647 times the resolution TScal)");
    run_free(r);
    request.stop = 2147483.647;
    run_free(done(run_model(&request)));
    request.max_time = 1e6;
    r = failed(run_model(&request), KOINE_RUN_OPTIONS);
    assert_string_equal(r->report.text, "the stop time 2147483.647 lies beyond the largest time 1000000 (TMax)");
    run_free(r);
}

/* As without a grid: discrete models jump from event to event, a right side that changes moves the event, and what
 * happens at the end is executed. TZiel moves from 4 to 7 at 2. */
static void test_sx129_sx132_sx135_time_events_on_the_grid(void **state)
{
    (void)state;
    RunResult *r = done(run_model(&(RunRequest){
        .path = KOINE_SOURCE_DIR "/tests/sim/simplex/runs/Zeit.mdl", .stop = 7, .interval = 1, .resolution = 0.001 }));
    assert_near(run_at(r, "n", 6), 0, 0);
    assert_near(run_at(r, "n", 7), 1, 0);
    assert_int_equal(r->report.statistics.integration.steps, 0);
    assert_int_equal(r->report.statistics.events.instants, 4); /* start, 2, 5, 7 */
    run_free(r);
}

/* Time goes on where floor(T/0.1) steps: at grid points the quotient is rounded to either side. */
static void test_step_functions_of_time_on_the_grid(void **state)
{
    (void)state;
    RunResult *r =
        in_all_tiers((RunRequest){ .path = GRID "Treppe.mdl", .stop = 2, .interval = 0.1, .resolution = 0.1 });
    for (int k = 0; k <= 20; k++)
        assert_near(run_at(r, "stufe", k / 10.0), k, 0);
    assert_near(run_last(r, "n"), 20, 0);
    run_free(r);
}

static void test_sx133_time_against_a_continuous_quantity(void **state)
{
    (void)state;
    RunResult *r = done(run_model(
        &(RunRequest){ .path = GRID "Laufend.mdl", .stop = 3, .interval = 3, .step = 0.3, .resolution = 0.001 }));
    assert_near(run_last(r, "tTreff"), 2, 0.0011);
    assert_int_equal(r->report.statistics.events.crossing_searches, 1);
    run_free(r);
}

/* TBegin 0.0004 is 0 on the grid of 0.001, 0.7128 is 0.713; the end is rounded in the same way. */
static void test_sx134_start_on_the_grid(void **state)
{
    (void)state;
    RunResult *r = done(run_model(
        &(RunRequest){ .path = GRID "Uhr.mdl", .start = 0.0004, .stop = 2, .interval = 1, .resolution = 0.001 }));
    assert_true(r->rows[0].time == 0);
    run_free(r);
    r = done(run_model(
        &(RunRequest){ .path = GRID "Uhr.mdl", .start = 0.7128, .stop = 1.9996, .interval = 1, .resolution = 0.001 }));
    assert_true(r->rows[0].time == 0.713);
    assert_true(r->report.time == 2);
    assert_true(run_last(r, "drei") == 0.713); /* T >= 0.3 holds from the start */
    assert_true(run_last(r, "kleiner") == 2);  /* SX-135: at the end events are executed */
    run_free(r);
}

/* ---- continued runs ---- */

/* The end of a run that was interrupted is that of one that was not, bit by bit. */
static void test_sx136_two_halves_are_one_run(void **state)
{
    (void)state;
    static const RunRequest requests[] = {
        { .path = GRID "Schalter.mdl", .solver = "rk4", .stop = 8, .interval = 0.5, .step = 0.125, .pause = 3 },
        { .path = GRID "Schalter.mdl", .solver = "euler", .stop = 8, .interval = 0.5, .step = 0.125, .pause = 2.5 },
        { .path = GRID "Schalter.mdl",
          .solver = "rk4",
          .stop = 8,
          .interval = 0.5,
          .step = 0.1,
          .resolution = 0.001,
          .pause = 3 },
        { .path = GRID "Spaet.mdl",
          .solver = "rk4",
          .stop = 12,
          .interval = 1,
          .step = 0.5,
          .resolution = 0.001,
          .pause = 6 },
        { .path = GRID "Pendel.mdl", .stop = 20, .interval = 1, .resolution = 0.1, .pause = 7.3 },
        { .path = GRID "Strikt.mdl", .stop = 4, .interval = 1, .pause = 2 },
        { .path = GRID "Strikt.mdl", .stop = 4, .interval = 1, .pause = 1.5 },
        { .path = KOINE_SOURCE_DIR "/tests/sim/simplex/case8.mdl", .stop = 5.5, .interval = 0.5, .pause = 3 },
    };
    for (uint32_t k = 0; k < sizeof requests / sizeof requests[0]; k++) {
        RunRequest whole = requests[k];
        whole.pause = 0;
        RunResult *one = done(run_model(&whole)), *two = done(run_model(&requests[k]));
        uint32_t first = 0, second = two->n_before;
        while (one->rows[first].time <= requests[k].pause)
            first++;
        assert_int_equal(two->rows[second].kind, KOINE_POINT_START);
        while (two->rows[second].time <= requests[k].pause)
            second++;
        assert_same_rows(one, first, two, second);
        run_free(one);
        run_free(two);
    }
}

/* With variable steps the halves agree within the tolerance: x after the pause at 2.3 is that of an exact solution. */
static void test_sx136_two_halves_with_variable_steps(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 6; k++) {
        RunRequest request = { .path = GRID "Schalter.mdl", .solver = solvers[k], .stop = 3, .interval = 1 };
        RunResult *one = done(run_model(&request));
        request.pause = 2.3;
        RunResult *two = done(run_model(&request));
        assert_near(run_last(two, "x"), run_last(one, "x"), 1e-7);
        assert_near(run_last(two, "x"), exp(-1) + 1, 1e-7); /* 1, then decays for a unit, then grows for one */
        run_free(one);
        run_free(two);
    }
}

static void double_k(KoineModel *model)
{
    set_value(model, "k", 2);
}

static void move_x(KoineModel *model)
{
    set_value(model, "x", 10);
}

static void postpone(KoineModel *model)
{
    set_value(model, "TEnde", 3);
}

/* x' = 1 up to 0.5, x' = 2 to 1, then x' = -2 x: (0.5 + 1) e^-2 at 2. */
static void test_sx189_values_changed_at_the_pause(void **state)
{
    (void)state;
    static const double grids[] = { 0, 0.001 };
    for (int k = 0; k < 2; k++) {
        RunRequest request = { .path = GRID "Schalter.mdl",
                               .stop = 2,
                               .interval = 1,
                               .resolution = grids[k],
                               .pause = 0.5,
                               .between = double_k };
        RunResult *r = done(run_model(&request));
        assert_near(run_last(r, "x"), 1.5 * exp(-2), 1e-8);
        run_free(r);
        request.between = move_x;
        r = done(run_model(&request));
        assert_near(r->rows[r->n_before].values[run_column(r, "x")], 10, 0);
        assert_near(run_last(r, "x"), 10.5 * exp(-1), 1e-7);
        run_free(r);
    }
    /* T > 2 is pending at 2, and is not served any more after TEnde has become 3 */
    RunResult *r = done(run_model(
        &(RunRequest){ .path = GRID "Strikt.mdl", .stop = 4, .interval = 1, .pause = 2, .between = postpone }));
    assert_near(run_last(r, "n"), 1, 0);
    assert_near(run_last(r, "tN"), 3, 0);
    run_free(r);
}

/* ---- errors ---- */

/* After a run that failed the next one is as if nothing had been. */
static void test_sx195_next_run_after_an_error(void **state)
{
    (void)state;
    const RunRequest good = { .path = GRID "Spaet.mdl", .stop = 9, .interval = 1, .resolution = 0.01 };
    RunResult *before = done(run_model(&good));
    static const RunRequest bad[] = {
        { .path = KOINE_SOURCE_DIR "/tests/sim/simplex/case6.mdl", .stop = 1, .interval = 1 },
        { .path = KOINE_SOURCE_DIR "/tests/sim/simplex/runs/Doppel.mdl", .stop = 2, .interval = 1 },
        { .path = GRID "Schwelle.mdl", .stop = 8, .interval = 8, .resolution = 1e-6, .max_crossing = 1 },
        { .path = GRID "Ueberlauf.mdl", .stop = 2, .interval = 1 },
    };
    for (uint32_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        run_free(failed(run_model(&bad[k]), KOINE_RUN_FAILED));
        RunResult *after = done(run_model(&good));
        assert_same_rows(before, 0, after, 0);
        run_free(after);
    }
    run_free(before);
}

/* Every error at run time names the time, the component, the line and what happened. */
static void test_sx194_sx197_reports(void **state)
{
    (void)state;
    static const struct {
        RunRequest request;
        const char *parts[4];
    } cases[] = {
        { { .path = GRID "Anlage.mdl", .stop = 2, .interval = 1 },
          { "component Teil", "Ueberlauf.mdl:9:", "division by zero", "(at time 1)" } },
        { { .path = GRID "Ueberlauf.mdl", .stop = 2, .interval = 1 },
          { "component Ueberlauf", "Ueberlauf.mdl:9:", "division by zero", "(at time 1)" } },
        { { .path = GRID "Ende.mdl", .stop = 2, .interval = 1 },
          { "component Ende", "Ende.mdl:6:", "square root of a negative number", "(at time 0.99999999" } },
        { { .path = GRID "Ende.mdl", .stop = 2, .interval = 1, .resolution = 0.5, .solver = "rk4" },
          { "component Ende", "Ende.mdl:6:", "square root of a negative number", "(at time 1)" } },
        { { .path = GRID "Ende.mdl", .stop = 2, .interval = 1, .resolution = 0.001 },
          { "component Ende", "Ende.mdl:6:", "square root of a negative number", "(at time 1)" } },
        { { .path = KOINE_SOURCE_DIR "/tests/sim/simplex/case6.mdl", .stop = 1, .interval = 1 },
          { "component ", "case6.mdl:", "do not come to rest", "(at time 0)" } },
        { { .path = KOINE_SOURCE_DIR "/tests/sim/simplex/runs/Doppel.mdl", .stop = 2, .interval = 1 },
          { "component Doppel", "Doppel.mdl:7", "two events assign 'Z'", "(at time 1)" } },
    };
    for (uint32_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        RunResult *r = failed(run_model(&cases[k].request), KOINE_RUN_FAILED);
        for (int j = 0; j < 4; j++)
            fail_if(!strstr(r->report.text, cases[k].parts[j]), "\"%s\" does not say \"%s\"", r->report.text,
                    cases[k].parts[j]);
        run_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sx116_late_event),
        cmocka_unit_test(test_sx116_finer_grids_converge),
        cmocka_unit_test(test_sx109_euler_step_across_the_kink),
        cmocka_unit_test(test_sx107_sx108_kink_on_a_fine_grid),
        cmocka_unit_test(test_sx107_sx108_halving),
        cmocka_unit_test(test_sx111_no_domain_error_on_the_grid),
        cmocka_unit_test(test_sx112_discrete_condition_costs_no_search),
        cmocka_unit_test(test_sx114_sx115_sx120_crossings_on_the_grid),
        cmocka_unit_test(test_sx117_regula_falsi_looks_less_often),
        cmocka_unit_test(test_sx122_triangle_on_the_grid),
        cmocka_unit_test(test_sx125_sx130_sx131_time_comparisons),
        cmocka_unit_test(test_sx126_no_drift),
        cmocka_unit_test(test_sx127_largest_time),
        cmocka_unit_test(test_sx129_sx132_sx135_time_events_on_the_grid),
        cmocka_unit_test(test_step_functions_of_time_on_the_grid),
        cmocka_unit_test(test_sx133_time_against_a_continuous_quantity),
        cmocka_unit_test(test_sx134_start_on_the_grid),
        cmocka_unit_test(test_sx136_two_halves_are_one_run),
        cmocka_unit_test(test_sx136_two_halves_with_variable_steps),
        cmocka_unit_test(test_sx189_values_changed_at_the_pause),
        cmocka_unit_test(test_sx195_next_run_after_an_error),
        cmocka_unit_test(test_sx194_sx197_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
