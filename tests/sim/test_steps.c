/* A run in pieces gives the bytes of one call, wherever it is divided. */
#include "assertions.h"
#include "formats/csv.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#define HERE     KOINE_SOURCE_DIR "/tests/sim/"
#define EXAMPLES KOINE_SOURCE_DIR "/examples/"
#define CSV      "test_steps.csv"

typedef struct {
    const char *path;
    double stop, interval, step, resolution;
} Scene;

static const Scene scenes[] = {
    { EXAMPLES "bouncing-ball/Ball.mdl", 1.5, 0.05, 0.01, 0 },                  /* state events */
    { EXAMPLES "bouncing-ball/Ball.mdl", 1.5, 0.05, 0.01, 0x1p-20 },            /* on a time grid */
    { EXAMPLES "heating/Heizung.mdl", 3, 0.1, 0.05, 0 },                        /* both sides of a band */
    { EXAMPLES "case-studies/Case4.mdl", 5, 0.25, 0.125, 0 },                   /* events and no states */
    { EXAMPLES "single-server/Server.mdl", 20, 1, 0.5, 0 },                     /* random time events */
    { EXAMPLES "sampled-control/controller.dym", 1, 0.03, 0.01, 0 },            /* time events while states move */
    { EXAMPLES "pendulum/pendulum.dym", 1, 0.1, 0.01, 0 },                      /* algebraic systems */
    { HERE "dymola/pulses.dym", 2, 0.1, 0.01, 0 },                              /* steps that are made again */
    { KOINE_SOURCE_DIR "/tests/models/dead_times/Mackey.mdl", 30, 1, 0.25, 0 }, /* dead time */
    { HERE "simplex/delay/Signals.mdl", 3, 0.1, 0.05, 0 },
    { EXAMPLES "triangle/Dreieck.mdl", 5, 0.1, 0.05, 0x1p-16 }, /* states reset at events, on a time grid */
};
enum { N_SCENES = sizeof scenes / sizeof scenes[0], MOST_TIMES = 64 };

/* ---- Runs ------------------------------------------------------------------------------------------------------- */

typedef struct {
    char *bytes; /* of the CSV file */
    size_t size;
    KoineRunReport report;
    double instants[MOST_TIMES]; /* times of the first events */
    uint32_t n_instants;
} Ran;

typedef struct {
    KoineSink sink; /* first member */
    Ran *ran;
    double time; /* of the last point */
    unsigned char *block;
} Watcher;

static KoineStatus watch_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    Watcher *w = (Watcher *)(void *)sink;
    if (point->kind == KOINE_POINT_LEFT && w->ran->n_instants < MOST_TIMES)
        w->ran->instants[w->ran->n_instants++] = point->time;
    w->time = point->time;
    w->block = realloc(w->block, model->size);
    memcpy(w->block, model->block, model->size);
    return KOINE_OK;
}

static char *read_all(const char *path, size_t *size)
{
    char *bytes = NULL;
    FILE *file = fopen(path, "rb"), *copy = open_memstream(&bytes, size);
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;)
        fputc(c, copy);
    fclose(file);
    fclose(copy);
    return bytes;
}

/* What the block shows at a point of the output grid is what was recorded there. */
static void expect_recorded(const Watcher *w, const KoineModel *model)
{
    const KoineTables *t = model->kind->tables;
    for (uint32_t k = 0; k < t->n_variables; k++) {
        const KoineVariable *v = &t->variables[k];
        if (v->now != KOINE_NO_OFFSET)
            assert_memory_equal(w->block + v->now, model->block + v->now, sizeof(KoineSlot) * v->count);
    }
}

static void advance_through(KoineRun *run, const KoineModel *model, const Watcher *w, const KoineRunReport *report,
                            const double *times, uint32_t n)
{
    for (uint32_t k = 0; k < n && koine_run_advance(run, times[k]); k++) {
        const KoineTables *t = model->kind->tables;
        double time;
        memcpy(&time, model->block + t->time, sizeof time);
        assert_float_equal(time, report->time, 0);
        if (w->time == time)
            expect_recorded(w, model);
    }
}

static Ran *run_scene(const KoineModelKind *kind, const Scene *scene, const char *solver, const double *times,
                      uint32_t n)
{
    Ran *ran = calloc(1, sizeof *ran);
    Arena *arena = arena_create(NULL);
    const KoineHost host = { .resolution = scene->resolution, .tolerance = 1e-6 };
    KoineModel *model;
    Watcher watcher = { .sink = { .point = watch_point }, .ran = ran, .time = NAN };
    KoineSink *sinks[] = { csv_sink(&(CsvOptions){ .path = CSV }, arena), &watcher.sink };
    const KoineRunOptions options = { .stop = scene->stop,
                                      .interval = scene->interval,
                                      .step = scene->step,
                                      .solver = solver,
                                      .control = { .resolution = scene->resolution },
                                      .sinks = sinks,
                                      .n_sinks = 2 };
    if (kind->create(kind, &host, &model) != KOINE_OK)
        fail_msg("there is no instance");
    if (times) {
        KoineRun *run = koine_run_open(model, &options, &ran->report);
        advance_through(run, model, &watcher, &ran->report, times, n);
        koine_run_advance(run, scene->stop);
        koine_run_close(run);
    } else {
        koine_simulate(model, &options, &ran->report);
    }
    kind->destroy(model);
    ran->bytes = read_all(CSV, &ran->size);
    free(watcher.block);
    arena_destroy(arena);
    return ran;
}

static void free_ran(Ran *ran)
{
    free(ran->bytes);
    free(ran);
}

/* ---- Divisions -------------------------------------------------------------------------------------------------- */

static uint32_t next_number(uint32_t *seed)
{
    return *seed = *seed * 1664525u + 1013904223u;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Random times, times of events and of the output grid, the doubles beside them, some of them twice. */
static uint32_t choose_times(const Ran *once, const Scene *scene, uint32_t seed, double *times)
{
    uint32_t n = 0;
    times[n++] = 0;
    while (n < MOST_TIMES) {
        const uint32_t way = next_number(&seed) >> 16;
        const double share = (double)next_number(&seed) / 4294967296.0;
        double time = share * scene->stop;
        if (way % 4 == 1 && once->n_instants)
            time = once->instants[(uint32_t)(share * once->n_instants)];
        if (way % 4 == 2)
            time = scene->interval * floor(time / scene->interval);
        if (way % 16 > 12)
            time = nextafter(time, way & 16 ? INFINITY : -INFINITY);
        times[n++] = time;
        if (way % 5 == 0 && n < MOST_TIMES)
            times[n++] = time;
    }
    qsort(times, n, sizeof *times, by_value);
    return n;
}

static void divide(const KoineModelKind *kind, const Scene *scene, const char *solver, uint32_t seed)
{
    double times[MOST_TIMES];
    Ran *once = run_scene(kind, scene, solver, NULL, 0);
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t n = choose_times(once, scene, seed + k, times);
        Ran *pieces = run_scene(kind, scene, solver, times, n);
        if (once->size != pieces->size || memcmp(once->bytes, pieces->bytes, once->size) != 0)
            fail_msg("%s, %s: division %u gives other bytes (%s)", scene->path, solver, seed + k, pieces->report.text);
        assert_int_equal(once->report.end, pieces->report.end);
        assert_string_equal(once->report.text, pieces->report.text);
        assert_float_equal(once->report.time, pieces->report.time, 0);
        assert_int_equal(once->report.statistics.integration.steps, pieces->report.statistics.integration.steps);
        assert_int_equal(once->report.statistics.events.instants, pieces->report.statistics.events.instants);
        assert_int_equal(once->report.statistics.events.points, pieces->report.statistics.events.points);
        free_ran(pieces);
    }
    free_ran(once);
}

static void any_division_gives_the_same_bytes(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SCENES; k++) {
        Compilation *c = compilation_create(NULL);
        const char *why = NULL;
        if (!compilation_load(c, &(CompileRequest){ .path = scenes[k].path, .task_span = SPAN_NONE }) ||
            !compilation_schedule(c))
            fail_msg("%s does not compile", scenes[k].path);
        const KoineModelKind *kind = compilation_kind(c, "interp", &why);
        for (uint32_t solver = 0; koine_solver_name(solver); solver++)
            divide(kind, &scenes[k], koine_solver_name(solver), 100 * k + 2 * solver);
        compilation_destroy(c);
    }
    unlink(CSV);
}

/* ---- Ends ------------------------------------------------------------------------------------------------------- */

typedef struct {
    Compilation *compilation;
    KoineModel *model;
} Ball;

static Ball make_ball(void)
{
    static const KoineHost host = { .tolerance = 1e-6 };
    Ball ball = { .compilation = compilation_create(NULL) };
    const char *why = NULL;
    compilation_load(ball.compilation, &(CompileRequest){ .path = scenes[0].path, .task_span = SPAN_NONE });
    compilation_schedule(ball.compilation);
    const KoineModelKind *kind = compilation_kind(ball.compilation, "interp", &why);
    assert_int_equal(kind->create(kind, &host, &ball.model), KOINE_OK);
    return ball;
}

static void free_ball(Ball *ball)
{
    ball->model->kind->destroy(ball->model);
    compilation_destroy(ball->compilation);
}

/* Without sinks nobody interpolates, and a step of the solver is far longer than the pieces. */
static void values_are_those_of_the_time_asked_for(void **state)
{
    (void)state;
    Ball ball = make_ball();
    KoineRunReport report;
    const double y0 = value_of(ball.model, "Y");
    KoineRun *run = koine_run_open(ball.model, &(KoineRunOptions){ .stop = 1 }, &report);
    for (int k = 1; k <= 20; k++) {
        const double t = 0.01 * k;
        assert_true(koine_run_advance(run, t));
        expect_near(value_of(ball.model, "Y"), y0 - 0.5 * 9.81 * t * t, 1e-6);
    }
    assert_true(koine_run_advance(run, 0.1)); /* the run is beyond */
    assert_float_equal(report.time, 0.2, 0);
    assert_true(koine_run_advance(run, NAN));
    assert_float_equal(report.time, 0.2, 0);
    assert_false(koine_run_advance(run, INFINITY));
    assert_false(koine_run_advance(run, 2));
    assert_int_equal(koine_run_close(run), KOINE_RUN_DONE);
    assert_float_equal(report.time, 1, 0);
    assert_true(report.statistics.integration.steps < 60);
    free_ball(&ball);
}

static void a_run_closed_early_can_be_continued(void **state)
{
    (void)state;
    Ball ball = make_ball();
    KoineRunReport report;
    KoineRunOptions options = { .stop = 1, .tolerance = 1e-9 };
    KoineRun *run = koine_run_open(ball.model, &options, &report);
    assert_true(koine_run_advance(run, 0.3));
    assert_int_equal(koine_run_close(run), KOINE_RUN_INTERRUPTED);
    assert_float_equal(report.time, 0.3, 0);
    const double y = value_of(ball.model, "Y");
    options.is_continued = true;
    run = koine_run_open(ball.model, &options, &report);
    assert_true(koine_run_advance(run, 0.3));
    expect_near(value_of(ball.model, "Y"), y, 1e-12);
    assert_false(koine_run_advance(run, 1));
    assert_int_equal(koine_run_close(run), KOINE_RUN_DONE);
    const double in_parts = value_of(ball.model, "Y");
    free_ball(&ball);
    ball = make_ball();
    options.is_continued = false;
    assert_int_equal(koine_simulate(ball.model, &options, &report), KOINE_RUN_DONE);
    expect_near(in_parts, value_of(ball.model, "Y"), 1e-6);
    free_ball(&ball);
}

static void a_flag_ends_a_run_where_it_waits(void **state)
{
    (void)state;
    Ball ball = make_ball();
    KoineRunReport report;
    Ran ran = { 0 };
    volatile int interrupt = 0;
    Watcher watcher = { .sink = { .point = watch_point }, .ran = &ran, .time = NAN };
    KoineSink *sinks[] = { &watcher.sink };
    const KoineRunOptions options = { .stop = 1, .sinks = sinks, .n_sinks = 1, .listener.interrupt = &interrupt };
    KoineRun *run = koine_run_open(ball.model, &options, &report);
    assert_true(koine_run_advance(run, 0.123));
    interrupt = 1;
    assert_false(koine_run_advance(run, 0.2));
    assert_int_equal(koine_run_close(run), KOINE_RUN_INTERRUPTED);
    assert_float_equal(report.time, 0.123, 0);
    assert_float_equal(watcher.time, 0.123, 0);
    free(watcher.block);
    free_ball(&ball);
}

static void a_run_that_cannot_begin_has_ended(void **state)
{
    (void)state;
    Ball ball = make_ball();
    KoineRunReport report;
    KoineRun *run = koine_run_open(ball.model, &(KoineRunOptions){ .stop = -1 }, &report);
    assert_non_null(run);
    assert_false(koine_run_advance(run, 1));
    assert_int_equal(koine_run_close(run), KOINE_RUN_OPTIONS);
    assert_non_null(strstr(report.text, "before the start"));
    free_ball(&ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_division_gives_the_same_bytes),   cmocka_unit_test(values_are_those_of_the_time_asked_for),
        cmocka_unit_test(a_run_closed_early_can_be_continued), cmocka_unit_test(a_flag_ends_a_run_where_it_waits),
        cmocka_unit_test(a_run_that_cannot_begin_has_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
