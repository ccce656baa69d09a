/* Runs that meet what cannot be computed, chains of events without end, and broken surroundings. */
#include "assertions.h"
#include "toy.h"

static const char *const sources[] = { "Model.mo" };

/* --- Branches frozen outside of their domain ---
 * x' = -1 - sqrt(x) while x > 0, x' = -1 + sqrt(-x) afterwards; the frozen first branch has no value for x < 0.
 * With u = sqrt(x): x(t) = 0 at t = 2*(u0 - ln(1 + u0)), here u0 = 1: 2*(1 - ln 2). */

static KoineStatus root_branch(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    const double x = b->d[0] != 0 ? -b->x[0] : b->x[0];
    if (x < 0) {
        model->fault.origin = 0;
        model->fault.variable = -1;
        snprintf(model->fault.text, sizeof model->fault.text, "square root of a negative number");
        return KOINE_RETRY;
    }
    b->dx[0] = b->d[0] != 0 ? -1 + sqrt(x) : -1 - sqrt(x);
    return KOINE_OK;
}

static KoineStatus sign_root(const ToyBlock *b, double *z)
{
    z[0] = b->d[0] != 0 ? -b->x[0] + 1e-30 : b->x[0];
    return KOINE_OK;
}

static void start_one(ToyBlock *b)
{
    b->x[0] = 1;
}

static unsigned change_branch(ToyBlock *b)
{
    if (!(b->cause & KOINE_AT_ROOTS))
        return 0;
    b->d[0] = b->d[0] == 0;
    b->d[1] = b->time;
    return KOINE_CHANGED | KOINE_RESTART;
}

static const KoineOrigin sqrt_roots[] = { { "x > 0", "", { 0, 7, 5 } } };
static const KoineOrigin sqrt_origins[] = { { "der(x) = -1 - sqrt(x)", "tank", { 0, 9, 3 } } };
static const KoineTables sqrt_tables = TOY_TABLES("sqrt", 1, 1, .roots.at = sqrt_roots, .text.origins = sqrt_origins,
                                                  .text.n_origins = 1, .text.sources = sources, .text.n_sources = 1);
static const Toy sqrt_toy = {
    .kind = TOY_KIND(sqrt_tables, root_branch), .start = start_one, .roots = sign_root, .fire = change_branch
};

static void test_frozen_branch_is_left_not_failed(void **state)
{
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); ++k) {
        const char *const name = koine_solver_name(k);
        const double tolerance = strstr(name, "euler") ? 2e-3 : 1e-5;
        ToyRun run;
        toy_run(&sqrt_toy, (KoineRunOptions){ .stop = 1, .step = 1e-3, .tolerance = 1e-8, .solver = name }, true, &run);
        if (run.report.end != KOINE_RUN_DONE)
            fail_msg("%s: %s", name, run.report.text);
        assert_near(run.end.d[1], 2 * (1 - log(2.0)), tolerance);
        assert_int_equal(run.report.statistics.events.state_events, 1);
        assert_true(run.end.x[0] < -0.1);
        toy_done(&run);
    }
}

/* The same equation without a condition: a true fault, named with line, path and time; what was computed stays. */
static KoineStatus no_root(const ToyBlock *b, double *z)
{
    (void)b;
    z[0] = 1;
    return KOINE_OK;
}

static const Toy fault_toy = { .kind = TOY_KIND(sqrt_tables, root_branch), .start = start_one, .roots = no_root };

static void test_true_fault_is_reported(void **state)
{
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); ++k) {
        ToyRun run;
        toy_run(&fault_toy, (KoineRunOptions){ .stop = 1, .step = 1e-3, .solver = koine_solver_name(k) }, true, &run);
        assert_int_equal(run.report.end, KOINE_RUN_FAILED);
        assert_non_null(strstr(run.report.text, "square root of a negative number"));
        assert_non_null(strstr(run.report.text, "der(x) = -1 - sqrt(x)"));
        assert_non_null(strstr(run.report.text, "tank"));
        assert_non_null(strstr(run.report.text, "Model.mo:9"));
        assert_int_equal(run.report.fault.origin, 0);
        assert_near(run.report.time, 2 * (1 - log(2.0)), 2e-3);
        assert_true(run.memory->n > 200);
        assert_int_equal(run.memory->ended, 1);
        toy_done(&run);
    }
}

/* Values that are not finite are found although the model reports success: x' = x^2, x = 1/(1 - t). */
static KoineStatus blow_up(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->x[0] * b->x[0];
    return KOINE_OK;
}

static const KoineTables blow_tables = TOY_TABLES("blow", 1, 0, 0);
static const Toy blow_toy = { .kind = TOY_KIND(blow_tables, blow_up), .start = start_one };

static void test_solution_that_ends_stops_the_run(void **state)
{
    static const char *const names[] = { "auto", "dopri5", "dop853", "cvode-bdf", "cvode-adams" };
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        ToyRun run;
        toy_run(&blow_toy, (KoineRunOptions){ .stop = 2, .solver = names[k] }, false, &run);
        assert_int_equal(run.report.end, KOINE_RUN_FAILED);
        assert_near(run.report.time, 1, 1e-4);
        assert_true(run.report.text[0] != '\0');
    }
}

/* RETRY now and then is not a fault: trial points beyond x = 1.2 fail, the solution 1 + 0.1 sin t stays below. */
static KoineStatus fenced(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    if (b->x[0] > 1.2 || b->time > 9.5)
        return b->x[0] > 1.2 ? KOINE_RETRY : KOINE_OK;
    b->dx[0] = 0.1 * cos(b->time);
    return KOINE_OK;
}

static const Toy fenced_toy = { .kind = TOY_KIND(blow_tables, fenced), .start = start_one };

static void test_retry_takes_a_smaller_step(void **state)
{
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); ++k) {
        ToyRun run;
        toy_run(&fenced_toy, (KoineRunOptions){ .stop = 9, .step = 0.01, .solver = koine_solver_name(k) }, false, &run);
        assert_int_equal(run.report.end, KOINE_RUN_DONE);
        assert_near(run.end.x[0], 1 + 0.1 * sin(9.0), 2e-3);
    }
}

/* A status below 0 ends the run at once. */
static KoineStatus fail_at_half(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = 1;
    if (b->time <= 0.5)
        return KOINE_OK;
    snprintf(model->fault.text, sizeof model->fault.text, "table ends at 0.5");
    return KOINE_FAILED;
}

static const Toy half_toy = { .kind = TOY_KIND(blow_tables, fail_at_half), .start = start_one };

static void test_failure_of_the_model_ends_the_run(void **state)
{
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); ++k) {
        ToyRun run;
        toy_run(&half_toy, (KoineRunOptions){ .stop = 1, .step = 0.01, .solver = koine_solver_name(k) }, true, &run);
        assert_int_equal(run.report.end, KOINE_RUN_FAILED);
        assert_non_null(strstr(run.report.text, "table ends at 0.5"));
        assert_true(run.report.time <= 0.5);
        assert_int_equal(run.memory->ended, 1);
        toy_done(&run);
    }
}

/* --- Chains without end --- */

/* Ball that keeps half its speed: contacts accumulate at sqrt(2h/g)*(1 + e)/(1 - e) = 3*sqrt(0.2). */
static KoineStatus fall(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->x[1];
    b->dx[1] = -10;
    return KOINE_OK;
}

static KoineStatus ground(const ToyBlock *b, double *z)
{
    z[0] = b->x[0] + b->d[1];
    return KOINE_OK;
}

static unsigned bounce(ToyBlock *b)
{
    if (!(b->cause & KOINE_AT_ROOTS))
        return 0;
    b->d[1] = 2 * fabs(b->x[0]) + 1e-30;
    b->x[1] = -0.5 * b->x[1];
    return KOINE_CHANGED | KOINE_STATES | KOINE_RESTART;
}

static unsigned leave_band(ToyBlock *b)
{
    if (b->x[0] > b->d[1])
        b->d[1] = 0;
    return 0;
}

static const KoineOrigin ball_roots[] = { { "h <= 0", "ball", { 0, 12, 3 } } };
static const KoineTables ball_tables =
    TOY_TABLES("ball", 2, 1, .roots.at = ball_roots, .text.sources = sources, .text.n_sources = 1);
static const Toy zeno_toy = {
    .kind = TOY_KIND(ball_tables, fall), .start = start_one, .roots = ground, .fire = bounce, .accepted = leave_band
};

static void test_zeno_is_named_with_its_accumulation_point(void **state)
{
    static const char *const names[] = { "auto", "dopri5", "dop853", "cvode-adams", "rk4" };
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        ToyRun run;
        toy_run(&zeno_toy, (KoineRunOptions){ .stop = 3, .step = 1e-2, .tolerance = 1e-9, .solver = names[k] }, false,
                &run);
        assert_int_equal(run.report.end, KOINE_RUN_FAILED);
        assert_non_null(strstr(run.report.text, "Zeno"));
        assert_non_null(strstr(run.report.text, "\"h <= 0\" of ball (Model.mo:12)"));
        const char *const at = strstr(run.report.text, "accumulate at time ");
        assert_non_null(at);
        assert_near(strtod(at + strlen("accumulate at time "), NULL), 3 * sqrt(0.2), 1e-5);
        assert_true(run.report.statistics.events.state_events < 60);
    }
}

/* Ideal relay x' = -sign(x): slides along x = 0 for ever. */
static KoineStatus relay(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->d[0] != 0 ? 1 : -1;
    return KOINE_OK;
}

static void start_relay(ToyBlock *b)
{
    b->x[0] = 0.3;
}

static KoineStatus relay_root(const ToyBlock *b, double *z)
{
    z[0] = b->d[0] != 0 ? -b->x[0] : b->x[0];
    if (b->d[2] > 0)
        z[0] += b->d[2];
    return KOINE_OK;
}

static unsigned switch_relay(ToyBlock *b)
{
    if (!(b->cause & KOINE_AT_ROOTS))
        return 0;
    b->d[0] = b->d[0] == 0;
    b->d[2] = 1e-15; /* the smallest band: a step of it back across zero */
    return KOINE_CHANGED | KOINE_RESTART;
}

static const KoineOrigin relay_roots[] = { { "x > 0", "relay", { 0, 4, 8 } } };
static const KoineTables relay_tables =
    TOY_TABLES("relay", 1, 1, .roots.at = relay_roots, .text.sources = sources, .text.n_sources = 1);
static const Toy relay_toy = {
    .kind = TOY_KIND(relay_tables, relay), .start = start_relay, .roots = relay_root, .fire = switch_relay
};

static void test_chattering_is_named(void **state)
{
    static const char *const names[] = { "auto", "dop853", "cvode-bdf", "rk4" };
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        ToyRun run;
        toy_run(&relay_toy, (KoineRunOptions){ .stop = 1, .solver = names[k], .stop_at_chattering = true }, false,
                &run);
        assert_int_equal(run.report.end, KOINE_RUN_FAILED);
        assert_int_equal(run.report.statistics.events.chatterings, 1);
        assert_non_null(strstr(run.report.text, "chattering"));
        assert_non_null(strstr(run.report.text, "\"x > 0\" of relay (Model.mo:4)"));
        assert_near(run.report.time, 0.3, 1e-6);
    }
}

/* Fast switching at constant gaps is legal: 200,000 events in one unit of time. */
static unsigned fast_tick(ToyBlock *b)
{
    b->d[0] += 1;
    b->next = 5e-6 * b->d[0];
    return KOINE_CHANGED;
}

static const KoineTables discrete_tables = TOY_TABLES("discrete", 0, 0, .capabilities = KOINE_IS_AUTONOMOUS);
static const Toy fast_toy = { .kind = TOY_KIND(discrete_tables, NULL), .fire = fast_tick };

static void test_fast_switching_is_legal(void **state)
{
    (void)state;
    ToyRun run;
    toy_run(&fast_toy, (KoineRunOptions){ .stop = 1 }, false, &run);
    assert_int_equal(run.report.end, KOINE_RUN_DONE);
    assert_int_equal(run.report.statistics.events.time_events, 200000);
}

/* A calendar that accumulates at t = 1, and one that stands still. */
static unsigned zeno_tick(ToyBlock *b)
{
    b->d[0] = b->d[0] == 0 ? 0.25 : b->d[0] / 2;
    b->next = b->time + b->d[0];
    return KOINE_CHANGED;
}

static unsigned still_tick(ToyBlock *b)
{
    b->next = 0.5;
    return KOINE_CHANGED;
}

static void test_calendars_without_end(void **state)
{
    static const Toy zeno = { .kind = TOY_KIND(discrete_tables, NULL), .fire = zeno_tick };
    static const Toy still = { .kind = TOY_KIND(discrete_tables, NULL), .fire = still_tick };
    (void)state;
    ToyRun run;
    toy_run(&zeno, (KoineRunOptions){ .stop = 1 }, false, &run);
    assert_int_equal(run.report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(run.report.text, "accumulate at time 0.5"));
    assert_int_equal(run.report.fault.cause, KOINE_CAUSE_ZENO);
    toy_run(&still, (KoineRunOptions){ .stop = 1 }, false, &run);
    assert_int_equal(run.report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(run.report.text, "the calendar stands still"));
    assert_int_equal(run.report.fault.cause, KOINE_CAUSE_TIME_STANDS);
    assert_near(run.report.time, 0.5, 0);
}

/* A model without a limit of its own. */
static unsigned for_ever(ToyBlock *b)
{
    b->d[0] = -b->d[0];
    return KOINE_CHANGED | KOINE_COMMIT;
}

static void test_event_steps_without_end(void **state)
{
    static const Toy endless = { .kind = TOY_KIND(discrete_tables, NULL), .fire = for_ever };
    (void)state;
    ToyRun run;
    toy_run(&endless, (KoineRunOptions){ .stop = 1, .max_steps = 50 }, false, &run);
    assert_int_equal(run.report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(run.report.text, "more than 50 event steps"));
    assert_int_equal(run.report.fault.cause, KOINE_CAUSE_EVENT_STEPS);
}

/* --- Surroundings --- */

static volatile int interrupt_flag;

static unsigned interrupt_at_half(ToyBlock *b)
{
    if (b->time >= 0.5)
        interrupt_flag = 1;
    return 0;
}

static KoineStatus constant(KoineModel *model)
{
    toy_block(model)->dx[0] = 1;
    return KOINE_OK;
}

static void test_interrupt_keeps_results(void **state)
{
    static const Toy toy = { .kind = TOY_KIND(blow_tables, constant), .accepted = interrupt_at_half };
    (void)state;
    interrupt_flag = 0;
    ToyRun run;
    toy_run(&toy,
            (KoineRunOptions){ .stop = 1, .interval = 0.125, .solver = "rk4", .listener.interrupt = &interrupt_flag },
            true, &run);
    assert_int_equal(run.report.end, KOINE_RUN_INTERRUPTED);
    assert_true(run.report.time == 0.5);
    assert_int_equal(run.memory->ended, 1);
    assert_int_equal(run.memory->n, 6); /* 0, 0.125, ... 0.5, and the point to go on from */
    assert_int_equal(run.memory->point[5].kind, KOINE_POINT_STOP);
    assert_non_null(strstr(run.report.text, "interrupted"));
    toy_done(&run);
}

/* A sink may wait when it begins, as for the reader of a pipe. */
static void test_interrupt_before_the_start_opens_no_results(void **state)
{
    static const Toy toy = { .kind = TOY_KIND(blow_tables, constant) };
    (void)state;
    interrupt_flag = 1;
    ToyRun run;
    toy_run(&toy, (KoineRunOptions){ .stop = 1, .solver = "rk4", .listener.interrupt = &interrupt_flag }, true, &run);
    assert_int_equal(run.report.end, KOINE_RUN_INTERRUPTED);
    assert_int_equal(run.memory->ended, 0);
    assert_int_equal(run.memory->n, 0);
    toy_done(&run);
}

static int calls_before_the_signal;

static KoineStatus decays_until_told(KoineModel *model)
{
    interrupt_flag |= --calls_before_the_signal == 0;
    toy_block(model)->dx[0] = -toy_block(model)->x[0];
    return KOINE_OK;
}

/* Whatever evaluates the model when the signal comes: it is an interrupted run, no failure. */
static void test_interrupt_in_any_evaluation_is_no_failure(void **state)
{
    static const char *const solvers[] = {
        "auto",       "dopri5",      "dop853", "cvode-bdf",        "cvode-adams",       "ida",
        "arkode-erk", "arkode-dirk", "rk4",    "simplex-fehlberg", "simplex-rosenbrock"
    };
    static const Toy toy = { .kind = TOY_KIND(blow_tables, decays_until_told) };
    (void)state;
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++)
        for (int call = 1; call < 120; call++) {
            interrupt_flag = 0;
            calls_before_the_signal = call;
            ToyRun run;
            toy_run(&toy,
                    (KoineRunOptions){ .stop = 1,
                                       .interval = 0.125,
                                       .max_step = 0.01,
                                       .step = 0.01,
                                       .solver = solvers[k],
                                       .listener.interrupt = &interrupt_flag },
                    true, &run);
            if (run.report.end != KOINE_RUN_DONE)
                assert_int_equal(run.report.end, KOINE_RUN_INTERRUPTED);
            else
                assert_true(run.report.time == 1);
            /* Of hundreds of evaluations few follow the signal. */
            fail_if(calls_before_the_signal < -40, "%s, call %d: %d more", solvers[k], call, -calls_before_the_signal);
            toy_done(&run);
        }
}

static void test_failing_sink_ends_the_run_and_others_are_closed(void **state)
{
    static const Toy toy = { .kind = TOY_KIND(blow_tables, constant) };
    (void)state;
    KoineModel *model = NULL;
    toy.kind.create(&toy.kind, NULL, &model);
    Memory *const good = memory_new(), *const bad = memory_new();
    bad->fail_at = 4;
    KoineSink *sinks[] = { &good->sink, &bad->sink };
    KoineRunReport report;
    koine_simulate(model, &(KoineRunOptions){ .stop = 1, .sinks = sinks, .n_sinks = 2 }, &report);
    assert_int_equal(report.end, KOINE_RUN_SINK);
    assert_non_null(strstr(report.text, "disk full"));
    assert_int_equal(good->n, 4);
    assert_int_equal(good->ended, 1);
    assert_int_equal(bad->ended, 1);
    free(good);
    free(bad);
    model->kind->destroy(model);
}

static KoineStatus fail_initialise(KoineModel *model, double time)
{
    (void)time;
    model->fault.variable = -1;
    model->fault.origin = -1;
    snprintf(model->fault.text, sizeof model->fault.text, "no initial values");
    return KOINE_FAILED;
}

static void test_failing_initialisation(void **state)
{
    static Toy toy = { .kind = TOY_KIND(blow_tables, constant) };
    toy.kind.initialise = fail_initialise;
    (void)state;
    ToyRun run;
    toy_run(&toy, (KoineRunOptions){ .stop = 1 }, true, &run);
    assert_int_equal(run.report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(run.report.text, "no initial values"));
    assert_int_equal(run.memory->begun, 0);
    toy_done(&run);
}

static void test_options_that_make_no_sense(void **state)
{
    static const Toy toy = { .kind = TOY_KIND(blow_tables, constant) };
    const KoineRunOptions wrong[] = {
        { .start = 1, .stop = 0 },
        { .stop = NAN },
        { .stop = 1, .interval = -1 },
        { .stop = 1, .tolerance = -1e-6 },
        { .stop = 1, .tolerance = 2 },
        { .stop = 1, .solver = "magic" },
        { .stop = 1, .max_step = -0.001 },
        { .stop = 1, .control.resolution = -1e-3 },
        { .stop = 3, .control.resolution = 1e-9 },
        { .stop = 3, .control.max_time = 2 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
        ToyRun run;
        toy_run(&toy, wrong[k], false, &run);
        assert_int_equal(run.report.end, KOINE_RUN_OPTIONS);
        assert_true(run.report.text[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frozen_branch_is_left_not_failed),
        cmocka_unit_test(test_true_fault_is_reported),
        cmocka_unit_test(test_solution_that_ends_stops_the_run),
        cmocka_unit_test(test_retry_takes_a_smaller_step),
        cmocka_unit_test(test_failure_of_the_model_ends_the_run),
        cmocka_unit_test(test_zeno_is_named_with_its_accumulation_point),
        cmocka_unit_test(test_chattering_is_named),
        cmocka_unit_test(test_fast_switching_is_legal),
        cmocka_unit_test(test_calendars_without_end),
        cmocka_unit_test(test_event_steps_without_end),
        cmocka_unit_test(test_interrupt_keeps_results),
        cmocka_unit_test(test_interrupt_before_the_start_opens_no_results),
        cmocka_unit_test(test_interrupt_in_any_evaluation_is_no_failure),
        cmocka_unit_test(test_failing_sink_ends_the_run_and_others_are_closed),
        cmocka_unit_test(test_failing_initialisation),
        cmocka_unit_test(test_options_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
