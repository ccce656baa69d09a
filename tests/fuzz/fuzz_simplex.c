/* Any bytes as a SIMPLEX text: loaded in both profiles, printed, never a crash. Classes `Src` and `Snk` exist.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_simplex.c
 *     ./fuzz_simplex -dict=tests/fuzz/simplex.dict CORPUS tests/lang/simplex/accept tests/lang/simplex/reject */
#include "ir/print.h"
#include "lang/simplex/simplex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char SRC[] = "BASIC COMPONENT Src LOCAL DEFINITION VALUE SET Colour: (red, green) DECLARATION OF ELEMENTS "
                          "CONSTANT K (REAL) := 2 STATE VARIABLES DISCRETE I (INT) := 1, L (LOGICAL) := TRUE, "
                          "C (Colour) := red CONTINUOUS Z (REAL) := 0 END OF Src";
static const char SNK[] = "BASIC COMPONENT Snk LOCAL DEFINITION VALUE SET Colour: (red, green) DECLARATION OF ELEMENTS "
                          "SENSOR VARIABLES DISCRETE I (INT), L (LOGICAL), C (Colour) CONTINUOUS X (REAL) END OF Snk";

static const Model *find(Resolver *self, const char *class_name, Span wanted_at, Diag *diag)
{
    LoadRequest request = *(const LoadRequest *)self->context;
    const char *text = strcmp(class_name, "Src") == 0 ? SRC : strcmp(class_name, "Snk") == 0 ? SNK : NULL;
    if (!text) {
        diag_error(diag, DIAG_FILE_MISSING, wanted_at, "there is no class `%s`", class_name);
        return NULL;
    }
    request.source = sources_add_text(request.sources, class_name, text, strlen(text));
    request.class_name = class_name;
    return simplex_language.load(&request, diag);
}

static void load(const char *text, size_t size, const char *profile)
{
    Arena *arena = arena_create(NULL);
    Sources *sources = sources_create(arena);
    Diag *diag = diag_create(arena, sources);
    Resolver resolver = { .find = find };
    LoadRequest request = { .pool = pool_create(arena, names_create(arena)),
                            .sources = sources,
                            .source = sources_add_text(sources, "fuzz.mdl", text, size),
                            .resolver = &resolver,
                            .profile = profile };
    resolver.context = &request;
    const Model *model = simplex_language.load(&request, diag);
    if (!model && diag_errors(diag) == 0)
        __builtin_trap(); /* NULL means: already reported */
    if (model && diag_errors(diag) > 0)
        __builtin_trap();
    Text form = { .arena = arena };
    if (model)
        model_print(model, &form, (PrintOptions){ 0 });
    diag_json(diag, arena);
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    load((const char *)data, size, NULL);
    load((const char *)data, size, "simplex");
    return 0;
}
