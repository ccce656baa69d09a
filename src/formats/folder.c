/* See folder.h. */
#include "formats/folder.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const char *path, *stage; /* where it goes, and where it is made */
    const FolderFiles *files;
    Arena *arena;
} Folder;

static const char *inside(const Folder *f, const char *folder, const char *name)
{
    return arena_format(f->arena, "%s/%s", folder, name);
}

/* ---- what is there ---- */
static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    uint32_t n = 0;
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return folder && n == 2; /* itself and the one above */
}

/* The first line of the file that tells it is the one that such a file begins with. */
static bool is_ours(const Folder *f)
{
    const FolderMark *mark = &f->files->mark;
    char line[4096] = "";
    FILE *file = mark->file ? fopen(inside(f, f->path, mark->file), "r") : NULL;
    const bool is_read = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    return is_read && strncmp(line, mark->begin, strlen(mark->begin)) == 0 && text_ends_with(line, mark->end);
}

/* ---- making it ---- */
/* The folders that the path goes through; those that are there stay. */
static bool make_folders(const Folder *f, const char *path)
{
    char *copy = arena_text(f->arena, path, strlen(path));
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

static bool make_file(const char *path, const Text *text)
{
    FILE *file = fopen(path, "wx");
    if (!file)
        return false;
    const bool is_written = text->n == 0 || fwrite(text->at, text->n, 1, file) == 1;
    const int error = errno;
    if (fclose(file) == 0 && is_written)
        return true;
    errno = is_written ? errno : error;
    return false;
}

static bool make_all(const Folder *f)
{
    for (uint32_t k = 0; k < f->files->files.n; k++) {
        const char *path = inside(f, f->stage, f->files->files.at[k].path);
        if (!make_folders(f, path) || !make_file(path, &f->files->files.at[k].text))
            return false;
    }
    return true;
}

/* To where they belong. */
static bool move_all(const Folder *f)
{
    for (uint32_t k = 0; k < f->files->files.n; k++) {
        const char *name = f->files->files.at[k].path, *path = inside(f, f->path, name);
        if (!make_folders(f, path) || rename(inside(f, f->stage, name), path) != 0)
            return false;
    }
    return true;
}

/* Files that are there, then the folders they were in, the deepest first. */
static void remove_stage(const Folder *f)
{
    for (uint32_t k = 0; k < f->files->files.n; k++)
        unlink(inside(f, f->stage, f->files->files.at[k].path));
    for (uint32_t k = 0; k < f->files->files.n; k++) {
        char *path = arena_format(f->arena, "%s/%s", f->stage, f->files->files.at[k].path);
        for (char *slash = strrchr(path, '/'); slash && (size_t)(slash - path) >= strlen(f->stage);
             slash = strrchr(path, '/')) {
            *slash = 0;
            rmdir(path); /* as soon as nothing is in it any more */
        }
    }
}

static FolderEnd fail(const Folder *f, int error, const char **why)
{
    *why = arena_format(f->arena, "cannot write '%s': %s", f->path, strerror(error));
    return FOLDER_FAILED;
}

FolderEnd folder_write(const char *path, const FolderFiles *files, const char **why)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    path = arena_text(files->arena, path, n);
    const Folder f = { path, arena_format(files->arena, "%s.koine-%ld", path, (long)getpid()), files, files->arena };
    struct stat there;
    const bool is_there = stat(path, &there) == 0;
    *why = NULL;
    if (is_there && !is_empty(path) && !is_ours(&f)) {
        *why = arena_format(f.arena, "'%s' has other files in it", path);
        return FOLDER_OTHER;
    }
    if (mkdir(f.stage, 0777) != 0)
        return fail(&f, errno, why);
    const bool is_good = make_all(&f) && (is_there ? move_all(&f) : rename(f.stage, path) == 0);
    const int error = errno;
    if (is_there || !is_good)
        remove_stage(&f);
    return is_good ? FOLDER_WRITTEN : fail(&f, error, why);
}
