/* Leaves with an index become leaves with a slot and strides; see kernels.h. */
#include "emit/program/kernels.h"
#include "base/bug.h"
#include "ir/evaluate.h"
#include "ir/memo.h"
#include "ir/simplify.h"
#include "ir/substitute.h"

typedef struct {
    Kernels *ks;
    DomainId domain;
    const Ref *refs;
    VEC(const Expr *) from;
    VEC(const Expr *) to;
    VEC(ElementMap) maps;
    VEC(uint32_t) base; /* slot of element 0 */
    uint32_t n_leaves;
    bool has_chosen; /* some element has an index that is known only at run time */
    bool has_hiding; /* some Integer that may have no value is compared */
    bool has_tables; /* some expressions are known at each point */
} Flat;

static const Expr *new_leaf(Flat *f, Type type, ElementMap map, uint32_t base)
{
    vec_push(f->ks->arena, &f->maps, map);
    vec_push(f->ks->arena, &f->base, base);
    return expr_leaf(f->ks->model->pool, f->n_leaves++, type);
}

static void replace(Flat *f, const Expr *from, const Expr *to)
{
    vec_push(f->ks->arena, &f->from, from);
    vec_push(f->ks->arena, &f->to, to);
}

/* A slot that says: no value. */
static uint32_t no_value(Kernels *ks, Type type)
{
    uint32_t *slot = type.kind == TYPE_REAL ? &ks->no_real : &ks->no_integer;
    if (!*slot) {
        KoineConstant constant = { take_slots(ks, 1), 1, { .i = INTEGER_FAULT } };
        if (type.kind == TYPE_REAL)
            constant.value.r = NAN;
        vec_push(ks->arena, &ks->constants, constant);
        *slot = constant.slot;
    }
    return *slot;
}

/* An element whose index is known only at run time: if it is inside, the slot so many behind the first one, else no
 * value, which is a fault wherever it gets. */
static const Expr *chosen_element(Flat *f, const Expr *e)
{
    Model *m = f->ks->model;
    Pool *pool = m->pool;
    const Ref ref = f->refs[e->u.leaf];
    const Variable *v = model_var(m, ref.var);
    const Expr *inside = NULL, *offset = NULL, *one = expr_integer(pool, 1);
    for (uint32_t k = 0; k < e->n_args; k++) {
        const Expr *extent = expr_integer(pool, m->dims.at[v->first_dim + k].extent);
        const Expr *index = expr_substitute(pool, e->args[k], f->from.n, f->from.at, f->to.at);
        REQUIRE(index);
        const Expr *own = expr_binary(pool, OP_AND, expr_literal_relation(pool, OP_GE, index, one),
                                      expr_literal_relation(pool, OP_LE, index, extent));
        const Expr *from_0 = expr_binary(pool, OP_SUB, index, one);
        inside = inside ? expr_binary(pool, OP_AND, inside, own) : own;
        offset = offset ? expr_binary(pool, OP_ADD, expr_binary(pool, OP_MUL, offset, extent), from_0) : from_0;
    }
    const ElementMap fixed = { 0 };
    const Expr *first = new_leaf(f, e->type, fixed, slot_of(f->ks->slots, ref));
    const Expr *none = new_leaf(f, e->type, fixed, no_value(f->ks, e->type));
    return expr_if(pool, inside, expr_binary(pool, OP_ELEMENT, first, offset), none);
}

static const Expr *lost_value(Flat *f, Type type)
{
    return type.kind == TYPE_INTEGER ? expr_integer(f->ks->model->pool, INTEGER_FAULT)
                                     : new_leaf(f, type, (ElementMap){ 0 }, no_value(f->ks, type));
}

/* Whether evaluating `e`, which is flat, meets an index outside its array or compares an Integer or text without value;
 * NULL: never. A comparison would hide it.
 * Only what is evaluated counts: the second operand of AND and OR, and the branches of IF, behind what decides. */
static const Expr *is_outside(Flat *f, const Expr *e, Memo *memo);

static const Expr *either(Pool *pool, const Expr *a, const Expr *b)
{
    return a && b ? expr_binary(pool, OP_OR, a, b) : a ? a : b;
}

static const Expr *find_outside(Flat *f, const Expr *e, Memo *memo)
{
    Pool *pool = f->ks->model->pool;
    if (e->kind == EXPR_IF && e->args[1]->kind == EXPR_CALL && e->args[1]->op == OP_ELEMENT)
        return expr_unary(pool, OP_NOT, e->args[0]); /* of chosen_element */
    const Expr *first = e->n_args ? is_outside(f, e->args[0], memo) : NULL;
    const bool is_and = e->kind == EXPR_CALL && e->op == OP_AND, is_or = e->kind == EXPR_CALL && e->op == OP_OR;
    if (is_and || is_or) {
        const Expr *second = is_outside(f, e->args[1], memo);
        const Expr *decides = is_and ? e->args[0] : expr_unary(pool, OP_NOT, e->args[0]);
        return either(pool, first, second ? expr_binary(pool, OP_AND, decides, second) : NULL);
    }
    if (e->kind == EXPR_IF) {
        const Expr *then = is_outside(f, e->args[1], memo), *otherwise = is_outside(f, e->args[2], memo);
        const Expr *never = expr_boolean(pool, false);
        return then || otherwise
                   ? either(pool, first, expr_if(pool, e->args[0], then ? then : never, otherwise ? otherwise : never))
                   : first;
    }
    for (uint32_t k = 1; k < e->n_args; k++)
        first = either(pool, first, is_outside(f, e->args[k], memo));
    for (uint32_t k = 0; k < e->n_args && e->kind == EXPR_CALL && op_is_relation((Op)e->op); k++)
        if (e->args[k]->is_checked)
            first =
                either(pool, first, expr_literal_relation(pool, OP_EQ, e->args[k], lost_value(f, e->args[k]->type)));
    return first;
}

static const Expr *is_outside(Flat *f, const Expr *e, Memo *memo)
{
    uint32_t known;
    if (e->n_args == 0)
        return NULL;
    if (memo_get(memo, e, &known))
        return known == ID_NONE ? NULL : pool_node(f->ks->model->pool, known);
    const Expr *found = find_outside(f, e, memo);
    memo_put(memo, e, found ? found->id : ID_NONE);
    return found;
}

/* The expression, and no value where an index is outside or an Integer compared has none. */
static const Expr *guard_elements(Flat *f, const Expr *e)
{
    const ElementMap fixed = { 0 };
    Memo memo;
    if (!f->has_chosen && !f->has_hiding)
        return e;
    memo_begin(&memo, NULL);
    const Expr *outside = is_outside(f, e, &memo);
    memo_end(&memo);
    if (!outside || expr_too_deep(outside, e))
        return e;
    return expr_if(f->ks->model->pool, outside, new_leaf(f, e->type, fixed, no_value(f->ks, e->type)), e);
}

static bool is_replaced(const Flat *f, const Expr *e)
{
    for (uint32_t k = 0; k < f->from.n; k++)
        if (f->from.at[k] == e)
            return true;
    return false;
}

static void flatten_leaves(Flat *f, const Expr *e);

static void flatten_leaf(Flat *f, const Expr *e, bool is_argument)
{
    Model *m = f->ks->model;
    if (is_replaced(f, e))
        return;
    Type scalar = e->type;
    scalar.rank = 0;
    ElementMap map;
    if (!element_map(m, e, f->refs, f->domain, &map)) {
        for (uint32_t k = 0; k < e->n_args; k++)
            flatten_leaves(f, e->args[k]);
        replace(f, e, chosen_element(f, e));
        f->has_chosen = true;
        return;
    }
    if (e->type.rank && !is_argument)
        map.step[0] = 1;                              /* whole array, element by element */
    const Type type = is_argument ? e->type : scalar; /* an argument is where the array begins */
    replace(f, e, new_leaf(f, type, map, slot_of(f->ks->slots, f->refs[e->u.leaf])));
}

static void flatten_leaves(Flat *f, const Expr *e)
{
    if (e->kind == EXPR_LEAF) {
        flatten_leaf(f, e, true);
        return;
    }
    if (f->has_tables && is_replaced(f, e))
        return;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (e->args[k]->n_leaves)
            flatten_leaves(f, e->args[k]);
}

static bool has_iterator(const Expr *e, uint32_t level)
{
    if (e->kind == EXPR_ITERATOR)
        return e->u.iterator == level;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (has_iterator(e->args[k], level))
            return true;
    return false;
}

/* The loop variable of an outer range, used as a value: a leaf whose slots hold the values of the range. */
static void flatten_iterator(Flat *f, uint32_t level)
{
    Kernels *ks = f->ks;
    const Iterator *it = &ks->model->iterators.at[ks->model->domains.at[f->domain.index].first + level];
    ElementMap map = { 0 };
    map.step[level] = 1;
    const uint32_t first = take_slots(ks, (uint64_t)it->count);
    for (int64_t k = 0; k < it->count; k++) {
        const KoineConstant value = { first + (uint32_t)k, 1, { .i = it->first + k * it->stride } };
        vec_push(ks->arena, &ks->constants, value);
    }
    replace(f, expr_iterator(ks->model->pool, level), new_leaf(f, INTEGER_TYPE, map, first));
}

/* One loop over the innermost range; the outer ranges become rows. */
void lay_assignment(Kernels *ks, Term lhs, Term rhs, DomainId domain)
{
    enum { FEW = 32 };
    Model *m = ks->model;
    const Domain *d = &m->domains.at[domain.index];
    const bool is_whole = lhs.shape->n_args == 0 && lhs.shape->type.rank > 0;
    const bool hides = rhs.shape->has_hiding;
    if (!rhs.shape->has_index && !is_whole && d->n == 0 && lhs.shape->n_args == 0 && !hides) { /* as usual: scalar */
        const uint32_t n = rhs.shape->n_leaves;
        uint32_t few[FEW + 1];
        uint32_t *row = n <= FEW ? few : NEW_ARRAY(ks->arena, uint32_t, n + 1);
        row[0] = slot_of(ks->slots, term_refs(m, lhs)[0]);
        for (uint32_t k = 0; k < n; k++)
            row[k + 1] = slot_of(ks->slots, term_refs(m, rhs)[k]);
        const Piece piece = { kernel_for(ks, 1, &rhs.shape, n, NULL, NULL), put_row(ks, row, n + 1), 1 };
        vec_push(ks->arena, &ks->pieces, piece);
        return;
    }
    Flat f = { .ks = ks, .domain = domain, .refs = term_refs(m, lhs), .has_hiding = hides };
    flatten_leaf(&f, lhs.shape, false);
    f.from.n = f.to.n = f.n_leaves = 0; /* the target is no leaf of the kernel */
    f.refs = term_refs(m, rhs);
    if (rhs.shape->kind == EXPR_LEAF)
        flatten_leaf(&f, rhs.shape, false);
    else
        flatten_leaves(&f, rhs.shape);
    const bool is_call = rhs.shape->kind == EXPR_FUNCTION && rhs.shape->type.rank;
    /* a whole array is one leaf, or what a call gives: split-arrays gives all others a range */
    const Expr *shape = rhs.shape->type.rank && !is_call
                            ? f.to.at[0]
                            : expr_substitute(m->pool, rhs.shape, f.from.n, f.from.at, f.to.at);
    REQUIRE(shape);
    f.from.n = f.to.n = 0;
    const uint32_t inner = d->n ? d->n - 1 : 0;
    int64_t outer = 1;
    for (uint32_t k = 0; k < inner; k++) {
        outer *= m->iterators.at[d->first + k].count;
        if (has_iterator(shape, k))
            flatten_iterator(&f, k);
    }
    shape = expr_substitute(m->pool, shape, f.from.n, f.from.at, f.to.at);
    REQUIRE(shape);
    shape = guard_elements(&f, shape);
    const bool uses_iterator = d->n && has_iterator(shape, inner);
    if (uses_iterator && inner) {
        const Expr *from = expr_iterator(m->pool, inner), *to = expr_iterator(m->pool, 0);
        shape = expr_substitute(m->pool, shape, 1, &from, &to);
    }
    const uint32_t n_leaves = f.n_leaves, width = n_leaves + 1;
    const uint64_t count = is_call    ? 1
                           : is_whole ? variable_count(m, term_refs(m, lhs)[0].var)
                           : d->n     ? (uint64_t)m->iterators.at[d->first + inner].count
                                      : 1;
    int32_t *strides = is_call || (d->n == 0 && !is_whole) ? NULL : NEW_ARRAY(ks->arena, int32_t, width);
    for (uint32_t k = 0; k < width && strides; k++)
        strides[k] = (int32_t)f.maps.at[k].step[inner];
    const int32_t iterator_stride = uses_iterator ? (int32_t)m->iterators.at[d->first + inner].stride : 0;
    const uint32_t kernel = kernel_for(ks, 1, &shape, n_leaves, strides, uses_iterator ? &iterator_stride : NULL);
    uint32_t *row = NEW_ARRAY(ks->arena, uint32_t, width + 1);
    int64_t j[ELEMENT_LEVELS] = { 0 };
    for (int64_t n = 0; count && n < outer; n++) {
        for (uint32_t k = 0; k < width; k++) {
            int64_t slot = (int64_t)f.base.at[k] + f.maps.at[k].base;
            for (uint32_t i = 0; i < inner; i++)
                slot += f.maps.at[k].step[i] * j[i];
            row[k] = (uint32_t)slot;
        }
        row[width] = uses_iterator ? (uint32_t)(int32_t)m->iterators.at[d->first + inner].first : 0;
        const Piece piece = { kernel, put_row(ks, row, width + uses_iterator), (uint32_t)count };
        vec_push(ks->arena, &ks->pieces, piece);
        for (uint32_t k = inner; k-- > 0;) {
            if (++j[k] < m->iterators.at[d->first + k].count)
                break;
            j[k] = 0;
        }
    }
}

Piece lay_terms(Kernels *ks, uint32_t n, const Term *terms, const uint32_t *slots)
{
    Model *m = ks->model;
    TermBuilder builder = term_builder(m);
    const Expr **outputs = NEW_ARRAY(ks->arena, const Expr *, n);
    for (uint32_t k = 0; k < n; k++)
        outputs[k] = term_import(&builder, terms[k]);
    bool has_index = false, hides = false;
    for (uint32_t k = 0; k < n; k++) {
        has_index |= outputs[k]->has_index;
        hides |= outputs[k]->has_hiding;
    }
    uint32_t n_leaves = builder.refs.n;
    uint32_t *row = NEW_ARRAY(ks->arena, uint32_t, n + n_leaves + 1);
    if (has_index || hides) {
        Flat f = { .ks = ks, .refs = builder.refs.at, .has_hiding = hides };
        for (uint32_t k = 0; k < n; k++)
            flatten_leaves(&f, outputs[k]);
        for (uint32_t k = 0; k < n; k++)
            outputs[k] = guard_elements(&f, expr_substitute(m->pool, outputs[k], f.from.n, f.from.at, f.to.at));
        row = NEW_ARRAY(ks->arena, uint32_t, n + f.n_leaves + 1);
        n_leaves = f.n_leaves;
        for (uint32_t k = 0; k < n_leaves; k++)
            row[n + k] = (uint32_t)((int64_t)f.base.at[k] + f.maps.at[k].base);
    } else {
        for (uint32_t k = 0; k < n_leaves; k++)
            row[n + k] = slot_of(ks->slots, builder.refs.at[k]);
    }
    memcpy(row, slots, n * sizeof *slots);
    return (Piece){ kernel_for(ks, n, outputs, n_leaves, NULL, NULL), put_row(ks, row, n + n_leaves), 1 };
}

/* ---- what is known at each point before the run ---- */
/* The value of a structural parameter that is written down: nothing can change it. */
static const Expr *structural_value(const Flat *f, const Expr *leaf)
{
    const Ref ref = f->refs[leaf->u.leaf];
    const Variable *v = ref_is_of_variable(ref) && leaf->type.rank == 0 ? model_var(f->ks->model, ref.var) : NULL;
    const bool is_number = v && v->variability == VARIABILITY_STRUCTURAL && v->type.rank == 0 && v->binding.shape &&
                           v->binding.shape->kind == EXPR_INTEGER;
    return is_number ? v->binding.shape : NULL;
}

static void note_structural(const Flat *f, const Expr *e, Value *values)
{
    if (e->kind == EXPR_LEAF)
        values[e->u.leaf].i = structural_value(f, e)->u.integer;
    for (uint32_t k = 0; k < e->n_args && e->n_leaves; k++)
        note_structural(f, e->args[k], values);
}

static bool is_known(const Flat *f, const Expr *e, bool *has_iterator)
{
    if (e->kind == EXPR_LEAF)
        return structural_value(f, e) != NULL;
    *has_iterator |= e->kind == EXPR_ITERATOR;
    if (e->kind != EXPR_CALL)
        return e->kind == EXPR_ITERATOR || e->kind == EXPR_REAL || e->kind == EXPR_INTEGER;
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!is_known(f, e->args[k], has_iterator))
            return false;
    return true;
}

/* A Real that is known at each point becomes a slot for each of them. False: somewhere it has no value. */
static bool tabulate(Flat *f, const Expr *e)
{
    Model *m = f->ks->model;
    const Domain *d = &m->domains.at[f->domain.index];
    const uint64_t count = domain_count(m, f->domain);
    const uint32_t first = take_slots(f->ks, count);
    Value *values = NEW_ARRAY(f->ks->scratch, Value, (size_t)e->n_leaves + 1);
    ElementMap map = { 0 };
    int64_t weight = 1, j[ELEMENT_LEVELS] = { 0 }, iterators[ELEMENT_LEVELS];
    for (uint32_t k = d->n; k-- > 0; weight *= m->iterators.at[d->first + k].count)
        map.step[k] = weight;
    note_structural(f, e, values);
    for (uint64_t i = 0; i < count; i++) {
        Value value;
        for (uint32_t k = 0; k < d->n; k++)
            iterators[k] = m->iterators.at[d->first + k].first + j[k] * m->iterators.at[d->first + k].stride;
        if (!expr_evaluate(e, values, iterators, &value) || !isfinite(value.r))
            return false;
        add_constant(f->ks, first + (uint32_t)i, 1, (KoineSlot){ .r = value.r });
        for (uint32_t k = d->n; k-- > 0; j[k] = 0)
            if (++j[k] < m->iterators.at[d->first + k].count)
                break;
    }
    replace(f, e, new_leaf(f, e->type, map, first));
    f->has_tables = true;
    return true;
}

static void tabulate_known(Flat *f, const Expr *e)
{
    bool has_iterator = false;
    if (e->kind == EXPR_LEAF || e->n_args == 0)
        return;
    if (e->kind == EXPR_CALL && e->type.kind == TYPE_REAL && e->type.rank == 0 && is_known(f, e, &has_iterator) &&
        has_iterator && !is_replaced(f, e) && tabulate(f, e))
        return;
    for (uint32_t k = 0; k < e->n_args; k++)
        tabulate_known(f, e->args[k]);
}

/* Leaves with an index and loop variables of the domain become leaves with slots. */
static void flatten_outputs(Flat *f, uint32_t n, const Expr **outputs)
{
    Model *m = f->ks->model;
    for (uint32_t k = 0; k < n; k++)
        tabulate_known(f, outputs[k]);
    for (uint32_t k = 0; k < n; k++)
        flatten_leaves(f, outputs[k]);
    for (uint32_t k = 0; k < n; k++)
        outputs[k] = expr_substitute(m->pool, outputs[k], f->from.n, f->from.at, f->to.at);
    f->from.n = f->to.n = 0;
    for (uint32_t level = 0; level < m->domains.at[f->domain.index].n; level++) {
        bool is_used = false;
        for (uint32_t k = 0; k < n; k++)
            is_used |= has_iterator(outputs[k], level);
        if (is_used)
            flatten_iterator(f, level);
    }
    for (uint32_t k = 0; k < n; k++)
        outputs[k] = guard_elements(f, expr_substitute(m->pool, outputs[k], f->from.n, f->from.at, f->to.at));
}

Piece lay_terms_over(Kernels *ks, uint32_t n, const Term *terms, const uint32_t *slots, DomainId domain)
{
    Model *m = ks->model;
    TermBuilder builder = term_builder(m);
    const Expr **outputs = NEW_ARRAY(ks->arena, const Expr *, n);
    Flat f = { .ks = ks, .domain = domain };
    for (uint32_t k = 0; k < n; k++)
        f.has_hiding |= (outputs[k] = term_import(&builder, terms[k]))->has_hiding;
    f.refs = builder.refs.at;
    flatten_outputs(&f, n, outputs);
    const uint32_t width = n + f.n_leaves, kernel = kernel_for(ks, n, outputs, f.n_leaves, NULL, NULL);
    uint32_t *row = NEW_ARRAY(ks->arena, uint32_t, width + 1);
    const Domain *d = &m->domains.at[domain.index];
    const uint64_t count = domain_count(m, domain);
    int64_t j[ELEMENT_LEVELS] = { 0 };
    Piece piece = { kernel, ks->rows.n, (uint32_t)count };
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < n; k++)
            row[k] = slots[k] + (uint32_t)i;
        for (uint32_t k = 0; k < f.n_leaves; k++) {
            int64_t slot = (int64_t)f.base.at[k] + f.maps.at[k].base;
            for (uint32_t level = 0; level < d->n; level++)
                slot += f.maps.at[k].step[level] * j[level];
            row[n + k] = (uint32_t)slot;
        }
        (void)put_row(ks, row, width);
        for (uint32_t level = d->n; level-- > 0;) {
            if (++j[level] < m->iterators.at[d->first + level].count)
                break;
            j[level] = 0;
        }
    }
    return piece;
}
