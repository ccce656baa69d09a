/* Loops around connections and initial values: each point gives a row of its own, with numbers as indices. */
#include "lang/simplex/check.h"
#include "lang/simplex/compose.h"

enum { MOST_ROWS = 4000000 };

typedef struct {
    Scope *scope;
    const Component *component;
} Writer;

static bool settle_index(const Writer *writer, const Loops *loops, uint32_t n, Node *const *index, int64_t **number)
{
    Scope *scope = writer->scope;
    *number = n ? NEW_ARRAY(scope->arena, int64_t, n) : NULL;
    for (uint32_t k = 0; k < n; k++)
        if (!mdl_static_value(scope, writer->component, loops, index[k], &(*number)[k])) {
            REPORT(scope, DIAG_MDL_RANGE_NOT_CONSTANT, index[k]->span, "this index must be known before the run");
            diag_help(scope->diag, "use numbers, DIMENSIONs, loop variables and + - *");
            return false;
        }
    return true;
}

static bool settle_path(const Writer *writer, const Loops *loops, Path *path)
{
    return settle_index(writer, loops, path->n, path->index, &path->number) &&
           settle_index(writer, loops, path->n_elements, path->element, &path->element_number);
}

/* A distribution whose arguments are numbers here: the call gets them, for this point of the loops. */
static bool settle_draw(const Writer *writer, const Loops *loops, Value *value)
{
    Scope *scope = writer->scope;
    Node *call = NEW(scope->arena, Node);
    *call = *value->node;
    call->u.call.args = NEW_ARRAY(scope->arena, Node *, call->u.call.n);
    for (uint32_t k = 0; k < call->u.call.n; k++) {
        Node *arg = NEW(scope->arena, Node);
        *arg = *value->node->u.call.args[k];
        if (!mdl_static_number(scope, writer->component, loops, arg, &arg->u.number))
            return false;
        arg->kind = NODE_NUMBER;
        call->u.call.args[k] = arg;
    }
    value->node = call;
    return true;
}

/* An expression becomes the number it is here; a name that is none stays one: a value of a set. */
static bool settle_value(const Writer *writer, const Loops *loops, Value *value)
{
    Scope *scope = writer->scope;
    if (value->node && mdl_static_number(scope, writer->component, loops, value->node, &value->number)) {
        value->kind = VALUE_NUMBER;
        return true;
    }
    if (value->kind != VALUE_EXPRESSION)
        return true;
    if (mdl_is_draw(scope->names, value->node) && settle_draw(writer, loops, value))
        return true;
    REPORT(scope, DIAG_MDL_INITIAL_FORM, value->span, "this value must be known before the run");
    diag_help(scope->diag, "use numbers, DIMENSIONs, loop variables, + - * / and standard functions; or one "
                           "distribution of such arguments");
    return false;
}

/* Calls `write` at every point of the loops from `level` on. */
static bool at_points(const Writer *writer, const Loops *loops, uint32_t level, bool (*write)(const Writer *, void *),
                      void *row)
{
    if (level == loops->n)
        return write(writer, row);
    Loops around = *loops;
    around.n = level;
    Loop *loop = loops->at[level];
    if (!mdl_check_range(writer->scope, writer->component, &around, loop))
        return false;
    bool is_good = true;
    for (bool more = mdl_loop_begin(writer->scope, writer->component, &around, loop); more && is_good;
         more = mdl_loop_next(loop))
        is_good = at_points(writer, loops, level + 1, write, row);
    loop->is_known = false;
    return is_good;
}

typedef struct {
    Link link;
    Links *to;
} LinkRow;

static bool too_many(const Writer *writer, Span span)
{
    REPORT(writer->scope, DIAG_MDL_TOO_MANY, span, "these loops make more than %d rows", MOST_ROWS);
    diag_help(writer->scope->diag, "shorten their ranges");
    return false;
}

static bool write_link(const Writer *writer, void *context)
{
    LinkRow *row = context;
    Link link = row->link;
    if (row->to->n >= MOST_ROWS)
        return too_many(writer, link.to.span);
    if (!settle_path(writer, &link.loops, &link.from) || !settle_path(writer, &link.loops, &link.to))
        return false;
    link.is_repeated &= link.loops.n == 0; /* in a loop the row before is another one */
    vec_push(writer->scope->arena, row->to, link);
    return true;
}

typedef struct {
    Initial initial;
    Initials *to;
} InitialRow;

static bool write_initial(const Writer *writer, void *context)
{
    InitialRow *row = context;
    Initial initial = row->initial;
    if (row->to->n >= MOST_ROWS)
        return too_many(writer, initial.target.span);
    if (!settle_path(writer, &initial.loops, &initial.target) || !settle_value(writer, &initial.loops, &initial.value))
        return false;
    vec_push(writer->scope->arena, row->to, initial);
    return true;
}

bool mdl_write_out_links(Scope *scope, Component *component)
{
    const Writer writer = { scope, component };
    Links inputs = { 0 }, connections = { 0 };
    Initials initials = { 0 };
    bool is_good = true;
    for (uint32_t k = 0; k < component->inputs.n; k++) {
        LinkRow row = { component->inputs.at[k], &inputs };
        is_good &= at_points(&writer, &row.link.loops, 0, write_link, &row);
    }
    for (uint32_t k = 0; k < component->connections.n; k++) {
        LinkRow row = { component->connections.at[k], &connections };
        is_good &= at_points(&writer, &row.link.loops, 0, write_link, &row);
    }
    for (uint32_t k = 0; k < component->initials.n; k++) {
        InitialRow row = { component->initials.at[k], &initials };
        is_good &= at_points(&writer, &row.initial.loops, 0, write_initial, &row);
    }
    const Loops none = { 0 };
    for (uint32_t k = 0; k < component->equivalences.n; k++)
        is_good &= settle_path(&writer, &none, &component->equivalences.at[k].source);
    component->inputs = inputs;
    component->connections = connections;
    component->initials = initials;
    return is_good;
}
