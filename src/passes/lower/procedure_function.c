/* The function that a procedure becomes: its fields, and the statements over them. */
#include "ir/external.h"
#include "ir/memo.h"
#include "passes/lower/procedure.h"

/* ---- fields ---- */
uint32_t procedure_field(Procedure *p, const char *name, Type type)
{
    Model *body = p->made->body;
    const NameId id = names_text(pool_names(body->pool), name);
    return model_add_variable(body, (InstanceId){ 0 }, id, type, p->made->span).index;
}

static const char *field_name(const Procedure *p, Ref ref)
{
    static const char *const formats[] = { [REF_NOW] = "%s",
                                           [REF_PRE] = "pre(%s)",
                                           [REF_DER] = "der(%s)",
                                           [REF_LAST] = "last(%s)",
                                           [REF_START] = "start(%s)" };
    if (ref.kind <= REF_START)
        return arena_format(p->c->scratch, formats[ref.kind], variable_path(p->model, ref.var, p->c->scratch));
    return term_text(p->model, term_ref(p->model, ref), p->c->scratch);
}

/* n fields for the elements of an array, or one for a scalar. */
static uint32_t add_elements(Procedure *p, const char *format, Ref ref, uint32_t n, Type type)
{
    const uint32_t first = p->made->body->variables.n;
    const char *name = arena_format(p->c->scratch, format, field_name(p, ref));
    type.rank = 0;
    for (uint32_t k = 0; k < n; k++)
        procedure_field(p, ref_type(p->model, ref).rank ? arena_format(p->c->scratch, "%s %u", name, k + 1) : name,
                        type);
    return first;
}

uint32_t procedure_count(const Model *m, Ref ref)
{
    enum { MOST = 4000 };
    const Variable *v = var_is_none(ref.var) || ref.kind > REF_START ? NULL : model_var(m, ref.var);
    uint64_t n = 1;
    for (uint32_t k = 0; v && k < v->type.rank && n <= MOST; k++) {
        const int64_t extent = m->dims.at[v->first_dim + k].extent;
        n *= extent > 0 ? (uint64_t)extent : 0;
    }
    return n <= MOST ? (uint32_t)n : 0;
}

static uint32_t add_local(Procedure *p, const char *format, Ref ref, Type type)
{
    const Variable *v = model_var(p->model, ref.var);
    Term extents[UINT8_MAX];
    type.rank = v->type.rank;
    for (uint32_t k = 0; k < v->type.rank; k++)
        extents[k] = term_integer(p->made->body, p->model->dims.at[v->first_dim + k].extent);
    const uint32_t local = procedure_field(p, arena_format(p->c->scratch, format, field_name(p, ref)), type);
    model_set_dims(p->made->body, (VarId){ local }, v->type.rank, extents);
    return local;
}

static void add_inputs(Procedure *p)
{
    for (uint32_t k = 0; k < p->reads.n; k++) {
        const Ref ref = p->reads.at[k];
        const uint32_t n = procedure_count(p->model, ref);
        const uint32_t first = add_elements(p, "%s", ref, n, ref_type(p->model, ref));
        if (ref_type(p->model, ref).rank)
            vec_push(p->c->scratch, &p->arrays,
                     ((Array){ .ref = ref,
                               .n = n,
                               .first_in = first,
                               .first_out = ID_NONE,
                               .flags = ID_NONE,
                               .first_flag = ID_NONE }));
        else
            vec_push(p->c->scratch, &p->fields, ((Field){ ref, first }));
    }
    p->first_level = p->made->body->variables.n;
    for (uint32_t k = 0; k < p->n_levels; k++)
        procedure_field(p, arena_format(p->c->scratch, "$i%u", k + 1), INTEGER_TYPE);
    p->first_begin = p->made->body->variables.n;
    for (uint32_t k = 0; k < p->targets.n; k++) {
        const Ref ref = p->targets.at[k].ref;
        const uint32_t n = procedure_count(p->model, ref), first = p->made->body->variables.n;
        const bool is_open = p->targets.at[k].is_open;
        if (is_open)
            add_elements(p, "$%s", ref, n, ref_type(p->model, ref));
        const Array array = {
            .ref = ref, .n = n, .first_in = is_open ? first : ID_NONE, .flags = ID_NONE, .first_flag = ID_NONE
        };
        if (ref_type(p->model, ref).rank)
            vec_push(p->c->scratch, &p->arrays, array);
    }
    p->made->n_inputs = p->made->body->variables.n;
}

static Array *array_of(Procedure *p, Ref ref)
{
    for (uint32_t k = 0; k < p->arrays.n; k++)
        if (ref_equal(p->arrays.at[k].ref, ref))
            return &p->arrays.at[k];
    return NULL;
}

static void add_outputs(Procedure *p)
{
    p->first_output = p->made->body->variables.n;
    for (uint32_t k = 0; k < p->targets.n; k++) {
        const Ref ref = p->targets.at[k].ref;
        const uint32_t first = add_elements(p, "%s", ref, procedure_count(p->model, ref), ref_type(p->model, ref));
        Array *array = array_of(p, ref);
        p->targets.at[k].output = first;
        if (array)
            array->first_out = first;
        else
            vec_push(p->c->scratch, &p->fields, ((Field){ ref, first }));
    }
    for (uint32_t k = 0; k < p->targets.n; k++) {
        Target *target = &p->targets.at[k];
        target->flag = ID_NONE;
        if (!p->is_next || !target->is_missed)
            continue;
        target->flag = add_elements(p, "$set %s", target->ref, procedure_count(p->model, target->ref), BOOLEAN_TYPE);
        if (array_of(p, target->ref))
            array_of(p, target->ref)->first_flag = target->flag;
    }
    procedure_add_sent(p);
    p->made->n_outputs = p->made->body->variables.n - p->made->n_inputs;
}

/* Outputs for targets: flags follow. */
static uint32_t procedure_outputs(const Procedure *p)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->targets.n; k++)
        n += procedure_count(p->model, p->targets.at[k].ref);
    return n;
}

static void add_fields(Procedure *p)
{
    add_inputs(p);
    add_outputs(p);
    const uint32_t first_flag = p->first_output + procedure_outputs(p);
    for (uint32_t k = 0; k < p->arrays.n; k++) {
        Array *array = &p->arrays.at[k];
        array->local = add_local(p, "%s", array->ref, ref_type(p->model, array->ref));
        if (array->first_out != ID_NONE && array->first_flag != ID_NONE)
            array->flags = add_local(p, "$set %s", array->ref, BOOLEAN_TYPE);
    }
    procedure_add_rooms(p);
    p->made->n_locals = p->made->body->variables.n - p->made->n_inputs - p->made->n_outputs;
    function_begin_with_zero(p->made, first_flag); /* targets that may be left open begin with an input */
}

/* ---- statements ---- */
typedef struct {
    Procedure *procedure;
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
    const Procedure *p = w->procedure;
    for (uint32_t k = 0; k < p->fields.n; k++)
        if (ref_equal(p->fields.at[k].ref, ref))
            return field_leaf(w, p->fields.at[k].field);
    return NULL;
}

/* The same loop in an expression, with its level in the function. */
static const Expr *with_level(const Procedure *p, const Expr *e, const Expr *const *args)
{
    Pool *pool = p->model->pool;
    const uint32_t level = e->u.iterator - p->n_levels;
    return e->kind == EXPR_REDUCE ? expr_reduce(pool, (Op)e->op, level, args[0], args[1], args[2], args[3])
                                  : expr_each(pool, level, args[0], args[1], args[2], args[3]);
}

static const Expr *rewrite(Rewriter *w, const Expr *e)
{
    const Procedure *p = w->procedure;
    uint32_t known;
    if (memo_get(&w->memo, e, &known))
        return pool_node(p->model->pool, known);
    const Expr *result = e;
    if (e->kind == EXPR_LEAF && e->n_args) {
        const Expr **args = NEW_ARRAY(memo_arena(&w->memo), const Expr *, e->n_args);
        for (uint32_t k = 0; k < e->n_args; k++)
            args[k] = rewrite(w, e->args[k]);
        const Ref local = ref_now((VarId){ array_of(w->procedure, w->refs[e->u.leaf])->local });
        result = term_element(&w->builder, local, e->n_args, args);
    } else if (e->kind == EXPR_LEAF && e->type.rank) {
        result = field_leaf(w, array_of(w->procedure, w->refs[e->u.leaf])->local);
    } else if (e->kind == EXPR_LEAF) {
        result = leaf_of(w, w->refs[e->u.leaf]);
    } else if (e->kind == EXPR_ITERATOR) {
        result = e->u.iterator < p->n_levels ? field_leaf(w, p->first_level + e->u.iterator)
                                             : expr_iterator(p->model->pool, e->u.iterator - p->n_levels);
    } else if (e->n_args) {
        const Expr **args = NEW_ARRAY(memo_arena(&w->memo), const Expr *, e->n_args);
        for (uint32_t k = 0; k < e->n_args; k++)
            args[k] = rewrite(w, e->args[k]);
        const bool is_loop = e->kind == EXPR_REDUCE || e->kind == EXPR_EACH;
        result = is_loop ? with_level(p, e, args) : expr_with_args(p->model->pool, e, args);
    }
    memo_put(&w->memo, e, result->id);
    return result;
}

Term procedure_term(Procedure *p, Term term, bool is_literal)
{
    if (term_is_absent(term))
        return term;
    Rewriter w = { .procedure = p, .builder = term_builder(p->made->body), .refs = term_refs(p->model, term) };
    memo_begin(&w.memo, NULL);
    const Expr *e = rewrite(&w, term.shape);
    memo_end(&w.memo);
    return term_finish(&w.builder, is_literal ? expr_no_event(p->model->pool, e) : e);
}

uint32_t procedure_add_statement(Procedure *p, const Statement *s, uint32_t *first, uint32_t *last)
{
    Model *body = p->made->body;
    vec_push(body->arena, &body->statements, *s);
    const uint32_t number = body->statements.n - 1;
    if (*last)
        body->statements.at[*last].next = number;
    else
        *first = number;
    *last = number;
    return number;
}

void procedure_assign(Procedure *p, uint32_t field, Term value, Span span, uint32_t *first, uint32_t *last)
{
    const Statement s = { .kind = STATEMENT_ASSIGN,
                          .target = term_ref(p->made->body, ref_now((VarId){ field })),
                          .value = value,
                          .span = span };
    procedure_add_statement(p, &s, first, last);
}

static DomainId copy_domain(Procedure *p, DomainId domain, bool is_literal)
{
    const Model *m = p->model;
    const Domain of = m->domains.at[domain.index];
    Iterator *iterators = NEW_ARRAY(p->c->scratch, Iterator, of.n + 1u);
    for (uint32_t k = 0; k < of.n; k++) {
        iterators[k] = m->iterators.at[of.first + k];
        iterators[k].lo = procedure_term(p, iterators[k].lo, is_literal);
        iterators[k].step = procedure_term(p, iterators[k].step, is_literal);
        iterators[k].hi = procedure_term(p, iterators[k].hi, is_literal);
    }
    return of.n ? model_add_domain(p->made->body, of.n, iterators) : domain;
}

static bool reads_fired(const Model *m, Term term)
{
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        if (term_refs(m, term)[k].kind == REF_FIRED || term_refs(m, term)[k].kind == REF_TICK)
            return true;
    return false;
}

/* The flag of the target, or of the element, says that it was assigned. */
static void add_flag(Procedure *p, const Statement *s, uint32_t *first, uint32_t *last)
{
    const Ref ref = term_refs(p->model, s->target)[s->target.shape->u.leaf];
    const Array *array = array_of(p, ref);
    const Target *target = procedure_target(p, ref);
    const Term assigned = term_boolean(p->made->body, true);
    if (array && array->flags != ID_NONE) {
        Pool *pool = p->model->pool;
        TermBuilder builder = term_builder(p->made->body);
        const Expr *to = term_import(&builder, procedure_term(p, s->target, false));
        const Ref flags = ref_now((VarId){ array->flags });
        const Expr *place =
            to->n_args ? term_element(&builder, flags, to->n_args, to->args) : term_leaf(&builder, flags);
        const Expr *value = expr_boolean(pool, true);
        if (to->type.rank) {
            const Expr *args[1 + UINT8_MAX] = { value };
            for (uint32_t k = 1; k <= to->type.rank; k++) {
                const Expr *const of[] = { place, expr_integer(pool, k) };
                args[k] = expr_whole(pool, WHOLE_SIZE, 2, of);
            }
            value = expr_whole(pool, WHOLE_FILL, to->type.rank + 1u, args);
        }
        const Statement flag = { .kind = STATEMENT_ASSIGN,
                                 .target = term_make(p->made->body, place, builder.refs.at),
                                 .value = term_make(p->made->body, value, builder.refs.at),
                                 .span = s->span };
        procedure_add_statement(p, &flag, first, last);
    } else if (target->flag != ID_NONE)
        procedure_assign(p, target->flag, assigned, s->span, first, last);
}

Term procedure_element(Procedure *p, uint32_t local, uint32_t k)
{
    Model *body = p->made->body;
    const Variable *v = &body->variables.at[local];
    const Expr *index[UINT8_MAX];
    for (uint32_t j = v->type.rank; j-- > 0;) {
        const uint32_t extent = (uint32_t)body->dims.at[v->first_dim + j].term.shape->u.integer;
        index[j] = expr_integer(body->pool, k % extent + 1);
        k /= extent;
    }
    TermBuilder builder = term_builder(body);
    return term_finish(&builder, term_element(&builder, ref_now((VarId){ local }), v->type.rank, index));
}

static Term field_term(Procedure *p, uint32_t field)
{
    return term_ref(p->made->body, ref_now((VarId){ field }));
}

/* Arrays begin with their inputs. */
static void fill_arrays(Procedure *p, uint32_t *first, uint32_t *last)
{
    for (uint32_t k = 0; k < p->arrays.n; k++)
        for (uint32_t j = 0; j < p->arrays.at[k].n && p->arrays.at[k].first_in != ID_NONE; j++) {
            const Statement s = { .kind = STATEMENT_ASSIGN,
                                  .target = procedure_element(p, p->arrays.at[k].local, j),
                                  .value = field_term(p, p->arrays.at[k].first_in + j),
                                  .span = p->made->span };
            procedure_add_statement(p, &s, first, last);
        }
}

/* Where the statements end, arrays and their flags become outputs. */
static void empty_arrays(Procedure *p, uint32_t *first, uint32_t *last)
{
    for (uint32_t k = 0; k < p->arrays.n; k++) {
        const Array a = p->arrays.at[k];
        for (uint32_t j = 0; j < a.n && a.first_out != ID_NONE; j++) {
            procedure_assign(p, a.first_out + j, procedure_element(p, a.local, j), p->made->span, first, last);
            if (a.flags != ID_NONE)
                procedure_assign(p, a.first_flag + j, procedure_element(p, a.flags, j), p->made->span, first, last);
        }
    }
}

static void end_statements(Procedure *p, uint32_t *first, uint32_t *last)
{
    empty_arrays(p, first, last);
    procedure_empty_rooms(p, first, last);
}

static uint32_t copy_list(Procedure *p, uint32_t from, bool is_literal)
{
    uint32_t first = 0, last = 0;
    for (uint32_t k = from; k; k = p->model->statements.at[k].next) {
        const Statement s = p->model->statements.at[k];
        if (s.kind == STATEMENT_SEND) {
            procedure_send(p, &s, &first, &last);
            continue;
        }
        const bool is_when = is_literal || (s.kind == STATEMENT_IF && reads_fired(p->model, s.value));
        Statement made = { .kind = s.kind, .text = s.text, .span = s.span };
        made.value = procedure_term(p, s.value, is_literal);
        made.message = procedure_term(p, s.message, true);
        made.domain = copy_domain(p, s.domain, is_literal);
        made.inner = copy_list(p, s.inner, is_when);
        made.otherwise = copy_list(p, s.otherwise, is_when);
        if (s.kind == STATEMENT_ASSIGN)
            made.target = procedure_term(p, s.target, false);
        if (s.kind == STATEMENT_RETURN)
            end_statements(p, &first, &last);
        procedure_add_statement(p, &made, &first, &last);
        if (s.kind == STATEMENT_ASSIGN)
            add_flag(p, &s, &first, &last);
    }
    return first;
}

static void add_body(Procedure *p, uint32_t from)
{
    uint32_t first = 0, last = 0, begin = p->first_begin;
    for (uint32_t k = 0; k < p->targets.n; k++) {
        const Target *target = &p->targets.at[k];
        if (target->is_open && !array_of(p, target->ref))
            procedure_assign(p, target->output, field_term(p, begin), target->span, &first, &last);
        begin += target->is_open ? procedure_count(p->model, target->ref) : 0;
    }
    fill_arrays(p, &first, &last);
    const uint32_t copied = copy_list(p, from, !p->is_algorithm);
    Statement *statements = p->made->body->statements.at;
    uint32_t tail = copied;
    while (tail && statements[tail].next)
        tail = statements[tail].next;
    if (last)
        statements[last].next = copied;
    p->made->first = last ? first : copied;
    last = tail ? tail : last;
    end_statements(p, &p->made->first, &last);
}

void procedure_make(Procedure *p, uint32_t body)
{
    add_fields(p);
    add_body(p, body);
    const Model *made = p->made->body;
    for (uint32_t k = 1; k < made->statements.n; k++)
        p->made->is_pure &= !made->statements.at[k].value.shape || !expr_is_impure(made->statements.at[k].value.shape);
}
