/* Hand-written models for the tests of the runtime: a toy says what its derivatives, roots and events are, the
 * functions below make a KoineModelKind of it. The block of every toy is a ToyBlock. */
#ifndef KOINE_TESTS_TOY_H
#define KOINE_TESTS_TOY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "koine/simulate.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOY_STATES = 128, TOY_ROOTS = 4, TOY_VALUES = 8 };

typedef struct {
    double time, x[TOY_STATES], dx[TOY_STATES];
    double d[TOY_VALUES];      /* discrete values, free for the toy */
    double next;               /* head of the calendar */
    double output;             /* set by evaluate(OUTPUTS): x[0] + 1000*d[0] */
    int64_t cause, event_step; /* of the present instant */
    int64_t crossed[TOY_ROOTS];
    int64_t arrivals, accepts;
} ToyBlock;

typedef struct Toy {
    KoineModelKind kind;
    void (*start)(ToyBlock *b);
    /* RETRY where a root cannot be computed */
    KoineStatus (*roots)(const ToyBlock *b, double *z);
    /* One event step: changes the block; returns flags for the outcome of leave, COMMIT if another step follows. */
    unsigned (*fire)(ToyBlock *b);
    /* Asked at accept: flags */
    unsigned (*accepted)(ToyBlock *b);
} Toy;

static inline ToyBlock *toy_block(const KoineModel *model)
{
    return (ToyBlock *)(void *)model->block;
}

static inline const Toy *toy_of(const KoineModel *model)
{
    return (const Toy *)(const void *)model->kind;
}

static inline KoineStatus toy_create(const KoineModelKind *kind, const KoineHost *host, KoineModel **out)
{
    KoineModel *const model = calloc(1, sizeof *model);
    model->kind = kind;
    model->host = host;
    model->size = (sizeof(ToyBlock) + 63) / 64 * 64;
    model->block = aligned_alloc(64, model->size);
    memset(model->block, 0, model->size);
    *out = model;
    return KOINE_OK;
}

static inline void toy_destroy(KoineModel *model)
{
    free(model->block);
    free(model);
}

static inline KoineStatus toy_initialise(KoineModel *model, double time)
{
    ToyBlock *const b = toy_block(model);
    b->time = time;
    b->next = INFINITY;
    if (toy_of(model)->start)
        toy_of(model)->start(b);
    return KOINE_OK;
}

static inline KoineStatus toy_evaluate(KoineModel *model, const KoineEvaluation *at)
{
    ToyBlock *const b = toy_block(model);
    const size_t bytes = model->kind->tables->n_x * sizeof(double);
    b->time = at->time;
    if (at->x != b->x && bytes)
        memcpy(b->x, at->x, bytes);
    KoineStatus status = KOINE_OK;
    if (at->want & KOINE_WANT_DER) {
        status = model->kind->derivatives(model);
        if (status == KOINE_OK && at->der != b->dx)
            memcpy(at->der, b->dx, bytes);
    }
    if (status == KOINE_OK && at->want & KOINE_WANT_ROOTS)
        status = toy_of(model)->roots(b, at->roots);
    if (at->want & KOINE_WANT_OUTPUTS)
        b->output = b->x[0] + 1000 * b->d[0];
    return status;
}

static inline KoineStatus toy_accept(KoineModel *model, double time, const double *x, KoineOutcome *outcome)
{
    ToyBlock *const b = toy_block(model);
    (void)time, (void)x;
    ++b->accepts;
    outcome->flags = toy_of(model)->accepted ? toy_of(model)->accepted(b) : 0;
    return KOINE_OK;
}

static inline KoineStatus toy_arrive(KoineModel *model, const KoineArrival *arrival)
{
    ToyBlock *const b = toy_block(model);
    b->time = arrival->time;
    b->cause = arrival->cause;
    b->event_step = 0;
    ++b->arrivals;
    for (uint32_t k = 0; k < model->kind->tables->roots.n; ++k)
        b->crossed[k] = arrival->cause & KOINE_AT_ROOTS ? arrival->crossed[k] : 0;
    b->d[TOY_VALUES - 1] = KOINE_COMMIT; /* flags collected at this instant; the first step is always taken */
    return KOINE_OK;
}

static inline KoineStatus toy_step(KoineModel *model, KoineOutcome *outcome)
{
    ToyBlock *const b = toy_block(model);
    const bool more = toy_of(model)->fire && ((unsigned)b->d[TOY_VALUES - 1] & KOINE_COMMIT);
    outcome->flags = more ? KOINE_COMMIT : 0;
    return KOINE_OK;
}

static inline KoineStatus toy_commit(KoineModel *model, KoineOutcome *outcome)
{
    ToyBlock *const b = toy_block(model);
    const unsigned before = (unsigned)b->d[TOY_VALUES - 1] & ~(unsigned)KOINE_COMMIT;
    b->d[TOY_VALUES - 1] = before | toy_of(model)->fire(b);
    outcome->event_step = (uint32_t)++b->event_step;
    return KOINE_OK;
}

static inline KoineStatus toy_leave(KoineModel *model, KoineOutcome *outcome)
{
    ToyBlock *const b = toy_block(model);
    outcome->flags = toy_of(model)->fire ? (unsigned)b->d[TOY_VALUES - 1] & ~(unsigned)KOINE_COMMIT : 0;
    outcome->event_step = (uint32_t)b->event_step;
    outcome->next_time = b->next;
    return KOINE_OK;
}

/* A KoineModelKind with the functions above. */
#define TOY_KIND(the_tables, the_derivatives)                                                                          \
    {                                                                                                                  \
        .version = KOINE_MODEL_VERSION, .size = sizeof(KoineModelKind), .tables = &(the_tables), .create = toy_create, \
        .destroy = toy_destroy, .initialise = toy_initialise, .evaluate = toy_evaluate, .accept = toy_accept,          \
        .arrive = toy_arrive, .step = toy_step, .commit = toy_commit, .leave = toy_leave,                              \
        .derivatives = (the_derivatives)                                                                               \
    }

#define TOY_TABLES(the_name, states, roots_, ...)                                                                      \
    {                                                                                                                  \
        .name = (the_name), .guid = "", .block_size = sizeof(ToyBlock), .x = offsetof(ToyBlock, x),                    \
        .dx = offsetof(ToyBlock, dx), .time = offsetof(ToyBlock, time), .roots.n = (roots_), .n_x = (states),          \
        __VA_ARGS__                                                                                                    \
    }

/* --- A sink that remembers --- */

enum { MEMORY_POINTS = 20000 };
typedef struct {
    KoineSink sink;
    uint32_t n, begun, ended;
    uint32_t fail_at; /* number of the point that cannot be written; 0: none */
    struct {
        double time, x[2], d[2], output;
        uint32_t event_step;
        int kind;
    } point[MEMORY_POINTS];
} Memory;

static inline KoineStatus memory_begin(KoineSink *sink, const KoineModel *model)
{
    (void)model;
    ++((Memory *)(void *)sink)->begun;
    return KOINE_OK;
}

static inline KoineStatus memory_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    Memory *const m = (Memory *)(void *)sink;
    const ToyBlock *const b = toy_block(model);
    if (m->n + 1 == m->fail_at) {
        snprintf(sink->error, sizeof sink->error, "disk full");
        return KOINE_FAILED;
    }
    if (m->n == MEMORY_POINTS)
        return KOINE_FAILED;
    memset(&m->point[m->n], 0, sizeof m->point[m->n]);
    m->point[m->n].time = point->time;
    memcpy(m->point[m->n].x, b->x, sizeof m->point[m->n].x);
    memcpy(m->point[m->n].d, b->d, sizeof m->point[m->n].d);
    m->point[m->n].output = b->output;
    m->point[m->n].event_step = point->event_step;
    m->point[m->n].kind = point->kind;
    ++m->n;
    return KOINE_OK;
}

static inline KoineStatus memory_end(KoineSink *sink, const KoineModel *model)
{
    (void)model;
    ++((Memory *)(void *)sink)->ended;
    return KOINE_OK;
}

static inline Memory *memory_new(void)
{
    Memory *const m = calloc(1, sizeof *m);
    m->sink.begin = memory_begin;
    m->sink.point = memory_point;
    m->sink.end = memory_end;
    return m;
}

static inline uint32_t memory_count(const Memory *m, int kind)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->n; ++k)
        n += m->point[k].kind == kind;
    return n;
}

/* --- One run --- */

typedef struct {
    KoineRunReport report;
    ToyBlock end; /* the block after the run */
    Memory *memory;
} ToyRun;

/* Runs a fresh instance; with `records` every point is remembered. toy_done frees. */
static inline void toy_run(const Toy *toy, KoineRunOptions options, bool records, ToyRun *run)
{
    KoineModel *model = NULL;
    assert_int_equal(toy->kind.create(&toy->kind, NULL, &model), KOINE_OK);
    run->memory = records ? memory_new() : NULL;
    KoineSink *sinks[1] = { records ? &run->memory->sink : NULL };
    if (records) {
        options.sinks = sinks;
        options.n_sinks = 1;
    }
    koine_simulate(model, &options, &run->report);
    memcpy(&run->end, model->block, sizeof run->end);
    toy->kind.destroy(model);
}

static inline void toy_done(ToyRun *run)
{
    free(run->memory);
}

#define assert_near(value, expected, tolerance)                                                                        \
    do {                                                                                                               \
        const double v_ = (value), e_ = (expected), t_ = (tolerance);                                                  \
        if (!(fabs(v_ - e_) <= t_))                                                                                    \
            fail_msg("%s = %.17g, expected %.17g, off by %.3g, tolerance %.3g", #value, v_, e_, fabs(v_ - e_), t_);    \
    } while (0)

#endif
