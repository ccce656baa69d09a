/* The time grid and continued runs, with hand-written models; test_simplex_grid.c has the same for compiled ones. */
#include "runtime/simplex/points.h"
#include "toy.h"

/* --- Points and times --- */

/* Quotients that rounding moves off a whole number; points a quarter of a cell away are not touched. */
static void test_rounding_to_grid_points(void **state)
{
    (void)state;
    assert_true(0.3 / 0.1 < 3); /* why ceil alone will not do */
    assert_true(koine_grid_from(0.1, 0.3) == 3 && koine_grid_after(0.1, 0.3) == 4 && koine_grid_until(0.1, 0.3) == 3);
    assert_true(koine_grid_from(0.001, 1.0005) == 1001 && koine_grid_after(0.001, 1.0005) == 1001);
    assert_true(koine_grid_from(0.001, -1.0005) == -1000 && koine_grid_after(0.001, -1) == -999);
    assert_true(koine_grid_nearest(0.001, 0.0004) == 0);
    for (double k = 1; k < 70368744177664.0; k = floor(k * 1.7) + 1)
        for (int n = 0; n < 5; ++n) {
            static const double grids[] = { 0.001, 0.1, 1.0 / 3, 0.7, 12 };
            const double t = koine_grid_time(grids[n], k), quarter = 0.25 * grids[n];
            assert_true(koine_grid_nearest(grids[n], t) == k);
            assert_true(koine_grid_from(grids[n], t) == k && koine_grid_until(grids[n], t) == k);
            if (k < 1e12)
                assert_true(koine_grid_from(grids[n], t + quarter) == k + 1);
        }
    for (int k = 0; k < 100000; ++k) { /* times are the numbers one writes */
        char text[32];
        snprintf(text, sizeof text, "%d.%03d", k / 1000, k % 1000);
        assert_true(koine_grid_time(0.001, k) == strtod(text, NULL));
    }
}

/* --- Steps --- */

enum { MAX_SEEN = 64 };
static double seen[MAX_SEEN]; /* ends of accepted steps */
static int n_seen;

static unsigned remember_step(ToyBlock *b)
{
    if (n_seen < MAX_SEEN)
        seen[n_seen++] = b->time;
    return 0;
}

static const KoineTables plain_tables = TOY_TABLES("plain", 1, 0, .n_variables = 0);

static KoineStatus ramp(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->time;
    return KOINE_OK;
}

static void start_calendar(ToyBlock *b)
{
    b->x[0] = 1;
    b->next = 7.5;
}

/* Nothing that is integrated changes: without a grid the solver would not restart. */
static unsigned fire_calendar(ToyBlock *b)
{
    if (b->cause & KOINE_AT_TIME) {
        b->next = INFINITY;
        b->d[0] = 1;
        return KOINE_CHANGED;
    }
    return 0;
}

static const Toy calendar_toy = {
    .kind = TOY_KIND(plain_tables, ramp), .start = start_calendar, .fire = fire_calendar, .accepted = remember_step
};

/* Output points at 4, 8, 12, a time event at 7.5, steps of 1.5: cut, but not made smaller. */
static void test_SX_137_steps_are_cut_on_the_grid(void **state)
{
    static const double ends[] = { 1.5, 3, 4, 5.5, 7, 7.5, 8, 9.5, 11, 12 };
    static const char *const names[] = { "euler", "heun", "rk4", "simplex-euler", "simplex-rk4", "simplex-gauss" };
    (void)state;
    for (int k = 0; k < 12; ++k) {
        const KoineRunOptions options = { .stop = 12,
                                          .interval = 4,
                                          .step = 1.5,
                                          .control.resolution = 0.5,
                                          .control.error_mode = KOINE_ERROR_NONE,
                                          .solver = names[k / 2] };
        ToyRun run;
        n_seen = 0;
        toy_run(&calendar_toy, options, k % 2 == 0, &run); /* whether or not anyone looks at the points */
        assert_int_equal(run.report.end, KOINE_RUN_DONE);
        assert_int_equal(n_seen, 10);
        for (int j = 0; j < 10; ++j)
            assert_true(seen[j] == ends[j]);
        assert_int_equal(run.report.statistics.integration.steps_cut_at_outputs, 2);
        assert_int_equal(run.report.statistics.integration.steps_cut_at_times, 1);
        toy_done(&run);
    }
}

/* x' = t by Euler steps that double, until an event that leaves the dynamics alone: then 0.5 again. */
static void test_SX_138_first_step_after_every_instant_on_the_grid(void **state)
{
    static const double ends[] = { 0.5, 1.5, 3.5, 7.5, 8, 9, 11, 15 };
    const KoineRunOptions options = { .stop = 15,
                                      .interval = 15,
                                      .control.first_step = 0.5,
                                      .control.high_error = 0.99,
                                      .control.low_error = 0.98,
                                      .control.resolution = 0.5,
                                      .solver = "simplex-euler" };
    (void)state;
    ToyRun run;
    n_seen = 0;
    toy_run(&calendar_toy, options, false, &run);
    assert_int_equal(n_seen, 8);
    for (int j = 0; j < 8; ++j)
        assert_true(seen[j] == ends[j]);
}

/* Steps of 0.3 on a grid of 1 end inside the cells, and at each grid point. */
static void test_steps_inside_a_cell(void **state)
{
    static const double ends[] = { 1, 2, 3 };
    (void)state;
    ToyRun run;
    n_seen = 0;
    toy_run(&calendar_toy,
            (KoineRunOptions){ .stop = 3, .interval = 1, .step = 0.3, .control.resolution = 1, .solver = "rk4" }, true,
            &run);
    assert_int_equal(n_seen, 3); /* what the run accepts */
    for (int j = 0; j < 3; ++j)
        assert_true(seen[j] == ends[j]);
    assert_int_equal(run.report.statistics.integration.steps, 12); /* 0.3, 0.6, 0.9, 1 in each */
    assert_near(run.end.x[0], 1 + 4.5, 1e-12);
    toy_done(&run);
}

/* --- Interrupted and continued --- */

static int interrupt;

static unsigned interrupt_at_two(ToyBlock *b)
{
    interrupt = b->time >= 2;
    return 0;
}

static KoineStatus decay(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = -b->x[0];
    return KOINE_OK;
}

static void start_at_one(ToyBlock *b)
{
    b->x[0] = 1;
}

/* Interrupted somewhere behind 2, on a grid at one of its points; taken up again from there, it ends where it would
 * have: e^-5. */
static void test_SX_189_interrupted_and_continued(void **state)
{
    static const Toy toy = { .kind = TOY_KIND(plain_tables, decay),
                             .start = start_at_one,
                             .accepted = interrupt_at_two };
    static const char *const names[] = { "dopri5", "cvode-bdf", "rk4", "simplex-fehlberg", "arkode-erk" };
    (void)state;
    for (int k = 0; k < 10; ++k) {
        KoineHost host = { .resolution = k % 2 ? 0.01 : 0 };
        KoineModel *model = NULL;
        assert_int_equal(toy.kind.create(&toy.kind, &host, &model), KOINE_OK);
        Memory *const memory = memory_new();
        KoineSink *sinks[1] = { &memory->sink };
        KoineRunOptions options = { .stop = 5,
                                    .interval = 0.5,
                                    .tolerance = 1e-8,
                                    .step = 0.05,
                                    .solver = names[k / 2],
                                    .listener.interrupt = &interrupt,
                                    .sinks = sinks,
                                    .n_sinks = 1 };
        KoineRunReport report;
        interrupt = 0;
        assert_int_equal(koine_simulate(model, &options, &report), KOINE_RUN_INTERRUPTED);
        const double time = toy_block(model)->time;
        assert_true(time == report.time && time >= 2 && time < 5);
        assert_near(toy_block(model)->x[0], exp(-time), 1e-6);
        if (k % 2)
            assert_true(time == koine_grid_time(0.01, koine_grid_nearest(0.01, time)));
        options.listener.interrupt = NULL;
        options.is_continued = true;
        const uint32_t before = memory->n;
        assert_int_equal(koine_simulate(model, &options, &report), KOINE_RUN_DONE);
        assert_int_equal(memory->point[before].kind, KOINE_POINT_START);
        assert_true(memory->point[before].time == time);
        assert_near(memory->point[before + 1].time, ceil(2 * time + 1e-9) / 2, 1e-9); /* the output grid goes on */
        assert_near(toy_block(model)->x[0], exp(-5), 1e-6);
        options.stop = 4; /* it stands at 5 */
        assert_int_equal(koine_simulate(model, &options, &report), KOINE_RUN_OPTIONS);
        assert_non_null(strstr(report.text, "stands at time 5"));
        free(memory);
        toy.kind.destroy(model);
    }
}

/* The model rounds its calendar by the host's grid: another one in the run is refused. */
static void test_one_grid_for_model_and_run(void **state)
{
    static const Toy toy = { .kind = TOY_KIND(plain_tables, decay), .start = start_at_one };
    const KoineHost host = { .resolution = 0.01 };
    KoineModel *model = NULL;
    KoineRunReport report;
    (void)state;
    assert_int_equal(toy.kind.create(&toy.kind, &host, &model), KOINE_OK);
    const KoineRunOptions wrong = { .stop = 1, .control.resolution = 0.02 }, right = { .stop = 1 };
    assert_int_equal(koine_simulate(model, &wrong, &report), KOINE_RUN_OPTIONS);
    assert_string_equal(report.text,
                        "the run has the time resolution 0.02, the model was created with 0.01: they must be the same");
    assert_int_equal(koine_simulate(model, &right, &report), KOINE_RUN_DONE);
    toy.kind.destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding_to_grid_points),
        cmocka_unit_test(test_SX_137_steps_are_cut_on_the_grid),
        cmocka_unit_test(test_SX_138_first_step_after_every_instant_on_the_grid),
        cmocka_unit_test(test_steps_inside_a_cell),
        cmocka_unit_test(test_SX_189_interrupted_and_continued),
        cmocka_unit_test(test_one_grid_for_model_and_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
