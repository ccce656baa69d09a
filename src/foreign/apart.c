/* A component in a process of its own, called from here: each call is written into common memory, and its answer read
 * there. Once the process has ended, or has not answered in time, every further call fails with the same words. */
#define _GNU_SOURCE
#include "foreign/apart.h"
#include "foreign/exchange.h"
#include "foreign/process.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    KoineModel model; /* first member */
    const ApartKind *kind;
    Exchange *exchange; /* NULL: it never came about */
    ComponentProcess process;
    char broken[KOINE_FAULT_TEXT]; /* why nothing can be asked any more */
} Guest;

static Guest *guest_of(KoineModel *model)
{
    return (Guest *)(void *)model;
}

/* ---- calls ---- */
static void give_up(Guest *g, const char *what)
{
    snprintf(g->broken, sizeof g->broken, "its process, which executes %.400s, %s", g->kind->request.file, what);
    component_end(&g->process);
}

static bool is_interrupted(const Guest *g)
{
    volatile const int *const *interrupt = g->kind->request.interrupt;
    return interrupt && *interrupt && **interrupt;
}

/* Looks ever less often whether it lives. */
static bool await_answer(Guest *g, int64_t *since)
{
    static const int64_t SHORTEST = 200000, LONGEST = 50000000;
    char text[200];
    const int64_t limit = g->kind->request.limit < 1e9 ? (int64_t)(g->kind->request.limit * 1e9) : INT64_MAX / 2;
    if (exchange_await(g->exchange, TURN_OF_KOINE, 0))
        return true;
    if (*since == 0)
        *since = exchange_clock();
    for (;;) {
        const int64_t passed = exchange_clock() - *since, rest = limit - passed;
        int64_t slice = passed / 4 < SHORTEST ? SHORTEST : passed / 4;
        slice = slice > LONGEST ? LONGEST : slice;
        if (exchange_await(g->exchange, TURN_OF_KOINE, slice < rest || rest <= 0 ? slice : rest))
            return true;
        if (component_is_over(&g->process)) {
            component_tell_end(&g->process, text, sizeof text);
            give_up(g, text);
            return false;
        }
        if (is_interrupted(g)) {
            give_up(g, "did not answer when the run was interrupted");
            return false;
        }
        if (rest <= 0) {
            snprintf(text, sizeof text, "gave no answer within %g s", g->kind->request.limit);
            give_up(g, text);
            return false;
        }
    }
}

static void take_fault(Guest *g)
{
    g->model.fault = g->exchange->fault;
    g->model.fault.text[KOINE_FAULT_TEXT - 1] = 0;
    g->model.fault.block[sizeof g->model.fault.block - 1] = 0;
}

static void pass_message(Guest *g)
{
    Exchange *e = g->exchange;
    e->message[sizeof e->message - 1] = 0;
    if (g->model.host && g->model.host->message)
        g->model.host->message(g->model.host->context, &g->model, e->reply.level, e->message);
}

static KoineStatus say_broken(Guest *g)
{
    g->model.fault = (KoineFault){ .origin = -1, .variable = -1, .cause = KOINE_CAUSE_FOREIGN };
    snprintf(g->model.fault.text, sizeof g->model.fault.text, "%s", g->broken);
    return KOINE_FAILED;
}

static KoineStatus call(Guest *g, ExchangeCall what)
{
    Exchange *e = g->exchange;
    int64_t since = 0;
    if (g->broken[0])
        return say_broken(g);
    e->asked.what = what;
    do {
        exchange_give_turn(e, TURN_OF_COMPONENT);
        if (!await_answer(g, &since))
            return say_broken(g);
        if (e->reply.what == ANSWER_MESSAGE)
            pass_message(g);
    } while (e->reply.what == ANSWER_MESSAGE);
    const int32_t status = e->reply.status;
    if (status == KOINE_OK)
        return KOINE_OK;
    take_fault(g);
    return status == KOINE_RETRY ? KOINE_RETRY : status < 0 ? status : KOINE_FAILED;
}

static void tell_host(Guest *g)
{
    ExchangeHost *to = &g->exchange->host;
    const KoineHost *host = g->model.host;
    if (!host)
        return;
    to->seed = host->seed;
    to->resolution = host->resolution;
    to->iteration_tolerance = host->iteration_tolerance;
    to->tolerance = host->tolerance;
    to->max_steps = host->max_steps;
    to->max_cycles = host->max_cycles;
    snprintf(to->resources, sizeof to->resources, "%s", host->resources ? host->resources : "");
}

static void tell_state(Exchange *e, const KoineTables *tables, const double *x)
{
    double *to = exchange_at(e, e->layout.x);
    e->asked.has_x = x != NULL;
    for (uint32_t k = 0; x && k < tables->n_x; k++)
        to[k] = x[k];
}

/* ---- create, destroy ---- */
static const char *make_memory(Guest *g, int *memory)
{
    const ApartKind *kind = g->kind;
    ExchangeLayout layout = { .n_in = kind->uses[FOREIGN_USE_INPUT].n,
                              .n_set = kind->uses[FOREIGN_USE_SET].n,
                              .n_out = kind->uses[FOREIGN_USE_OUTPUT].n };
    exchange_lay_out(&layout, kind->kind.tables);
    *memory = memfd_create("koine-component", MFD_CLOEXEC);
    if (*memory < 0 || ftruncate(*memory, (off_t)layout.size) != 0)
        return "cannot be started: there is no memory in common";
    void *at = mmap(NULL, layout.size, PROT_READ | PROT_WRITE, MAP_SHARED, *memory, 0);
    if (at == MAP_FAILED)
        return "cannot be started: there is no memory in common";
    Exchange *e = g->exchange = at;
    const uint64_t lists[FOREIGN_N_USES] = { layout.in, layout.set, layout.out };
    e->layout = layout;
    e->fingerprint = kind->fingerprint;
    e->spins = exchange_has_processors();
    for (uint32_t use = 0; use < FOREIGN_N_USES; use++)
        for (uint32_t k = 0; k < kind->uses[use].n; k++)
            ((uint64_t *)exchange_at(e, lists[use]))[k] = kind->uses[use].at[k];
    tell_host(g);
    return NULL;
}

static const char *start(Guest *g)
{
    const ForeignRequest *request = &g->kind->request;
    const char *const arguments[] = { "koine-component", "serve", request->file, request->symbol, NULL };
    char program[4096];
    int memory = -1;
    const char *why;
    if (component_program(program, sizeof program, &why))
        why = make_memory(g, &memory);
    if (!why)
        why = component_start(&g->process, program, arguments, memory);
    if (memory >= 0)
        close(memory);
    return why;
}

static KoineStatus create(const KoineModelKind *kind, const KoineHost *host, KoineModel **model)
{
    Guest *g = calloc(1, sizeof *g);
    if (!g)
        return KOINE_FAILED;
    g->kind = (const ApartKind *)(const void *)kind;
    g->model = (KoineModel){ .kind = kind, .host = host, .size = kind->tables->block_size };
    const char *why = start(g);
    if (why)
        snprintf(g->broken, sizeof g->broken, "%s", why);
    else if (call(g, CALL_CREATE) != KOINE_OK && !g->broken[0])
        snprintf(g->broken, sizeof g->broken, "%s", g->model.fault.text);
    g->model.block = g->exchange ? exchange_at(g->exchange, g->exchange->layout.block)
                                 : calloc(g->model.size + 1, 1); /* why there is none is told when it is asked */
    *model = &g->model;
    return g->model.block ? KOINE_OK : KOINE_FAILED;
}

static void destroy(KoineModel *model)
{
    Guest *g = guest_of(model);
    if (!model)
        return;
    call(g, CALL_DESTROY);
    component_end(&g->process);
    if (g->exchange)
        munmap(g->exchange, g->exchange->layout.size);
    else
        free(g->model.block);
    free(g);
}

/* ---- the functions of a kind ---- */
static KoineStatus initialise(KoineModel *model, double time)
{
    Guest *g = guest_of(model);
    if (g->broken[0])
        return say_broken(g);
    g->exchange->asked.time = time;
    tell_host(g);
    return call(g, CALL_INITIALISE);
}

static void take_numbers(const Guest *g, uint64_t from, uint32_t n, double *to)
{
    const double *numbers = exchange_at(g->exchange, from);
    for (uint32_t k = 0; to && k < n; k++)
        to[k] = numbers[k];
}

static KoineStatus evaluate(KoineModel *model, const KoineEvaluation *at)
{
    Guest *g = guest_of(model);
    Exchange *e = g->exchange;
    const KoineTables *tables = model->kind->tables;
    if (g->broken[0])
        return say_broken(g);
    e->asked.time = at->time;
    e->asked.want = at->want & (KOINE_WANT_DER | KOINE_WANT_ROOTS | KOINE_WANT_OUTPUTS);
    e->asked.has_sizes = at->root_sizes != NULL;
    tell_state(e, tables, at->x);
    const KoineStatus status = call(g, CALL_EVALUATE);
    if (status != KOINE_OK)
        return status;
    if (at->want & KOINE_WANT_DER)
        take_numbers(g, e->layout.der, tables->n_x, at->der);
    if (at->want & KOINE_WANT_ROOTS) {
        take_numbers(g, e->layout.roots, tables->roots.n, at->roots);
        take_numbers(g, e->layout.sizes, tables->roots.n, at->root_sizes);
    }
    return KOINE_OK;
}

static KoineStatus with_outcome(Guest *g, ExchangeCall what, KoineOutcome *outcome)
{
    if (g->broken[0])
        return say_broken(g);
    g->exchange->reply.outcome = *outcome;
    const KoineStatus status = call(g, what);
    if (status == KOINE_OK)
        *outcome = g->exchange->reply.outcome;
    return status;
}

static KoineStatus accept(KoineModel *model, double time, const double *x, KoineOutcome *outcome)
{
    Guest *g = guest_of(model);
    if (g->broken[0])
        return say_broken(g);
    g->exchange->asked.time = time;
    tell_state(g->exchange, model->kind->tables, x);
    return with_outcome(g, CALL_ACCEPT, outcome);
}

static KoineStatus arrive(KoineModel *model, const KoineArrival *arrival)
{
    Guest *g = guest_of(model);
    Exchange *e = g->exchange;
    const KoineTables *tables = model->kind->tables;
    if (g->broken[0])
        return say_broken(g);
    KoineChange *changes = exchange_at(e, e->layout.changes);
    uint8_t *crossed = exchange_at(e, e->layout.crossed);
    e->asked.time = arrival->time;
    e->asked.cause = arrival->cause;
    e->asked.has_crossed = arrival->crossed != NULL;
    e->asked.has_changes = arrival->changes != NULL;
    e->asked.n_changes = arrival->n_changes < e->layout.n_in ? arrival->n_changes : e->layout.n_in;
    for (uint32_t k = 0; arrival->crossed && k < tables->roots.n; k++)
        crossed[k] = arrival->crossed[k];
    for (uint32_t k = 0; arrival->changes && k < e->asked.n_changes; k++)
        changes[k] = arrival->changes[k];
    tell_state(e, tables, arrival->x);
    return call(g, CALL_ARRIVE);
}

static KoineStatus step(KoineModel *model, KoineOutcome *outcome)
{
    return with_outcome(guest_of(model), CALL_STEP, outcome);
}

static KoineStatus commit(KoineModel *model, KoineOutcome *outcome)
{
    return with_outcome(guest_of(model), CALL_COMMIT, outcome);
}

static KoineStatus leave(KoineModel *model, KoineOutcome *outcome)
{
    return with_outcome(guest_of(model), CALL_LEAVE, outcome);
}

static KoineStatus advance(KoineModel *model, double time, double length, double *reached)
{
    Guest *g = guest_of(model);
    if (g->broken[0])
        return say_broken(g);
    g->exchange->asked.time = time;
    g->exchange->asked.step = length;
    const KoineStatus status = call(g, CALL_ADVANCE);
    *reached = g->exchange->reply.reached;
    return status;
}

const KoineModelKind foreign_apart_functions = { .version = KOINE_MODEL_VERSION,
                                                 .size = sizeof(KoineModelKind),
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .initialise = initialise,
                                                 .evaluate = evaluate,
                                                 .accept = accept,
                                                 .arrive = arrive,
                                                 .step = step,
                                                 .commit = commit,
                                                 .leave = leave,
                                                 .foreign.advance = advance };
