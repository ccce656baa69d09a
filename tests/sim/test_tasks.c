/* Tasks by naming knowns and unknowns; expected values are closed forms. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/tasks/"

static void set_references(KoineModel *model)
{
    set_value(model, "rq", 1);
    set_value(model, "rqd", 2);
}

/* spec 5.15: q = Kv(1 + 1/T)(rqd + Kp rq)/(c + Kp Kv(1 + 1/T)) = 9*12/(50 + 90). */
static const double REST = 9.0 * 12 / 140;

static void check_rest(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "rob5.q"), REST, 1e-14);
    expect_near(run_last(r, "rob5.qd"), 0, 1e-14);
    expect_near(run_last(r, "rob5.u"), 50 * REST, 1e-12);
    expect_near(run_last(r, "rob5.x"), (2 + 10 * (1 - REST)) / 0.5, 1e-12);
}

static void test_ot044_unknown_states_make_a_steady_state(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "stat.dym", .stop = 0, .prepare = set_references }, check_rest);
}

static void check_drive_at_rest(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "q"), REST, 1e-13);
    expect_near(run_last(r, "qd"), 0, 1e-13);
}

/* The same task without a word in the model; and a run that begins there stays there. */
static void test_ot044_steady_from_outside(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "drive.dym", .task = "steady", .stop = 0, .prepare = set_references },
                     check_drive_at_rest);
    run_in_all_tiers(
        (RunRequest){ .path = HERE "drive.dym", .task = "steady q, steady qd", .stop = 0, .prepare = set_references },
        check_drive_at_rest);
    run_in_all_tiers(
        (RunRequest){ .path = HERE "drive.dym", .task = "start steady", .stop = 3, .prepare = set_references },
        check_drive_at_rest);
}

/* f = m a + d v + c x with a = 2, v = 2t, x = t^2: the force that gives this motion. */
static void check_inverse(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time;
        expect_near(r->rows[k].values[run_column(r, "f")], 2 * 2 + 0.5 * 2 * t + 3 * t * t, 1e-7);
    }
}

static void test_ot045_inverse_model_by_its_acceleration(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = HERE "mass.dym", .task = "unknown f, known der(v) = 2", .stop = 2, .interval = 0.5 },
        check_inverse);
}

/* x, v and their derivatives known, u unknown: nothing is integrated. */
static void check_given(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "f"), 2 * 2 + 0.5 * 0.5 + 3 * 1, 1e-14);
    expect_near(run_last(r, "der(x)"), 0.5, 1e-15);
}

static void test_ot045_states_and_derivatives_known(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "mass.dym",
                                   .task = "known x = 1, known v = 0.5, known der(v)=2, unknown f",
                                   .stop = 0 },
                     check_given);
}

/* Explicit equations are solved for something else: level = (inflow/k)^2 = 4, nonlinear. */
static void check_tank(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "level"), 4, 1e-10);
    expect_near(run_last(r, "out"), 0.6, 1e-12);
}

static void test_ot044_steady_state_of_explicit_equations(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "tank.ir", .task = "steady", .stop = 0 }, check_tank);
    run_in_all_tiers((RunRequest){ .path = HERE "tank.ir", .task = "start steady level", .stop = 5 }, check_tank);
}

/* A parameter is found: k = inflow/sqrt(level) for a tank that rests at its start value 1. */
static void check_parameter(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "k"), 0.6, 1e-14);
}

static void test_ot044_an_unknown_parameter(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = HERE "tank.ir", .task = "unknown k, known level = 1, known der(level) = 0", .stop = 0 },
        check_parameter);
}

/* Which force holds the mass at 2? c*x; v is at rest, too. */
static void check_held(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "x"), 2, 0);
    expect_near(run_last(r, "v"), 0, 1e-14);
    expect_near(run_last(r, "f"), 6, 1e-13);
}

static void test_ot044_at_rest_where_it_is_known(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "mass.dym", .task = "steady, unknown f, known x = 2", .stop = 0 },
                     check_held);
    run_in_all_tiers((RunRequest){ .path = HERE "mass.dym", .task = "known x = 2, steady, unknown f", .stop = 0 },
                     check_held);
}

/* ---- mistakes ---- */
static void expect_refused(const char *file, const char *task, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, HERE "%s", file);
    RunResult *r = run_model(&(RunRequest){ .path = path, .task = task, .stop = 0 });
    assert_false(r->is_compiled);
    fail_if(!strstr(r->messages, text), "%s", r->messages);
    run_free(r);
}

static void test_ot044_wrong_counts_name_what_has_no_equation(void **state)
{
    (void)state;
    expect_refused(
        "tank.ir", "unknown inflow",
        "KN2112: too few equations: 2 unknowns have only 1 equation; 'inflow' stands in one equation only\n");
    expect_refused("tank.ir", "unknown inflow", "unknown 'der(level)'");
    expect_refused("tank.ir", "known out = 1", "KN2112: too many equations: 1 equation for 0 unknowns\n");
}

static void test_kn2160_what_cannot_be_known(void **state)
{
    (void)state;
    expect_refused("tank.ir", "known der(inflow) = 1",
                   "error KN2160: 'der(inflow)' cannot be known: it has no derivative\n");
    expect_refused("tank.ir", "start steady A", "error KN2160: 'A' cannot be at rest: it has no derivative\n");
}

static void test_kn2161_named_twice(void **state)
{
    (void)state;
    expect_refused("tank.ir", "steady, unknown level", "error KN2161: the task names 'level' twice\n");
}

static void test_kn3010_task_text(void **state)
{
    (void)state;
    expect_refused("tank.ir", "stedy", "error KN3010: 'stedy' in the task: it begins with none of the words\n");
    expect_refused("tank.ir", "known level = high",
                   "error KN3010: 'known level = high' in the task: what stands behind '=' is not a number\n");
    expect_refused("tank.ir", "start level",
                   "error KN3010: 'start level' in the task: `start` is followed by `steady`\n");
    expect_refused("tank.ir", "unknown", "error KN3010: 'unknown' in the task: a name is missing\n");
    expect_refused("tank.ir", "unknown der(level)",
                   "error KN3010: 'unknown der(level)' in the task: derivatives are unknown unless they are known\n");
    expect_refused("tank.ir", "", "error KN3010: '' in the task: it begins with none of the words\n");
}

static void test_kn3011_no_such_quantity(void **state)
{
    (void)state;
    expect_refused(
        "tank.ir", "unknown levl",
        "error KN3011: the task names 'levl', which the model does not have\n  help: did you mean 'level'?\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot044_unknown_states_make_a_steady_state),
        cmocka_unit_test(test_ot044_steady_from_outside),
        cmocka_unit_test(test_ot045_inverse_model_by_its_acceleration),
        cmocka_unit_test(test_ot045_states_and_derivatives_known),
        cmocka_unit_test(test_ot044_steady_state_of_explicit_equations),
        cmocka_unit_test(test_ot044_an_unknown_parameter),
        cmocka_unit_test(test_ot044_at_rest_where_it_is_known),
        cmocka_unit_test(test_ot044_wrong_counts_name_what_has_no_equation),
        cmocka_unit_test(test_kn2160_what_cannot_be_known),
        cmocka_unit_test(test_kn2161_named_twice),
        cmocka_unit_test(test_kn3010_task_text),
        cmocka_unit_test(test_kn3011_no_such_quantity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
