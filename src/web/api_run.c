/* Answers about runs: which there are, how far they are, starting and stopping one, what it did. */
#include "web/json_rows.h"
#include "web/session.h"
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *state_word(RunState state)
{
    static const char *const words[] = { [RUN_DONE] = "done",
                                         [RUN_GOING] = "running",
                                         [RUN_STOPPED] = "stopped",
                                         [RUN_FAILED] = "failed",
                                         [RUN_UNREADABLE] = "unreadable" };
    return words[state];
}

static const char *model_word(int state)
{
    static const char *const words[] = {
        [MODEL_NONE] = "none", [MODEL_WORKING] = "working", [MODEL_GOOD] = "good", [MODEL_FAILED] = "failed"
    };
    return words[state];
}

static void add_run(const Run *run, Text *to)
{
    const uint64_t rows = run->result ? result_rows(run->result) : 0;
    double ends[2] = { NAN, NAN };
    if (rows) {
        result_read(run->result, 0, 0, 1, &ends[0]);
        result_read(run->result, 0, rows - 1, 1, &ends[1]);
    }
    text_format(to, "{ \"id\": %u, \"name\": ", run->id);
    text_json(to, run->name);
    text_add(to, ", \"file\": ");
    text_json(to, run->path);
    text_format(
        to, ", \"state\": \"%s\", \"live\": %s, \"rows\": %llu, \"variables\": %u, \"from\": ", state_word(run->state),
        run->is_live ? "true" : "false", (unsigned long long)rows, run->result ? result_columns(run->result) : 0);
    json_real(to, ends[0]);
    text_add(to, ", \"to\": ");
    json_real(to, ends[1]);
    text_format(to, ", \"statistics\": %s", run->result && result_provenance(run->result) ? "true" : "false");
    const char *remark = run->result && !run->is_going ? result_note(run->result) : NULL;
    text_add(to, ", \"remark\": ");
    text_json(to, remark ? remark : "");
    text_add(to, ", \"changed\": ");
    text_json(to, run->origin && origin_changes(run->origin) ? origin_changes(run->origin) : "");
    text_format(to, ", \"profile\": %s, \"settings\": %s, \"message\": ",
                run->wants_profile && !run->is_going ? "true" : "false", run->settings);
    text_json(to, run->message);
    text_add(to, " }");
}

static void add_state(const View *view, Text *to)
{
    text_format(to, "{ \"revision\": %llu, \"koine\": \"%s\", \"model\": { \"state\": \"%s\", \"target\": ",
                (unsigned long long)view->revision, view->options.version,
                model_word(atomic_load_explicit(&view->model.state, memory_order_acquire)));
    if (view->options.target)
        text_json(to, view->options.target);
    else
        text_add(to, "null");
    const RunOrigin *origin = view->model.origin;
    text_add(to, ", \"changed\": ");
    text_json(to, origin && origin_changes(origin) ? origin_changes(origin) : "");
    text_add(to, " }, \"runs\": [");
    for (uint32_t k = 0; k < view->runs.n; k++) {
        text_add(to, k ? ", " : "");
        add_run(view->runs.at[k], to);
    }
    text_add(to, "]");
}

/* What a file says is JSON is sent as such only if it is. */
static const char *json_or_null(const char *text)
{
    return text && json_is_object(text) ? text : "null";
}

void answer_state(View *view, HttpRequest *request, HttpResponse *response)
{
    Text text = { .arena = request->arena };
    add_state(view, &text);
    text_format(&text, ", \"layout\": %s }\n", json_or_null(view->options.layout));
    answer_text(response, JSON_TYPE, &text);
}

/* ---- changes as they happen: server-sent events ---- */
typedef struct {
    const View *view;
    uint64_t revision;
    int model;
    bool is_begun;
} Changes;

static HttpStream changes_part(void *context, Text *part)
{
    Changes *c = context;
    const int model = atomic_load_explicit(&c->view->model.state, memory_order_acquire);
    if (c->is_begun && c->revision == c->view->revision && c->model == model)
        return HTTP_STREAM_WAIT;
    c->is_begun = true;
    c->revision = c->view->revision;
    c->model = model;
    text_add(part, "data: ");
    add_state(c->view, part);
    text_add(part, " }\n\n");
    return HTTP_STREAM_WAIT;
}

void answer_changes(View *view, HttpRequest *request, HttpResponse *response)
{
    Changes *c = NEW(request->arena, Changes);
    *c = (Changes){ .view = view };
    *response = (HttpResponse){
        .status = 200, .type = "text/event-stream; charset=utf-8", .stream = changes_part, .context = c
    };
}

/* ---- running ---- */
static bool is_one_going(const View *view)
{
    for (uint32_t k = 0; k < view->runs.n; k++)
        if (view->runs.at[k]->is_going)
            return true;
    return false;
}

void answer_run(View *view, HttpRequest *request, HttpResponse *response)
{
    if (!view->options.target) {
        answer_error(request, response, 404, "no model was opened; start the viewer with one: koine view MODEL");
        return;
    }
    if (is_one_going(view)) {
        answer_error(request, response, 409, "a run is going on; stop it first");
        return;
    }
    VEC(const char *) given = { 0 };
    Text settings = { .arena = request->arena };
    bool wants_profile = false;
    text_add(&settings, "[");
    for (uint32_t k = 0; k < request->n_fields; k++) {
        const HttpField *field = &request->fields[k];
        if (strcmp(field->name, "profile") == 0) {
            wants_profile = true;
        } else if (!starter_knows(field->name)) {
            answer_error(request, response, 400, "a run has no setting '%.40s'", field->name);
            return;
        } else if (*field->value) {
            const char *setting = arena_format(request->arena, "%s=%s", field->name, field->value);
            vec_push(request->arena, &given, setting);
            text_add(&settings, settings.n > 1 ? ", " : "");
            text_json(&settings, strcmp(field->name, "set") == 0 ? field->value : setting);
        }
    }
    text_add(&settings, "]");
    const char *error;
    const StartRequest start = { given.at, given.n, wants_profile };
    const Run *const run =
        runs_start(view, &start, arena_text(request->arena, settings.at, settings.n), request->arena, &error);
    if (!run) {
        answer_error(request, response, 503, "%s", error);
        return;
    }
    Text text = { .arena = request->arena };
    text_format(&text, "{ \"run\": %u }\n", run->id);
    answer_text(response, JSON_TYPE, &text);
}

void answer_stop(View *view, HttpRequest *request, HttpResponse *response)
{
    const uint32_t id = request_integer(request, "run", UINT32_MAX);
    if (id >= view->runs.n) {
        answer_error(request, response, 404, "there is no such run");
        return;
    }
    runs_stop(view, view->runs.at[id]);
    Text text = { .arena = request->arena };
    text_add(&text, "{ }\n");
    answer_text(response, JSON_TYPE, &text);
}

/* ---- what a run did: files that the run wrote for us ---- */
static void answer_file(HttpRequest *request, HttpResponse *response, const char *path)
{
    enum { FILE_MOST = 8 << 20 };
    const int file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    struct stat state;
    if (file < 0 || fstat(file, &state) != 0 || state.st_size > FILE_MOST) {
        if (file >= 0)
            close(file);
        answer_error(request, response, 404, "nothing is known about this run");
        return;
    }
    char *bytes = NEW_ARRAY(request->arena, char, (size_t)state.st_size + 1);
    const ssize_t n = read(file, bytes, (size_t)state.st_size);
    close(file);
    const Text text = { .at = bytes, .n = n > 0 ? (size_t)n : 0 };
    answer_text(response, JSON_TYPE, &text);
}

/* { "begin": what was known beforehand, "end": statistics }, each null where there is none. */
void answer_statistics(View *view, HttpRequest *request, HttpResponse *response)
{
    const uint32_t id = request_integer(request, "run", UINT32_MAX);
    const Run *run = id < view->runs.n ? view->runs.at[id] : NULL;
    const char *begin = run && run->result ? result_provenance(run->result) : NULL;
    const char *end = run && run->result ? result_statistics(run->result) : NULL;
    if (!begin && !end) {
        answer_error(request, response, 404, "nothing is known about this run");
        return;
    }
    Text text = { .arena = request->arena };
    text_format(&text, "{ \"begin\": %s, \"end\": %s }\n", json_or_null(begin), json_or_null(end));
    answer_text(response, JSON_TYPE, &text);
}

void answer_profile(View *view, HttpRequest *request, HttpResponse *response)
{
    const uint32_t id = request_integer(request, "run", UINT32_MAX);
    const Run *run = id < view->runs.n ? view->runs.at[id] : NULL;
    answer_file(request, response, run && !run->is_going && run->wants_profile ? run->profile_path : NULL);
}
