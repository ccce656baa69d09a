/* Algorithms and procedures of transitions, in all tiers, against closed forms and values computed by hand. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/procedures/"

/* x' = -2x down to 0.5, at t = ln(2)/2; then x' = -0.5. */
static void check_branches(const RunResult *r)
{
    expect_done(r);
    const double t = log(2) / 2;
    expect_near(run_at(r, "x", 0.25), exp(-0.5), 1e-6);
    expect_near(run_at(r, "y", 0.25), 2 * exp(-0.5), 2e-6);
    expect_near(run_last(r, "x"), 0.5 - 0.5 * (2.5 - t), 1e-6);
    expect_near(run_last(r, "y"), 7, 0);
    expect_near(run_at(r, "n", 0.75), 0, 0);
    expect_near(run_at(r, "n", 1.25), 1, 0);
    expect_near(run_last(r, "n"), 3, 0);
    assert_int_equal(r->report.statistics.events.state_events, 1); /* comparisons of an algorithm are events */
}

static void test_m8_branches_of_an_algorithm_are_events(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "branches.ir", .stop = 2.5, .interval = 0.25 }, check_branches);
}

/* r is the root of x = 1 + t by Newton's method; der(z) = r integrates to 2/3 ((1 + t)^1.5 - 1). */
static void check_loop(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++)
        expect_near(r->rows[k].values[run_column(r, "r")], sqrt(1 + r->rows[k].time), 1e-12);
    expect_near(run_last(r, "z"), 2.0 / 3 * (pow(3, 1.5) - 1), 1e-6);
}

static void test_m8_a_loop_is_executed_as_a_whole(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "loop.ir", .stop = 2, .interval = 0.5, .tolerance = 1e-8 },
                     check_loop);
}

/* At t = 1, n counts and h sees the new n; at 2 again. */
static void check_now(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "h", 0.5), 0, 0);
    expect_near(run_at(r, "n", 1.5), 1, 0);
    expect_near(run_at(r, "h", 1.5), 0, 0);
    expect_near(run_at(r, "n", 2.5), 2, 0);
    expect_near(run_at(r, "h", 2.5), 20, 0);
}

static void test_m12_a_procedure_that_acts_now_holds_what_it_does_not_assign(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "now.ir", .stop = 3, .interval = 0.5 }, check_now);
}

/* Statements run in order on copies: a = 0 -> 2 -> 4 -> 6; b is written by the other transition at t = 1, as this one
 * does not reach its assignment; at t = 3 this one writes it. */
static void check_next(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "a", 0.5), 0, 0);
    expect_near(run_at(r, "a", 1.5), 6, 0);
    expect_near(run_at(r, "b", 1.5), 77, 0);
    expect_near(run_last(r, "b"), 6, 0);
    expect_near(run_last(r, "c"), 60, 0); /* reads what was assigned before it */
}

static void test_m12_a_procedure_that_acts_next_writes_only_what_it_assigned(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "next.ir", .stop = 4, .interval = 0.5 }, check_next);
}

/* Both assign b in one step, the second one behind a condition that holds. */
static void test_s14_two_procedures_that_assign_one_variable_are_refused(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = MODELS "conflict.ir", .stop = 4, .interval = 0.5 });
    assert_true(r->is_compiled);
    assert_int_equal(r->report.fault.cause, KOINE_CAUSE_CONFLICT);
    expect_near(r->report.time, 1, 1e-12);
    run_free(r);
}

/* x = 2*2*2*2, y = 3x, n = 4: then both states decay. */
static void check_initial(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "x", 0), 16, 0);
    expect_near(run_at(r, "y", 0), 48, 0);
    expect_near(run_last(r, "n"), 4, 0);
    expect_near(run_last(r, "x"), 16 * exp(-1), 16e-6);
}

static void test_m8_an_algorithm_of_the_start_sets_states_and_discrete_variables(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "initial.ir", .stop = 1, .interval = 0.5, .tolerance = 1e-8 },
                     check_initial);
}

/* Inside of an algorithm a comparison behind fired() is looked at when it fires only: x passes 2.5 without an event. */
static void check_fired(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "n", 0.5), 0, 0);
    expect_near(run_at(r, "n", 1.5), 1, 0); /* at x = 2, below 2.5 */
    expect_near(run_last(r, "n"), 11, 0);   /* at x = 4 */
    assert_int_equal(r->report.statistics.events.state_events, 2);
}

static void test_m8_fired_guards_statements_of_an_algorithm(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "fired.ir", .stop = 4, .interval = 0.5 }, check_fired);
}

/* lowering.md 2.5, the impulse of MUSS: at t = per step 0 sees the edge, step 1 the pulse, step 2 its end. */
static void check_pulse(const RunResult *r)
{
    expect_done(r);
    const uint32_t y = run_column(r, "y"), n = run_column(r, "n");
    double ups = 0;
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const RunRow *row = &r->rows[k];
        ups += row->values[y];
        if (row->kind == KOINE_POINT_STEP)
            expect_near(row->values[y], row->event_step == 1, 0);
        if (row->kind == KOINE_POINT_STEP && row->event_step == 0)
            expect_near(row->values[n], round(row->time / 0.5) - 1, 0);
    }
    expect_near(ups, 4, 0);
    expect_near(run_last(r, "n"), 4, 0);
    expect_near(run_last(r, "b"), 4, 0); /* a level transition fires once for each pulse */
    expect_near(run_last(r, "start_"), 2, 0);
}

static void test_m5_a_pulse_is_up_for_one_step(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "pulse.ir", .stop = 2.2, .interval = 0.25, .every_event_step = true },
                     check_pulse);
}

/* At x = 1 the z of a transition that acts now is there in step 0, at x = 2 the y of the other one in step 1; before
 * and behind there are the defaults, that of y changes at 2. */
static void check_default(const RunResult *r)
{
    expect_done(r);
    const uint32_t y = run_column(r, "y"), z = run_column(r, "z");
    uint32_t n_now = 0, n_next = 0;
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const RunRow *row = &r->rows[k];
        const bool is_now = row->kind == KOINE_POINT_STEP && row->time < 1.5 && row->event_step == 0;
        const bool is_next = row->kind == KOINE_POINT_STEP && row->time > 1.5 && row->event_step == 1;
        const bool is_late = row->time > 2 || (row->kind == KOINE_POINT_STEP && row->time > 1.5 && row->event_step > 1);
        if (row->time < 1.9 || row->kind == KOINE_POINT_GRID || is_next)
            expect_near(row->values[y], is_next ? 2.5 : is_late ? 2 : 1, 0);
        expect_near(row->values[z], is_now ? 5 : 4, 0);
        n_now += is_now;
        n_next += is_next;
    }
    expect_near(n_now, 1, 0);
    expect_near(n_next, 1, 0);
    expect_near(run_last(r, "y"), 2, 0);
}

static void test_m5_a_pulse_has_its_default_otherwise(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "default.ir", .stop = 3, .interval = 0.3, .every_event_step = true },
                     check_default);
}

static bool is_step(const RunRow *row, double time, uint32_t event_step)
{
    return row->kind == KOINE_POINT_STEP && fabs(row->time - time) < 1e-6 && row->event_step == event_step;
}

static void expect_array(const RunResult *r, const RunRow *row, const char *name, uint32_t n, const double *values)
{
    for (uint32_t k = 0; k < n; k++)
        expect_near(row->values[run_column(r, name) + k], values[k], 1e-6);
}

/* x = t: what acts next is up in step 1 at 1 and at 1.5, what acts now in step 0 at 0.7. */
static void check_whole_pulses(const RunResult *r)
{
    expect_done(r);
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const RunRow *row = &r->rows[k];
        const bool first = is_step(row, 1, 1), second = is_step(row, 1.5, 1), now = is_step(row, 0.7, 0);
        n += first + second + now;
        expect_array(r, row, "y[1]", 3,
                     first    ? (const double[]){ 2, 4, 6 }
                     : second ? (const double[]){ 0.5, 1, 2 }
                              : (const double[]){ 0.5, 0.5, 0.5 });
        expect_array(r, row, "z[1]", 3, first || second ? (const double[]){ 1, 2, 3 } : (const double[]){ 7, 8, 9 });
        expect_array(r, row, "w[1]", 4,
                     first    ? (const double[]){ 2, 2, 2, 2 }
                     : second ? (const double[]){ 1, 1.5, 1.5, 2 }
                              : (const double[]){ 0, 0, 0, 0 });
        expect_array(r, row, "b[1]", 3, now ? (const double[]){ 2, 4, 6 } : (const double[]){ 0, 0, 0 });
    }
    expect_near(n, 3, 0);
    expect_near(run_last(r, "n"), 1, 0);
    expect_near(run_last(r, "m"), 1, 0);
}

static void test_m5_arrays_and_texts_are_pulses(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODELS "whole_pulses.ir", .stop = 2, .interval = 0.3, .every_event_step = true },
        check_whole_pulses);
}

/* Ticks up to 1: 0.2, 0.3 ... of k1; 0, 0.25 ... of k3; 0.125 ... of k4, none of them of k2; 0.075, 0.325 ... of k5;
 * 0, 1/12 ... of k6. x = exp(-t) is below 0.5 at 0.7, 0.8, 0.9, 1. */
static void check_ticks(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "n"), 9, 0);
    expect_near(run_last(r, "s5"), 5, 0);
    expect_near(run_last(r, "sh"), 4, 0);
    expect_near(run_last(r, "b"), 4, 0);
    expect_near(run_last(r, "m"), 13, 0);
    expect_near(run_last(r, "p"), 4, 0);
    expect_near(run_last(r, "u"), exp(-1), 1e-6);
    expect_near(run_at(r, "u", 0.75), exp(-0.7), 1e-6);
    double last = -1;
    for (uint32_t k = 0; k < r->n_rows; k++) /* the twelfths are these very numbers */
        if (r->rows[k].values[run_column(r, "m")] > last) {
            last = r->rows[k].values[run_column(r, "m")];
            assert_true(last < 1 || r->rows[k].time == (last - 1) / 12);
        }
}

static void test_s6_ticks_are_at_multiples(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "ticks.ir", .stop = 1, .interval = 0.25 }, check_ticks);
}

/* From 0.55 on: 0.6 ... 1 of k1, 0.75 and 1 of k3, 0.625 and 0.875 of k4, 0.575 and 0.825 of k5, 7/12 ... 1 of k6. */
static void check_late_ticks(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "n"), 5, 0);
    expect_near(run_last(r, "s5"), 2, 0);
    expect_near(run_last(r, "sh"), 2, 0);
    expect_near(run_last(r, "b"), 2, 0);
    expect_near(run_last(r, "m"), 6, 0);
}

static void test_s6_a_run_that_begins_later_begins_with_the_next_tick(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "ticks.ir", .start = 0.55, .stop = 1, .interval = 0.25 },
                     check_late_ticks);
}

/* A run that begins at a tick has it: start + 3*interval for many intervals. */
static void test_s6_a_run_that_begins_at_a_tick_has_it(void **state)
{
    (void)state;
    for (uint32_t k = 2; k < 40; k++) {
        const double start = 0.2 + k * 0.1;
        RunResult *r = run_model(&(RunRequest){
            .path = MODELS "ticks.ir", .tier = "interp", .start = start, .stop = start + 0.05, .interval = 0.05 });
        expect_done(r);
        expect_near(run_last(r, "n"), 1, 0);
        run_free(r);
    }
}

/* The end is seen once, with the values of the stop: x = exp(-2) < 0.2, so n is 1 + 10. */
static void check_terminal(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "n", 1), 0, 0);
    expect_near(run_last(r, "n"), 11, 0);
    expect_near(run_at(r, "m", 1), 1, 0); /* x < 0.5 */
    expect_near(run_last(r, "m"), 2, 0);  /* terminal in a condition */
    assert_string_equal(r->output, "end at 2 with x = 0.135335");
}

static void test_m11_the_end_is_told_once(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "terminal.ir", .stop = 2, .interval = 1, .tolerance = 1e-8 },
                     check_terminal);
}

/* A run that the model ends has its end there: x = 0.1 at ln 10. */
static void test_m11_the_end_is_told_where_the_model_ends_the_run(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = MODELS "terminal.ir", .stop = 5, .interval = 1 });
    assert_int_equal(r->report.end, KOINE_RUN_TERMINATED);
    expect_near(r->report.time, log(10), 1e-5);
    expect_near(run_last(r, "n"), 11, 0);
    run_free(r);
}

/* y = 2x, s their sum; at tick n q[n] = 10n and, up to the second, q[4] = 7; from the third on q[1] = q[n] + q[2], and
 * the statement behind `return` is not reached. */
static void check_arrays(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double *v = r->rows[k].values, t = r->rows[k].time;
        expect_near(v[run_column(r, "y[2]")], 2 * exp(-2 * t), 1e-7);
        expect_near(v[run_column(r, "s")], 2 * (exp(-t) + exp(-2 * t) + exp(-3 * t)), 1e-6);
    }
    static const double q[4][4] = { { 10, 0, 0, 7 }, { 10, 20, 0, 7 }, { 50, 20, 30, 7 }, { 60, 20, 30, 40 } };
    for (uint32_t tick = 0; tick < 4; tick++)
        for (uint32_t k = 0; k < 4; k++) {
            char name[8];
            snprintf(name, sizeof name, "q[%u]", k + 1);
            expect_near(run_at(r, name, 0.25 * (tick + 1)), q[tick][k], 0);
        }
    expect_near(run_last(r, "h[2]"), 4.5, 0);
    expect_near(run_last(r, "h[3]"), 9, 0);
    expect_near(run_last(r, "h[1]"), 0.5, 0);
}

static void test_m12_elements_of_arrays_in_procedures(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "arrays.ir", .stop = 1, .interval = 0.5, .tolerance = 1e-9 },
                     check_arrays);
}

/* x = t. y[i] is put up at i/2, for one step each; v[1, 2] with it, beside its default 2; w[i] at 0.4*i by a transition
 * that acts now, in the step itself; v[2, 1] = -0.8 with the second of these. */
static void check_pulse_arrays(const RunResult *r)
{
    expect_done(r);
    for (uint32_t i = 1; i <= 3; i++) {
        char n[8];
        snprintf(n, sizeof n, "n[%u]", i);
        expect_near(run_at(r, n, 0.25), 0, 0);
        expect_near(run_last(r, n), 1, 0);
    }
    expect_near(run_last(r, "m"), 3, 0);
    expect_near(run_last(r, "up"), 1, 0);
    expect_near(run_last(r, "total"), 3 * 5 - 0.8, 1e-9);
    double ups = 0, values = 0, others = 0;
    for (uint32_t k = 0; k < r->n_rows; k++) {
        if (r->rows[k].kind != KOINE_POINT_STEP)
            continue;
        const double *v = r->rows[k].values;
        ups += v[run_column(r, "y[1]")] + v[run_column(r, "y[2]")] + v[run_column(r, "y[3]")];
        values += v[run_column(r, "v[2]")] == 5;
        for (uint32_t i = 0; i < 3; i++)
            others += v[run_column(r, "w[1]") + i] == i + 1;
    }
    expect_near(ups, 3, 0);
    expect_near(values, 3, 0);
    expect_near(others, 3, 0);
    expect_near(run_last(r, "v[2]"), 2, 0);
    expect_near(run_last(r, "w[3]"), 30, 0);
}

static void test_m5_elements_of_pulses_are_up_for_one_step_each(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODELS "pulse_arrays.ir", .stop = 2, .interval = 0.25, .every_event_step = true },
        check_pulse_arrays);
}

/* A procedure that reads nothing, and a function without inputs: each result is its own. */
static void check_without_inputs(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "a"), 2.5, 0);
    expect_near(run_last(r, "n"), 7, 0);
    expect_near(run_last(r, "b"), 1.5, 0);
    expect_near(run_last(r, "k"), 3, 0);
}

static void test_results_without_inputs_are_told_apart(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "without_inputs.ir", .stop = 1, .interval = 0.5 },
                     check_without_inputs);
}

/* x = t passes the levels 0.25, 1 and 1.75; flow is the sum of i*(t - level i) above them, z the sum of the squares. */
static void check_small_arrays(const RunResult *r)
{
    static const double level[] = { 0.25, 1, 1.75 };
    expect_done(r);
    assert_null(strstr(r->messages, "KN2129"));
    assert_int_equal(r->report.statistics.events.state_events + r->report.statistics.events.time_events, 3);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time;
        double flow = 0, z = 0, n = 0;
        for (int i = 0; i < 3; i++) {
            const double above = fmax(t - level[i], 0);
            flow += (i + 1) * above;
            z += (i + 1) * above * above / 2;
            n += above > 0;
            expect_near(r->rows[k].values[run_column(r, "open[1]") + (uint32_t)i], above, 1e-9);
            if (fabs(t - level[i]) < 1e-6)
                n = NAN;
        }
        expect_near(r->rows[k].values[run_column(r, "flow")], flow, 1e-9);
        expect_near(r->rows[k].values[run_column(r, "z")], z, 1e-8);
        if (!isnan(n))
            expect_near(r->rows[k].values[run_column(r, "n")], n, 0);
    }
}

static void test_m8_comparisons_in_loops_over_small_arrays_are_events(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "small_arrays.ir", .stop = 3, .interval = 0.1, .tolerance = 1e-9 },
                     check_small_arrays);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_m5_elements_of_pulses_are_up_for_one_step_each),
        cmocka_unit_test(test_m8_branches_of_an_algorithm_are_events),
        cmocka_unit_test(test_m8_a_loop_is_executed_as_a_whole),
        cmocka_unit_test(test_m12_a_procedure_that_acts_now_holds_what_it_does_not_assign),
        cmocka_unit_test(test_m12_a_procedure_that_acts_next_writes_only_what_it_assigned),
        cmocka_unit_test(test_s14_two_procedures_that_assign_one_variable_are_refused),
        cmocka_unit_test(test_m8_an_algorithm_of_the_start_sets_states_and_discrete_variables),
        cmocka_unit_test(test_m8_fired_guards_statements_of_an_algorithm),
        cmocka_unit_test(test_m5_a_pulse_is_up_for_one_step),
        cmocka_unit_test(test_m5_a_pulse_has_its_default_otherwise),
        cmocka_unit_test(test_m5_arrays_and_texts_are_pulses),
        cmocka_unit_test(test_m8_comparisons_in_loops_over_small_arrays_are_events),
        cmocka_unit_test(test_s6_ticks_are_at_multiples),
        cmocka_unit_test(test_s6_a_run_that_begins_later_begins_with_the_next_tick),
        cmocka_unit_test(test_s6_a_run_that_begins_at_a_tick_has_it),
        cmocka_unit_test(test_m11_the_end_is_told_once),
        cmocka_unit_test(test_m11_the_end_is_told_where_the_model_ends_the_run),
        cmocka_unit_test(test_m12_elements_of_arrays_in_procedures),
        cmocka_unit_test(test_results_without_inputs_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
