/* expand-connections: a causal connection from -> to becomes the equation to := from, or, if it converts units,
 * to := factor*from + offset; an input that stays unconnected keeps its start value. Two sources of one input are an
 * error that names both.
 *
 * Ports that are connected are a set: their potentials are equal, their flows add up to zero. A port has two sides: in
 * its owner's surroundings, and inside of its owner, where its flow counts the other way. A flow without connection in
 * its owner's surroundings is zero. An empty place of a port takes what the others leave: no sum is formed. Arrays are
 * connected as a whole: their potentials by one equation, their flows by one over the range of the elements. */
#include "base/unit.h"
#include "passes/connect/connect.h"

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

static bool expand_ports(Compile *c)
{
    Connecting k = { .c = c, .m = c->model };
    if (!connect_points(&k) || !connect_roots(&k))
        return false;
    connect_sets(&k);
    const bool is_good = connect_members(&k) && connect_streams(&k);
    connect_check(&k);
    return is_good;
}

bool expand_connections(Compile *c)
{
    Model *m = c->model;
    uint32_t *source = NEW_ARRAY(c->scratch, uint32_t, m->variables.n);
    bool good = true;
    for (uint32_t k = 0; k < m->connections.n; k++) {
        const Connection connection = m->connections.at[k];
        if (connection.is_acausal)
            continue;
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
    return good && (m->ports.n == 0 || expand_ports(c));
}
