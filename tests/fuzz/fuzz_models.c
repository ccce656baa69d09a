/* Generated models in all languages: read, taken through the passes, laid out, printed as C. Whatever bytes the names
 * of the text form have, the C is that of the model with plain names but for identifiers and comments. */
#include "../emit/c_tokens.h"
#include "emit/c/print.h"
#include "emit/program.h"
#include "generate.h"
#include "ir/print.h"
#include "ir/read.h"
#include "ir/verify.h"
#include "lang/dymola/dymola.h"
#include "lang/simplex/simplex.h"
#include "passes/pipeline.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Model *load(const LoadRequest *request, GenerateLanguage language, Diag *diag)
{
    switch (language) {
    case GENERATE_SIMPLEX: return simplex_language.load(request, diag);
    case GENERATE_DYMOLA: return dymola_language.load(request, diag);
    default: return model_read(request->pool, request->sources, request->source, diag);
    }
}

static void check(bool is_right, const char *what, const char *text)
{
    if (is_right)
        return;
    fprintf(stderr, "%s\n%s\n", what, text);
    abort();
}

/* The C of a generated model; NULL: it is refused, with a reason. */
static const char *c_of(Choices choices, GenerateLanguage language, GenerateNames names, Arena *arena)
{
    Sources *const sources = sources_create(arena);
    Diag *const diag = diag_create(arena, sources);
    Text text = { .arena = arena }, c = { .arena = arena };
    generate_model(&choices, language, names, &text);
    const LoadRequest request = { .pool = pool_create(arena, names_create(arena)),
                                  .sources = sources,
                                  .source = sources_add_text(sources, "fuzz", text.at, text.n) };
    Model *const model = load(&request, language, diag);
    check((model == NULL) == (diag_errors(diag) > 0), "NULL means: reported", text.at);
    Compile compile = { .model = model, .arena = arena, .diag = diag };
    diag_json(diag, arena);
    if (!model || !model_verify(model, diag) || !run_pipeline(&compile, NULL, NULL) || diag_errors(diag))
        return NULL;
    const char *why = NULL;
    const Program *const program = program_create(compile.schedule, arena);
    check(print_c_for_compiler(program_code(program), NULL, NULL, arena, &c, &why), why ? why : "", text.at);
    return c.at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Choices choices = { data, data + size };
    Arena *const arena = arena_create(NULL);
    const GenerateLanguage language = (GenerateLanguage)choose(&choices, GENERATE_LANGUAGES);
    const char *const plain = c_of(choices, language, NAMES_PLAIN, arena);
    if (language == GENERATE_IR) {
        const char *const hostile = c_of(choices, language, NAMES_ORDERED, arena);
        check(!plain == !hostile, "one of the two is refused", plain ? plain : hostile ? hostile : "");
        CToken x, y;
        if (plain && !c_is_same_code(plain, hostile, &x, &y))
            check(false, arena_format(arena, "%.*s instead of %.*s", (int)y.n, y.at, (int)x.n, x.at), hostile);
    }
    c_of(choices, language, NAMES_ANY, arena);
    arena_destroy(arena);
    return 0;
}
