/* Models whose structure changes at events: another index, other states. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#define MODES KOINE_SOURCE_DIR "/tests/sim/modes/"

/* Two inertias of 2 and 3, 1 drives the first: w1 = 10 + t/2 until both turn together from t = 1 on with (2*10.5 +
 * 3*0)/5 = 4.2 and 1/5 more a second, the torque between them being 3/5; from t = 2 on each alone again. */
static void check_clutch(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "w1", 0.5), 10.25, 1e-9);
    expect_near(run_at(r, "w2", 0.5), 0, 1e-12);
    expect_near(run_at(r, "w1", 1), 4.2, 1e-9);
    expect_near(run_at(r, "w2", 1), 4.2, 1e-9);
    expect_near(run_at(r, "f", 1.5), 0.6, 1e-9);
    expect_near(run_at(r, "w2", 1.5), 4.3, 1e-9);
    expect_near(run_last(r, "w1"), 4.9, 1e-9);
    expect_near(run_last(r, "w2"), 4.4, 1e-9);
    expect_near(run_last(r, "f"), 0, 1e-12);
    assert_int_equal(r->report.statistics.events.time_events, 2);
}

static void test_modes_a_clutch_keeps_the_momentum(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODES "clutch.ir", .stop = 3, .interval = 0.25, .allows_modes = true },
                     check_clutch);
    static const char *const solvers[] = { "dop853", "cvode-bdf", "cvode-adams", "arkode-dirk", "rk4" };
    for (uint32_t k = 0; k < 5; k++) {
        RunResult *r = run_model(&(RunRequest){ .path = MODES "clutch.ir",
                                                .solver = solvers[k],
                                                .stop = 3,
                                                .interval = 0.25,
                                                .step = k == 4 ? 1e-2 : 0,
                                                .allows_modes = true });
        check_clutch(r);
        run_free(r);
    }
}

/* What fires at that time sees them joined, and what it sets elsewhere does not keep them from it. */
static void check_together(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "w1", 1), 4.2, 1e-9);
    expect_near(run_at(r, "w2", 1), 4.2, 1e-9);
    expect_near(run_at(r, "seen", 1), 4.2, 1e-9);
    expect_near(run_at(r, "z", 1), 5, 1e-12);
}

static void test_modes_events_at_the_same_time(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODES "together.ir", .stop = 1.5, .interval = 0.5, .allows_modes = true },
                     check_together);
}

/* Two equal masses, one of speed 1: joined where they meet, both have half of it. */
static void check_meeting(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "v1", 1), 0.5, 1e-9);
    expect_near(run_at(r, "v2", 1), 0.5, 1e-9);
    expect_near(run_last(r, "x1"), 1.5, 1e-9);
    expect_near(run_last(r, "x2"), 1.5, 1e-9);
}

static void test_modes_places_do_not_jump(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODES "meeting.ir", .stop = 2, .interval = 0.5, .allows_modes = true },
                     check_meeting);
    RunResult *r =
        run_model(&(RunRequest){ .path = MODES "places.ir", .stop = 2, .interval = 0.5, .allows_modes = true });
    assert_int_equal(r->report.fault.cause, KOINE_CAUSE_JUMP);
    assert_non_null(strstr(r->report.text, "a place would have to jump"));
    run_free(r);
}

/* 10 V on 2 F, nothing on 3 F: 4 V on both once they are joined. */
static void check_capacitors(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "u1", 0.5), 10, 1e-12);
    expect_near(run_at(r, "u2", 0.5), 0, 1e-12);
    expect_near(run_at(r, "u1", 1), 4, 1e-12);
    expect_near(run_last(r, "u2"), 4, 1e-12);
    expect_near(run_last(r, "i"), 0, 1e-12);
}

static void test_modes_capacitors_keep_their_charge(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODES "capacitors.ir", .stop = 2, .interval = 0.25, .allows_modes = true },
                     check_capacitors);
}

/* While the rod holds, v^2 = -2 g y and x^2 + y^2 = 1; when it is broken, the body flies from there. */
static void check_pendulum(const RunResult *r)
{
    const double g = 9.81;
    expect_done(r);
    for (double t = 0.125; t < 0.5; t += 0.125) {
        const double x = run_at(r, "x", t), y = run_at(r, "y", t);
        const double vx = run_at(r, "vx", t), vy = run_at(r, "vy", t);
        expect_near(x * x + y * y, 1, 1e-9);
        expect_near(vx * vx + vy * vy, -2 * g * y, 1e-5);
    }
    const double x = run_at(r, "x", 0.5), y = run_at(r, "y", 0.5), vx = run_at(r, "vx", 0.5), vy = run_at(r, "vy", 0.5);
    expect_near(x * x + y * y, 1, 1e-9);
    expect_near(run_at(r, "F", 0.5), 0, 1e-12);
    expect_near(run_last(r, "x"), x + 1.5 * vx, 1e-9);
    expect_near(run_last(r, "y"), y + 1.5 * vy - g / 2 * 2.25, 1e-8);
    expect_near(run_last(r, "vy"), vy - 1.5 * g, 1e-9);
}

static void test_modes_a_pendulum_breaks(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){
            .path = MODES "pendulum.ir", .stop = 2, .interval = 0.125, .tolerance = 1e-9, .allows_modes = true },
        check_pendulum);
}

/* x = exp(-t) until t = 1, then 2; y is its integral. */
static void check_ends(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "x", 0.5), exp(-0.5), 1e-6);
    expect_near(run_at(r, "x", 1.5), 2, 1e-12);
    expect_near(run_at(r, "y", 1), 1 - exp(-1), 1e-6);
    expect_near(run_last(r, "y"), 1 - exp(-1) + 2, 1e-6);
}

static void test_modes_a_state_ends(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODES "ends.ir", .stop = 2, .interval = 0.25, .allows_modes = true },
                     check_ends);
}

/* Free fall at x = 1/2 until the rope of length 1 is tight, at y = -sqrt(3)/2 with speed sqrt(sqrt(3) g); along the
 * circle goes half of that, and nothing across it; then the energy is kept. */
static void check_rope(const RunResult *r)
{
    const double g = 9.81, v = sqrt(sqrt(3) * g), t = sqrt(sqrt(3) / g), energy = v * v / 8 - g * sqrt(3) / 2;
    bool is_seen = false;
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows && !is_seen; k++) {
        const RunRow *row = &r->rows[k];
        is_seen = row->values[run_column(r, "tight")] != 0;
        if (!is_seen)
            continue;
        expect_near(row->time, t, 1e-9);
        expect_near(row->values[run_column(r, "vx")], -v / 2 * sqrt(3) / 2, 1e-8);
        expect_near(row->values[run_column(r, "vy")], -v / 2 / 2, 1e-8);
    }
    assert_true(is_seen);
    for (double at = 0.5; at <= 2; at += 0.125) {
        const double x = run_at(r, "x", at), y = run_at(r, "y", at);
        const double vx = run_at(r, "vx", at), vy = run_at(r, "vy", at);
        expect_near(x * x + y * y, 1, 1e-9);
        expect_near((vx * vx + vy * vy) / 2 + g * y, energy, 1e-6);
        expect_near(run_at(r, "F", at), vx * vx + vy * vy - g * y, 1e-5);
    }
}

static void test_modes_a_rope_becomes_tight(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODES "rope.ir", .stop = 2, .interval = 0.125, .tolerance = 1e-9, .allows_modes = true },
        check_rope);
}

/* From rest x = 1.5 (1 - cos t) until the speed is that of the belt, 1, where sin t = 2/3; it sticks until the spring
 * pulls with 2, slips with x = 1.5 + sin s + cos s/2 from there and is as fast as the belt again at x = 1. */
static void check_slip(const RunResult *r)
{
    const double first = asin(2.0 / 3), x = 1.5 * (1 - cos(first)), second = first + 2 - x;
    expect_done(r);
    assert_int_equal(r->report.statistics.events.state_events, 4);
    expect_near(run_at(r, "x", 0.5), 1.5 * (1 - cos(0.5)), 1e-8);
    expect_near(run_at(r, "F", 1.5), x + 1.5 - first, 1e-8);
    expect_near(run_at(r, "v", 2), 1, 1e-12);
    for (double t = 2.5; t < 7.5; t += 0.5)
        expect_near(run_at(r, "x", t), 1.5 + sin(t - second) + 0.5 * cos(t - second), 1e-7);
    expect_near(run_last(r, "v"), 1, 1e-12);
}

static void test_modes_stick_and_slip(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODES "slip.ir", .stop = 8, .interval = 0.5, .tolerance = 1e-9, .allows_modes = true },
        check_slip);
}

/* One Schedule serves three of the four combinations: charged with 1 - exp(-t), from t = 1 on towards 2/3 through R and
 * the leak; short from t = 2 to 3, all of the current through the switches; then charged again. */
static void check_series(const RunResult *r)
{
    expect_done(r);
    fail_if(
        !strstr(r->messages, "warning KN2181: when c1 is true and c2 is true, these equations do not determine 'i'"),
        "%s", r->messages);
    expect_near(run_at(r, "uC", 0.5), 1 - exp(-0.5), 1e-8);
    expect_near(run_at(r, "uC", 1.5), 2.0 / 3 + (1 - exp(-1) - 2.0 / 3) * exp(-0.75), 1e-8);
    expect_near(run_at(r, "i", 2.5), 1, 1e-12);
    expect_near(run_at(r, "uC", 2.5), 0, 1e-12);
    expect_near(run_at(r, "u1", 3.5), 1 - exp(-0.5), 1e-8);
    expect_near(run_last(r, "uC"), 1 - exp(-1), 1e-8);
}

static void test_modes_only_where_one_schedule_does_not_do(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODES "series.ir", .stop = 4, .interval = 0.5, .tolerance = 1e-10, .allows_modes = true },
        check_series);
    RunResult *r =
        run_model(&(RunRequest){ .path = MODES "floating.ir", .stop = 1, .interval = 1, .allows_modes = true });
    assert_int_equal(r->report.fault.cause, KOINE_CAUSE_SINGULAR);
    run_free(r);
}

/* More modes than are kept, and each comes again: what is forgotten is made anew. The momentum of each pair is what it
 * began with and what drives it; all are closed shortly before the end. */
static void test_modes_many_of_them(void **state)
{
    (void)state;
    RunResult *r =
        run_model(&(RunRequest){ .path = MODES "many.ir", .stop = 256, .interval = 64, .allows_modes = true });
    expect_done(r);
    for (int k = 0; k < 7; k++) {
        char a[16], b[16];
        snprintf(a, sizeof a, "a%d", k);
        snprintf(b, sizeof b, "b%d", k);
        expect_near(run_last(r, a), (k + 1 + 256) / 2.0, 1e-9);
        expect_near(run_last(r, b), (k + 1 + 256) / 2.0, 1e-9);
    }
    assert_true(r->report.statistics.model.node_evaluations > 256);
    run_free(r);
}

/* ---- what cannot be done is said ---- */
static void expect_failure(const char *path, const char *text)
{
    RunResult *r = run_model(&(RunRequest){ .path = path, .stop = 2, .interval = 0.5, .allows_modes = true });
    assert_true(r->is_compiled);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_int_equal(r->report.fault.cause, KOINE_CAUSE_MODE);
    fail_if(!strstr(r->report.fault.text, text), "%s", r->report.fault.text);
    run_free(r);
}

static void expect_refusal(const char *path, const char *text)
{
    RunResult *r = run_model(&(RunRequest){ .path = path, .stop = 1, .interval = 1, .allows_modes = true });
    assert_false(r->is_compiled);
    fail_if(!strstr(r->messages, text), "%s", r->messages);
    run_free(r);
}

static void test_modes_without_schedule_name_line_and_choice(void **state)
{
    (void)state;
    expect_failure(MODES "contradiction.ir", "the branch of line 11 has become 1: in this mode ");
    expect_failure(MODES "endless.ir", "no mode fits: each leads to another one, back to the first");
    expect_failure(MODES "ring.ir", "no mode fits: each leads to another one, back to the first");
    expect_refusal(MODES "open.ir",
                   "KN3136: the mode that the model is tried to begin in has no Schedule: in this mode ");
}

static void test_modes_refuse_what_they_do_not_carry(void **state)
{
    (void)state;
    expect_refusal(MODES "delayed.ir", "the structure of the model changes at events, but it has dead times");
    expect_refusal(MODES "texts.ir", "the structure of the model changes at events, but it has texts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes_a_clutch_keeps_the_momentum),
        cmocka_unit_test(test_modes_events_at_the_same_time),
        cmocka_unit_test(test_modes_places_do_not_jump),
        cmocka_unit_test(test_modes_capacitors_keep_their_charge),
        cmocka_unit_test(test_modes_a_pendulum_breaks),
        cmocka_unit_test(test_modes_a_state_ends),
        cmocka_unit_test(test_modes_a_rope_becomes_tight),
        cmocka_unit_test(test_modes_stick_and_slip),
        cmocka_unit_test(test_modes_only_where_one_schedule_does_not_do),
        cmocka_unit_test(test_modes_many_of_them),
        cmocka_unit_test(test_modes_without_schedule_name_line_and_choice),
        cmocka_unit_test(test_modes_refuse_what_they_do_not_carry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
