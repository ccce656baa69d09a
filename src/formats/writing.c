/* See writing.h. */
#include "formats/writing.h"
#include "base/utf8.h"
#include "formats/result_file.h"
#include "formats/written.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char OUTSIDE[] = "what a model or an experiment names is written below the current folder only";
static const char HIDDEN[] = "what a model or an experiment names must not be hidden";
#define RESULT_FORMAT(name, ending) ending ", "
static const char ENDING[] = "what a model or an experiment names ends with "
#include "formats/result_formats.def"
                             ".txt, .log or .protocol";
#undef RESULT_FORMAT
static const char LINK[] = "what a model or an experiment names must not be a link or lie behind one";
static const char STRANGE[] = "the file was not written by Koine, or was changed since";
static const char SPECIAL[] = "what a model or an experiment names must be a file on a disk";
static const char BUSY[] = "another run is writing it; wait for it or choose another --output";

const char writing_unknown[] = "whether Koine wrote the file cannot be found out: its list cannot be read";

/* ---- names ---- */
static const char *name_refusal(const char *path)
{
    static const char *const endings[] = { ".txt", ".log", ".protocol" };
    if (*path == '/')
        return OUTSIDE;
    for (const char *at = path; *at; at += strcspn(at, "/"), at += strspn(at, "/")) {
        const size_t n = strcspn(at, "/");
        if (n == 2 && memcmp(at, "..", 2) == 0)
            return OUTSIDE;
        if (*at == '.' && n > 1)
            return HIDDEN;
    }
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (text_ends_with(path, endings[k]))
            return NULL;
    return result_format_named(path) ? NULL : ENDING;
}

char *writing_name(const char *name, Arena *arena)
{
    Text text = { .arena = arena };
    const char *end = name + strlen(name);
    uint32_t size;
    for (const char *at = name; at < end; at += size) {
        const uint32_t c = utf8_decode(at, end, &size);
        if (c == UTF8_BAD || c < ' ' || c == '/' || c == '\\' || (c >= 0x7f && c < 0xa0) ||
            (text.n == 0 && (c == '.' || c == '-' || c == '~')))
            text_char(&text, '_');
        else
            text_bytes(&text, at, size);
    }
    if (text.n == 0)
        text_char(&text, '_');
    return text.at;
}

/* ---- what is there already ---- */
/* An empty file is nobody's; a native result begins with one byte. */
static bool is_ours(const char *path, int file, const struct stat *state)
{
    char head[1 << 14];
    if (state->st_size <= 1)
        return true;
    const ssize_t n = pread(file, head, sizeof head, 0);
    const ResultFormat *format = result_format_named(path);
    return n > 0 && ((format && format->is_ours && format->is_ours(head, (size_t)n)) || written_is_ours(path, file));
}

static const char *file_refusal(const char *path, int file)
{
    struct stat state;
    if (fstat(file, &state) != 0 || !S_ISREG(state.st_mode))
        return SPECIAL;
    if (state.st_nlink > 1) /* another name of it may lie anywhere */
        return LINK;
    errno = 0;
    return is_ours(path, file, &state) ? NULL : errno ? writing_unknown : STRANGE;
}

/* ---- the way to it ---- */
/* The folder of the path, every part opened without following a link; -1: *refusal or errno. *name: what is left. */
static int open_folder(const char *path, const char **name, const char **refusal)
{
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash; folder >= 0 && (slash = strchr(path, '/')) != NULL; path = slash + strspn(slash, "/")) {
        char part[256];
        const size_t n = (size_t)(slash - path);
        if (n >= sizeof part) {
            close(folder);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(part, path, n);
        part[n] = 0;
        const int next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0 && (errno == ELOOP || errno == ENOTDIR))
            *refusal = LINK;
        const int error = errno;
        close(folder);
        errno = error;
        folder = next;
    }
    *name = path;
    return folder;
}

static int open_confined(const char *path, int flags, const char **refusal)
{
    const char *name;
    if ((*refusal = name_refusal(path)))
        return -1;
    const int folder = open_folder(path, &name, refusal);
    if (folder < 0)
        return -1;
    int file = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    const int error = errno;
    close(folder);
    if (file < 0 && error == ELOOP)
        *refusal = LINK;
    else if (file >= 0 && (*refusal = file_refusal(path, file))) {
        close(file);
        file = -1;
    }
    errno = error;
    return file;
}

/* A pipe that nobody reads is waited for as long as no signal comes, but not for ever. */
static int open_patiently(const char *path, int flags, const char **refusal)
{
    enum { TRIES = 200 };
    const struct timespec pause = { .tv_nsec = 50000000 };
    int file = open(path, flags | O_NONBLOCK, 0666);
    for (int k = 0; file < 0 && errno == ENXIO && k < TRIES; k++) {
        if (nanosleep(&pause, NULL) != 0)
            return -1;
        file = open(path, flags | O_NONBLOCK, 0666);
    }
    if (file < 0 && errno == ENXIO)
        *refusal = "nobody reads what is written to it";
    if (file >= 0)
        fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    return file;
}

/* ---- what others ask ---- */
const char *writing_refusal(const char *path)
{
    const char *refusal = NULL;
    const int file = strcmp(path, "-") == 0 ? -1 : open_confined(path, O_RDONLY, &refusal);
    if (file >= 0)
        close(file);
    return refusal;
}

const char *writing_deletion_refusal(const char *path, const char *folder)
{
    char below[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) : 0;
    if (n == 0 || n >= sizeof real)
        return "it does not lie in the project";
    memcpy(below, path, n);
    below[n] = 0;
    char top[PATH_MAX];
    if (!realpath(below, real) || !realpath(folder, top) || strncmp(real, top, strlen(top)) != 0 ||
        (real[strlen(top)] != '/' && real[strlen(top)] != 0))
        return "it does not lie in the project";
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat state;
    if (file < 0)
        return "it cannot be read, or is a link";
    const bool is_good = fstat(file, &state) == 0 && S_ISREG(state.st_mode) && is_ours(path, file, &state);
    close(file);
    return is_good ? NULL : "it was not written by Koine, or was changed since";
}

int writing_open(const char *path, unsigned flags, const char **refusal)
{
    *refusal = NULL;
    const bool is_confined = flags & WRITING_CONFINED;
    const int access = is_confined || (flags & WRITING_READS) ? O_RDWR : O_WRONLY;
    const int file = is_confined ? open_confined(path, access | O_CREAT, refusal)
                                 : open_patiently(path, access | O_CREAT | O_CLOEXEC, refusal);
    struct stat state;
    if (file < 0 || fstat(file, &state) != 0 || !S_ISREG(state.st_mode))
        return file;
    struct stat named; /* the file may have been replaced before the lock was ours */
    if ((flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
        (stat(path, &named) == 0 && (named.st_ino != state.st_ino || named.st_dev != state.st_dev))) {
        *refusal = BUSY;
        close(file);
        return -1;
    }
    return file;
}
