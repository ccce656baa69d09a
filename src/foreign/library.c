/* Libraries, in the process of Koine itself or in another; see foreign.h. */
#include "foreign/apart.h"
#include <dlfcn.h>
#include <string.h>

struct ForeignLibraries {
    Arena *arena;
    VEC(void *) handles;
};

ForeignLibraries *foreign_libraries_create(Arena *arena)
{
    ForeignLibraries *libraries = NEW(arena, ForeignLibraries);
    libraries->arena = arena;
    return libraries;
}

void foreign_libraries_release(ForeignLibraries *libraries)
{
    for (uint32_t k = 0; libraries && k < libraries->handles.n; k++)
        dlclose(libraries->handles.at[k]);
}

/* C has no conversion of an object's address to a function's. */
static const KoineModelKind *call_for_kind(void *address)
{
    const KoineModelKind *(*function)(void);
    memcpy(&function, &address, sizeof function);
    return function();
}

static const KoineModelKind *find_kind(ForeignLibraries *libraries, void *handle, const char *symbol, const char **why)
{
    const size_t n = strlen(symbol);
    const bool is_function = n > 2 && strcmp(symbol + n - 2, "()") == 0;
    const char *name = is_function ? arena_text(libraries->arena, symbol, n - 2) : symbol;
    void *address = dlsym(handle, name);
    if (!address) {
        *why = arena_format(libraries->arena, "is not there: the library has no symbol '%s'", name);
        return NULL;
    }
    const KoineModelKind *kind = is_function ? call_for_kind(address) : address;
    *why = kind ? foreign_mistake(kind, libraries->arena) : "is not there: its function gives none";
    return *why ? NULL : kind;
}

const KoineModelKind *foreign_load(ForeignLibraries *libraries, const ForeignRequest *request, const char **why)
{
    if (request->is_apart) {
        ApartKind *kind = foreign_apart_load(libraries->arena, request, why);
        return kind ? &kind->kind : NULL;
    }
    void *handle = dlopen(request->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        *why = arena_format(libraries->arena, "cannot be loaded: %s", dlerror());
        return NULL;
    }
    vec_push(libraries->arena, &libraries->handles, handle);
    return find_kind(libraries, handle, request->symbol, why);
}

void foreign_use(const KoineModelKind *kind, ForeignUse use, uint64_t at)
{
    if (kind->create != foreign_apart_functions.create)
        return;
    ApartKind *apart = (ApartKind *)(uintptr_t)kind; /* one of ours, which are not constant */
    vec_push(apart->arena, &apart->uses[use], at);
}
