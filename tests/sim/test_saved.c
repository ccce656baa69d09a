/* A run that is saved, goes on, is taken up where it was saved and goes on again gives the bytes of one that just went
 * on: in the same run, and in another instance, from bytes. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define HERE     KOINE_SOURCE_DIR "/tests/sim/"
#define MODELS   KOINE_SOURCE_DIR "/tests/models/"
#define EXAMPLES KOINE_SOURCE_DIR "/examples/"

typedef struct {
    const char *path;
    double stop, interval, step, resolution;
    const char *solver; /* NULL: each of them */
} Scene;

static const Scene scenes[] = {
    { EXAMPLES "bouncing-ball/Ball.mdl", 1.5, 0.05, 0.01, 0, NULL },                  /* state events */
    { EXAMPLES "bouncing-ball/Ball.mdl", 1.5, 0.05, 0.01, 0x1p-20, NULL },            /* on a time grid */
    { EXAMPLES "heating/Heizung.mdl", 3, 0.1, 0.05, 0, NULL },                        /* both sides of a band */
    { EXAMPLES "case-studies/Case4.mdl", 5, 0.25, 0.125, 0, NULL },                   /* events and no states */
    { EXAMPLES "single-server/Server.mdl", 20, 1, 0.5, 0, NULL },                     /* random time events */
    { EXAMPLES "sampled-control/controller.dym", 1, 0.03, 0.01, 0, NULL },            /* time events */
    { EXAMPLES "pendulum/pendulum.dym", 1, 0.1, 0.01, 0, NULL },                      /* algebraic systems */
    { HERE "dymola/pulses.dym", 2, 0.1, 0.01, 0, NULL },                              /* steps that are made again */
    { KOINE_SOURCE_DIR "/tests/models/dead_times/Mackey.mdl", 30, 1, 0.25, 0, NULL }, /* dead time */
    { HERE "simplex/delay/Signals.mdl", 3, 0.1, 0.05, 0, NULL },
    { EXAMPLES "triangle/Dreieck.mdl", 5, 0.1, 0.05, 0x1p-16, NULL }, /* states reset at events, on a time grid */
    { HERE "chatter/friction.dym", 2, 0.05, 0.01, 0, "auto" },        /* comparisons that are held back */
    { HERE "chatter/three_masses.dym", 2, 0.05, 0.01, 0, "auto" },
    { HERE "index/fourbar.dym", 2, 0.05, 0.01, 0, "dop853" }, /* states that are chosen */
    { HERE "jumps/collision.dym", 2, 0.05, 0.01, 0, "dopri5" },
    { HERE "switching/buck.dym", 0.002, 1e-4, 1e-5, 0, "auto" },
    { HERE "procedures/ticks.ir", 2, 0.05, 0.01, 0, "dopri5" },
    { HERE "ir/after_steps.ir", 2, 0.05, 0.01, 0, "heun" },
    { HERE "ir/heat.ir", 2, 0.05, 0.01, 0, NULL },      /* 100 states: sparse matrices */
    { HERE "modes/clutch.ir", 3, 0.05, 0.01, 0, NULL }, /* another index, other states */
    { HERE "modes/rope.ir", 2, 0.05, 0.01, 0, "auto" },
    { HERE "modes/slip.ir", 8, 0.1, 0.01, 0, "dop853" },
    { HERE "ir/stiff.ir", 1, 0.05, 1e-4, 0, "auto" },   /* it goes over to cvode-bdf */
    { HERE "ir/stiff.ir", 1, 0.05, 1e-4, 0, "dopri5" }, /* as long as is stable */
};
enum { N_SCENES = sizeof scenes / sizeof scenes[0], MOST_TIMES = 24 };

/* ---- What is recorded ------------------------------------------------------------------------------------------- */

typedef struct {
    KoineSink sink; /* first member */
    unsigned char *bytes;
    size_t n, capacity;
} Record;

static void add(Record *r, const void *bytes, size_t n)
{
    if (r->n + n > r->capacity) {
        r->capacity = 2 * (r->n + n);
        r->bytes = realloc(r->bytes, r->capacity);
    }
    memcpy(r->bytes + r->n, bytes, n);
    r->n += n;
}

static KoineStatus record_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    Record *r = (Record *)(void *)sink;
    const KoineTables *t = model->kind->tables;
    add(r, &point->time, sizeof point->time);
    add(r, &point->kind, sizeof point->kind);
    for (uint32_t k = 0; k < t->n_variables; k++)
        if (t->variables[k].now != KOINE_NO_OFFSET)
            add(r, model->block + t->variables[k].now, sizeof(KoineSlot) * t->variables[k].count);
    return KOINE_OK;
}

typedef struct {
    const KoineModelKind *kind;
    const Scene *scene;
    Record record;
    KoineSink *sinks[1];
    KoineHost host;
    KoineRunOptions options;
    KoineRunReport report;
    KoineModel *model;
} Stage;

static Stage *set_up(const KoineModelKind *kind, const Scene *scene, const char *solver)
{
    Stage *s = calloc(1, sizeof *s);
    *s = (Stage){ .kind = kind,
                  .scene = scene,
                  .record.sink.point = record_point,
                  .sinks = { &s->record.sink },
                  .host = { .resolution = scene->resolution, .tolerance = 1e-6, .seed = 7 } };
    s->options = (KoineRunOptions){ .stop = scene->stop,
                                    .interval = scene->interval,
                                    .step = scene->step,
                                    .solver = solver,
                                    .control = { .resolution = scene->resolution },
                                    .sinks = s->sinks,
                                    .n_sinks = 1 };
    if (kind->create(kind, &s->host, &s->model) != KOINE_OK)
        fail_msg("there is no instance");
    return s;
}

static void tear_down(Stage *s)
{
    s->kind->destroy(s->model);
    free(s->record.bytes);
    free(s);
}

static Stage *run_once(const KoineModelKind *kind, const Scene *scene, const char *solver)
{
    Stage *s = set_up(kind, scene, solver);
    koine_simulate(s->model, &s->options, &s->report);
    return s;
}

static void expect_same(const Stage *once, const Stage *other, const char *solver, const char *how)
{
    if (once->record.n != other->record.n || memcmp(once->record.bytes, other->record.bytes, once->record.n) != 0)
        fail_msg("%s, %s: %s gives other bytes: %zu, %zu (%s, %s)", once->scene->path, solver, how, once->record.n,
                 other->record.n, once->report.text, other->report.text);
    assert_int_equal(once->report.end, other->report.end);
    assert_string_equal(once->report.text, other->report.text);
    assert_int_equal(once->report.statistics.integration.steps, other->report.statistics.integration.steps);
    assert_int_equal(once->report.statistics.events.instants, other->report.statistics.events.instants);
    assert_int_equal(once->report.statistics.model.transitions_fired, other->report.statistics.model.transitions_fired);
}

/* ---- Ways of saving --------------------------------------------------------------------------------------------- */

static double share(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 16777216.0;
}

/* To and fro: forward by some steps, back to where it was saved. True: it was exact every time. */
static bool go_to_and_fro(Stage *s, uint32_t seed)
{
    KoineReason why = { "" };
    KoineSavedRun *saved = NULL;
    bool is_exact = true, goes_on = true;
    KoineRun *run = koine_run_open(s->model, &s->options, &s->report);
    for (int k = 0; k < MOST_TIMES && goes_on; k++) {
        const double from = s->report.time, to = from + 0.15 * share(&seed) * (s->scene->stop - from);
        if (!(goes_on = koine_run_advance(run, to)))
            break;
        saved = koine_run_save(run, saved, &why);
        if (!saved)
            fail_msg("%s: %s", s->scene->path, why.text);
        const size_t n = s->record.n;
        const double here = s->report.time;
        double further = to;
        const uint32_t n_further = (uint32_t)(4 * share(&seed));
        for (uint32_t j = 0; j < n_further; j++) {
            further += (j == 2 ? 2 : 0.3) * share(&seed) * (s->scene->stop - further);
            koine_run_advance(run, further); /* perhaps to its end */
        }
        s->record.n = n;
        const KoineRestored restored = koine_run_restore(run, saved, &why);
        if (restored == KOINE_RESTORED_NOT)
            fail_msg("%s: %s", s->scene->path, why.text);
        is_exact &= restored == KOINE_RESTORED_EXACTLY;
        assert_true(koine_saved_is_exact(saved) == (restored == KOINE_RESTORED_EXACTLY));
        assert_float_equal(s->report.time, here, 0);
    }
    koine_run_advance(run, INFINITY);
    koine_run_close(run);
    koine_saved_free(saved);
    return is_exact;
}

/* From instance to instance, as bytes. */
static bool go_from_hand_to_hand(Stage *s, uint32_t seed)
{
    KoineReason why = { "" };
    KoineRestored restored = KOINE_RESTORED_EXACTLY;
    bool is_exact = true;
    KoineRun *run = koine_run_open(s->model, &s->options, &s->report);
    for (int k = 0; k < 6; k++) {
        uint64_t size;
        const double from = s->report.time, to = from + 0.3 * share(&seed) * (s->scene->stop - from);
        if (!koine_run_advance(run, to))
            break;
        KoineSavedRun *first = koine_run_save(run, NULL, &why);
        const void *bytes = koine_saved_bytes(first, &size);
        KoineSavedRun *saved = koine_saved_read(bytes, size, &why);
        if (!saved)
            fail_msg("%s: %s", s->scene->path, why.text);
        koine_saved_free(first);
        const size_t n = s->record.n;
        koine_run_close(run); /* nothing of it is left, but the point of an interrupted run */
        s->record.n = n;
        s->kind->destroy(s->model);
        assert_int_equal(s->kind->create(s->kind, &s->host, &s->model), KOINE_OK);
        run = koine_run_reopen(s->model, &s->options, &s->report, saved, &restored);
        if (restored == KOINE_RESTORED_NOT)
            fail_msg("%s: %s", s->scene->path, s->report.text);
        is_exact &= restored == KOINE_RESTORED_EXACTLY;
        koine_saved_free(saved);
    }
    koine_run_advance(run, INFINITY);
    koine_run_close(run);
    return is_exact;
}

/* Our own solvers are exact, all of them; those of SUNDIALS say that they are not. */
static void expect_kind(const Scene *scene, const char *solver, bool is_exact)
{
    static const char *const others[] = { "cvode-bdf", "cvode-adams", "ida", "arkode-erk", "arkode-dirk" };
    const bool has_states = strstr(scene->path, "Case4") == NULL && strstr(scene->path, "Server") == NULL;
    const bool is_sparse = strstr(scene->path, "heat.ir") && (strstr(solver, "gauss") || strstr(solver, "rosenbrock"));
    bool is_other = is_sparse || (strstr(scene->path, "stiff.ir") && strcmp(solver, "auto") == 0);
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        is_other |= strcmp(solver, others[k]) == 0;
    assert_int_equal(is_exact, !has_states || !is_other);
}

/* The last point of both, where one solver began anew. */
static void expect_near_end(const Stage *once, const Stage *other)
{
    const KoineTables *t = once->model->kind->tables;
    const double *a = (const double *)(const void *)(once->model->block + t->x),
                 *b = (const double *)(const void *)(other->model->block + t->x);
    for (uint32_t i = 0; i < t->n_x; i++)
        expect_near(b[i], a[i], 1e-3 * (1 + fabs(a[i])));
}

static const KoineModelKind *compile(Compilation *c, const char *path)
{
    const char *why = NULL;
    if (!compilation_load(c, &(CompileRequest){ .path = path, .allows_modes = true, .task_span = SPAN_NONE }) ||
        !compilation_schedule(c))
        fail_msg("%s does not compile", path);
    return compilation_kind(c, "interp", &why);
}

static void compare_ways(const KoineModelKind *kind, const Scene *scene, const char *solver, uint32_t seed)
{
    Stage *once = run_once(kind, scene, solver), *fro = set_up(kind, scene, solver),
          *hands = set_up(kind, scene, solver);
    const bool is_exact = go_to_and_fro(fro, seed);
    if (is_exact)
        expect_same(once, fro, solver, "to and fro");
    else
        expect_near_end(once, fro);
    assert_int_equal(once->report.end, fro->report.end);
    if (go_from_hand_to_hand(hands, seed))
        expect_same(once, hands, solver, "from hand to hand");
    else
        expect_near_end(once, hands);
    assert_int_equal(once->report.end, hands->report.end);
    expect_kind(scene, solver, is_exact);
    tear_down(hands);
    tear_down(fro);
    tear_down(once);
}

static void what_goes_on_again_gives_the_same_bytes(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < N_SCENES; k++) {
        Compilation *c = compilation_create(NULL);
        const KoineModelKind *kind = compile(c, scenes[k].path);
        for (uint32_t solver = 0; koine_solver_name(solver); solver++)
            if (!scenes[k].solver || strcmp(scenes[k].solver, koine_solver_name(solver)) == 0)
                compare_ways(kind, &scenes[k], koine_solver_name(solver), 100 * k + solver);
        compilation_destroy(c);
    }
}

/* ---- What is refused -------------------------------------------------------------------------------------------- */

static KoineSavedRun *save_at(Stage *s, double time)
{
    KoineReason why = { "" };
    KoineRun *run = koine_run_open(s->model, &s->options, &s->report);
    koine_run_advance(run, time);
    KoineSavedRun *saved = koine_run_save(run, NULL, &why);
    if (!saved)
        fail_msg("%s", why.text);
    assert_float_equal(koine_saved_time(saved), time, 0);
    koine_run_close(run);
    return saved;
}

static void expect_unread(const void *bytes, uint64_t size, const char *text)
{
    KoineReason why = { "" };
    assert_null(koine_saved_read(bytes, size, &why));
    if (!strstr(why.text, text))
        fail_msg("'%s' does not say '%s'", why.text, text);
}

static void bytes_that_were_changed_are_refused(void **state)
{
    (void)state;
    Compilation *c = compilation_create(NULL);
    Stage *s = set_up(compile(c, scenes[0].path), &scenes[0], "dopri5");
    KoineSavedRun *saved = save_at(s, 0.7);
    uint64_t size;
    const unsigned char *bytes = koine_saved_bytes(saved, &size);
    unsigned char *copy = malloc(size);
    memcpy(copy, bytes, size);
    for (uint64_t at = 0; at < size; at += at < 512 ? 1 : 61) {
        copy[at] ^= (unsigned char)(1u << at % 8);
        expect_unread(copy, size, "");
        copy[at] = bytes[at];
    }
    copy[size - 1] ^= 128;
    expect_unread(copy, size, "checksum");
    copy[size - 1] = bytes[size - 1];
    for (uint64_t n = 0; n < size; n += n < 600 ? 1 : 97)
        expect_unread(copy, n, n < 256 ? "no saved run" : "bytes");
    copy[8]++;
    expect_unread(copy, size, "another version of Koine (form 3");
    copy[0] = 'X';
    expect_unread(copy, size, "no saved run");
    free(copy);
    koine_saved_free(saved);
    tear_down(s);
    compilation_destroy(c);
}

static void expect_unfit(const KoineModelKind *kind, const Scene *scene, const char *solver, double tolerance,
                         const KoineSavedRun *saved, const char *text)
{
    KoineRestored restored = KOINE_RESTORED_EXACTLY;
    KoineReason why = { "" };
    Stage *s = set_up(kind, scene, solver);
    s->options.tolerance = tolerance;
    KoineRun *run = koine_run_open(s->model, &s->options, &s->report);
    assert_int_equal(koine_run_restore(run, saved, &why), KOINE_RESTORED_NOT);
    if (!strstr(why.text, text))
        fail_msg("'%s' does not say '%s'", why.text, text);
    assert_true(koine_run_advance(run, 0.1)); /* it stays where it is */
    koine_run_close(run);
    s->kind->destroy(s->model);
    assert_int_equal(kind->create(kind, &s->host, &s->model), KOINE_OK);
    run = koine_run_reopen(s->model, &s->options, &s->report, saved, &restored);
    assert_int_equal(restored, KOINE_RESTORED_NOT);
    assert_false(koine_run_advance(run, 0.1));
    assert_int_equal(koine_run_close(run), KOINE_RUN_OPTIONS);
    assert_non_null(strstr(s->report.text, text));
    tear_down(s);
}

static void another_model_or_run_is_refused(void **state)
{
    (void)state;
    Compilation *c = compilation_create(NULL), *other = compilation_create(NULL), *same = compilation_create(NULL);
    const KoineModelKind *ball = compile(c, scenes[0].path), *heating = compile(other, scenes[2].path),
                         *again = compile(same, scenes[0].path);
    Stage *s = set_up(ball, &scenes[0], "dopri5");
    KoineSavedRun *saved = save_at(s, 0.7);
    Scene shorter = scenes[0], finer = scenes[0];
    shorter.stop = 0.5;
    finer.interval = 0.01;
    assert_string_equal(ball->tables->guid, again->tables->guid);
    assert_int_equal(strlen(ball->tables->guid), 32);
    expect_unfit(heating, &scenes[2], "dopri5", 1e-6, saved, "another model");
    expect_unfit(ball, &scenes[0], "dop853", 1e-6, saved, "solver dopri5");
    expect_unfit(ball, &scenes[0], "dopri5", 1e-5, saved, "tolerance 1e-06, this one has 1e-05");
    expect_unfit(ball, &finer, "dopri5", 1e-6, saved, "interval");
    expect_unfit(ball, &shorter, "dopri5", 1e-6, saved, "behind the stop 0.5");
    koine_saved_free(saved);
    tear_down(s);
    compilation_destroy(c);
    compilation_destroy(other);
    compilation_destroy(same);
}

/* ---- Small things ----------------------------------------------------------------------------------------------- */

/* A later stop is another run, but the same solution. */
static void a_saved_run_may_go_on_for_longer(void **state)
{
    (void)state;
    Compilation *c = compilation_create(NULL);
    const KoineModelKind *kind = compile(c, HERE "ir/lorenz.ir");
    const Scene brief = { .path = "lorenz", .stop = 1, .interval = 0.1, .step = 0.01 };
    const Scene longer = { .path = "lorenz", .stop = 2, .interval = 0.1, .step = 0.01 };
    Stage *once = run_once(kind, &longer, "dopri5"), *s = set_up(kind, &brief, "dopri5"),
          *t = set_up(kind, &longer, "dopri5");
    KoineSavedRun *saved = save_at(s, 0.75);
    KoineRestored restored;
    KoineRun *run = koine_run_reopen(t->model, &t->options, &t->report, saved, &restored);
    assert_int_equal(restored, KOINE_RESTORED_EXACTLY);
    koine_run_advance(run, INFINITY);
    assert_int_equal(koine_run_close(run), KOINE_RUN_DONE);
    assert_float_equal(t->report.time, 2, 0);
    expect_near_end(once, t);
    koine_saved_free(saved);
    tear_down(t);
    tear_down(s);
    tear_down(once);
    compilation_destroy(c);
}

/* What is saved at the very begin, and what has ended. */
static void a_run_is_saved_where_it_begins_and_not_where_it_has_ended(void **state)
{
    (void)state;
    Compilation *c = compilation_create(NULL);
    const KoineModelKind *kind = compile(c, scenes[0].path);
    Stage *once = run_once(kind, &scenes[0], "auto"), *s = set_up(kind, &scenes[0], "auto");
    KoineReason why = { "" };
    KoineRun *run = koine_run_open(s->model, &s->options, &s->report);
    KoineSavedRun *saved = koine_run_save(run, NULL, &why);
    assert_non_null(saved);
    const size_t n = s->record.n;
    koine_saved_note(saved, 42);
    assert_false(koine_run_advance(run, INFINITY));
    assert_null(koine_run_save(run, saved, &why));
    assert_non_null(strstr(why.text, "has ended"));
    s->record.n = n;
    assert_int_equal(koine_saved_noted(saved), 42);
    assert_int_equal(koine_run_restore(run, saved, &why), KOINE_RESTORED_EXACTLY);
    koine_run_advance(run, INFINITY);
    assert_int_equal(koine_run_close(run), KOINE_RUN_DONE);
    expect_same(once, s, "auto", "from the begin");
    koine_saved_free(saved);
    tear_down(s);
    tear_down(once);
    compilation_destroy(c);
}

/* The search for solutions begins at the last accepted ones, so a part of a step is made once, whoever asks for it. */
static void test_parts_of_steps_are_the_same_in_pieces_and_from_bytes(void **state)
{
    (void)state;
    RunRequest request = {
        .path = HERE "ir/swing.ir", .tier = "interp", .stop = 2, .interval = 0.05, .tolerance = 1e-7
    };
    RunResult *const once = run_model(&request);
    expect_done(once);
    for (request.n_pieces = 2; request.n_pieces < 30; request.n_pieces++) {
        request.changes_hands = request.n_pieces % 2;
        RunResult *const other = run_model(&request);
        expect_done(other);
        assert_false(other->is_anew);
        assert_int_equal(once->n_rows, other->n_rows);
        for (uint32_t k = 0; k < once->n_rows; k++)
            assert_memory_equal(once->rows[k].values, other->rows[k].values, once->n_columns * sizeof(double));
        run_free(other);
    }
    run_free(once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_steps_are_the_same_in_pieces_and_from_bytes),
        cmocka_unit_test(what_goes_on_again_gives_the_same_bytes),
        cmocka_unit_test(bytes_that_were_changed_are_refused),
        cmocka_unit_test(another_model_or_run_is_refused),
        cmocka_unit_test(a_saved_run_may_go_on_for_longer),
        cmocka_unit_test(a_run_is_saved_where_it_begins_and_not_where_it_has_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
