/* See place.h. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "place.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int remove_one(const char *path, const struct stat *state, int kind, struct FTW *at)
{
    (void)state;
    (void)kind;
    (void)at;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *place_folder(void)
{
    if (folder[0])
        return folder;
    /* in memory where the system has such a place: thousands of files a second */
    snprintf(folder, sizeof folder, "%s/koine-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        abort();
    atexit(remove_folder);
    return folder;
}

const char *place_path(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *const path = paths[next++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", place_folder(), name);
    return path;
}

void place_write(const char *path, const void *bytes, size_t size)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size || close(file) != 0)
        abort();
}

void place_remove(const char *path)
{
    unlink(path);
}
