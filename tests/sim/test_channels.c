/* Channels and their messages (lowering.md 1.7, 2.4 C4): steps and values by hand, in all tiers. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/channels/"

static void expect_message_counts(const RunResult *r, uint64_t messages, uint64_t unused)
{
    assert_int_equal(r->report.statistics.model.messages, messages);
    assert_int_equal(r->report.statistics.model.unused_messages, unused);
}

static double in_step(const RunResult *r, const char *name, double time, uint32_t event_step)
{
    for (uint32_t k = 0; k < r->n_rows; k++)
        if (r->rows[k].kind == KOINE_POINT_STEP && fabs(r->rows[k].time - time) < 1e-6 &&
            r->rows[k].event_step == event_step)
            return r->rows[k].values[run_column(r, name)];
    fail_msg("no row of event step %u at %g", event_step, time);
    return NAN;
}

/* The instant ends in this event step. */
static void expect_last(const RunResult *r, const char *name, double time, uint32_t event_step, double value)
{
    uint32_t last = 0;
    while (last < r->n_rows && fabs(r->rows[last].time - time) > 1e-6)
        last++;
    while (last + 1 < r->n_rows && r->rows[last + 1].time <= r->rows[last].time)
        last++;
    assert_int_equal(r->rows[last].event_step, event_step);
    expect_near(r->rows[last].values[run_column(r, name)], value, 0);
}

/* lowering.md 2.5, MP-170: x = 20 exp(-t/10) falls to 19, 50 - 31 exp(-s/10) rises to 21, falls to 19. In step 0 of
 * each instant the edge sends, in step 1 the message is up and the mode changes, in step 2 nothing happens. */
static void check_thermostat(const RunResult *r)
{
    const double on = 10 * log(20.0 / 19), off = on + 10 * log(31.0 / 29), again = off + 10 * log(21.0 / 19);
    const double times[] = { on, off, again };
    expect_done(r);
    expect_near(on, 0.512933, 5e-7);
    expect_near(off, 1.179847, 5e-7);
    expect_near(again, 2.180681, 5e-7);
    for (uint32_t k = 0; k < 3; k++) {
        const double event = k == 1 ? 2 : 1, before = k == 1 ? 2 : 1;
        expect_near(in_step(r, "event", times[k], 0), 0, 0);
        expect_near(in_step(r, "q", times[k], 0), before, 0);
        expect_near(in_step(r, "event", times[k], 1), event, 0);
        expect_near(in_step(r, "q", times[k], 1), before, 0);
        expect_last(r, "event", times[k], 2, 0);
        expect_last(r, "q", times[k], 2, 3 - before);
    }
    expect_message_counts(r, 3, 0);
}

static void test_mp170_thermostat(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){
            .path = MODELS "thermostat.ir", .stop = 2.5, .interval = 0.5, .tolerance = 1e-9, .every_event_step = true },
        check_thermostat);
}

/* Both vehicles ask in one step; the manager takes one request in each of the next two, in the order of the paths. */
static void check_vehicles(const RunResult *r)
{
    expect_done(r);
    expect_near(in_step(r, "manager.lane", 1, 0), 0, 0);
    expect_near(in_step(r, "manager.lane", 1, 1), 1, 0);
    expect_near(in_step(r, "manager.lane", 1, 2), 2, 0);
    expect_near(in_step(r, "manager.holder", 1, 2), 1, 0);
    expect_last(r, "manager.lane", 1, 3, 0);
    expect_last(r, "manager.holder", 1, 3, 2);
    expect_near(run_last(r, "manager.order"), 12, 0);
    expect_message_counts(r, 2, 0);
}

static void test_c4_two_vehicles_ask_in_one_step(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODELS "two_vehicles.ir", .stop = 2, .interval = 1, .every_event_step = true },
        check_vehicles);
}

/* 1, 2, 3 are sent at the start with priorities 1, 2, 1, then 4 with priority 9, while 2 is up. */
static void check_priority(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "fifo"), 2134, 0);
    expect_near(run_last(r, "now_a"), 2134, 0); /* a transition that acts now sees each of them once */
    expect_near(run_last(r, "sorted"), 2413, 0);
    expect_message_counts(r, 8, 0);
}

static void test_c4_messages_are_offered_by_priority(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "priority.ir", .stop = 1, .interval = 1 }, check_priority);
}

/* x = t: the first message waits until x passes 2, the second one until it passes 3. Of the other channel the first is
 * dropped, because no transition takes it. */
static void check_kept(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "k", 0.5), 1, 0);
    expect_near(run_at(r, "k", 1), 1, 0);
    expect_near(run_at(r, "k", 2.5), 2, 0);
    expect_near(run_at(r, "k", 3.5), 0, 0);
    expect_near(run_last(r, "got"), 12, 0);
    expect_near(run_last(r, "when1"), 2, 1e-9);
    expect_near(run_last(r, "when2"), 3, 1e-9);
    expect_near(run_last(r, "at"), 1, 0);
}

static void check_kept_counts(const RunResult *r)
{
    check_kept(r);
    expect_message_counts(r, 4, 1);
}

static void test_c4_a_message_is_dropped_or_kept(void **state)
{
    (void)state;
    const RunRequest request = { .path = MODELS "kept.ir", .stop = 4, .interval = 0.5 };
    run_in_all_tiers(request, check_kept_counts);
    RunRequest paused = request;
    paused.pause = 1.25; /* the messages wait in the block */
    run_in_all_tiers(paused, check_kept);
}

/* x[i] = i*t passes 2 at 2/i; at the start 30 and 40 are sent. */
static void check_ranges(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "ord", 0), 3040, 0);
    expect_near(run_last(r, "ord"), 304004030201, 0);
    expect_near(run_last(r, "s"), 18, 1e-9);
    expect_near(run_last(r, "r"), 5, 0); /* the two of the start come one behind the other: one edge */
}

static void test_c4_ranges_and_the_start_send(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "ranges.ir", .stop = 4, .interval = 1 }, check_ranges);
}

/* At 1: (off, true) taken by r1, (on, true) by r2; r4 answers both with (on, false), taken by r2. At 2 (off, false). */
static void check_more(const RunResult *r)
{
    static const struct {
        const char *name;
        double at_1, at_2;
    } expected[] = {
        { "first", 1, 2 },   { "second", 3, 3 },    { "handled", 2, 2 }, { "edges", 1, 1 },
        { "outside", 1, 2 }, { "last_mode", 2, 2 }, { "seen", 2, 2 },    { "m", 2, 2 },
    };
    expect_done(r);
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        expect_near(run_at(r, expected[k].name, 1.25), expected[k].at_1, 0);
        expect_near(run_last(r, expected[k].name), expected[k].at_2, 0);
    }
    expect_message_counts(r, 5, 0);
}

static void test_m11_message_transitions_in_groups_and_branches(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "more.ir", .stop = 4, .interval = 0.25 }, check_more);
}

/* At 1 n is 0 before the statements: 10 is sent; at 2 it is 2: 12. Both are added up by a procedure. */
static void check_procedure(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "got", 1), 10, 0);
    expect_near(run_last(r, "got"), 22, 0);
    expect_near(run_last(r, "n"), 4, 0);
}

static void test_c4_procedures_send_and_take(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "procedure.ir", .stop = 3, .interval = 1 }, check_procedure);
}

/* Two fit, the third does not: both ends are named. */
static void check_overflow(const RunResult *r)
{
    assert_true(r->is_compiled);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_int_equal(r->report.fault.cause, KOINE_CAUSE_CHANNEL);
    expect_near(r->report.time, 2, 0);
    assert_non_null(strstr(r->report.fault.text, "overflow.ir:14:3"));
    assert_non_null(strstr(r->report.fault.text, "overflow.ir:16:1"));
    expect_near(run_at(r, "tot", 1), 4, 0);
    expect_near(run_at(r, "v", 1), -1, 0); /* the start value, while no message is up */
}

static void test_c4_a_full_channel_names_both_ends(void **state)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    (void)state;
    for (uint32_t k = 0; k < 3; k++) {
        RunResult *r =
            run_model(&(RunRequest){ .path = MODELS "overflow.ir", .tier = tiers[k], .stop = 4, .interval = 1 });
        check_overflow(r);
        run_free(r);
    }
}

/* What statements of procedures send, and with which values, stands in the files. */
static void check_statements(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "first", 1.5), 1100060109, 0);
    expect_near(run_last(r, "first"), 1100060109, 0);
    expect_near(run_last(r, "second"), 13020708, 0);
    expect_near(run_last(r, "n"), 8, 0);
    expect_message_counts(r, 9, 0);
}

static void test_c4_statements_send_in_their_order(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "statements.ir", .stop = 3, .interval = 0.5 }, check_statements);
}

/* v = (1.5, 1.5, 1.5) is multiplied by 1, 2, 3: sums 4.5 and 1.5 + 3 + 4.5. */
static void check_loops(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "order"), 102011002033009, 0);
    expect_near(run_last(r, "got"), 123, 0);
    expect_near(run_last(r, "n"), 3, 0);
    expect_near(run_last(r, "s"), 0.5 + 0.5 + 1.5 + 4.5 + 3 + 4.5 + 9 + 0.25, 0);
    expect_message_counts(r, 11, 0);
}

static void test_c4_loops_send_in_their_order(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "loops.ir", .stop = 2, .interval = 0.5 }, check_loops);
}

/* In instances 2, 1, 0 by a loop; texts n 4 | n 5, n 6; points 1 | 2, 20 | 3, 30; a clock counts to 4, the first is
 * not sent. */
static void check_kinds(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "a.got"), 321, 0);
    expect_near(run_last(r, "b.got"), 321, 0);
    expect_near(run_at(r, "right", 1.5), 1, 0);
    expect_near(run_last(r, "right"), 123, 0);
    expect_near(run_last(r, "now_"), 6, 0);
    expect_near(run_last(r, "points"), 102200330, 0);
    expect_near(run_last(r, "ticks"), 234, 0);
    expect_message_counts(r, 17, 0);
}

static void test_c4_procedures_of_all_kinds_send(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "kinds.ir", .stop = 3, .interval = 0.5 }, check_kinds);
}

static void check_queues(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "right", 0.5), 5, 0);
    expect_near(run_at(r, "right", 2.5), 5213, 0);
    expect_near(run_last(r, "right"), 521344, 0);
    expect_message_counts(r, 6, 0);
}

static void test_c4_loops_send_texts(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "queues.ir", .stop = 3, .interval = 0.5 }, check_queues);
}

/* At 1 three messages fit, at 2 a fourth one of six does not. */
static void test_c4_loops_that_send_too_much_are_named(void **state)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    (void)state;
    for (uint32_t k = 0; k < 3; k++) {
        RunResult *r = run_model(
            &(RunRequest){ .path = MODELS "loops_overflow.ir", .tier = tiers[k], .stop = 4, .interval = 0.5 });
        assert_true(r->is_compiled);
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        assert_int_equal(r->report.fault.cause, KOINE_CAUSE_CHANNEL);
        expect_near(r->report.time, 2, 0);
        assert_non_null(strstr(r->report.fault.text, "loops_overflow.ir:15:11"));
        expect_near(run_at(r, "total", 1.5), 123, 0);
        run_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mp170_thermostat),
        cmocka_unit_test(test_c4_two_vehicles_ask_in_one_step),
        cmocka_unit_test(test_c4_messages_are_offered_by_priority),
        cmocka_unit_test(test_c4_a_message_is_dropped_or_kept),
        cmocka_unit_test(test_c4_ranges_and_the_start_send),
        cmocka_unit_test(test_m11_message_transitions_in_groups_and_branches),
        cmocka_unit_test(test_c4_procedures_send_and_take),
        cmocka_unit_test(test_c4_a_full_channel_names_both_ends),
        cmocka_unit_test(test_c4_statements_send_in_their_order),
        cmocka_unit_test(test_c4_loops_send_in_their_order),
        cmocka_unit_test(test_c4_loops_send_texts),
        cmocka_unit_test(test_c4_procedures_of_all_kinds_send),
        cmocka_unit_test(test_c4_loops_that_send_too_much_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
