/* Comparisons of states with constants are decided on the interpolant itself. */
#include "toy.h"
#include "runtime/solver.h"

/* --- x'' = -x + 0.1*sin(3t): nothing that an interpolant has exactly --- */

static KoineStatus oscillate(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->x[1];
    b->dx[1] = -b->x[0] + 0.1 * sin(3 * b->time);
    return KOINE_OK;
}

static void start_one(ToyBlock *b)
{
    b->x[0] = 1;
}

static const KoineTables forced_tables = TOY_TABLES("forced", 2, 0, 0);
static const Toy forced_toy = { .kind = TOY_KIND(forced_tables, oscillate), .start = start_one };

static double bernstein(const double *values, uint32_t degree, double s)
{
    double c[KOINE_MOST_DEGREE + 1];
    memcpy(c, values, sizeof c);
    for (uint32_t left = degree; left > 0; --left)
        for (uint32_t k = 0; k < left; ++k)
            c[k] = (1 - s) * c[k] + s * c[k + 1];
    return c[0];
}

/* At 101 points of each of 20 steps, for both states. */
static void check_interpolant(const KoineSolverKind *kind, uint32_t expected)
{
    static const double atol[] = { 1e-9, 1e-9 };
    char text[64] = "";
    KoineModel *model;
    KoineSolver *solver;
    assert_int_equal(toy_create(&forced_toy.kind, NULL, &model), KOINE_OK);
    assert_int_equal(toy_initialise(model, 0), KOINE_OK);
    const KoineProblem problem = { .model = model,
                                   .stop = 100,
                                   .tolerance = 1e-6,
                                   .max_step = INFINITY,
                                   .atol = atol,
                                   .text = text,
                                   .text_size = sizeof text };
    const double start[] = { 1, 0 };
    assert_int_equal(kind->create(&problem, &solver), KOINE_OK);
    assert_int_equal(kind->restart(solver, 0, start), KOINE_OK);
    for (int step = 0; step < 20; ++step) {
        assert_int_equal(kind->advance(solver, 100), KOINE_OK);
        for (size_t i = 0; i < 2; ++i) {
            double values[KOINE_MOST_DEGREE + 1], x[2];
            assert_int_equal(kind->polynomial(solver, i, values), expected);
            for (int k = 0; k <= 100; ++k) {
                const double s = k / 100.0;
                assert_int_equal(kind->interpolate(solver, solver->from + s * (solver->time - solver->from), x),
                                 KOINE_OK);
                assert_near(bernstein(values, expected, s), x[i], 1e-13);
            }
        }
    }
    kind->destroy(solver);
    toy_destroy(model);
}

static void test_bernstein_values_are_those_of_the_interpolant(void **state)
{
    (void)state;
    check_interpolant(&koine_solver_dopri5, 4);
    check_interpolant(&koine_solver_dop853, 7);
    check_interpolant(&koine_solver_auto, 4);
}

/* --- cos t beside thresholds: how often it comes below one is known --- */

static double threshold;

static KoineStatus turn(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->x[1];
    b->dx[1] = -b->x[0];
    return KOINE_OK;
}

/* Positive on the present side of the threshold; d[1] is -1 below it. */
static KoineStatus side(const ToyBlock *b, double *z)
{
    z[0] = (b->d[1] < 0 ? -1 : 1) * (b->x[0] - threshold) + b->d[2];
    return KOINE_OK;
}

static unsigned change_side(ToyBlock *b)
{
    if (!(b->cause & KOINE_AT_ROOTS))
        return 0;
    b->d[0] += 1;
    b->d[1] = b->d[1] < 0 ? 1 : -1;
    b->d[2] = 2 * fabs(b->x[0] - threshold) + 1e-15;
    b->d[3] = b->time;
    return KOINE_CHANGED;
}

static unsigned take_band_back(ToyBlock *b)
{
    if (fabs(b->x[0] - threshold) > b->d[2])
        b->d[2] = 0;
    return 0;
}

static const uint32_t compared[] = { 1 };
static const KoineOrigin turn_roots[] = { { "x < c", "turn", { 0 } } };
static const KoineTables turn_tables = TOY_TABLES("turn", 2, 1, .roots.at = turn_roots, .roots.states = compared);
static const KoineTables plain_tables = TOY_TABLES("turn", 2, 1, .roots.at = turn_roots);
static const Toy turn_toy = { .kind = TOY_KIND(turn_tables, turn),
                              .start = start_one,
                              .roots = side,
                              .fire = change_side,
                              .accepted = take_band_back };
static const Toy plain_toy = { .kind = TOY_KIND(plain_tables, turn),
                               .start = start_one,
                               .roots = side,
                               .fire = change_side,
                               .accepted = take_band_back };

static ToyRun run_turn(const Toy *toy, const char *solver, double tolerance)
{
    ToyRun run;
    toy_run(toy, (KoineRunOptions){ .stop = 100, .interval = 100, .tolerance = tolerance, .solver = solver }, false,
            &run);
    assert_int_equal(run.report.end, KOINE_RUN_DONE);
    return run;
}

/* 16 minima of cos t lie before 100, the last crossing upwards is at 2*pi*16 - acos(c); the errors of the states at 100
 * are about 100 tolerances, so that thresholds keep 1e-4 away from the extremes. */
static void test_crossings_of_a_threshold_are_counted_right(void **state)
{
    static const char *const solvers[] = { "auto", "dopri5", "dop853" };
    static const double thresholds[] = { -0.9999, -0.99, -0.5, 0, 0.3, 0.9, 0.9999 };
    (void)state;
    for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; ++s)
        for (size_t c = 0; c < sizeof thresholds / sizeof thresholds[0]; ++c) {
            threshold = thresholds[c];
            const ToyRun run = run_turn(&turn_toy, solvers[s], 1e-8);
            const double last = 32 * acos(-1) - acos(threshold); /* is before 100 if acos is above 0.53 */
            const bool is_in = last < 100;
            assert_int_equal(run.report.statistics.events.state_events, is_in ? 32 : 31);
            if (is_in)
                assert_near(run.end.d[3], last, 1e-6 / sqrt(1 - threshold * threshold));
        }
}

static void test_thresholds_beyond_the_extremes_are_not_crossed(void **state)
{
    (void)state;
    static const double beyond[] = { -1.0001, -1.5 };
    for (size_t c = 0; c < sizeof beyond / sizeof beyond[0]; ++c) {
        threshold = beyond[c];
        assert_int_equal(run_turn(&turn_toy, "auto", 1e-8).report.statistics.events.state_events, 0);
        assert_int_equal(run_turn(&turn_toy, "dopri5", 1e-6).report.statistics.events.state_events, 0);
    }
}

/* The same model that does not tell what it compares needs looks inside the steps; the events are the same. */
static void test_a_state_that_is_compared_needs_few_looks(void **state)
{
    (void)state;
    threshold = -0.5;
    const ToyRun told = run_turn(&turn_toy, "dopri5", 1e-6), plain = run_turn(&plain_toy, "dopri5", 1e-6);
    assert_int_equal(told.report.statistics.events.state_events, plain.report.statistics.events.state_events);
    assert_near(told.end.d[3], plain.end.d[3], 1e-12);
    const uint64_t steps = told.report.statistics.integration.steps,
                   events = told.report.statistics.events.state_events;
    assert_true(told.report.statistics.integration.root_evaluations <= 2 * steps + 8 * events);
    assert_true(2 * told.report.statistics.integration.root_evaluations <
                plain.report.statistics.integration.root_evaluations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bernstein_values_are_those_of_the_interpolant),
        cmocka_unit_test(test_crossings_of_a_threshold_are_counted_right),
        cmocka_unit_test(test_thresholds_beyond_the_extremes_are_not_crossed),
        cmocka_unit_test(test_a_state_that_is_compared_needs_few_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
