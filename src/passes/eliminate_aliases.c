/* eliminate-aliases: variables that an equation v = w or v = -w makes equal share one place.
 *
 * A class of equal variables has at most one anchor: a state, a NEXT variable, an input, a parameter, a discrete
 * variable whose earlier value is read or that a transition sets now (its start value counts). It represents the class,
 * else the canonically first variable does. Every reference is rewritten; the equation is dropped. */
#include "base/bug.h"
#include "graph/sets.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/walk.h"
#include "passes/pipeline.h"
#include "passes/roles.h"

typedef struct {
    Compile *c;
    uint32_t *parent; /* sets of variables, see graph/sets.h */
    bool *negated;    /* relative to parent */
    Simplifier *simplifier;
    bool *has_place;              /* inputs and amounts of delays, ports of foreign components: places of their own */
    bool *is_remembered, *is_set; /* discrete and pre(v) is read; set now by a transition */
} Classes;

/* Elements of split arrays keep their places side by side. */
static bool is_anchor(const Classes *k, uint32_t index)
{
    const Model *m = k->c->model;
    const Variable *v = &m->variables.at[index];
    if (variable_is_split(m, (VarId){ index }) || variable_is_element(m, (VarId){ index }))
        return true;
    return (v->definition != DEFINITION_NOW && v->definition != DEFINITION_NONE) || k->has_place[index] ||
           k->is_remembered[index] || k->is_set[index];
}

static void note_memories(Classes *k)
{
    const Model *m = k->c->model;
    for (uint32_t j = 0; j < m->refs.n; j++) {
        const Ref ref = m->refs.at[j];
        if (ref.kind == REF_PRE && model_var(m, ref.var)->variability == VARIABILITY_DISCRETE)
            k->is_remembered[ref.var.index] = true;
    }
    for (uint32_t j = 0; j < m->transitions.n; j++) {
        const Transition *t = &m->transitions.at[j];
        for (uint32_t i = 0; t->effect == EFFECT_NOW && i < t->n_assignments; i++) {
            const Term target = m->assignments.at[t->first_assignment + i].target;
            k->is_set[term_refs(m, target)[target.shape->u.leaf].var.index] = true;
        }
    }
}

/* x = u can be the equation that samples a moving u at events: u keeps a place of its own. */
static bool is_sampling(const Classes *k, VarId v, VarId w)
{
    const Model *m = k->c->model;
    const bool is_moving = model_var(m, v)->variability == VARIABILITY_CONTINUOUS ||
                           model_var(m, w)->variability == VARIABILITY_CONTINUOUS;
    return is_moving &&
           ((k->is_remembered[v.index] && !k->is_set[v.index]) || (k->is_remembered[w.index] && !k->is_set[w.index]));
}

/* lhs = rhs is v = w or v = -w; both scalar or whole arrays of equal size. */
static bool is_alias(const Model *m, const Equation *e, VarId *v, VarId *w, bool *negated)
{
    if ((e->kind != EQUATION_EXPLICIT && e->kind != EQUATION_RESIDUAL) || e->region.index != ID_NONE ||
        e->domain.index || e->when_valid != VALID_ALWAYS)
        return false;
    const Expr *left = e->lhs.shape, *right = e->rhs.shape;
    *negated = right->kind == EXPR_CALL && right->op == OP_NEG;
    if (*negated)
        right = right->args[0];
    if (left->kind != EXPR_LEAF || right->kind != EXPR_LEAF || left->n_args || right->n_args ||
        !type_equal(left->type, right->type))
        return false;
    const Ref a = term_refs(m, e->lhs)[0], b = term_refs(m, e->rhs)[0];
    if (a.kind != REF_NOW || b.kind != REF_NOW)
        return false;
    *v = a.var;
    *w = b.var;
    return true;
}

static bool same_dims(const Model *m, VarId a, VarId b)
{
    const Variable *x = model_var(m, a), *y = model_var(m, b);
    for (uint32_t k = 0; k < x->type.rank; k++)
        if (m->dims.at[x->first_dim + k].extent != m->dims.at[y->first_dim + k].extent)
            return false;
    return true;
}

/* Joins the classes of v and w; false when the equation must stay. */
static bool join(Classes *k, VarId v, VarId w, bool negated, const Equation *e)
{
    const Model *m = k->c->model;
    bool sign_v, sign_w;
    uint32_t a = sets_signed_root(k->parent, k->negated, v.index, &sign_v),
             b = sets_signed_root(k->parent, k->negated, w.index, &sign_w);
    if (a == b) {
        const bool is_floating = are_flows(k->c, (Ref[]){ ref_now(v), ref_now(w) }, 2);
        diag_error(k->c->diag, DIAG_ALIAS_RING, e->origin.span,
                   is_floating ? "'%s' and '%s' are balanced twice: what is connected here hangs on nothing else"
                               : "'%s' and '%s' are defined only by each other",
                   variable_path(m, v, k->c->scratch), variable_path(m, w, k->c->scratch));
        diag_help(k->c->diag, is_floating ? "potentials have a value only against a reference: connect one of these "
                                            "nodes to it, in a circuit to a Ground"
                                          : "one of them needs an equation of its own");
        return false;
    }
    const bool anchor_a = is_anchor(k, a), anchor_b = is_anchor(k, b);
    if (anchor_a && anchor_b)
        return false;
    if (anchor_b || (!anchor_a && b < a)) {
        const uint32_t t = a;
        a = b;
        b = t;
    }
    k->parent[b] = a;
    k->negated[b] = sign_v ^ sign_w ^ negated;
    return true;
}

/* What is assigned to, by an equation, a transition or a delay, is a place: redirect_targets does equations, the others
 * are anchors. */
static bool is_read(const Model *m, const TermPlace *place)
{
    if (place->list == LIST_EQUATIONS && place->role == TERM_LEFT)
        return m->equations.at[place->index].kind == EQUATION_RESIDUAL;
    return place->role != TERM_TARGET;
}

static Term rewrite(void *context, Term term, const TermPlace *place)
{
    Classes *k = context;
    Model *m = k->c->model;
    const uint32_t n = term.shape->n_leaves;
    if (n == 0 || !is_read(m, place))
        return term;
    bool any = false, any_negated = false;
    for (uint32_t j = 0; j < n && !any_negated; j++) {
        const Ref ref = m->refs.at[term.first_ref + j];
        if (ref.kind > REF_LAST || var_is_none(ref.var))
            continue;
        bool sign;
        const uint32_t root = sets_signed_root(k->parent, k->negated, ref.var.index, &sign);
        any |= root != ref.var.index;
        any_negated |= sign;
    }
    if (!any)
        return term;
    Ref *refs = NEW_ARRAY(m->arena, Ref, n);
    const Expr **from = NEW_ARRAY(k->c->scratch, const Expr *, n), **to = NEW_ARRAY(k->c->scratch, const Expr *, n);
    uint32_t n_negated = 0;
    for (uint32_t j = 0; j < n; j++) {
        refs[j] = m->refs.at[term.first_ref + j];
        if (refs[j].kind > REF_LAST || var_is_none(refs[j].var))
            continue;
        bool sign;
        const Type type = ref_type(m, refs[j]);
        refs[j].var.index = sets_signed_root(k->parent, k->negated, refs[j].var.index, &sign);
        if (sign) {
            REQUIRE(type.rank == 0);
            from[n_negated] = expr_leaf(m->pool, j, type);
            to[n_negated++] = expr_unary(m->pool, OP_NEG, expr_leaf(m->pool, j, type));
        }
    }
    const Expr *shape = term.shape;
    if (n_negated)
        shape = simplifier_run(k->simplifier, expr_substitute(m->pool, shape, n_negated, from, to));
    const Term result = term_make(m, shape, refs);
    if (result.shape->n_leaves == n)
        return result;
    return term_make(m, simplifier_run(k->simplifier, result.shape), term_refs(m, result)); /* x - x and the like */
}

/* The first iteration begins at the value that its own variable was given. */
static void keep_preset(Classes *k, const Equation *e, uint32_t root, uint32_t alias, bool negated)
{
    Model *m = k->c->model;
    if (e->kind != EQUATION_ITERATION || term_is_absent(m->variables.at[alias].start))
        return;
    TermBuilder builder = term_builder(m);
    const Expr *start = term_import(&builder, m->variables.at[alias].start);
    if (negated)
        start = simplifier_run(k->simplifier, expr_unary(m->pool, OP_NEG, start));
    m->variables.at[root].start = term_finish(&builder, start);
}

/* A directed equation keeps its left side as it is written; when its variable became an alias, the equation
 * defines the representative. */
static void redirect_targets(Classes *k)
{
    Model *m = k->c->model;
    for (uint32_t j = 0; j < m->equations.n; j++) {
        Equation *e = &m->equations.at[j];
        if (!equation_is_directed(e))
            continue;
        Ref target = term_refs(m, e->lhs)[0];
        bool sign;
        const uint32_t root = sets_signed_root(k->parent, k->negated, target.var.index, &sign);
        if (root == target.var.index)
            continue;
        if (sign) {
            TermBuilder builder = term_builder(m);
            e->rhs = term_finish(
                &builder, simplifier_run(k->simplifier, expr_unary(m->pool, OP_NEG, term_import(&builder, e->rhs))));
        }
        keep_preset(k, e, root, target.var.index, sign);
        target.var.index = root;
        e->lhs = term_make(m, e->lhs.shape, &target);
    }
}

/* The one that stays has the strongest wish for a state. */
static void keep_wish(Variable *root, const Variable *alias)
{
    if (alias->select > root->select)
        root->select = alias->select;
}

/* The usual size of any of them is that of the one that stays. */
static void keep_nominal(Variable *root, const Variable *alias)
{
    if (term_is_absent(root->nominal))
        root->nominal = alias->nominal;
}

/* A fixed start of any of them is the start of the one that stays. */
static void keep_fixed_start(Classes *k, Variable *root, const Variable *alias, bool negated)
{
    Model *m = k->c->model;
    if (!alias->is_fixed || root->is_fixed || root->definition != DEFINITION_DER || term_is_absent(alias->start))
        return;
    TermBuilder builder = term_builder(m);
    const Expr *start = term_import(&builder, alias->start);
    if (negated)
        start = simplifier_run(k->simplifier, expr_unary(m->pool, OP_NEG, start));
    root->start = term_finish(&builder, start);
    root->is_fixed = true;
}

/* A guess for any of them is one for the one that stays; those from outside come first. */
static void keep_guess(Classes *k, Variable *root, const Variable *alias, bool negated)
{
    Model *m = k->c->model;
    if (root->definition != DEFINITION_NOW || root->type.kind != TYPE_REAL || term_is_absent(alias->start) ||
        !expr_is_literal(alias->start.shape) || (alias->is_guessed ? root->is_guessed : !term_is_absent(root->start)))
        return;
    const Expr *start = alias->start.shape;
    if (negated)
        start = simplifier_run(k->simplifier, expr_unary(m->pool, OP_NEG, start));
    root->start = term_make(m, start, NULL);
    root->is_guessed |= alias->is_guessed;
}

/* A class of NOW variables changes as the one does that has the equation; without an explicit one as the liveliest. */
static void settle_variability(Classes *k)
{
    Model *m = k->c->model;
    uint8_t *explicitly = NEW_ARRAY(k->c->scratch, uint8_t, m->variables.n + 1); /* 1 + variability */
    bool sign;
    for (uint32_t j = 0; j < m->equations.n; j++) {
        const Equation *e = &m->equations.at[j];
        if (!equation_is_directed(e) || term_refs(m, e->lhs)[0].kind != REF_NOW)
            continue;
        const uint32_t v = term_refs(m, e->lhs)[0].var.index, root = sets_signed_root(k->parent, k->negated, v, &sign);
        const uint8_t own = (uint8_t)(m->variables.at[v].variability + 1);
        if (own > explicitly[root])
            explicitly[root] = own;
    }
    for (uint32_t j = 0; j < m->variables.n; j++)
        if (k->is_set[j])
            explicitly[sets_signed_root(k->parent, k->negated, j, &sign)] =
                (uint8_t)(m->variables.at[j].variability + 1);
    for (uint32_t j = 0; j < m->variables.n; j++) {
        Variable *root = &m->variables.at[sets_signed_root(k->parent, k->negated, j, &sign)];
        if (root->definition != DEFINITION_NOW || root == &m->variables.at[j])
            continue;
        const uint8_t by_equation = explicitly[root - m->variables.at];
        if (by_equation)
            root->variability = (uint8_t)(by_equation - 1);
        else if (m->variables.at[j].variability > root->variability)
            root->variability = m->variables.at[j].variability;
    }
}

static void note_delays(Classes *k)
{
    const Model *m = k->c->model;
    for (uint32_t j = 0; j < m->delays.n; j++) {
        const Delay *d = &m->delays.at[j];
        const Term terms[] = { d->input, d->amount, d->position, d->forward };
        for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
            if (!term_is_absent(terms[i]))
                k->has_place[term_refs(m, terms[i])[0].var.index] = true;
        if (!var_is_none(d->points))
            k->has_place[d->points.index] = k->has_place[d->values.index] = true;
    }
}

bool eliminate_aliases(Compile *c)
{
    Model *m = c->model;
    Classes k = { c,
                  sets_create(c->scratch, m->variables.n),
                  NEW_ARRAY(c->scratch, bool, m->variables.n),
                  simplifier_create(m->pool, c->scratch),
                  NEW_ARRAY(c->scratch, bool, m->variables.n),
                  NEW_ARRAY(c->scratch, bool, m->variables.n),
                  NEW_ARRAY(c->scratch, bool, m->variables.n) };
    note_memories(&k);
    note_delays(&k);
    for (uint32_t j = 0; j < m->foreign_ports.n; j++)
        k.has_place[m->foreign_ports.at[j].var.index] = true;
    for (uint32_t j = 0; j < m->equations.n; j++) {
        Equation *e = &m->equations.at[j];
        VarId v, w;
        bool negated;
        if (is_alias(m, e, &v, &w, &negated) && !(negated && model_var(m, v)->type.rank) && same_dims(m, v, w) &&
            !is_sampling(&k, v, w) && !(e->kind == EQUATION_EXPLICIT && is_anchor(&k, v.index)) &&
            join(&k, v, w, negated, e))
            e->kind = EQUATION_DROPPED;
    }
    for (uint32_t j = 0; j < m->variables.n; j++) {
        bool sign;
        const uint32_t root = sets_signed_root(k.parent, k.negated, j, &sign);
        if (root == j)
            continue;
        m->variables.at[j].alias.index = root;
        m->variables.at[j].is_negated = sign;
        keep_fixed_start(&k, &m->variables.at[root], &m->variables.at[j], sign);
        keep_guess(&k, &m->variables.at[root], &m->variables.at[j], sign);
        keep_wish(&m->variables.at[root], &m->variables.at[j]);
        keep_nominal(&m->variables.at[root], &m->variables.at[j]);
    }
    settle_variability(&k);
    model_rewrite_terms(m, ELEMENTS_ALL, rewrite, &k);
    redirect_targets(&k);
    return diag_errors(c->diag) == 0;
}
