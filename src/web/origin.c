/* Comparing the files named in a result with those that are there; see origin.h. */
#include "web/origin.h"
#include "base/map.h"
#include "web/json_rows.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MOST = 256 }; /* further ones are not looked at */

typedef struct {
    const char *path, *name;
    const char *hash;
    time_t seconds; /* of the last change, when it was looked into */
    long nanoseconds;
    off_t size;
    bool is_seen, is_other;
} File;

struct RunOrigin {
    Arena *arena;
    VEC(File) files;
    Text changes;
};

static void add_file(RunOrigin *origin, const char *path, const char *hash)
{
    const char *slash = strrchr(path, '/');
    if (origin->files.n < FILES_MOST)
        vec_push(origin->arena, &origin->files,
                 ((File){ .path = path, .name = slash ? slash + 1 : path, .hash = hash }));
}

static RunOrigin *create(Arena *arena)
{
    RunOrigin *origin = NEW(arena, RunOrigin);
    origin->arena = arena;
    origin->changes.arena = arena;
    return origin;
}

RunOrigin *origin_of_sources(const Sources *sources, Arena *arena)
{
    RunOrigin *origin = create(arena);
    for (uint32_t k = 0; k < sources_count(sources); k++) {
        const Source *source = sources_get(sources, k);
        if (access(source->path, F_OK) == 0) /* else it is part of the program */
            add_file(origin, source->path, source_hash(source, arena));
    }
    return origin->files.n ? origin : NULL;
}

RunOrigin *origin_create(const char *begin, Arena *arena)
{
    static const char PREFIX[] = "origins.";
    JsonRows rows = { 0 };
    json_rows(begin, arena, &rows);
    RunOrigin *origin = create(arena);
    for (uint32_t k = 0; k < rows.n; k++)
        if (strncmp(rows.at[k].key, PREFIX, sizeof PREFIX - 1) == 0)
            add_file(origin, rows.at[k].key + sizeof PREFIX - 1, rows.at[k].value);
    return origin->files.n ? origin : NULL;
}

/* What cannot be opened behind walls: it is another one if it has changed since it was looked into. */
static bool is_other(const File *file, bool was_seen, Arena *like)
{
    Arena *scratch = arena_create_like(like);
    Sources *sources = sources_create(scratch);
    uint32_t id;
    const SourceStatus status = sources_open(sources, file->path, &id);
    const bool is_walled = status == SOURCE_UNREADABLE && errno == EACCES;
    const bool is_same = status == SOURCE_OK && strcmp(source_hash(sources_get(sources, id), scratch), file->hash) == 0;
    arena_destroy(scratch);
    return is_walled ? was_seen : !is_same;
}

/* True: it is another one than when it was looked at last. */
static bool look(File *file, Arena *like)
{
    struct stat state;
    const bool was_other = file->is_other;
    if (stat(file->path, &state) != 0 || !S_ISREG(state.st_mode)) {
        file->is_other = true;
        file->is_seen = false;
    } else if (!file->is_seen || file->seconds != state.st_mtim.tv_sec || file->size != state.st_size ||
               file->nanoseconds != state.st_mtim.tv_nsec) {
        const bool was_seen = file->is_seen;
        file->is_seen = true;
        file->seconds = state.st_mtim.tv_sec;
        file->nanoseconds = state.st_mtim.tv_nsec;
        file->size = state.st_size;
        file->is_other = is_other(file, was_seen, like);
    }
    return file->is_other != was_other;
}

bool origin_look(RunOrigin *origin)
{
    bool is_new = false;
    for (uint32_t k = 0; k < origin->files.n; k++)
        is_new |= look(&origin->files.at[k], origin->arena);
    if (!is_new)
        return false;
    origin->changes.n = 0;
    for (uint32_t k = 0; k < origin->files.n; k++)
        if (origin->files.at[k].is_other)
            text_format(&origin->changes, "%s%s", origin->changes.n ? ", " : "", origin->files.at[k].name);
    return true;
}

const char *origin_changes(const RunOrigin *origin)
{
    return origin->changes.n ? origin->changes.at : NULL;
}
