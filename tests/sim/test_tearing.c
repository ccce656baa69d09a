/* Torn systems: the same values and derivatives as of the whole system, in every size; known sizes; events, initial
 * systems; factors that are kept. */
#include "assertions.h"
#include "explain/figures.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define IR KOINE_SOURCE_DIR "/tests/sim/ir/"

static char root[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/koine-tear-XXXXXX");
    return mkdtemp(root) ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    char path[96];
    snprintf(path, sizeof path, "%s/m.ir", root);
    unlink(path);
    return rmdir(root);
}

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 11) % n);
}

static double between(double a, double b)
{
    return a + (b - a) * below(10000) / 10000;
}

typedef enum { CONSTANT, MOVING, NONLINEAR } Kind;

/* A ring of n equations with far couplings, diagonally dominant; forced by two states. */
static const char *write_system(uint32_t n, Kind kind, uint32_t far)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/m.ir", root);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "koine-ir 1\nmodel m\nvar x Real continuous der start 0.5 fixed\n"
               "var z Real continuous der start 1.0 fixed\n");
    for (uint32_t k = 0; k < n; k++)
        fprintf(f, "param p%u Real = %.4f\nvar y%u Real continuous now\n", k, between(0.5, 2), k);
    for (uint32_t k = 0; k < n; k++) {
        static const char *const diagonal[] = { "3.0*y%u", "(3.0 + sin(z))*y%u", "3.0*y%u + 0.2*sin(y%u)" };
        fprintf(f, "eq q%u ", k);
        fprintf(f, diagonal[kind], k, k);
        fprintf(f, " %s p%u*y%u", below(2) ? "+" : "-", k, (k + 1) % n);
        for (uint32_t j = 0; j < far; j++)
            fprintf(f, " + (%.3f)*y%u", between(-0.3, 0.3), below(n));
        fprintf(f, " = (%.3f)*x + z*z\n", between(-1, 1));
    }
    fprintf(f, "eq e1 der(x) = y0 - x\neq e2 der(z) = y%u*x - z\nend m\n", n / 2);
    fclose(f);
    return path;
}

typedef struct {
    Compilation *c;
    const KoineModelKind *kind;
    KoineModel *model;
} Running;

static Running instantiate(const char *path, const char *systems, const char *tier)
{
    static const KoineHost host = { 0 };
    Running i = { .c = compilation_create(NULL) };
    const char *why;
    const CompileRequest request = { .path = path, .systems = systems };
    fail_if(!compilation_load(i.c, &request) || !compilation_schedule(i.c), "%s", diag_json(i.c->diag, i.c->arena));
    i.kind = compilation_kind(i.c, tier, &why);
    assert_non_null(i.kind);
    assert_int_equal(i.kind->create(i.kind, &host, &i.model), KOINE_OK);
    assert_int_equal(i.kind->initialise(i.model, 0), KOINE_OK);
    return i;
}

static void destroy(Running *i)
{
    i->kind->destroy(i->model);
    compilation_destroy(i->c);
}

static void evaluate(const Running *i, const double *x, double *der, double *jacobian)
{
    const KoineEvaluation at = { .time = 0, .x = x, .want = KOINE_WANT_DER | KOINE_WANT_OUTPUTS, .der = der };
    assert_int_equal(i->kind->evaluate(i->model, &at), KOINE_OK);
    if (jacobian)
        assert_int_equal(i->kind->partial.jacobian(i->model, &at, KOINE_BY_X, 0, jacobian), KOINE_OK);
}

static uint64_t factorizations(const Running *i)
{
    KoineModelStatistics statistics;
    i->kind->counts.statistics(i->model, &statistics);
    return statistics.system_factorisations;
}

/* Values, derivatives and Jacobians, at three points, to 1e-10. */
static void compare(const char *path, uint32_t n, uint32_t most_torn)
{
    Running torn = instantiate(path, NULL, "interp"), whole = instantiate(path, "whole", "interp");
    const CompileReport report = compile_report(torn.c->schedule, torn.c->program, torn.c->arena);
    assert_int_equal(report.largest_block, n);
    assert_in_range(report.largest_torn, 1, most_torn);
    assert_int_equal(compile_report(whole.c->schedule, whole.c->program, whole.c->arena).largest_torn, n);
    for (int point = 0; point < 3; point++) {
        const double x[] = { 0.5 + point, 1 - 0.3 * point };
        double a[2], b[2], jacobian_a[4], jacobian_b[4];
        evaluate(&torn, x, a, jacobian_a);
        evaluate(&whole, x, b, jacobian_b);
        for (uint32_t k = 0; k < 2; k++)
            expect_near(a[k], b[k], 1e-10 * (1 + fabs(b[k])));
        for (uint32_t k = 0; k < 4; k++)
            expect_near(jacobian_a[k], jacobian_b[k], 1e-10 * (1 + fabs(jacobian_b[k])));
        for (uint32_t k = 0; k < n; k++) {
            char name[16];
            snprintf(name, sizeof name, "y%u", k);
            const double value = value_of(whole.model, name);
            expect_near(value_of(torn.model, name), value, 1e-10 * (1 + fabs(value)));
        }
    }
    destroy(&torn);
    destroy(&whole);
}

/* OT-060: the Schur complement against the solution of the whole. Up to 8 by our own elimination, up to 30 by LAPACK,
 * above by KLU: both sides meet all of them. */
static void test_ot060_linear_systems_torn_and_whole_agree(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 2, 3, 8, 20, 31, 120 };
    seed = 17;
    for (uint32_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (uint32_t far = 0; far < 3; far++)
            for (Kind kind = CONSTANT; kind <= MOVING; kind++)
                compare(write_system(sizes[k], kind, far), sizes[k], sizes[k] < 30 ? sizes[k] - 1 : sizes[k]);
}

static void test_ot059_nonlinear_systems_torn_and_whole_agree(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 2, 5, 12, 120 };
    seed = 18;
    for (uint32_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (uint32_t far = 0; far < 3; far++)
            compare(write_system(sizes[k], NONLINEAR, far), sizes[k], sizes[k]);
}

/* A ring of n is torn to 1, unless errors grow: every row multiplies them by up to 2/3 or by up to 6. */
static void test_ot062_sizes_of_rings(void **state)
{
    (void)state;
    seed = 19;
    compare(write_system(20, CONSTANT, 0), 20, 1);
    compare(write_system(300, CONSTANT, 0), 300, 1);
}

#define DYMOLA KOINE_SOURCE_DIR "/tests/sim/dymola/"

/* u1 = u2 since the same current flows: 2 u1 + 320*Is*(exp(u1/Vt) - 1) = 5 + exp(-t), solved here by bisection. */
static void check_diodes(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        double lo = 0, hi = 1;
        for (int j = 0; j < 60; j++) {
            const double u = (lo + hi) / 2;
            if (2 * u + 320 * 1e-9 * (exp(u / 0.025) - 1) < 5 + r->rows[k].values[run_column(r, "x")])
                lo = u;
            else
                hi = u;
        }
        expect_near(r->rows[k].values[run_column(r, "u1")], lo, 1e-10);
        expect_near(r->rows[k].values[run_column(r, "u2")], lo, 1e-10);
    }
}

/* By directive, and whole: the same solution from 1 and from 5 unknowns. */
static void test_ot059_a_nonlinear_system_torn_by_directive(void **state)
{
    (void)state;
    const RunRequest request = { .path = DYMOLA "tear.dym", .stop = 2, .interval = 0.5, .tolerance = 1e-9 };
    run_in_all_tiers(request, check_diodes);
    Running torn = instantiate(DYMOLA "tear.dym", NULL, "interp"),
            whole = instantiate(DYMOLA "tear.dym", "whole", "interp");
    assert_int_equal(compile_report(torn.c->schedule, torn.c->program, torn.c->arena).largest_block, 5);
    assert_int_equal(compile_report(torn.c->schedule, torn.c->program, torn.c->arena).largest_torn, 1);
    assert_int_equal(compile_report(whole.c->schedule, whole.c->program, whole.c->arena).largest_torn, 5);
    static const char *const names[] = { "u1", "u2", "uR", "uS", "i" };
    const double x = 1;
    double der;
    evaluate(&torn, &x, &der, NULL);
    evaluate(&whole, &x, &der, NULL);
    for (uint32_t k = 0; k < 5; k++)
        expect_near(value_of(torn.model, names[k]), value_of(whole.model, names[k]), 1e-10);
    destroy(&torn);
    destroy(&whole);
}

static void expect_refused(const char *equations, const char *message)
{
    char path[96];
    snprintf(path, sizeof path, "%s/m.dym", root);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "model m\n  local x, y, z, s = 1\n%s", equations);
    fclose(f);
    RunResult *r = run_model(&(RunRequest){ .path = path, .stop = 1, .interval = 1 });
    assert_false(r->is_compiled);
    fail_if(!strstr(r->messages, message), "wants: %s\nsays: %s", message, r->messages);
    run_free(r);
    unlink(path);
}

static void test_ot061_inadmissible_directives_are_refused(void **state)
{
    (void)state;
    expect_refused("  x*x + y*z = 3\n  x*y + z = 1\n  z*z*x + y = 2\n  der(s) = x\nend\nvariable tear z\n",
                   "m.dym:2:15: error KN2132: with 1 of 3 unknowns torn the others cannot be computed one after the "
                   "other: 2 have to be torn");
    expect_refused("  x*x + y*z = 3\n  x*y + z = 1\n  z*z*x + y = 2\n  der(s) = x\nend\nvariable tear z\n",
                   "m.dym:2:9: 'x' would have to be torn, too");
    expect_refused("  x = exp(y)\n  y = x + z*y\n  x*z = y + s\n  der(s) = x\nend\nvariable tear x [z]\n",
                   "m.dym:2:9: error KN2131: 'z' does not name an equation of the system that 'x' is in");
    expect_refused("  x = exp(y)\n  y = x + z*y\n  x*z = y + s\n  der(s) = x\nend\nvariable tear s\n",
                   "m.dym:2:18: error KN2130: 's' cannot be torn: it is not computed from equations");
}

/* OT-060: reduced inertia. (J1 + J2/i^2) = 1: w' = 10 - 0.75 w. */
static void check_drive(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "w"), 10 / 0.75 * (1 - exp(-0.75 * 2)), 1e-7);
    expect_near(run_last(r, "a1"), 10 - 0.75 * run_last(r, "w"), 1e-12);
    expect_near(run_last(r, "t2"), 4 * run_last(r, "t1"), 1e-12);
}

static void test_ot060_reduced_inertia_of_a_drive(void **state)
{
    (void)state;
    Running torn = instantiate(DYMOLA "drive.dym", NULL, "interp");
    assert_int_equal(compile_report(torn.c->schedule, torn.c->program, torn.c->arena).largest_block, 4);
    assert_int_equal(compile_report(torn.c->schedule, torn.c->program, torn.c->arena).largest_torn, 1);
    destroy(&torn);
    run_in_all_tiers((RunRequest){ .path = DYMOLA "drive.dym", .stop = 2, .interval = 1, .tolerance = 1e-9 },
                     check_drive);
}

/* The arm of 6 joints: 255 equations, torn to 6 without being told how; derivatives as of the whole system. */
static void test_ot062_an_arm_is_torn_to_its_joints(void **state)
{
    (void)state;
    static const char path[] = KOINE_SOURCE_DIR "/bench/models/robot.ir";
    Running torn = instantiate(path, NULL, "interp"), whole = instantiate(path, "whole", "interp");
    assert_int_equal(compile_report(torn.c->schedule, torn.c->program, torn.c->arena).largest_block, 255);
    assert_int_equal(compile_report(torn.c->schedule, torn.c->program, torn.c->arena).largest_torn, 6);
    double x[12], a[12], b[12];
    for (uint32_t k = 0; k < 12; k++)
        x[k] = 0.3 * k - 1;
    evaluate(&torn, x, a, NULL);
    evaluate(&whole, x, b, NULL);
    for (uint32_t k = 0; k < 12; k++)
        expect_near(a[k], b[k], 1e-11 * (1 + fabs(b[k])));
    destroy(&torn);
    destroy(&whole);
}

static const char *write_lines(const char *lines)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/m.ir", root);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "koine-ir 1\nmodel m\nvar x Real continuous der start 1.0 fixed\n"
            "var z Real continuous der start 0.0 fixed\neq z der(z) := 0.0\n%send m\n",
            lines);
    fclose(f);
    return path;
}

/* The Hilbert matrix of order 8, with row sums on the right: all unknowns are 1. Its condition number is 1.5e10
 * (2-norm), so five digits are left. Torn and whole agree as far. */
static void test_ot056_numeric_solution_with_estimated_condition(void **state)
{
    (void)state;
    enum { N = 8 };
    char lines[12000];
    int n = 0;
    for (int i = 0; i < N; i++) {
        double sum = 0;
        n += snprintf(lines + n, sizeof lines - (size_t)n, "var y%d Real continuous now\neq q%d ", i, i);
        for (int j = 0; j < N; j++) {
            n += snprintf(lines + n, sizeof lines - (size_t)n, "%s%.17g*cos(z)*y%d", j ? " + " : "", 1.0 / (i + j + 1),
                          j); /* constant matrices are looked at by the compiler */
            sum += 1.0 / (i + j + 1);
        }
        n += snprintf(lines + n, sizeof lines - (size_t)n, " = %.17g*x\n", sum);
    }
    snprintf(lines + n, sizeof lines - (size_t)n, "eq e der(x) = y0 - x\n");
    const char *path = write_lines(lines);
    for (int k = 0; k < 2; k++) {
        Running i = instantiate(path, k ? "whole" : "torn", "interp");
        const double x[] = { 1, 0 };
        double der[2];
        evaluate(&i, x, der, NULL);
        for (int j = 0; j < N; j++) {
            char name[16];
            snprintf(name, sizeof name, "y%d", j);
            expect_near(value_of(i.model, name), 1, 1e-5);
        }
        KoineModelStatistics statistics;
        i.kind->counts.statistics(i.model, &statistics);
        if (k) {
            assert_true(statistics.largest_condition > 1e8);
            assert_true(statistics.largest_condition < 1e12);
        }
        destroy(&i);
    }
    RunResult *r = run_model(&(RunRequest){ .path = IR "linear.ir", .stop = 1, .interval = 0.5 });
    RunResult *whole =
        run_model(&(RunRequest){ .path = IR "linear.ir", .stop = 1, .interval = 0.5, .systems = "whole" });
    expect_done(r);
    expect_done(whole);
    for (uint32_t k = 0; k < r->n_columns; k++)
        expect_near(r->rows[r->n_rows - 1].values[k], whole->rows[whole->n_rows - 1].values[k], 1e-12);
    run_free(r);
    run_free(whole);
}

/* 0.2 and 0.6 are not twice 0.1 and 0.3 in binary: the last pivot is rounding, and must not be divided by. */
static void test_ot056_a_pivot_of_rounding_is_none(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *path =
            write_lines("var u Real continuous now\nvar v Real continuous now\nvar w Real continuous now\n"
                        "eq q1 0.1*cos(z)*u + 0.3*v = x + w\neq q2 0.2*u + 0.6*v = 1.0 + x + 2.0*w\n"
                        "eq q3 w = x + u + v*3.0 - 10.0*w\neq e der(x) = u\n");
        RunResult *r =
            run_model(&(RunRequest){ .path = path, .stop = 1, .interval = 1, .systems = k ? "whole" : "torn" });
        assert_true(r->is_compiled);
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        fail_if(!strstr(r->report.text, "the linear equations have no unique solution"), "%s", r->report.text);
        run_free(r);
    }
}

/* Constant matrices are factored once, others when a state in them moves; also for the tangents. Wherever the block has
 * been in between, results are those of a new instance. */
static void check_factors(uint32_t n, const char *systems)
{
    Running i = instantiate(write_system(n, CONSTANT, 1), systems, "interp");
    double der[2], again[2], jacobian[4];
    for (int point = 0; point < 5; point++) {
        const double x[] = { 0.1 * point, 1 + 0.2 * point };
        evaluate(&i, x, der, jacobian);
    }
    assert_int_equal(factorizations(&i), 1);
    destroy(&i);
    i = instantiate(write_system(n, MOVING, 1), systems, "interp");
    const uint64_t before = factorizations(&i);
    const double x[] = { 0.3, 0.7 }, y[] = { 0.3, 1.9 };
    evaluate(&i, x, der, jacobian);
    evaluate(&i, x, again, jacobian);
    assert_memory_equal(der, again, sizeof der);
    assert_int_equal(factorizations(&i), before + 1);
    unsigned char *kept = malloc(i.model->size);
    memcpy(kept, i.model->block, i.model->size);
    evaluate(&i, y, again, jacobian);
    assert_true(memcmp(der, again, sizeof der) != 0);
    memcpy(i.model->block, kept, i.model->size);
    evaluate(&i, x, again, jacobian);
    assert_memory_equal(der, again, sizeof der);
    free(kept);
    destroy(&i);
}

static void test_factors_are_kept_while_nothing_changes(void **state)
{
    (void)state;
    seed = 20;
    check_factors(6, "torn");
    check_factors(12, "whole");
    check_factors(50, "whole");
    check_factors(120, "torn");
}

/* u and v follow from i; at time 1 the switch closes: i = x/(R1 + R2), before 0. x' = -i. */
static void check_events(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "i", 0.5), 0, 1e-13);
    expect_near(run_at(r, "u", 0.5), 3, 1e-12);
    expect_near(run_at(r, "x", 2), 3 * exp(-1.0 / 30), 1e-8);
    expect_near(run_at(r, "i", 2), run_at(r, "x", 2) / 30, 1e-12);
    expect_near(run_at(r, "n", 2), 1, 0); /* the jump of v was seen by a transition */
}

static void test_torn_systems_in_events_and_at_the_start(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = IR "torn.ir", .stop = 2, .interval = 0.5, .tolerance = 1e-10 },
                     check_events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot060_linear_systems_torn_and_whole_agree),
        cmocka_unit_test(test_ot059_nonlinear_systems_torn_and_whole_agree),
        cmocka_unit_test(test_ot062_sizes_of_rings),
        cmocka_unit_test(test_ot056_numeric_solution_with_estimated_condition),
        cmocka_unit_test(test_ot056_a_pivot_of_rounding_is_none),
        cmocka_unit_test(test_ot062_an_arm_is_torn_to_its_joints),
        cmocka_unit_test(test_ot059_a_nonlinear_system_torn_by_directive),
        cmocka_unit_test(test_ot060_reduced_inertia_of_a_drive),
        cmocka_unit_test(test_ot061_inadmissible_directives_are_refused),
        cmocka_unit_test(test_factors_are_kept_while_nothing_changes),
        cmocka_unit_test(test_torn_systems_in_events_and_at_the_start),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
