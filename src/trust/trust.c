/* See trust.h. */
#include "trust/trust.h"
#include "base/text.h"
#include "base/vec.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_LIST = 1 << 20 };

const char *trust_path(Arena *arena)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (base && *base == '/')
        return arena_format(arena, "%s/koine/trusted", base);
    return home && *home == '/' ? arena_format(arena, "%s/.config/koine/trusted", home) : NULL;
}

/* What others may write to is not the user's word. */
static const char *who_else_writes(const struct stat *s)
{
    if (s->st_uid != geteuid() && s->st_uid != 0)
        return "it belongs to somebody else";
    if (s->st_mode & S_IWOTH)
        return "everybody may write to it (chmod o-w would help)";
    if ((s->st_mode & S_IWGRP) && s->st_gid != getegid())
        return "others may write to it (chmod g-w would help)";
    return NULL;
}

static const char *folder_of_list(const char *path, Arena *arena)
{
    return arena_text(arena, path, (size_t)(strrchr(path, '/') - path));
}

/* ---- reading ---- */
static bool read_list(int file, Text *text)
{
    char piece[4096];
    for (ssize_t n; (n = read(file, piece, sizeof piece)) > 0;)
        text_bytes(text, piece, (size_t)n);
    return true;
}

static void split_lines(const Text *text, TrustedFolders *trusted, Arena *arena)
{
    VEC(const char *) folders = { 0 };
    for (size_t at = 0; at < text->n;) {
        const size_t n = strcspn(text->at + at, "\n");
        if (text->at[at] == '/')
            vec_push(arena, &folders, arena_text(arena, text->at + at, n));
        at += n + 1;
    }
    *trusted = (TrustedFolders){ folders.at, folders.n };
}

bool trust_read(TrustedFolders *trusted, Arena *arena, const char **why)
{
    const char *path = trust_path(arena), *fault = NULL;
    struct stat list, folder;
    Text text = { .arena = arena };
    *trusted = (TrustedFolders){ 0 };
    const int file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    if (file < 0) {
        if (!path || errno == ENOENT || errno == ENOTDIR)
            return true;
        *why = arena_format(arena, "%s: %s", path, strerror(errno));
        return false;
    }
    if (fstat(file, &list) != 0 || !S_ISREG(list.st_mode) || list.st_size > LARGEST_LIST ||
        stat(folder_of_list(path, arena), &folder) != 0)
        fault = "it is no list of folders";
    else
        fault = who_else_writes(&list) ? who_else_writes(&list) : who_else_writes(&folder);
    if (fault)
        *why = arena_format(arena, "%s does not count: %s", path, fault);
    else if (read_list(file, &text) && text.n)
        split_lines(&text, trusted, arena);
    close(file);
    return !fault;
}

/* ---- writing ---- */
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

/* The list takes its name when it is whole: it is never half of one. */
static bool write_list(const Text *text, Arena *arena, const char **why)
{
    const char *path = trust_path(arena);
    char *begun = arena_format(arena, "%s-XXXXXX", path);
    char *folder = arena_format(arena, "%s", folder_of_list(path, arena));
    const int file = make_folders(folder) ? mkstemp(begun) : -1;
    bool is_good = file >= 0 && (text->n == 0 || write(file, text->at, text->n) == (ssize_t)text->n);
    is_good = file >= 0 && close(file) == 0 && is_good && rename(begun, path) == 0;
    if (!is_good) {
        *why = arena_format(arena, "cannot write %s: %s", path, strerror(errno));
        if (file >= 0)
            unlink(begun);
    }
    return is_good;
}

/* The list without `folder`, and with it at the end where it `stays`. */
static bool change_list(const TrustedFolders *trusted, const char *folder, bool stays, Arena *arena, const char **why)
{
    Text text = { .arena = arena };
    for (uint32_t k = 0; k < trusted->n; k++)
        if (strcmp(trusted->folders[k], folder) != 0)
            text_format(&text, "%s\n", trusted->folders[k]);
    if (stays)
        text_format(&text, "%s\n", folder);
    return write_list(&text, arena, why);
}

static bool can_be_listed(const char *folder, Arena *arena, const char **why)
{
    if (!trust_path(arena))
        *why = "neither XDG_CONFIG_HOME nor HOME is set: there is nowhere to keep it";
    else if (strchr(folder, '\n'))
        *why = "its name has more than one line";
    else
        return true;
    return false;
}

bool trust_add(const char *folder, Arena *arena, const char **whole, const char **why)
{
    char real[PATH_MAX];
    struct stat s;
    TrustedFolders trusted;
    if (!realpath(folder, real) || stat(real, &s) != 0) {
        *why = strerror(errno);
        return false;
    }
    *whole = arena_text(arena, real, strlen(real));
    const char *others = who_else_writes(&s);
    if (!S_ISDIR(s.st_mode) || strcmp(real, "/") == 0 || others) {
        *why = others ? others : S_ISDIR(s.st_mode) ? "that would be everything" : "it is not a folder";
        return false;
    }
    return can_be_listed(real, arena, why) && trust_read(&trusted, arena, why) &&
           change_list(&trusted, *whole, true, arena, why);
}

bool trust_remove(const char *folder, Arena *arena, const char **whole, const char **why)
{
    char real[PATH_MAX];
    TrustedFolders trusted;
    *whole = realpath(folder, real) ? arena_text(arena, real, strlen(real)) : folder;
    if (!can_be_listed(*whole, arena, why) || !trust_read(&trusted, arena, why))
        return false;
    for (uint32_t k = 0; k < trusted.n; k++)
        if (strcmp(trusted.folders[k], *whole) == 0)
            return change_list(&trusted, *whole, false, arena, why);
    *why = "it was not trusted";
    return false;
}

/* ---- asking ---- */
const char *trust_folder_of(const TrustedFolders *trusted, const char *file, Arena *arena)
{
    char real[PATH_MAX];
    if (!realpath(file, real))
        return NULL;
    for (uint32_t k = 0; k < trusted->n; k++) {
        const size_t n = strlen(trusted->folders[k]);
        if (strncmp(real, trusted->folders[k], n) == 0 && real[n] == '/')
            return arena_text(arena, trusted->folders[k], n);
    }
    return NULL;
}
