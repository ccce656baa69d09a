/* Resolving the name of a class: the bank of the asking file, the language of the file found; see resolve.h. */
#include "driver/resolve.h"
#include "base/bug.h"
#include "base/map.h"
#include "bank/bank.h"
#include "lang/languages.h"

/* Deeper models do not exist; a chain of files without end would exhaust the stack. */
enum { NESTING_MOST = 500 };

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
    Banks *banks;
    VEC(Class) classes;
    Map by_path;        /* hash of the path -> class */
    VEC(uint32_t) open; /* being loaded, outermost first */
} Finder;

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
    if (f->open.n >= NESTING_MOST) {
        diag_error(diag, DIAG_NESTED_TOO_DEEP, wanted_at, "components are nested more than %d deep", NESTING_MOST);
        diag_help(diag, "'%s' is not read", path);
        return NULL;
    }
    const uint32_t index = f->classes.n;
    const Class class = { NULL, arena_text(f->arena, path, strlen(path)), wanted_at, true };
    vec_push(f->arena, &f->classes, class);
    map_put(&f->by_path, key, index);
    vec_push(f->arena, &f->open, index);
    const LoadRequest request = { .pool = f->request.pool,
                                  .sources = f->request.sources,
                                  .class_name = class_name,
                                  .resolver = &f->base,
                                  .profile = f->request.profile };
    const Model *model = language_load(f->request.languages, path, wanted_at, request, diag);
    (void)vec_pop(&f->open);
    f->classes.at[index].model = model;
    f->classes.at[index].is_open = false;
    return model;
}

static const Model *find_class(Resolver *self, const char *class_name, Span wanted_at, Diag *diag)
{
    Finder *f = (Finder *)(void *)self;
    const char *asking = wanted_at.source == SOURCE_NONE ? "" : sources_get(f->request.sources, wanted_at.source)->path;
    BankHit hit;
    if (!bank_find(f->banks, bank_of_file(f->banks, asking, diag), class_name, wanted_at, &hit, diag))
        return NULL;
    return find_path(f, hit.path, hit.class_name, wanted_at, diag);
}

Model *resolve_file(const ResolveRequest *request, const char *path, const char *class_name, Diag *diag)
{
    Arena *arena = pool_arena(request->pool);
    Finder *f = NEW(arena, Finder);
    *f = (Finder){ .base = { .find = find_class }, .request = *request, .arena = arena };
    f->banks = banks_create(&(BanksRequest){ request->sources, request->languages, request->versions }, arena);
    map_init(&f->by_path, arena, 64);
    Model *model =
        (Model *)find_path(f, path, class_name, SPAN_NONE, diag); /* the caller's own: nobody else holds it */
    if (model)
        banks_check_versions(f->banks, path, diag);
    return model;
}
