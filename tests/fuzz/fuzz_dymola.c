/* Any bytes as a Dymola text: loaded, printed, never a crash. @el.lib is found in the program. */
#include "ir/print.h"
#include "lang/dymola/dymola.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = arena_create(NULL);
    Sources *sources = sources_create(arena);
    Diag *diag = diag_create(arena, sources);
    const LoadRequest request = { .pool = pool_create(arena, names_create(arena)),
                                  .sources = sources,
                                  .source = sources_add_text(sources, "fuzz.dym", (const char *)data, size) };
    const Model *model = dymola_language.load(&request, diag);
    if ((model == NULL) != (diag_errors(diag) > 0))
        __builtin_trap(); /* NULL means: already reported */
    Text form = { .arena = arena };
    if (model)
        model_print(model, &form, (PrintOptions){ 0 });
    diag_json(diag, arena);
    arena_destroy(arena);
    return 0;
}
