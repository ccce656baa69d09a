/* Functions to routines; see routine.h. */
#include "ir/routine.h"
#include "base/bug.h"
#include "ir/memo.h"
#include "ir/routine_make.h"
#include "ir/simplify.h"

const Function routine_element = { .number = UINT32_MAX }, routine_part = { .number = UINT32_MAX };

/* ---- what can be executed ---- */
uint64_t function_field_count(const Function *f, uint32_t field)
{
    const Variable *v = &f->body->variables.at[field];
    uint64_t count = 1;
    for (uint32_t k = 0; k < v->type.rank; k++) {
        const Expr *extent = v->first_dim + k < f->body->dims.n ? f->body->dims.at[v->first_dim + k].term.shape : NULL;
        if (!extent || extent->kind != EXPR_INTEGER || extent->u.integer < 1 || extent->u.integer > UINT32_MAX)
            return 0;
        count *= (uint64_t)extent->u.integer;
        if (count > UINT32_MAX)
            return 0;
    }
    return count;
}

static bool has_obstacle(const Expr *e, bool is_whole)
{
    if (e->kind == EXPR_REDUCE)
        return true;
    if (e->type.rank > 0 && (!is_whole || (e->kind != EXPR_LEAF && e->kind != EXPR_FUNCTION && e->kind != EXPR_ARRAY)))
        return true;
    const bool may_be_whole = e->kind == EXPR_FUNCTION;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (has_obstacle(e->args[k], may_be_whole || (e->kind == EXPR_ARRAY && e->args[k]->kind == EXPR_ARRAY)))
            return true;
    return false;
}

static const char *field_obstacle(const Function *f, uint32_t field, uint64_t *slots)
{
    const Variable *v = &f->body->variables.at[field];
    const uint64_t count = function_field_count(f, field);
    if (v->type.rank > ROUTINE_RANK)
        return "an array of more than 8 dimensions";
    if (count == 0)
        return "an array without fixed size";
    *slots += field < f->n_inputs || function_has_data(f, field) ? 1 : count;
    return *slots > ROUTINE_SLOTS - 96 ? "more than 130,000 numbers in arrays of its own" : NULL;
}

static const char *statement_obstacle(const Function *f, const Statement *s)
{
    if (s->value.shape && has_obstacle(s->value.shape, s->kind == STATEMENT_ASSIGN))
        return "an operation on whole arrays or a sum over a range";
    if (s->target.shape && has_obstacle(s->target.shape, true))
        return "an operation on whole arrays or a sum over a range";
    (void)f;
    return NULL;
}

const char *function_obstacle(const Function *f, Span *where)
{
    const Model *body = f->body;
    uint64_t slots = 1;
    *where = f->span;
    for (uint32_t k = 0; k < function_fields(f); k++) {
        const char *obstacle = field_obstacle(f, k, &slots);
        *where = body->variables.at[k].span;
        if (obstacle)
            return obstacle;
    }
    for (uint32_t k = 1; k < body->statements.n; k++) {
        const char *obstacle = statement_obstacle(f, &body->statements.at[k]);
        *where = body->statements.at[k].span;
        if (obstacle)
            return obstacle;
    }
    *where = f->span;
    for (uint32_t k = 0; k < body->iterators.n; k++) {
        const Iterator *i = &body->iterators.at[k];
        if (has_obstacle(i->lo.shape, false) || has_obstacle(i->hi.shape, false) ||
            (i->step.shape && has_obstacle(i->step.shape, false)))
            return "an operation on whole arrays or a sum over a range";
    }
    return slots + 3 * body->iterators.n > ROUTINE_SLOTS ? "more than 130,000 numbers in arrays of its own" : NULL;
}

/* ---- making ---- */
uint32_t maker_add_field(Maker *m, NameId name, Type type)
{
    const RoutineField field = {
        .name = name, .type = { type.kind, 0, type.enumeration }, .first = m->n_slots, .count = 1, .rank = type.rank
    };
    vec_push(m->body->arena, &m->fields, field);
    m->n_slots++;
    return m->fields.n - 1;
}

static Value literal(const Expr *e)
{
    return e->kind == EXPR_REAL ? (Value){ .r = e->u.real } : (Value){ .i = e->u.integer };
}

/* What a field begins with: its binding if that is a number, else no value. */
static Value begin_of(const Variable *v)
{
    Value none = { .i = INTEGER_FAULT };
    if (v->type.kind == TYPE_REAL)
        none.i = 0x7ff8000000000000; /* NaN */
    const Expr *e = v->binding.shape;
    if (!e || !expr_is_constant(e) || e->kind == EXPR_STRING)
        return none;
    return literal(e);
}

static const Value *data_of(Maker *m, const Expr *braces, uint32_t count)
{
    Value *data = NEW_ARRAY(m->body->arena, Value, count);
    for (uint32_t k = 0; k < count; k++)
        data[k] = literal(expr_array_element(braces, k));
    return data;
}

static void add_own_field(Maker *m, uint32_t index)
{
    const Variable *v = &m->body->variables.at[index];
    const uint32_t number = maker_add_field(m, v->name, v->type);
    RoutineField *field = &m->fields.at[number];
    for (uint32_t k = 0; k < v->type.rank; k++) {
        field->extents[k] = (uint32_t)m->body->dims.at[v->first_dim + k].term.shape->u.integer;
        field->count *= field->extents[k];
    }
    if (m->function->external && term_is_absent(v->binding)) /* C fills them */
        field->begin.i = 0;
    if (function_has_data(m->function, index))
        field->data = data_of(m, v->binding.shape, field->count);
    field->is_pointer = field->data || (index < m->function->n_inputs && v->type.rank > 0);
    field->begin = begin_of(v);
    m->n_slots += field->is_pointer ? 0 : field->count - 1;
}

static const Expr *lazy(Maker *m, Op op, const Expr *a, const Expr *b)
{
    const Expr *decided = expr_boolean(m->pool, op == OP_OR);
    return op == OP_AND ? expr_if(m->pool, a, b, decided) : expr_if(m->pool, a, decided, b);
}

const Expr *maker_leaf(Maker *m, uint32_t field)
{
    Type type = m->fields.at[field].type;
    type.rank = (uint8_t)m->fields.at[field].rank;
    return expr_leaf(m->pool, m->fields.at[field].first, type);
}

static const Expr *element(Maker *m, uint32_t field, const Expr *e, const Expr *const *index)
{
    const Expr *call = expr_function(m->pool, &routine_element, field, e->type, e->n_args, index);
    return maker_is_inside(m, field, index) ? expr_function_element(m->pool, call, 1, e->type) : call;
}

/* The expression over slots. */
static const Expr *translate(Maker *m, const Expr *e, const Ref *refs, Memo *memo)
{
    uint32_t known;
    if (memo_get(memo, e, &known))
        return pool_node(m->pool, known);
    const Expr **args = NEW_ARRAY(memo_arena(memo), const Expr *, e->n_args + 1u);
    for (uint32_t k = 0; k < e->n_args; k++)
        args[k] = translate(m, e->args[k], refs, memo);
    const Expr *result;
    if (e->kind == EXPR_LEAF && e->n_args)
        result = element(m, refs[e->u.leaf].var.index, e, args);
    else if (e->kind == EXPR_LEAF)
        result = maker_leaf(m, refs[e->u.leaf].var.index);
    else if (e->kind == EXPR_ITERATOR)
        result = maker_leaf(m, m->loops.at[e->u.iterator]);
    else if (e->kind == EXPR_CALL && (e->op == OP_AND || e->op == OP_OR) && args[1]->has_call)
        result = lazy(m, (Op)e->op, args[0], args[1]);
    else
        result = e->n_args ? expr_with_args(m->pool, e, args) : e;
    memo_put(memo, e, result->id);
    return result;
}

static const Expr *expression(Maker *m, Term term)
{
    Memo memo;
    memo_begin(&memo, NULL);
    const Expr *result = translate(m, term.shape, term_refs(m->body, term), &memo);
    memo_end(&memo);
    return expr_parts(m->pool, result);
}

uint32_t maker_add_step(Maker *m, StatementKind kind, const Expr *value)
{
    const RoutineStep step = { .kind = (uint8_t)kind, .value = value, .span = m->span, .statement = m->statement };
    vec_push(m->body->arena, &m->steps, step);
    return m->steps.n - 1;
}

static uint32_t assign(Maker *m, uint32_t field, const Expr *value)
{
    const uint32_t step = maker_add_step(m, STATEMENT_ASSIGN, value);
    m->steps.at[step].field = field;
    return step;
}

static uint32_t make_list(Maker *m, uint32_t first);

/* The function ends in these steps, or, by a break, the loop that they are in. */
static bool can_leave(const Maker *m, uint32_t first, bool by_break)
{
    for (uint32_t k = first; k; k = m->steps.at[k].next) {
        const RoutineStep *s = &m->steps.at[k];
        if (s->kind == STATEMENT_RETURN || (s->kind == STATEMENT_BREAK && by_break) ||
            can_leave(m, s->inner, by_break && s->kind != STATEMENT_WHILE) || can_leave(m, s->otherwise, by_break))
            return true;
    }
    return false;
}

/* A loop that nothing leaves before its end, by a number. */
static void note_loop(Maker *m, uint32_t step, uint32_t advance, RoutineLoop loop, const Expr *by)
{
    enum { FARTHEST = 1 << 30 };
    if (by->kind != EXPR_INTEGER || by->u.integer == 0 || by->u.integer > FARTHEST || by->u.integer < -FARTHEST ||
        can_leave(m, m->steps.at[step].inner, true))
        return;
    RoutineLoop *own = NEW(m->body->arena, RoutineLoop);
    *own = loop;
    own->by = (int32_t)by->u.integer;
    m->steps.at[step].loop = own;
    m->steps.at[advance].is_advance = true;
}

/* A loop over the last iterators of a domain, those before it being in scope: variable := lo; limit := hi; ... */
static uint32_t make_loops(Maker *m, Domain domain, uint32_t k, uint32_t inner)
{
    if (k == domain.n)
        return make_list(m, inner);
    const Iterator iterator = m->body->iterators.at[domain.first + k];
    const Expr *lo = expression(m, iterator.lo), *hi = expression(m, iterator.hi);
    const Expr *step = iterator.step.shape ? expression(m, iterator.step) : expr_integer(m->pool, 1);
    const uint32_t variable = maker_add_field(m, iterator.name, INTEGER_TYPE);
    const uint32_t limit = maker_add_field(m, (NameId){ 0 }, INTEGER_TYPE);
    vec_push(m->body->arena, &m->loops, variable);
    const uint32_t first = assign(m, limit, hi), start = assign(m, variable, lo);
    const Expr *i = maker_leaf(m, variable), *end = maker_leaf(m, limit), *by = step;
    m->steps.at[first].next = start;
    uint32_t last = start;
    if (step->kind != EXPR_INTEGER) {
        const uint32_t stride = maker_add_field(m, (NameId){ 0 }, INTEGER_TYPE);
        last = assign(m, stride, step);
        m->steps.at[start].next = last;
        by = maker_leaf(m, stride);
    }
    maker_bound(m, variable, lo, hi, step);
    const Expr *zero = expr_integer(m->pool, 0);
    const Expr *up = expr_literal_relation(m->pool, OP_LE, i, end),
               *down = expr_literal_relation(m->pool, OP_GE, i, end);
    const Expr *goes_up = expr_literal_relation(m->pool, OP_GT, by, zero);
    const Expr *goes_down = expr_literal_relation(m->pool, OP_LT, by, zero);
    const Expr *condition = expr_if(m->pool, goes_up, up, expr_binary(m->pool, OP_AND, goes_down, down));
    const uint32_t loop = maker_add_step(m, STATEMENT_WHILE, expr_simplify(m->pool, condition));
    m->steps.at[last].next = loop;
    const uint32_t statement = m->statement;
    const Span span = m->span;
    const uint32_t body = make_loops(m, domain, k + 1, inner);
    m->statement = statement;
    m->span = span;
    const uint32_t advance = assign(m, variable, expr_binary(m->pool, OP_ADD, i, by));
    uint32_t tail = body;
    while (tail && m->steps.at[tail].next)
        tail = m->steps.at[tail].next;
    if (tail)
        m->steps.at[tail].next = advance;
    m->steps.at[loop].inner = body ? body : advance;
    m->loops.n--;
    note_loop(m, loop, advance, (RoutineLoop){ .variable = variable, .limit = limit }, step);
    return first;
}

/* All elements one after the other; the last step. */
static uint32_t assign_elements(Maker *m, uint32_t field, const Expr *braces, uint32_t *first)
{
    uint32_t last = 0;
    *first = 0;
    for (uint32_t k = 0; k < braces->n_args; k++) { /* expr_parts has left no inner ones */
        const uint32_t step = assign(m, field, braces->args[k]);
        uint32_t rest = k;
        for (uint32_t j = m->fields.at[field].rank; j-- > 0;) {
            m->steps.at[step].index[j] = expr_integer(m->pool, rest % m->fields.at[field].extents[j] + 1);
            rest /= m->fields.at[field].extents[j];
        }
        m->steps.at[step].is_inside = true;
        *(last ? &m->steps.at[last].next : first) = step;
        last = step;
    }
    return last;
}

/* A field that has no name, of the form of another one. */
static uint32_t add_field_like(Maker *m, uint32_t like)
{
    RoutineField field = m->fields.at[like];
    field.name = (NameId){ 0 };
    field.first = m->n_slots;
    field.is_pointer = false;
    m->n_slots += field.count;
    vec_push(m->body->arena, &m->fields, field);
    return m->fields.n - 1;
}

/* The array gets its elements when all of them are computed. */
static uint32_t assign_braces(Maker *m, uint32_t field, const Expr *braces)
{
    uint32_t first;
    const uint32_t between = add_field_like(m, field);
    const uint32_t last = assign_elements(m, between, braces, &first);
    const uint32_t copy = assign(m, field, maker_leaf(m, between));
    m->steps.at[last].next = copy;
    return first;
}

static uint32_t make_assignment(Maker *m, const Statement *s)
{
    const Expr *target = s->target.shape, *value = expression(m, s->value);
    const uint32_t field = term_refs(m->body, s->target)[target->u.leaf].var.index;
    if (value->kind == EXPR_ARRAY)
        return assign_braces(m, field, value);
    const uint32_t step = assign(m, field, value);
    for (uint32_t k = 0; k < target->n_args; k++) {
        const Expr *index = expression(m, (Term){ target->args[k], s->target.first_ref });
        m->steps.at[step].index[k] = index;
    }
    if (target->n_args)
        m->steps.at[step].is_inside = maker_is_inside(m, field, m->steps.at[step].index);
    return step;
}

/* The first step of a statement; it may be followed by more. */
static uint32_t make_step(Maker *m, uint32_t statement)
{
    const Statement s = m->body->statements.at[statement];
    m->statement = statement;
    m->span = s.span;
    switch ((StatementKind)s.kind) {
    case STATEMENT_ASSIGN: return make_assignment(m, &s);
    case STATEMENT_FOR: return make_loops(m, m->body->domains.at[s.domain.index], 0, s.inner);
    case STATEMENT_BREAK:
    case STATEMENT_RETURN: return maker_add_step(m, (StatementKind)s.kind, NULL);
    case STATEMENT_IF:
    case STATEMENT_WHILE:
    case STATEMENT_ASSERT: {
        const uint32_t step = maker_add_step(m, (StatementKind)s.kind, expression(m, s.value));
        const uint32_t inner = make_list(m, s.inner), otherwise = make_list(m, s.otherwise);
        m->steps.at[step].text = s.text;
        if (!term_is_absent(s.message)) {
            const Expr *message = expression(m, s.message);
            m->steps.at[step].message = message;
        }
        m->steps.at[step].inner = inner;
        m->steps.at[step].otherwise = otherwise;
        return step;
    }
    case STATEMENT_SEND:
    case STATEMENT_TOGETHER: break; /* lower-functions has left none */
    }
    BUG("unknown StatementKind");
}

static uint32_t make_list(Maker *m, uint32_t first)
{
    uint32_t begin = 0, last = 0;
    for (uint32_t k = first; k; k = m->body->statements.at[k].next) {
        const uint32_t step = make_step(m, k);
        if (last)
            m->steps.at[last].next = step;
        else
            begin = step;
        for (last = step; m->steps.at[last].next;)
            last = m->steps.at[last].next;
    }
    return routine_share_calls(m, begin);
}

/* A scalar holds for every element. */
static const Expr *each_element(Maker *m, uint32_t field, const Expr *value)
{
    const uint32_t n = m->fields.at[field].count;
    if (m->fields.at[field].rank == 0 || value->type.rank > 0)
        return value;
    const Expr **elements = NEW_ARRAY(m->body->arena, const Expr *, n);
    for (uint32_t k = 0; k < n; k++)
        elements[k] = value;
    return expr_array(m->pool, n, elements);
}

/* Outputs and locals with bindings that are no numbers, in order; then the statements. */
static uint32_t make_begins(Maker *m, uint32_t statements)
{
    uint32_t first = 0, last = 0;
    for (uint32_t k = m->function->n_inputs; k < function_fields(m->function); k++) {
        const Variable *v = &m->body->variables.at[k];
        if (term_is_absent(v->binding) || (expr_is_constant(v->binding.shape) && v->type.kind != TYPE_STRING) ||
            m->fields.at[k].data)
            continue;
        m->span = v->span;
        const Expr *value = each_element(m, k, expression(m, v->binding));
        const uint32_t step = value->kind == EXPR_ARRAY ? assign_braces(m, k, value) : assign(m, k, value);
        *(last ? &m->steps.at[last].next : &first) = step;
        for (last = step; m->steps.at[last].next;)
            last = m->steps.at[last].next;
    }
    if (last)
        m->steps.at[last].next = statements;
    return last ? first : statements;
}

/* ---- texts ---- */
bool expr_has_texts(const Expr *e)
{
    bool found = e->kind == EXPR_TEXT || e->type.kind == TYPE_STRING;
    if (!found && is_model_call(e))
        found = function_has_texts(e->u.function);
    for (uint32_t k = 0; k < e->n_args && !found; k++)
        found = expr_has_texts(e->args[k]);
    return found;
}

bool function_has_texts(const Function *f)
{
    if (f->texts != TEXTS_UNKNOWN)
        return f->texts == TEXTS_SOME;
    Function *own = (Function *)f; /* found at the first use and kept: the function means the same */
    own->texts = TEXTS_NONE;       /* it may call itself */
    bool found = false;
    for (uint32_t k = 0; k < f->body->variables.n && !found; k++)
        found = f->body->variables.at[k].type.kind >= TYPE_STRING; /* objects, too, are known to the block only */
    for (uint32_t k = 1; k < f->body->statements.n && !found; k++) {
        const Statement *s = &f->body->statements.at[k];
        found = !term_is_absent(s->message) || (s->value.shape && expr_has_texts(s->value.shape)) ||
                (s->target.shape && expr_has_texts(s->target.shape));
    }
    own->texts = found ? TEXTS_SOME : TEXTS_NONE;
    return found;
}

const Routine *routine_of(const Function *function)
{
    if (function->routine)
        return function->routine;
    Maker m = { .function = function, .body = function->body, .pool = function->body->pool, .n_slots = 1 };
    for (uint32_t k = 0; k < function_fields(function); k++)
        add_own_field(&m, k);
    vec_push_zero(m.body->arena, &m.steps);
    const uint32_t own = make_list(&m, function->first);
    const uint32_t first = make_begins(&m, function->external ? own : routine_look_at_fields(&m, own));
    routine_look_late(&m, first);
    Routine *routine = NEW(m.body->arena, Routine);
    *routine = (Routine){ .function = function,
                          .n_fields = m.fields.n,
                          .n_slots = m.n_slots,
                          .n_steps = m.steps.n,
                          .first = first,
                          .width = function_width(function),
                          .has_texts = function_has_texts(function),
                          .fields = m.fields.at,
                          .steps = m.steps.at };
    /* The cast is for this one field: the routine is made at its first use and kept, the function means the same. */
    ((Function *)function)->routine = routine;
    return routine;
}
