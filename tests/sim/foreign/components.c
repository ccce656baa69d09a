/* Components for tests, written by hand against koine/model.h: a library that knows nothing else of Koine. */
#include "koine/model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what they have in common ----
 * A block of doubles: the time, then the variables in the order of their rows, then the derivatives of the states. */
enum { TIME, FIRST };

typedef struct {
    KoineModelKind kind; /* first member */
    void (*begin)(double *m);
    void (*outputs)(double *m);
    void (*derivatives)(const double *m, double *der);
    void (*roots)(const double *m, double *roots);
    int (*event)(double *m, unsigned cause); /* 1: something has changed */
    double (*next)(const double *m);         /* time event */
    KoineStatus (*fails)(KoineModel *model); /* instead of all */
} Simple;

typedef struct {
    unsigned cause;
    int wants, changed;
} Instant;

static const Simple *simple_of(const KoineModel *model)
{
    return (const Simple *)(const void *)model->kind;
}

static double *block_of(const KoineModel *model)
{
    return (double *)(void *)model->block;
}

static KoineStatus create(const KoineModelKind *kind, const KoineHost *host, KoineModel **out)
{
    KoineModel *model = calloc(1, sizeof *model);
    const KoineTables *t = kind->tables;
    if (!model)
        return KOINE_FAILED;
    model->kind = kind;
    model->host = host;
    model->size = t->block_size;
    model->block = aligned_alloc(64, (t->block_size + 63) / 64 * 64);
    model->handles = calloc(1, sizeof(Instant));
    memset(model->block, 0, t->block_size);
    for (uint32_t k = 0; k < t->n_variables; k++)
        if (t->variables[k].type == KOINE_REAL)
            memcpy(model->block + t->variables[k].now, &t->variables[k].start, sizeof(double));
    *out = model;
    return KOINE_OK;
}

static void destroy(KoineModel *model)
{
    if (!model)
        return;
    free(model->handles);
    free(model->block);
    free(model);
}

static void compute(KoineModel *model)
{
    if (simple_of(model)->outputs)
        simple_of(model)->outputs(block_of(model));
}

static KoineStatus initialise(KoineModel *model, double time)
{
    const KoineTables *t = model->kind->tables;
    memset(model->handles, 0, sizeof(Instant));
    block_of(model)[TIME] = time;
    for (uint32_t k = 0; k < t->n_x; k++) { /* states begin where they are set */
        const KoineVariable *v = &t->variables[t->state_variable[k]];
        memcpy(model->block + v->now, model->block + v->set, sizeof(double));
    }
    if (simple_of(model)->begin)
        simple_of(model)->begin(block_of(model));
    compute(model);
    return KOINE_OK;
}

static void take(KoineModel *model, double time, const double *x)
{
    const KoineTables *t = model->kind->tables;
    block_of(model)[TIME] = time;
    if (x && t->n_x && x != (const double *)(const void *)(model->block + t->x))
        memcpy(model->block + t->x, x, t->n_x * sizeof *x);
}

static KoineStatus evaluate(KoineModel *model, const KoineEvaluation *at)
{
    const Simple *s = simple_of(model);
    take(model, at->time, at->x);
    if (s->fails && s->fails(model) != KOINE_OK)
        return s->fails(model);
    if (at->want & KOINE_WANT_DER && s->derivatives)
        s->derivatives(block_of(model), at->der);
    if (at->want & KOINE_WANT_ROOTS && s->roots)
        s->roots(block_of(model), at->roots);
    if (at->want & KOINE_WANT_OUTPUTS)
        compute(model);
    return KOINE_OK;
}

static KoineStatus accept(KoineModel *model, double time, const double *x, KoineOutcome *outcome)
{
    take(model, time, x);
    outcome->flags = 0;
    return KOINE_OK;
}

static KoineStatus arrive(KoineModel *model, const KoineArrival *arrival)
{
    Instant *now = model->handles;
    take(model, arrival->time, arrival->x);
    now->cause = arrival->cause;
    now->changed = 0;
    for (uint32_t k = 0; arrival->changes && k < arrival->n_changes; k++)
        memcpy(model->block + model->kind->tables->variables[arrival->changes[k].variable].now,
               &arrival->changes[k].value, sizeof(KoineSlot));
    return KOINE_OK;
}

static KoineStatus step(KoineModel *model, KoineOutcome *outcome)
{
    Instant *now = model->handles;
    double *m = block_of(model);
    compute(model);
    now->wants = now->cause && simple_of(model)->event && simple_of(model)->event(m, now->cause) == 2;
    outcome->flags = now->wants ? KOINE_COMMIT : 0;
    return KOINE_OK;
}

static KoineStatus commit(KoineModel *model, KoineOutcome *outcome)
{
    Instant *now = model->handles;
    simple_of(model)->event(block_of(model), 0);
    now->cause = 0;
    now->changed = 1;
    outcome->flags = KOINE_COMMIT;
    return KOINE_OK;
}

static KoineStatus leave(KoineModel *model, KoineOutcome *outcome)
{
    const Instant *now = model->handles;
    outcome->flags = now->changed ? KOINE_CHANGED | KOINE_STATES | KOINE_RESTART : 0;
    outcome->next_time = simple_of(model)->next ? simple_of(model)->next(block_of(model)) : INFINITY;
    return KOINE_OK;
}

#define FUNCTIONS                                                                                                      \
    .create = create, .destroy = destroy, .initialise = initialise, .evaluate = evaluate, .accept = accept,            \
    .arrive = arrive, .step = step, .commit = commit, .leave = leave
#define KIND(table)                                                                                                    \
    {                                                                                                                  \
        .version = KOINE_MODEL_VERSION, .size = sizeof(KoineModelKind), .tables = &(table), FUNCTIONS                  \
    }
#define AT(place) ((place) * sizeof(double))
#define ROW(text, place, causal, varies, ...)                                                                          \
    {                                                                                                                  \
        .name = (text), .now = AT(place), .pre = KOINE_NO_OFFSET, .set = KOINE_NO_OFFSET, .count = 1, .state = -1,     \
        .causality = (causal), .variability = (varies), .min = -INFINITY, .max = INFINITY, __VA_ARGS__                 \
    }
#define IN     KOINE_CAUSALITY_INPUT
#define OUT    KOINE_CAUSALITY_OUTPUT
#define MOVING KOINE_VARIABILITY_CONTINUOUS

/* ---- y = k*u + 1 ---- */
enum { GAIN_U = FIRST, GAIN_Y, GAIN_K, GAIN_END };
static const KoineVariable gain_rows[] = {
    ROW("u", GAIN_U, IN, MOVING, .start = 0),
    ROW("y", GAIN_Y, OUT, MOVING, .start = 0),
    { .name = "k",
      .now = AT(GAIN_K),
      .pre = KOINE_NO_OFFSET,
      .set = AT(GAIN_K),
      .count = 1,
      .state = -1,
      .start = 2,
      .causality = KOINE_CAUSALITY_PARAMETER,
      .variability = KOINE_VARIABILITY_PARAMETER,
      .flags = KOINE_VARIABLE_SETTABLE },
};
#define TABLES(rows, end, ...)                                                                                         \
    {                                                                                                                  \
        .name = "component", .guid = #rows, .block_size = AT(end), .time = AT(TIME), .variables = (rows),              \
        .n_variables = sizeof(rows) / sizeof(rows)[0], .capabilities = KOINE_CAN_SNAPSHOT, __VA_ARGS__                 \
    }
static const KoineTables gain_tables = TABLES(gain_rows, GAIN_END, .n_x = 0);
static void gain(double *m)
{
    m[GAIN_Y] = m[GAIN_K] * m[GAIN_U] + 1;
}
const Simple gain_kind = { KIND(gain_tables), .outputs = gain };

/* ---- the same, computed when it is asked for and never before ---- */
static KoineStatus lazy_initialise(KoineModel *model, double time)
{
    memset(model->handles, 0, sizeof(Instant));
    block_of(model)[TIME] = time;
    block_of(model)[GAIN_Y] = -1000;
    return KOINE_OK;
}
static KoineStatus lazy_step(KoineModel *model, KoineOutcome *outcome)
{
    block_of(model)[GAIN_Y] = -1000;
    outcome->flags = 0;
    return KOINE_OK;
}
const Simple lazy_kind = { { .version = KOINE_MODEL_VERSION,
                             .size = sizeof(KoineModelKind),
                             .tables = &gain_tables,
                             .create = create,
                             .destroy = destroy,
                             .initialise = lazy_initialise,
                             .evaluate = evaluate,
                             .accept = accept,
                             .arrive = arrive,
                             .step = lazy_step,
                             .commit = commit,
                             .leave = leave },
                           .outputs = gain };

/* ---- der(x) = (u - x)/2, y = 3*x: no output depends on an input at once ---- */
enum { LAG_U = FIRST, LAG_Y, LAG_X, LAG_SET, LAG_DX, LAG_END };
static const KoineVariable lag_rows[] = {
    ROW("u", LAG_U, IN, MOVING, .start = 0),
    ROW("y", LAG_Y, OUT, MOVING, .start = 0),
    { .name = "x",
      .now = AT(LAG_X),
      .pre = KOINE_NO_OFFSET,
      .set = AT(LAG_SET),
      .count = 1,
      .state = 0,
      .start = 0.25,
      .variability = MOVING,
      .flags = KOINE_VARIABLE_SETTABLE | KOINE_VARIABLE_FIXED },
};
static const uint32_t first_state[] = { 2, 3 }, no_paths[] = { 0, 0, 0 };
static const KoinePort ports[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 0 } }; /* rows are numbered so in all of them */
#define NO_PATHS(outputs_, start_)                                                                                     \
    .ports = { .n_inputs = 1, .n_outputs = (outputs_), .inputs = ports, .outputs = ports + 1 },                        \
    .patterns = { .feedthrough = { .rows = (outputs_), .columns = 1, .start = (start_) } }
static const KoineTables lag_tables = TABLES(lag_rows, LAG_END, .n_x = 1, .x = AT(LAG_X), .dx = AT(LAG_DX),
                                             .state_variable = first_state, NO_PATHS(1, no_paths));
static void lag_begin(double *m)
{
    m[LAG_X] = m[LAG_SET] == 0 ? 0.25 : m[LAG_SET];
}
static void lag(double *m)
{
    m[LAG_Y] = 3 * m[LAG_X];
}
static void lag_slope(const double *m, double *der)
{
    der[0] = (m[LAG_U] - m[LAG_X]) / 2;
}
const Simple lag_kind = { KIND(lag_tables), .begin = lag_begin, .outputs = lag, .derivatives = lag_slope };

/* ---- a ball: h' = v, v' = -g; where h reaches 0 it goes up again with e of its speed ---- */
enum { BALL_G = FIRST, BALL_H, BALL_V, BALL_N, BALL_DH, BALL_DV, BALL_END };
static const KoineVariable ball_rows[] = {
    ROW("g", BALL_G, IN, MOVING, .start = 9.81),
    ROW("n", BALL_N, OUT, KOINE_VARIABILITY_DISCRETE, .start = 0),
    { .name = "h",
      .now = AT(BALL_H),
      .pre = KOINE_NO_OFFSET,
      .set = KOINE_NO_OFFSET,
      .count = 1,
      .state = 0,
      .start = 1,
      .causality = OUT,
      .variability = MOVING },
    { .name = "v",
      .now = AT(BALL_V),
      .pre = KOINE_NO_OFFSET,
      .set = KOINE_NO_OFFSET,
      .count = 1,
      .state = 1,
      .causality = OUT,
      .variability = MOVING },
};
static const KoineOrigin ball_root = { .text = "h <= 0", .path = "" };
static const uint32_t ball_paths[] = { 0, 0, 0, 0 };
static const KoineTables ball_tables =
    TABLES(ball_rows, BALL_END, .n_x = 2, .x = AT(BALL_H), .dx = AT(BALL_DH), .state_variable = first_state,
           .roots = { .n = 1, .at = &ball_root }, NO_PATHS(3, ball_paths));
static void ball_begin(double *m)
{
    m[BALL_H] = 1;
    m[BALL_V] = m[BALL_N] = 0;
}
static void ball_slope(const double *m, double *der)
{
    der[0] = m[BALL_V];
    der[1] = -m[BALL_G];
}
static void ball_roots(const double *m, double *roots)
{
    roots[0] = m[BALL_V] > 0 ? 1 : m[BALL_H];
}
static int ball_event(double *m, unsigned cause)
{
    if (cause)
        return cause & KOINE_AT_ROOTS && m[BALL_V] < 0 ? 2 : 0;
    m[BALL_V] *= -0.5;
    m[BALL_N]++;
    return 1;
}
static KoineStatus ball_initialise(KoineModel *model, double time)
{
    memset(model->handles, 0, sizeof(Instant));
    block_of(model)[TIME] = time;
    ball_begin(block_of(model));
    return KOINE_OK;
}
const Simple ball_kind = { { .version = KOINE_MODEL_VERSION,
                             .size = sizeof(KoineModelKind),
                             .tables = &ball_tables,
                             .create = create,
                             .destroy = destroy,
                             .initialise = ball_initialise,
                             .evaluate = evaluate,
                             .accept = accept,
                             .arrive = arrive,
                             .step = step,
                             .commit = commit,
                             .leave = leave },
                           .derivatives = ball_slope,
                           .roots = ball_roots,
                           .event = ball_event };

/* ---- a counter: n grows by the input at 0.1, 0.2 ... ---- */
enum { TICKS_U = FIRST, TICKS_N, TICKS_K, TICKS_END };
static const KoineVariable ticks_rows[] = {
    ROW("u", TICKS_U, IN, MOVING, .start = 1),
    ROW("n", TICKS_N, OUT, KOINE_VARIABILITY_DISCRETE, .start = 0),
    ROW("k", TICKS_K, KOINE_CAUSALITY_LOCAL, KOINE_VARIABILITY_DISCRETE, .start = 1),
};
static const KoineTables ticks_tables = TABLES(ticks_rows, TICKS_END, NO_PATHS(1, no_paths));
static void ticks_begin(double *m)
{
    m[TICKS_N] = 0;
    m[TICKS_K] = 1;
}
static int ticks_event(double *m, unsigned cause)
{
    if (cause)
        return cause & KOINE_AT_TIME ? 2 : 0;
    m[TICKS_N] += m[TICKS_U];
    m[TICKS_K]++;
    return 1;
}
static double ticks_next(const double *m)
{
    return m[TICKS_K] * 0.1;
}
const Simple ticks_kind = { KIND(ticks_tables), .begin = ticks_begin, .event = ticks_event, .next = ticks_next };

/* ---- y = k*u + 1, and its tables say that y does not depend on u ---- */
static const KoineTables liar_tables = TABLES(gain_rows, GAIN_END, .n_x = 0, NO_PATHS(1, no_paths));
const Simple liar_kind = { KIND(liar_tables), .outputs = gain };

/* ---- steps of its own: y grows by their length times u ---- */
enum { SUM_U = FIRST, SUM_Y, SUM_END };
static const KoineVariable sum_rows[] = {
    ROW("u", SUM_U, IN, MOVING, .start = 0),
    ROW("y", SUM_Y, OUT, KOINE_VARIABILITY_DISCRETE, .start = 0),
};
static const KoineTables sum_tables = TABLES(sum_rows, SUM_END, .n_x = 0);
static void sum_begin(double *m)
{
    m[SUM_Y] = 0;
}
static KoineStatus sum_advance(KoineModel *model, double time, double length, double *reached)
{
    double *m = block_of(model);
    if (m[TIME] != time) {
        strcpy(model->fault.text, "steps do not follow each other");
        return KOINE_FAILED;
    }
    m[SUM_Y] += length * m[SUM_U];
    *reached = m[TIME] = time + length;
    return KOINE_OK;
}
static KoineStatus stay(KoineModel *model, const KoineEvaluation *at)
{
    (void)model;
    (void)at;
    return KOINE_OK;
}
static KoineStatus early_advance(KoineModel *model, double time, double length, double *reached)
{
    const KoineStatus status = sum_advance(model, time, length, reached);
    if (*reached > 0.55)
        *reached -= length / 2;
    return status;
}
#define SUM(table, function)                                                                                           \
    {                                                                                                                  \
        .kind = { .version = KOINE_MODEL_VERSION,                                                                      \
                  .size = sizeof(KoineModelKind),                                                                      \
                  .tables = &(table),                                                                                  \
                  .create = create,                                                                                    \
                  .destroy = destroy,                                                                                  \
                  .initialise = initialise,                                                                            \
                  .evaluate = stay,                                                                                    \
                  .accept = accept,                                                                                    \
                  .arrive = arrive,                                                                                    \
                  .step = step,                                                                                        \
                  .commit = commit,                                                                                    \
                  .leave = leave,                                                                                      \
                  .foreign.advance = (function) },                                                                     \
        .begin = sum_begin                                                                                             \
    }
const Simple sum_kind = SUM(sum_tables, sum_advance), early_kind = SUM(sum_tables, early_advance),
             stepping_lag_kind = SUM(lag_tables, sum_advance);

/* ---- what goes wrong ---- */
static void to_nan(double *m)
{
    m[GAIN_Y] = m[TIME] > 0.5 ? NAN : 1;
}
const Simple nan_kind = { KIND(gain_tables), .outputs = to_nan };

static KoineStatus crashes(KoineModel *model)
{
    if (block_of(model)[TIME] > 0.5)
        abort();
    return KOINE_OK;
}
const Simple crashing_kind = { KIND(gain_tables), .outputs = gain, .fails = crashes };

static KoineStatus exits(KoineModel *model)
{
    if (block_of(model)[TIME] > 0.5)
        _exit(0);
    return KOINE_OK;
}
const Simple exiting_kind = { KIND(gain_tables), .outputs = gain, .fails = exits };

static KoineStatus hangs(KoineModel *model)
{
    while (block_of(model)[TIME] > 0.5)
        sleep(1);
    return KOINE_OK;
}
const Simple hanging_kind = { KIND(gain_tables), .outputs = gain, .fails = hangs };

static KoineStatus says_no(KoineModel *model)
{
    if (block_of(model)[TIME] <= 0.5)
        return KOINE_OK;
    strcpy(model->fault.text, "the pressure is too high");
    return KOINE_FAILED;
}
const Simple failing_kind = { KIND(gain_tables), .outputs = gain, .fails = says_no };

const KoineModelKind wrong_version = {
    .version = 1, .size = sizeof(KoineModelKind), .tables = &gain_tables, FUNCTIONS
};
const KoineModelKind wrong_size = { .version = KOINE_MODEL_VERSION, .size = 8, .tables = &gain_tables, FUNCTIONS };
const KoineModelKind without_step = {
    .version = KOINE_MODEL_VERSION, .size = sizeof(KoineModelKind), .tables = &gain_tables, .create = create
};
static const KoineVariable far_rows[] = { ROW("u", 1000000, IN, MOVING, .start = 0) };
static const KoineTables far_tables = TABLES(far_rows, GAIN_END, .n_x = 0);
const KoineModelKind wrong_place = KIND(far_tables);
static const uint32_t bad_state[] = { 0 };
static const KoineTables states_tables =
    TABLES(gain_rows, GAIN_END, .n_x = 1, .x = AT(GAIN_Y), .state_variable = bad_state);
const KoineModelKind wrong_states = KIND(states_tables);
static const KoineTables many_tables = TABLES(gain_rows, GAIN_END, .n_x = UINT32_MAX);
const KoineModelKind wrong_count = KIND(many_tables);
const KoineModelKind *gives_none(void);
const KoineModelKind *gives_gain(void);
const KoineModelKind *gives_none(void)
{
    return NULL;
}
const KoineModelKind *gives_gain(void)
{
    return &gain_kind.kind;
}
const KoineModelKind *crashes_at_once(void);
const KoineModelKind *hangs_at_once(void);
const KoineModelKind *crashes_at_once(void)
{
    abort();
}
const KoineModelKind *hangs_at_once(void)
{
    for (;;)
        sleep(1);
}
