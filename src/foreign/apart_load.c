/* What a component is, asked in a process of its own: nothing of it is executed here. */
#define _GNU_SOURCE
#include "foreign/apart.h"
#include "foreign/describe.h"
#include "foreign/exchange.h"
#include "foreign/process.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

typedef struct {
    const ApartKind *kind;
    ComponentProcess process;
    int64_t until;
    const char *why; /* NULL: all is well */
} Asking;

static bool is_interrupted(const Asking *a)
{
    volatile const int *const *interrupt = a->kind->request.interrupt;
    return interrupt && *interrupt && **interrupt;
}

/* It has ended before it has said all. */
static void tell_end(Asking *a)
{
    char text[100];
    while (!component_is_over(&a->process) && exchange_clock() < a->until)
        poll(NULL, 0, 1);
    component_tell_end(&a->process, text, sizeof text);
    a->why = arena_format(a->kind->arena, "cannot be loaded: its process %s while %s was loaded", text,
                          a->kind->request.file);
}

static bool read_all(Asking *a, int from, void *to, size_t n)
{
    enum { SLICE = 50 };
    for (size_t got = 0; got < n && !a->why;) {
        struct pollfd ready = { .fd = from, .events = POLLIN };
        if (poll(&ready, 1, SLICE) > 0) {
            const ssize_t part = read(from, (char *)to + got, n - got);
            if (part > 0)
                got += (size_t)part;
            else if (part == 0 || errno != EINTR)
                tell_end(a);
        } else if (is_interrupted(a))
            a->why = "was interrupted while it was loaded";
        else if (exchange_clock() > a->until)
            a->why = arena_format(a->kind->arena, "cannot be loaded: %s gave no answer within %g s",
                                  a->kind->request.file, a->kind->request.limit);
    }
    return !a->why;
}

static uint64_t *read_words(Asking *a, int from, uint64_t *n)
{
    enum { MOST = 1 << 27 };
    if (!read_all(a, from, n, sizeof *n))
        return NULL;
    if (*n == 0 || *n > MOST) {
        a->why = "cannot be loaded: its process does not say what it is";
        return NULL;
    }
    uint64_t *words = NEW_ARRAY(a->kind->arena, uint64_t, *n);
    return read_all(a, from, words, *n * sizeof *words) ? words : NULL;
}

/* The first word is the length of what is wrong, as a text; 0: nothing is. Whether it can advance, and its tables come
 * then. */
static void understand(ApartKind *kind, Asking *a, const uint64_t *words, uint64_t n)
{
    if (words[0] != 0) {
        a->why = words[0] <= (n - 1) * sizeof *words ? arena_text(kind->arena, (const char *)(words + 1), words[0] - 1)
                                                     : "cannot be loaded: its process does not say what it is";
        return;
    }
    kind->fingerprint = fingerprint_of_words(words + 1, n - 1);
    kind->kind = foreign_apart_functions;
    if (n < 2 || !words[1])
        kind->kind.foreign.advance = NULL;
    kind->kind.tables = n < 2 ? NULL : tables_of_words(words + 2, n - 2, kind->arena);
    a->why = kind->kind.tables ? foreign_mistake(&kind->kind, kind->arena)
                               : "cannot be loaded: its process does not say what it is";
}

ApartKind *foreign_apart_load(Arena *arena, const ForeignRequest *request, const char **why)
{
    static const double LIMIT = 10;
    char program[4096];
    int pipe_ends[2];
    ApartKind *kind = NEW(arena, ApartKind);
    kind->arena = arena;
    kind->request = *request;
    if (!(request->limit > 0))
        kind->request.limit = LIMIT;
    Asking a = { .kind = kind, .until = exchange_clock() + (int64_t)(kind->request.limit * 1e9) };
    const char *const arguments[] = { "koine-component", "describe", request->file, request->symbol, NULL };
    if (!component_program(program, sizeof program, why))
        return NULL;
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        *why = "cannot be loaded: there are too many open files";
        return NULL;
    }
    a.why = component_start(&a.process, program, arguments, pipe_ends[1]);
    close(pipe_ends[1]);
    uint64_t n;
    const uint64_t *words = a.why ? NULL : read_words(&a, pipe_ends[0], &n);
    if (words)
        understand(kind, &a, words, n);
    close(pipe_ends[0]);
    component_end(&a.process);
    *why = a.why;
    return a.why ? NULL : kind;
}
