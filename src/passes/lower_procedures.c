/* lower-procedures: statements in order become assignments that hold at once.
 *
 * An algorithm, or the body of a transition that is a procedure, becomes a function: its inputs are what it reads of
 * the model, its outputs what it assigns. Each target is then what that function gives for it. Where the statements can
 * be followed one by one, that is written as an expression, so that comparisons are events and derivatives and
 * dependences are exact; else it is a call.
 *
 * A target begins with the value it has where no statement may have assigned it yet: in a transition that acts next its
 * present one, in one that acts now and in an algorithm the one before; a continuous one in an algorithm its start.
 * What a procedure that acts next has not assigned is not written, so another transition may. */
#include "ir/inline.h"
#include "ir/memo.h"
#include "passes/pipeline.h"

typedef struct {
    Ref ref;
    uint32_t field; /* variable of the function; of a target the output */
} Field;

typedef struct {
    Ref ref;        /* REF_NOW of the variable */
    Span span;      /* of its last assignment */
    bool is_open;   /* it may be read, or left, before it is assigned: it begins with a value from outside */
    bool is_missed; /* it may be left unassigned */
    bool is_set;    /* on all ways that lead to the statement at work */
} Target;

typedef struct {
    Compile *c;
    Model *model;
    const char *what;  /* for messages */
    uint32_t n_levels; /* loop variables of the equation or transition */
    bool is_algorithm, is_next;
    Function *made;
    VEC(Target) targets;
    VEC(Ref) reads;    /* all but reads of targets */
    VEC(Field) fields; /* inputs in the order of `reads`, loop variables, begins of open targets */
    uint32_t first_level, first_begin, first_output, first_flag;
    bool has_failed;
} Lowering;

static bool fail(Lowering *l, Span span, const char *what)
{
    if (!l->has_failed)
        diag_error(l->c->diag, DIAG_NOT_YET, span, "%s cannot be executed yet", what);
    l->has_failed = true;
    return false;
}

/* ---- what is assigned and what is read ---- */
static Target *target_of(Lowering *l, Ref ref)
{
    for (uint32_t k = 0; k < l->targets.n; k++)
        if (ref_equal(l->targets.at[k].ref, ref))
            return &l->targets.at[k];
    return NULL;
}

static void find_targets(Lowering *l, uint32_t first)
{
    const Model *m = l->model;
    for (uint32_t k = first; k; k = m->statements.at[k].next) {
        const Statement *s = &m->statements.at[k];
        if (s->kind == STATEMENT_ASSIGN) {
            const Ref ref = term_refs(m, s->target)[s->target.shape->u.leaf];
            if (s->target.shape->n_args || model_var(m, ref.var)->type.rank)
                fail(l, s->span, "an array in a procedure");
            if (!target_of(l, ref))
                vec_push(l->c->scratch, &l->targets, ((Target){ .ref = ref }));
            target_of(l, ref)->span = s->span;
        }
        find_targets(l, s->inner);
        find_targets(l, s->otherwise);
    }
}

static void read_term(Lowering *l, Term term, Span span)
{
    if (term_is_absent(term))
        return;
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(l->model, term)[k];
        Target *target = target_of(l, ref);
        if (target) {
            target->is_open |= !target->is_set;
            continue;
        }
        if (ref_type(l->model, ref).rank)
            fail(l, span, "an array in a procedure");
        bool is_known = false;
        for (uint32_t j = 0; j < l->reads.n && !is_known; j++)
            is_known = ref_equal(l->reads.at[j], ref);
        if (!is_known)
            vec_push(l->c->scratch, &l->reads, ref);
    }
}

static bool *save_set(Lowering *l)
{
    bool *saved = NEW_ARRAY(l->c->scratch, bool, l->targets.n + 1);
    for (uint32_t k = 0; k < l->targets.n; k++)
        saved[k] = l->targets.at[k].is_set;
    return saved;
}

static void leave(Lowering *l)
{
    for (uint32_t k = 0; k < l->targets.n; k++) {
        l->targets.at[k].is_missed |= !l->targets.at[k].is_set;
        l->targets.at[k].is_set = true; /* what follows is not reached */
    }
}

static void follow(Lowering *l, uint32_t first);

/* The statements may be executed or not, or others instead of them. */
static void follow_ways(Lowering *l, uint32_t inner, uint32_t otherwise)
{
    const bool *before = save_set(l);
    follow(l, inner);
    const bool *after = save_set(l);
    for (uint32_t k = 0; k < l->targets.n; k++)
        l->targets.at[k].is_set = before[k];
    follow(l, otherwise);
    for (uint32_t k = 0; k < l->targets.n; k++)
        l->targets.at[k].is_set &= after[k];
}

static void follow(Lowering *l, uint32_t first)
{
    const Model *m = l->model;
    for (uint32_t k = first; k; k = m->statements.at[k].next) {
        const Statement *s = &m->statements.at[k];
        const Domain domain = m->domains.at[s->domain.index];
        read_term(l, s->value, s->span);
        for (uint32_t j = 0; s->kind == STATEMENT_FOR && j < domain.n; j++) {
            const Iterator *i = &m->iterators.at[domain.first + j];
            read_term(l, i->lo, s->span);
            read_term(l, i->step, s->span);
            read_term(l, i->hi, s->span);
        }
        switch ((StatementKind)s->kind) {
        case STATEMENT_ASSIGN: target_of(l, term_refs(m, s->target)[s->target.shape->u.leaf])->is_set = true; break;
        case STATEMENT_RETURN: leave(l); break;
        case STATEMENT_BREAK: /* the end of the loop is reached without what follows, as if the loop were not entered */
            for (uint32_t j = 0; j < l->targets.n; j++)
                l->targets.at[j].is_set = true;
            break;
        case STATEMENT_IF:
        case STATEMENT_FOR:
        case STATEMENT_WHILE: follow_ways(l, s->inner, s->otherwise); break;
        case STATEMENT_ASSERT: break;
        }
    }
}

/* ---- the function ---- */
static uint32_t add_field(Lowering *l, const char *name, Type type)
{
    Model *body = l->made->body;
    const NameId id = names_text(pool_names(body->pool), name);
    return model_add_variable(body, (InstanceId){ 0 }, id, type, l->made->span).index;
}

static const char *field_name(const Lowering *l, Ref ref)
{
    static const char *const formats[] = { [REF_NOW] = "%s",
                                           [REF_PRE] = "pre(%s)",
                                           [REF_DER] = "der(%s)",
                                           [REF_LAST] = "last(%s)",
                                           [REF_START] = "start(%s)" };
    if (ref.kind <= REF_START)
        return arena_format(l->c->scratch, formats[ref.kind], variable_path(l->model, ref.var, l->c->scratch));
    return term_text(l->model, term_ref(l->model, ref), l->c->scratch);
}

static void add_input(Lowering *l, Ref ref)
{
    const Field field = { ref, add_field(l, field_name(l, ref), ref_type(l->model, ref)) };
    vec_push(l->c->scratch, &l->fields, field);
}

static void add_fields(Lowering *l)
{
    for (uint32_t k = 0; k < l->reads.n; k++)
        add_input(l, l->reads.at[k]);
    l->first_level = l->made->body->variables.n;
    for (uint32_t k = 0; k < l->n_levels; k++)
        add_field(l, arena_format(l->c->scratch, "$i%u", k + 1), INTEGER_TYPE);
    l->first_begin = l->made->body->variables.n;
    for (uint32_t k = 0; k < l->targets.n; k++)
        if (l->targets.at[k].is_open)
            add_field(l, arena_format(l->c->scratch, "$%s", field_name(l, l->targets.at[k].ref)),
                      ref_type(l->model, l->targets.at[k].ref));
    l->first_output = l->made->n_inputs = l->made->body->variables.n;
    for (uint32_t k = 0; k < l->targets.n; k++) {
        const Ref ref = l->targets.at[k].ref;
        const Field field = { ref, add_field(l, field_name(l, ref), ref_type(l->model, ref)) };
        vec_push(l->c->scratch, &l->fields, field);
    }
    l->first_flag = l->made->body->variables.n;
    for (uint32_t k = 0; k < l->targets.n; k++)
        if (l->is_next && l->targets.at[k].is_missed)
            add_field(l, arena_format(l->c->scratch, "$set %s", field_name(l, l->targets.at[k].ref)), BOOLEAN_TYPE);
    l->made->n_outputs = l->made->body->variables.n - l->made->n_inputs;
}

/* ---- statements ---- */
typedef struct {
    Lowering *lowering;
    TermBuilder builder; /* of the function */
    const Ref *refs;
    Memo memo;
} Rewriter;

static const Expr *field_leaf(Rewriter *w, uint32_t field)
{
    return term_leaf(&w->builder, ref_now((VarId){ field }));
}

static const Expr *leaf_of(Rewriter *w, Ref ref)
{
    const Lowering *l = w->lowering;
    for (uint32_t k = 0; k < l->fields.n; k++)
        if (ref_equal(l->fields.at[k].ref, ref))
            return field_leaf(w, l->fields.at[k].field);
    return NULL;
}

static const Expr *rewrite(Rewriter *w, const Expr *e)
{
    const Lowering *l = w->lowering;
    uint32_t known;
    if (memo_get(&w->memo, e, &known))
        return pool_node(l->model->pool, known);
    const Expr *result = e;
    if (e->kind == EXPR_LEAF) {
        result = leaf_of(w, w->refs[e->u.leaf]);
    } else if (e->kind == EXPR_ITERATOR) {
        result = e->u.iterator < l->n_levels ? field_leaf(w, l->first_level + e->u.iterator)
                                             : expr_iterator(l->model->pool, e->u.iterator - l->n_levels);
    } else if (e->n_args) {
        const Expr **args = NEW_ARRAY(memo_arena(&w->memo), const Expr *, e->n_args);
        for (uint32_t k = 0; k < e->n_args; k++)
            args[k] = rewrite(w, e->args[k]);
        result = expr_with_args(l->model->pool, e, args);
    }
    memo_put(&w->memo, e, result->id);
    return result;
}

/* The term over the fields of the function. Comparisons behind fired(t) decide at events only. */
static Term rewritten(Lowering *l, Term term, bool is_literal)
{
    if (term_is_absent(term))
        return term;
    Rewriter w = { .lowering = l, .builder = term_builder(l->made->body), .refs = term_refs(l->model, term) };
    memo_begin(&w.memo, NULL);
    const Expr *e = rewrite(&w, term.shape);
    memo_end(&w.memo);
    return term_finish(&w.builder, is_literal ? expr_no_event(l->model->pool, e) : e);
}

static uint32_t add_statement(Lowering *l, const Statement *s, uint32_t *first, uint32_t *last)
{
    Model *body = l->made->body;
    vec_push(body->arena, &body->statements, *s);
    const uint32_t number = body->statements.n - 1;
    if (*last)
        body->statements.at[*last].next = number;
    else
        *first = number;
    *last = number;
    return number;
}

static void add_assignment(Lowering *l, uint32_t field, Term value, Span span, uint32_t *first, uint32_t *last)
{
    const Statement s = { .kind = STATEMENT_ASSIGN,
                          .target = term_ref(l->made->body, ref_now((VarId){ field })),
                          .value = value,
                          .span = span };
    add_statement(l, &s, first, last);
}

static DomainId copy_domain(Lowering *l, DomainId domain, bool is_literal)
{
    const Model *m = l->model;
    const Domain of = m->domains.at[domain.index];
    Iterator *iterators = NEW_ARRAY(l->c->scratch, Iterator, of.n + 1u);
    for (uint32_t k = 0; k < of.n; k++) {
        iterators[k] = m->iterators.at[of.first + k];
        iterators[k].lo = rewritten(l, iterators[k].lo, is_literal);
        iterators[k].step = rewritten(l, iterators[k].step, is_literal);
        iterators[k].hi = rewritten(l, iterators[k].hi, is_literal);
    }
    return of.n ? model_add_domain(l->made->body, of.n, iterators) : domain;
}

static bool reads_fired(const Model *m, Term term)
{
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        if (term_refs(m, term)[k].kind == REF_FIRED || term_refs(m, term)[k].kind == REF_TICK)
            return true;
    return false;
}

/* The flag of the target says that it was assigned. */
static void add_flag(Lowering *l, uint32_t target, Span span, uint32_t *first, uint32_t *last)
{
    uint32_t flag = l->first_flag;
    for (uint32_t k = 0; k < target; k++)
        flag += l->targets.at[k].is_missed;
    if (l->is_next && l->targets.at[target].is_missed)
        add_assignment(l, flag, term_boolean(l->made->body, true), span, first, last);
}

static uint32_t copy_list(Lowering *l, uint32_t from, bool is_literal)
{
    uint32_t first = 0, last = 0;
    for (uint32_t k = from; k; k = l->model->statements.at[k].next) {
        const Statement s = l->model->statements.at[k];
        const bool is_when = is_literal || (s.kind == STATEMENT_IF && reads_fired(l->model, s.value));
        Statement made = { .kind = s.kind, .text = s.text, .span = s.span };
        made.value = rewritten(l, s.value, is_literal);
        made.domain = copy_domain(l, s.domain, is_literal);
        made.inner = copy_list(l, s.inner, is_when);
        made.otherwise = copy_list(l, s.otherwise, is_when);
        if (s.kind == STATEMENT_ASSIGN)
            made.target = rewritten(l, s.target, false);
        add_statement(l, &made, &first, &last);
        if (s.kind == STATEMENT_ASSIGN) {
            const Target *target = target_of(l, term_refs(l->model, s.target)[s.target.shape->u.leaf]);
            add_flag(l, (uint32_t)(target - l->targets.at), s.span, &first, &last);
        }
    }
    return first;
}

static void add_body(Lowering *l, uint32_t from)
{
    uint32_t first = 0, last = 0, begin = l->first_begin;
    for (uint32_t k = 0; k < l->targets.n; k++)
        if (l->targets.at[k].is_open)
            add_assignment(l, l->first_output + k, term_ref(l->made->body, ref_now((VarId){ begin++ })),
                           l->targets.at[k].span, &first, &last);
    const uint32_t copied = copy_list(l, from, !l->is_algorithm);
    if (last)
        l->made->body->statements.at[last].next = copied;
    l->made->first = last ? first : copied;
}

/* ---- calls ---- */
/* The value a target begins with. */
static const Expr *begin_of(Lowering *l, TermBuilder *builder, Ref target)
{
    const Variable *v = model_var(l->model, target.var);
    if (l->is_next)
        return term_leaf(builder, target);
    if (!l->is_algorithm || v->variability != VARIABILITY_CONTINUOUS)
        return term_leaf(builder, ref_pre(target.var));
    return term_is_absent(v->start) ? expr_real(l->model->pool, 0) : term_import(builder, v->start);
}

static const Expr **arguments(Lowering *l, TermBuilder *builder)
{
    const Expr **args = NEW_ARRAY(l->c->scratch, const Expr *, l->made->n_inputs + 1u);
    uint32_t n = 0;
    for (uint32_t k = 0; k < l->reads.n; k++)
        args[n++] = term_leaf(builder, l->reads.at[k]);
    for (uint32_t k = 0; k < l->n_levels; k++)
        args[n++] = expr_iterator(l->model->pool, k);
    for (uint32_t k = 0; k < l->targets.n; k++)
        if (l->targets.at[k].is_open)
            args[n++] = begin_of(l, builder, l->targets.at[k].ref);
    return args;
}

/* Result number `result` of the function, as an expression if that can be had. */
static Term value_of(Lowering *l, uint32_t result)
{
    TermBuilder builder = term_builder(l->model);
    const Expr **args = arguments(l, &builder);
    const Type type = l->made->body->variables.at[l->made->n_inputs + result].type;
    const Expr *value = function_expand(l->model->pool, l->made, result, args);
    if (!value)
        value = expr_function(l->model->pool, l->made, result, type, l->made->n_inputs, args);
    return term_finish(&builder, value);
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

/* Makes the function; false: it cannot be had. */
static bool make_function(Lowering *l, NameId name, uint32_t body, Span span)
{
    find_targets(l, body);
    follow(l, body);
    leave(l);
    for (uint32_t k = 0; k < l->targets.n; k++)
        l->targets.at[k].is_open |= l->targets.at[k].is_missed;
    if (l->has_failed)
        return false;
    l->made = model_add_function(l->model, name, span);
    add_fields(l);
    add_body(l, body);
    return true;
}

/* A function that nothing calls is not listed. */
static void end_function(Lowering *l, bool is_called)
{
    if (!is_called)
        l->model->functions.n--;
}

/* ---- algorithms ---- */
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

static void lower_algorithm(Compile *c, uint32_t number)
{
    Model *m = c->model;
    const Equation e = m->equations.at[number];
    Lowering l = { .c = c, .model = m, .n_levels = m->domains.at[e.domain.index].n, .is_algorithm = true };
    if (!make_function(&l, e.name, e.body, e.origin.span))
        return;
    bool is_called = false;
    for (uint32_t k = 0; k < l.targets.n; k++) {
        const Term value = value_of(&l, k);
        const bool is_initial = e.when_valid == VALID_INITIAL_ONLY;
        const EqId made = model_add_equation(m, is_initial ? EQUATION_RESIDUAL : EQUATION_EXPLICIT,
                                             term_ref(m, l.targets.at[k].ref), value, l.targets.at[k].span);
        Equation *row = &m->equations.at[made.index];
        row->when_valid = e.when_valid;
        row->region = e.region;
        row->branch = e.branch;
        row->domain = e.domain;
        row->owner = e.owner;
        row->origin.made_by = "lower-procedures";
        row->origin.parent.index = number;
        is_called |= calls(value.shape, l.made);
    }
    m->equations.at[number].kind = EQUATION_DROPPED;
    m->equations.at[number].body = 0;
    end_function(&l, is_called);
    if (is_called && e.when_valid != VALID_INITIAL_ONLY && has_comparison(l.made->body)) {
        diag_warning(c->diag, DIAG_SILENT_COMPARISON, e.origin.span,
                     "comparisons in this algorithm make no events: it cannot be written as expressions");
        diag_help(c->diag, "take them out of loops, into equations of Boolean variables");
    }
}

/* ---- transitions ---- */
static void lower_transition(Compile *c, uint32_t number)
{
    Model *m = c->model;
    Transition t = m->transitions.at[number];
    Lowering l = {
        .c = c, .model = m, .n_levels = m->domains.at[t.domain.index].n, .is_next = t.effect == EFFECT_NEXT
    };
    if (!make_function(&l, t.name, t.body, t.origin.span))
        return;
    bool is_called = false;
    t.first_assignment = m->assignments.n;
    t.n_assignments = l.targets.n;
    uint32_t flag = l.targets.n;
    for (uint32_t k = 0; k < l.targets.n; k++) {
        Assignment a = { .target = term_ref(m, l.targets.at[k].ref), .span = l.targets.at[k].span };
        a.value = value_of(&l, k);
        if (l.is_next && l.targets.at[k].is_missed)
            a.guard = value_of(&l, flag++);
        is_called |= calls(a.value.shape, l.made) || (a.guard.shape && calls(a.guard.shape, l.made));
        vec_push(m->arena, &m->assignments, a);
    }
    t.form = FORM_SET;
    t.body = 0;
    m->transitions.at[number] = t;
    end_function(&l, is_called);
}

bool lower_procedures(Compile *c)
{
    const uint32_t n = c->model->equations.n;
    for (uint32_t k = 0; k < n; k++)
        if (c->model->equations.at[k].kind == EQUATION_ALGORITHM)
            lower_algorithm(c, k);
    for (uint32_t k = 0; k < n; k++) { /* at the start an assignment is one equation among others */
        Equation *e = &c->model->equations.at[k];
        if (e->when_valid == VALID_INITIAL_ONLY && e->kind == EQUATION_EXPLICIT)
            e->kind = EQUATION_RESIDUAL;
    }
    for (uint32_t k = 0; k < c->model->transitions.n; k++)
        if (c->model->transitions.at[k].form == FORM_PROCEDURE)
            lower_transition(c, k);
    return diag_errors(c->diag) == 0;
}
