/* The process that starts runs, and the messages between it and the server; see starter.h. */
#define _GNU_SOURCE
#include "web/starter.h"
#include "base/text.h"
#include "base/vec.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what both sides know ---- */
enum { ASK_START, ASK_STOP };
typedef struct {
    uint32_t what;
    uint32_t number; /* ASK_STOP: of the run; ASK_START: not zero if it shall have a profile */
    uint32_t size;   /* of the settings that follow, each ended by 0 */
} Request;
enum { SETTINGS_MOST = 512 << 10 }; /* bytes; of arguments the system takes about as many */

enum { TOLD_STARTED, TOLD_REFUSED, TOLD_ENDED };
typedef struct {
    uint32_t what;
    int32_t value; /* TOLD_REFUSED: errno; TOLD_ENDED: of waitpid */
    StartedRun run;
} Answer;

static const char *const SETTINGS[] = { "start", "stop", "interval", "tolerance", "solver", "seed", "set" };

static bool is_setting(const char *name, size_t size)
{
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++)
        if (strlen(SETTINGS[k]) == size && memcmp(SETTINGS[k], name, size) == 0)
            return true;
    return false;
}

bool starter_knows(const char *name)
{
    return is_setting(name, strlen(name));
}

const char *starter_file(const char *folder, uint32_t number, StarterFile file, Arena *arena)
{
    static const char *const endings[] = {
        [STARTER_LIVE] = "live", [STARTER_PROFILE] = "hot.json", [STARTER_MESSAGES] = "txt"
    };
    return arena_format(arena, "%s/%u.%s", folder, number, endings[file]);
}

/* False: the other side has ended. */
static bool read_all(int socket, void *to, size_t size)
{
    for (char *at = to; size > 0;) {
        const ssize_t n = recv(socket, at, size, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_all(int socket, const void *from, size_t size)
{
    for (const char *at = from; size > 0;) {
        const ssize_t n = send(socket, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* ---- in the process of its own ---- */
typedef struct {
    StarterOptions options;
    Arena *arena;
    int socket, children; /* the server, and a descriptor that tells when a run has ended */
    uint32_t n_named, n_started;
    pid_t run; /* 0: none goes on */
    int lifeline;
} Outside;

static bool tell(const Outside *o, uint32_t what, int value, const StartedRun *run)
{
    Answer answer;
    memset(&answer, 0, sizeof answer);
    answer.what = what;
    answer.value = value;
    if (run)
        answer.run = *run;
    return write_all(o->socket, &answer, sizeof answer);
}

/* A name that no file has, in the current folder. */
static bool find_name(Outside *o, StartedRun *run)
{
    const char *target = o->options.target, *colon = strrchr(target, ':'), *slash = strrchr(target, '/');
    const char *model = colon && colon[1] && !strchr(colon, '/') ? colon + 1 : slash ? slash + 1 : target;
    struct stat state;
    do {
        const int n =
            snprintf(run->path, sizeof run->path, "%.*s-%u.h5", (int)strcspn(model, "."), model, ++o->n_named);
        if (n < 0 || (size_t)n >= sizeof run->path) {
            errno = ENAMETOOLONG;
            return false;
        }
    } while (lstat(run->path, &state) == 0); /* also a link that leads nowhere is something */
    return errno == ENOENT;
}

typedef VEC(const char *) Arguments;

/* False: it is not what a page asks for. */
static bool take_settings(const char *bytes, uint32_t size, Arguments *arguments, Arena *arena)
{
    if (size > 0 && bytes[size - 1] != 0)
        return false;
    for (const char *at = bytes; at < bytes + size; at += strlen(at) + 1) {
        if (!is_setting(at, strcspn(at, "=")) || !strchr(at, '='))
            return false;
        vec_push(arena, arguments, arena_format(arena, "--%s", at));
    }
    return true;
}

/* The child of a process without threads. Its standard input ends with us, however that happens:
 * `koine run --stop-with-input` ends then. */
static _Noreturn void become(const Outside *o, const char *const *arguments, int lifeline, int messages)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); /* Ctrl-C in the terminal of the viewer reaches the run through the viewer */
    if (dup2(lifeline, 0) >= 0 && dup2(messages, 1) >= 0 && dup2(messages, 2) >= 0)
        execv(o->options.program, (char *const *)arguments); /* it does not write them */
    _exit(127);
}

static bool start_process(Outside *o, const char *const *arguments, const char *message_path)
{
    int ends[2];
    const int messages = open(message_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (messages < 0)
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        close(messages);
        return false;
    }
    const pid_t process = fork();
    if (process == 0)
        become(o, arguments, ends[0], messages);
    close(messages);
    close(ends[0]);
    if (process < 0) {
        close(ends[1]);
        return false;
    }
    o->run = process;
    o->lifeline = ends[1];
    return true;
}

/* 0, or errno. */
static int start(Outside *o, const Request *request, const char *settings, StartedRun *run)
{
    Arena *arena = o->arena;
    Arguments all = { 0 };
    if (o->run || !o->options.folder)
        return EBUSY;
    run->number = o->n_started;
    if (!find_name(o, run))
        return errno;
    const char *const fixed[] = {
        o->options.program,
        "run",
        o->options.target,
        "--no-plot",
        "--color=never",
        "--stop-with-input",
        arena_format(arena, "--output=%s", run->path),
        arena_format(arena, "--live=%s", starter_file(o->options.folder, run->number, STARTER_LIVE, arena)),
    };
    for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
        vec_push(arena, &all, fixed[k]);
    if (request->number)
        vec_push(arena, &all,
                 arena_format(arena, "--hot=%s", starter_file(o->options.folder, run->number, STARTER_PROFILE, arena)));
    for (const char *const *more = o->options.arguments; more && *more; more++)
        vec_push(arena, &all, *more);
    if (!take_settings(settings, request->size, &all, arena))
        return EPERM;
    vec_push(arena, &all, NULL);
    if (!start_process(o, all.at, starter_file(o->options.folder, run->number, STARTER_MESSAGES, arena)))
        return errno;
    o->n_started++;
    return 0;
}

static void stop(const Outside *o, uint32_t number)
{
    if (o->run && number + 1 == o->n_started)
        kill(o->run, SIGTERM); /* SIGINT may be ignored: then the viewer stands in the background of a script */
}

/* False: the server has ended, or asks for what is never asked for. */
static bool serve_request(Outside *o)
{
    Request request;
    if (!read_all(o->socket, &request, sizeof request) || request.size > SETTINGS_MOST)
        return false;
    const ArenaMark begin = arena_mark(o->arena);
    char *settings = NEW_ARRAY(o->arena, char, request.size + 1);
    bool goes_on = read_all(o->socket, settings, request.size);
    if (goes_on && request.what == ASK_START) {
        StartedRun run = { 0 };
        const int error = start(o, &request, settings, &run);
        goes_on = tell(o, error ? TOLD_REFUSED : TOLD_STARTED, error, &run);
    } else if (goes_on) {
        stop(o, request.number);
    }
    arena_reset(o->arena, begin);
    return goes_on;
}

static void remove_file(const Outside *o, uint32_t number, StarterFile file)
{
    const ArenaMark begin = arena_mark(o->arena);
    unlink(starter_file(o->options.folder, number, file, o->arena));
    arena_reset(o->arena, begin);
}

/* True: the run has ended. */
static bool look_at_run(Outside *o, int *status)
{
    if (!o->run || waitpid(o->run, status, WNOHANG) != o->run)
        return false;
    o->run = 0;
    close(o->lifeline);
    remove_file(o, o->n_started - 1, STARTER_LIVE);
    return true;
}

/* The run keeps what it has, then ends; if it does not, it is ended. */
static _Noreturn void leave(Outside *o)
{
    enum { TRIES = 300, PAUSE_MS = 10 };
    int status;
    stop(o, o->n_started - 1); /* the lifeline stays: its end would be a second signal, which ends a run at once */
    for (int k = 0; o->run && !look_at_run(o, &status); k++) {
        if (k == TRIES)
            kill(o->run, SIGKILL);
        poll(NULL, 0, PAUSE_MS);
    }
    for (uint32_t k = 0; k < o->n_started; k++)
        for (StarterFile file = STARTER_LIVE; file <= STARTER_MESSAGES; file++)
            remove_file(o, k, file);
    if (o->options.folder)
        rmdir(o->options.folder);
    if (o->options.forwarder)
        unlink(o->options.forwarder);
    _exit(0);
}

/* Nothing of the server's is kept open: its port and its results are free when it ends. */
static void close_others(int socket)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0) {
        dup2(nothing, 0);
        dup2(nothing, 1);
    }
    if (socket != 3) {
        dup2(socket, 3);
        fcntl(3, F_SETFD, FD_CLOEXEC);
    }
    if (syscall(SYS_close_range, 4, ~0u, 0) != 0)
        for (int file = 4; file < 1024; file++)
            close(file);
}

static _Noreturn void live_outside(const StarterOptions *options, Arena *like, int socket)
{
    Outside o = { .options = *options, .arena = arena_create_like(like), .socket = 3 };
    sigset_t ended;
    close_others(socket);
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    o.children = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
    for (;;) {
        struct pollfd polled[] = { { .fd = o.socket, .events = POLLIN }, { .fd = o.children, .events = POLLIN } };
        struct signalfd_siginfo about;
        int status;
        poll(polled, 2, 1000);
        if (polled[1].revents)
            (void)!read(o.children, &about, sizeof about);
        if (look_at_run(&o, &status) && !tell(&o, TOLD_ENDED, status, &(StartedRun){ .number = o.n_started - 1 }))
            break;
        if (polled[0].revents && !serve_request(&o))
            break;
    }
    leave(&o);
}

/* ---- in the server ---- */
struct Starter {
    int socket; /* -1: the process has ended */
    pid_t process;
    bool has_run; /* one was started, and its end was not told yet to who asks */
    bool has_ended;
    uint32_t number;
    int status;
};

Starter *starter_create(const StarterOptions *options, Arena *arena)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return NULL;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* it ends with the server, not with Ctrl-C */
    const pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        live_outside(options, arena, ends[1]);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return NULL;
    }
    Starter *starter = NEW(arena, Starter);
    *starter = (Starter){ .socket = ends[0], .process = process };
    return starter;
}

/* Its run has ended with it. */
static void lose(Starter *starter)
{
    close(starter->socket);
    starter->socket = -1;
    starter->has_ended = true;
    starter->status = SIGKILL; /* as waitpid would tell it */
}

static bool hear(Starter *starter, Answer *answer)
{
    if (starter->socket >= 0 && read_all(starter->socket, answer, sizeof *answer)) {
        if (answer->what == TOLD_ENDED) {
            starter->has_ended = true;
            starter->status = answer->value;
        }
        return true;
    }
    if (starter->socket >= 0)
        lose(starter);
    return false;
}

static bool ask(Starter *starter, uint32_t what, uint32_t number, const Text *settings)
{
    const Request request = { .what = what, .number = number, .size = settings ? (uint32_t)settings->n : 0 };
    return starter->socket >= 0 && write_all(starter->socket, &request, sizeof request) &&
           write_all(starter->socket, settings ? settings->at : "", request.size);
}

bool starter_start(Starter *starter, const StartRequest *request, StartedRun *run, Arena *scratch, const char **error)
{
    Text text = { .arena = scratch };
    Answer answer = { .what = TOLD_ENDED };
    for (uint32_t k = 0; k < request->n; k++)
        text_bytes(&text, request->settings[k], strlen(request->settings[k]) + 1);
    if (text.n > SETTINGS_MOST) {
        *error = "cannot start the run: its settings are too long";
        return false;
    }
    bool is_heard = ask(starter, ASK_START, request->wants_profile, &text);
    while (is_heard && answer.what == TOLD_ENDED)
        is_heard = hear(starter, &answer);
    if (!is_heard) {
        *error = "cannot start the run: the process that starts runs has ended; open the viewer again";
        return false;
    }
    if (answer.what == TOLD_REFUSED) {
        *error = arena_format(scratch, "cannot start the run: %s", strerror(answer.value));
        return false;
    }
    *run = answer.run;
    starter->has_run = true;
    starter->has_ended = false;
    starter->number = answer.run.number;
    return true;
}

void starter_stop(Starter *starter, uint32_t number)
{
    ask(starter, ASK_STOP, number, NULL);
}

bool starter_has_ended(Starter *starter, uint32_t number, int *status)
{
    Answer answer;
    struct pollfd polled = { .fd = starter->socket, .events = POLLIN };
    while (!starter->has_ended && poll(&polled, 1, 0) > 0 && hear(starter, &answer))
        continue;
    if (!starter->has_run || !starter->has_ended || starter->number != number)
        return false;
    *status = starter->status;
    starter->has_run = false;
    return true;
}

void starter_end(Starter *starter)
{
    enum { TRIES = 500, PAUSE_MS = 10 }; /* longer than a run has to end; walls may forbid to end it */
    if (starter->socket >= 0)
        close(starter->socket);
    starter->socket = -1;
    for (int k = 0; k < TRIES && waitpid(starter->process, NULL, WNOHANG) == 0; k++)
        poll(NULL, 0, PAUSE_MS);
}
