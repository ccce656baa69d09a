#include "driver/resolve.h"
#include "base/bug.h"
#include "base/map.h"
#include "ir/print.h"
#include "ir/read.h"
#include "lang/simplex/simplex.h"
#include <unistd.h>

/* ---- the table of languages ---- */
static Model *load_text_form(const LoadRequest *request, Diag *diag)
{
    return model_read(request->pool, request->sources, request->source, diag);
}

static const char *const text_form_extensions[] = { "ir", NULL };
static const Language text_form_language = { TEXT_FORM, text_form_extensions, load_text_form };

static const Language *const builtin[] = { &simplex_language, &text_form_language };
enum { N_BUILTIN = sizeof builtin / sizeof builtin[0] };

const char *resolve_language_name(uint32_t k)
{
    return k < N_BUILTIN ? builtin[k]->name : NULL;
}

/* ---- the resolver ---- */
typedef struct {
    const Model *model; /* NULL while it is being loaded, or after errors */
    const char *path;
    Span wanted_at;
    bool is_open;
} Class;

typedef struct {
    Resolver base; /* first member */
    ResolveRequest request;
    Arena *arena;
    VEC(Class) classes;
    Map by_path;        /* hash of the path -> class */
    VEC(uint32_t) open; /* being loaded, outermost first */
} Finder;

static const Language *language_at(const Finder *f, uint32_t k)
{
    if (k < N_BUILTIN)
        return builtin[k];
    uint32_t n = 0;
    while (f->request.languages && f->request.languages[n] && n < k - N_BUILTIN)
        n++;
    return f->request.languages ? f->request.languages[n] : NULL;
}

static const Language *language_of(const Finder *f, const char *path)
{
    const char *dot = strrchr(path, '.');
    for (uint32_t k = 0; dot && language_at(f, k); k++)
        for (uint32_t j = 0; language_at(f, k)->extensions[j]; j++)
            if (strcmp(language_at(f, k)->extensions[j], dot + 1) == 0)
                return language_at(f, k);
    return NULL;
}

static Model *load(Finder *f, const char *path, const char *class_name, Span wanted_at, Diag *diag)
{
    static const char *const reasons[] = { [SOURCE_MISSING] = "does not exist",
                                           [SOURCE_UNREADABLE] = "cannot be read",
                                           [SOURCE_TOO_LARGE] = "is too large",
                                           [SOURCE_IS_FOLDER] = "is a folder" };
    static const DiagCode codes[] = { [SOURCE_MISSING] = DIAG_FILE_MISSING,
                                      [SOURCE_UNREADABLE] = DIAG_FILE_UNREADABLE,
                                      [SOURCE_TOO_LARGE] = DIAG_FILE_TOO_LARGE,
                                      [SOURCE_IS_FOLDER] = DIAG_FILE_UNREADABLE };
    const Language *language = language_of(f, path);
    uint32_t source;
    const SourceStatus status = sources_open(f->request.sources, path, &source);
    if (status != SOURCE_OK) {
        diag_error(diag, codes[status], wanted_at, "'%s' %s", path, reasons[status]);
        return NULL;
    }
    if (!language) {
        diag_error(diag, DIAG_UNKNOWN_LANGUAGE, wanted_at, "no language is known for '%s'", path);
        diag_help(diag, "the ending of the name says the language: .mdl is SIMPLEX-MDL, .ir the text form of models");
        return NULL;
    }
    sources_set_language(f->request.sources, source, language->name);
    const LoadRequest request = { .pool = f->request.pool,
                                  .sources = f->request.sources,
                                  .source = source,
                                  .class_name = class_name,
                                  .resolver = &f->base,
                                  .profile = f->request.profile };
    return language->load(&request, diag);
}

static void report_cycle(Finder *f, const Class *class, Span wanted_at, Diag *diag)
{
    diag_error(diag, DIAG_CYCLIC_CONTAINMENT, wanted_at, "'%s' contains itself", class->path);
    for (uint32_t k = 0; k < f->open.n; k++)
        if (f->classes.at[f->open.at[k]].wanted_at.source != SOURCE_NONE)
            diag_note(diag, f->classes.at[f->open.at[k]].wanted_at, "through '%s'", f->classes.at[f->open.at[k]].path);
    diag_help(diag, "a component cannot be a part of itself, not even through others");
}

/* The class in this file, loaded once. */
static const Model *find_path(Finder *f, const char *path, const char *class_name, Span wanted_at, Diag *diag)
{
    const uint64_t key = hash_bytes(path, strlen(path), 7);
    uint32_t known;
    if (map_get(&f->by_path, key, &known)) {
        if (f->classes.at[known].is_open)
            report_cycle(f, &f->classes.at[known], wanted_at, diag);
        return f->classes.at[known].model; /* NULL: its errors are reported already */
    }
    const uint32_t index = f->classes.n;
    const Class class = { NULL, arena_text(f->arena, path, strlen(path)), wanted_at, true };
    vec_push(f->arena, &f->classes, class);
    map_put(&f->by_path, key, index);
    vec_push(f->arena, &f->open, index);
    const Model *model = load(f, path, class_name, wanted_at, diag);
    (void)vec_pop(&f->open);
    f->classes.at[index].model = model;
    f->classes.at[index].is_open = false;
    return model;
}

static const char *folder_of(Finder *f, Span wanted_at)
{
    if (wanted_at.source == SOURCE_NONE)
        return "";
    const char *path = sources_get(f->request.sources, wanted_at.source)->path, *slash = strrchr(path, '/');
    return slash ? arena_text(f->arena, path, (size_t)(slash + 1 - path)) : "";
}

static const Model *find_class(Resolver *self, const char *class_name, Span wanted_at, Diag *diag)
{
    Finder *f = (Finder *)(void *)self;
    const char *folder = folder_of(f, wanted_at);
    for (uint32_t k = 0; language_at(f, k); k++)
        for (uint32_t j = 0; language_at(f, k)->extensions[j]; j++) {
            const char *path = arena_format(f->arena, "%s%s.%s", folder, class_name, language_at(f, k)->extensions[j]);
            uint32_t known;
            if (map_get(&f->by_path, hash_bytes(path, strlen(path), 7), &known) || access(path, F_OK) == 0)
                return find_path(f, path, NULL, wanted_at, diag);
        }
    diag_error(diag, DIAG_UNKNOWN_CLASS, wanted_at, "there is no component class '%s'", class_name);
    diag_help(diag, "a class lies in a file of its name, here '%s%s.mdl'", folder, class_name);
    return NULL;
}

Model *resolve_file(const ResolveRequest *request, const char *path, const char *class_name, Diag *diag)
{
    Arena *arena = pool_arena(request->pool);
    Finder *f = NEW(arena, Finder);
    *f = (Finder){ .base = { .find = find_class }, .request = *request, .arena = arena };
    map_init(&f->by_path, arena, 64);
    return (Model *)find_path(f, path, class_name, SPAN_NONE, diag); /* the caller's own: nobody else holds it */
}
