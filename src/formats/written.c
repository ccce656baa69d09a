/* See written.h. */
#include "formats/written.h"
#include "base/map.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ENTRIES = 1 << 16 };
static const char TABLE[] = "/written-1"; /* the number is that of the form below */

typedef struct {
    uint64_t path, again; /* two checksums */
    uint64_t size;
    WrittenHead head;
} Entry;

/* ---- the table ---- */
static bool state_folder(char *to, size_t size)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (base && *base == '/')
        n = snprintf(to, size, "%s/koine", base);
    else if (home && *home == '/')
        n = snprintf(to, size, "%s/.local/state/koine", home);
    return n > 0 && (size_t)n < size;
}

static bool make_folders(char *path)
{
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            mkdir(path, 0700); /* the last one tells */
            *at = '/';
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Of this user, not a link, locked; -1: there is none. */
static int open_table(bool makes)
{
    char path[PATH_MAX];
    errno = ENOENT;
    if (!state_folder(path, sizeof path - sizeof TABLE) || (makes && !make_folders(path)))
        return -1;
    strcat(path, TABLE);
    const int table = open(path, O_RDWR | (makes ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    struct stat state;
    if (table < 0)
        return -1;
    if (fstat(table, &state) != 0 || !S_ISREG(state.st_mode) || state.st_uid != geteuid() ||
        flock(table, makes ? LOCK_EX : LOCK_SH) != 0) {
        close(table);
        errno = ENOENT; /* it is none of ours */
        return -1;
    }
    return table;
}

/* `is_coming`: of what is about to take the path's place. */
static bool find_keys(const char *path, bool is_coming, Entry *entry)
{
    char whole[PATH_MAX];
    if (!realpath(path, whole))
        return false;
    entry->path = hash_bytes(whole, strlen(whole), 0);
    entry->again = hash_bytes(whole, strlen(whole), entry->path + is_coming);
    return true;
}

/* The entry of the same path; its position, or where a new one belongs. */
static off_t find_entry(int table, Entry *entry, bool *is_found)
{
    enum { PIECE = 256 };
    Entry read[PIECE];
    off_t at = 0;
    *is_found = false;
    for (ssize_t n; (n = pread(table, read, sizeof read, at)) >= (ssize_t)sizeof *read;) {
        const size_t whole = (size_t)n / sizeof *read;
        for (size_t k = 0; k < whole; k++)
            if (read[k].path == entry->path && read[k].again == entry->again) {
                *entry = read[k];
                *is_found = true;
                return at + (off_t)(k * sizeof *read);
            }
        at += (off_t)(whole * sizeof *read);
    }
    return at < (off_t)(MOST_ENTRIES * sizeof *read) ? at : (off_t)(entry->path % MOST_ENTRIES * sizeof *read);
}

/* ---- what others ask ---- */
WrittenHead written_head(const void *bytes, size_t n)
{
    n = n < WRITTEN_HEAD ? n : WRITTEN_HEAD;
    return (WrittenHead){ n, hash_bytes(bytes, n, 0) };
}

static void keep(const char *path, bool is_coming, WrittenHead head, uint64_t size)
{
    Entry entry, before;
    if (!find_keys(path, is_coming, &entry))
        return;
    entry.size = size;
    entry.head = head;
    const int table = open_table(true);
    if (table < 0)
        return;
    bool is_found;
    before = entry;
    const off_t at = find_entry(table, &before, &is_found);
    if (pwrite(table, &entry, sizeof entry, at) != (ssize_t)sizeof entry)
        errno = 0; /* the file is not known then: asked again, the user decides */
    close(table);
}

void written_announce(const char *path, WrittenHead head)
{
    keep(path, true, head, head.n ? WRITTEN_OPEN : 0);
}

void written_note(const char *path, WrittenHead head, uint64_t size)
{
    keep(path, false, head, size);
}

const char *written_folder(Arena *arena)
{
    char path[PATH_MAX];
    return state_folder(path, sizeof path) ? arena_text(arena, path, strlen(path)) : NULL;
}

static bool fits(const Entry *entry, int file, uint64_t size)
{
    char head[WRITTEN_HEAD];
    return entry->head.n > 0 && entry->head.n <= WRITTEN_HEAD &&
           (entry->size == WRITTEN_OPEN ? size >= entry->head.n : size == entry->size) &&
           pread(file, head, entry->head.n, 0) == (ssize_t)entry->head.n &&
           hash_bytes(head, entry->head.n, 0) == entry->head.hash;
}

bool written_is_ours(const char *path, int file)
{
    Entry entry;
    struct stat state;
    errno = 0;
    if (!find_keys(path, false, &entry) || fstat(file, &state) != 0)
        return false;
    const int table = open_table(false);
    if (table < 0) {
        errno = errno == ENOENT || errno == ENOTDIR ? 0 : errno;
        return false;
    }
    bool is_found, is_ours = false;
    for (int is_coming = 0; is_coming < 2 && !is_ours; is_coming++) {
        find_keys(path, is_coming, &entry);
        find_entry(table, &entry, &is_found);
        is_ours = is_found && fits(&entry, file, (uint64_t)state.st_size);
    }
    close(table);
    errno = 0;
    return is_ours;
}
