/* See foreign.h. */
#include "emit/foreign.h"
#include <stdlib.h>

/* The number of the element in the order of rows, of indices that stand in brackets; false: there is none. */
static bool read_indices(const KoineTables *tables, const KoineVariable *v, const char *text, uint32_t *element)
{
    *element = 0;
    if (!*text)
        return v->n_dims == 0;
    for (uint32_t k = 0; k < v->n_dims; k++) {
        char *end;
        const uint32_t extent = tables->types.dims[v->first_dim + k];
        const unsigned long index = strtoul(text + 1, &end, 10);
        if (*text != (k ? ',' : '[') || end == text + 1 || index == 0 || index > extent)
            return false;
        *element = *element * extent + (uint32_t)index - 1;
        text = end;
    }
    return v->n_dims && strcmp(text, "]") == 0;
}

ForeignPlace foreign_place(const KoineTables *tables, const char *name)
{
    for (uint32_t k = 0; k < tables->n_variables; k++) {
        const KoineVariable *v = &tables->variables[k];
        const size_t n = strlen(v->name);
        ForeignPlace place = { .row = k };
        if (strcmp(v->name, name) == 0 && v->n_dims == 0)
            return place;
        if (strncmp(v->name, name, n) == 0 && name[n] == '[' && read_indices(tables, v, name + n, &place.element))
            return place;
    }
    return (ForeignPlace){ .row = KOINE_NO_ROW };
}

const char *foreign_name(const KoineTables *tables, ForeignPlace place, Arena *arena)
{
    enum { MOST_DIMS = 32 };
    const KoineVariable *v = &tables->variables[place.row];
    uint32_t index[MOST_DIMS], rest = place.element;
    if (v->n_dims == 0 || v->n_dims > MOST_DIMS)
        return v->name;
    for (uint32_t k = v->n_dims; k-- > 0;) {
        const uint32_t extent = tables->types.dims[v->first_dim + k];
        index[k] = rest % extent + 1;
        rest /= extent;
    }
    const char *text = v->name;
    for (uint32_t k = 0; k < v->n_dims; k++)
        text = arena_format(arena, "%s%c%u", text, k ? ',' : '[', index[k]);
    return arena_format(arena, "%s]", text);
}

ForeignPlace foreign_state(const KoineTables *tables, uint32_t state)
{
    const uint32_t row = tables->state_variable[state];
    return (ForeignPlace){ row, state - (uint32_t)tables->variables[row].state };
}

const char *foreign_port_name(const Model *model, const ForeignPort *port)
{
    const Names *names = pool_names(model->pool);
    return names_of(names, name_is_empty(port->name) ? model_var(model, port->var)->name : port->name);
}

const char *foreign_path(const Model *model, const Foreign *foreign, Arena *arena)
{
    const char *file = names_of(pool_names(model->pool), foreign->file);
    if (*file == '/' || foreign->span.source == SOURCE_NONE)
        return file;
    const char *at = sources_get(model->sources, foreign->span.source)->path, *slash = strrchr(at, '/');
    return arena_format(arena, "%s/%s", slash ? arena_text(arena, at, (size_t)(slash - at)) : ".", file);
}
