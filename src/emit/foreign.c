/* See foreign.h. */
#include "emit/foreign.h"
#include "base/text.h"

enum { MOST_DIMS = 32 };

/* The number of the element in the order of rows that the name means; false: it means none of this variable. */
static bool read_element(const KoineTables *tables, const KoineVariable *v, const char *name, uint32_t *element)
{
    uint32_t index[MOST_DIMS];
    *element = 0;
    if (v->n_dims == 0)
        return strcmp(v->name, name) == 0;
    if (text_read_element(name, strlen(name), v->name, false, index, MOST_DIMS) != v->n_dims)
        return false;
    for (uint32_t k = 0; k < v->n_dims; k++) {
        const uint32_t extent = tables->types.dims[v->first_dim + k];
        if (index[k] > extent)
            return false;
        *element = *element * extent + index[k] - 1;
    }
    return true;
}

ForeignPlace foreign_place(const KoineTables *tables, const char *name)
{
    for (uint32_t k = 0; k < tables->n_variables; k++) {
        ForeignPlace place = { .row = k };
        if (read_element(tables, &tables->variables[k], name, &place.element))
            return place;
    }
    return (ForeignPlace){ .row = KOINE_NO_ROW };
}

const char *foreign_name(const KoineTables *tables, ForeignPlace place, Arena *arena)
{
    const KoineVariable *v = &tables->variables[place.row];
    uint32_t index[MOST_DIMS], rest = place.element;
    if (v->n_dims == 0 || v->n_dims > MOST_DIMS)
        return v->name;
    for (uint32_t k = v->n_dims; k-- > 0;) {
        const uint32_t extent = tables->types.dims[v->first_dim + k];
        index[k] = rest % extent + 1;
        rest /= extent;
    }
    Text name = { .arena = arena };
    text_element(&name, v->name, strlen(v->name), v->n_dims, index);
    return name.at;
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
