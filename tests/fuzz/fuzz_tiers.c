/* A model, generated from the bytes or written by them, runs in the interpreter and in the tier tcc: the same rows in
 * every bit, the same messages, the same end. Runs are bounded by rows and, for those that only work, by a timer: then
 * the rows that both have are compared. */
#include "base/map.h"
#include "base/vec.h"
#include "driver/compile.h"
#include "generate.h"
#include "koine/simulate.h"
#include "place.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_ROWS = 400, MILLISECONDS = 150 };

typedef struct {
    KoineSink sink; /* first: the sink is this */
    Arena *arena;
    VEC(uint64_t) rows; /* a checksum each */
    uint64_t messages;
    KoineRunReport report;
} Record;

static volatile int interrupt;

static void stop(int signal)
{
    (void)signal;
    interrupt = 1;
}

/* Not that of libFuzzer, which is SIGALRM. */
static void arm(long milliseconds)
{
    static timer_t timer;
    static bool is_made;
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
    const struct itimerspec until = { .it_value = { .tv_nsec = milliseconds * 1000000 } };
    if (!is_made) {
        signal(SIGUSR2, stop);
        is_made = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
    }
    interrupt = 0;
    timer_settime(timer, 0, &until, NULL);
}

/* That a number is none is what the tiers agree in; its sign bit depends on the order of operands. */
static uint64_t hash_reals(const KoineSlot *slots, uint32_t n, uint64_t hash)
{
    for (uint32_t k = 0; k < n; k++) {
        const double value = isnan(slots[k].r) ? NAN : slots[k].r;
        hash = hash_bytes(&value, sizeof value, hash);
    }
    return hash;
}

static KoineStatus point(KoineSink *sink, const KoineModel *model, const KoinePoint *at)
{
    Record *const record = (Record *)(void *)sink;
    const KoineTables *const tables = model->kind->tables;
    uint64_t hash = hash_bytes(&at->time, sizeof at->time, at->event_step + 1000u * (unsigned)at->kind);
    for (uint32_t k = 0; k < tables->n_variables; k++) {
        const KoineVariable *const v = &tables->variables[k];
        if (v->now == KOINE_NO_OFFSET)
            continue;
        const KoineSlot *const slots = (const KoineSlot *)(const void *)(model->block + v->now);
        hash = v->type == KOINE_REAL ? hash_reals(slots, v->count, hash)
                                     : hash_bytes(slots, sizeof *slots * v->count, hash);
    }
    vec_push(record->arena, &record->rows, hash);
    if (record->rows.n >= MOST_ROWS)
        interrupt = 2;
    return KOINE_OK;
}

static void message(void *context, const KoineModel *model, int level, const char *text)
{
    Record *const record = context;
    (void)model;
    record->messages = hash_bytes(text, strlen(text), record->messages + (uint64_t)level);
}

/* How it ended: 0 by itself, 1 by the timer, 2 by the number of rows. */
static int run(Compilation *c, const char *tier, const KoineRunOptions *options, Record *record)
{
    const char *why = NULL;
    const KoineModelKind *const kind = compilation_kind(c, tier, &why);
    if (!kind) {
        fprintf(stderr, "%s: %s\n", tier, why);
        abort(); /* what the interpreter takes is C, and the second wall lets it pass */
    }
    const KoineHost host = { .context = record, .message = message, .tolerance = options->tolerance, .max_steps = 50 };
    KoineModel *model;
    *record = (Record){ .sink = { .point = point }, .arena = c->arena };
    if (kind->create(kind, &host, &model) != KOINE_OK)
        abort();
    KoineSink *sinks[] = { &record->sink };
    KoineRunOptions own = *options;
    own.sinks = sinks;
    own.n_sinks = 1;
    own.listener.interrupt = &interrupt;
    arm(MILLISECONDS);
    koine_simulate(model, &own, &record->report);
    const int end = interrupt;
    arm(0);
    kind->destroy(model);
    return end;
}

static void check(bool is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "interp and tcc differ: %s\n", what);
        abort();
    }
}

/* The last row of a run that was interrupted is where it was by chance. */
static void compare(const Record *a, int a_end, const Record *b, int b_end)
{
    const uint32_t n_a = a->rows.n - (a_end == 1 && a->rows.n), n_b = b->rows.n - (b_end == 1 && b->rows.n);
    const bool is_whole = a_end != 1 && b_end != 1;
    for (uint32_t k = 0; k < n_a && k < n_b; k++)
        check(a->rows.at[k] == b->rows.at[k], "a row");
    if (!is_whole)
        return;
    check(n_a == n_b, "number of rows");
    check(a->messages == b->messages, "messages");
    check(a->report.end == b->report.end && strcmp(a->report.text, b->report.text) == 0, "the end");
}

static bool begins_with(const uint8_t *data, size_t size, const char *head)
{
    return size >= strlen(head) && memcmp(data, head, strlen(head)) == 0;
}

/* A text of some language, as the seeds are, or choices. */
static const char *write_model(Choices *c, const uint8_t *data, size_t size, Arena *arena)
{
    static const char *const endings[] = { "model.ir", "model.mdl", "model.dym" };
    const int written = begins_with(data, size, "koine-ir")                                       ? GENERATE_IR
                        : begins_with(data, size, "BASIC") || begins_with(data, size, "HIGH LEV") ? GENERATE_SIMPLEX
                        : begins_with(data, size, "model ") || begins_with(data, size, "{")       ? GENERATE_DYMOLA
                                                                                                  : -1;
    const int language = written >= 0 ? written : (int)choose(c, GENERATE_LANGUAGES);
    const char *const path = place_path(endings[language]);
    Text text = { .arena = arena };
    if (written >= 0)
        text_bytes(&text, (const char *)data, size);
    else
        generate_model(c, (GenerateLanguage)language, NAMES_ANY, &text);
    place_write(path, text.at, text.n);
    if (getenv("KOINE_FUZZ_SHOW"))
        fprintf(stderr, "%s\n", text.at);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const solvers[] = { "auto", "dopri5", "cvode-bdf", "rk4", "euler", "ida", "simplex-fehlberg" };
    static const double stops[] = { 1, 0.1, 10, 100 };
    Choices c = { data, data + size };
    Compilation *const compilation = compilation_create(NULL);
    const KoineRunOptions options = { .stop = stops[choose(&c, 4)],
                                      .solver = solvers[choose(&c, sizeof solvers / sizeof *solvers)],
                                      .tolerance = choose(&c, 2) ? 1e-6 : 1e-4,
                                      .interval = 0.05,
                                      .step = 0.01 };
    const CompileRequest request = { .path = write_model(&c, data, size, compilation->arena), .task_span = SPAN_NONE };
    const bool is_good = compilation_load(compilation, &request) && compilation_schedule(compilation);
    check(is_good == (diag_errors(compilation->diag) == 0), "false means: reported");
    if (is_good) {
        static Record a, b;
        const int a_end = run(compilation, "interp", &options, &a), b_end = run(compilation, "tcc", &options, &b);
        compare(&a, a_end, &b, b_end);
    }
    compilation_destroy(compilation);
    return 0;
}
