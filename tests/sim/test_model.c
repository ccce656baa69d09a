/* The common representation end to end: small models in the text form, run and compared with closed forms. Rules are
 * those of docs/semantics.md (S) and docs/ir.md (M). */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define IR KOINE_SOURCE_DIR "/tests/sim/ir/"

static RunResult *run(const char *file, double stop, double interval)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", IR, file);
    return run_model(&(RunRequest){ .path = path, .stop = stop, .interval = interval });
}

static void assert_near(double actual, double expected, double tolerance)
{
    fail_if(!(fabs(actual - expected) <= tolerance), "%.12g, expected %.12g within %g", actual, expected, tolerance);
}

static void assert_done(const RunResult *r)
{
    fail_if(!r->is_compiled, "%s", r->messages);
    fail_if(r->report.end != KOINE_RUN_DONE, "%s", r->report.text);
}

static void assert_refused(const char *file, const char *code, const char *text)
{
    RunResult *r = run(file, 1, 1);
    assert_false(r->is_compiled);
    fail_if(!strstr(r->messages, code) || !strstr(r->messages, text), "expected %s '%s' in:\n%s", code, text,
            r->messages);
    run_free(r);
}

static void assert_fails(const char *file, double stop, const char *text, const char *place)
{
    RunResult *r = run(file, stop, stop / 10);
    fail_if(!r->is_compiled, "%s", r->messages);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    fail_if(!strstr(r->report.text, text) || !strstr(r->report.text, place), "expected '%s' and '%s' in: %s", text,
            place, r->report.text);
    assert_true(r->n_rows > 0); /* what was computed is kept */
    run_free(r);
}

static void test_linear_block(void **state)
{
    (void)state;
    RunResult *r = run("linear.ir", 2, 1);
    assert_done(r);
    assert_near(run_last(r, "x"), 3, 1e-12);
    assert_near(run_last(r, "y"), 2, 1e-12);
    assert_near(run_last(r, "z"), 2 * 2 + 1.5 * 2 + 8.0 / 12, 1e-8); /* integral of (2 + t/2)(1 + t/2) */
    run_free(r);
}

static void test_newton_block(void **state)
{
    (void)state;
    RunResult *r = run("newton.ir", 1, 0.25);
    assert_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double *v = r->rows[k].values;
        const double x = v[run_column(r, "x")], y = v[run_column(r, "y")], w = v[run_column(r, "w")];
        assert_near(x, 2 * exp(-r->rows[k].time), 1e-8);
        assert_near(y * y * y + y, x, 1e-10);
        assert_near(w + sin(w) * y, 1, 1e-10);
    }
    run_free(r);
}

static void test_nonlinear_system(void **state)
{
    (void)state;
    RunResult *r = run("circle.ir", 1, 0.5);
    assert_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double s = 5 + r->rows[k].time, p = 6 + r->rows[k].time, root = sqrt(s * s - 4 * p);
        assert_near(r->rows[k].values[run_column(r, "a")], (s + root) / 2, 1e-9);
        assert_near(r->rows[k].values[run_column(r, "b")], (s - root) / 2, 1e-9);
    }
    run_free(r);
}

/* Long after the start the line is a straight line: q equal everywhere, q = 2(1 - T1) = 3(Ti - Ti+1) = 0.5 TN. */
static void test_m6_array_equations(void **state)
{
    (void)state;
    RunResult *r = run("heat.ir", 1e5, 1e5);
    assert_done(r);
    const double q = 1 / (0.5 + 99 / 3.0 + 2); /* resistances in series */
    assert_near(run_last(r, "q[1]"), q, 1e-6);
    assert_near(run_last(r, "q[99]"), q, 1e-6);
    assert_near(run_last(r, "T[100]"), 2 * q, 1e-6);
    assert_near(run_last(r, "T[1]"), 1 - q / 2, 1e-6);
    run_free(r);
}

/* Contacts of a ball with restitution 0.8; after the third contact nothing falls any more. */
static void test_m12_when_equations(void **state)
{
    (void)state;
    RunResult *r = run("bounce.ir", 3, 0.5);
    assert_done(r);
    const double t1 = sqrt(2 / 9.81), v1 = 9.81 * t1, t3 = t1 + 2 * 0.8 * v1 / 9.81 + 2 * 0.64 * v1 / 9.81;
    assert_near(run_last(r, "k"), 3, 0);
    assert_near(run_last(r, "flying"), 0, 0);
    assert_near(run_last(r, "v"), 0.512 * v1, 1e-8);
    assert_near(run_last(r, "h"), 0.512 * v1 * (3 - t3), 1e-7);
    run_free(r);
}

/* x' = -2 sqrt(x) - 0.5 until 0, then x' = 2 sqrt(-x) - 0.5: to the rest point -1/16. */
static void test_d8_no_domain_error_by_freezing(void **state)
{
    (void)state;
    static const char *const solvers[] = { "auto", "cvode-bdf", "dopri5", "rk4" };
    for (int k = 0; k < 4; k++) {
        RunResult *r = run_model(
            &(RunRequest){ .path = IR "domain.ir", .solver = solvers[k], .stop = 30, .interval = 0.5, .step = 0.01 });
        assert_done(r);
        assert_near(run_last(r, "x"), -0.0625, 1e-4);
        run_free(r);
    }
}

static void test_s6_strict_time_relation_is_late(void **state)
{
    (void)state;
    RunResult *r = run("strict.ir", 2, 1);
    assert_done(r);
    assert_near(run_at(r, "a", 1), 1, 0);
    assert_near(run_at(r, "b", 1), 1, 0); /* t2 fired first, when a was 0 */
    assert_near(run_at(r, "a", 2), 1, 0);
    run_free(r);
    r = run("strict.ir", 1, 1); /* not at the stop time: a continued run begins with it */
    assert_done(r);
    assert_near(run_at(r, "a", 1), 0, 0);
    assert_near(run_at(r, "b", 1), 1, 0);
    run_free(r);
}

static void test_s8_truth_inside_a_step_is_seen(void **state)
{
    (void)state;
    RunResult *r = run("dip.ir", 20, 20); /* cos t < -0.9999 around pi, 3 pi, 5 pi */
    assert_done(r);
    assert_near(run_last(r, "n"), 3, 0);
    run_free(r);
}

static void test_step_functions(void **state)
{
    (void)state;
    RunResult *r = run("steps.ir", 3, 0.1);
    assert_done(r);
    const uint32_t n = run_column(r, "n"), x = run_column(r, "x");
    for (uint32_t k = 0; k < r->n_rows; k++)
        if (r->rows[k].kind != KOINE_POINT_LEFT)
            assert_near(r->rows[k].values[n], floor(r->rows[k].values[x] + 1e-9), 0);
    assert_near(run_at(r, "r", 1.3), 3, 0);
    assert_near(run_at(r, "back", 3), 3.5, 1e-8);
    uint32_t events = 0;
    for (uint32_t k = 1; k < r->n_rows; k++)
        events += r->rows[k].values[n] != r->rows[k - 1].values[n];
    assert_int_equal(events, 4); /* x = 4.5 at t = 3 */
    run_free(r);
}

static void test_m4_parameters_in_order(void **state)
{
    (void)state;
    RunResult *r = run("params.ir", 1, 1);
    assert_done(r);
    assert_near(run_last(r, "x"), 8 - 4, 1e-12);
    run_free(r);
}

/* u = 4 before 1: x = 2, y = 4 at rest; then x = 2.5 - 0.5 exp(-2(t - 1)). */
static void test_initial_equations_are_solved(void **state)
{
    (void)state;
    RunResult *r = run("steady.ir", 2, 0.5);
    assert_done(r);
    assert_near(r->rows[0].values[run_column(r, "x")], 2, 1e-12);
    assert_near(r->rows[0].values[run_column(r, "y")], 4, 1e-12);
    assert_near(r->rows[0].values[run_column(r, "z")], 3, 0);
    assert_near(run_at(r, "x", 0.5), 2, 1e-12);
    assert_near(run_at(r, "x", 2), 2.5 - 0.5 * exp(-2), 1e-8);
    assert_near(run_at(r, "z", 2), 3 * exp(-2), 1e-8);
    run_free(r);
}

/* y: 1 until t = 1, 2 until sqrt(t - 1) = 0.5 at 1.25, then 3. z: 1 until log(1 - t) = -0.5, 2 until 1, then 3. */
static void test_conditions_behind_conditions_may_have_no_value(void **state)
{
    (void)state;
    RunResult *r = run("guarded.ir", 2, 0.1);
    assert_done(r);
    assert_near(run_at(r, "y", 0.9), 1, 0);
    assert_near(run_at(r, "y", 1.1), 2, 0);
    assert_near(run_at(r, "y", 1.2), 2, 0);
    assert_near(run_at(r, "y", 1.3), 3, 0);
    assert_near(run_at(r, "z", 0.3), 1, 0); /* log 0.7 = -0.357 */
    assert_near(run_at(r, "z", 0.4), 2, 0); /* log 0.6 = -0.511 */
    assert_near(run_at(r, "z", 1.1), 3, 0);
    const uint32_t y = run_column(r, "y");
    for (uint32_t k = 1; k < r->n_rows; k++)
        if (r->rows[k].values[y] == 3 && r->rows[k - 1].values[y] == 2)
            assert_near(r->rows[k].time, 1.25, 1e-9);
    run_free(r);
}

/* ---- exact Jacobians against central differences ---- */
static void derivatives_at(KoineModel *model, const double *x, double *der)
{
    const KoineEvaluation at = { .time = 0.3, .x = x, .want = KOINE_WANT_DER, .der = der };
    assert_int_equal(model->kind->evaluate(model, &at), KOINE_OK);
}

static void check_jacobian(const char *file, const char *tier)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", IR, file);
    Compilation *c = compilation_create(NULL);
    assert_true(compilation_load(c, &(CompileRequest){ .path = path }) && compilation_schedule(c));
    const char *why;
    const KoineModelKind *kind = compilation_kind(c, tier, &why);
    assert_non_null(kind);
    const KoineHost host = { 0 };
    KoineModel *model;
    assert_int_equal(kind->create(kind, &host, &model), KOINE_OK);
    assert_int_equal(kind->initialise(model, 0), KOINE_OK);
    const KoinePattern *p = &kind->tables->patterns.jacobian;
    const uint32_t n = kind->tables->n_x;
    assert_int_equal(p->rows, n);
    double *x = calloc(n, sizeof *x), *up = calloc(n, sizeof *x), *down = calloc(n, sizeof *x);
    double *exact = calloc(p->start[n] + 1, sizeof *x);
    memcpy(x, model->block + kind->tables->x, n * sizeof *x);
    for (uint32_t k = 0; k < n; k++)
        x[k] += 0.01 * (double)(k % 7) + 0.1;
    const KoineEvaluation at = { .time = 0.3, .x = x };
    assert_int_equal(kind->partial.jacobian(model, &at, KOINE_BY_X, 0, exact), KOINE_OK);
    for (uint32_t column = 0; column < n; column++) {
        const double h = 1e-5, kept = x[column];
        x[column] = kept + h;
        derivatives_at(model, x, up);
        x[column] = kept - h;
        derivatives_at(model, x, down);
        x[column] = kept;
        for (uint32_t row = 0; row < n; row++) {
            double entry = 0; /* not in the pattern: zero */
            for (uint32_t k = p->start[row]; k < p->start[row + 1]; k++)
                if (p->index[k] == column)
                    entry = exact[k];
            assert_near(entry, (up[row] - down[row]) / (2 * h), 1e-6 * (1 + fabs(entry)));
        }
    }
    free(x);
    free(up);
    free(down);
    free(exact);
    kind->destroy(model);
    compilation_destroy(c);
}

static void test_jacobians_are_exact(void **state)
{
    (void)state;
    static const char *const files[] = { "lorenz.ir", "heat.ir", "linear.ir", "systems.ir", "steady.ir", "torn.ir" };
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    for (int k = 0; k < 6; k++)
        for (int j = 0; j < 3; j++)
            check_jacobian(files[k], tiers[j]);
}

static void test_s14_conflict_names_both(void **state)
{
    (void)state;
    assert_fails("conflict.ir", 2, "two events assign 'z'", "conflict.ir:5");
    assert_fails("conflict.ir", 2, "the other assignment", "conflict.ir:8");
}

/* The second comparison of `h <= 0 and v < 0` decides nothing while the first is false: an apex is no event, unless
 * something shows it. Contacts at (2k - 1) sqrt(2/9.81). */
static void test_s12_flips_without_consequences_are_no_events(void **state)
{
    (void)state;
    RunResult *quiet = run("quiet.ir", 9, 3), *loud = run("loud.ir", 9, 3);
    assert_done(quiet);
    assert_done(loud);
    assert_int_equal(quiet->report.statistics.events.state_events, 10);
    assert_true(loud->report.statistics.events.state_events >= 20); /* contact and apex */
    assert_near(run_last(quiet, "bounces"), 10, 0);
    assert_near(run_last(loud, "bounces"), 10, 0);
    const double since = 9 - 19 * sqrt(2 / 9.81), h = since * (sqrt(2 * 9.81) - 0.5 * 9.81 * since);
    assert_near(run_last(quiet, "h"), h, 1e-9);
    assert_near(run_last(loud, "h"), h, 1e-9);
    run_free(quiet);
    run_free(loud);
}

static void test_s16_zeno_is_named(void **state)
{
    (void)state;
    assert_fails("zeno.ir", 10, "Zeno", "h");
}

static void test_division_by_zero_is_explained(void **state)
{
    (void)state;
    assert_fails("divide.ir", 5, "division by zero", "divide.ir:9");
    assert_fails("divide.ir", 5, "n = 0", "(at time 3)");
}

static void test_domain_error_in_an_output_is_explained(void **state)
{
    (void)state;
    assert_fails("zero.ir", 2, "square root of a negative number", "zero.ir:7");
    static const char *const solvers[] = { "auto", "cvode-bdf", "ida", "rk4" };
    for (int k = 0; k < 4; k++) { /* in a derivative, too, whatever the solver */
        RunResult *r = run_model(&(RunRequest){
            .path = IR "root.ir", .solver = solvers[k], .stop = 2, .interval = 0.1, .step = 0.01, .tolerance = 1e-6 });
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        fail_if(!strstr(r->report.text, "square root of a negative number") || !strstr(r->report.text, "root.ir:7"),
                "%s: %s", solvers[k], r->report.text);
        assert_near(r->report.time, 1, 1e-6);
        run_free(r);
    }
}

static void test_no_solution_is_explained(void **state)
{
    (void)state;
    RunResult *r = run("nosolution.ir", 1, 1);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text, "nosolution.ir:6"));
    assert_non_null(strstr(r->report.text, "y ="));
    run_free(r);
}

static void test_refusals(void **state)
{
    (void)state;
    assert_refused("singular.ir", "KN2112", "too many equations");
    assert_refused("singular.ir", "KN2110", "'z' has no definition");
    assert_refused("toomany.ir", "KN2112", "too many equations");
    assert_refused("paramring.ir", "KN2106", "'a'");
}

/* Chaotic: one bit of difference anywhere would be seen at the end. Expected: the interpreter's own result. */
static void test_auto_changes_tiers_without_changing_a_bit(void **state)
{
    (void)state;
    const RunRequest request = { .path = IR "lorenz.ir", .stop = 20000, .interval = 20000, .tolerance = 1e-6 };
    RunRequest automatic = request;
    automatic.tier = "auto";
    RunResult *a = run_model(&request), *b = run_model(&automatic);
    assert_done(a);
    assert_done(b);
    assert_memory_equal(a->rows[a->n_rows - 1].values, b->rows[b->n_rows - 1].values, 3 * sizeof(double));
    fail_if(!strstr(b->note, "moved to tcc"), "auto did not move: %s", b->note);
    run_free(a);
    run_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_block),
        cmocka_unit_test(test_newton_block),
        cmocka_unit_test(test_nonlinear_system),
        cmocka_unit_test(test_m6_array_equations),
        cmocka_unit_test(test_m12_when_equations),
        cmocka_unit_test(test_d8_no_domain_error_by_freezing),
        cmocka_unit_test(test_s6_strict_time_relation_is_late),
        cmocka_unit_test(test_s8_truth_inside_a_step_is_seen),
        cmocka_unit_test(test_step_functions),
        cmocka_unit_test(test_m4_parameters_in_order),
        cmocka_unit_test(test_initial_equations_are_solved),
        cmocka_unit_test(test_conditions_behind_conditions_may_have_no_value),
        cmocka_unit_test(test_jacobians_are_exact),
        cmocka_unit_test(test_s14_conflict_names_both),
        cmocka_unit_test(test_s12_flips_without_consequences_are_no_events),
        cmocka_unit_test(test_s16_zeno_is_named),
        cmocka_unit_test(test_division_by_zero_is_explained),
        cmocka_unit_test(test_domain_error_in_an_output_is_explained),
        cmocka_unit_test(test_no_solution_is_explained),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_auto_changes_tiers_without_changing_a_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
