#include "lang/languages.h"
#include "ir/print.h"
#include "ir/read.h"
#include "lang/dymola/dymola.h"
#include "lang/simplex/simplex.h"
#include <unistd.h>

static Model *load_text_form(const LoadRequest *request, Diag *diag)
{
    return model_read(request->pool, request->sources, request->source, diag);
}

static const char *const text_form_extensions[] = { "ir", NULL };
static const Language text_form_language = { TEXT_FORM, text_form_extensions, load_text_form, false };

static const Language *const builtin[] = { &simplex_language, &dymola_language, &text_form_language };
enum { N_BUILTIN = sizeof builtin / sizeof builtin[0] };

const Language *language_at(const Language *const *further, uint32_t k)
{
    if (k < N_BUILTIN)
        return builtin[k];
    uint32_t n = 0;
    while (further && further[n] && n < k - N_BUILTIN)
        n++;
    return further ? further[n] : NULL;
}

const Language *language_of(const Language *const *further, const char *path)
{
    const char *dot = strrchr(path, '.');
    for (uint32_t k = 0; dot && language_at(further, k); k++)
        for (uint32_t j = 0; language_at(further, k)->extensions[j]; j++)
            if (strcmp(language_at(further, k)->extensions[j], dot + 1) == 0)
                return language_at(further, k);
    return NULL;
}

const char *language_file(const Language *const *further, const char *base, Arena *arena)
{
    for (uint32_t k = 0; language_at(further, k); k++)
        for (uint32_t j = 0; language_at(further, k)->extensions[j]; j++) {
            const ArenaMark mark = arena_mark(arena);
            const char *path = arena_format(arena, "%s.%s", base, language_at(further, k)->extensions[j]);
            if (access(path, F_OK) == 0)
                return path;
            arena_reset(arena, mark);
        }
    return NULL;
}

Model *language_load(const Language *const *further, const char *path, Span wanted_at, LoadRequest request, Diag *diag)
{
    static const char *const reasons[] = { [SOURCE_MISSING] = "does not exist",
                                           [SOURCE_UNREADABLE] = "cannot be read",
                                           [SOURCE_TOO_LARGE] = "has more than 1 GB",
                                           [SOURCE_NO_FILE] = "is no file, but a folder, a pipe or a device" };
    static const DiagCode codes[] = { [SOURCE_MISSING] = DIAG_FILE_MISSING,
                                      [SOURCE_UNREADABLE] = DIAG_FILE_UNREADABLE,
                                      [SOURCE_TOO_LARGE] = DIAG_FILE_TOO_LARGE,
                                      [SOURCE_NO_FILE] = DIAG_FILE_MISSING };
    const Language *language = language_of(further, path);
    const SourceStatus status = sources_open(request.sources, path, &request.source);
    if (status != SOURCE_OK) {
        diag_error(diag, codes[status], wanted_at, "'%s' %s", path, reasons[status]);
        return NULL;
    }
    if (!language) {
        diag_error(diag, DIAG_UNKNOWN_LANGUAGE, wanted_at, "no language is known for '%s'", path);
        diag_help(
            diag,
            "the ending of the name says the language: .mdl is SIMPLEX-MDL, .dym Dymola, .ir the text form of models");
        return NULL;
    }
    sources_set_language(request.sources, request.source, language->name);
    return language->load(&request, diag);
}
