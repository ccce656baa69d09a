/* Variables and their values: see koine.h. */
#include "api/api.h"
#include "experiment/set.h"
#include "formats/select.h"
#include <math.h>

bool koine_variable(const KoineProject *project, uint32_t k, KoineVariableInfo *info)
{
    static const char *const types[] = { "real", "integer", "boolean", "enumeration", "string" };
    static const char *const variabilities[] = { "constant", "structural", "parameter", "discrete", "continuous" };
    static const char *const causalities[] = { "local", "input", "output", "parameter" };
    if (!project->kind || k >= project->kind->tables->n_variables)
        return false;
    const KoineTables *tables = project->kind->tables;
    const KoineVariable *v = &tables->variables[k];
    const bool has_labels = v->type == KOINE_ENUMERATION;
    *info = (KoineVariableInfo){ .name = v->name,
                                 .unit = v->unit ? v->unit : "",
                                 .comment = v->comment ? v->comment : "",
                                 .type = types[v->type],
                                 .variability = variabilities[v->variability],
                                 .causality = causalities[v->causality],
                                 .count = v->count,
                                 .n_extents = v->n_dims,
                                 .extents = v->n_dims ? tables->types.dims + v->first_dim : NULL,
                                 .labels = has_labels ? tables->types.enumerations[v->enumeration].values : NULL,
                                 .n_labels = has_labels ? tables->types.enumerations[v->enumeration].n : 0,
                                 .is_settable = v->flags & KOINE_VARIABLE_SETTABLE,
                                 .is_state = v->state >= 0,
                                 .is_hidden = v->flags & KOINE_VARIABLE_HIDDEN };
    return true;
}

int64_t koine_find(const KoineProject *project, const char *name)
{
    const KoineTables *tables = project->kind ? project->kind->tables : NULL;
    for (uint32_t k = 0; tables && k < tables->n_variables; k++)
        if (strcmp(tables->variables[k].name, name) == 0)
            return k;
    return -1;
}

/* The variable and elements that `name` means. False: there is none. */
static bool find_elements(const KoineTables *tables, const char *name, Column *first, uint32_t *n, Arena *arena)
{
    Text text = { .arena = arena };
    for (uint32_t row = 0; row < tables->n_variables; row++)
        if (strcmp(tables->variables[row].name, name) == 0) {
            *first = (Column){ .variable = row };
            *n = tables->variables[row].count;
            return true;
        }
    if (!strpbrk(name, "[("))
        return false;
    *n = 1;
    for (uint32_t row = 0; row < tables->n_variables; row++)
        for (uint32_t k = 0; k < tables->variables[row].count; k++) {
            *first = (Column){ .variable = row, .element = k };
            text.n = 0;
            column_name(tables, first, &text);
            if (strcmp(text.at, name) == 0)
                return true;
        }
    return false;
}

static double value_in(const unsigned char *block, const KoineVariable *variable, uint64_t offset, uint32_t element)
{
    KoineSlot slot;
    if (offset == KOINE_NO_OFFSET || variable->type == KOINE_STRING) /* a text is no number */
        return NAN;
    memcpy(&slot, block + offset + sizeof slot * (uint64_t)element, sizeof slot);
    return slot.i == KOINE_NOT_GIVEN ? NAN : column_value(variable, slot);
}

int64_t koine_get(const KoineProject *project, const char *name, double *values, uint32_t most)
{
    const ApiRun *run = &project->run;
    Column first;
    uint32_t n;
    if (!project->kind)
        return -1;
    const KoineTables *tables = project->kind->tables;
    Arena *scratch = arena_create_like(project->arena);
    const bool is_found = find_elements(tables, name, &first, &n, scratch);
    arena_destroy(scratch);
    if (!is_found)
        return -1;
    const KoineVariable *v = &tables->variables[first.variable];
    const KoineModel *model = run->run ? run_model(run->run) : run->last.block ? &run->last : NULL;
    for (uint32_t k = 0; k < n && k < most; k++)
        values[k] = model ? value_in(model->block, v, v->now, first.element + k)
                          : value_in(project->idle->block, v, v->set, first.element + k);
    return n;
}

/* Of the last run: the texts of Strings before this one come first. */
static const char *kept_text(const ApiRun *run, const KoineTables *tables, Column column)
{
    uint32_t at = column.element;
    for (uint32_t k = 0; k < column.variable; k++)
        at += tables->variables[k].type == KOINE_STRING ? tables->variables[k].count : 0;
    return run->texts[at];
}

const char *koine_get_text(const KoineProject *project, const char *name, uint32_t element)
{
    const ApiRun *run = &project->run;
    Column first;
    uint32_t n = 0;
    if (!project->kind)
        return NULL;
    const KoineTables *tables = project->kind->tables;
    Arena *scratch = arena_create_like(project->arena);
    const bool is_found = find_elements(tables, name, &first, &n, scratch);
    arena_destroy(scratch);
    if (!is_found || element >= n || tables->variables[first.variable].type != KOINE_STRING)
        return NULL;
    const KoineVariable *v = &tables->variables[first.variable];
    first.element += element;
    if (!run->run && run->last.block)
        return kept_text(run, tables, first);
    /* The cast is for `get`, which may note that the block has moved. */
    KoineModel *model = run->run ? (KoineModel *)(uintptr_t)run_model(run->run) : project->idle;
    const uint64_t offset = run->run ? v->now : v->set;
    KoineSlot slot;
    size_t size;
    if (offset == KOINE_NO_OFFSET)
        return NULL;
    memcpy(&slot, model->block + offset + first.element * sizeof slot, sizeof slot);
    return slot.i == KOINE_NOT_GIVEN ? NULL : model->kind->texts.get(model, slot, &size);
}

static bool take(KoineProject *project, const Setting *setting)
{
    Arena *scratch = arena_create_like(project->arena);
    Diag *diag = diag_create(project->c->arena, project->c->sources);
    const bool is_good = set_values(project->idle, SET_START, setting, 1, scratch, diag);
    project->latest = diag;
    project_tell_error(project, diag);
    arena_destroy(scratch);
    return is_good;
}

bool koine_set(KoineProject *project, const char *name, const char *value)
{
    const Setting setting = { .name = arena_text(project->arena, name, strlen(name)),
                              .value = arena_text(project->arena, value, strlen(value)),
                              .span = SPAN_NONE };
    project->message[0] = '\0';
    if (!project->kind)
        return false;
    if (project->run.run) {
        const bool is_set = experiment_set(project->run.run, &setting, 1);
        project->latest = project->run.diag;
        project_tell_error(project, project->run.diag);
        return is_set;
    }
    if (!take(project, &setting))
        return false;
    for (uint32_t k = 0; k < project->settings.n; k++)
        if (strcmp(project->settings.at[k].name, name) == 0) {
            project->settings.at[k] = setting;
            return true;
        }
    vec_push(project->arena, &project->settings, setting);
    return true;
}
