/* See process.h. */
#define _GNU_SOURCE
#include "foreign/process.h"
#include "foreign/exchange.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "koine-component"

/* ---- where the program is ---- */
static bool is_there(char *path, size_t size, const char *folder, size_t n, const char *below)
{
    return snprintf(path, size, "%.*s%s/" PROGRAM, (int)n, folder, below) < (int)size && access(path, X_OK) == 0;
}

static size_t folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* Beside the program, as in the folder of a build; or where the library is installed, whose programs are in bin. */
bool component_program(char *path, size_t size, const char **why)
{
    static const char *const from_library[] = { "/../bin", "/../../bin", "" };
    static const char here = 0;
    char own[4096];
    const char *named = getenv("KOINE_COMPONENT");
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    Dl_info library;
    *why = "cannot have a process of its own: the program " PROGRAM " is not there";
    if (named && *named)
        return snprintf(path, size, "%s", named) < (int)size && access(path, X_OK) == 0;
    own[n > 0 ? n : 0] = 0;
    if (n > 0 && is_there(path, size, own, folder_of(own), ""))
        return true;
    if (!dladdr(&here, &library) || !library.dli_fname)
        return false;
    for (size_t k = 0; k < sizeof from_library / sizeof *from_library; k++)
        if (is_there(path, size, library.dli_fname, folder_of(library.dli_fname), from_library[k]))
            return true;
    return false;
}

/* ---- begin ---- */
/* A descriptor that none of those the process gets is. */
static int out_of_the_way(int descriptor)
{
    enum { FREE = 10 };
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, FREE);
    close(descriptor);
    return moved;
}

static int spawn(pid_t *pid, const char *program, const char *const *arguments, const int *given)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, 2, 1); /* what it prints is no result */
    posix_spawn_file_actions_adddup2(&files, given[0], EXCHANGE_MEMORY);
    posix_spawn_file_actions_adddup2(&files, given[1], EXCHANGE_LIFE);
    /* In a group of its own no key of the terminal reaches it: Koine ends it in order. */
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    const int error = posix_spawn(pid, program, &files, &how, (char *const *)arguments, environ); /* not written */
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return error;
}

const char *component_start(ComponentProcess *process, const char *program, const char *const *arguments, int given)
{
    int life[2];
    *process = (ComponentProcess){ .life = -1, .how = -1 };
    if (pipe2(life, O_CLOEXEC) != 0)
        return "cannot have a process of its own: there are too many open files";
    const int moved[] = { fcntl(given, F_DUPFD_CLOEXEC, 10), out_of_the_way(life[0]) };
    const int error = moved[0] < 0 || moved[1] < 0 ? EMFILE : spawn(&process->pid, program, arguments, moved);
    for (int k = 0; k < 2; k++)
        if (moved[k] >= 0)
            close(moved[k]);
    process->life = life[1];
    if (error == 0)
        return NULL;
    process->pid = 0;
    close(life[1]);
    return "cannot have a process of its own: the system starts none";
}

/* ---- end ---- */
static bool look(ComponentProcess *process, int options)
{
    pid_t ended;
    while (!process->is_over && (ended = waitpid(process->pid, &process->how, options)) != 0) {
        if (ended < 0 && errno == EINTR)
            continue;
        if (ended < 0) /* somebody else has asked, or nobody wants to know */
            process->how = -1;
        process->is_over = true;
    }
    return process->is_over;
}

bool component_is_over(ComponentProcess *process)
{
    return process->pid == 0 || look(process, WNOHANG);
}

void component_end(ComponentProcess *process)
{
    if (process->pid == 0)
        return;
    if (!look(process, WNOHANG)) {
        kill(-process->pid, SIGKILL); /* what it has started, too */
        kill(process->pid, SIGKILL);
        look(process, 0);
    }
    close(process->life);
    process->pid = 0;
}

void component_tell_end(const ComponentProcess *process, char *text, size_t size)
{
    const int how = process->how;
    const char *name = how != -1 && WIFSIGNALED(how) ? sigabbrev_np(WTERMSIG(how)) : NULL;
    if (how == -1)
        snprintf(text, size, "has ended");
    else if (WIFEXITED(how))
        snprintf(text, size, "has ended with exit status %d", WEXITSTATUS(how));
    else if (name)
        snprintf(text, size, "was ended by the signal SIG%s", name);
    else
        snprintf(text, size, "was ended by the signal %d", WTERMSIG(how));
}
