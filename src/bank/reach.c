/* Following banks and included files without compiling the model; see reach.h. */
#include "bank/reach.h"
#include "bank/bank.h"
#include "lang/languages.h"
#include <dirent.h>
#include <sys/stat.h>

enum { REACH_MOST = 1 << 16, INCLUDES_MOST = 256 };

static void add(Reach *reach, ReachKind kind, const char *path, Arena *arena)
{
    if (reach->n < REACH_MOST)
        vec_push(arena, reach, ((Reached){ arena_text(arena, path, strlen(path)), kind }));
}

static bool is_folder(const char *path)
{
    struct stat state;
    return stat(path, &state) == 0 && S_ISDIR(state.st_mode);
}

/* ---- banks ---- */
/* The classes of a folder, "" or with a slash at the end, and their versions in the folders there. */
static void add_files(Reach *reach, const char *folder, bool has_versions, Arena *arena)
{
    DIR *d = opendir(folder[0] ? folder : ".");
    if (!d)
        return;
    for (const struct dirent *e = readdir(d); e && reach->n < REACH_MOST; e = readdir(d)) {
        if (e->d_name[0] == '.')
            continue;
        const char *path = arena_format(arena, "%s%s", folder, e->d_name);
        if (language_of(NULL, e->d_name) || strcmp(e->d_name, BANK_FILE) == 0)
            add(reach, REACH_FILE, path, arena);
        else if (has_versions && e->d_type != DT_REG && is_folder(path))
            add_files(reach, arena_format(arena, "%s/", path), false, arena);
    }
    closedir(d);
}

static void open_imports(Banks *banks, const Bank *bank, Diag *diag)
{
    for (uint32_t k = 0; k < bank->imports.n; k++) {
        const char *folder = bank->imports.at[k].folder;
        const char *path = folder[0] == '/' ? folder : arena_format(banks->arena, "%s%s", bank->folder, folder);
        if (is_folder(path))
            bank_open(banks, path, diag);
    }
}

static void add_banks(Reach *reach, const char *model, Sources *sources, Arena *arena)
{
    Diag *diag = diag_create(arena, sources); /* who compiles the model reports */
    Banks *banks = banks_create(&(BanksRequest){ .sources = sources }, arena);
    const Bank *own = bank_of_file(banks, model, diag);
    add(reach, REACH_FOLDER, own->folder[0] ? own->folder : ".", arena);
    for (uint32_t k = 0; k < banks->list.n && reach->n < REACH_MOST; k++) {
        const Bank *bank = banks->list.at[k];
        open_imports(banks, bank, diag);
        add(reach, REACH_LIST, bank->folder[0] ? bank->folder : ".", arena);
        add_files(reach, bank->folder, bank->has_file, arena);
    }
}

/* ---- inclusions ---- */
static uint32_t comment_end(const Source *source, uint32_t at)
{
    while (at < source->size && source->text[at] != '}')
        at++;
    return at;
}

typedef VEC(const char *) Paths;

/* Each `@name` outside of comments is a file beside this one. */
static void find_included(const Source *source, Paths *paths, Arena *arena)
{
    const char *slash = strrchr(source->path, '/');
    for (uint32_t at = 0; at < source->size && paths->n < INCLUDES_MOST; at++) {
        if (source->text[at] == '{')
            at = comment_end(source, at);
        if (at >= source->size || source->text[at] != '@')
            continue;
        const char *name = source->text + at + 1;
        const int size = (int)strcspn(name, " \t\r\n\f\v{},;()");
        const int folder = name[0] == '/' || !slash ? 0 : (int)(slash - source->path) + 1;
        if (size > 0)
            vec_push(arena, paths, arena_format(arena, "%.*s%.*s", folder, source->path, size, name));
    }
}

static void add_inclusions(Reach *reach, const char *model, Sources *sources, Arena *arena)
{
    Paths paths = { 0 };
    vec_push(arena, &paths, model);
    for (uint32_t k = 0; k < paths.n; k++) {
        const uint32_t n_before = sources_count(sources);
        uint32_t id;
        if (sources_open(sources, paths.at[k], &id) != SOURCE_OK || id < n_before)
            continue; /* one that cannot be read, or was read before */
        add(reach, REACH_FILE, paths.at[k], arena);
        find_included(sources_get(sources, id), &paths, arena);
    }
}

void reach_model(const char *path, Arena *arena, Reach *reach)
{
    Sources *sources = sources_create(arena);
    const char *slash = strrchr(path, '/');
    add(reach, REACH_FOLDER, slash ? arena_text(arena, path, (size_t)(slash + 1 - path)) : ".", arena);
    add_inclusions(reach, path, sources, arena);
    add_banks(reach, path, sources, arena);
}
