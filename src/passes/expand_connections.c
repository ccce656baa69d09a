/* expand-connections: a causal connection from -> to becomes the equation to := from, or, if it converts units,
 * to := factor*from + offset; an input that stays unconnected keeps its start value. Two sources of one input are an
 * error that names both. */
#include "base/unit.h"
#include "passes/pipeline.h"

static const char *path_of(Compile *c, VarId v)
{
    return variable_path(c->model, v, c->scratch);
}

static bool fits(Compile *c, const Connection *k)
{
    const Variable *from = model_var(c->model, k->from), *to = model_var(c->model, k->to);
    if (type_equal(from->type, to->type))
        return true;
    diag_error(c->diag, DIAG_CONNECTED_TYPES, k->span, "'%s' and '%s' are connected but have different types",
               path_of(c, k->from), path_of(c, k->to));
    diag_note(c->diag, from->span, "'%s' is declared here", path_of(c, k->from));
    diag_note(c->diag, to->span, "'%s' is declared here", path_of(c, k->to));
    return false;
}

static bool unit_of(const Model *m, const Variable *v, Unit *unit)
{
    const Names *names = pool_names(m->pool);
    UnitFault fault;
    return unit_parse(names_of(names, v->unit), names_length(names, v->unit), unit, &fault) == UNIT_GOOD;
}

static Term carried(Model *m, const Connection *k)
{
    const Variable *from = model_var(m, k->from), *to = model_var(m, k->to);
    const Ref source = ref_now(k->from);
    Unit a, b;
    double factor, offset;
    if (!k->is_converting || from->type.kind != TYPE_REAL || from->type.rank > 0 || !unit_of(m, from, &a) ||
        !unit_of(m, to, &b) || !unit_has_same_dimension(&a, &b))
        return term_ref(m, source);
    unit_convert(&a, &b, &factor, &offset);
    const Expr *value = expr_leaf(m->pool, 0, from->type);
    if (factor != 1)
        value = expr_binary(m->pool, OP_MUL, expr_real(m->pool, factor), value);
    if (offset != 0)
        value = expr_binary(m->pool, OP_ADD, value, expr_real(m->pool, offset));
    return term_make(m, value, &source);
}

bool expand_connections(Compile *c)
{
    Model *m = c->model;
    uint32_t *source = NEW_ARRAY(c->scratch, uint32_t, m->variables.n);
    bool good = true;
    for (uint32_t k = 0; k < m->connections.n; k++) {
        const Connection connection = m->connections.at[k];
        if (!fits(c, &connection)) {
            good = false;
            continue;
        }
        const uint32_t before = source[connection.to.index];
        if (before) {
            diag_error(c->diag, DIAG_FAN_IN, connection.span, "'%s' has two sources", path_of(c, connection.to));
            diag_note(c->diag, m->connections.at[before - 1].span, "the first connection is here");
            good = false;
            continue;
        }
        source[connection.to.index] = k + 1;
        Variable *to = model_var(m, connection.to);
        to->definition = DEFINITION_NOW;
        const EqId e = model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_now(connection.to)),
                                          carried(m, &connection), connection.span);
        m->equations.at[e.index].owner = to->owner;
        m->equations.at[e.index].origin.made_by = "expand-connections";
    }
    return good;
}
