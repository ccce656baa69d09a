/* See process.h. */
#define _GNU_SOURCE
#include "emit/c/process.h"
#include "base/walls.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reading is free; writing is for the work folder and for what swallows everything. */
static void put_up_walls(const char *folder)
{
    const int rules = walls_begin(WALL_WRITE);
    walls_let(rules, folder, WALL_WRITE);
    walls_let(rules, "/dev/null", WALL_WRITE);
    walls_stand(rules);
    walls_without_network();
}

static void limit(int resource, rlim_t most)
{
    struct rlimit limits;
    if (getrlimit(resource, &limits) != 0)
        return;
    if (limits.rlim_max == RLIM_INFINITY || limits.rlim_max > most)
        limits.rlim_max = most;
    if (limits.rlim_cur == RLIM_INFINITY || limits.rlim_cur > limits.rlim_max)
        limits.rlim_cur = limits.rlim_max;
    setrlimit(resource, &limits);
}

static void set_limits(void)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, 3600);
    limit(RLIMIT_FSIZE, (rlim_t)4 << 30);
    limit(RLIMIT_NOFILE, 256);
}

/* ---- the compiler ---- */
static void close_others(void)
{
    if (syscall(SYS_close_range, 3, ~0u, 0) == 0)
        return;
    for (int file = 3; file < 1024; file++)
        close(file);
}

static void run_compiler(const CompilerProcess *process)
{
    char temporary[4096];
    setpgid(0, 0); /* a group of its own: ended as one */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_limits();
    if (snprintf(temporary, sizeof temporary, "%s", process->folder) < (int)sizeof temporary)
        setenv("TMPDIR", temporary, 1);
    if (process->is_walled)
        put_up_walls(process->folder);
    execve(process->args[0], (char *const *)process->args, environ); /* it does not write them */
    _exit(127);
}

/* ---- our process in between ---- */
static int await_compiler(pid_t compiler, const sigset_t *signals, const char *folder)
{
    for (int status;;) {
        if (waitpid(compiler, &status, WNOHANG) == compiler)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        const int signal = sigwaitinfo(signals, NULL);
        if (signal < 0 || signal == SIGCHLD)
            continue;
        kill(compiler, SIGKILL); /* it may not have its group yet */
        kill(-compiler, SIGKILL);
        waitpid(compiler, &status, 0);
        process_remove_folder(folder);
        return 128 + signal;
    }
}

static const int awaited[] = { SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGHUP };

void process_hold_signals(sigset_t *before)
{
    sigset_t ends;
    sigemptyset(&ends);
    for (size_t k = 1; k < sizeof awaited / sizeof *awaited; k++)
        sigaddset(&ends, awaited[k]);
    pthread_sigmask(SIG_BLOCK, &ends, before);
}

void process_let_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void stand_between(const CompilerProcess *process, pid_t parent)
{
    sigset_t signals;
    sigemptyset(&signals);
    for (size_t k = 0; k < sizeof awaited / sizeof *awaited; k++) {
        sigaddset(&signals, awaited[k]);
        signal(awaited[k], SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &signals, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        process_remove_folder(process->folder);
        _exit(128 + SIGTERM);
    }
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(process->messages, 1) < 0 || dup2(process->messages, 2) < 0)
        _exit(127);
    close_others();
    const pid_t compiler = fork();
    if (compiler == 0)
        run_compiler(process);
    _exit(compiler < 0 ? 127 : await_compiler(compiler, &signals, process->folder));
}

int process_start(const CompilerProcess *process, pid_t *pid)
{
    const pid_t parent = getpid();
    *pid = fork();
    if (*pid == 0)
        stand_between(process, parent);
    return *pid < 0 ? errno : 0;
}

void process_end(pid_t pid)
{
    int status;
    kill(pid, SIGTERM);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
}

void process_remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (const struct dirent *d = folder ? readdir(folder) : NULL; d; d = readdir(folder))
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            unlinkat(dirfd(folder), d->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(path);
}
