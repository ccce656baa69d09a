/* Beginning and end of the viewer, and what answers to requests have in common; see view.h. */
#include "web/view.h"
#include "web/json_rows.h"
#include "web/page.h"
#include "web/session.h"
#include <limits.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- answers ---- */
void answer_text(HttpResponse *response, const char *type, const Text *text)
{
    *response = (HttpResponse){ .status = 200, .type = type, .body = text->at, .size = text->n };
}

void answer_error(HttpRequest *request, HttpResponse *response, int status, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    Text text = { .arena = request->arena };
    text_add(&text, "{ \"error\": ");
    text_json(&text, message);
    text_add(&text, " }\n");
    answer_text(response, JSON_TYPE, &text);
    response->status = status;
}

void json_real(Text *to, double value)
{
    if (value - value == 0)
        text_real(to, value);
    else
        text_add(to, "null");
}

double request_real(const HttpRequest *request, const char *name, double otherwise)
{
    const char *text = http_field(request, name);
    double value;
    return text && *text && text_to_real(text, text + strlen(text), &value) == text + strlen(text) ? value : otherwise;
}

uint32_t request_integer(const HttpRequest *request, const char *name, uint32_t otherwise)
{
    const char *text = http_field(request, name);
    if (!text || !*text || strlen(text) > 9 || strspn(text, "0123456789") != strlen(text))
        return otherwise;
    return (uint32_t)strtoul(text, NULL, 10);
}

Run *request_run(View *view, HttpRequest *request, HttpResponse *response)
{
    const uint32_t id = request_integer(request, "run", UINT32_MAX);
    if (id >= view->runs.n) {
        answer_error(request, response, 404, "there is no such run");
        return NULL;
    }
    if (!view->runs.at[id]->result) {
        answer_error(request, response, 404, "there is nothing to see of this run yet");
        return NULL;
    }
    return view->runs.at[id];
}

/* ---- who answers what ---- */
/* Scripts, styles and data of our own only; a picture may also come from the page itself (exports). */
#define PAGE_POLICY                                                                                                    \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "               \
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"

static const struct {
    const char *method, *path;
    Answer *answer;
} routes[] = {
    { "GET", "api/state", answer_state },         { "GET", "api/changes", answer_changes },
    { "GET", "api/variables", answer_variables }, { "GET", "api/data", answer_data },
    { "GET", "api/events", answer_events },       { "GET", "api/values", answer_values },
    { "GET", "api/export.csv", answer_export },   { "GET", "api/statistics", answer_statistics },
    { "GET", "api/profile", answer_profile },     { "GET", "api/structure", answer_structure },
    { "GET", "api/diagram.svg", answer_diagram }, { "GET", "api/variable", answer_variable },
    { "GET", "api/source", answer_source },       { "GET", "api/blocks", answer_blocks },
    { "GET", "api/incidence", answer_incidence }, { "GET", "api/parameters", answer_parameters },
    { "GET", "api/names", answer_names },         { "POST", "api/run", answer_run },
    { "POST", "api/stop", answer_stop },
};

static void answer(void *context, HttpRequest *request, HttpResponse *response)
{
    View *view = context;
    const char *rest;
    const int status = guard_check(&view->guard, request, &rest);
    if (status) {
        answer_error(request, response, status, "this address is not for you");
        return;
    }
    for (uint32_t k = 0; k < n_page_files && strcmp(request->method, "GET") == 0; k++) {
        const PageFile *file = &page_files[k];
        if (strcmp(rest, file->name) == 0 || (!*rest && strcmp(file->name, "index.html") == 0)) {
            *response = (HttpResponse){
                .status = 200, .type = file->type, .headers = PAGE_POLICY, .body = file->bytes, .size = file->size
            };
            return;
        }
    }
    for (size_t k = 0; k < sizeof routes / sizeof *routes; k++) {
        if (strcmp(rest, routes[k].path) != 0)
            continue;
        if (strcmp(request->method, routes[k].method) == 0)
            routes[k].answer(view, request, response);
        else
            answer_error(request, response, 405, "this address wants %s", routes[k].method);
        return;
    }
    answer_error(request, response, 404, "there is nothing at this address");
}

static void idle(void *context)
{
    runs_watch(context);
}

/* ---- its life ---- */
/* A result may come from somebody else: the model it names is opened unasked only below the folder of the result. */
static bool is_beside(const char *file, const char *result)
{
    char model[PATH_MAX], folder[PATH_MAX];
    if (!realpath(file, model) || !realpath(result, folder))
        return false;
    char *slash = strrchr(folder, '/');
    slash[1] = 0;
    return strncmp(model, folder, strlen(folder)) == 0;
}

/* The model that a result names: where that file is there it is the likely one, and it is compiled as it is now. */
static void find_model(View *view)
{
    for (uint32_t k = 0; k < view->runs.n; k++) {
        const Run *run = view->runs.at[k];
        JsonRows rows = { 0 };
        if (run->result)
            json_rows(result_provenance(run->result), view->arena, &rows);
        const char *file = json_row(&rows, "file");
        if (file && access(file, R_OK) == 0 && is_beside(file, run->path)) {
            view->options.target = file;
            view->options.model = (CompileRequest){ .path = file, .profile = json_row(&rows, "settings.profile") };
            return;
        }
    }
}

LayoutStatus view_read_layout(ViewOptions *options, const char *path, Arena *arena)
{
    enum { LAYOUT_MOST = 1 << 20 };
    FILE *file = fopen(path, "r");
    if (!file)
        return LAYOUT_UNREADABLE;
    char *text = NEW_ARRAY(arena, char, LAYOUT_MOST + 1);
    const size_t n = fread(text, 1, LAYOUT_MOST + 1, file);
    fclose(file);
    if (n > LAYOUT_MOST || text[0] != '{' || !strstr(text, "\"koine-layout\""))
        return LAYOUT_OTHER;
    options->layout = text;
    return LAYOUT_GOOD;
}

View *view_create(const ViewOptions *options, Arena *arena, const char **error)
{
    View *view = NEW(arena, View);
    view->options = *options;
    view->arena = arena;
    if (!guard_create(&view->guard)) {
        *error = "the system gives no random numbers";
        return NULL;
    }
    int failure;
    const HttpHandler handler = { .context = view, .answer = answer, .idle = idle };
    view->server = http_listen(options->port, options->may_move, &handler, arena, &failure);
    if (!view->server) {
        *error = arena_format(arena,
                              failure == EADDRINUSE ? "port %u is in use; --port takes another, --port 0 any"
                                                    : "cannot listen on port %u: %s",
                              options->port, strerror(failure));
        return NULL;
    }
    view->guard.port = http_port(view->server);
    view->address = arena_format(arena, "http://127.0.0.1:%u/%s/", view->guard.port, view->guard.token);
    for (uint32_t k = 0; k < options->n_results; k++)
        runs_open(view, options->results[k]);
    if (!view->options.target)
        find_model(view);
    return view;
}

static void make_folder(View *view)
{
    const char *where = getenv("TMPDIR");
    char *folder = arena_format(view->arena, "%s/koine-view.XXXXXX", where && *where ? where : "/tmp");
    if (mkdtemp(folder))
        view->folder = folder;
    else
        view->folder_error =
            arena_format(view->arena, "cannot make a folder for the run in '%s': %s", folder, strerror(errno));
}

static const char *own_program(Arena *arena)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    return n > 0 && n < (ssize_t)sizeof path ? arena_text(arena, path, (size_t)n) : "koine";
}

void view_begin(View *view, const char *forwarder)
{
    const ViewOptions *options = &view->options;
    if (options->target)
        make_folder(view);
    view->starter =
        starter_create(&(StarterOptions){ .program = options->program ? options->program : own_program(view->arena),
                                          .target = options->target,
                                          .arguments = options->run_arguments,
                                          .folder = view->folder,
                                          .forwarder = forwarder },
                       view->arena);
    if (!view->starter && view->folder)
        view->folder_error = arena_format(view->arena, "no run can be started: %s", strerror(errno));
    if (options->is_walled)
        view_wall(view);
    if (options->target)
        model_begin(&view->model, &options->model, options->out_of_memory);
}

const char *view_address(const View *view)
{
    return view->address;
}

const char *view_result_error(const View *view, uint32_t result)
{
    return view->runs.at[result]->result ? NULL : view->runs.at[result]->message;
}

void view_serve(View *view, volatile const int *stop)
{
    http_serve(view->server, stop);
}

bool view_end(View *view)
{
    if (view->server) {
        http_close(view->server);
        runs_end(view);
    }
    view->server = NULL;
    return atomic_load_explicit(&view->model.state, memory_order_acquire) != MODEL_WORKING;
}

void view_destroy(View *view)
{
    view_end(view);
    model_end(&view->model);
}
