/* What the tests of the text form share: a compilation of their own, and reading and printing in it. */
#ifndef TESTS_IR_TEXT_TEST_H
#define TESTS_IR_TEXT_TEST_H

#include "assertions.h"
#include "base/diag.h"
#include "ir/print.h"
#include "ir/read.h"
#include "ir/verify.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

typedef struct {
    Arena *arena;
    Sources *sources;
    Diag *diag;
    Pool *pool;
} World;

static inline World world_create(void)
{
    World w = { .arena = arena_create(NULL) };
    w.sources = sources_create(w.arena);
    w.diag = diag_create(w.arena, w.sources);
    diag_set_limit(w.diag, 1000);
    w.pool = pool_create(w.arena, names_create(w.arena));
    return w;
}

static inline void world_destroy(World *w)
{
    arena_destroy(w->arena);
}

static inline Model *read_text(World *w, const char *path, const char *text, size_t size)
{
    return model_read(w->pool, w->sources, sources_add_text(w->sources, path, text, size), w->diag);
}

static inline Text print_text(World *w, const Model *model, PrintOptions options)
{
    Text text = { .arena = w->arena };
    model_print(model, &text, options);
    return text;
}

/* Prints, reads in a compilation of its own, prints: the texts must be equal. */
static inline void assert_fixed_point(World *w, const Model *model, PrintOptions options, const char *name)
{
    const Text first = print_text(w, model, options);
    World other = world_create();
    const Model *again = read_text(&other, "again.ir", first.at, first.n);
    if (!again) {
        diag_print(other.diag, stderr, (DiagStyle){ 0 });
        fprintf(stderr, "%s\n", first.at);
        fail_msg("%s: what was printed cannot be read", name);
    }
    const Text second = print_text(&other, again, options);
    assertion_made();
    if (first.n != second.n || memcmp(first.at, second.at, first.n) != 0) {
        fprintf(stderr, "%s\n------\n%s\n", first.at, second.at);
        fail_msg("%s: printing what was read gives another text", name);
    }
    world_destroy(&other);
}

#endif
