/* Many objects at one node: every state depends on every other one through a single quantity. The Jacobian by the
 * states would be full; the whole Jacobian (docs/decisions/0020) is as sparse as the equations. */
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

enum { N = 600, PATH_SIZE = 80 };
static char folder[] = "/tmp/koine-star.XXXXXX";
static char path[PATH_SIZE];

static FILE *begin(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

/* N equal branches, a resistor and a capacitor each, at a node that a source feeds through R0. */
static void write_branches(void)
{
    FILE *f = begin("branches.dym");
    fprintf(f, "@el.lib\nmodel star\n  submodel (Vsource) U0\n  submodel (Ground) g\n  submodel (Resistor) R0 (R=1)\n"
               "  node n0, s, m\n");
    for (int k = 1; k <= N; k++)
        fprintf(f, "  node m%d\n  submodel (Resistor) R%d (R=1)\n  submodel (Capacitor) C%d (C=1)\n", k, k, k);
    fprintf(f, "  connect g at n0, U0 at (s, n0), R0 at (s, m)\n");
    for (int k = 1; k <= N; k++)
        fprintf(f, "  connect R%d at (m, m%d), C%d at (m%d, n0)\n", k, k, k, k);
    fprintf(f, "  U0.V0 = 1\nend\n");
    fclose(f);
}

/* With all branches alike u' = (1 - u)/(N + 1), beside N - 1 modes that decay with e^-t. */
static void check_branches(const RunResult *r)
{
    expect_done(r);
    const double u = 1 - exp(-1000.0 / (N + 1));
    expect_near(run_last(r, "C1.u"), u, 1e-6);
    expect_near(run_last(r, "C600.u"), u, 1e-6);
    expect_near(run_last(r, "R0.i"), N * (1 - u) / (N + 1), 1e-6);
    assert_true(r->report.statistics.integration.steps < 250);
    /* an exact Jacobian: about one iteration a step */
    assert_true(r->report.statistics.integration.nonlinear_iterations < 2 * r->report.statistics.integration.steps);
    assert_true(r->report.statistics.integration.jacobians < 40);
}

static void test_branches_at_a_node(void **state)
{
    (void)state;
    write_branches();
    const RunRequest request = { .path = path, .solver = "cvode-bdf", .stop = 1000, .interval = 1000 };
    run_in_all_tiers(request, check_branches);
    RunRequest automatic = request; /* explicit at first: what it leaves to cvode-bdf does not matter here */
    automatic.solver = "auto";
    RunResult *r = run_model(&automatic);
    expect_done(r);
    expect_near(run_last(r, "C1.u"), 1 - exp(-1000.0 / (N + 1)), 1e-6);
    run_free(r);
}

/* Entries and slots of the Jacobian are counted: they grow with the number of branches, not with its square. */
static void test_whole_jacobian_is_sparse(void **state)
{
    (void)state;
    write_branches();
    Compilation *c = compilation_create(NULL);
    const char *why = NULL;
    assert_true(compilation_load(c, &(CompileRequest){ .path = path }) && compilation_schedule(c));
    const KoineModelKind *kind = compilation_kind(c, "interp", &why);
    assert_non_null(kind);
    const KoinePattern *whole = &kind->tables->patterns.whole_jacobian;
    assert_null(kind->tables->patterns.jacobian.start);
    assert_non_null(whole->start);
    assert_true(whole->rows > 2 * N && whole->rows < 6 * N);
    assert_true(whole->start[whole->rows] < 20 * N);
    compilation_destroy(c);
}

/* x' = 100*(m - x)*(1 + x*x) + k/N with the mean m of all: a sum in one equation, entries that are not constant. */
static void write_mean(void)
{
    FILE *f = begin("mean.dym");
    fprintf(f, "model mean\n  local S");
    for (int k = 1; k <= N; k++)
        fprintf(f, ", x%d", k);
    fprintf(f, "\n  S = x1");
    for (int k = 2; k <= N; k++)
        fprintf(f, " + x%d", k);
    for (int k = 1; k <= N; k++)
        fprintf(f, "\n  der(x%d) = 100*(S/%d - x%d)*(1 + x%d*x%d) + %d/%d", k, N, k, k, k, k, N);
    fprintf(f, "\nend\n");
    fclose(f);
}

/* Confirmed by an explicit method, which needs no Jacobian, at a much smaller tolerance. */
static void test_sum_in_one_equation(void **state)
{
    (void)state;
    write_mean();
    RunRequest request = { .path = path, .solver = "dopri5", .stop = 1, .interval = 1, .tolerance = 1e-10 };
    RunResult *exact = run_model(&request);
    expect_done(exact);
    request.solver = "cvode-bdf";
    request.tolerance = 1e-7;
    RunResult *r = run_model(&request);
    expect_done(r);
    expect_near(run_last(r, "x1"), run_last(exact, "x1"), 1e-5);
    expect_near(run_last(r, "x600"), run_last(exact, "x600"), 1e-5);
    assert_true(r->report.statistics.integration.nonlinear_iterations < 2 * r->report.statistics.integration.steps);
    run_free(r);
    run_free(exact);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = { "branches.dym", "mean.dym" };
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_branches_at_a_node),
        cmocka_unit_test(test_whole_jacobian_is_sparse),
        cmocka_unit_test(test_sum_in_one_equation),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
