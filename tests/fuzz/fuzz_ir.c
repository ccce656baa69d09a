/* Any bytes as a text form: read, verified, printed, read again and printed again; the two texts must be equal.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_ir.c
 *     ./fuzz_ir -dict=build/fuzz/ir.dict CORPUS tests/ir tests/ir/errors */
#include "ir/print.h"
#include "ir/read.h"
#include "ir/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    Sources *sources;
    Diag *diag;
    Pool *pool;
} World;

static World world_create(Arena *arena)
{
    Sources *sources = sources_create(arena);
    return (World){ sources, diag_create(arena, sources), pool_create(arena, names_create(arena)) };
}

static Model *read_text(const World *w, const char *text, size_t size)
{
    Model *model = model_read(w->pool, w->sources, sources_add_text(w->sources, "fuzz.ir", text, size), w->diag);
    if (!model && diag_errors(w->diag) == 0)
        __builtin_trap(); /* NULL means: already reported */
    if (model && diag_errors(w->diag) > 0)
        __builtin_trap();
    return model;
}

/* Printed, read in a world of its own, printed: the same bytes. */
static void check_fixed_point(const Model *model, PrintOptions options)
{
    Arena *arena = arena_create(NULL);
    Text first = { .arena = arena }, second = { .arena = arena };
    const World w = world_create(arena);
    model_print(model, &first, options);
    const Model *again = read_text(&w, first.at, first.n);
    if (!again)
        __builtin_trap();
    model_print(again, &second, options);
    if (first.n != second.n || memcmp(first.at, second.at, first.n) != 0)
        __builtin_trap();
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = arena_create(NULL);
    const World w = world_create(arena);
    const Model *model = read_text(&w, (const char *)data, size);
    if (model) {
        check_fixed_point(model, (PrintOptions){ 0 });
        check_fixed_point(model, (PrintOptions){ .shapes = true });
        model_verify(model, w.diag);
    }
    diag_json(w.diag, arena);
    arena_destroy(arena);
    return 0;
}
