/* Files of the store: a name made of the key, a checksum, rename when complete; see store.h. */
#include "bank/store.h"
#include "base/map.h"
#include "base/vec.h"
#include "emit/c/cache.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    char magic[8];
    uint64_t key, program, size, checksum;
} Head;
static const char MAGIC[8] = { 'K', 'O', 'I', 'N', 'E', 'S', 'T', '1' };

/* What is kept was made by this very program: another build may see things differently. */
static uint64_t program_mark(void)
{
    struct stat s;
    if (stat("/proc/self/exe", &s) != 0)
        return 0;
    const uint64_t parts[] = { (uint64_t)s.st_size, (uint64_t)s.st_mtim.tv_sec, (uint64_t)s.st_mtim.tv_nsec,
                               (uint64_t)s.st_ino };
    return hash_bytes(parts, sizeof parts, 1);
}

static const char *store_folder(Arena *arena)
{
    const char *why, *cache = cache_path(arena, &why);
    if (!cache)
        return NULL;
    const char *folder = arena_format(arena, "%s/store", cache);
    mkdir(folder, 0700);
    return folder;
}

static bool read_whole(int fd, void *to, size_t size)
{
    for (char *at = to; size > 0;) {
        const ssize_t got = read(fd, at, size);
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

static const char *read_sealed(int fd, uint64_t key, size_t *size, Arena *arena)
{
    struct stat s;
    Head head;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != geteuid() || s.st_size < (off_t)sizeof head ||
        !read_whole(fd, &head, sizeof head))
        return NULL;
    *size = (size_t)s.st_size - sizeof head;
    if (memcmp(head.magic, MAGIC, sizeof MAGIC) != 0 || head.key != key || head.program != program_mark() ||
        head.size != *size || *size > STORE_LIMIT)
        return NULL;
    char *data = arena_alloc(arena, *size + 1, 16);
    return read_whole(fd, data, *size) && hash_bytes(data, *size, key) == head.checksum ? data : NULL;
}

const char *store_read(uint64_t key, size_t *size, Arena *arena)
{
    const char *folder = store_folder(arena);
    if (!folder)
        return NULL;
    const int fd =
        open(arena_format(arena, "%s/%016llx", folder, (unsigned long long)key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    const char *data = read_sealed(fd, key, size, arena);
    close(fd);
    return data;
}

/* ---- keeping it small ---- */
typedef struct {
    const char *path;
    uint64_t bytes;
    struct timespec written;
} Entry;
typedef VEC(Entry) Entries;

static void list(Entries *entries, Arena *arena)
{
    const char *folder = store_folder(arena);
    DIR *d = folder ? opendir(folder) : NULL;
    if (!d)
        return;
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        struct stat s;
        const char *path = arena_format(arena, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.' && lstat(path, &s) == 0 && S_ISREG(s.st_mode))
            vec_push(arena, entries, ((Entry){ path, (uint64_t)s.st_size, s.st_mtim }));
    }
    closedir(d);
}

static int by_age(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    if (x->written.tv_sec != y->written.tv_sec)
        return x->written.tv_sec < y->written.tv_sec ? -1 : 1;
    return x->written.tv_nsec < y->written.tv_nsec ? -1 : x->written.tv_nsec > y->written.tv_nsec;
}

static void trim(const char *keep, Arena *arena)
{
    Entries entries = { 0 };
    list(&entries, arena);
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < entries.n; k++)
        bytes += entries.at[k].bytes;
    if (bytes <= STORE_LIMIT)
        return;
    qsort(entries.at, entries.n, sizeof *entries.at, by_age);
    for (uint32_t k = 0; k < entries.n && bytes > STORE_LIMIT; k++)
        if (strcmp(entries.at[k].path, keep) != 0 && unlink(entries.at[k].path) == 0)
            bytes -= entries.at[k].bytes;
}

void store_write(uint64_t key, const void *data, size_t size, Arena *arena)
{
    const char *folder = store_folder(arena);
    if (!folder || size > STORE_LIMIT)
        return;
    const char *path = arena_format(arena, "%s/%016llx", folder, (unsigned long long)key);
    char *fresh = arena_format(arena, "%s/new-XXXXXX", folder);
    const int fd = mkstemp(fresh);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        if (fd >= 0)
            close(fd);
        return;
    }
    Head head = { .key = key, .program = program_mark(), .size = size, .checksum = hash_bytes(data, size, key) };
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    bool is_good = fwrite(&head, sizeof head, 1, file) == 1 && fwrite(data, 1, size, file) == size;
    is_good = fclose(file) == 0 && is_good;
    if (!is_good || rename(fresh, path) != 0)
        unlink(fresh);
    trim(path, arena);
}

StoreSummary store_summary(Arena *arena)
{
    Entries entries = { 0 };
    list(&entries, arena);
    StoreSummary summary = { .n = entries.n };
    for (uint32_t k = 0; k < entries.n; k++)
        summary.bytes += entries.at[k].bytes;
    return summary;
}

void store_clear(Arena *arena)
{
    Entries entries = { 0 };
    list(&entries, arena);
    for (uint32_t k = 0; k < entries.n; k++)
        unlink(entries.at[k].path);
}
