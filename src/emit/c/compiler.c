/* Finding and running the compiler; see compiler.h. */
#include "emit/c/compiler.h"
#include "base/text.h"
#include "base/vec.h"
#include "emit/c/process.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The same bits as the interpreter: no contraction, no replacement of libm by other values. Loops whose
 * elements are independent are vectorised whatever their length. */
const char *const compiler_flags[] = { "-std=c17",
                                       "-O2",
                                       "-ftree-vectorize",
                                       "-fvect-cost-model=dynamic",
                                       "-ffp-contract=off",
                                       "-fno-builtin",
                                       "-fno-math-errno",
                                       "-fPIC",
                                       "-shared",
                                       "-w",
                                       NULL };

/* ---- finding ---- */
static const char *search_path(const char *name, Arena *arena)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? name : NULL;
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
        const size_t n = strcspn(at, ":");
        const char *file = arena_format(arena, "%.*s/%s", (int)n, at, name);
        struct stat s;
        if (n > 0 && access(file, X_OK) == 0 && stat(file, &s) == 0 && S_ISREG(s.st_mode))
            return file;
        at += n + (at[n] == ':');
    }
    return NULL;
}

bool find_compiler(Compiler *compiler, Arena *arena, const char **why)
{
    const char *command = getenv("CC");
    VEC(const char *) words = { 0 };
    if (!command || command[strspn(command, " \t")] == 0)
        command = "cc";
    for (const char *at = command; *at;) {
        at += strspn(at, " \t");
        const size_t n = strcspn(at, " \t");
        if (n)
            vec_push(arena, &words, arena_text(arena, at, n));
        at += n;
    }
    const char *file = search_path(words.at[0], arena);
    struct stat s;
    if (!file || stat(file, &s) != 0) {
        *why = arena_format(arena, "no C compiler: %s is not there or cannot be executed", words.at[0]);
        return false;
    }
    words.at[0] = file;
    *compiler = (Compiler){ command, words.n, words.at,
                            arena_format(arena, "%s %lld %lld.%09ld", file, (long long)s.st_size,
                                         (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec) };
    return true;
}

/* ---- running ---- */
static const char *const *arguments(const Compiler *compiler, const char *source, const char *object, Arena *arena)
{
    VEC(const char *) args = { 0 };
    for (uint32_t k = 0; k < compiler->n_words; k++)
        vec_push(arena, &args, compiler->words[k]);
    for (uint32_t k = 0; compiler_flags[k]; k++)
        vec_push(arena, &args, compiler_flags[k]);
    vec_push(arena, &args, "-o");
    vec_push(arena, &args, object);
    vec_push(arena, &args, source);
    vec_push(arena, &args, "-lm");
    vec_push(arena, &args, NULL);
    return args.at;
}

/* Until the end of its messages; false: interrupted. */
static bool read_all(int fd, Text *text, volatile const int *interrupt)
{
    enum { MOST = 1 << 20, LOOK = 50 }; /* more is read, not kept; milliseconds between two looks at the interrupt */
    char buffer[4096];
    for (;;) {
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        const int n_ready = poll(&ready, 1, LOOK);
        if (interrupt && *interrupt)
            return false;
        if (n_ready <= 0)
            continue;
        const ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return true;
        if (text->n < MOST)
            text_bytes(text, buffer, (size_t)n);
    }
}

/* The line that tells most: the first with "error", else the first. */
static const char *telling_line(const Text *text, Arena *arena)
{
    if (!text->n)
        return "no message";
    const char *error = strstr(text->at, "error"), *line = text->at;
    for (const char *c = text->at; error && c < error; c++)
        if (*c == '\n')
            line = c + 1;
    return arena_text(arena, line, strcspn(line, "\n"));
}

static bool is_environment(const Text *text)
{
    return text->n && (strstr(text->at, "No space left") || strstr(text->at, "Permission denied") ||
                       strstr(text->at, "Read-only file system") || strstr(text->at, "Disk quota"));
}

/* One that the user named, or a wrapper of compilers, may have folders and connections of its own. */
bool compiler_is_walled(const Compiler *compiler)
{
    static const char *const wrappers[] = { "ccache", "distcc", "icecc", "sccache" };
    char real[PATH_MAX];
    const char *path = realpath(compiler->words[0], real) ? real : compiler->words[0];
    bool is_found = strcmp(compiler->command, "cc") != 0;
    for (size_t k = 0; k < sizeof wrappers / sizeof *wrappers; k++)
        is_found |= strstr(path, wrappers[k]) != NULL;
    return !is_found;
}

/* Its end, which takes a moment behind its last word. */
static pid_t await_end(pid_t pid, int *status)
{
    pid_t ended;
    do
        ended = waitpid(pid, status, 0);
    while (ended < 0 && errno == EINTR);
    return ended;
}

CompileResult compiler_run(const CompilerWork *work, const char *const *args, const char *made, const char **why)
{
    const Compiler *compiler = work->compiler;
    Arena *arena = work->arena;
    int ends[2];
    pid_t pid;
    if (pipe(ends) != 0) {
        *why = arena_format(arena, "cannot start %s: %s", compiler->command, strerror(errno));
        return COMPILER_REJECTED;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const CompilerProcess process = { args, work->folder, ends[1], compiler_is_walled(compiler) };
    const int error = process_start(&process, &pid);
    close(ends[1]);
    Text messages = { .arena = arena };
    sigset_t outside;
    process_let_signals(work->let);
    const bool is_interrupted = !error && !read_all(ends[0], &messages, work->interrupt);
    int status = 0;
    if (is_interrupted)
        process_end(pid);
    const pid_t ended = error || is_interrupted ? -1 : await_end(pid, &status);
    process_hold_signals(&outside);
    close(ends[0]);
    if (is_interrupted) {
        *why = "interrupted";
        return COMPILER_REJECTED;
    }
    if (error) {
        *why = arena_format(arena, "cannot start %s: %s", compiler->command, strerror(error));
        return COMPILER_REJECTED;
    }
    /* a host that ignores SIGCHLD leaves no status: the object tells */
    const bool is_good = ended == pid ? WIFEXITED(status) && WEXITSTATUS(status) == 0 : access(made, R_OK) == 0;
    if (is_good)
        return COMPILED;
    if (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) > 128)
        *why = arena_format(arena, "%s was ended by signal %d", compiler->command, WEXITSTATUS(status) - 128);
    else
        *why = arena_format(arena, "%s: %s", compiler->command, telling_line(&messages, arena));
    return is_environment(&messages) ? COMPILER_ENVIRONMENT : COMPILER_REJECTED;
}

CompileResult compile_file(const Compiler *compiler, const char *folder, volatile const int *interrupt,
                           const sigset_t *let, Arena *arena, const char **why)
{
    const char *source = arena_format(arena, "%s/model.c", folder);
    const char *object = arena_format(arena, "%s/model.so", folder);
    const CompilerWork work = { compiler, folder, interrupt, let, arena };
    return compiler_run(&work, arguments(compiler, source, object, arena), object, why);
}
