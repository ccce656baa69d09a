/* Which files a function of C comes from; see external.h. */
#include "base/text.h"
#include "emit/external/external.h"
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char *text_of(const Function *f, NameId name)
{
    return names_of(pool_names(f->body->pool), name);
}

static const char *source_path(const Function *f, const Sources *sources)
{
    return f->external->source == SOURCE_NONE ? "." : sources_get(sources, f->external->source)->path;
}

uint32_t external_folders(const Function *f, const Sources *sources, Arena *arena, const char ***folders)
{
    const External *e = f->external;
    const char *model = source_path(f, sources), *slash = strrchr(model, '/');
    const char *own = slash ? arena_text(arena, model, slash == model ? 1 : (size_t)(slash - model)) : ".";
    *folders = NEW_ARRAY(arena, const char *, e->directories.n + 1u);
    for (uint32_t k = 0; k < e->directories.n; k++) {
        const char *directory = text_of(f, e->directories.at[k]);
        (*folders)[k] = *directory == '/' ? directory : arena_format(arena, "%s/%s", own, directory);
    }
    (*folders)[e->directories.n] = own;
    return e->directories.n + 1;
}

/* The real path of a file in the first folder that has it; NULL: none has. */
static const char *find(const Function *f, const Sources *sources, const char *name, Arena *arena)
{
    const char **folders;
    const uint32_t n = external_folders(f, sources, arena, &folders);
    char real[PATH_MAX];
    struct stat s;
    for (uint32_t k = 0; k < n; k++) {
        const char *path = *name == '/' ? name : arena_format(arena, "%s/%s", folders[k], name);
        if (realpath(path, real) && stat(real, &s) == 0 && S_ISREG(s.st_mode))
            return arena_text(arena, real, strlen(real));
    }
    return NULL;
}

/* libdrag.so.1, too */
static bool is_object(const char *name)
{
    const char *ending = strstr(name, ".so");
    while (ending && strstr(ending + 1, ".so"))
        ending = strstr(ending + 1, ".so");
    return ending && (ending[3] == 0 || (ending[3] == '.' && strspn(ending + 3, ".0123456789") == strlen(ending + 3)));
}

static ExternalFile find_library(const Function *f, const Sources *sources, const char *name, Arena *arena)
{
    const bool is_c = text_ends_with(name, ".c"), is_archive = text_ends_with(name, ".a");
    if (is_c || is_archive || is_object(name) || strchr(name, '/')) {
        const char *path = find(f, sources, name, arena);
        const uint8_t kind = is_c ? EXTERNAL_FILE_C : is_archive ? EXTERNAL_FILE_ARCHIVE : EXTERNAL_FILE_OBJECT;
        return path ? (ExternalFile){ path, kind } : (ExternalFile){ name, EXTERNAL_FILE_MISSING };
    }
    const char *path = find(f, sources, arena_format(arena, "lib%s.so", name), arena);
    if (path)
        return (ExternalFile){ path, EXTERNAL_FILE_OBJECT };
    path = find(f, sources, arena_format(arena, "lib%s.a", name), arena);
    return path ? (ExternalFile){ path, EXTERNAL_FILE_ARCHIVE } : (ExternalFile){ name, EXTERNAL_FILE_SYSTEM };
}

static ExternalFile find_include(const Function *f, const Sources *sources, const char *include, Arena *arena)
{
    char real[PATH_MAX];
    if (strpbrk(include, "#;{\n")) {
        const char *path = source_path(f, sources);
        return (ExternalFile){ realpath(path, real) ? arena_text(arena, real, strlen(real)) : path,
                               EXTERNAL_FILE_TEXT };
    }
    const char *path = find(f, sources, include, arena);
    return path ? (ExternalFile){ path, EXTERNAL_FILE_HEADER } : (ExternalFile){ include, EXTERNAL_FILE_SYSTEM_HEADER };
}

ExternalFiles external_files(const Function *f, const Sources *sources, Arena *arena)
{
    const External *e = f->external;
    ExternalFiles files = { 0 };
    if (!name_is_empty(e->include))
        vec_push(arena, &files, find_include(f, sources, text_of(f, e->include), arena));
    for (uint32_t k = 0; k < e->libraries.n; k++)
        vec_push(arena, &files, find_library(f, sources, text_of(f, e->libraries.at[k]), arena));
    if (files.n == 0 || (files.n == 1 && files.at[0].kind == EXTERNAL_FILE_SYSTEM_HEADER))
        vec_push(arena, &files, ((ExternalFile){ "m", EXTERNAL_FILE_SYSTEM }));
    return files;
}
