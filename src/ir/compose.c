/* Composing: all rows of a Model are appended to another one, their ids and terms moved by what it had already. */
#include "ir/compose.h"
#include "base/bug.h"
#include "ir/fields.h"

typedef struct {
    uint32_t ids[LIST_COUNT]; /* per list: by how much its ids grow */
    uint32_t refs;
    uint32_t group;
} Shift;

static Shift shift_behind(const Model *into)
{
    Shift by = { .refs = into->refs.n, .group = into->n_groups };
    for (ModelList list = 0; list < LIST_COUNT; list++)
        by.ids[list] = model_n_rows(into, list) - model_lists[list].n_shared;
    return by;
}

static void append_refs(Model *into, const Model *part, const Shift *by)
{
    vec_reserve(into->arena, &into->refs, into->refs.n + part->refs.n);
    into->ref_kinds |= part->ref_kinds;
    for (uint32_t k = 0; k < part->refs.n; k++) {
        Ref ref = part->refs.at[k];
        if (ref_is_of_variable(ref)) /* as nearly all are */
            ref.var.index += by->ids[LIST_VARIABLES];
        else if (ref.kind == REF_FIRED)
            ref.var.index += by->ids[LIST_TRANSITIONS];
        else if (ref.kind == REF_TICK || ref.kind == REF_INTERVAL)
            ref.var.index += by->ids[LIST_CLOCKS];
        else if (ref.kind == REF_IS_ROOT || ref.kind == REF_ROOTED)
            ref.var.index += by->ids[LIST_PORTS];
        into->refs.at[into->refs.n++] = ref;
    }
}

static void shift_terms(const Field *field, unsigned char *rows, uint32_t n, size_t size, uint32_t by)
{
    unsigned char *at = rows + field->at;
    for (uint32_t k = 0; k < n; k++, at += size) {
        Term *term = (void *)at;
        if (term->shape && term->shape->n_leaves)
            term->first_ref += by;
    }
}

static void shift_ids(const Field *field, unsigned char *rows, uint32_t n, size_t size, uint32_t by)
{
    const uint32_t none = field->kind == FIELD_ID ? ID_NONE : 0;
    unsigned char *at = rows + field->at;
    if (by == 0)
        return;
    for (uint32_t k = 0; k < n; k++, at += size) {
        uint32_t *id = (void *)at;
        if (*id != none || field->kind == FIELD_RANGE)
            *id += by;
    }
}

/* Where the rows begin now. */
static unsigned char *append_rows(Model *into, ModelList list, const unsigned char *from, uint32_t n)
{
    const size_t size = model_lists[list].row_size;
    Rows rows = model_rows(into, list);
    if (rows.capacity < rows.n + n)
        rows.at = vec_grow(into->arena, rows.at, &rows.capacity, rows.n + n, size);
    unsigned char *to = rows.at + rows.n * size;
    memcpy(to, from, n * size);
    rows.n += n;
    memcpy((unsigned char *)into + model_lists[list].at, &rows, sizeof rows);
    return to;
}

static void append_list(Model *into, const Model *part, ModelList list, const Shift *by)
{
    const ListFields *l = &model_lists[list];
    const uint32_t n = model_n_rows(part, list) - l->n_shared;
    if (n == 0)
        return;
    unsigned char *to = append_rows(into, list, model_rows(part, list).at + (size_t)l->n_shared * l->row_size, n);
    for (const Field *f = l->fields; f < l->fields + l->n_fields; f++)
        if (f->kind == FIELD_TERM)
            shift_terms(f, to, n, l->row_size, by->refs);
        else
            shift_ids(f, to, n, l->row_size, by->ids[f->is]);
}

/* What the table of fields does not say of them. */
static void shift_transitions(Model *into, const Shift *by)
{
    for (uint32_t k = by->ids[LIST_TRANSITIONS]; k < into->transitions.n; k++) {
        Transition *t = &into->transitions.at[k];
        t->group += t->group ? by->group : 0;
        if (t->trigger == TRIGGER_TICK)
            t->object += by->ids[LIST_CLOCKS];
        if (t->trigger == TRIGGER_MESSAGE)
            t->object += by->ids[LIST_CHANNELS];
    }
}

/* Instances of a class share its functions: each is listed once. */
static void list_function(Model *into, Function *function)
{
    for (uint32_t k = 0; k < into->functions.n; k++)
        if (into->functions.at[k] == function)
            return;
    vec_push(into->arena, &into->functions, function);
}

Model *model_copy(const Model *part)
{
    Model *copy = model_create(part->pool, part->sources, part->name, part->language, part->span);
    copy->instances.n = 0; /* the top is one of those that come */
    const Shift none = { .refs = 0 };
    append_refs(copy, part, &none);
    for (ModelList list = 0; list < LIST_COUNT; list++)
        append_list(copy, part, list, &none);
    copy->n_groups = part->n_groups;
    copy->time_unit = part->time_unit;
    for (uint32_t k = 0; k < part->functions.n; k++)
        vec_push(copy->arena, &copy->functions, part->functions.at[k]);
    return copy;
}

InstanceId model_compose(Model *into, InstanceId into_owner, NameId name, const Model *part, Span span,
                         uint32_t *first_var)
{
    REQUIRE(into->pool == part->pool && into != part);
    REQUIRE(part->relations.n == 0 && part->steps.n == 0 &&
            part->state_sets.n == 0); /* models are composed before the passes */
    const Shift by = shift_behind(into);
    append_refs(into, part, &by);
    for (ModelList list = 0; list < LIST_COUNT; list++)
        append_list(into, part, list, &by);
    shift_transitions(into, &by);
    into->n_groups += part->n_groups;
    for (uint32_t k = 0; k < part->functions.n; k++)
        list_function(into, part->functions.at[k]);
    /* the top of the part becomes the new instance; the others keep their parents */
    const InstanceId instance = { by.ids[LIST_INSTANCES] };
    Instance *top = &into->instances.at[instance.index];
    top->parent = into_owner;
    top->name = name;
    top->span = span;
    *first_var = by.ids[LIST_VARIABLES];
    return instance;
}
