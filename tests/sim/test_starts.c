/* Where the solution of a nonlinear system begins: found whenever a system is solved for the first time in a run,
 * whatever depends on it, then followed. Expected values are closed forms, or the equations themselves. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static char path[64];

static void write_model(const char *lines)
{
    snprintf(path, sizeof path, "/tmp/koine-starts-%d.dym", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "model m\n%send\n", lines);
    fclose(file);
}

static void in_all_tiers(const char *lines, RunRequest request, void (*check)(const RunResult *result))
{
    write_model(lines);
    request.path = path;
    run_in_all_tiers(request, check);
    unlink(path);
}

/* ---- the first solution is searched for ---- */
/* z*z = 4 + t from z = 0, where the Jacobian is 0. */
static void check_root_of_time(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.model.solved_from_start, 1);
    for (uint32_t k = 0; k < r->n_rows; k++)
        expect_near(r->rows[k].values[run_column(r, "z")], sqrt(4 + r->rows[k].time), 1e-12);
}

static void test_first_solution_of_an_output_is_searched_for(void **state)
{
    (void)state;
    in_all_tiers("local z\nz*z = 4 + Time\n", (RunRequest){ .stop = 5, .interval = 1 }, check_root_of_time);
    in_all_tiers("local z, b\nz*z = 4 + Time\nb = z > 100\n", (RunRequest){ .stop = 5, .interval = 1 },
                 check_root_of_time);
}

/* der(x) = -z, z*z = x, x(0) = 4: z = 2 - t/2. */
static void check_square(const RunResult *r)
{
    expect_done(r);
    assert_int_equal(r->report.statistics.model.solved_from_start, 1);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double z = 2 - r->rows[k].time / 2;
        expect_near(r->rows[k].values[run_column(r, "z")], z, 1e-7);
        expect_near(r->rows[k].values[run_column(r, "x")], z * z, 1e-7);
    }
}

static void test_first_solution_of_a_slope_is_searched_for(void **state)
{
    (void)state;
    static const char *const solvers[] = { "auto", "cvode-bdf", "ida", "rk4" };
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        const RunRequest request = {
            .stop = 2, .interval = 0.5, .tolerance = 1e-8, .solver = solvers[k], .step = 0.01
        };
        in_all_tiers("local x = 4, z\nder(x) = -z\nz*z = x\n", request, check_square);
        in_all_tiers("local x = 4, z, b\nder(x) = -z\nz*z = x\nb = z > 100\n", request, check_square);
    }
}

static void check_two(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double *v = r->rows[k].values;
        const double x = v[run_column(r, "x")], z = v[run_column(r, "z")], w = v[run_column(r, "w")];
        expect_near(z * z + w, x, 1e-9);
        expect_near(w * w, 1 + z, 1e-9);
    }
    expect_near(r->rows[0].values[run_column(r, "x")], 4, 0);
}

static void test_first_solution_of_two_equations_is_searched_for(void **state)
{
    (void)state;
    const RunRequest request = { .stop = 1, .interval = 0.25 };
    in_all_tiers("local x = 4, z, w\nder(x) = -z\nz*z + w = x\nw*w = 1 + z\n", request, check_two);
    in_all_tiers("local x = 4, z, w, b\nder(x) = -z\nz*z + w = x\nw*w = 1 + z\nb = w > 100\n", request, check_two);
}

/* x^3 - 3x = 1 - t begins at 2*cos(20 degrees); 1 is a place where the Jacobian is 0. The solution is followed as long
 * as there is one: from t = 3 on, where x is 1, there is none nearby. */
static const double BRANCH = 1.8793852415718169;
static void check_branch(const RunResult *r)
{
    expect_done(r);
    expect_near(r->rows[0].values[run_column(r, "x")], BRANCH, 1e-13);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double x = r->rows[k].values[run_column(r, "x")];
        expect_near(x * x * x - 3 * x, 1 - r->rows[k].time, 1e-9);
        assert_true(x > 1);
    }
}

static void test_start_value_where_the_jacobian_is_singular(void **state)
{
    (void)state;
    in_all_tiers("local x = 1\nlocal p\np = 1 - Time\nx*x*x - 3*x = p\n", (RunRequest){ .stop = 2.5, .interval = 0.5 },
                 check_branch);
    in_all_tiers("local x = 1\nlocal p, b\np = 1 - Time\nx*x*x - 3*x = p\nb = x > 100\n",
                 (RunRequest){ .stop = 2.5, .interval = 0.5 }, check_branch);
}

/* ---- then it is followed ---- */
/* One point at t = 0 and one at 2.9999: a single iteration from x = 1.88 would step over the bend at x = 1. */
static void test_outputs_are_followed_in_smaller_steps(void **state)
{
    (void)state;
    in_all_tiers("local x = 2\nlocal p\np = 1 - Time\nx*x*x - 3*x = p\n",
                 (RunRequest){ .stop = 2.9999, .interval = 2.9999 }, check_branch);
}

static void test_the_end_of_a_solution_is_told(void **state)
{
    (void)state;
    write_model("local x = 2\nlocal p\np = 1 - Time\nx*x*x - 3*x = p\n");
    RunResult *r = run_model(&(RunRequest){ .path = path, .stop = 4, .interval = 0.4 });
    unlink(path);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    expect_near(r->report.time, 3, 1e-6);
    assert_non_null(strstr(r->report.text, "the solution that was followed may end here"));
    run_free(r);
}

/* A continued run may find anything written into its variables: what it finds is searched for again. */
static void spoil(KoineModel *model)
{
    set_value(model, "x", 9);
}

static void test_a_continued_run_searches_again(void **state)
{
    (void)state;
    write_model("local x = 4, z\nder(x) = -z\nz*z = x\n");
    RunResult *r = run_model(
        &(RunRequest){ .path = path, .stop = 2, .interval = 0.5, .tolerance = 1e-8, .pause = 1, .between = spoil });
    unlink(path);
    expect_done(r);
    expect_near(run_last(r, "z"), 2.5, 1e-7); /* z = 3 - (t - 1)/2 */
    run_free(r);
}

/* Of matchings that are as large, the one that leaves the chosen states their start values; elements of arrays that are
 * given do not make an equation one of arrays. der(b) = 0, der(c) = 0; the energy of the pendulum stays. */
static void check_initial_beside(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "b", 0), 0.375, 1e-12);
    expect_near(run_last(r, "b"), 0.375, 1e-12);
    expect_near(run_at(r, "c", 0), tanh(0.68) / 0.8, 1e-12);
    expect_near(run_at(r, "px", 0), 0.6, 1e-12);
    expect_near(run_at(r, "py", 0), -0.8, 1e-9);
    expect_near(run_at(r, "pw", 0), 0.375, 1e-9);
    const double v = run_last(r, "pv"), w = run_last(r, "pw"), y = run_last(r, "py");
    expect_near((v * v + w * w) / 2 + y, (0.25 + 0.375 * 0.375) / 2 - 0.8, 1e-6);
}

static void test_initial_equations_beside_states_that_are_chosen(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){
            .path = KOINE_SOURCE_DIR "/tests/sim/ir/initial_beside.ir", .stop = 1, .interval = 1, .tolerance = 1e-9 },
        check_initial_beside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_solution_of_an_output_is_searched_for),
        cmocka_unit_test(test_first_solution_of_a_slope_is_searched_for),
        cmocka_unit_test(test_first_solution_of_two_equations_is_searched_for),
        cmocka_unit_test(test_start_value_where_the_jacobian_is_singular),
        cmocka_unit_test(test_outputs_are_followed_in_smaller_steps),
        cmocka_unit_test(test_the_end_of_a_solution_is_told),
        cmocka_unit_test(test_a_continued_run_searches_again),
        cmocka_unit_test(test_initial_equations_beside_states_that_are_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
