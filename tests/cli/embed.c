/* A program of somebody else that runs a hand-written model with the installed library: x' = -x, x = x0 exp(-t).
 * SX-196: the experiment is a program of its own and reaches the simulation through the interface alone. It finds and
 * writes the model's data by the tables, gives the control parameters, gets messages, progress and points, ends a run,
 * reads the data back, goes on, and runs again with other data. */
#include <koine/simulate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (arrival->cause & KOINE_AT_START)
        model->host->message(model->host->context, model, KOINE_MESSAGE_OUTPUT, "begins");
    return KOINE_OK;
}

/* ---- the experiment ---- */
typedef struct {
    int messages, points, calls;
    double last_progress;
    volatile int interrupt;
    double until; /* the run is ended by the first progress behind it */
} Experiment;

static void on_message(void *context, const KoineModel *model, int level, const char *text)
{
    (void)model;
    ((Experiment *)context)->messages += level == KOINE_MESSAGE_OUTPUT && strcmp(text, "begins") == 0;
}

static void on_progress(void *context, double time)
{
    Experiment *e = context;
    e->calls++;
    e->last_progress = time;
    e->interrupt = time >= e->until;
}

typedef struct {
    KoineSink sink; /* first member */
    Experiment *experiment;
} Observer;

static KoineStatus nothing(KoineSink *sink, const KoineModel *model)
{
    (void)sink;
    (void)model;
    return KOINE_OK;
}

static KoineStatus observe(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    (void)model;
    (void)point;
    ((Observer *)sink)->experiment->points++;
    return KOINE_OK;
}

static double *find(const KoineModel *model, const char *name)
{
    const KoineTables *t = model->kind->tables;
    for (uint32_t k = 0; k < t->n_variables; k++)
        if (strcmp(t->variables[k].name, name) == 0)
            return (double *)(model->block + t->variables[k].set);
    exit(1);
}

static int made; /* what was looked at; the number is printed at the end */

static void expect(int line, int is_true)
{
    made++;
    if (!is_true) {
        printf("embed.c:%d: not as expected\n", line);
        exit(1);
    }
}
#define EXPECT(condition) expect(__LINE__, condition)

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
    Experiment e = { .until = 0.5 };
    Observer observer = { { .begin = nothing, .point = observe, .end = nothing }, &e };
    KoineSink *const sinks[] = { &observer.sink };
    const KoineHost host = { .context = &e, .message = on_message };
    KoineModel *model;
    static KoineRunReport report;
    KoineRunOptions options = { .stop = 1,
                                .interval = 0.25,
                                .step = 0.001,
                                .solver = "rk4",
                                .sinks = sinks,
                                .n_sinks = 1,
                                .listener.interrupt = &e.interrupt,
                                .listener.progress = on_progress,
                                .listener.context = &e };
    create(&kind, &host, &model);
    *find(model, "x") = 2;
    EXPECT(koine_simulate(model, &options, &report) == KOINE_RUN_INTERRUPTED);
    EXPECT(e.messages == 1 && e.calls >= 2 && e.last_progress >= 0.5 && report.time < 0.9);
    EXPECT(fabs(*find(model, "x") - 2 * exp(-report.time)) < 1e-9);

    e.until = INFINITY; /* goes on to the end */
    e.interrupt = 0;
    options.is_continued = true;
    EXPECT(koine_simulate(model, &options, &report) == KOINE_RUN_DONE);
    EXPECT(report.time == 1 && fabs(*find(model, "x") - 2 * exp(-1)) < 1e-9);

    options.is_continued = false; /* again, with other data: points at 0, 0.25, ... 1 */
    options.solver = koine_solver_name(1);
    *find(model, "x") = 1;
    e.points = 0;
    EXPECT(koine_simulate(model, &options, &report) == KOINE_RUN_DONE);
    EXPECT(e.messages == 2 && e.points == 5 && fabs(*find(model, "x") - exp(-1)) < 1e-5);

    options.solver = "no such method"; /* a mistake ends the run, not the experiment */
    EXPECT(koine_simulate(model, &options, &report) == KOINE_RUN_OPTIONS && report.text[0]);
    destroy(model);
    printf("%d\n", made);
    return 0;
}
