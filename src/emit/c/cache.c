/* Files of the cache; see cache.h. */
#include "emit/c/cache.h"
#include "base/map.h"
#include "base/vec.h"
#include "emit/c/process.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the folder ---- */
static bool make_folders(char *path)
{
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            const bool is_made = mkdir(path, 0700) == 0 || errno == EEXIST || errno == EROFS || errno == EACCES;
            *at = '/';
            if (!is_made)
                return false;
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool is_private(const char *path, Arena *arena, const char **why)
{
    struct stat s;
    if (lstat(path, &s) != 0 || !S_ISDIR(s.st_mode)) {
        *why = arena_format(arena, "%s is not a folder", path);
        return false;
    }
    if (s.st_uid != geteuid()) {
        *why = arena_format(arena, "%s belongs to somebody else", path);
        return false;
    }
    if (s.st_mode & (S_IWGRP | S_IWOTH)) {
        *why = arena_format(arena, "%s may be written by others (chmod go-w would help)", path);
        return false;
    }
    return true;
}

const char *cache_path(Arena *arena, const char **why)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path;
    if (base && *base == '/')
        path = arena_format(arena, "%s/koine", base);
    else if (home && *home == '/')
        path = arena_format(arena, "%s/.cache/koine", home);
    else {
        *why = "neither XDG_CACHE_HOME nor HOME is set";
        return NULL;
    }
    if (!make_folders(path)) {
        *why = arena_format(arena, "cannot make %s: %s", path, strerror(errno));
        return NULL;
    }
    return is_private(path, arena, why) ? path : NULL;
}

/* ---- entries ---- */
typedef struct {
    const char *file;
    uint64_t bytes;
    struct timespec used;
    bool is_object;
} Entry;
typedef VEC(Entry) Entries;

static bool has_suffix(const char *name, const char *suffix)
{
    const size_t n = strlen(name), k = strlen(suffix);
    return n > k && strcmp(name + n - k, suffix) == 0;
}

static struct timespec later(struct timespec a, struct timespec b)
{
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec) ? a : b;
}

static void list(const char *path, Entries *entries, Arena *arena)
{
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (const struct dirent *d = readdir(folder); d; d = readdir(folder)) {
        const char *file = arena_format(arena, "%s/%s", path, d->d_name);
        struct stat s;
        if ((!has_suffix(file, ".so") && !has_suffix(file, ".c")) || lstat(file, &s) != 0 || !S_ISREG(s.st_mode))
            continue;
        vec_push(arena, entries,
                 ((Entry){ file, (uint64_t)s.st_size, later(s.st_atim, s.st_mtim), has_suffix(file, ".so") }));
    }
    closedir(folder);
}

/* Work folders of builds that were killed. */
static void remove_abandoned(const char *path, Arena *arena)
{
    enum { ABANDONED = 3600 }; /* seconds: no build takes that long */
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (const struct dirent *d = readdir(folder); d; d = readdir(folder)) {
        const char *work = arena_format(arena, "%s/%s", path, d->d_name);
        struct stat s;
        if (strncmp(d->d_name, CACHE_WORK, strlen(CACHE_WORK)) != 0 || lstat(work, &s) != 0 || !S_ISDIR(s.st_mode) ||
            time(NULL) - s.st_mtim.tv_sec < ABANDONED)
            continue;
        process_remove_folder(work);
    }
    closedir(folder);
}

static int by_use(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec)
        return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return strcmp(x->file, y->file);
}

static uint64_t total(const Entries *entries)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < entries->n; k++)
        bytes += entries->at[k].bytes;
    return bytes;
}

bool cache_summary(CacheSummary *summary, Arena *arena, const char **why)
{
    Entries entries = { 0 };
    *summary = (CacheSummary){ .path = cache_path(arena, why) };
    if (!summary->path)
        return false;
    list(summary->path, &entries, arena);
    summary->bytes = total(&entries);
    for (uint32_t k = 0; k < entries.n; k++)
        summary->n_entries += entries.at[k].is_object;
    return true;
}

bool cache_clear(Arena *arena, const char **why)
{
    Entries entries = { 0 };
    const char *path = cache_path(arena, why);
    if (!path)
        return false;
    remove_abandoned(path, arena);
    list(path, &entries, arena);
    for (uint32_t k = 0; k < entries.n; k++)
        if (unlink(entries.at[k].file) != 0 && errno != ENOENT) {
            *why = arena_format(arena, "cannot remove %s: %s", entries.at[k].file, strerror(errno));
            return false;
        }
    return true;
}

void cache_trim(const char *path, uint64_t limit, const char *keep, Arena *arena)
{
    Entries entries = { 0 };
    remove_abandoned(path, arena);
    list(path, &entries, arena);
    uint64_t bytes = total(&entries);
    if (bytes <= limit)
        return;
    qsort(entries.at, entries.n, sizeof *entries.at, by_use);
    for (uint32_t k = 0; k < entries.n && bytes > limit; k++) {
        if (keep && strstr(entries.at[k].file, keep))
            continue;
        if (unlink(entries.at[k].file) == 0 || errno == ENOENT)
            bytes -= entries.at[k].bytes;
    }
}

void cache_touch(const char *file)
{
    utimensat(AT_FDCWD, file, NULL, 0); /* failure only makes the entry look older */
}

/* ---- seals ---- */
typedef struct {
    char magic[8];
    uint64_t size, checksum; /* of what is before the seal */
} Seal;
static const char SEAL_MAGIC[8] = { 'K', 'O', 'I', 'N', 'E', 'S', 'O', '1' };

/* Maps a regular file of ours; NULL: cannot or is empty. */
static const unsigned char *map_file(const char *file, size_t *size)
{
    const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat s;
    void *at = MAP_FAILED;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && s.st_size > 0) {
        *size = (size_t)s.st_size;
        at = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

static void unmap_file(const unsigned char *at, size_t size)
{
    munmap((void *)at, size); /* const was only our promise not to write */
}

bool cache_seal(const char *file)
{
    size_t size;
    const unsigned char *at = map_file(file, &size);
    if (!at)
        return false;
    Seal seal = { .size = size, .checksum = hash_bytes(at, size, 0) };
    memcpy(seal.magic, SEAL_MAGIC, sizeof seal.magic);
    unmap_file(at, size);
    const int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    const bool is_written = write(fd, &seal, sizeof seal) == (ssize_t)sizeof seal;
    return close(fd) == 0 && is_written;
}

bool cache_is_sound(const char *file)
{
    size_t size;
    const unsigned char *at = map_file(file, &size);
    if (!at)
        return false;
    Seal seal;
    bool is_sound = size > sizeof seal;
    if (is_sound) {
        memcpy(&seal, at + size - sizeof seal, sizeof seal);
        is_sound = memcmp(seal.magic, SEAL_MAGIC, sizeof seal.magic) == 0 && seal.size == size - sizeof seal &&
                   seal.checksum == hash_bytes(at, size - sizeof seal, 0);
    }
    unmap_file(at, size);
    return is_sound;
}
