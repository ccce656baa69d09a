/* Properties of runs: determinism, memory, growth of the block, progress, statistics. */
#include "toy.h"

/* --- Counting allocations: glibc lets a program replace malloc --- */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define COUNTS_ALLOCATIONS 1
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
#else
#define COUNTS_ALLOCATIONS 0
#endif

static bool is_counting;
static uint64_t allocations;

#if COUNTS_ALLOCATIONS
void *malloc(size_t size)
{
    allocations += is_counting;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    allocations += is_counting;
    return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    allocations += is_counting;
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    allocations += is_counting;
    return __libc_memalign(alignment, size);
}
#endif

/* --- A ball that bounces and is sampled: states, roots, calendar --- */

static KoineStatus fall(KoineModel *model)
{
    ToyBlock *const b = toy_block(model);
    b->dx[0] = b->x[1];
    b->dx[1] = -10 - 0.1 * b->x[1] * fabs(b->x[1]);
    return KOINE_OK;
}

static void start_high(ToyBlock *b)
{
    b->x[0] = 1;
    b->next = 0.3;
}

static KoineStatus ground(const ToyBlock *b, double *z)
{
    z[0] = b->x[0] + b->d[1];
    return KOINE_OK;
}

static unsigned events(ToyBlock *b)
{
    unsigned flags = 0;
    is_counting = !(b->cause & KOINE_AT_STOP);
    if (b->cause & KOINE_AT_ROOTS) {
        b->d[1] = 2 * fabs(b->x[0]) + 1e-15;
        b->x[1] = -0.9 * b->x[1];
        flags |= KOINE_CHANGED | KOINE_STATES | KOINE_RESTART;
    }
    if (b->cause & KOINE_AT_TIME) {
        b->d[0] += 1;
        b->next = 0.3 * (b->d[0] + 1);
        flags |= KOINE_CHANGED;
    }
    return flags;
}

static unsigned leave_band(ToyBlock *b)
{
    if (b->x[0] > b->d[1])
        b->d[1] = 0;
    return 0;
}

static const KoineOrigin roots[] = { { "h <= 0", "", { 0 } } };
static const KoineTables ball_tables = TOY_TABLES("ball", 2, 1, .roots.at = roots);
static const Toy ball_toy = {
    .kind = TOY_KIND(ball_tables, fall), .start = start_high, .roots = ground, .fire = events, .accepted = leave_band
};

/* Two runs give the same bytes, point by point. */
static void test_runs_are_deterministic(void **state)
{
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); ++k) {
        const KoineRunOptions options = { .stop = 3, .step = 0.01, .solver = koine_solver_name(k) };
        ToyRun a, b;
        toy_run(&ball_toy, options, true, &a);
        toy_run(&ball_toy, options, true, &b);
        assert_int_equal(a.report.end, KOINE_RUN_DONE);
        assert_int_equal(a.memory->n, b.memory->n);
        assert_memory_equal(a.memory->point, b.memory->point, a.memory->n * sizeof a.memory->point[0]);
        assert_int_equal(a.report.statistics.integration.evaluations, b.report.statistics.integration.evaluations);
        toy_done(&a);
        toy_done(&b);
    }
}

/* Between the start instant and the stop instant nothing is allocated: steps, events, restarts, recording. */
static void test_no_allocation_in_the_loop(void **state)
{
    static const char *const names[] = { "dopri5", "dop853", "euler", "heun", "rk4", "cvode-adams", "cvode-bdf" };
    (void)state;
    if (!COUNTS_ALLOCATIONS)
        skip();
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        ToyRun run;
        allocations = 0;
        toy_run(&ball_toy, (KoineRunOptions){ .stop = 3, .step = 0.01, .solver = names[k] }, true, &run);
        is_counting = false;
        assert_int_equal(run.report.end, KOINE_RUN_DONE);
        assert_true(run.report.statistics.events.instants > 10);
        if (allocations)
            fail_msg("%s allocates %llu times", names[k], (unsigned long long)allocations);
        toy_done(&run);
    }
}

/* --- Growth of the block --- */

static KoineStatus grow_commit(KoineModel *model, KoineOutcome *outcome)
{
    if (model->size < 10 * sizeof(ToyBlock))
        return KOINE_GROW;
    for (uint64_t k = model->size - sizeof(double); k > model->size / 2; k -= 64)
        assert_int_equal(model->block[k], 0);
    return toy_commit(model, outcome);
}

static KoineStatus grow_accept(KoineModel *model, double time, const double *x, KoineOutcome *outcome)
{
    assert_ptr_equal(x, toy_block(model)->x);
    if (model->size < 100 * sizeof(ToyBlock) && time > 1)
        return KOINE_GROW;
    return toy_accept(model, time, x, outcome);
}

static KoineStatus grow_leave(KoineModel *model, KoineOutcome *outcome)
{
    if (model->size < 1000 * sizeof(ToyBlock) && toy_block(model)->time > 2)
        return KOINE_GROW;
    return toy_leave(model, outcome);
}

static void test_block_grows(void **state)
{
    Toy toy = ball_toy;
    toy.kind.commit = grow_commit;
    toy.kind.accept = grow_accept;
    toy.kind.leave = grow_leave;
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); ++k) {
        const KoineRunOptions options = { .stop = 3, .step = 0.01, .solver = koine_solver_name(k) };
        ToyRun grown, plain;
        toy_run(&toy, options, true, &grown);
        toy_run(&ball_toy, options, true, &plain);
        assert_int_equal(grown.report.end, KOINE_RUN_DONE);
        assert_int_equal(grown.memory->n, plain.memory->n);
        assert_memory_equal(grown.memory->point, plain.memory->point, plain.memory->n * sizeof plain.memory->point[0]);
        toy_done(&grown);
        toy_done(&plain);
    }
}

static KoineStatus grow_for_ever(KoineModel *model, KoineOutcome *outcome)
{
    (void)outcome;
    snprintf(model->fault.text, sizeof model->fault.text, "queue overflows");
    return model->size < 100000 ? KOINE_GROW : KOINE_LIMIT;
}

static void test_limit_of_the_model_is_reported(void **state)
{
    Toy toy = ball_toy;
    toy.kind.commit = grow_for_ever;
    (void)state;
    ToyRun run;
    toy_run(&toy, (KoineRunOptions){ .stop = 3 }, false, &run);
    assert_int_equal(run.report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(run.report.text, "queue overflows"));
}

/* --- A kind with the required functions only --- */

static KoineStatus evaluate_decay(KoineModel *model, const KoineEvaluation *at)
{
    (void)model;
    if (at->want & KOINE_WANT_DER)
        at->der[0] = -at->x[0];
    return KOINE_OK;
}

static void start_one(ToyBlock *b)
{
    b->x[0] = 1;
}

static const KoineTables decay_tables = TOY_TABLES("decay", 1, 0, 0);

static void test_derivatives_function_is_optional(void **state)
{
    Toy toy = { .kind = TOY_KIND(decay_tables, NULL), .start = start_one };
    toy.kind.evaluate = evaluate_decay;
    toy.kind.size = offsetof(KoineModelKind, counts); /* of a model built for an older program */
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); ++k) {
        ToyRun run;
        toy_run(&toy, (KoineRunOptions){ .stop = 1, .step = 1e-3, .solver = koine_solver_name(k) }, true, &run);
        assert_int_equal(run.report.end, KOINE_RUN_DONE);
        assert_near(run.end.x[0], exp(-1.0), 5e-4);
        toy_done(&run);
    }
}

/* --- Recording, progress, statistics --- */

static void note_progress(void *context, double time)
{
    double *const seen = context;
    assert_true(time >= seen[0]);
    seen[0] = time;
    seen[1] += 1;
}

static void test_progress_and_statistics(void **state)
{
    double seen[2] = { 0, 0 };
    (void)state;
    ToyRun run;
    toy_run(
        &ball_toy,
        (KoineRunOptions){
            .stop = 3, .step = 1e-3, .solver = "rk4", .listener.progress = note_progress, .listener.context = seen },
        true, &run);
    const KoineRunStatistics *const s = &run.report.statistics;
    assert_true(seen[1] >= 5 && seen[0] <= 3);
    assert_true(s->integration.steps >= 3000 && s->integration.evaluations >= 4 * s->integration.steps);
    assert_int_equal(s->events.time_events, 10);
    assert_int_equal(s->events.instants,
                     2 + s->events.state_events + s->events.time_events - 1); /* start, and stop with the tenth tick */
    assert_int_equal(s->events.points, run.memory->n);
    assert_int_equal(s->integration.restarts, s->events.state_events);
    assert_true(s->integration.root_evaluations >= s->integration.steps);
    assert_true(s->total_seconds > 0 && s->model_seconds <= s->total_seconds && s->solver_seconds <= s->total_seconds);
    assert_string_equal(s->solver, "rk4");
    toy_done(&run);
}

/* Times rise, the grid is start + k*interval to the bit, outputs belong to the point. */
static void test_points_are_ordered_and_valid(void **state)
{
    (void)state;
    ToyRun run;
    toy_run(&ball_toy, (KoineRunOptions){ .start = 1, .stop = 4, .interval = 0.07, .solver = "dopri5" }, true, &run);
    uint32_t grid = 0;
    for (uint32_t p = 0; p < run.memory->n; ++p) {
        assert_true(p == 0 || run.memory->point[p].time >= run.memory->point[p - 1].time);
        assert_true(run.memory->point[p].output == run.memory->point[p].x[0] + 1000 * run.memory->point[p].d[0]);
        assert_true(run.memory->point[p].x[0] > -1e-9);
        if (run.memory->point[p].kind == KOINE_POINT_GRID) {
            ++grid;
            const double k = round((run.memory->point[p].time - 1) / 0.07);
            assert_true(run.memory->point[p].time == 1 + k * 0.07);
        }
    }
    assert_int_equal(grid, 41); /* 42 of them in 3 units of time, the one at 2.4 is a tick */
    toy_done(&run);
}

static KoineStatus own_begin(KoineSink *sink, const KoineModel *model)
{
    sink->next_time = 0.25;
    return memory_begin(sink, model);
}

static KoineStatus own_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    while (sink->next_time <= point->time)
        sink->next_time += 0.25;
    return memory_point(sink, model, point);
}

/* A sink with a grid of its own gets its points and the instants; the other one sees nothing of it. */
static void test_sink_with_its_own_grid(void **state)
{
    (void)state;
    const KoineRunOptions plain = { .stop = 3, .interval = 0.07, .solver = "dopri5" };
    ToyRun alone;
    toy_run(&ball_toy, plain, true, &alone);
    Memory *const other = memory_new(), *const own = memory_new();
    own->sink.has_own_grid = true;
    own->sink.begin = own_begin;
    own->sink.point = own_point;
    KoineSink *const sinks[] = { &other->sink, &own->sink };
    KoineRunOptions options = plain;
    options.sinks = sinks;
    options.n_sinks = 2;
    KoineModel *model = NULL;
    KoineRunReport report;
    assert_int_equal(ball_toy.kind.create(&ball_toy.kind, NULL, &model), KOINE_OK);
    assert_int_equal(koine_simulate(model, &options, &report), KOINE_RUN_DONE);
    ball_toy.kind.destroy(model);
    assert_int_equal(other->n, alone.memory->n);
    assert_memory_equal(other->point, alone.memory->point, other->n * sizeof other->point[0]);
    uint32_t grid = 0;
    for (uint32_t p = 0; p < own->n; ++p)
        if (own->point[p].kind == KOINE_POINT_GRID) {
            ++grid;
            assert_true(own->point[p].time == 0.25 * round(own->point[p].time / 0.25));
        }
    assert_int_equal(grid, 10); /* 0.25 to 2.75 without 1.5, which is a tick */
    assert_int_equal(memory_count(own, KOINE_POINT_LEFT), memory_count(other, KOINE_POINT_LEFT));
    free(own);
    free(other);
    toy_done(&alone);
}

/* A run of no length: one instant that is start and stop. */
static void test_empty_run(void **state)
{
    (void)state;
    ToyRun run;
    toy_run(&ball_toy, (KoineRunOptions){ .start = 2, .stop = 2 }, true, &run);
    assert_int_equal(run.report.end, KOINE_RUN_DONE);
    assert_int_equal(run.memory->n, 1);
    assert_int_equal(run.report.statistics.events.instants, 1);
    assert_int_equal(run.end.cause, KOINE_AT_START | KOINE_AT_STOP);
    toy_done(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_are_deterministic),
        cmocka_unit_test(test_no_allocation_in_the_loop),
        cmocka_unit_test(test_block_grows),
        cmocka_unit_test(test_limit_of_the_model_is_reported),
        cmocka_unit_test(test_derivatives_function_is_optional),
        cmocka_unit_test(test_progress_and_statistics),
        cmocka_unit_test(test_points_are_ordered_and_valid),
        cmocka_unit_test(test_sink_with_its_own_grid),
        cmocka_unit_test(test_empty_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
