/* Explaining a fault: the equation, its place, the innermost operation that failed and its operands; see explain.h. */
#include "base/text.h"
#include "emit/program/explain.h"
#include "emit/routines.h"
#include "ir/evaluate.h"
#include "ir/external.h"
#include "ir/substitute.h"
#include <stdio.h>

/* An equation that reduce-index made of the one at its place. */
static bool is_differentiated(const Model *m, EqId equation)
{
    if (equation.index == ID_NONE)
        return false;
    const Origin *origin = &m->equations.at[equation.index].origin;
    return origin->made_by && origin->parent.index != ID_NONE && strcmp(origin->made_by, "reduce-index") == 0;
}

/* The component that the fault happened in; the model itself for the top. */
static void add_component(const Explainer *of, uint32_t origin, Text *to)
{
    const char *path = instance_path(of->model, origin_owner(of, origin), to->arena);
    text_format(to, ", component %s", path[0] ? path : of->program->tables->name);
}

/* An explanation while it is made, and which KoineCause it comes to. */
typedef struct {
    Text text;
    Pool *pool; /* for expressions that are made to explain */
    int32_t cause;
    RoutineLimits limits;
} Why;

static Why begin_why(const Explainer *of, Arena *scratch, const KoineSlot *m)
{
    const bool has_calls = of->slots->calls != KOINE_NONE;
    return (Why){ .text = { .arena = scratch },
                  .pool = pool_overlay(of->model->pool, scratch),
                  .limits = has_calls ? routine_limits(m + of->slots->calls) : (RoutineLimits){ 0 } };
}

static const char *what_failed(const Expr *where, int32_t *cause)
{
    *cause = KOINE_CAUSE_NOT_FINITE;
    if (where->kind != EXPR_CALL)
        return "no finite value";
    switch ((Op)where->op) {
    case OP_DIV:
    case OP_IDIV:
    case OP_IMOD: *cause = KOINE_CAUSE_DIVISION; return "division by zero or overflow";
    case OP_SQRT: *cause = KOINE_CAUSE_DOMAIN; return "square root of a negative number";
    case OP_LOG:
    case OP_LOG10: *cause = KOINE_CAUSE_DOMAIN; return "logarithm of a number that is not positive";
    case OP_ASIN:
    case OP_ACOS: *cause = KOINE_CAUSE_DOMAIN; return "argument outside -1 .. 1";
    case OP_POW: *cause = KOINE_CAUSE_DOMAIN; return "power that is not defined or too large";
    case OP_EXP: return "overflow";
    case OP_AT_LEAST: *cause = KOINE_CAUSE_DISTRIBUTION; return "impossible parameter of a distribution";
    case OP_NARROW: *cause = KOINE_CAUSE_OVERFLOW; return "INTEGER beyond -2E+9 .. 2E+9, the range of the profile";
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_NEG:
        if (where->type.kind != TYPE_INTEGER)
            return "no finite value";
        *cause = KOINE_CAUSE_OVERFLOW;
        return "overflow of an Integer";
    case OP_ITRUNC:
    case OP_IFLOOR:
    case OP_ICEIL:
    case OP_IROUND: *cause = KOINE_CAUSE_OVERFLOW; return "number too large for an Integer";
    default: return "no finite value";
    }
}

static bool has_leaf(const Expr *e, uint32_t leaf)
{
    if (e->n_leaves <= leaf)
        return false;
    if (e->kind == EXPR_LEAF && e->u.leaf == leaf)
        return true;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (has_leaf(e->args[k], leaf))
            return true;
    return false;
}

/* ---- functions ---- */
/* The field in `e` that has no value; NULL: all have one. */
static const RoutineField *find_missing(const RoutineFault *fault, const Expr *e)
{
    const RoutineField *found = NULL;
    for (uint32_t k = 0; k < fault->routine->n_fields; k++) {
        const RoutineField *field = &fault->routine->fields[k];
        const bool is_meant = is_element(e) ? e->result == k : e->kind == EXPR_LEAF && field->first == e->u.leaf;
        for (uint32_t j = 0; is_meant && !field->is_pointer && j < field->count; j++)
            if (!value_is_good(field->type, fault->frame[field->first + j]))
                found = field;
    }
    for (uint32_t k = 0; k < e->n_args && !found; k++)
        found = find_missing(fault, e->args[k]);
    return found;
}

/* Says that a field has no value; false: that is not what failed. */
static bool add_missing(const Explainer *of, Text *to, const RoutineFault *fault, const Expr *where)
{
    const RoutineStep *step = fault->step;
    const Names *names = pool_names(of->model->pool);
    if (step->looks && step->ends) {
        const RoutineField *field = &fault->routine->fields[step->field];
        text_format(to, "the result %s has no value when the function ends", names_of(names, field->name));
        return true;
    }
    const RoutineField *field = step->looks ? find_missing(fault, step->value)
                                : where && (where->kind == EXPR_LEAF || is_element(where)) ? find_missing(fault, where)
                                                                                           : NULL;
    if (!field || name_is_empty(field->name))
        return false;
    text_format(to, "%s is read before it has a value", names_of(names, field->name));
    return true;
}

/* The two Integers that were to be equal. */
static void add_unequal(Text *to, const RoutineFault *fault)
{
    const Expr *e = fault->step->value;
    Value a, b;
    if (fault->kind == ROUTINE_CHECK && !fault->step->looks && e->kind == EXPR_CALL && e->op == OP_EQ && !e->has_call &&
        e->args[0]->type.kind == TYPE_INTEGER && expr_evaluate(e->args[0], fault->frame, NULL, &a) &&
        expr_evaluate(e->args[1], fault->frame, NULL, &b))
        text_format(to, ", %lld and %lld", (long long)a.i, (long long)b.i);
}

/* The statement and the scalar fields it reads. */
static void add_statement(const Explainer *of, Text *to, const RoutineFault *fault)
{
    const Function *f = fault->routine->function;
    const Statement *s = &f->body->statements.at[fault->step->statement];
    const Expr *where = NULL;
    Value operands[2];
    int32_t ignored; /* that the function failed is the cause */
    const bool is_known = fault->kind == ROUTINE_NOT_FINITE && !fault->step->value->has_call &&
                          expr_fault(fault->step->value, fault->frame, NULL, &where, operands);
    const bool is_missing = add_missing(of, to, fault, is_known ? where : NULL);
    if (is_known && !is_missing)
        text_add(to, what_failed(where, &ignored));
    else if (!is_missing)
        add_fault_kind(of, to, (RoutineFaultKind)fault->kind, fault->step, fault->steps);
    add_unequal(to, fault);
    if (s->kind == STATEMENT_ASSIGN && fault->step->statement)
        text_format(to, ": %s := %s", term_text(f->body, s->target, to->arena),
                    term_text(f->body, s->value, to->arena));
    uint32_t shown = 0;
    for (uint32_t k = 0; k < fault->routine->n_fields; k++) {
        const RoutineField *field = &fault->routine->fields[k];
        if (field->rank || name_is_empty(field->name) || shown == 6 ||
            names_of(pool_names(of->model->pool), field->name)[0] == '$' || /* that were made */
            !value_is_good(field->type, fault->frame[field->first]) ||
            (k >= f->n_inputs && k < f->n_inputs + f->n_outputs))
            continue;
        text_format(to, "%s%s = ", shown++ ? ", " : " with ", names_of(pool_names(of->model->pool), field->name));
        if (field->type.kind == TYPE_REAL)
            text_real(to, fault->frame[field->first].r);
        else
            text_integer(to, fault->frame[field->first].i);
    }
}

/* `call` has no value although its arguments have. */
static void add_call(const Explainer *of, Why *why, const Expr *call, const Value *leaves, const int64_t *iterators)
{
    Text *to = &why->text;
    why->cause = KOINE_CAUSE_FUNCTION;
    const Routine *routine = routine_of(call->u.function);
    Value *inputs = NEW_ARRAY(to->arena, Value, call->n_args + 1u);
    Value *outputs = NEW_ARRAY(to->arena, Value, routine->width + 1u);
    RoutineFault *fault = NEW(to->arena, RoutineFault);
    fault->arena = to->arena;
    for (uint32_t k = 0; k < call->n_args; k++)
        expr_evaluate_any(call->args[k], leaves, iterators, to->arena, &inputs[k]);
    routine_evaluate(routine, inputs, why->limits, outputs, fault);
    if (fault->kind == ROUTINE_NO_FAULT) {
        text_add(to, "no finite value");
        return;
    }
    if (fault->routine->function->external) {
        add_failing(of, to, fault->routine, fault->routine->function->span);
        add_external(of, to, fault->routine->function, (RoutineFaultKind)fault->kind);
        return;
    }
    add_failing(of, to, fault->routine, fault->step->span);
    add_statement(of, to, fault);
}

/* What a reference stands for in the block: the number, or where the array is. */
static Value value_in(const Explainer *of, const KoineSlot *m, Ref ref)
{
    const KoineSlot *slot = &m[slot_of(of->slots, ref)];
    return ref_type(of->model, ref).rank > 0 ? (Value){ .a = (const Value *)(const void *)slot }
                                             : (Value){ .i = slot->i };
}

static void add_operands(const Explainer *of, Why *why, const Expr *where, Term term, const Value *leaves)
{
    enum { MOST = 6 };
    Text *to = &why->text;
    uint32_t shown = 0;
    for (uint32_t k = 0; k < term.shape->n_leaves && shown < MOST; k++) {
        if (!has_leaf(where, k) || ref_type(of->model, term_refs(of->model, term)[k]).rank > 0)
            continue;
        const Ref ref = term_refs(of->model, term)[k];
        const Expr *leaf = expr_leaf(why->pool, 0, ref_type(of->model, ref));
        text_add(to, shown++ ? ", " : " with ");
        text_add(to, expr_text(of->model, leaf, &ref, to->arena));
        text_add(to, " = ");
        if (leaf->type.kind == TYPE_REAL)
            text_real(to, leaves[k].r);
        else
            text_integer(to, leaves[k].i);
    }
}

static void explain_table(const Explainer *of, const Table *table, double argument, Why *why)
{
    Text *to = &why->text;
    why->cause = KOINE_CAUSE_TABLE;
    text_format(to, "the argument ");
    text_real(to, argument);
    text_format(to, " of the table %s lies outside ", names_of(pool_names(of->model->pool), table->name));
    text_real(to, table->x[0]);
    text_add(to, " .. ");
    text_real(to, table->x[table->n - 1]);
}

/* ---- elements: in a copy of the expression each is a leaf of its own, with the value it has now ---- */
enum { MOST_LEAVES = 256 };
typedef struct {
    const Explainer *of;
    Pool *pool;
    const KoineSlot *m;
    const Ref *refs;
    const int64_t *iterators; /* NULL: none */
    Value leaves[MOST_LEAVES];
    uint32_t n;
    const Expr *from[MOST_LEAVES], *to[MOST_LEAVES];
    int64_t outside[MOST_LEAVES]; /* per replaced leaf: the index that is outside, else 1 */
    uint32_t place[MOST_LEAVES];  /* ... of which dimension */
    uint32_t n_replaced;
    bool is_too_large;
} Elements;

static void replace_elements(Elements *x, const Expr *e);

static void replace_element(Elements *x, const Expr *e)
{
    const Model *model = x->of->model;
    const Ref ref = x->refs[e->u.leaf];
    const Variable *v = model_var(model, ref.var);
    int64_t number = 0, outside = 1;
    uint32_t place = 0;
    for (uint32_t k = 0; k < x->n_replaced; k++)
        if (x->from[k] == e)
            return;
    for (uint32_t k = 0; k < e->n_args; k++) {
        Value index = { .i = 0 };
        const int64_t extent = model->dims.at[v->first_dim + k].extent;
        replace_elements(x, e->args[k]);
        const Expr *plain = expr_substitute(x->pool, e->args[k], x->n_replaced, x->from, x->to);
        if (x->is_too_large || !plain || !expr_evaluate(plain, x->leaves, x->iterators, &index)) {
            x->is_too_large = true;
            return;
        }
        if ((index.i < 1 || index.i > extent) && outside == 1) {
            outside = index.i;
            place = k + 1;
        }
        if (!place)
            number = number * extent + index.i - 1;
    }
    if (x->n == MOST_LEAVES || x->n_replaced == MOST_LEAVES) {
        x->is_too_large = true;
        return;
    }
    Value value = { .i = INTEGER_FAULT };
    if (e->type.kind == TYPE_REAL)
        value.r = NAN;
    if (!place)
        value.i = x->m[slot_of(x->of->slots, ref) + number].i;
    x->leaves[x->n] = value;
    x->from[x->n_replaced] = e;
    x->to[x->n_replaced] = expr_leaf(x->pool, x->n++, e->type);
    x->outside[x->n_replaced] = outside;
    x->place[x->n_replaced++] = place;
}

static void replace_elements(Elements *x, const Expr *e)
{
    if (e->kind == EXPR_LEAF && e->n_args) {
        replace_element(x, e);
        return;
    }
    for (uint32_t k = 0; k < e->n_args && !x->is_too_large; k++)
        replace_elements(x, e->args[k]);
}

/* A term with elements of arrays, at one point of its ranges. is_certain: that there was a fault is known, so an index
 * outside is to blame even where a comparison hides it. */
static bool explain_elements(const Explainer *of, Term term, const KoineSlot *m, const int64_t *iterators,
                             bool is_certain, Why *why)
{
    Text *to = &why->text;
    const Model *model = of->model;
    Elements x = { .of = of,
                   .pool = why->pool,
                   .m = m,
                   .refs = term_refs(model, term),
                   .iterators = iterators,
                   .n = term.shape->n_leaves };
    for (uint32_t k = 0; k < x.n; k++)
        x.leaves[k] = value_in(of, m, x.refs[k]);
    replace_elements(&x, term.shape);
    const Expr *where, *plain;
    Value operands[2];
    if (x.is_too_large || !(plain = expr_substitute(why->pool, term.shape, x.n_replaced, x.from, x.to)))
        return false;
    if (!expr_fault(plain, x.leaves, iterators, &where, operands)) {
        uint32_t k = 0;
        while (k < x.n_replaced && !x.place[k])
            k++;
        if (!is_certain || k == x.n_replaced)
            return false;
        where = x.to[k];
    }
    bool by_index = false; /* an index may itself be an element outside: that one is to blame, and stands before */
    for (uint32_t k = 0; k < x.n_replaced; k++)
        by_index |= x.to[k] == where && x.place[k] && x.outside[k] == INTEGER_FAULT;
    for (uint32_t k = 0; k < x.n_replaced; k++)
        if (x.place[k] && (x.to[k] == where || by_index)) {
            const Ref ref = x.refs[x.from[k]->u.leaf];
            const Variable *v = model_var(model, ref.var);
            text_format(to, "index %lld of '%s' is outside 1 to %lld", (long long)x.outside[k],
                        variable_path(model, ref.var, to->arena),
                        (long long)model->dims.at[v->first_dim + x.place[k] - 1].extent);
            why->cause = KOINE_CAUSE_INDEX;
            return true;
        }
    if (where->kind == EXPR_TABLE)
        explain_table(of, where->u.table, operands[0].r, why);
    else if (where->kind == EXPR_FUNCTION)
        add_call(of, why, where, x.leaves, iterators);
    else
        text_add(to, what_failed(where, &why->cause));
    text_format(to, ": %s", term_text(model, term, to->arena));
    return true;
}

static bool explain_array_term(const Explainer *of, Term term, DomainId domain, const KoineSlot *m, bool is_certain,
                               Why *why)
{
    enum { MOST_POINTS = 100000 };
    const Domain *d = &of->model->domains.at[domain.index];
    int64_t at[ELEMENT_LEVELS] = { 0 };
    if (d->n > ELEMENT_LEVELS || term.shape->n_leaves > MOST_LEAVES || term.shape->type.rank)
        return false;
    for (uint32_t k = 0; k < d->n; k++)
        at[k] = of->model->iterators.at[d->first + k].first;
    const uint64_t count = domain_count(of->model, domain);
    for (uint64_t n = 0; n < count && n < MOST_POINTS; n++) {
        if (explain_elements(of, term, m, at, is_certain, why))
            return true;
        for (uint32_t k = d->n; k-- > 0;) { /* next point, innermost first */
            const Iterator *it = &of->model->iterators.at[d->first + k];
            at[k] += it->stride;
            if ((at[k] - it->first) / it->stride < it->count)
                break;
            at[k] = it->first;
        }
    }
    return false;
}

/* False: the term has a value. */
static bool explain_over(const Explainer *of, Term term, DomainId domain, const KoineSlot *m, Why *why)
{
    Text *to = &why->text;
    Value leaves[MOST_LEAVES], operands[2];
    if (!term.shape || term.shape->n_leaves > MOST_LEAVES)
        return false;
    const bool is_call = term.shape->kind == EXPR_FUNCTION;
    if (term.shape->has_index || (term.shape->type.rank && !is_call))
        return explain_array_term(of, term, domain, m, false, why);
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        leaves[k] = value_in(of, m, term_refs(of->model, term)[k]);
    const Expr *where;
    if (!expr_fault(term.shape, leaves, NULL, &where, operands))
        return false;
    if (where->kind == EXPR_TABLE) {
        explain_table(of, where->u.table, operands[0].r, why);
        where = expr_table(why->pool, where->u.table, where->op, where->args[0], NULL); /* as it was written */
    } else if (where->kind == EXPR_FUNCTION)
        add_call(of, why, where, leaves, NULL);
    else
        text_add(to, what_failed(where, &why->cause));
    text_add(to, where->kind == EXPR_FUNCTION ? "; called as " : ": ");
    if (where->kind == EXPR_CALL && where->op == OP_NARROW)
        where = where->args[0]; /* as it was written */
    else if (where->kind == EXPR_CALL && where->op == OP_AT_LEAST)
        where = expr_binary(why->pool, OP_GE, where->args[0], where->args[1]);
    text_add(to, expr_text(of->model, where, term_refs(of->model, term), to->arena));
    add_operands(of, why, where, term, leaves);
    return true;
}

/* An index outside that a comparison hides. */
static bool blame_index(const Explainer *of, Term term, const KoineSlot *m, Why *why)
{
    return term.shape && term.shape->has_index && explain_array_term(of, term, (DomainId){ 0 }, m, true, why);
}

static bool explain_term(const Explainer *of, Term term, const KoineSlot *m, Why *why)
{
    return explain_over(of, term, (DomainId){ 0 }, m, why);
}

/* What is not pure is not called once more to see why: the site of the fault must do. */
static bool explain_impure(const Explainer *of, const OriginEffect *effect, const KoineSlot *m, Why *why)
{
    bool is_impure = false;
    for (uint32_t k = 0; k < effect->n_values; k++)
        is_impure |= effect->values[k].shape && expr_is_impure(effect->values[k].shape);
    if (!is_impure || of->slots->calls == KOINE_NONE ||
        !add_site(of, &why->text, (uint32_t)m[of->slots->calls + CALL_NOTED].i, m))
        return false;
    why->cause = KOINE_CAUSE_FUNCTION;
    return true;
}

static bool explain_effect(const Explainer *of, const OriginEffect *effect, const KoineSlot *m, Why *why)
{
    bool found = explain_impure(of, effect, m, why) || explain_term(of, effect->guard, m, why);
    for (uint32_t k = 0; k < effect->n_values && !found; k++)
        found = explain_term(of, effect->values[k], m, why);
    found = found || blame_index(of, effect->guard, m, why);
    for (uint32_t k = 0; k < effect->n_values && !found; k++)
        found = blame_index(of, effect->values[k], m, why);
    return found;
}

/* Where nothing can be evaluated again: the function that failed, if one did. */
static void add_noted(const Explainer *of, const KoineSlot *m, Why *why)
{
    const uint32_t site = of->slots->calls == KOINE_NONE ? 0 : (uint32_t)m[of->slots->calls + CALL_NOTED].i;
    if (site && add_site(of, &why->text, site, m))
        why->cause = KOINE_CAUSE_FUNCTION;
    else
        text_add(&why->text, "no finite value");
}

static void explain_origin(const Explainer *of, uint32_t origin, const KoineSlot *m, Why *why)
{
    Text *to = &why->text;
    why->cause = KOINE_CAUSE_NOT_FINITE;
    const Model *model = of->model;
    const Schedule *schedule;
    const Block *b = origin_block(of, origin, &schedule);
    if (!b) {
        const OriginEffect effect = origin_effect(of, origin, to->arena);
        if (!explain_effect(of, &effect, m, why))
            add_noted(of, m, why);
        text_format(to, " (in %s)", effect.what);
        return;
    }
    bool found = false;
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN:
        found = explain_over(of, b->u.assign.rhs, b->u.assign.domain, m, why) ||
                (!b->u.assign.domain.index && blame_index(of, b->u.assign.rhs, m, why));
        break;
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE:
        for (uint32_t k = 0; k < block_rows(b).n_rows && !found; k++) {
            const SystemRow *row = &schedule->rows.at[block_rows(b).first_row + k];
            found = explain_term(of, row->lhs, m, why) || explain_term(of, row->rhs, m, why);
        }
        break;
    case BLOCK_RELATION: {
        const Relation *r = &model->relations.at[b->u.object];
        found = explain_over(of, r->left, r->domain, m, why) || explain_over(of, r->right, r->domain, m, why);
        break;
    }
    case BLOCK_STEP: found = explain_term(of, model->steps.at[b->u.object].argument, m, why); break;
    case BLOCK_FOREIGN:
    case BLOCK_TRANSITION: break;
    }
    if (!found)
        add_noted(of, m, why);
    if (b->kind == BLOCK_ASSIGN)
        text_format(to,
                    is_differentiated(model, b->equation) ? " (in the derivative of this equation, for %s)"
                                                          : " (in the equation of %s)",
                    term_text(model, b->u.assign.lhs, to->arena));
}

/* The first moving block without finite value: evaluation failed somewhere in a part. */
static uint32_t find_origin(const Explainer *of, const KoineSlot *m, Why *scratch)
{
    for (uint32_t k = 0; k < of->schedule->blocks.n; k++) {
        const Block *b = &of->schedule->blocks.at[k];
        const size_t before = scratch->text.n;
        bool found = false;
        if (b->kind == BLOCK_ASSIGN && b->is_moving)
            found = explain_over(of, b->u.assign.rhs, b->u.assign.domain, m, scratch);
        for (uint32_t j = 0; block_is_system(b) && j < b->u.system.n_rows && !found; j++) {
            const SystemRow *row = &of->schedule->rows.at[block_rows(b).first_row + j];
            found = explain_term(of, row->lhs, m, scratch) || explain_term(of, row->rhs, m, scratch);
        }
        scratch->text.n = before;
        if (found)
            return k;
    }
    return KOINE_NONE;
}

static bool is_endless(const Explainer *of, const KoineSlot *m)
{
    const uint32_t kind = (uint32_t)m[of->slots->calls + CALL_NOTED].i & ((1u << SITE_KIND_BITS) - 1);
    return kind == ROUTINE_ENDLESS;
}

/* The name of a system of equations, as `koine inspect` has it. */
static void name_block(const Explainer *of, uint32_t origin, char *to, size_t size)
{
    const Schedule *schedule;
    const Block *b = origin == KOINE_NONE ? NULL : origin_block(of, origin, &schedule);
    if (b && b->kind >= BLOCK_LINEAR && b->kind <= BLOCK_ITERATE)
        snprintf(to, size, "%c%u", schedule == of->schedule ? 'b' : 'i', (unsigned)(b - schedule->blocks.at) + 1);
}

static void explain_nothing(Why *why)
{
    text_add(&why->text, "a derivative has no finite value");
    why->cause = KOINE_CAUSE_NOT_FINITE;
}

void explain_fault(void *context, KoineModel *model, uint32_t origin)
{
    const Explainer *of = context;
    Arena *scratch = arena_create_like(of->arena);
    const KoineSlot *m = (const KoineSlot *)(const void *)model->block;
    Why why = begin_why(of, scratch, m);
    Text *text = &why.text;
    const bool endless = of->slots->calls != KOINE_NONE && is_endless(of, m);
    if (origin == KOINE_NONE && !endless)
        origin = find_origin(of, m, &why);
    const Span span = origin == KOINE_NONE ? SPAN_NONE : origin_span(of, origin, m);
    if (span.source != SOURCE_NONE) {
        const LineColumn at = span_begin(of->model->sources, span);
        model->fault.place = (KoinePlace){ span.source, at.line, at.column };
        add_place(of, text, span);
        text_add(text, ": ");
    }
    const uint32_t site = of->slots->calls == KOINE_NONE ? 0 : (uint32_t)m[of->slots->calls + CALL_NOTED].i;
    if (model->fault.text[0]) /* the machine said what happened, only the place was missing */
        text_add(text, model->fault.text);
    else if (origin != KOINE_NONE && !endless)
        explain_origin(of, origin, m, &why);
    else if (add_site(of, text, site, m))
        why.cause = KOINE_CAUSE_FUNCTION;
    else
        explain_nothing(&why);
    if (origin != KOINE_NONE)
        add_component(of, origin, text);
    model->fault.cause = why.cause;
    name_block(of, origin, model->fault.block, sizeof model->fault.block);
    snprintf(model->fault.text, sizeof model->fault.text, "%s", text->at ? text->at : "");
    arena_destroy(scratch);
}

void describe_row(void *context, const KoineModel *model, uint32_t origin, uint32_t row, char *to, size_t size)
{
    const Explainer *of = context;
    const Schedule *schedule;
    const Block *b = origin_block(of, origin, &schedule);
    Arena *scratch = arena_create_like(of->arena);
    Text text = { .arena = scratch };
    (void)model;
    if (b && row < block_rows(b).n_rows - block_rows(b).n_inner) { /* residuals come last */
        const SystemRow *own = &schedule->rows.at[block_rows(b).first_row + block_rows(b).n_inner + row];
        const Span span = of->model->equations.at[own->equation.index].origin.span;
        if (span.source != SOURCE_NONE) {
            add_place(of, &text, span);
            text_add(&text, is_differentiated(of->model, own->equation) ? ": derivative of this equation: " : ": ");
        }
        text_format(&text, "%.100s = %.100s", term_text(of->model, own->lhs, scratch),
                    term_text(of->model, own->rhs, scratch));
    }
    snprintf(to, size, "%s", text.at ? text.at : "");
    arena_destroy(scratch);
}

/* ---- functions that failed ---- */
/* Whether the value of a term suffers from a function that failed; one that cannot be looked at is taken to. */
static bool suffers(const Explainer *of, Term term, const KoineSlot *m, Why *scratch)
{
    if (!term.shape || !term.shape->has_call)
        return false;
    if (expr_is_impure(term.shape)) /* it is not called once more to see */
        return true;
    scratch->text.n = 0;
    return term.shape->has_index || expr_has_texts(term.shape) || explain_term(of, term, m, scratch);
}

static bool block_suffers(const Explainer *of, const Schedule *schedule, const Block *b, const KoineSlot *m,
                          Why *scratch)
{
    const Model *model = of->model;
    bool result = false;
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN: return suffers(of, b->u.assign.rhs, m, scratch);
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE:
        for (uint32_t k = 0; k < block_rows(b).n_rows && !result; k++) {
            const SystemRow *row = &schedule->rows.at[block_rows(b).first_row + k];
            result = suffers(of, row->lhs, m, scratch) || suffers(of, row->rhs, m, scratch);
        }
        return result;
    case BLOCK_RELATION: {
        const Relation *r = &model->relations.at[b->u.object];
        return !r->is_guarded && (suffers(of, r->left, m, scratch) || suffers(of, r->right, m, scratch));
    }
    case BLOCK_STEP:
        return !model->steps.at[b->u.object].is_guarded &&
               suffers(of, model->steps.at[b->u.object].argument, m, scratch);
    case BLOCK_FOREIGN:
    case BLOCK_TRANSITION: return false;
    }
    return false;
}

static bool parameters_suffer(const Explainer *of, const KoineSlot *m, Why *scratch)
{
    bool result = false;
    for (uint32_t k = 0; k < of->model->variables.n && !result; k++) {
        const Variable *v = &of->model->variables.at[k];
        result = suffers(of, v->binding, m, scratch) || suffers(of, v->start, m, scratch);
    }
    return result;
}

static bool effect_suffers(const Explainer *of, uint32_t origin, const KoineSlot *m, Why *why)
{
    const OriginEffect effect = origin_effect(of, origin, NULL);
    bool found = suffers(of, effect.guard, m, why);
    for (uint32_t k = 0; k < effect.n_values && !found; k++)
        found = suffers(of, effect.values[k], m, why);
    return found;
}

bool fault_matters(void *context, const KoineModel *model, uint32_t origin)
{
    const Explainer *of = context;
    Arena *scratch = arena_create_like(of->arena);
    const KoineSlot *m = (const KoineSlot *)(const void *)model->block;
    Why why = begin_why(of, scratch, m);
    bool matters = is_endless(of, m); /* what ran so long is not run again to see */
    if (!matters && origin == KOINE_NONE) {
        for (uint32_t k = 0; k < of->schedule->blocks.n && !matters; k++)
            matters = of->schedule->blocks.at[k].is_moving &&
                      block_suffers(of, of->schedule, &of->schedule->blocks.at[k], m, &why);
        matters = matters || parameters_suffer(of, m, &why);
    } else if (!matters) {
        const Schedule *schedule;
        const Block *b = origin_block(of, origin, &schedule);
        matters = b ? block_suffers(of, schedule, b, m, &why) : effect_suffers(of, origin, m, &why);
    }
    arena_destroy(scratch);
    return matters;
}
