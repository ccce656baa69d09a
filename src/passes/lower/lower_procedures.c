/* lower-procedures: statements in order become assignments that hold at once.
 *
 * An algorithm, or the body of a transition that is a procedure, becomes a function: its inputs are what it reads of
 * the model, its outputs what it assigns. Each target is then what that function gives for it. Where the statements can
 * be followed one by one, that is written as an expression, so that comparisons are events and derivatives and
 * dependences are exact; else it is a call.
 *
 * A target begins with the value it has where no statement may have assigned it yet: in a transition that acts next its
 * present one, in one that acts now and in an algorithm the one before; a continuous one in an algorithm its start.
 * What a procedure that acts next has not assigned is not written, so another transition may.
 *
 * An array is handed over element by element: the function has a local array, which begins with its inputs and is
 * copied to its outputs wherever the statements end. */
#include "ir/inline.h"
#include "passes/lower/procedure.h"
#include "passes/lower/statements.h"

static bool fail(Procedure *p, Span span, const char *what)
{
    if (!p->has_failed)
        diag_error(p->c->diag, DIAG_NOT_YET, span, "%s cannot be executed yet", what);
    p->has_failed = true;
    return false;
}

/* ---- what is assigned and what is read ---- */
Target *procedure_target(Procedure *p, Ref ref)
{
    for (uint32_t k = 0; k < p->targets.n; k++)
        if (ref_equal(p->targets.at[k].ref, ref))
            return &p->targets.at[k];
    return NULL;
}

static void find_targets(Procedure *p, uint32_t first)
{
    const Model *m = p->model;
    for (uint32_t k = first; k; k = m->statements.at[k].next) {
        const Statement *s = &m->statements.at[k];
        if (s->kind == STATEMENT_ASSIGN) {
            const Ref ref = term_refs(m, s->target)[s->target.shape->u.leaf];
            if (!procedure_target(p, ref))
                vec_push(p->c->scratch, &p->targets, ((Target){ .ref = ref }));
            procedure_target(p, ref)->span = s->span;
        }
        find_targets(p, s->inner);
        find_targets(p, s->otherwise);
    }
}

static void read_term(Procedure *p, Term term)
{
    if (term_is_absent(term))
        return;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(p->model, term)[k];
        Target *target = procedure_target(p, ref);
        if (target) {
            target->is_open |= !target->is_set;
            continue;
        }
        bool is_known = false;
        for (uint32_t j = 0; j < p->reads.n && !is_known; j++)
            is_known = ref_equal(p->reads.at[j], ref);
        if (!is_known)
            vec_push(p->c->scratch, &p->reads, ref);
    }
}

static void read_sent(Procedure *p, const Action *a)
{
    for (uint32_t k = 0; k < a->n_args; k++)
        read_term(p, p->model->conditions.at[a->first_arg + k]);
}

static bool *save_set(Procedure *p)
{
    bool *saved = NEW_ARRAY(p->c->scratch, bool, p->targets.n + 1);
    for (uint32_t k = 0; k < p->targets.n; k++)
        saved[k] = p->targets.at[k].is_set;
    return saved;
}

static void leave(Procedure *p)
{
    for (uint32_t k = 0; k < p->targets.n; k++) {
        p->targets.at[k].is_missed |= !p->targets.at[k].is_set;
        p->targets.at[k].is_set = true; /* what follows is not reached */
    }
}

static void report_break(Procedure *p, Span span)
{
    diag_error(p->c->diag, DIAG_FUNCTION_BODY, span, "a break outside of a loop");
    diag_help(p->c->diag, "use return to leave the statements");
    p->has_failed = true;
}

static void follow(Procedure *p, uint32_t first);

/* The statements may be executed or not, or others instead of them. */
static void follow_ways(Procedure *p, uint32_t inner, uint32_t otherwise)
{
    const bool *before = save_set(p);
    follow(p, inner);
    const bool *after = save_set(p);
    for (uint32_t k = 0; k < p->targets.n; k++)
        p->targets.at[k].is_set = before[k];
    follow(p, otherwise);
    for (uint32_t k = 0; k < p->targets.n; k++)
        p->targets.at[k].is_set &= after[k];
}

static void follow(Procedure *p, uint32_t first)
{
    const Model *m = p->model;
    for (uint32_t k = first; k; k = m->statements.at[k].next) {
        const Statement *s = &m->statements.at[k];
        const Domain domain = m->domains.at[s->domain.index];
        read_term(p, s->value);
        read_term(p, s->message);
        if (s->kind == STATEMENT_SEND)
            read_sent(p, &m->actions.at[s->action - 1]);
        for (uint32_t j = 0; s->kind == STATEMENT_FOR && j < domain.n; j++) {
            const Iterator *i = &m->iterators.at[domain.first + j];
            read_term(p, i->lo);
            read_term(p, i->step);
            read_term(p, i->hi);
        }
        switch ((StatementKind)s->kind) {
        case STATEMENT_ASSIGN: /* an element of an array leaves the others open */
            for (uint32_t j = 0; j < s->target.shape->n_args; j++)
                read_term(p, (Term){ s->target.shape->args[j], s->target.first_ref });
            procedure_target(p, term_refs(m, s->target)[s->target.shape->u.leaf])->is_set |= !s->target.shape->n_args;
            break;
        case STATEMENT_RETURN: leave(p); break;
        case STATEMENT_BREAK:
            if (p->n_loops == 0)
                report_break(p, s->span);
            /* the end of the loop is reached without what follows, as if the loop were not entered */
            for (uint32_t j = 0; j < p->targets.n; j++)
                p->targets.at[j].is_set = true;
            break;
        case STATEMENT_IF: follow_ways(p, s->inner, s->otherwise); break;
        case STATEMENT_FOR:
        case STATEMENT_WHILE:
            p->n_loops++;
            follow_ways(p, s->inner, s->otherwise);
            p->n_loops--;
            break;
        case STATEMENT_TOGETHER: follow(p, s->inner); break;
        case STATEMENT_ASSERT:
        case STATEMENT_SEND: break;
        }
    }
}

/* ---- calls ---- */
/* Element k of a variable, from 0, or all of a scalar. */
static const Expr *element_leaf(Procedure *p, TermBuilder *builder, Ref ref, uint32_t k)
{
    const Model *m = p->model;
    const Expr *index[UINT8_MAX];
    if (!ref_type(m, ref).rank)
        return term_leaf(builder, ref);
    const Variable *v = model_var(m, ref.var);
    for (uint32_t j = v->type.rank; j-- > 0;) {
        const uint32_t extent = (uint32_t)m->dims.at[v->first_dim + j].extent;
        index[j] = expr_integer(m->pool, k % extent + 1);
        k /= extent;
    }
    return term_element(builder, ref, v->type.rank, index);
}

/* The value a target begins with. */
static const Expr *begin_of(Procedure *p, TermBuilder *builder, Ref target, uint32_t k)
{
    const Variable *v = model_var(p->model, target.var);
    if (p->is_next)
        return element_leaf(p, builder, target, k);
    if (!p->is_algorithm || v->variability != VARIABILITY_CONTINUOUS)
        return element_leaf(p, builder, ref_pre(target.var), k);
    const Expr *start = term_is_absent(v->start) ? expr_real(p->model->pool, 0) : term_import(builder, v->start);
    return expr_array_element(start, k);
}

static const Expr **arguments(Procedure *p, TermBuilder *builder)
{
    const Expr **args = NEW_ARRAY(p->c->scratch, const Expr *, p->made->n_inputs + 1u);
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->reads.n; k++)
        for (uint32_t j = 0; j < procedure_count(p->model, p->reads.at[k]); j++)
            args[n++] = element_leaf(p, builder, p->reads.at[k], j);
    for (uint32_t k = 0; k < p->n_levels; k++)
        args[n++] = expr_iterator(p->model->pool, k);
    for (uint32_t k = 0; k < p->targets.n; k++)
        for (uint32_t j = 0; p->targets.at[k].is_open && j < procedure_count(p->model, p->targets.at[k].ref); j++)
            args[n++] = begin_of(p, builder, p->targets.at[k].ref, j);
    return args;
}

static bool compares(const Expr *e)
{
    bool found = e->kind == EXPR_CALL && op_is_relation((Op)e->op) && !e->is_literal;
    for (uint32_t k = 0; k < e->n_args && !found; k++)
        found = compares(e->args[k]);
    return found;
}

/* An algorithm with comparisons that is called as a whole: nothing watches when they change. */
static bool has_comparison(const Model *body)
{
    for (uint32_t k = 1; k < body->statements.n; k++) {
        const Term value = body->statements.at[k].value;
        if (value.shape && compares(value.shape))
            return true;
    }
    return false;
}

/* What the function gives for its variable `output`, as an expression if that can be had. */
static Term value_of(Procedure *p, uint32_t output)
{
    TermBuilder builder = term_builder(p->model);
    const Expr **args = arguments(p, &builder);
    const uint32_t result = output - p->made->n_inputs;
    const Type type = p->made->body->variables.at[output].type;
    const Expr *value =
        function_expand(p->model->pool, p->made, result, args, p->is_algorithm && has_comparison(p->made->body));
    if (!value)
        value = expr_function(p->model->pool, p->made, result, type, p->made->n_inputs, args);
    return term_finish(&builder, value);
}

static Term place_of(Procedure *p, Ref target, uint32_t k)
{
    TermBuilder builder = term_builder(p->model);
    return term_finish(&builder, element_leaf(p, &builder, target, k));
}

static bool calls(const Expr *e, const Function *f)
{
    if (!e->has_call)
        return false;
    bool found = e->kind == EXPR_FUNCTION && e->u.function == f;
    for (uint32_t k = 0; k < e->n_args && !found; k++)
        found = calls(e->args[k], f);
    return found;
}

/* Elements go one by one, and a function has so many inputs and outputs only. */
static void check_sizes(Procedure *p, Span span)
{
    enum { MOST_INPUTS = 4000, MOST_OUTPUTS = 4000 };
    uint32_t n_inputs = p->n_levels, n_outputs = 0;
    for (uint32_t k = 0; k < p->reads.n + p->targets.n && !p->has_failed; k++) {
        const Target *target = k < p->reads.n ? NULL : &p->targets.at[k - p->reads.n];
        const uint32_t n = procedure_count(p->model, target ? target->ref : p->reads.at[k]);
        n_inputs += !target || target->is_open ? n : 0;
        n_outputs += target ? (p->is_next && target->is_missed ? 2 * n : n) : 0;
        if (n == 0)
            fail(p, span, "a procedure with an array without elements, or with more than 4000,");
        else if (n_inputs > MOST_INPUTS || n_outputs > MOST_OUTPUTS)
            fail(p, span, "a procedure that reads or assigns so many elements of arrays");
    }
    uint64_t n_sent = 0;
    for (uint32_t k = 0; k < p->sent.n; k++)
        n_sent += (uint64_t)p->sent.at[k].n * (p->model->actions.at[p->sent.at[k].action].n_args + 1);
    if (!p->has_failed && n_outputs + n_sent > MOST_OUTPUTS) {
        fail(p, span, "a procedure that can send so many messages");
        diag_help(p->c->diag, "in loops these are as many as the channel holds, and one: give it a smaller capacity");
    }
}

/* Makes the function; false: it cannot be had. */
static bool make_function(Procedure *p, NameId name, uint32_t body, Span span)
{
    find_targets(p, body);
    procedure_find_sends(p, body);
    follow(p, body);
    leave(p);
    for (uint32_t k = 0; k < p->targets.n; k++)
        p->targets.at[k].is_open |= p->targets.at[k].is_missed;
    check_sizes(p, span);
    if (p->has_failed)
        return false;
    p->made = model_add_function(p->model, name, span);
    procedure_make(p, body);
    p->has_failed |= !function_lower_arrays(p->c, p->made);
    return !p->has_failed;
}

/* A function that nothing calls is not listed. */
static void end_function(Procedure *p, bool is_called)
{
    if (!is_called)
        p->model->functions.n--;
}

/* ---- algorithms ---- */
static bool add_equation(Procedure *p, const Equation *e, uint32_t number, const Target *target, uint32_t k)
{
    Model *m = p->model;
    const Term value = value_of(p, target->output + k);
    const bool is_initial = e->when_valid == VALID_INITIAL_ONLY;
    const EqId made = model_add_equation(m, is_initial ? EQUATION_RESIDUAL : EQUATION_EXPLICIT,
                                         place_of(p, target->ref, k), value, target->span);
    Equation *row = &m->equations.at[made.index];
    row->when_valid = e->when_valid;
    row->region = e->region;
    row->branch = e->branch;
    row->domain = e->domain;
    row->owner = e->owner;
    row->origin.made_by = "lower-procedures";
    row->origin.parent.index = number;
    return calls(value.shape, p->made);
}

static void lower_algorithm(Compile *c, uint32_t number)
{
    Model *m = c->model;
    const Equation e = m->equations.at[number];
    Procedure p = { .c = c, .model = m, .n_levels = m->domains.at[e.domain.index].n, .is_algorithm = true };
    if (!make_function(&p, e.name, e.body, e.origin.span))
        return;
    bool is_called = false;
    for (uint32_t k = 0; k < p.targets.n; k++)
        for (uint32_t j = 0; j < procedure_count(m, p.targets.at[k].ref); j++)
            is_called |= add_equation(&p, &e, number, &p.targets.at[k], j);
    m->equations.at[number].kind = EQUATION_DROPPED;
    m->equations.at[number].body = 0;
    end_function(&p, is_called);
    if (is_called && e.when_valid != VALID_INITIAL_ONLY && has_comparison(p.made->body)) {
        diag_warning(c->diag, DIAG_SILENT_COMPARISON, e.origin.span,
                     "comparisons in this algorithm make no events: it cannot be written as expressions");
        diag_help(c->diag, "take them out of loops, into equations of Boolean variables");
    }
}

/* ---- transitions ---- */
static bool add_assignment_of(Procedure *p, const Target *target, uint32_t k)
{
    Model *m = p->model;
    Assignment a = { .target = place_of(p, target->ref, k), .span = target->span };
    a.value = value_of(p, target->output + k);
    if (target->flag != ID_NONE)
        a.guard = value_of(p, target->flag + k);
    vec_push(m->arena, &m->assignments, a);
    return calls(a.value.shape, p->made) || (a.guard.shape && calls(a.guard.shape, p->made));
}

/* The messages, then the actions behind the statements; whether the function is called for them. */
static bool add_actions(Procedure *p, Transition *t)
{
    Model *m = p->model;
    const uint32_t first = m->actions.n;
    bool is_called = false;
    for (uint32_t k = 0; k < p->sent.n; k++)
        for (uint32_t j = 0; j < p->sent.at[k].n; j++) {
            Action a = m->actions.at[p->sent.at[k].action];
            Term *values = NEW_ARRAY(p->c->scratch, Term, a.n_args + 1);
            a.guard = value_of(p, p->sent.at[k].flags + j);
            is_called |= calls(a.guard.shape, p->made);
            if (a.guard.shape->kind == EXPR_BOOLEAN && a.guard.shape->u.integer)
                a.guard = TERM_NONE;
            for (uint32_t i = 0; i < a.n_args; i++) {
                values[i] = value_of(p, p->sent.at[k].values + j * a.n_args + i);
                is_called |= calls(values[i].shape, p->made);
            }
            a.first_arg = model_add_terms(m, a.n_args, values);
            vec_push(m->arena, &m->actions, a);
        }
    for (uint32_t k = 0; p->sent.n && k < t->n_actions; k++) {
        const Action a = m->actions.at[t->first_action + k];
        vec_push(m->arena, &m->actions, a);
    }
    if (p->sent.n) {
        t->n_actions = m->actions.n - first;
        t->first_action = first;
    }
    return is_called;
}

static void lower_transition(Compile *c, uint32_t number)
{
    Model *m = c->model;
    Transition t = m->transitions.at[number];
    Procedure p = {
        .c = c, .model = m, .n_levels = m->domains.at[t.domain.index].n, .is_next = t.effect == EFFECT_NEXT
    };
    if (!make_function(&p, t.name, t.body, t.origin.span))
        return;
    bool is_called = false;
    t.first_assignment = m->assignments.n;
    for (uint32_t k = 0; k < p.targets.n; k++)
        for (uint32_t j = 0; j < procedure_count(m, p.targets.at[k].ref); j++)
            is_called |= add_assignment_of(&p, &p.targets.at[k], j);
    t.n_assignments = m->assignments.n - t.first_assignment;
    is_called |= add_actions(&p, &t);
    t.form = FORM_SET;
    t.body = 0;
    m->transitions.at[number] = t;
    end_function(&p, is_called);
}

bool lower_procedures(Compile *c)
{
    const uint32_t n = c->model->equations.n;
    for (uint32_t k = 0; k < n; k++) {
        if (c->model->equations.at[k].kind == EQUATION_ALGORITHM)
            lower_algorithm(c, k);
        /* at the start an assignment is one equation among others */
        Equation *e = &c->model->equations.at[k];
        if (e->when_valid == VALID_INITIAL_ONLY && e->kind == EQUATION_EXPLICIT)
            e->kind = EQUATION_RESIDUAL;
    }
    for (uint32_t k = 0; k < c->model->transitions.n; k++)
        if (c->model->transitions.at[k].form == FORM_PROCEDURE)
            lower_transition(c, k);
    return diag_errors(c->diag) == 0;
}
