/* Terms: shapes with their references, numbered canonically; see model.h. */
#include "base/bug.h"
#include "ir/memo.h"
#include "ir/model.h"

/* ---- terms ---- */
Type ref_type(const Model *model, Ref ref)
{
    switch ((RefKind)ref.kind) {
    case REF_NOW:
    case REF_PRE:
    case REF_DER:
    case REF_LAST:
    case REF_START:
    case REF_SEED:
    case REF_SEED_DER:
    case REF_INFLOW:
    case REF_PASSING: return model_var(model, ref.var)->type;
    case REF_TIME:
    case REF_INTERVAL: return REAL_TYPE;
    case REF_INITIAL:
    case REF_TERMINAL:
    case REF_FIRED:
    case REF_TICK:
    case REF_IS_ROOT:
    case REF_ROOTED: return BOOLEAN_TYPE;
    }
    BUG("unknown RefKind");
}

TermBuilder term_builder(Model *model)
{
    return (TermBuilder){ .model = model };
}

/* A node with many connections has as many references: they are found by a table. */
static uint32_t number_of_many(TermBuilder *builder, Ref ref)
{
    uint32_t known;
    if (builder->n_numbered == 0 || builder->refs.n < builder->n_numbered) { /* none yet, or begun anew */
        map_init(&builder->numbers, builder->model->arena, 2 * builder->refs.n);
        builder->n_numbered = 0;
    }
    for (; builder->n_numbered < builder->refs.n; builder->n_numbered++)
        map_put(&builder->numbers, ref_key(builder->refs.at[builder->n_numbered]), builder->n_numbered);
    const bool is_known = map_get(&builder->numbers, ref_key(ref), &known) && known < builder->refs.n;
    return is_known && ref_equal(builder->refs.at[known], ref) ? known : ID_NONE;
}

static uint32_t leaf_number(TermBuilder *builder, Ref ref)
{
    enum { FEW = 24 };
    if (builder->refs.n > FEW) {
        const uint32_t known = number_of_many(builder, ref);
        if (known != ID_NONE)
            return known;
    } else {
        for (uint32_t k = builder->refs.n; k-- > 0;)
            if (ref_equal(builder->refs.at[k], ref))
                return k;
    }
    vec_push(builder->model->arena, &builder->refs, ref);
    return builder->refs.n - 1;
}

const Expr *term_leaf(TermBuilder *builder, Ref ref)
{
    return expr_leaf(builder->model->pool, leaf_number(builder, ref), ref_type(builder->model, ref));
}

const Expr *term_element(TermBuilder *builder, Ref ref, uint32_t n, const Expr *const *index)
{
    Type scalar = ref_type(builder->model, ref);
    REQUIRE(scalar.rank == n);
    scalar.rank = 0;
    return expr_element(builder->model->pool, leaf_number(builder, ref), scalar, n, index);
}

/* Numbers leaves in order of first occurrence. order[k]: new number of old leaf k, or ID_NONE. */
static void number_leaves(const Expr *e, uint32_t *order, uint32_t *n, uint32_t *last)
{
    if (e->n_leaves == 0)
        return;
    if (e->kind == EXPR_LEAF && order[e->u.leaf] == ID_NONE) {
        last[*n] = e->u.leaf;
        order[e->u.leaf] = (*n)++;
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        number_leaves(e->args[k], order, n, last);
}

static bool is_identity(const uint32_t *order, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (order[k] != k)
            return false;
    return true;
}

/* Equal refs get the number of the first one. Returns false when there were none. */
static bool merge_equal(const Ref *refs, uint32_t n, uint32_t *first)
{
    bool any = false;
    for (uint32_t k = 0; k < n; k++) {
        first[k] = k;
        for (uint32_t j = 0; j < k; j++)
            if (ref_equal(refs[j], refs[k])) {
                first[k] = j;
                any = true;
                break;
            }
    }
    return any;
}

/* Room for n more references. Those of an overlay are its base's until it adds some: they have no capacity. */
static void reserve_refs(Model *model, uint32_t n)
{
    const Ref *borrowed = model->refs.capacity == 0 ? model->refs.at : NULL;
    if (borrowed)
        model->refs.at = NULL;
    vec_reserve(model->arena, &model->refs, model->refs.n + n);
    if (borrowed)
        memcpy(model->refs.at, borrowed, model->refs.n * sizeof *borrowed);
}

/* refs may be the model's own, which move when they grow. */
static Term add_term(Model *model, const Expr *shape, const Ref *refs, const uint32_t *used, uint32_t n)
{
    const Term term = { shape, model->refs.n };
    const uintptr_t own = (uintptr_t)model->refs.at, given = (uintptr_t)refs;
    const bool is_own = given >= own && given < own + model->refs.n * sizeof(Ref);
    reserve_refs(model, n);
    if (is_own)
        refs = model->refs.at + (given - own) / sizeof(Ref);
    for (uint32_t k = 0; k < n; k++) {
        const Ref ref = refs[used[k]];
        model->ref_kinds |= 1u << ref.kind;
        model->refs.at[model->refs.n++] = ref;
    }
    return term;
}

/* The leaves that occur, in order, into model->work.list; order[k]: not ID_NONE. */
static void list_leaves(Model *model, const Expr *e, Memo *seen)
{
    enum { DEPTH_WITHOUT_MEMO = 4 };
    uint32_t ignored, *order = model->work.order.at;
    const bool use_memo = e->depth > DEPTH_WITHOUT_MEMO;
    if (e->n_leaves == 0 || (use_memo && memo_get(seen, e, &ignored)))
        return;
    if (use_memo)
        memo_put(seen, e, 1);
    if (e->kind == EXPR_LEAF && order[e->u.leaf] == ID_NONE) {
        order[e->u.leaf] = 0;
        vec_push(model->arena, &model->work.list, e->u.leaf);
    }
    for (uint32_t k = 0; k < e->n_args; k++)
        list_leaves(model, e->args[k], seen);
}

/* Numbers the leaves of the list, equal refs alike; of each number the first leaf is appended to the list. */
static void number_list(Model *model, const Ref *refs, Memo *seen)
{
    enum { FEW = 24 };
    const uint32_t n = model->work.list.n;
    uint32_t *order = model->work.order.at;
    Map numbers;
    if (n > FEW)
        map_init(&numbers, memo_arena(seen), n);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t leaf = model->work.list.at[k], n_numbers = model->work.list.n - n;
        uint32_t number = n_numbers;
        if (n > FEW) {
            if (!map_get(&numbers, ref_key(refs[leaf]), &number))
                map_put(&numbers, ref_key(refs[leaf]), number);
        } else {
            for (uint32_t j = 0; j < n_numbers && number == n_numbers; j++)
                if (ref_equal(refs[model->work.list.at[n + j]], refs[leaf]))
                    number = j;
        }
        if (number == n_numbers)
            vec_push(model->arena, &model->work.list, leaf);
        order[leaf] = number;
    }
}

/* Costs what the nodes cost, however large the numbers of the leaves are: of a sum of n terms come n coefficients. */
static Term make_large(Model *model, const Expr *shape, const Ref *refs)
{
    Memo seen;
    memo_begin(&seen, NULL);
    while (model->work.order.n < shape->n_leaves)
        vec_push(model->arena, &model->work.order, ID_NONE);
    list_leaves(model, shape, &seen);
    const uint32_t n = model->work.list.n;
    number_list(model, refs, &seen);
    memo_end(&seen);
    uint32_t *order = model->work.order.at;
    bool is_same = true;
    for (uint32_t k = 0; k < n; k++)
        is_same &= order[model->work.list.at[k]] == model->work.list.at[k];
    if (!is_same)
        shape = expr_renumber(model->pool, shape, order);
    const Term term = add_term(model, shape, refs, model->work.list.at + n, model->work.list.n - n);
    for (uint32_t k = 0; k < n; k++)
        order[model->work.list.at[k]] = ID_NONE;
    model->work.list.n = 0;
    return term;
}

Term term_make(Model *model, const Expr *shape, const Ref *refs)
{
    enum { FEW = 24, SMALL_DEPTH = 12 };
    const uint32_t n = shape->n_leaves;
    if (n == 0)
        return (Term){ shape, 0 };
    if (n > FEW || shape->depth > SMALL_DEPTH)
        return make_large(model, shape, refs);
    uint32_t first[FEW], order[FEW], last[FEW], used = 0;
    if (merge_equal(refs, n, first))
        shape = expr_renumber(model->pool, shape, first);
    for (uint32_t k = 0; k < n; k++)
        order[k] = ID_NONE;
    number_leaves(shape, order, &used, last);
    if (!is_identity(order, shape->n_leaves))
        shape = expr_renumber(model->pool, shape, order);
    return add_term(model, shape, refs, last, used);
}

Term term_of_canonical(Model *model, const Expr *shape, const Ref *refs)
{
    const Term term = { shape, model->refs.n };
    reserve_refs(model, shape->n_leaves);
    for (uint32_t k = 0; k < shape->n_leaves; k++) {
        model->ref_kinds |= 1u << refs[k].kind;
        model->refs.at[model->refs.n++] = refs[k];
    }
    return term;
}

Term term_finish(TermBuilder *builder, const Expr *shape)
{
    const Term term = term_make(builder->model, shape, builder->refs.at);
    builder->refs.n = 0;
    return term;
}

Term term_expr(Model *model, const Expr *leafless)
{
    REQUIRE(leafless->n_leaves == 0);
    (void)model;
    return (Term){ leafless, 0 };
}

Term term_real(Model *model, double value)
{
    return (Term){ expr_real(model->pool, value), 0 };
}

Term term_integer(Model *model, int64_t value)
{
    return (Term){ expr_integer(model->pool, value), 0 };
}

Term term_boolean(Model *model, bool value)
{
    return (Term){ expr_boolean(model->pool, value), 0 };
}

Term term_ref(Model *model, Ref ref)
{
    return term_make(model, expr_leaf(model->pool, 0, ref_type(model, ref)), &ref);
}

const Expr *term_import(TermBuilder *builder, Term term)
{
    const uint32_t n = term.shape->n_leaves;
    if (n == 0)
        return term.shape;
    uint32_t few[32];
    uint32_t *map = n <= 32 ? few : NEW_ARRAY(builder->model->arena, uint32_t, n);
    bool same = true;
    for (uint32_t k = 0; k < n; k++) {
        map[k] = leaf_number(builder, builder->model->refs.at[term.first_ref + k]);
        same &= map[k] == k;
    }
    return same ? term.shape : expr_renumber(builder->model->pool, term.shape, map);
}
