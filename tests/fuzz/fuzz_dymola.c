/* Any bytes as a Dymola text: loaded, printed, taken through the passes, never a crash. @el.lib is found in the
 * program. */
#include "ir/print.h"
#include "ir/verify.h"
#include "lang/dymola/dymola.h"
#include "passes/pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = arena_create(NULL);
    Sources *sources = sources_create(arena);
    Diag *diag = diag_create(arena, sources);
    const LoadRequest request = { .pool = pool_create(arena, names_create(arena)),
                                  .sources = sources,
                                  .source = sources_add_text(sources, "fuzz.dym", (const char *)data, size) };
    Model *model = dymola_language.load(&request, diag);
    if ((model == NULL) != (diag_errors(diag) > 0))
        __builtin_trap(); /* NULL means: already reported */
    Text form = { .arena = arena };
    if (model)
        model_print(model, &form, (PrintOptions){ 0 });
    if (model && model_verify(model, diag)) {
        Compile compile = { .model = model, .arena = arena, .diag = diag };
        run_pipeline(&compile, NULL, NULL);
    }
    diag_json(diag, arena);
    arena_destroy(arena);
    return 0;
}
