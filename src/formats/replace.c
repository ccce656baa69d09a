/* See replace.h. */
#define _GNU_SOURCE
#include "formats/replace.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char BEGUN[] = ".koine-new";

static int open_folder_of(const char *path, size_t length)
{
    char folder[PATH_MAX];
    if (length >= sizeof folder)
        return -1;
    memcpy(folder, path, length);
    folder[length] = 0;
    return open(length ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The name leads to the older file itself, which has no other name and is the user's. */
static bool is_plain(const Replacement *r, const struct stat *older)
{
    struct stat named;
    return fstatat(r->folder, r->name, &named, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(named.st_mode) &&
           named.st_dev == older->st_dev && named.st_ino == older->st_ino && older->st_nlink == 1 &&
           older->st_uid == geteuid();
}

/* One that a killed run has left: a file of the user that nobody writes. */
static void remove_left(const Replacement *r)
{
    struct stat state;
    const int left = openat(r->folder, r->begun, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (left < 0)
        return;
    if (fstat(left, &state) == 0 && S_ISREG(state.st_mode) && state.st_nlink == 1 && state.st_uid == geteuid() &&
        flock(left, LOCK_EX | LOCK_NB) == 0)
        unlinkat(r->folder, r->begun, 0);
    close(left);
}

static bool open_new(Replacement *r, const struct stat *older)
{
    remove_left(r);
    r->file = openat(r->folder, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    r->is_unnamed = r->file >= 0;
    if (r->file < 0)
        r->file = openat(r->folder, r->begun, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (r->file < 0)
        return false;
    if (flock(r->file, LOCK_EX | LOCK_NB) == 0 && fchmod(r->file, older->st_mode & 0777) == 0)
        return true;
    if (!r->is_unnamed)
        unlinkat(r->folder, r->begun, 0);
    close(r->file);
    r->file = -1;
    return false;
}

/* A name can be given to a file, but not that of another: it needs one of its own for a moment. */
static bool give_name(Replacement *r)
{
    char path[64];
    if (!r->is_unnamed)
        return true;
    snprintf(path, sizeof path, "/proc/self/fd/%d", r->file);
    r->is_unnamed = linkat(AT_FDCWD, path, r->folder, r->begun, AT_SYMLINK_FOLLOW) != 0;
    return !r->is_unnamed;
}

bool replace_begin(Replacement *r, const char *path, int older)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct stat state;
    *r = (Replacement){ .folder = -1, .older = older, .file = -1 };
    if (strlen(name) + sizeof BEGUN > sizeof r->begun || fstat(older, &state) != 0)
        return false;
    snprintf(r->name, sizeof r->name, "%s", name);
    snprintf(r->begun, sizeof r->begun, "%.*s%s", (int)(sizeof r->begun - sizeof BEGUN), name, BEGUN);
    r->folder = open_folder_of(path, slash ? (size_t)(slash - path) + 1 : 0);
    if (r->folder >= 0 && is_plain(r, &state) && open_new(r, &state))
        return true;
    if (r->folder >= 0)
        close(r->folder);
    return false;
}

bool replace_finish(Replacement *r)
{
    const bool is_good = give_name(r) && renameat(r->folder, r->begun, r->folder, r->name) == 0;
    const int error = errno;
    if (is_good) {
        close(r->folder);
        close(r->older); /* with its lock; that of the new one is ours since before it had the name */
    } else {
        replace_give_up(r);
    }
    errno = error;
    return is_good;
}

void replace_give_up(Replacement *r)
{
    if (!r->is_unnamed)
        unlinkat(r->folder, r->begun, 0);
    close(r->file);
    close(r->folder);
    r->file = r->folder = -1;
}
