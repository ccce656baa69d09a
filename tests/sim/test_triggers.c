/* Transitions of the start, of steps, of entries, and who asks whether they fire: in all tiers, values by hand. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/triggers/"

static void expect_values(const RunResult *r, double time, uint32_t n, const char *const *names, const double *values)
{
    for (uint32_t k = 0; k < n; k++)
        expect_near(run_at(r, names[k], time), values[k], 0);
}

/* What acts now does so while the initial system is solved, what acts next in the first instant. x passes 2 at 1. */
static void check_initial(const RunResult *r)
{
    static const char *const names[] = { "k", "either", "r", "s", "seen", "guarded", "z", "n", "w", "late", "b" };
    expect_done(r);
    expect_values(r, 0, 11, names, (const double[]){ 5, 8, 1, 0, 8, 6, 10, 2, 3, 1, 0 });
    expect_values(r, 3, 11, names, (const double[]){ 5, 9, 2, 0, 8, 6, 10, 2, 3, 1, 0 });
    assert_string_equal(r->output, "once\nat 1\nbegin\nat 2\n");
}

static void test_m11_transitions_of_the_start_fire_once(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "initial.ir", .stop = 3, .interval = 1 }, check_initial);
}

/* Eight steps of 0.5; of those that end behind 1.25 there are six, of these four end before 3. */
static void check_step(const RunResult *r)
{
    static const char *const names[] = { "always", "never", "both", "now", "seen", "held" };
    expect_done(r);
    expect_values(r, 1.5, 6, names, (const double[]){ 3, 0, 1, 1, 3, 2 });
    expect_values(r, 4, 6, names, (const double[]){ 8, 0, 3, 6, 8, 4 });
}

static void test_m11_transitions_of_steps_have_any_number_of_conditions(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODELS "step.ir", .stop = 4, .interval = 0.5, .solver = "euler", .step = 0.5 },
        check_step);
}

/* x[i] passes 2 at 2/i: that a transition over a range fires is seen once for each of them. */
static void check_ranges(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "m", 0.6), 1, 0);
    expect_near(run_at(r, "m", 0.8), 2, 0);
    expect_near(run_at(r, "m", 1.2), 3, 0);
    expect_near(run_last(r, "m"), 4, 0);
    expect_near(run_last(r, "ticks"), 4, 0);
    expect_near(run_last(r, "levels"), 4, 0);
}

static void test_m11_fired_of_ticks_levels_and_ranges(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "ranges.ir", .stop = 4, .interval = 0.2 }, check_ranges);
}

/* Entry 3 is called twice at 1, then 12, whose guard does not hold yet; der(x) = 2 from there on. */
static void call_entries(KoineModel *model)
{
    const KoineCallables *callables = &model->kind->tables->callables;
    assert_int_equal(callables->n_entries, 2);
    assert_string_equal(callables->entries[0].name, "go");
    assert_int_equal(callables->entries[1].numerator, 12);
    assert_int_equal(model->kind->foreign.entry(model, 0), KOINE_OK);
    assert_int_equal(model->kind->foreign.entry(model, 0), KOINE_OK);
    assert_int_equal(model->kind->foreign.entry(model, 1), KOINE_OK);
    assert_int_equal(model->kind->foreign.entry(model, 2), KOINE_ABSENT);
}

static void check_entries(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "x", 1), 0, 0);
    expect_near(run_last(r, "n"), 2, 0);
    expect_near(run_last(r, "m"), 2, 0);
    expect_near(run_last(r, "k"), 1, 0);
    expect_near(run_last(r, "x"), 4, 1e-12);
    assert_string_equal(r->output, "go at 0\ngo at 0\n");
}

static void test_m11_entries_are_called_from_outside(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODELS "entry.ir", .stop = 3, .interval = 1, .pause = 1, .between = call_entries },
        check_entries);
}

/* Four edges of x > 0.5, which holds at the start. */
static void check_at_the_start(const RunResult *r)
{
    expect_done(r);
    for (double time = 0; time <= 1; time++) {
        expect_near(run_at(r, "k", time), 0, 0); /* it held before, too */
        expect_near(run_at(r, "n", time), 1, 0); /* at the start, by `initial` */
        expect_near(run_at(r, "m", time), 1, 0); /* it was false before */
        expect_near(run_at(r, "q", time), 0, 0);
    }
}

static void test_m11_what_holds_at_the_start_does_not_rise_there(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "at_the_start.ir", .stop = 1, .interval = 1 }, check_at_the_start);
}

/* The level fires in three steps at the start, and in three at 1: it begins to fire once after the start. */
static void check_levels(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "k", 0), 0, 0);
    expect_near(run_at(r, "n", 0), 3, 0);
    expect_near(run_last(r, "k"), 1, 0);
    expect_near(run_last(r, "n"), 3, 0);
}

static void test_m11_that_a_level_begins_to_fire_is_seen(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "levels.ir", .stop = 2, .interval = 1 }, check_levels);
}

/* z is x at the end of the step before: x falls as 0.875^k. At a crossing behind an instant the step ends there,
 * although each step ends with an instant. */
static void check_step_and_root(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "x", 1.125), pow(0.875, 9), 1e-12);
    expect_near(run_last(r, "n"), 17, 0);
    expect_near(run_last(r, "m"), 1, 0);
    assert_int_equal(r->report.statistics.events.state_events, 1);
}

static void test_m11_a_crossing_behind_a_step_is_found(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODELS "step_and_root.ir", .stop = 2, .interval = 1, .solver = "rk4", .step = 0.125 },
        check_step_and_root);
}

/* lowering.md 2.5, `when` of Modelica with reinit: the third contact of a ball that falls from 1 and keeps half of its
 * speed, at 2.5*sqrt(2/g). In step 0 what acts now has happened, k = 3, b and flying = false, one after the other; v is
 * the left limit, and so is pre(v). The commit sets v. In step 1 there is no edge any more: its commit
 * only makes pre(v) what v is, as for everything whose value before is read. */
static void check_reinit(const RunResult *r)
{
    const double first = sqrt(2 / 9.81), third = 2.5 * first, speed = sqrt(2 * 9.81);
    uint32_t n_steps = 0, last = 0;
    expect_done(r);
    while (last < r->n_rows && fabs(r->rows[last].time - third) > 1e-6)
        last++;
    for (uint32_t k = last; k < r->n_rows && r->rows[k].time <= r->rows[last].time; k++) {
        const double *v = r->rows[k].values;
        last = k;
        if (r->rows[k].kind != KOINE_POINT_STEP)
            continue;
        assert_int_equal(r->rows[k].event_step, n_steps++);
        expect_near(v[run_column(r, "k")], 3, 0);
        expect_near(v[run_column(r, "b")], 1, 0);
        expect_near(v[run_column(r, "flying")], 0, 0);
        expect_near(v[run_column(r, "v")], n_steps == 1 ? -speed / 4 : speed / 8, 1e-6);
        expect_near(v[run_column(r, "v0")], -speed / 4, 1e-6);
    }
    assert_int_equal(n_steps, 2);
    assert_int_equal(r->rows[last].event_step, 2);
    expect_near(r->rows[last].values[run_column(r, "v")], speed / 8, 1e-6);
    expect_near(r->rows[last].values[run_column(r, "k")], 3, 0);
    expect_near(run_last(r, "h"), speed / 8 * (2 - third), 1e-6); /* it flies on without weight */
}

static void test_m12_when_of_modelica_with_reinit(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){
            .path = MODELS "reinit.ir", .stop = 2, .interval = 1, .tolerance = 1e-9, .every_event_step = true },
        check_reinit);
}

/* y passes 1 at 0.3: until then no condition rises but the one whose edge begins with false. */
static void check_true_at_the_start(const RunResult *r)
{
    static const char *const names[] = { "n", "m", "q", "r", "s" };
    expect_done(r);
    expect_values(r, 0, 5, names, (const double[]){ 0, 0, 0, 0, 1 });
    expect_values(r, 1, 5, names, (const double[]){ 0, 0, 1, 0, 1 });
}

static void test_m11_what_holds_at_the_start_does_not_fire_next(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "true_at_the_start.ir", .stop = 1, .interval = 1 },
                     check_true_at_the_start);
}

/* x passes 0 at 1.2617 downwards and at 1.8799 upwards: only there sin(x) > tanh(x) rises. */
static void check_flat(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "n", 1.85), 0, 0);
    expect_near(run_last(r, "n"), 1, 0);
    expect_near(run_last(r, "x0"), 0.2 + sin(6) / 3, 1e-6);
}

static void test_s8_comparisons_that_are_flat_where_they_cross(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){
            .path = KOINE_SOURCE_DIR "/tests/sim/events/flat.ir", .stop = 2, .interval = 0.05, .tolerance = 1e-7 },
        check_flat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_m11_transitions_of_the_start_fire_once),
        cmocka_unit_test(test_m11_transitions_of_steps_have_any_number_of_conditions),
        cmocka_unit_test(test_m11_fired_of_ticks_levels_and_ranges),
        cmocka_unit_test(test_m11_what_holds_at_the_start_does_not_rise_there),
        cmocka_unit_test(test_m11_that_a_level_begins_to_fire_is_seen),
        cmocka_unit_test(test_m11_a_crossing_behind_a_step_is_found),
        cmocka_unit_test(test_m12_when_of_modelica_with_reinit),
        cmocka_unit_test(test_m11_entries_are_called_from_outside),
        cmocka_unit_test(test_m11_what_holds_at_the_start_does_not_fire_next),
        cmocka_unit_test(test_s8_comparisons_that_are_flat_where_they_cross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
