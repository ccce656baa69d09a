/* Dead time, run in every tier: DELAY of docs/languages/simplex.md. Expected values are closed forms: the delayed
 * signal itself, and for y'(t) = -y(t - 1) the polynomials that the method of steps gives. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#define DELAY KOINE_SOURCE_DIR "/tests/sim/simplex/delay/"

/* Before the start: the value at the start, or the third argument. */
static void check_signals(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time, *v = r->rows[k].values;
        const bool at_jump = fabs(t - 2) < 1e-12;
        expect_near(v[run_column(r, "Ramp")], 2 * fmax(t - 1.5, 0), 1e-6);
        expect_near(v[run_column(r, "Sine")], sin(3 * fmax(t - 0.7, 0)), 1e-6);
        expect_near(v[run_column(r, "Oscillator")], sin(fmax(t - 1.5, 0)), 1e-6);
        expect_near(v[run_column(r, "Twice")], sin(3 * fmax(t - 1.1, 0)), 1e-6);
        if (!at_jump)
            expect_near(v[run_column(r, "Before")], t < 2 ? 5 : -2 * (t - 2), 1e-6);
    }
    assert_true(r->n_rows > 50);
}

static void test_delayed_signals(void **state)
{
    (void)state;
    static const char *const solvers[] = { NULL, "cvode-bdf", "rk4", "dopri5" };
    for (uint32_t k = 0; k < sizeof solvers / sizeof *solvers; k++)
        run_in_all_tiers((RunRequest){ .path = DELAY "Signals.mdl",
                                       .stop = 6,
                                       .interval = 0.1,
                                       .tolerance = 1e-8,
                                       .step = 0.01,
                                       .solver = solvers[k] },
                         check_signals);
}

/* The history is part of what a run leaves behind. */
static void test_continued_run_keeps_history(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = DELAY "Signals.mdl", .stop = 6, .interval = 0.1, .tolerance = 1e-8, .pause = 1.7 },
        check_signals);
}

/* Nothing to integrate: the signal is remembered all the same. */
static void check_no_states(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++)
        expect_near(r->rows[k].values[run_column(r, "Y")], sin(fmax(r->rows[k].time - 1, 0)), 1e-7);
}

static void test_without_states(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = DELAY "NoStates.mdl", .stop = 9, .interval = 0.3, .tolerance = 1e-8 },
                     check_no_states);
}

static double by_steps(double t)
{
    double sum = 1, factorial = 1;
    for (int k = 1; k - 1 <= t; k++) {
        factorial *= k;
        sum += (k % 2 ? -1 : 1) * pow(t - (k - 1), k) / factorial;
    }
    return sum;
}

static void check_decay(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++)
        expect_near(r->rows[k].values[run_column(r, "Y")], by_steps(r->rows[k].time), 1e-6);
    expect_near(run_at(r, "Y", 1), 0, 1e-6);
    expect_near(run_at(r, "Y", 2), -0.5, 1e-6);
}

static void test_equation_with_dead_time(void **state)
{
    (void)state;
    static const char *const solvers[] = { NULL, "cvode-bdf", "dopri5" };
    for (uint32_t k = 0; k < sizeof solvers / sizeof *solvers; k++)
        run_in_all_tiers(
            (RunRequest){
                .path = DELAY "Decay.mdl", .stop = 4, .interval = 0.1, .tolerance = 1e-8, .solver = solvers[k] },
            check_decay);
}

/* Level is 3, from T = k on 3 + 2 k; Late follows after 2.5, Later another 1 behind. X = int Late. */
static void check_steps(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time, *v = r->rows[k].values;
        const double late = t < 3.5 ? 3 : 3 + 2 * floor(t - 2.5), later = t < 1     ? -7
                                                                          : t < 4.5 ? 30
                                                                                    : 30 + 20 * floor(t - 3.5);
        if (r->rows[k].kind == KOINE_POINT_LEFT || r->rows[k].kind == KOINE_POINT_STEP ||
            (r->rows[k].kind == KOINE_POINT_START && k == 0)) /* at an event, before what it does */
            continue;
        expect_near(v[run_column(r, "Late")], late, 0);
        expect_near(v[run_column(r, "Later")], later, 0);
    }
    bool is_exact = false; /* the jump is there at 3.5 itself, and not before */
    for (uint32_t k = 1; k < r->n_rows; k++)
        is_exact |= r->rows[k].time == 3.5 && r->rows[k - 1].time == 3.5 &&
                    r->rows[k - 1].values[run_column(r, "Late")] == 3 && r->rows[k].values[run_column(r, "Late")] == 5;
    assert_true(is_exact);
    expect_near(run_last(r, "THit"), 4.5, 0); /* the first value above 6 is 7 */
    expect_near(run_last(r, "Hits"), 1, 0);
    expect_near(run_at(r, "X", 3.25), 9.75, 1e-8);
    expect_near(run_at(r, "X", 5), 19, 1e-8);
    expect_near(run_at(r, "LateSaw", 2.25), 0, 0);
    expect_near(run_at(r, "LateSaw", 2.75), 0.25 - 3, 1e-9);
    expect_near(run_at(r, "LateSaw", 4), 1.5 - 5, 1e-9);
    expect_near(run_at(r, "LateSaw", 5.75), 3.25 - 9, 1e-9);
}

static void test_jumps_at_the_exact_time(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = DELAY "Steps.mdl", .stop = 6.25, .interval = 0.25, .tolerance = 1e-8 },
                     check_steps);
}

/* Many points: the history makes room, and grows where the dead time is long. */
static void set_long(KoineModel *model)
{
    set_value(model, "Tau", 40);
}

static void check_long(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "Oscillator", 60), sin(20), 1e-5);
    expect_near(run_at(r, "Oscillator", 90), sin(50), 1e-5);
    expect_near(run_at(r, "Sine", 90), sin(3 * 89.3), 1e-5);
}

static void test_long_history(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = DELAY "Signals.mdl", .stop = 90, .interval = 10, .tolerance = 1e-8, .prepare = set_long },
        check_long);
}

static void set_negative(KoineModel *model)
{
    set_value(model, "Tau", -1);
}

static void test_amount_must_be_positive(void **state)
{
    (void)state;
    RunResult *r =
        run_model(&(RunRequest){ .path = DELAY "Signals.mdl", .stop = 1, .interval = 1, .prepare = set_negative });
    assert_true(r->is_compiled);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text, "the dead time of 'Ramp' is -1: it must be greater than 0"));
    run_free(r);
}

/* A parameter that is changed between two runs is checked again. */
static void test_amount_of_a_continued_run(void **state)
{
    (void)state;
    static const char *const models[] = { DELAY "Signals.mdl", DELAY "Steps.mdl", DELAY "Discrete.mdl" };
    static const char *const texts[] = { "a dead time is not greater than 0", "a dead time is not greater than 0",
                                         "the dead time of 'Late' is -1: it must be greater than 0" };
    for (uint32_t k = 0; k < 3; k++) {
        RunResult *r = run_model(
            &(RunRequest){ .path = models[k], .stop = 2, .interval = 1, .pause = 1, .between = set_negative });
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        assert_non_null(strstr(r->report.text, texts[k]));
        run_free(r);
    }
}

static void test_own_value_needs_an_initial_one(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = DELAY "OwnValue.mdl", .stop = 1, .interval = 1 });
    assert_true(r->is_compiled);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text, "'Y' depends on its own value before the start"));
    run_free(r);
}

/* Arrays, and what is not Real: x[i] = i t and its squares; whole numbers above 2^53 that count ticks of 0.2. */
static void check_types(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double *v = r->rows[k].values, t = r->rows[k].time;
        for (int i = 1; i <= 3; i++) {
            char name[16];
            snprintf(name, sizeof name, "y[%d]", i);
            expect_near(v[run_column(r, name)], i * fmax(0, t - 0.25), 1e-12);
            snprintf(name, sizeof name, "z[%d]", 2 * i);
            expect_near(v[run_column(r, name)], 2 * pow(i * fmax(0, t - 0.5), 2), 1e-9);
        }
        expect_near(v[run_column(r, "w")], 2 * fmax(0, t - 0.3), 1e-12);
    }
    expect_near(run_at(r, "m", 0.3), 9007199254740994, 0);
    expect_near(run_last(r, "m"), 9007199254740996, 0); /* four ticks: ...997, which a row of doubles shows as this */
    expect_near(run_at(r, "l[2]", 0.15), -1, 0);
    expect_near(run_at(r, "l[2]", 0.3), 10, 0);
    expect_near(run_last(r, "l[2]"), 80, 0);
    expect_near(run_last(r, "l[1]"), 5, 0);
    expect_near(run_at(r, "q", 0), 3, 0); /* before the start: what is said */
    expect_near(run_at(r, "q", 0.45), 1, 0);
    expect_near(run_at(r, "q", 0.6), 2, 0); /* x[1] passes 0.4 at 0.4 */
    expect_near(run_at(r, "c", 0.6), 0, 0);
    expect_near(run_at(r, "c", 0.75), 1, 0);
}

static void test_delays_of_arrays_and_whole_numbers(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/tests/sim/ir/delays.ir", .stop = 0.95, .interval = 0.15 },
                     check_types);
}

/* ---- amounts that change ---- */
static double ramp_behind_1(double t)
{
    return t < 1 ? 0 : 1 + t;
}

/* What each output is, from the input as a function of the time; those that are delayed by s = exp(-t) take s from the
 * run. Of two rows at one time the last one counts. */
static void check_changing(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time, *v = r->rows[k].values, s = v[run_column(r, "s")];
        const bool is_left = k + 1 < r->n_rows && r->rows[k + 1].time <= t;
        if (is_left || t == 0 || fabs(t - s) < 1e-7) /* there what is delayed by s jumps */
            continue;
        const double wave = t - 1 - 0.5 * sin(3 * t), jump = t - 0.5 - 0.25 * sin(2 * t);
        const double back = t < 2 ? t - 0.5 : t - 0.5 - 1.5 * (t - 2);
        expect_near(v[run_column(r, "wave")], wave > 0 ? sin(wave) : 0, 1e-6);
        expect_near(v[run_column(r, "bystate")], t > s ? cos(t - s) - 1 : -2, 2e-6);
        expect_near(v[run_column(r, "two[2]")], t > s ? 2 * sin(t - s) : 0, 2e-6);
        if (fabs(jump - 1) > 1e-7)
            expect_near(v[run_column(r, "jump")], ramp_behind_1(jump), 1e-9);
        if (fabs(back - 1) > 1e-7) /* from t = 3 on it goes back over the jump */
            expect_near(v[run_column(r, "back")], ramp_behind_1(back), 1e-9);
        if (fabs(t - s - 1.25) > 1e-7 && fabs(t - s - 2.25) > 1e-7)
            expect_near(v[run_column(r, "late")], t - s >= 1.25 && t - s < 2.25, 0);
        if (t >= 1) /* delayed by 0, in its own input */
            expect_near(v[run_column(r, "fade")], sin(t) / 0.75, 1e-9);
        else if (t > 0.5 && t <= 0.75) /* then nothing has come back yet */
            expect_near(v[run_column(r, "fade")], sin(2 * t - 1), 1e-6);
    }
    expect_near(run_last(r, "n"), 1, 0);
}

static void test_an_amount_may_change_and_be_0(void **state)
{
    (void)state;
    RunRequest request = { .path = KOINE_SOURCE_DIR "/tests/sim/delays/changing.ir", .stop = 4, .interval = 0.25 };
    run_in_all_tiers(request, check_changing);
    request.pause = 1.625;
    run_in_all_tiers(request, check_changing);
    static const char *const solvers[] = { "rk4", "dop853", "cvode-bdf", "ida" };
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        RunResult *r = run_model(&(RunRequest){
            .path = request.path, .stop = 4, .interval = 0.25, .tolerance = 1e-8, .step = 0.01, .solver = solvers[k] });
        check_changing(r);
        run_free(r);
    }
}

/* A fixed step that ends at the event is made again, so it ends a little before the border: the piece is entered all
 * the same, and x, which integrates y, sees the jump of -1.26 there and not a step later. By Simpson's rule, x(5) = X.
 */
static void check_fixed(const RunResult *r)
{
    static const double X = -2.80522876796;
    expect_done(r);
    expect_near(run_last(r, "x"), X, 2e-6);
}

static void test_a_jump_that_comes_back_ends_a_fixed_step(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/tests/sim/delays/fixed.ir",
                                   .stop = 5,
                                   .interval = 0.5,
                                   .step = 0.005,
                                   .solver = "rk4" },
                     check_fixed);
}

static void expect_dead_time(const char *path, const char *text, double time)
{
    RunResult *r = run_model(&(RunRequest){ .path = path, .stop = 4, .interval = 0.5 });
    assert_true(r->is_compiled);
    assert_int_equal(r->report.fault.cause, KOINE_CAUSE_DEAD_TIME);
    assert_non_null(strstr(r->report.fault.text, text));
    assert_true(r->report.fault.place.line > 0);
    expect_near(r->report.time, time, 0.01);
    run_free(r);
}

static void test_an_amount_outside_of_its_range_ends_the_run(void **state)
{
    (void)state;
    expect_dead_time(KOINE_SOURCE_DIR "/tests/sim/delays/beyond.ir", "must lie between 0", 1);
    expect_dead_time(KOINE_SOURCE_DIR "/tests/sim/delays/above.ir", "must lie between 0", 0.5);
    expect_dead_time(KOINE_SOURCE_DIR "/tests/sim/delays/ring.ir", "depends on itself", 1); /* u = 1 + 2*u */
}

/* A text counts the ticks at 0.5, 1 ...; its delays say what it was. */
static const char *text_of(char *text, const char *format, double time)
{
    snprintf(text, 32, format, (int)floor(fmax(time, 0) / 0.5 + 1e-9));
    return text;
}

static void check_texts(const RunResult *r)
{
    char text[32];
    expect_done(r);
    for (uint32_t k = 0; k <= 40; k++) {
        const double t = 0.1 * k;
        assert_string_equal(run_text_at(r, "s", t), text_of(text, "step %d", t));
        assert_string_equal(run_text_at(r, "later", t), t < 0.95 ? "none" : text_of(text, "step %d", t - 1));
        assert_string_equal(run_text_at(r, "late", t), t < 1.25 ? "none!" : text_of(text, "step %d!", t - 1.25));
        assert_string_equal(run_text_at(r, "w[2]", t), text_of(text, "step %d.2", t - 0.75));
    }
}

static void test_delays_of_texts(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/tests/sim/delays/texts.ir", .stop = 4, .interval = 0.1 },
                     check_texts);
}

static void test_texts_are_delayed_over_a_pause(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = KOINE_SOURCE_DIR "/tests/sim/delays/texts.ir", .stop = 4, .interval = 0.1, .pause = 1.6 },
        check_texts);
}

/* 3,000 texts of 500 bytes: those that nobody holds any more make room, those in histories do not. */
static void check_text_counts(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "n"), 3000, 0);
    expect_near(run_last(r, "wrong"), 0, 0);
}

static void test_texts_of_histories_are_kept(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/tests/sim/delays/text_counts.ir",
                                   .stop = 1500,
                                   .interval = 500,
                                   .keeps_last = true },
                     check_text_counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delays_of_texts),
        cmocka_unit_test(test_texts_of_histories_are_kept),
        cmocka_unit_test(test_texts_are_delayed_over_a_pause),
        cmocka_unit_test(test_delays_of_arrays_and_whole_numbers),
        cmocka_unit_test(test_an_amount_may_change_and_be_0),
        cmocka_unit_test(test_a_jump_that_comes_back_ends_a_fixed_step),
        cmocka_unit_test(test_an_amount_outside_of_its_range_ends_the_run),
        cmocka_unit_test(test_delayed_signals),
        cmocka_unit_test(test_continued_run_keeps_history),
        cmocka_unit_test(test_without_states),
        cmocka_unit_test(test_equation_with_dead_time),
        cmocka_unit_test(test_jumps_at_the_exact_time),
        cmocka_unit_test(test_long_history),
        cmocka_unit_test(test_amount_must_be_positive),
        cmocka_unit_test(test_amount_of_a_continued_run),
        cmocka_unit_test(test_own_value_needs_an_initial_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
