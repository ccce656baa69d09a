/* A component as a library: y = k*u, for the rows of rows_components.c. */
#include "koine/model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { U, Y, K, END };
#define ROW(text, place, causal)                                                                                       \
    {                                                                                                                  \
        .name = (text), .now = (place) * sizeof(double), .pre = KOINE_NO_OFFSET, .set = KOINE_NO_OFFSET, .count = 1,   \
        .state = -1, .causality = (causal), .variability = KOINE_VARIABILITY_CONTINUOUS, .min = -INFINITY,             \
        .max = INFINITY                                                                                                \
    }
static const KoineVariable rows[] = { ROW("u", U, KOINE_CAUSALITY_INPUT), ROW("y", Y, KOINE_CAUSALITY_OUTPUT) };
static const KoineTables tables = {
    .name = "gain", .guid = "gain", .block_size = END * sizeof(double), .variables = rows, .n_variables = 2
};

static KoineStatus create(const KoineModelKind *kind, const KoineHost *host, KoineModel **out)
{
    KoineModel *model = calloc(1, sizeof *model);
    *model = (KoineModel){ .kind = kind, .host = host, .size = 64, .block = aligned_alloc(64, 64) };
    memset(model->block, 0, 64);
    *out = model;
    return KOINE_OK;
}

static void destroy(KoineModel *model)
{
    free(model->block);
    free(model);
}

static KoineStatus evaluate(KoineModel *model, const KoineEvaluation *at)
{
    double *m = (double *)(void *)model->block;
    if (at->want & KOINE_WANT_OUTPUTS)
        m[Y] = m[K] * m[U];
    return KOINE_OK;
}

static KoineStatus initialise(KoineModel *model, double time)
{
    const KoineEvaluation at = { .time = time, .want = KOINE_WANT_OUTPUTS };
    ((double *)(void *)model->block)[K] = -0.5;
    return evaluate(model, &at);
}

static KoineStatus accept(KoineModel *model, double time, const double *x, KoineOutcome *outcome)
{
    (void)model;
    (void)time;
    (void)x;
    outcome->flags = 0;
    return KOINE_OK;
}

static KoineStatus arrive(KoineModel *model, const KoineArrival *arrival)
{
    for (uint32_t k = 0; arrival->changes && k < arrival->n_changes; k++)
        ((KoineSlot *)(void *)model->block)[U] = arrival->changes[k].value;
    return KOINE_OK;
}

static KoineStatus step(KoineModel *model, KoineOutcome *outcome)
{
    const KoineEvaluation at = { .want = KOINE_WANT_OUTPUTS };
    outcome->flags = 0;
    return evaluate(model, &at);
}

static KoineStatus leave(KoineModel *model, KoineOutcome *outcome)
{
    (void)model;
    *outcome = (KoineOutcome){ .next_time = INFINITY };
    return KOINE_OK;
}

extern const KoineModelKind gain_kind;
const KoineModelKind gain_kind = { .version = KOINE_MODEL_VERSION,
                                   .size = sizeof(KoineModelKind),
                                   .tables = &tables,
                                   .create = create,
                                   .destroy = destroy,
                                   .initialise = initialise,
                                   .evaluate = evaluate,
                                   .accept = accept,
                                   .arrive = arrive,
                                   .step = step,
                                   .commit = step,
                                   .leave = leave };
