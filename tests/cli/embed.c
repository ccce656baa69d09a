/* A program of somebody else that runs a hand-written model with the installed library: x' = -x. */
#include <koine/simulate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double time, x, dx;
} Block;

static const KoineVariable variables[] = {
    { .name = "x",
      .unit = "",
      .comment = "",
      .now = 8,
      .pre = KOINE_NO_OFFSET,
      .set = 8,
      .count = 1,
      .variability = KOINE_VARIABILITY_CONTINUOUS },
};
static const uint32_t state_variable[] = { 0 };
static const KoineTables tables = { .name = "Decay",
                                    .guid = "",
                                    .block_size = sizeof(Block),
                                    .time = 0,
                                    .x = 8,
                                    .dx = 16,
                                    .n_variables = 1,
                                    .variables = variables,
                                    .n_x = 1,
                                    .state_variable = state_variable,
                                    .capabilities = KOINE_CAN_SNAPSHOT };

static void destroy(KoineModel *model)
{
    free(model->block);
    free(model);
}

static KoineStatus create(const KoineModelKind *kind, const KoineHost *host, KoineModel **model)
{
    *model = calloc(1, sizeof **model);
    (*model)->kind = kind;
    (*model)->host = host;
    (*model)->block = aligned_alloc(64, 64);
    (*model)->size = sizeof(Block);
    *(Block *)(*model)->block = (Block){ 0, 1, 0 };
    return KOINE_OK;
}

static KoineStatus initialise(KoineModel *model, double time)
{
    ((Block *)model->block)->time = time;
    return KOINE_OK;
}

static KoineStatus evaluate(KoineModel *model, const KoineEvaluation *at)
{
    Block *block = (Block *)model->block;
    block->time = at->time;
    if (at->x != &block->x)
        block->x = at->x[0];
    if (at->want & KOINE_WANT_DER)
        at->der[0] = -block->x;
    return KOINE_OK;
}

static KoineStatus quiet(KoineModel *model, KoineOutcome *outcome)
{
    (void)model;
    *outcome = (KoineOutcome){ .next_time = INFINITY };
    return KOINE_OK;
}

static KoineStatus accept(KoineModel *model, double time, const double *x, KoineOutcome *outcome)
{
    Block *block = (Block *)model->block;
    block->time = time;
    block->x = x[0];
    return quiet(model, outcome);
}

static KoineStatus arrive(KoineModel *model, const KoineArrival *arrival)
{
    ((Block *)model->block)->time = arrival->time;
    return KOINE_OK;
}

int main(void)
{
    const KoineModelKind kind = { .version = KOINE_MODEL_VERSION,
                                  .size = sizeof kind,
                                  .tables = &tables,
                                  .create = create,
                                  .destroy = destroy,
                                  .initialise = initialise,
                                  .evaluate = evaluate,
                                  .accept = accept,
                                  .arrive = arrive,
                                  .step = quiet,
                                  .commit = quiet,
                                  .leave = quiet };
    KoineHost host = { 0 };
    KoineModel *model;
    static KoineRunReport report;
    const KoineRunOptions options = { .stop = 1, .solver = koine_solver_name(1) };
    create(&kind, &host, &model);
    const KoineRunEnd end = koine_simulate(model, &options, &report);
    const double x = ((Block *)model->block)->x;
    printf("%d %s %.4f %s\n", (int)end, options.solver, x, report.text);
    destroy(model);
    return end == KOINE_RUN_DONE && fabs(x - exp(-1)) < 1e-5 ? 0 : 1;
}
