/* Writing down what reduce-index found: variables for derivatives that are unknowns, differentiated equations,
 * references and definitions as they are now. */
#include "base/bug.h"
#include "ir/derive.h"
#include "ir/simplify.h"
#include "passes/reduce_index.h"

Ref ref_of_order(const Reduction *r, uint32_t quantity, uint32_t order)
{
    REQUIRE(is_touched(r, quantity) && order <= r->p.highest[quantity]);
    return r->quantities.refs[r->quantities.first_ref[quantity] + order];
}

/* ---- variables ---- */
/* All quantities of differentiated equations, and what this pass needs to know of the variables it adds. */
static void list_touched(Reduction *r)
{
    Arena *scratch = r->c->scratch;
    uint32_t n = 0;
    r->quantities.first_ref = NEW_ARRAY(scratch, uint32_t, r->quantities.n + 1);
    for (uint32_t k = 0; k < r->quantities.n; k++)
        r->quantities.first_ref[k] = ID_NONE;
    for (uint32_t row = 0; row < r->rows.n; row++)
        for (uint32_t k = r->rows.incidence.start[row];
             r->p.differentiated[row] && k < r->rows.incidence.start[row + 1]; k++) {
            const uint32_t quantity = r->rows.incidence.index[k];
            if (is_touched(r, quantity))
                continue;
            r->quantities.first_ref[quantity] = n;
            n += r->p.highest[quantity] + 1;
        }
    r->quantities.refs = NEW_ARRAY(scratch, Ref, n + 1);
    const uint32_t before = r->model->variables.n;
    uint32_t *quantities = NEW_ARRAY(scratch, uint32_t, before + n + 1),
             *orders = NEW_ARRAY(scratch, uint32_t, before + n + 1);
    memcpy(quantities, r->chains.quantity, before * sizeof *quantities);
    memcpy(orders, r->chains.order, before * sizeof *orders);
    r->chains.quantity = quantities;
    r->chains.order = orders;
}

/* A variable for the derivative of `of`, called as derivatives are in results. */
static VarId add_derivative(Reduction *r, uint32_t quantity, uint32_t order, VarId of)
{
    Model *m = r->model;
    Names *names = pool_names(m->pool);
    const char *path = variable_path(m, of, r->c->scratch);
    const VarId made =
        model_add_variable(m, (InstanceId){ 0 }, names_text(names, arena_format(r->c->scratch, "der(%s)", path)),
                           REAL_TYPE, model_var(m, of)->span);
    Variable *v = model_var(m, made);
    v->definition = DEFINITION_NOW;
    v->variability = VARIABILITY_CONTINUOUS;
    v->is_protected = true;
    v->origin = of;
    r->chains.quantity[made.index] = quantity;
    r->chains.order[made.index] = order;
    return made;
}

static void add_link(Reduction *r, VarId state, VarId derivative)
{
    Model *m = r->model;
    const EqId e = model_add_equation(m, EQUATION_EXPLICIT, term_ref(m, ref_der(state)),
                                      term_ref(m, ref_now(derivative)), model_var(m, state)->span);
    m->equations.at[e.index].owner = model_var(m, state)->owner;
    m->equations.at[e.index].origin.made_by = "reduce-index";
}

static void place_quantity(Reduction *r, uint32_t quantity)
{
    Model *m = r->model;
    const uint32_t highest = r->p.highest[quantity];
    Ref *refs = r->quantities.refs + r->quantities.first_ref[quantity];
    for (uint32_t k = 0; k <= highest; k++) {
        const uint32_t own = variable_of_order(r, quantity, k);
        const bool is_integrated = is_state(r, quantity, k), follows_state = k && is_state(r, quantity, k - 1);
        if (own == ID_NONE && follows_state && !is_integrated && r->quantities.set[quantity] == ID_NONE) {
            refs[k] = ref_der(refs[k - 1].var);
            continue;
        }
        refs[k] = ref_now(own == ID_NONE ? add_derivative(r, quantity, k, refs[k - 1].var) : (VarId){ own });
        model_var(m, refs[k].var)->definition = is_integrated ? DEFINITION_DER : DEFINITION_NOW;
        if (own == ID_NONE && follows_state)
            add_link(r, refs[k - 1].var, refs[k].var);
        if (own != ID_NONE && !is_integrated && r->chains.follower[own] != ID_NONE)
            m->equations.at[r->chains.link[own]].kind = EQUATION_DROPPED;
    }
}

/* der(v) of a variable that is integrated no more is a variable of its own. */
static void replace_references(Reduction *r)
{
    Model *m = r->model;
    for (uint32_t k = 0; k < m->refs.n; k++) {
        uint32_t quantity, order;
        if (m->refs.at[k].kind == REF_DER && quantity_of(r, m->refs.at[k], &quantity, &order) &&
            is_touched(r, quantity) && !is_state(r, quantity, order - 1))
            m->refs.at[k] = ref_of_order(r, quantity, order);
    }
}

static bool check_assignments(Reduction *r)
{
    const Model *m = r->model;
    for (uint32_t k = 0; k < m->assignments.n; k++) {
        const Assignment *a = &m->assignments.at[k];
        const VarId var = term_refs(m, a->target)[a->target.shape->u.leaf].var;
        uint32_t quantity, order;
        if (!quantity_of(r, ref_now(var), &quantity, &order) || !is_touched(r, quantity) ||
            model_var(m, var)->definition == DEFINITION_DER)
            continue;
        diag_error(r->c->diag, DIAG_STATE_ASSIGNED, a->span,
                   "'%s' cannot be assigned at an event: its value follows from other states",
                   variable_path(m, var, r->c->scratch));
        diag_help(r->c->diag, "assign one of the states it depends on, or make it a state (select always)");
        return false;
    }
    return true;
}

/* ---- derivatives ---- */
typedef struct {
    Reduction *r;
    TermBuilder *builder;
    Ref culprit; /* what has no derivative, if the kind is not REF_TIME */
} Derivation;

static bool is_constant_between_events(const Model *m, Ref ref)
{
    if (ref.kind != REF_NOW)
        return ref.kind != REF_DER && ref.kind != REF_LAST;
    const Variable *v = model_var(m, ref.var);
    return v->definition == DEFINITION_BINDING || v->variability <= VARIABILITY_DISCRETE || v->type.kind != TYPE_REAL;
}

static const Expr *derivative_of(void *context, const Expr *leaf)
{
    Derivation *d = context;
    const Model *m = d->r->model;
    const Ref ref = d->builder->refs.at[leaf->u.leaf];
    uint32_t quantity, order;
    if (ref.kind == REF_TIME)
        return expr_real(m->pool, 1);
    if (is_constant_between_events(m, ref))
        return NULL;
    if (leaf->n_args == 0 && quantity_of(d->r, ref, &quantity, &order))
        return term_leaf(d->builder, ref_of_order(d->r, quantity, order + 1));
    d->culprit = ref;
    return NULL;
}

static void report_underivable(Reduction *r, const Equation *e, Ref culprit)
{
    const Model *m = r->model;
    Diag *diag = r->c->diag;
    if (culprit.kind == REF_TIME) {
        diag_error(
            diag, DIAG_NOT_DIFFERENTIABLE, e->origin.span,
            "this equation must be differentiated, because states depend on each other, but it has no derivative");
        diag_help(diag, "it calls a function that cannot be differentiated, or is too deep");
        return;
    }
    const Variable *v = model_var(m, culprit.var);
    const bool is_input = v->definition == DEFINITION_INPUT;
    diag_error(diag, DIAG_NOT_DIFFERENTIABLE, e->origin.span,
               "this equation must be differentiated, because states depend on each other, but the derivative of '%s' "
               "is not known",
               variable_path(m, culprit.var, r->c->scratch));
    diag_note(diag, v->span,
              is_input                              ? "it is an input"
              : v->definition == DEFINITION_FOREIGN ? "it is the output of a delay"
                                                    : "it is computed by what cannot be differentiated");
    diag_help(diag, is_input ? "let it pass through an integrator or a filter, or give it by an equation in time"
                             : "state the constraint without it");
}

static bool derive_side(Reduction *r, Term term, Term *derivative, Ref *culprit)
{
    TermBuilder builder = term_builder(r->model);
    Derivation d = { .r = r, .builder = &builder, .culprit = ref_time() };
    const Expr *shape = term_import(&builder, term);
    shape = expr_exact_time_derivative(r->model->pool, shape, derivative_of, &d);
    *culprit = d.culprit;
    if (!shape || d.culprit.kind != REF_TIME)
        return false;
    *derivative = term_finish(&builder, shape);
    return true;
}

/* ---- jumps ---- */
/* Contains what changes at events. */
static bool may_jump(const Model *m, Term term)
{
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(m, term)[k];
        if (ref.kind != REF_TIME && is_constant_between_events(m, ref) &&
            model_var(m, ref.var)->definition != DEFINITION_BINDING)
            return true;
    }
    return false;
}

/* The rate at which an equation jumps is 0 but for an instant: lhs' + rate = rhs'. */
static Term with_rate(Reduction *r, Term lhs, VarId rate)
{
    TermBuilder builder = term_builder(r->model);
    const Expr *shape = term_import(&builder, lhs);
    shape = expr_binary(r->model->pool, OP_ADD, shape, term_leaf(&builder, ref_now(rate)));
    return term_finish(&builder, shape);
}

static void add_jump(Reduction *r, const Equation *parent, bool is_last, Term *lhs)
{
    Model *m = r->model;
    Jump jump = { .lhs = parent->lhs, .rhs = parent->rhs, .rate = VAR_NONE, .origin = parent->origin };
    const bool is_entered = r->c->modes.is_mode; /* from a mode in which it need not hold */
    if (!is_entered && !may_jump(m, parent->lhs) && !may_jump(m, parent->rhs))
        return;
    if (is_last) {
        jump.rate = model_add_generated(m, "jump", m->jumps.n + 1, REAL_TYPE, parent->origin.span);
        model_var(m, jump.rate)->definition = DEFINITION_FOREIGN;
        model_var(m, jump.rate)->variability =
            VARIABILITY_CONTINUOUS; /* what depends on it alone is computed with the rest */
        *lhs = with_rate(r, *lhs, jump.rate);
    }
    vec_push(m->arena, &m->jumps, jump);
}

static bool derive_row(Reduction *r, uint32_t row)
{
    Model *m = r->model;
    uint32_t of = r->rows.equation[row];
    for (uint32_t k = 0; k < r->p.differentiated[row]; k++) {
        const Equation parent = m->equations.at[of];
        Term lhs, rhs;
        Ref culprit;
        if (!derive_side(r, parent.lhs, &lhs, &culprit) || !derive_side(r, parent.rhs, &rhs, &culprit)) {
            report_underivable(r, &parent, culprit);
            return false;
        }
        add_jump(r, &parent, k + 1 == r->p.differentiated[row], &lhs);
        const EqId made = model_add_equation(m, EQUATION_RESIDUAL, lhs, rhs, parent.origin.span);
        Equation *e = &m->equations.at[made.index];
        e->owner = parent.owner;
        e->when_valid = parent.when_valid;
        e->origin.made_by = "reduce-index";
        e->origin.parent = (EqId){ of };
        of = made.index;
        r->c->reduced.n_differentiated++; /* and one derivative has become an unknown for it */
    }
    return true;
}

/* An explicit equation that shall determine something else than its left side has no direction any more. */
static void open_rows(Reduction *r)
{
    Model *m = r->model;
    for (uint32_t row = 0; row < r->rows.n; row++) {
        Equation *e = &m->equations.at[r->rows.equation[row]];
        uint32_t quantity, order;
        if (e->kind != EQUATION_EXPLICIT || r->rows.is_rigid[row] ||
            !quantity_of(r, term_refs(m, e->lhs)[e->lhs.shape->u.leaf], &quantity, &order))
            continue;
        if (r->p.differentiated[row] || r->p.column_of_row[row] != quantity || order != r->p.highest[quantity])
            e->kind = EQUATION_RESIDUAL;
    }
}

/* ---- start values ---- */
static bool has_free_parameters(const Model *m)
{
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (m->variables.at[k].is_free)
            return true;
    return false;
}

/* A fixed start of what is no state any more holds as far as something unknown can follow it, a state with a free start
 * or a free parameter: an equation of the initial system, which match-equations leaves out if there is none. In a state
 * set the choice sees to it, unless parameters shall follow. */
static void add_start_equations(Reduction *r)
{
    Model *m = r->model;
    const bool has_free = has_free_parameters(m);
    bool is_free = has_free;
    VEC(uint32_t) fixed = { 0 };
    for (uint32_t k = 0; k < r->quantities.n; k++)
        for (uint32_t v = r->quantities.head[k]; is_touched(r, k) && v != ID_NONE; v = r->chains.follower[v]) {
            const Variable *row = &m->variables.at[v];
            is_free |= row->definition == DEFINITION_DER && !row->is_fixed;
            if (row->definition == DEFINITION_NOW && row->is_fixed && (has_free || r->quantities.set[k] == ID_NONE))
                vec_push(r->c->scratch, &fixed, v);
        }
    for (uint32_t k = 0; k < fixed.n && is_free; k++) {
        const VarId var = { fixed.at[k] };
        const EqId made = model_add_equation(m, EQUATION_RESIDUAL, term_ref(m, ref_now(var)), model_var(m, var)->start,
                                             model_var(m, var)->span);
        Equation *e = &m->equations.at[made.index];
        e->when_valid = VALID_INITIAL_ONLY;
        e->owner = model_var(m, var)->owner;
        e->origin.made_by = "reduce-index";
    }
}

bool write_reduced(Reduction *r)
{
    list_touched(r);
    if (copy_elements(r)) {
        r->is_again = true;
        return true;
    }
    open_rows(r);
    for (uint32_t k = 0; k < r->quantities.n; k++)
        if (is_touched(r, k))
            place_quantity(r, k);
    replace_references(r);
    write_state_sets(r);
    if (!check_assignments(r))
        return false;
    for (uint32_t row = 0; row < r->rows.n; row++)
        if (r->p.differentiated[row] && !derive_row(r, row))
            return false;
    add_start_equations(r);
    r->c->reduced.index = r->p.most + 1;
    return true;
}
