/* Every row of the solver table on problems with known solutions. */
#include "toy.h"

/* --- Models --- */

/* x' = -x, x(0) = 1: x(t) = exp(-t) */
static KoineStatus decay(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = -b->x[0];
    return KOINE_OK;
}

static void start_one(ToyBlock *b)
{
    b->x[0] = 1;
}

static const KoineTables decay_tables = TOY_TABLES("decay", 1, 0, 0);
static const Toy decay_toy = { .kind = TOY_KIND(decay_tables, decay), .start = start_one };

/* x'' = -x: x(t) = cos t */
static KoineStatus oscillate(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->x[1];
    b->dx[1] = -b->x[0];
    return KOINE_OK;
}

static const KoineTables oscillator_tables = TOY_TABLES("oscillator", 2, 0, 0);
static const Toy oscillator_toy = { .kind = TOY_KIND(oscillator_tables, oscillate), .start = start_one };

/* x' = 3 t^2: a polynomial that every method of order 3 and its interpolant follow exactly */
static KoineStatus cube(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = 3 * b->time * b->time;
    return KOINE_OK;
}

static const KoineTables cube_tables = TOY_TABLES("cube", 1, 0, 0);
static const Toy cube_toy = { .kind = TOY_KIND(cube_tables, cube) };

static KoineStatus lorenz(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    const double *const x = b->x;
    b->dx[0] = 10 * (x[1] - x[0]);
    b->dx[1] = x[0] * (28 - x[2]) - x[1];
    b->dx[2] = x[0] * x[1] - 8.0 / 3.0 * x[2];
    return KOINE_OK;
}

static void start_lorenz(ToyBlock *b)
{
    b->x[0] = b->x[1] = b->x[2] = 1;
}

static const KoineTables lorenz_tables = TOY_TABLES("lorenz", 3, 0, 0);
static const Toy lorenz_toy = { .kind = TOY_KIND(lorenz_tables, lorenz), .start = start_lorenz };

/* van der Pol, mu = 1000: stiff on its slow branches */
static KoineStatus van_der_pol(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->x[1];
    b->dx[1] = 1000 * (1 - b->x[0] * b->x[0]) * b->x[1] - b->x[0];
    return KOINE_OK;
}

static void start_two(ToyBlock *b)
{
    b->x[0] = 2;
}

static const KoineTables van_der_pol_tables = TOY_TABLES("van der pol", 2, 0, 0);
static const Toy van_der_pol_toy = { .kind = TOY_KIND(van_der_pol_tables, van_der_pol), .start = start_two };

/* Heat in a line of 100 cells, ends held at 0 and 1; tridiagonal pattern, exact Jacobian. */
enum { CELLS = 100, ENTRIES = 3 * CELLS - 2 };
static const double CONDUCTANCE = (CELLS + 1.0) * (CELLS + 1.0);

static KoineStatus heat(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    for (int i = 0; i < CELLS; ++i) {
        const double left = i > 0 ? b->x[i - 1] : 0, right = i < CELLS - 1 ? b->x[i + 1] : 1;
        b->dx[i] = CONDUCTANCE * (left - 2 * b->x[i] + right);
    }
    return KOINE_OK;
}

static KoineStatus heat_jacobian(KoineModel *model, const KoineEvaluation *at, int by, double cj, double *values)
{
    (void)model, (void)at, (void)by, (void)cj;
    int p = 0;
    for (int i = 0; i < CELLS; ++i)
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < CELLS; ++j)
            values[p++] = i == j ? -2 * CONDUCTANCE : CONDUCTANCE;
    return KOINE_OK;
}

static uint32_t heat_start[CELLS + 1], heat_index[ENTRIES];
static KoineTables heat_tables = TOY_TABLES("heat", CELLS, 0, 0);
static Toy heat_toy = { .kind = TOY_KIND(heat_tables, heat) };

static void make_heat(bool has_pattern, bool has_jacobian)
{
    uint32_t p = 0;
    for (uint32_t i = 0; i < CELLS; ++i) {
        heat_start[i] = p;
        for (uint32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < CELLS; ++j)
            heat_index[p++] = j;
    }
    heat_start[CELLS] = p;
    heat_tables.patterns.jacobian =
        has_pattern ? (KoinePattern){ CELLS, CELLS, heat_start, heat_index, NULL, 0 } : (KoinePattern){ 0 };
    heat_toy.kind.partial.jacobian = has_jacobian ? heat_jacobian : NULL;
}

/* Heat line at t: steady state minus the sine series of the discrete operator, exactly. */
static double heat_exact(int cell, double t)
{
    const double pi = acos(-1.0), n = CELLS + 1;
    double value = (cell + 1) / n;
    for (int k = 1; k <= CELLS; ++k) {
        double weight = 0; /* projection of the steady state on mode k */
        for (int j = 1; j <= CELLS; ++j)
            weight += j / n * sin(k * pi * j / n);
        const double rate = 2 * CONDUCTANCE * (1 - cos(k * pi / n));
        value -= 2 / n * weight * sin(k * pi * (cell + 1) / n) * exp(-rate * t);
    }
    return value;
}

/* --- Tests --- */

static void test_every_solver_solves_decay_and_oscillator(void **state)
{
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); ++k) {
        const char *const name = koine_solver_name(k);
        /* global error of an adaptive method: some hundred times the local tolerance; Euler: h/2*e^-1*t and h/2*t */
        const double tolerance = strstr(name, "euler") ? 3e-3 : 1e-5;
        const KoineRunOptions options = { .stop = 2, .tolerance = 1e-8, .step = 1e-3, .solver = name };
        ToyRun run;
        toy_run(&decay_toy, options, true, &run);
        assert_int_equal(run.report.end, KOINE_RUN_DONE);
        assert_near(run.end.x[0], exp(-2.0), tolerance);
        for (uint32_t p = 0; p < run.memory->n; ++p)
            assert_near(run.memory->point[p].x[0], exp(-run.memory->point[p].time), tolerance);
        assert_int_equal(run.memory->n, 501);
        toy_done(&run);
        toy_run(&oscillator_toy, options, true, &run);
        assert_int_equal(run.report.end, KOINE_RUN_DONE);
        for (uint32_t p = 0; p < run.memory->n; ++p)
            assert_near(run.memory->point[p].x[0], cos(run.memory->point[p].time), tolerance);
        assert_true(run.report.statistics.integration.steps > 0);
        assert_true(run.report.statistics.integration.evaluations >= run.report.statistics.integration.steps);
        toy_done(&run);
    }
}

/* Halving the step divides the error by 2^order; exact solution cos t. */
static void test_orders_of_fixed_steps(void **state)
{
    static const struct {
        const char *name;
        double order;
    } rows[] = { { "euler", 1 }, { "heun", 2 }, { "rk4", 4 } };
    (void)state;
    for (size_t k = 0; k < 3; ++k) {
        double error[2];
        for (int half = 0; half < 2; ++half) {
            ToyRun run;
            toy_run(&oscillator_toy, (KoineRunOptions){ .stop = 1, .step = half ? 0.01 : 0.02, .solver = rows[k].name },
                    false, &run);
            assert_int_equal(run.report.statistics.integration.steps, half ? 100 : 50);
            error[half] = hypot(run.end.x[0] - cos(1.0), run.end.x[1] + sin(1.0));
        }
        assert_near(log2(error[0] / error[1]), rows[k].order, 0.05);
    }
}

/* The error of an order p method with error control follows the tolerance; reference: dop853 at 1e-13. */
static void test_error_follows_tolerance_on_lorenz(void **state)
{
    static const char *const names[] = { "dopri5", "dop853", "cvode-adams", "cvode-bdf" };
    (void)state;
    ToyRun reference;
    toy_run(&lorenz_toy, (KoineRunOptions){ .stop = 1, .tolerance = 1e-13, .solver = "dop853" }, false, &reference);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        double last = INFINITY;
        for (double tolerance = 1e-4; tolerance > 1e-11; tolerance *= 1e-2) {
            ToyRun run;
            toy_run(&lorenz_toy, (KoineRunOptions){ .stop = 1, .tolerance = tolerance, .solver = names[k] }, false,
                    &run);
            const double error = fabs(run.end.x[0] - reference.end.x[0]);
            assert_true(error < 1e4 * tolerance);
            assert_true(error < 0.5 * last);
            last = error;
        }
    }
}

/* Dense output of dopri5 (order 4) and dop853 (order 7) is exact for t^3. */
static void test_interpolants_are_exact_for_a_cubic(void **state)
{
    static const char *const names[] = { "dopri5", "dop853", "rk4" };
    (void)state;
    for (size_t k = 0; k < 3; ++k) {
        ToyRun run;
        toy_run(&cube_toy, (KoineRunOptions){ .stop = 1, .step = 0.25, .interval = 0.01, .solver = names[k] }, true,
                &run);
        for (uint32_t p = 0; p < run.memory->n; ++p)
            assert_near(run.memory->point[p].x[0], pow(run.memory->point[p].time, 3), 1e-14);
        toy_done(&run);
    }
}

/* Tolerance 1e-6 on the oscillator: the interpolated points are as good as the steps (no kinks above 100 tol). */
static void test_interpolants_are_as_good_as_steps(void **state)
{
    static const char *const names[] = { "dopri5", "dop853", "cvode-adams", "cvode-bdf", "ida", "arkode-erk" };
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        ToyRun run;
        toy_run(&oscillator_toy,
                (KoineRunOptions){ .stop = 10, .tolerance = 1e-6, .interval = 0.003, .solver = names[k] }, true, &run);
        for (uint32_t p = 0; p < run.memory->n; ++p)
            assert_near(run.memory->point[p].x[0], cos(run.memory->point[p].time), 5e-4);
        toy_done(&run);
    }
}

/* x'' = -x started at 0 and at 1e8: tolerances without nominal values work on both scales. */
static void start_huge(ToyBlock *b)
{
    b->x[0] = 1e8;
}

static void start_tiny(ToyBlock *b)
{
    b->x[0] = 1e-6;
}

static void test_default_tolerances_on_large_and_small_scales(void **state)
{
    static const Toy huge = { .kind = TOY_KIND(oscillator_tables, oscillate), .start = start_huge };
    static const Toy tiny = { .kind = TOY_KIND(oscillator_tables, oscillate), .start = start_tiny };
    (void)state;
    ToyRun run;
    toy_run(&huge, (KoineRunOptions){ .stop = 20 }, false, &run);
    assert_near(run.end.x[0] / 1e8, cos(20.0), 1e-4);
    assert_true(run.report.statistics.integration.steps < 2000);
    toy_run(&tiny, (KoineRunOptions){ .stop = 20 }, false, &run);
    assert_near(run.end.x[0] / 1e-6, cos(20.0), 1e-2);
}

static void test_max_step_is_kept(void **state)
{
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); ++k) {
        ToyRun run;
        toy_run(&decay_toy, (KoineRunOptions){ .stop = 10, .max_step = 0.1, .solver = koine_solver_name(k) }, false,
                &run);
        assert_true(run.report.statistics.integration.steps >= 100);
    }
}

static void test_heat_with_every_kind_of_jacobian(void **state)
{
    static const char *const names[] = { "cvode-bdf", "ida",           "arkode-dirk",
                                         "auto",      "simplex-gauss", "simplex-rosenbrock" };
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        const bool is_gauss = strcmp(names[k], "simplex-gauss") == 0; /* 300 unknowns: too slow as a full matrix */
        for (int kind = is_gauss ? 1 : 0; kind < 3; ++kind) { /* dense differences, coloured differences, exact */
            make_heat(kind > 0, kind > 1);
            ToyRun run;
            toy_run(&heat_toy, (KoineRunOptions){ .stop = 0.05, .tolerance = 1e-7, .solver = names[k] }, false, &run);
            assert_int_equal(run.report.end, KOINE_RUN_DONE);
            for (int i = 0; i < CELLS; i += 9)
                assert_near(run.end.x[i], heat_exact(i, 0.05), 2e-6);
            const KoineRunStatistics *const s = &run.report.statistics;
            assert_true(s->integration.jacobians > 0 && s->integration.factorisations >= s->integration.jacobians);
            assert_true((s->integration.nonlinear_iterations > 0) == (strcmp(names[k], "simplex-rosenbrock") != 0));
            if (kind == 1) /* three colours: one evaluation each, against 100 of the dense one */
                assert_true(s->integration.evaluations < s->integration.nonlinear_iterations +
                                                             3 * s->integration.jacobians + 10 * s->integration.steps +
                                                             3000);
        }
    }
}

/* Reference: Mazzia, Magherini, Test Set for Initial Value Problem Solvers, problem vdpol: x(2000). */
static void test_auto_moves_to_bdf_on_van_der_pol(void **state)
{
    (void)state;
    ToyRun run, bdf;
    toy_run(&van_der_pol_toy, (KoineRunOptions){ .stop = 2000, .tolerance = 1e-8 }, false, &run);
    assert_int_equal(run.report.end, KOINE_RUN_DONE);
    assert_string_equal(run.report.statistics.solver, "cvode-bdf");
    assert_true(run.report.statistics.integration.solver_changes >= 1);
    assert_non_null(strstr(run.report.statistics.choice, "stiff at time"));
    toy_run(&van_der_pol_toy, (KoineRunOptions){ .stop = 2000, .tolerance = 1e-8, .solver = "cvode-bdf" }, false, &bdf);
    assert_near(run.end.x[0], 1.706167732170483, 1e-5);
    assert_near(bdf.end.x[0], 1.706167732170483, 1e-5);
    assert_true(run.report.statistics.integration.steps < 1.2 * bdf.report.statistics.integration.steps + 200);
}

static void test_auto_stays_explicit_where_nothing_is_stiff(void **state)
{
    (void)state;
    ToyRun run;
    toy_run(&lorenz_toy, (KoineRunOptions){ .stop = 50 }, false, &run);
    assert_string_equal(run.report.statistics.solver, "dopri5");
    assert_int_equal(run.report.statistics.integration.solver_changes, 0);
    assert_non_null(strstr(run.report.statistics.choice, "not stiff"));
    toy_run(&lorenz_toy, (KoineRunOptions){ .stop = 5, .tolerance = 1e-10 }, false, &run);
    assert_string_equal(run.report.statistics.solver, "dop853");
}

/* x' = -rate(t)*(x - cos t): stiff for t < 5, not afterwards: auto goes to cvode-bdf and comes back. */
static KoineStatus half_stiff(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    const double rate = 1 + 1e5 * exp(-pow(b->time / 5, 20));
    b->dx[0] = -rate * (b->x[0] - cos(10 * b->time)) - 10 * sin(10 * b->time);
    return KOINE_OK;
}

static const KoineTables half_stiff_tables = TOY_TABLES("half stiff", 1, 0, 0);
static const Toy half_stiff_toy = { .kind = TOY_KIND(half_stiff_tables, half_stiff), .start = start_one };

static void test_auto_comes_back(void **state)
{
    (void)state;
    ToyRun run;
    toy_run(&half_stiff_toy, (KoineRunOptions){ .stop = 100 }, false, &run);
    assert_int_equal(run.report.end, KOINE_RUN_DONE);
    assert_near(run.end.x[0], cos(1000.0), 1e-4); /* cos 10t solves it exactly */
    assert_string_equal(run.report.statistics.solver, "dopri5");
    assert_int_equal(run.report.statistics.integration.solver_changes, 2);
}

static void test_table_of_solvers(void **state)
{
    (void)state;
    assert_string_equal(koine_solver_name(0), "auto");
    uint32_t n = 0;
    for (; koine_solver_name(n); ++n) {
        assert_true(strlen(koine_solver_description(n)) > 10);
        assert_true(strlen(koine_solver_name(n)) < 32);
    }
    assert_int_equal(n, 17);
    assert_null(koine_solver_description(n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_solver_solves_decay_and_oscillator),
        cmocka_unit_test(test_orders_of_fixed_steps),
        cmocka_unit_test(test_error_follows_tolerance_on_lorenz),
        cmocka_unit_test(test_interpolants_are_exact_for_a_cubic),
        cmocka_unit_test(test_interpolants_are_as_good_as_steps),
        cmocka_unit_test(test_default_tolerances_on_large_and_small_scales),
        cmocka_unit_test(test_max_step_is_kept),
        cmocka_unit_test(test_heat_with_every_kind_of_jacobian),
        cmocka_unit_test(test_auto_moves_to_bdf_on_van_der_pol),
        cmocka_unit_test(test_auto_stays_explicit_where_nothing_is_stiff),
        cmocka_unit_test(test_auto_comes_back),
        cmocka_unit_test(test_table_of_solvers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
