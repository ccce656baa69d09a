/* Loading the functions of C of a model; see external.h. */
#include "base/bug.h"
#include "emit/external/call.h"
#include "emit/external/object.h"
#include <dlfcn.h>
#if __has_include(<gnu/lib-names.h>)
#include <gnu/lib-names.h>
#else
#define LIBM_SO "libm.so.6"
#define LIBC_SO "libc.so.6"
#endif

struct Externals {
    Arena *arena;
    ExternalSet set;
    void *object; /* of the texts; NULL: there are only libraries */
    VEC(void *) libraries;
    ExternalProblem *problem;
    Arena *why_arena;
};

static bool report(Externals *x, const Function *f, const char *what, const char *help)
{
    Arena *arena = x->why_arena;
    *x->problem = (ExternalProblem){ f, arena_text(arena, what, strlen(what)),
                                     help ? arena_text(arena, help, strlen(help)) : NULL };
    return false;
}

static const char *symbol_of(const Function *f)
{
    return names_of(pool_names(f->body->pool), f->external->symbol);
}

/* ---- files ---- */
static bool find_files(Externals *x)
{
    ExternalFiles *files = NEW_ARRAY(x->arena, ExternalFiles, x->set.n + 1u);
    for (uint32_t k = 0; k < x->set.n; k++) {
        const Function *f = x->set.functions[k];
        files[k] = external_files(f, x->set.sources, x->arena);
        for (uint32_t j = 0; j < files[k].n; j++) {
            if (files[k].at[j].kind != EXTERNAL_FILE_MISSING)
                continue;
            const char **folders;
            Text text = { .arena = x->arena };
            const uint32_t n = external_folders(f, x->set.sources, x->arena, &folders);
            for (uint32_t i = 0; i < n; i++)
                text_format(&text, i ? ", %s" : "it was looked for in %s", folders[i]);
            return report(x, f, arena_format(x->arena, "the library '%s' is not there", files[k].at[j].path), text.at);
        }
    }
    x->set.files = files;
    return true;
}

/* ---- libraries ---- */
static void *open_library(Externals *x, const char *file)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle)
        vec_push(x->arena, &x->libraries, handle);
    return handle;
}

static void *open_system_library(Externals *x, const char *name)
{
    static const char *const in_libc[] = { "c", "dl", "pthread", "rt", "util" };
    if (strcmp(name, "m") == 0)
        return open_library(x, LIBM_SO);
    for (size_t k = 0; k < sizeof in_libc / sizeof *in_libc; k++)
        if (strcmp(name, in_libc[k]) == 0)
            return open_library(x, LIBC_SO);
    return open_library(x, arena_format(x->arena, "lib%s.so", name));
}

typedef struct {
    void *function, *library;
} Found;

/* In the library that has the constructor. */
static bool find_destructor(Externals *x, uint32_t number, const Found *found, ExternalAddresses *to)
{
    const Function *f = x->set.functions[number];
    if (!function_is_constructor(f))
        return true;
    const char *symbol = names_of(pool_names(f->body->pool), f->external->destructor);
    void *destructor = dlsym(found->library, x->object ? arena_format(x->arena, EXTERNAL_END "%u", number) : symbol);
    memcpy(&to->destructor, &destructor, sizeof to->destructor);
    return destructor || report(x, f, arena_format(x->arena, "there is no '%s' in its libraries", symbol), NULL);
}

static bool find_in_libraries(Externals *x, uint32_t number, Found *found)
{
    const Function *f = x->set.functions[number];
    const ExternalFiles *files = &x->set.files[number];
    for (uint32_t k = 0; k < files->n && !found->function; k++) {
        const ExternalFile *file = &files->at[k];
        void *handle =
            file->kind == EXTERNAL_FILE_SYSTEM ? open_system_library(x, file->path) : open_library(x, file->path);
        if (!handle)
            return report(x, f, arena_format(x->arena, "the library '%s' cannot be loaded: %s", file->path, dlerror()),
                          NULL);
        found->function = dlsym(handle, symbol_of(f));
        found->library = handle;
    }
    if (!found->function && files->at[files->n - 1].kind == EXTERNAL_FILE_SYSTEM) {
        found->library = open_library(x, LIBC_SO);
        found->function = found->library ? dlsym(found->library, symbol_of(f)) : NULL;
    }
    if (found->function)
        return true;
    return report(x, f, arena_format(x->arena, "there is no '%s' in its libraries", symbol_of(f)), NULL);
}

static bool check_known(Externals *x, const Function *f)
{
    const char *known = external_known_mistake(f, x->arena);
    return !known || report(x, f, arena_format(x->arena, "'%s' is called in another way", symbol_of(f)),
                            arena_format(x->arena, "it has the type %s, with d for double and i for int", known));
}

/* ---- all of them ---- */
static bool load_function(Externals *x, uint32_t number)
{
    const Function *f = x->set.functions[number];
    Found found = { .library = x->object };
    ExternalAddresses addresses = { 0 };
    if (x->object)
        found.function = dlsym(x->object, arena_format(x->arena, EXTERNAL_ENTRY "%u", number));
    else if (!check_known(x, f) || !find_in_libraries(x, number, &found))
        return false;
    REQUIRE(found.function);
    memcpy(&addresses.function, &found.function, sizeof addresses.function); /* POSIX: function pointers fit void * */
    if (!find_destructor(x, number, &found, &addresses))
        return false;
    void *state = dlsym(found.library, "koine_external_state");
    ExternalFailures failures = { .failures = dlsym(found.library, "koine_external_failures") };
    memcpy(&failures.state, &state, sizeof state);
    if (!state || !failures.failures)
        failures = (ExternalFailures){ 0 };
    f->external->code = external_code_create(f, addresses, failures, x->arena);
    return f->external->code || report(x, f, "libffi cannot call such a function", NULL);
}

static bool load_all(Externals *x, volatile const int *interrupt)
{
    const char *why = NULL;
    if (!find_files(x))
        return false;
    if (external_has_text(&x->set)) {
        x->object = external_object(&x->set, interrupt, &why);
        if (!x->object)
            return report(x, NULL, why, NULL);
    }
    for (uint32_t k = 0; k < x->set.n; k++)
        if (!load_function(x, k))
            return false;
    return true;
}

Externals *externals_load(const Function *const *functions, uint32_t n, const Sources *sources,
                          volatile const int *interrupt, Arena *arena, ExternalProblem *problem)
{
    Arena *own = arena_create_like(arena);
    Externals *x = NEW(own, Externals);
    const Function **external = NEW_ARRAY(own, const Function *, n + 1u);
    *x = (Externals){ .arena = own, .problem = problem, .why_arena = arena };
    x->set = (ExternalSet){ .functions = external, .sources = sources, .arena = own };
    for (uint32_t k = 0; k < n; k++)
        if (functions[k]->external)
            external[x->set.n++] = functions[k];
    if (load_all(x, interrupt))
        return x;
    externals_release(x);
    return NULL;
}

void externals_release(Externals *x)
{
    if (!x)
        return;
    for (uint32_t k = 0; k < x->set.n; k++)
        x->set.functions[k]->external->code = NULL;
    if (x->object)
        dlclose(x->object);
    for (uint32_t k = 0; k < x->libraries.n; k++)
        dlclose(x->libraries.at[k]);
    arena_destroy(x->arena);
}
