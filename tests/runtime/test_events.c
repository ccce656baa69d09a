/* State events, time events, and what is recorded of them. */
#include "toy.h"

/* --- Bouncing ball: x0 height, x1 velocity, falls from 1 with g = 10, loses a quarter of its speed ---
 * First contact sqrt(0.2) with v = sqrt(20); the flight after contact k lasts 2*v*0.75^k/g. */
static const double G = 10, KEEP = 0.75;

static KoineStatus fall(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->x[1];
    b->dx[1] = -G;
    return KOINE_OK;
}

static void start_high(ToyBlock *b)
{
    b->x[0] = 1;
}

/* Positive in flight; e keeps it positive just after a contact, as a model's band does (S5). */
static KoineStatus ground(const ToyBlock *b, double *z)
{
    z[0] = b->x[0] + b->d[1];
    return KOINE_OK;
}

static unsigned bounce(ToyBlock *b)
{
    if (!(b->cause & KOINE_AT_ROOTS))
        return 0;
    b->d[0] += 1;
    b->d[2] = b->time;
    b->d[1] = 2 * fabs(b->x[0]) + 1e-15;
    b->x[1] = -KEEP * b->x[1];
    return KOINE_CHANGED | KOINE_STATES | KOINE_RESTART;
}

static unsigned leave_band(ToyBlock *b)
{
    if (b->x[0] > b->d[1])
        b->d[1] = 0;
    return 0;
}

static const KoineOrigin ball_roots[] = { { "h <= 0", "ball", { 0, 12, 3 } } };
static const char *const ball_sources[] = { "Ball.mo" };
static const KoineTables ball_tables =
    TOY_TABLES("ball", 2, 1, .roots.at = ball_roots, .text.sources = ball_sources, .text.n_sources = 1);
static const Toy ball_toy = {
    .kind = TOY_KIND(ball_tables, fall), .start = start_high, .roots = ground, .fire = bounce, .accepted = leave_band
};

static double contact_time(int k)
{
    double t = sqrt(2 / G), v = sqrt(2 * G);
    for (int i = 1; i <= k; ++i) {
        v *= KEEP;
        t += 2 * v / G;
    }
    return t;
}

static void test_ball_meets_its_contact_times_with_every_solver(void **state)
{
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); ++k) {
        const char *const name = koine_solver_name(k);
        if (strstr(name, "euler"))
            continue; /* loses energy with every step: another number of contacts */
        /* Parabolas are exact for methods of order 2 and up, but for start-up of multistep methods: local errors of
         * some 1e-9 in the height are errors of that size over the speed, 3, in the time of contact. */
        const bool is_exact = strcmp(name, "dopri5") == 0 || strcmp(name, "dop853") == 0 || strcmp(name, "rk4") == 0 ||
                              strcmp(name, "auto") == 0 || strcmp(name, "heun") == 0;
        const double tolerance = is_exact ? 1e-12 : 1e-7;
        ToyRun run;
        toy_run(&ball_toy, (KoineRunOptions){ .stop = 2.5, .tolerance = 1e-9, .step = 1e-3, .solver = name }, true,
                &run);
        assert_int_equal(run.report.end, KOINE_RUN_DONE);
        int contact = 0;
        for (uint32_t p = 0; p < run.memory->n; ++p)
            if (run.memory->point[p].kind == KOINE_POINT_LEFT)
                assert_near(run.memory->point[p].time, contact_time(contact++), tolerance);
        assert_int_equal(contact, 6);
        assert_int_equal(run.report.statistics.events.state_events, 6);
        assert_int_equal(run.report.statistics.integration.restarts, 6);
        assert_int_equal(memory_count(run.memory, KOINE_POINT_RIGHT), 6);
        toy_done(&run);
    }
}

/* Both sides at one time: the left one with the speed before, the right one with the speed after. */
static void test_both_sides_are_recorded(void **state)
{
    (void)state;
    ToyRun run;
    toy_run(&ball_toy, (KoineRunOptions){ .stop = 1, .solver = "dopri5" }, true, &run);
    for (uint32_t p = 0; p + 1 < run.memory->n; ++p) {
        if (run.memory->point[p].kind != KOINE_POINT_LEFT)
            continue;
        assert_int_equal(run.memory->point[p + 1].kind, KOINE_POINT_RIGHT);
        assert_true(run.memory->point[p].time == run.memory->point[p + 1].time);
        assert_near(run.memory->point[p + 1].x[1], -KEEP * run.memory->point[p].x[1], 0);
        assert_int_equal(run.memory->point[p + 1].event_step, 1);
    }
    assert_int_equal(run.memory->point[0].kind, KOINE_POINT_START);
    assert_int_equal(run.memory->point[run.memory->n - 1].kind, KOINE_POINT_STOP);
    assert_true(run.memory->point[run.memory->n - 1].time == 1);
    toy_done(&run);
}

/* --- Roots of a model without states: z = a - time and others --- */

static double only_time_roots[4]; /* parameters of the roots below; a test sets them before the run */

static unsigned count_crossings(ToyBlock *b)
{
    if (!(b->cause & KOINE_AT_ROOTS))
        return 0;
    const int n = (int)b->d[6]++;
    if (n < 3)
        b->d[1 + n] = b->time;
    b->d[0] += b->crossed[0] ? 1 : 100; /* root 0 counts ones, root 1 hundreds */
    for (int k = 0; k < 2; ++k)
        b->d[4 + k] = b->d[4 + k] != 0 || b->crossed[k];
    return KOINE_CHANGED;
}

/* Positive, but for 2*width around each of two times; a root that has crossed stays masked. */
static KoineStatus short_truths(const ToyBlock *b, double *z)
{
    const double w = only_time_roots[2];
    for (int k = 0; k < 2; ++k) {
        const double s = b->time - only_time_roots[k];
        z[k] = b->d[4 + k] != 0 ? 1 : s * s - w * w;
    }
    return KOINE_OK;
}

static const KoineOrigin two_roots[] = { { "a", "", { 0 } }, { "b", "", { 0 } } };
static const KoineTables clock_tables = TOY_TABLES("clock", 0, 2, .roots.at = two_roots);
static const Toy clock_toy = { .kind = TOY_KIND(clock_tables, NULL), .roots = short_truths, .fire = count_crossings };

/* Truths of 2e-4 in steps of 0.1: seen because the cubic through both ends is exact for a parabola. */
static void test_dips_inside_a_step_are_seen(void **state)
{
    (void)state;
    only_time_roots[0] = 0.7512;
    only_time_roots[1] = 0.2531;
    only_time_roots[2] = 1e-4;
    ToyRun run;
    toy_run(&clock_toy, (KoineRunOptions){ .stop = 1, .interval = 0.1 }, false, &run);
    assert_int_equal(run.report.end, KOINE_RUN_DONE);
    assert_int_equal(run.report.statistics.events.state_events, 2);
    assert_near(run.end.d[1], 0.2531 - 1e-4, 1e-12);
    assert_near(run.end.d[2], 0.7512 - 1e-4, 1e-12);
}

/* Both in one step of 0.5: the earlier first, and both found; order of the roots does not matter. */
static void test_earliest_root_first(void **state)
{
    (void)state;
    for (int swapped = 0; swapped < 2; ++swapped) {
        only_time_roots[swapped] = 0.31;
        only_time_roots[1 - swapped] = 0.23;
        only_time_roots[2] = 0.02;
        ToyRun run;
        toy_run(&clock_toy, (KoineRunOptions){ .stop = 0.33, .interval = 0.33 }, false, &run);
        assert_int_equal(run.report.statistics.events.state_events, 2);
        assert_near(run.end.d[1], 0.21, 1e-14);
        assert_near(run.end.d[2], 0.29, 1e-14);
    }
}

/* Everything that has crossed at the event point belongs to it. */
static void test_simultaneous_roots_are_one_instant(void **state)
{
    (void)state;
    only_time_roots[0] = only_time_roots[1] = 0.25;
    only_time_roots[2] = 0.05;
    ToyRun run;
    toy_run(&clock_toy, (KoineRunOptions){ .stop = 0.5, .interval = 0.1 }, false, &run);
    assert_int_equal(run.report.statistics.events.state_events, 1);
    assert_true(run.end.d[4] != 0 && run.end.d[5] != 0);
}

/* --- Oscillator with a counter at x > 0.5: crossings at acos 0.5 + ...; it never disturbs the solver --- */

static KoineStatus oscillate(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->x[1];
    b->dx[1] = -b->x[0];
    return KOINE_OK;
}

static KoineStatus above_half(const ToyBlock *b, double *z)
{
    const double g = b->x[0] - 0.5;
    z[0] = (b->d[1] != 0 ? g : -g) + 1e-30;
    return KOINE_OK;
}

static void start_above(ToyBlock *b)
{
    b->x[0] = 1;
    b->d[1] = 1;
}

static unsigned flip(ToyBlock *b)
{
    if (!(b->cause & KOINE_AT_ROOTS))
        return 0;
    b->d[1] = b->d[1] == 0;
    b->d[0] += 1;
    b->d[2] = b->time;
    return KOINE_CHANGED;
}

static const KoineTables counter_tables = TOY_TABLES("counter", 2, 1, .roots.at = ball_roots);
static const Toy counter_toy = {
    .kind = TOY_KIND(counter_tables, oscillate), .start = start_above, .roots = above_half, .fire = flip
};

static void test_events_without_restart_keep_the_step(void **state)
{
    (void)state;
    const double pi = acos(-1.0);
    for (uint32_t k = 0; k < 8; ++k) { /* the adaptive ones */
        ToyRun run;
        toy_run(&counter_toy, (KoineRunOptions){ .stop = 20 * pi, .tolerance = 1e-9, .solver = koine_solver_name(k) },
                false, &run);
        assert_int_equal(run.report.end, KOINE_RUN_DONE);
        assert_int_equal(run.report.statistics.events.state_events, 20);
        assert_int_equal(run.report.statistics.integration.restarts, 0);
        assert_near(run.end.d[2], 20 * pi - acos(0.5), 1e-6); /* global error after ten periods */
        assert_near(run.end.x[0], 1, 1e-6);
    }
}

/* --- Calendar --- */

/* Ticks at k*0.1, k from 1: times by multiplication. d0 counts, x' = d0 is integrated: sum of 0.1*k. */
static KoineStatus integrate_count(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->d[0];
    return KOINE_OK;
}

static unsigned tick(ToyBlock *b)
{
    if (b->cause & KOINE_AT_START) {
        b->next = 0.1;
        return 0;
    }
    if (!(b->cause & KOINE_AT_TIME))
        return 0;
    b->d[0] += 1;
    b->d[1] = b->time;
    b->next = 0.1 * (b->d[0] + 1);
    return KOINE_CHANGED | KOINE_RESTART;
}

static const KoineTables sampler_tables = TOY_TABLES("sampler", 1, 0, 0);
static const Toy sampler_toy = { .kind = TOY_KIND(sampler_tables, integrate_count), .fire = tick };

/* Steps end exactly at the events: the integral of a staircase is exact to rounding with every method. */
static void test_time_events_are_met_exactly(void **state)
{
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); ++k) {
        ToyRun run;
        toy_run(&sampler_toy, (KoineRunOptions){ .stop = 1.05, .solver = koine_solver_name(k) }, true, &run);
        assert_int_equal(run.report.end, KOINE_RUN_DONE);
        assert_int_equal(run.report.statistics.events.time_events, 10);
        assert_near(run.end.x[0], 0.1 * 45 + 0.05 * 10, 1e-9);
        assert_true(run.end.d[1] == 0.1 * 10);
        toy_done(&run);
    }
}

/* 0.1*3 is 0.30000000000000004: with stop 0.3 the third tick belongs to the end and is executed (S7). */
static void test_event_at_the_stop_time_is_executed_once(void **state)
{
    (void)state;
    ToyRun run;
    toy_run(&sampler_toy, (KoineRunOptions){ .stop = 0.3 }, true, &run);
    assert_int_equal(run.report.statistics.events.time_events, 3);
    assert_true(run.end.cause & KOINE_AT_STOP);
    assert_true(run.end.cause & KOINE_AT_TIME);
    assert_true(run.report.time == 0.3);
    const uint32_t n = run.memory->n;
    assert_int_equal(run.memory->point[n - 2].kind, KOINE_POINT_STOP); /* the left side of the last instant */
    assert_int_equal(run.memory->point[n - 1].kind, KOINE_POINT_RIGHT);
    assert_true(run.memory->point[n - 2].d[0] == 2 && run.memory->point[n - 1].d[0] == 3);
    toy_done(&run);
}

/* Grid 0.1 and ticks 0.1*k differ by rounding (0.1*3, 0.1*7 ...): still no third row. */
static void test_grid_point_at_an_event_gives_no_third_row(void **state)
{
    (void)state;
    ToyRun run;
    toy_run(&sampler_toy, (KoineRunOptions){ .stop = 1.05, .interval = 0.1 }, true, &run);
    assert_int_equal(memory_count(run.memory, KOINE_POINT_GRID), 0);
    assert_int_equal(memory_count(run.memory, KOINE_POINT_LEFT), 10);
    assert_int_equal(memory_count(run.memory, KOINE_POINT_RIGHT), 10);
    toy_done(&run);
    toy_run(&sampler_toy, (KoineRunOptions){ .stop = 1.05, .interval = 0.05 }, true, &run);
    assert_int_equal(memory_count(run.memory, KOINE_POINT_GRID), 10); /* 0.05, 0.15 ... 0.95 */
    toy_done(&run);
}

/* The same ticks, but they only count: x' = 1 is not disturbed. */
static KoineStatus constant(KoineModel *model)
{
    toy_block(model)->dx[0] = 1;
    return KOINE_OK;
}

static unsigned tick_quietly(ToyBlock *b)
{
    const unsigned flags = tick(b);
    if (flags)
        assert_near(b->x[0], b->time, 1e-12);
    b->next = 1e-3 * (b->d[0] + 1);
    return flags & ~(unsigned)KOINE_RESTART;
}

static const Toy quiet_toy = { .kind = TOY_KIND(sampler_tables, constant), .fire = tick_quietly };

static void test_time_events_without_restart_cost_no_steps(void **state)
{
    static const char *const names[] = { "dopri5", "dop853", "cvode-bdf", "cvode-adams", "ida", "auto" };
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        ToyRun run;
        toy_run(&quiet_toy, (KoineRunOptions){ .stop = 1.0005, .solver = names[k] }, false, &run);
        assert_int_equal(run.report.statistics.events.time_events, 1000);
        assert_true(run.report.statistics.integration.steps < 100);
        assert_near(run.end.x[0], 1.0005, 1e-12);
    }
}

/* A root at the time of a calendar entry is one instant with both causes. */
static unsigned note_cause(ToyBlock *b)
{
    if (b->cause & KOINE_AT_START) {
        b->next = 0.5;
        return 0;
    }
    b->d[0] += 1;
    b->d[1] = (double)b->cause;
    b->next = INFINITY;
    b->d[4] = 1;
    return KOINE_CHANGED;
}

static KoineStatus root_at_half(const ToyBlock *b, double *z)
{
    z[0] = b->d[4] != 0 ? 1 : 0.5 - b->time;
    z[1] = 1;
    return KOINE_OK;
}

static const Toy both_toy = { .kind = TOY_KIND(clock_tables, NULL), .roots = root_at_half, .fire = note_cause };

static void test_root_and_calendar_at_one_time_are_one_instant(void **state)
{
    (void)state;
    ToyRun run;
    toy_run(&both_toy, (KoineRunOptions){ .stop = 0.8, .interval = 0.2 }, false, &run);
    assert_int_equal(run.report.statistics.events.instants, 3); /* start, the event, stop */
    assert_int_equal(run.report.statistics.events.state_events, 1);
    assert_int_equal(run.report.statistics.events.time_events, 1);
}

/* --- Event steps --- */

/* Counts down from 5 at the start, one a step: five Takte; only sinks that ask see them. */
static unsigned count_down(ToyBlock *b)
{
    if (b->cause & KOINE_AT_START && b->event_step == 0)
        b->d[0] = 5;
    if (!(b->cause & KOINE_AT_START) || b->d[0] == 0)
        return 0;
    b->d[0] -= 1;
    return KOINE_CHANGED | (b->d[0] > 0 ? KOINE_COMMIT : 0);
}

static const KoineTables discrete_tables = TOY_TABLES("discrete", 0, 0, .capabilities = KOINE_IS_AUTONOMOUS);
static const Toy takt_toy = { .kind = TOY_KIND(discrete_tables, NULL), .fire = count_down };

static void test_event_steps_and_takts(void **state)
{
    (void)state;
    KoineModel *model = NULL;
    takt_toy.kind.create(&takt_toy.kind, NULL, &model);
    Memory *const all = memory_new(), *const some = memory_new();
    all->sink.wants_event_steps = true;
    KoineSink *sinks[] = { &all->sink, &some->sink };
    KoineRunReport report;
    koine_simulate(model, &(KoineRunOptions){ .stop = 1, .interval = 0.5, .sinks = sinks, .n_sinks = 2 }, &report);
    assert_int_equal(report.end, KOINE_RUN_DONE);
    assert_int_equal(report.statistics.events.event_steps, 6); /* five at the start, one empty one at the end */
    assert_int_equal(memory_count(all, KOINE_POINT_STEP), 6);
    assert_int_equal(memory_count(some, KOINE_POINT_STEP), 0);
    assert_int_equal(some->n, 4); /* START, RIGHT, GRID, STOP */
    assert_int_equal(some->point[1].event_step, 5);
    assert_true(some->point[1].time == 0 && some->point[2].time == 0.5 && some->point[3].time == 1);
    for (uint32_t k = 0; k < 5; ++k)
        assert_int_equal(all->point[1 + k].event_step, k);
    free(all);
    free(some);
    model->kind->destroy(model);
}

/* An event asked for at an accepted step; it ends the run. */
static unsigned ask(ToyBlock *b)
{
    return b->x[0] > 0.5 ? KOINE_COMMIT : 0;
}

static unsigned finish(ToyBlock *b)
{
    return b->cause & KOINE_AT_STEP ? KOINE_TERMINATE : 0;
}

static const Toy step_toy = { .kind = TOY_KIND(sampler_tables, constant), .fire = finish, .accepted = ask };

static void test_step_event_and_termination(void **state)
{
    (void)state;
    ToyRun run;
    toy_run(&step_toy, (KoineRunOptions){ .stop = 10, .step = 0.125, .solver = "rk4" }, false, &run);
    assert_int_equal(run.report.end, KOINE_RUN_TERMINATED);
    assert_true(run.report.time == 0.625);
    assert_non_null(strstr(run.report.text, "0.625"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ball_meets_its_contact_times_with_every_solver),
        cmocka_unit_test(test_both_sides_are_recorded),
        cmocka_unit_test(test_dips_inside_a_step_are_seen),
        cmocka_unit_test(test_earliest_root_first),
        cmocka_unit_test(test_simultaneous_roots_are_one_instant),
        cmocka_unit_test(test_events_without_restart_keep_the_step),
        cmocka_unit_test(test_time_events_are_met_exactly),
        cmocka_unit_test(test_event_at_the_stop_time_is_executed_once),
        cmocka_unit_test(test_grid_point_at_an_event_gives_no_third_row),
        cmocka_unit_test(test_time_events_without_restart_cost_no_steps),
        cmocka_unit_test(test_root_and_calendar_at_one_time_are_one_instant),
        cmocka_unit_test(test_event_steps_and_takts),
        cmocka_unit_test(test_step_event_and_termination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
