/* koine-component: the process in which a foreign component runs apart from Koine (foreign/exchange.h).
 *
 * It does what it is asked, call by call, and lives no longer than the process that has started it: that one holds the
 * other end of a pipe. */
#define _GNU_SOURCE
#include "foreign/describe.h"
#include "foreign/exchange.h"
#include "foreign/foreign.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { USAGE = 2, LOST = 4 };

/* ---- the other end ---- */
/* A thread of its own: the component may be at work, or hang. */
static void *watch(void *nothing)
{
    char byte;
    while (read(EXCHANGE_LIFE, &byte, 1) > 0)
        continue;
    kill(0, SIGKILL); /* the group: what the component has started, too */
    return nothing;
}

static void watch_life(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, NULL) != 0)
        _exit(LOST);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void out_of_memory(size_t wanted)
{
    (void)wanted;
    _exit(LOST);
}

/* ---- what is there? ---- */
static void send_words(const Words *words)
{
    const uint64_t n = words->n;
    FILE *to = fdopen(EXCHANGE_MEMORY, "w");
    if (!to || fwrite(&n, sizeof n, 1, to) != 1 || fwrite(words->at, sizeof n, n, to) != n || fclose(to) != 0)
        _exit(LOST);
}

static const KoineModelKind *load(Arena *arena, char **args, ForeignLibraries **libraries, Words *words)
{
    const ForeignRequest request = { .file = args[2], .symbol = args[3] };
    const char *why;
    *libraries = foreign_libraries_create(arena);
    const KoineModelKind *kind = foreign_load(*libraries, &request, &why);
    if (!kind) {
        describe_text(words, why, arena);
        return NULL;
    }
    vec_push(arena, words, 0);
    vec_push(arena, words, foreign_can_step(kind));
    describe_tables(words, kind->tables, arena);
    return kind;
}

/* ---- calls ---- */
typedef struct {
    Exchange *exchange;
    const KoineModelKind *kind;
    ForeignLibraries *libraries;
    KoineModel *model;
    KoineHost host;
} Guest;

static void answer(Exchange *e, ExchangeAnswer what)
{
    e->reply.what = what;
    exchange_give_turn(e, TURN_OF_KOINE);
}

static void await_turn(Exchange *e)
{
    static const int64_t LONG = 1000000000;
    if (!exchange_await(e, TURN_OF_COMPONENT, 0))
        while (!exchange_await(e, TURN_OF_COMPONENT, LONG))
            continue;
}

static void pass_message(void *context, const KoineModel *model, int level, const char *text)
{
    Exchange *e = ((Guest *)context)->exchange;
    (void)model;
    e->reply.level = level;
    snprintf(e->message, sizeof e->message, "%s", text);
    answer(e, ANSWER_MESSAGE);
    await_turn(e);
}

static void take_host(Guest *g)
{
    const ExchangeHost *from = &g->exchange->host;
    g->host = (KoineHost){ .context = g,
                           .resources = from->resources[0] ? from->resources : NULL,
                           .seed = from->seed,
                           .resolution = from->resolution,
                           .max_steps = from->max_steps,
                           .max_cycles = from->max_cycles,
                           .iteration_tolerance = from->iteration_tolerance,
                           .tolerance = from->tolerance,
                           .message = pass_message };
}

static void copy_slots(const uint64_t *list, uint32_t n, unsigned char *to, const unsigned char *from)
{
    for (uint32_t k = 0; k < n; k++)
        memcpy(to + list[k], from + list[k], sizeof(KoineSlot));
}

static void take_inputs(const Guest *g)
{
    Exchange *e = g->exchange;
    const ExchangeLayout *l = &e->layout;
    copy_slots(exchange_at(e, l->in), l->n_in, g->model->block, exchange_at(e, l->block));
    if (e->asked.what == CALL_INITIALISE)
        copy_slots(exchange_at(e, l->set), l->n_set, g->model->block, exchange_at(e, l->block));
}

/* What is seen of its block: between events nothing but outputs changes. */
static void give_values(const Guest *g)
{
    Exchange *e = g->exchange;
    const ExchangeLayout *l = &e->layout;
    unsigned char *to = exchange_at(e, l->block);
    if (e->asked.what != CALL_EVALUATE || e->asked.want & KOINE_WANT_OUTPUTS)
        copy_slots(exchange_at(e, l->out), l->n_out, to, g->model->block);
    if (e->asked.what == CALL_EVALUATE)
        return;
    copy_slots(exchange_at(e, l->in), l->n_in, to, g->model->block);
    if (g->kind->tables->n_x)
        memcpy(to + g->kind->tables->x, g->model->block + g->kind->tables->x, g->kind->tables->n_x * sizeof(double));
}

static bool grow(KoineModel *model)
{
    enum { ALIGNMENT = 64 };
    const uint64_t size = (2 * model->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    unsigned char *block = aligned_alloc(ALIGNMENT, size);
    if (!block)
        return false;
    memcpy(block, model->block, model->size);
    memset(block + model->size, 0, size - model->size);
    free(model->block);
    model->block = block;
    model->size = size;
    return true;
}

static KoineStatus create(Guest *g)
{
    if (!g->kind) {
        snprintf(g->exchange->fault.text, sizeof g->exchange->fault.text, "its library is no longer what it was");
        return KOINE_FAILED;
    }
    const KoineStatus status = g->kind->create(g->kind, &g->host, &g->model);
    if (status != KOINE_OK || !g->model || !g->model->block || g->model->size < g->kind->tables->block_size) {
        snprintf(g->exchange->fault.text, sizeof g->exchange->fault.text, "there is no instance of it");
        g->model = NULL;
        return KOINE_FAILED;
    }
    memcpy(exchange_at(g->exchange, g->exchange->layout.block), g->model->block, g->kind->tables->block_size);
    return KOINE_OK;
}

static KoineStatus evaluate(const Guest *g, const double *x)
{
    Exchange *e = g->exchange;
    const KoineEvaluation at = { .time = e->asked.time,
                                 .x = x,
                                 .want = e->asked.want,
                                 .der = exchange_at(e, e->layout.der),
                                 .roots = exchange_at(e, e->layout.roots),
                                 .root_sizes = e->asked.has_sizes ? exchange_at(e, e->layout.sizes) : NULL };
    if (e->asked.has_sizes && e->asked.want & KOINE_WANT_ROOTS)
        memset(at.root_sizes, 0, g->kind->tables->roots.n * sizeof(double));
    return g->kind->evaluate(g->model, &at);
}

static KoineStatus arrive(const Guest *g, const double *x)
{
    Exchange *e = g->exchange;
    const KoineArrival arrival = { .time = e->asked.time,
                                   .x = x,
                                   .cause = e->asked.cause,
                                   .crossed = e->asked.has_crossed ? exchange_at(e, e->layout.crossed) : NULL,
                                   .changes = e->asked.has_changes ? exchange_at(e, e->layout.changes) : NULL,
                                   .n_changes = e->asked.n_changes };
    return g->kind->arrive(g->model, &arrival);
}

static KoineStatus execute(const Guest *g)
{
    Exchange *e = g->exchange;
    const double *x = e->asked.has_x ? exchange_at(e, e->layout.x) : NULL;
    switch (e->asked.what) {
    case CALL_INITIALISE: return g->kind->initialise(g->model, e->asked.time);
    case CALL_EVALUATE: return evaluate(g, x);
    case CALL_ACCEPT: return g->kind->accept(g->model, e->asked.time, x, &e->reply.outcome);
    case CALL_ARRIVE: return arrive(g, x);
    case CALL_STEP: return g->kind->step(g->model, &e->reply.outcome);
    case CALL_COMMIT: return g->kind->commit(g->model, &e->reply.outcome);
    case CALL_ADVANCE: return g->kind->foreign.advance(g->model, e->asked.time, e->asked.step, &e->reply.reached);
    case CALL_LEAVE: return g->kind->leave(g->model, &e->reply.outcome);
    default: return KOINE_ABSENT;
    }
}

static KoineStatus do_call(Guest *g)
{
    enum { MOST = 40 };
    if (g->exchange->asked.what == CALL_CREATE)
        return create(g);
    if (!g->model)
        return KOINE_FAILED;
    if (g->exchange->asked.what == CALL_DESTROY) {
        g->kind->destroy(g->model);
        foreign_libraries_release(g->libraries);
        g->model = NULL;
        return KOINE_OK;
    }
    g->host.resolution = g->exchange->host.resolution;
    take_inputs(g);
    KoineStatus status = execute(g);
    for (uint32_t k = 0; status == KOINE_GROW && k < MOST && grow(g->model); k++)
        status = execute(g);
    give_values(g);
    if (status != KOINE_OK)
        g->exchange->fault = g->model->fault;
    return status;
}

static int serve(const KoineModelKind *kind, ForeignLibraries *libraries, const Words *words)
{
    struct stat memory;
    if (fstat(EXCHANGE_MEMORY, &memory) != 0 || (size_t)memory.st_size < sizeof(Exchange))
        return LOST;
    Exchange *e = mmap(NULL, (size_t)memory.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, EXCHANGE_MEMORY, 0);
    if (e == MAP_FAILED)
        return LOST;
    close(EXCHANGE_MEMORY);
    const bool is_known = kind && e->fingerprint == fingerprint_of_words(words->at + 1, words->n - 1);
    Guest g = { .exchange = e, .kind = is_known ? kind : NULL, .libraries = libraries };
    take_host(&g);
    for (;;) {
        await_turn(e);
        e->reply.status = do_call(&g);
        answer(e, ANSWER_DONE);
    }
}

int main(int n, char **args)
{
    static const int ours[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    const bool describes = n == 4 && strcmp(args[1], "describe") == 0;
    struct stat given;
    if (!describes && (n != 4 || strcmp(args[1], "serve") != 0 || fstat(EXCHANGE_MEMORY, &given) != 0)) {
        fprintf(stderr, "koine-component: Koine starts this program where a model has a component in a process of its "
                        "own\n");
        return USAGE;
    }
    for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
        signal(ours[k], SIG_DFL); /* the system says what ended it */
    close_range(EXCHANGE_LIFE + 1, ~0u, 0);
    watch_life();
    Arena *arena = arena_create(out_of_memory);
    ForeignLibraries *libraries;
    Words words = { 0 };
    const KoineModelKind *kind = load(arena, args, &libraries, &words);
    if (!describes)
        return serve(kind, libraries, &words);
    send_words(&words);
    _exit(0);
}
