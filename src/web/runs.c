/* The runs that are shown: results that were opened, and runs of the model in processes of their own. */
#include "web/session.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_MOST = 64 << 10 };

static const char *name_of_path(const char *path, Arena *arena)
{
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    const char *const dot = strrchr(name, '.');
    return arena_text(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static Run *add_run(View *view, const char *path)
{
    Run *const run = NEW(view->arena, Run);
    *run = (Run){ .id = view->runs.n,
                  .name = name_of_path(path, view->arena),
                  .path = arena_text(view->arena, path, strlen(path)),
                  .message = "",
                  .settings = "[]",
                  .start = NAN,
                  .stop = NAN };
    vec_push(view->arena, &view->runs, run);
    view->revision++;
    return run;
}

/* What was there stays when the file cannot be read now: it may be in the middle of being written. */
static void open_result(View *view, Run *run)
{
    const char *error;
    Result *const result = result_open(run->path, view->arena, &error);
    if (result) {
        result_close(run->result);
        run->result = result;
        run->is_live = false;
        run->origin = origin_create(result_provenance(result), view->arena);
        run->origin_after = 0;
    } else if (!run->result && run->state == RUN_DONE) {
        run->state = RUN_UNREADABLE;
        run->message = error;
    }
    view->revision++;
}

Run *runs_open(View *view, const char *path)
{
    Run *const run = add_run(view, path);
    open_result(view, run);
    return run;
}

/* ---- starting ---- */
static bool make_folder(View *view, Arena *scratch, const char **error)
{
    if (view->folder)
        return true;
    const char *const where = getenv("TMPDIR");
    char *const folder = arena_format(scratch, "%s/koine-view.XXXXXX", where && *where ? where : "/tmp");
    if (!mkdtemp(folder)) {
        *error = arena_format(scratch, "cannot make a folder for the run in '%s': %s", folder, strerror(errno));
        return false;
    }
    view->folder = arena_text(view->arena, folder, strlen(folder));
    return true;
}

/* A name that no file has, in the current folder. */
static const char *free_name(View *view, Arena *scratch)
{
    const char *const colon = strrchr(view->options.target, ':');
    const char *const model =
        name_of_path(colon && colon[1] && !strchr(colon, '/') ? colon + 1 : view->options.target, scratch);
    const size_t size = strcspn(model, ".");
    for (;;) {
        const char *const path = arena_format(scratch, "%.*s-%u.h5", (int)size, model, ++view->n_started);
        struct stat state;
        if (lstat(path, &state) != 0) /* also a link that leads nowhere is something */
            return path;
    }
}

/* In the new process; only calls that are safe there. */
static _Noreturn void become(const char *program, char *const *arguments, int lifeline, int messages)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); /* Ctrl-C in the terminal of the viewer reaches the run through the viewer */
    if (dup2(lifeline, 0) >= 0 && dup2(messages, 1) >= 0 && dup2(messages, 2) >= 0)
        execv(program, arguments);
    _exit(127);
}

/* Its standard input, which ends with us, however that happens: `koine run --stop-with-input` ends then. */
static bool make_lifeline(int ends[2])
{
    if (pipe(ends) != 0)
        return false;
    for (int k = 0; k < 2; k++)
        fcntl(ends[k], F_SETFD, FD_CLOEXEC);
    return true;
}

static pid_t start_process(const char *program, char *const *arguments, const char *message_path, int *lifeline)
{
    int ends[2];
    const int messages = open(message_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (messages < 0)
        return -1;
    if (!make_lifeline(ends)) {
        close(messages);
        return -1;
    }
    const pid_t process = fork();
    if (process == 0)
        become(program, arguments, ends[0], messages);
    close(messages);
    close(ends[0]);
    if (process < 0)
        close(ends[1]);
    else
        *lifeline = ends[1];
    return process;
}

static const char *keep(View *view, const char *text)
{
    return arena_text(view->arena, text, strlen(text));
}

Run *runs_start(View *view, const char *const *arguments, uint32_t n, const char *settings, bool wants_profile,
                Arena *scratch, const char **error)
{
    if (!make_folder(view, scratch, error))
        return NULL;
    const char *const path = free_name(view, scratch);
    Run run = { .live_path = arena_format(scratch, "%s/%u.live", view->folder, view->runs.n),
                .profile_path = arena_format(scratch, "%s/%u.hot.json", view->folder, view->runs.n),
                .message_path = arena_format(scratch, "%s/%u.txt", view->folder, view->runs.n) };
    VEC(const char *) all = { 0 };
    const char *const fixed[] = { view->options.program,
                                  "run",
                                  view->options.target,
                                  "--no-plot",
                                  "--color=never",
                                  "--stop-with-input",
                                  arena_format(scratch, "--output=%s", path),
                                  arena_format(scratch, "--live=%s", run.live_path) };
    for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
        vec_push(scratch, &all, fixed[k]);
    if (wants_profile)
        vec_push(scratch, &all, arena_format(scratch, "--hot=%s", run.profile_path));
    for (const char *const *more = view->options.run_arguments; more && *more; more++)
        vec_push(scratch, &all, *more);
    for (uint32_t k = 0; k < n; k++)
        vec_push(scratch, &all, arguments[k]);
    vec_push(scratch, &all, NULL);
    const pid_t process = start_process(view->options.program, (char *const *)all.at, run.message_path, &run.lifeline);
    if (process < 0) {
        *error = arena_format(scratch, "cannot start the run: %s", strerror(errno));
        return NULL;
    }
    Run *const added = add_run(view, path);
    run.id = added->id;
    run.name = added->name;
    run.path = added->path;
    run.message = "";
    run.state = RUN_GOING;
    run.process = process;
    run.live_path = keep(view, run.live_path);
    run.profile_path = keep(view, run.profile_path);
    run.message_path = keep(view, run.message_path);
    run.settings = keep(view, settings);
    run.start = run.stop = NAN;
    run.wants_profile = wants_profile;
    *added = run;
    return added;
}

void runs_stop(const Run *run)
{
    if (run->process)
        kill(run->process, SIGTERM); /* SIGINT may be ignored: then the viewer stands in the background of a script */
}

/* ---- watching ---- */
static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const char *read_message(const Run *run, Arena *arena)
{
    const int file = open(run->message_path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return "";
    char *const bytes = NEW_ARRAY(arena, char, MESSAGE_MOST + 1);
    const ssize_t n = read(file, bytes, MESSAGE_MOST);
    close(file);
    bytes[n > 0 ? n : 0] = 0;
    return bytes;
}

static RunState state_of(int status)
{
    enum { STATUS_INTERRUPTED = 130 };
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return RUN_DONE;
    return WIFEXITED(status) && WEXITSTATUS(status) == STATUS_INTERRUPTED ? RUN_STOPPED : RUN_FAILED;
}

static void finish(View *view, Run *run, int status)
{
    run->process = 0;
    close(run->lifeline);
    run->state = state_of(status);
    run->message = read_message(run, view->arena);
    if (WIFSIGNALED(status))
        run->message = arena_format(view->arena, "%sthe run was ended by signal %d (%s)\n", run->message,
                                    WTERMSIG(status), strsignal(WTERMSIG(status)));
    struct stat state;
    if (stat(run->path, &state) == 0)
        open_result(view, run);
    unlink(run->live_path);
    view->revision++;
}

static void watch_going(View *view, Run *run)
{
    int status;
    if (waitpid(run->process, &status, WNOHANG) == run->process) {
        finish(view, run, status);
        return;
    }
    const char *error;
    if (!run->result) {
        struct stat state;
        if (stat(run->live_path, &state) != 0 || state.st_size == 0)
            return;
        Arena *const scratch = arena_create_like(view->arena); /* of messages nobody reads */
        run->result = result_open(run->live_path, scratch, &error);
        arena_destroy(scratch);
        run->is_live = run->result != NULL;
        view->revision += run->is_live;
    } else if (result_look(run->result) != RESULT_SAME) {
        view->revision++;
    }
}

/* A file that grows is read again and again: that may take a tenth of the time. */
static void watch_file(View *view, Run *run)
{
    const int64_t begun = now_ms();
    if (begun < run->look_after)
        return;
    const ResultChange change = result_look(run->result);
    if (change == RESULT_OTHER)
        open_result(view, run);
    else
        view->revision += change == RESULT_GROWN;
    run->look_after = now_ms() + 10 * (now_ms() - begun);
}

/* Whether the files of a model were edited since, about once a second. */
static void watch_origin(View *view, RunOrigin *origin, int64_t *after)
{
    enum { PAUSE_MS = 1000 };
    const int64_t now = now_ms();
    if (!origin || now < *after)
        return;
    view->revision += origin_look(origin);
    *after = now + PAUSE_MS;
}

/* The model as it was compiled for the page. */
static void watch_model(View *view)
{
    ModelView *const model = &view->model;
    const int state = atomic_load_explicit(&model->state, memory_order_acquire);
    if (state != MODEL_GOOD && state != MODEL_FAILED)
        return;
    if (!model->has_origin)
        model->origin = origin_of_sources(compilation_sources(model->compilation), view->arena);
    model->has_origin = true;
    watch_origin(view, model->origin, &model->origin_after);
}

void runs_watch(View *view)
{
    watch_model(view);
    for (uint32_t k = 0; k < view->runs.n; k++) {
        Run *const run = view->runs.at[k];
        watch_origin(view, run->origin, &run->origin_after);
        if (run->process)
            watch_going(view, run);
        else if (run->result)
            watch_file(view, run);
    }
}

/* ---- the end ---- */
static void remove_files(const Run *run)
{
    const char *const paths[] = { run->live_path, run->profile_path, run->message_path };
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
        if (paths[k])
            unlink(paths[k]);
}

/* It keeps what it has, then ends; if it does not, it is ended. */
static void wait_for(const Run *run)
{
    enum { TRIES = 300, PAUSE_MS = 10 };
    for (int k = 0; run->process && waitpid(run->process, NULL, WNOHANG) == 0; k++) {
        if (k == TRIES)
            kill(run->process, SIGKILL);
        poll(NULL, 0, PAUSE_MS);
    }
}

void runs_end(View *view)
{
    for (uint32_t k = 0; k < view->runs.n; k++)
        runs_stop(view->runs.at[k]);
    for (uint32_t k = 0; k < view->runs.n; k++) {
        Run *const run = view->runs.at[k];
        wait_for(run);
        result_close(run->result);
        remove_files(run);
    }
    if (view->folder)
        rmdir(view->folder);
}
