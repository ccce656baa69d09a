/* The runs that are shown: results that were opened, and runs of the model in processes of their own. */
#include "web/session.h"
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_MOST = 64 << 10 };

static const char *name_of_path(const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return arena_text(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static Run *add_run(View *view, const char *path)
{
    Run *run = NEW(view->arena, Run);
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
    Result *result = result_open(run->path, view->arena, &error);
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
    Run *run = add_run(view, path);
    open_result(view, run);
    return run;
}

/* ---- starting ---- */
static const char *keep(View *view, const char *text)
{
    return arena_text(view->arena, text, strlen(text));
}

Run *runs_start(View *view, const StartRequest *request, const char *shown, Arena *scratch, const char **error)
{
    StartedRun started;
    if (!view->folder || !view->starter) {
        *error = view->folder_error;
        return NULL;
    }
    if (!starter_start(view->starter, request, &started, scratch, error))
        return NULL;
    Run *run = add_run(view, started.path);
    run->state = RUN_GOING;
    run->is_going = true;
    run->number = started.number;
    run->live_path = starter_file(view->folder, started.number, STARTER_LIVE, view->arena);
    run->profile_path = starter_file(view->folder, started.number, STARTER_PROFILE, view->arena);
    run->message_path = starter_file(view->folder, started.number, STARTER_MESSAGES, view->arena);
    run->settings = keep(view, shown);
    run->wants_profile = request->wants_profile;
    return run;
}

void runs_stop(View *view, const Run *run)
{
    if (run->is_going)
        starter_stop(view->starter, run->number);
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
    char *bytes = NEW_ARRAY(arena, char, MESSAGE_MOST + 1);
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
    run->is_going = false;
    run->state = state_of(status);
    run->message = read_message(run, view->arena);
    if (WIFSIGNALED(status))
        run->message = arena_format(view->arena, "%sthe run was ended by signal %d (%s)\n", run->message,
                                    WTERMSIG(status), strsignal(WTERMSIG(status)));
    struct stat state;
    if (stat(run->path, &state) == 0)
        open_result(view, run);
    view->revision++;
}

static void watch_going(View *view, Run *run)
{
    int status;
    if (starter_has_ended(view->starter, run->number, &status)) {
        finish(view, run, status);
        return;
    }
    const char *error;
    if (!run->result) {
        struct stat state;
        if (stat(run->live_path, &state) != 0 || state.st_size == 0)
            return;
        Arena *scratch = arena_create_like(view->arena); /* of messages nobody reads */
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
    ModelView *model = &view->model;
    const int state = atomic_load_explicit(&model->state, memory_order_acquire);
    if (state != MODEL_GOOD && state != MODEL_FAILED)
        return;
    if (!model->has_origin)
        model->origin = origin_of_sources(model->compilation->sources, view->arena);
    model->has_origin = true;
    watch_origin(view, model->origin, &model->origin_after);
}

void runs_watch(View *view)
{
    watch_model(view);
    for (uint32_t k = 0; k < view->runs.n; k++) {
        Run *run = view->runs.at[k];
        watch_origin(view, run->origin, &run->origin_after);
        if (run->is_going)
            watch_going(view, run);
        else if (run->result)
            watch_file(view, run);
    }
}

/* ---- the end ---- */
void runs_end(View *view)
{
    if (view->starter)
        starter_end(view->starter);
    else if (view->folder)
        rmdir(view->folder);
    for (uint32_t k = 0; k < view->runs.n; k++)
        result_close(view->runs.at[k]->result);
}
