/* The table of languages, and what is asked of all of them; see languages.h. */
#include "lang/languages.h"
#include "base/text.h"
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
static const Language text_form_language = {
    .name = TEXT_FORM, .title = "the text form of models", .extensions = text_form_extensions, .load = load_text_form
};

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

static bool has_ending(const Language *language, const char *path)
{
    const char *dot = strrchr(path, '.');
    for (uint32_t j = 0; dot && language->extensions[j]; j++)
        if (strcmp(language->extensions[j], dot + 1) == 0)
            return true;
    return false;
}

const Language *language_of(const Language *const *further, const char *path)
{
    for (uint32_t k = 0; language_at(further, k); k++)
        if (has_ending(language_at(further, k), path))
            return language_at(further, k);
    return NULL;
}

/* The first one of this ending that takes the text for its own; if none does, the first one of this ending. */
static const Language *language_of_text(const Language *const *further, const char *path, const Source *source)
{
    for (uint32_t k = 0; language_at(further, k); k++) {
        const Language *language = language_at(further, k);
        if (has_ending(language, path) && (!language->recognises || language->recognises(source->text, source->size)))
            return language;
    }
    return language_of(further, path);
}

/* The profiles before `name` in the order of names. */
static uint32_t rank_of(const char *name)
{
    uint32_t rank = 0;
    for (uint32_t k = 0; k < N_BUILTIN; k++)
        rank += builtin[k]->profile && strcmp(builtin[k]->profile->name, name) < 0;
    return rank;
}

const Profile *language_profile(uint32_t k)
{
    for (uint32_t j = 0; j < N_BUILTIN; j++)
        if (builtin[j]->profile && rank_of(builtin[j]->profile->name) == k)
            return builtin[j]->profile;
    return NULL;
}

static void say_endings(const Language *const *further, Diag *diag, Arena *arena)
{
    Text text = { .arena = arena };
    for (uint32_t k = 0; language_at(further, k); k++)
        text_format(&text, "%s.%s %s%s", k ? ", " : "", language_at(further, k)->extensions[0], k ? "" : "is ",
                    language_at(further, k)->title);
    diag_help(diag, "the ending of the name says the language: %s", text.at);
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
    const SourceStatus status = sources_open(request.sources, path, &request.source);
    if (status != SOURCE_OK) {
        diag_error(diag, codes[status], wanted_at, "'%s' %s", path, reasons[status]);
        return NULL;
    }
    const Language *language = language_of_text(further, path, sources_get(request.sources, request.source));
    if (!language) {
        diag_error(diag, DIAG_UNKNOWN_LANGUAGE, wanted_at, "no language is known for '%s'", path);
        say_endings(further, diag, pool_arena(request.pool));
        return NULL;
    }
    sources_set_language(request.sources, request.source, language->name);
    return language->load(&request, diag);
}
