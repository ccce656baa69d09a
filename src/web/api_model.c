/* Answers about the model: components, the equation behind a variable, blocks, parameters. */
#include "explain/explore.h"
#include "web/session.h"
#include <math.h>

/* False: answered; the model is being compiled, there is none, or it is wrong. */
static bool has_model(View *view, HttpRequest *request, HttpResponse *response)
{
    switch ((ModelState)atomic_load_explicit(&view->model.state, memory_order_acquire)) {
    case MODEL_GOOD: return true;
    case MODEL_WORKING: answer_error(request, response, 202, "the model is being compiled"); return false;
    case MODEL_NONE: answer_error(request, response, 404, "no model was opened"); return false;
    case MODEL_FAILED: break;
    }
    Text text = { .arena = request->arena };
    text_add(&text, "{ \"error\": \"the model has mistakes\", \"diagnostics\": ");
    text_add(&text, diag_json(view->model.compilation->diag, request->arena));
    text_add(&text, " }\n");
    answer_text(response, JSON_TYPE, &text);
    response->status = 409;
    return false;
}

static void answer_explored(View *view, HttpRequest *request, HttpResponse *response, ExploreKind kind,
                            ExploreRequest what)
{
    if (!has_model(view, request, response))
        return;
    Text text = { .arena = request->arena };
    if (explore(view->model.compilation->schedule, kind, &what, &text))
        answer_text(response, JSON_TYPE, &text);
    else
        answer_error(request, response, 404, "the model has no variable of this name");
}

void answer_structure(View *view, HttpRequest *request, HttpResponse *response)
{
    answer_explored(view, request, response, EXPLORE_COMPONENTS, (ExploreRequest){ 0 });
}

void answer_variable(View *view, HttpRequest *request, HttpResponse *response)
{
    const char *name = http_field(request, "name");
    answer_explored(view, request, response, EXPLORE_VARIABLE, (ExploreRequest){ .name = name ? name : "" });
}

void answer_blocks(View *view, HttpRequest *request, HttpResponse *response)
{
    enum { BLOCKS_MOST = 500 };
    answer_explored(view, request, response, EXPLORE_BLOCKS,
                    (ExploreRequest){ .first = request_integer(request, "first", 0), .most = BLOCKS_MOST });
}

void answer_incidence(View *view, HttpRequest *request, HttpResponse *response)
{
    enum { CELLS_MOST = 400 };
    answer_explored(view, request, response, EXPLORE_INCIDENCE, (ExploreRequest){ .most = CELLS_MOST });
}

void answer_diagram(View *view, HttpRequest *request, HttpResponse *response)
{
    const uint32_t depth = request_integer(request, "depth", 1);
    if (!has_model(view, request, response))
        return;
    if (depth < DIAGRAM_DEPTHS && view->model.diagrams[depth].n)
        answer_text(response, "image/svg+xml; charset=utf-8", &view->model.diagrams[depth]);
    else
        answer_error(request, response, 413, "the picture would have too many boxes");
}

/* The text of a file of the model, by number: what was read for it, and nothing else. */
void answer_source(View *view, HttpRequest *request, HttpResponse *response)
{
    if (!has_model(view, request, response))
        return;
    const Sources *sources = view->model.compilation->sources;
    const uint32_t id = request_integer(request, "id", UINT32_MAX);
    if (id >= sources_count(sources)) {
        answer_error(request, response, 404, "there is no such file");
        return;
    }
    const Source *source = sources_get(sources, id);
    const Text text = { .at = (char *)source->text, .n = source->size }; /* only read */
    answer_text(response, "text/plain; charset=utf-8", &text);
}

/* The value of an element as `--set` takes it. */
static void add_element(const ModelView *model, const KoineVariable *v, uint64_t element, Text *to)
{
    const KoineTables *tables = model->kind->tables;
    KoineSlot slot;
    memcpy(&slot, model->instance->block + v->set + sizeof slot * element, sizeof slot);
    if (v->type == KOINE_REAL)
        text_real(to, slot.r);
    else if (v->type == KOINE_BOOLEAN)
        text_add(to, slot.i ? "true" : "false");
    else if (v->type == KOINE_ENUMERATION && slot.i >= 1 &&
             slot.i <= (int64_t)tables->types.enumerations[v->enumeration].n)
        text_add(to, tables->types.enumerations[v->enumeration].values[slot.i - 1]);
    else
        text_integer(to, slot.i);
}

/* {1, 2} along dimension `d`; `first` is the number of what stands before. */
static void add_elements(const ModelView *model, const KoineVariable *v, uint32_t d, uint64_t first, Text *to)
{
    if (d == v->n_dims) {
        add_element(model, v, first, to);
        return;
    }
    const uint32_t extent = model->kind->tables->types.dims[v->first_dim + d];
    text_char(to, '{');
    for (uint32_t k = 0; k < extent; k++) {
        text_add(to, k ? ", " : "");
        add_elements(model, v, d + 1, first * extent + k, to);
    }
    text_char(to, '}');
}

/* What the model has unless it is set: a number, a text, an array in braces; null: not known, or too long to edit. */
static void add_value(const ModelView *model, const KoineVariable *v, Arena *arena, Text *to)
{
    enum { ELEMENTS_MOST = 200 };
    if (!model->instance || v->set == KOINE_NO_OFFSET || v->count > ELEMENTS_MOST) {
        text_add(to, "null");
        return;
    }
    int64_t first;
    memcpy(&first, model->instance->block + v->set, sizeof first);
    if (first == KOINE_NOT_GIVEN) { /* it is computed */
        text_add(to, "null");
        return;
    }
    Text value = { .arena = arena };
    add_elements(model, v, 0, 0, &value);
    const bool is_number = value.at[strspn(value.at, "-+.e0123456789")] == 0; /* not inf */
    if (v->n_dims == 0 && (v->type == KOINE_REAL || v->type == KOINE_INTEGER))
        text_add(to, is_number ? value.at : "null");
    else
        text_json(to, value.at);
}

static void add_extents(const KoineTables *tables, const KoineVariable *v, Text *to)
{
    text_char(to, '[');
    for (uint32_t d = 0; d < v->n_dims; d++)
        text_format(to, "%s%u", d ? ", " : "", tables->types.dims[v->first_dim + d]);
    text_char(to, ']');
}

static const char *type_word(uint8_t type)
{
    static const char *const words[] = { "Real", "Integer", "Boolean", "Enumeration", "String" };
    return type < sizeof words / sizeof *words ? words[type] : "";
}

/* { "model", "parameters": [{ "name", "value", "unit", "comment", "type", "kind": "parameter" | "start", "file",
 * "line", "extents", "origin": "model" | "experiment" }], "experiment": its file or null, "settings" } */
void answer_parameters(View *view, HttpRequest *request, HttpResponse *response)
{
    const unsigned closed = KOINE_VARIABLE_ALIAS | KOINE_VARIABLE_HIDDEN | KOINE_VARIABLE_DERIVATIVE;
    if (!has_model(view, request, response))
        return;
    const KoineTables *tables = view->model.kind->tables;
    Text text = { .arena = request->arena };
    text_add(&text, "{ \"model\": ");
    text_json(&text, tables->name);
    const Experiment experiment = settings_in_force(view, request->arena);
    text_add(&text, ", \"experiment\": ");
    const char *path = experiment_in_force(view, request->arena);
    if (path)
        text_json(&text, path);
    else
        text_add(&text, "null");
    text_add(&text, ", \"settings\": ");
    add_settings(&experiment, &text);
    text_add(&text, ", \"parameters\": [");
    bool is_first = true;
    for (uint32_t k = 0; k < tables->n_variables; k++) {
        const KoineVariable *v = &tables->variables[k];
        if (!(v->flags & KOINE_VARIABLE_SETTABLE) || v->flags & closed || v->type == KOINE_STRING)
            continue;
        text_add(&text, is_first ? "{ \"name\": " : ",\n{ \"name\": ");
        is_first = false;
        text_json(&text, v->name);
        bool is_part;
        const char *set = setting_of(&experiment, v->name, &is_part);
        text_add(&text, ", \"value\": ");
        if (set)
            text_json(&text, set);
        else if (is_part)
            text_add(&text, "null");
        else
            add_value(&view->model, v, request->arena, &text);
        text_format(&text, ", \"origin\": \"%s\"", set || is_part ? "experiment" : "model");
        text_add(&text, ", \"unit\": ");
        text_json(&text, v->unit ? v->unit : "");
        text_add(&text, ", \"comment\": ");
        text_json(&text, v->comment ? v->comment : "");
        text_format(&text, ", \"type\": \"%s\", \"kind\": \"%s\", \"extents\": ", type_word(v->type),
                    v->variability <= KOINE_VARIABILITY_PARAMETER ? "parameter" : "start");
        add_extents(tables, v, &text);
        text_format(&text, ", \"line\": %u, \"file\": ", v->place.line);
        text_json(&text, v->place.line && v->place.source < tables->text.n_sources
                             ? tables->text.sources[v->place.source]
                             : "");
        text_add(&text, " }");
    }
    text_add(&text, "] }\n");
    answer_text(response, JSON_TYPE, &text);
}

/* { "names": [...], "units": [...], "comments": [...] } of all variables, for results that do not tell */
void answer_names(View *view, HttpRequest *request, HttpResponse *response)
{
    if (!has_model(view, request, response))
        return;
    const KoineTables *tables = view->model.kind->tables;
    Text text = { .arena = request->arena };
    const char *const keys[] = { "{ \"names\": [", "],\n\"units\": [", "],\n\"comments\": [" };
    for (uint32_t part = 0; part < 3; part++) {
        bool is_first = true;
        text_add(&text, keys[part]);
        for (uint32_t k = 0; k < tables->n_variables; k++) {
            const KoineVariable *v = &tables->variables[k];
            if (v->flags & KOINE_VARIABLE_HIDDEN)
                continue;
            text_add(&text, is_first ? "" : ",");
            is_first = false;
            const char *value = part == 0 ? v->name : part == 1 ? v->unit : v->comment;
            text_json(&text, value ? value : "");
        }
    }
    text_add(&text, "] }\n");
    answer_text(response, JSON_TYPE, &text);
}
