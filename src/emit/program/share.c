/* Which values get a slot, and the entries that compute and read them; see share.h. */
#include "emit/program/share_values.h"
#include "base/bug.h"
#include "ir/memo.h"
#include "ir/routine.h"
#include "ir/substitute.h"

enum { DEAREST = 4000 }; /* costs are not counted beyond */

Share *share_create(Kernels *ks, const Systems *systems)
{
    Arena *arena = arena_create_like(ks->arena);
    Share *s = NEW(arena, Share);
    s->ks = ks;
    s->systems = systems;
    s->arena = arena;
    placement_init(&s->placement, ks->model->pool, arena);
    map_init(&s->rewritten_index, arena, 64);
    return s;
}

void share_destroy(Share *share)
{
    arena_destroy(share->arena);
}

/* ---- which values ---- */
static uint64_t saved(const Share *s, const SharedValue *v)
{
    const uint32_t entries = v->demand.is_sure ? v->demand.entries : v->demand.guarded;
    const uint64_t needed = v->demand.uses < entries ? v->demand.uses : entries;
    uint64_t computed = s->repeats && v->demand.is_outside && !v->varies ? needed * s->repeats : needed;
    if (v->is_frequent && computed == 1)
        computed = 2;
    return computed ? (computed - 1) * v->cost : 0;
}

static bool is_in_list(const Share *s, const SharedValue *v)
{
    return v->kind == VALUE_OPERATION && v->demand.list == s->own.list;
}

/* Variables that do not vary are not read by what is executed before the list. */
static bool is_held_by_outputs(const Share *s, const SharedValue *v)
{
    return s->repeats == 0 || v->varies;
}

/* It may be computed in the branch that needs it; one branch is enough. What is executed before the list has no
 * branches. */
static bool can_be_guarded(const Share *s, const SharedValue *v)
{
    return v->demand.guard && is_held_by_outputs(s, v) && !share_is_held(s, v, v->held.guard);
}

/* Costs of all that is below, as if nothing were read from slots; arguments have smaller numbers. */
static void add_costs(Share *s, bool stops_at_boundaries)
{
    for (uint32_t k = 0; k < s->values.all.n; k++) {
        SharedValue *v = &s->values.all.at[k];
        if (!is_in_list(s, v))
            continue;
        uint32_t cost = v->own_cost;
        for (uint32_t j = 0; j < v->n_args; j++) {
            const SharedValue *arg = &s->values.all.at[s->values.args.at[v->first_arg + j]];
            if (is_in_list(s, arg) && !arg->demand.is_boundary)
                cost += arg->cost;
        }
        v->cost = (uint16_t)(cost < DEAREST ? cost : DEAREST);
        if (stops_at_boundaries && v->demand.is_wanted &&
            saved(s, v) < WORTH) /* the rest of it comes from other slots */
            v->demand.is_wanted = v->demand.is_boundary = false;
    }
}

/* From what nobody else needs downwards: who needs a value is known when it is decided. */
static void choose_values(Share *s)
{
    add_costs(s, false);
    for (uint32_t k = s->values.all.n; k-- > 0;) {
        SharedValue *v = &s->values.all.at[k];
        if (!is_in_list(s, v))
            continue;
        const bool is_named = v->demand.named_at <= v->demand.first_entry && is_held_by_outputs(s, v);
        const bool is_held = is_named || share_is_held(s, v, v->demand.is_sure ? 0 : v->demand.guard);
        v->demand.is_wanted = !is_held && (v->demand.is_sure || can_be_guarded(s, v)) && saved(s, v) >= WORTH;
        v->demand.is_boundary = is_held || v->demand.is_wanted;
        const uint32_t uses = v->demand.is_boundary ? 1 : v->demand.uses;
        const bool is_outside = v->varies || (!v->demand.is_boundary && v->demand.is_outside);
        for (uint32_t j = 0; j < v->n_args; j++) {
            const uint32_t number = s->values.args.at[v->first_arg + j];
            SharedValue *arg = &s->values.all.at[number];
            if (!is_in_list(s, arg) || (j && number == s->values.args.at[v->first_arg + j - 1]))
                continue;
            arg->demand.uses = arg->demand.uses < UINT32_MAX - uses ? arg->demand.uses + uses : UINT32_MAX;
            arg->demand.is_outside |= is_outside;
        }
    }
    add_costs(s, true);
}

/* ---- rewriting the rows of a kernel ---- */
typedef struct {
    Share *s;
    Kernels *ks;
    const Entries *list;
    Entries *out, *base;
    /* rows first .. first + n - 1 of the list, all of one kernel */
    uint32_t first, n;
    KernelNodes nodes;
    VEC(bool) is_plain;    /* per node: its leaves have their values before these rows */
    VEC(bool) is_ready;    /* ... or what is below is read from slots */
    VEC(bool) is_replaced; /* ... it is read from a slot */
    VEC(bool) is_used;     /* ... somebody needs it */
} Group;

static const Node *node_of(const Group *g, uint32_t node)
{
    return &g->s->shapes.nodes.at[g->nodes.first + node];
}

static SharedValue *value_of(const Group *g, uint32_t row, uint32_t node)
{
    return &g->s->values.all.at[g->s->numbers.at[g->s->first_value.at[g->first + row] + node]];
}

static uint32_t guard_of(const Group *g, uint32_t row, uint32_t node)
{
    return share_guard(node_of(g, node), g->s->numbers.at + g->s->first_value.at[g->first + row]);
}

static bool is_held(const Group *g, uint32_t row, uint32_t node)
{
    return share_is_held(g->s, value_of(g, row, node), guard_of(g, row, node));
}

/* ... or is to be made, for all or for the branch that the node is in. */
static bool is_wanted(const Group *g, uint32_t row, uint32_t node)
{
    const SharedValue *v = value_of(g, row, node);
    return v->demand.is_wanted && (v->demand.is_sure || v->demand.guard == guard_of(g, row, node));
}

static bool is_operation(const Expr *e)
{
    return e->kind != EXPR_LEAF && !expr_is_constant(e);
}

/* The slots of a leaf, n of an array, have their values before these rows. */
static bool leaf_is_ready(const Group *g, uint32_t leaf, uint64_t n)
{
    const Kernel *kernel = &g->ks->kernels.at[g->list->at[g->first].piece.kernel];
    for (uint32_t k = 0; k < g->n; k++) {
        const uint32_t slot = g->ks->rows.at[g->list->at[g->first + k].piece.row + kernel->n_outputs + leaf];
        for (uint32_t j = 0; j < n; j++) {
            const SlotState *state = share_slot(g->s, slot + j);
            if (state->list == g->s->own.list && state->written_at > g->first) /* entries are numbered from 1 */
                return false;
        }
    }
    return true;
}

static bool is_ready(const Group *g, const Node *node)
{
    if (node->expr->kind == EXPR_LEAF)
        return leaf_is_ready(g, node->expr->u.leaf, 1);
    for (uint32_t k = 0; k < node->expr->n_args; k++) {
        const uint32_t arg = g->s->shapes.node_args.at[node->first_arg + k];
        if (!g->is_ready.at[arg] && !g->is_replaced.at[arg])
            return false;
        if (share_is_array(node->expr, k) &&
            !leaf_is_ready(g, node->expr->args[k]->u.leaf, function_field_count(node->expr->u.function, k)))
            return false;
    }
    return true;
}

/* The condition is computed once more: a bit, or what compares two. */
static bool can_guard(const Group *g, const Node *node)
{
    enum { COMPARISON = 2 };
    return g->is_plain.at[node->condition] && node->expr->type.kind == TYPE_REAL && node->expr->type.rank == 0 &&
           node_of(g, node->condition)->expr->depth <= COMPARISON;
}

/* In all rows or in none. Where most of them want it the others follow: the first and the last of a row of equal
 * components often lack a neighbour. */
static bool is_replaced(const Group *g, uint32_t number)
{
    const Node *node = node_of(g, number);
    uint32_t n_held = 0, n_wanted = 0, n_guarded = 0;
    if (!is_operation(node->expr))
        return false;
    for (uint32_t k = 0; k < g->n; k++) {
        if (value_of(g, k, number)->kind != VALUE_OPERATION)
            return false;
        n_held += is_held(g, k, number);
        const bool wanted = !is_held(g, k, number) && is_wanted(g, k, number);
        n_wanted += wanted;
        n_guarded += wanted && !value_of(g, k, number)->demand.is_sure;
    }
    if (n_held == g->n)
        return true;
    if (!g->is_ready.at[number] || node->is_root) /* a root is the first to compute it, or it would be held */
        return false;
    if (n_guarded && (n_guarded < n_wanted || !can_guard(g, node)))
        return false;
    if (n_held + n_wanted < g->n) {
        if (!node->is_sure || 4 * (uint64_t)(n_held + n_wanted) < 3 * (uint64_t)g->n)
            return false;
        for (uint32_t k = 0; k < g->n; k++)
            if (!is_held(g, k, number) && !is_wanted(g, k, number) && !is_held_by_outputs(g->s, value_of(g, k, number)))
                return false;
    }
    return true;
}

static void plan(Group *g)
{
    const uint32_t n = g->nodes.n;
    Arena *arena = g->s->arena;
    vec_reserve(arena, &g->is_plain, n);
    vec_reserve(arena, &g->is_ready, n);
    vec_reserve(arena, &g->is_replaced, n);
    vec_reserve(arena, &g->is_used, n);
    memset(g->is_replaced.at, 0, n * sizeof *g->is_replaced.at);
    for (uint32_t k = 0; k < n; k++)
        g->is_plain.at[k] = g->is_ready.at[k] = is_ready(g, node_of(g, k));
    for (uint32_t k = 0; k < n; k++) {
        g->is_ready.at[k] = g->is_plain.at[k] || is_ready(g, node_of(g, k));
        g->is_replaced.at[k] = is_replaced(g, k);
        g->is_used.at[k] = node_of(g, k)->is_root;
    }
    for (uint32_t k = n; k-- > 0;) {
        bool is_computed = g->is_used.at[k] && !g->is_replaced.at[k];
        for (uint32_t j = 0; j < g->n && g->is_used.at[k] && !is_computed; j++)
            is_computed = !is_held(g, j, k);
        const Node *node = node_of(g, k);
        for (uint32_t j = 0; is_computed && j < node->expr->n_args; j++)
            g->is_used.at[g->s->shapes.node_args.at[node->first_arg + j]] = true;
    }
}

#define FROM_NODE 0x80000000u

static void collect_leaves(const Expr *e, uint32_t *map, uint32_t *n, Memo *memo)
{
    uint32_t seen;
    if (e->kind == EXPR_LEAF && map[e->u.leaf] == KOINE_NONE)
        map[e->u.leaf] = (*n)++;
    if (e->n_args == 0 || e->n_leaves == 0 || memo_get(memo, e, &seen))
        return;
    memo_put(memo, e, 0);
    for (uint32_t k = 0; k < e->n_args; k++)
        collect_leaves(e->args[k], map, n, memo);
}

/* The expression where its branch is chosen, else 0; the condition is as it was. */
static const Expr *guarded(const Group *g, const Node *node, const Expr *e)
{
    Pool *pool = g->ks->model->pool;
    const Expr *condition = node_of(g, node->condition)->expr, *none = expr_real(pool, 0);
    return node->is_otherwise ? expr_if(pool, condition, none, e) : expr_if(pool, condition, e, none);
}

static Rewritten make_rewritten(Group *g, uint32_t n_outputs, const Expr *const *outputs, uint32_t only,
                                bool is_guarded)
{
    Kernels *ks = g->ks;
    Pool *pool = ks->model->pool;
    Arena *arena = g->s->arena;
    const uint32_t n_before = ks->kernels.at[g->list->at[g->first].piece.kernel].n_leaves;
    const Expr **from = NEW_ARRAY(arena, const Expr *, g->nodes.n), **to = NEW_ARRAY(arena, const Expr *, g->nodes.n);
    uint32_t *node = NEW_ARRAY(arena, uint32_t, g->nodes.n), n = 0;
    for (uint32_t k = 0; k < g->nodes.n; k++) {
        if (!g->is_replaced.at[k] || !g->is_used.at[k] || k == only)
            continue;
        from[n] = node_of(g, k)->expr;
        to[n] = expr_leaf(pool, n_before + n, from[n]->type);
        node[n++] = k;
    }
    uint32_t *map = NEW_ARRAY(arena, uint32_t, n_before + n), n_leaves = 0;
    const Expr **own = NEW_ARRAY(arena, const Expr *, n_outputs);
    Memo memo;
    memo_begin(&memo, NULL);
    for (uint32_t k = 0; k < n_before + n; k++)
        map[k] = KOINE_NONE;
    for (uint32_t k = 0; k < n_outputs; k++) {
        own[k] = expr_substitute(pool, outputs[k], n, from, to);
        REQUIRE(own[k]);
        if (is_guarded)
            own[k] = guarded(g, node_of(g, only), own[k]);
        collect_leaves(own[k], map, &n_leaves, &memo);
    }
    memo_end(&memo);
    for (uint32_t k = 0; k < n_outputs; k++)
        own[k] = expr_renumber(pool, own[k], map);
    uint32_t *source = NEW_ARRAY(arena, uint32_t, n_leaves);
    for (uint32_t k = 0; k < n_before + n; k++)
        if (map[k] != KOINE_NONE)
            source[map[k]] = k < n_before ? k : FROM_NODE | node[k - n_before];
    return (Rewritten){ .kernel = kernel_for(ks, n_outputs, own, n_leaves, NULL, NULL),
                        .n_outputs = n_outputs,
                        .n_leaves = n_leaves,
                        .source = source,
                        .only = only,
                        .is_guarded = is_guarded };
}

/* The expressions with leaves for what is read from slots. `only` (KOINE_NONE: none): a node that is not, because the
 * expression is its own. */
static Rewritten rewrite(Group *g, uint32_t n_outputs, const Expr *const *outputs, uint32_t only, bool is_guarded)
{
    enum { MOST_NODES = 64 };
    Share *s = g->s;
    const uint32_t before = g->list->at[g->first].piece.kernel;
    uint64_t replaced = 0;
    for (uint32_t k = 0; k < g->nodes.n && g->nodes.n <= MOST_NODES; k++)
        replaced |= (uint64_t)(g->is_replaced.at[k] && g->is_used.at[k]) << k;
    const uint64_t hash = hash_mix(hash_mix(before, replaced), 2 * (uint64_t)only + is_guarded);
    uint32_t first = KOINE_NONE;
    if (g->nodes.n <= MOST_NODES && !map_get(&s->rewritten_index, hash, &first))
        first = KOINE_NONE;
    for (uint32_t k = first; k != KOINE_NONE; k = s->rewritten.at[k].next) {
        const Rewritten *r = &s->rewritten.at[k];
        if (r->before == before && r->replaced == replaced && r->only == only && r->is_guarded == is_guarded)
            return *r;
    }
    Rewritten r = make_rewritten(g, n_outputs, outputs, only, is_guarded);
    r.before = before;
    r.replaced = replaced;
    r.next = first;
    if (g->nodes.n <= MOST_NODES) {
        vec_push(s->arena, &s->rewritten, r);
        map_put(&s->rewritten_index, hash, s->rewritten.n - 1);
    }
    return r;
}

/* One row of a rewritten kernel; the outputs go to `slots`. */
static Piece lay_row_of(const Group *g, const Rewritten *r, uint32_t row, const uint32_t *slots)
{
    Kernels *ks = g->ks;
    const Piece before = g->list->at[g->first + row].piece;
    const uint32_t n_before = ks->kernels.at[before.kernel].n_outputs, first = ks->rows.n;
    for (uint32_t k = 0; k < r->n_outputs; k++)
        vec_push(ks->arena, &ks->rows, slots[k]);
    for (uint32_t k = 0; k < r->n_leaves; k++) {
        const uint32_t source = r->source[k];
        const uint32_t slot = source & FROM_NODE ? value_of(g, row, source & ~FROM_NODE)->held.slot
                                                 : ks->rows.at[before.row + n_before + source];
        vec_push(ks->arena, &ks->rows, slot);
    }
    return (Piece){ r->kernel, first, 1 };
}

static void hold(Share *s, uint32_t number, uint32_t slot, uint32_t list, uint32_t guard)
{
    s->values.all.at[number].held.slot = slot;
    s->values.all.at[number].held.guard = guard;
    s->values.all.at[number].held.list = list;
    share_slot(s, slot)->holds = number;
}

/* The node is computed into slots of its own for those rows whose value is in none yet. */
static void make_shared(Group *g, uint32_t number)
{
    Share *s = g->s;
    const Expr *e = node_of(g, number)->expr;
    Rewritten r = { .n_outputs = 0 };
    for (uint32_t k = 0; k < g->n; k++) {
        const SharedValue *v = value_of(g, k, number);
        if (is_held(g, k, number))
            continue;
        const bool is_guarded = !v->demand.is_sure; /* of all rows or of none */
        if (r.n_outputs == 0)
            r = rewrite(g, 1, &e, number, is_guarded);
        const uint32_t slot = take_slots(g->ks, e->type.rank > 0 ? expr_extent(e) : 1);
        Entry entry = g->list->at[g->first + k];
        entry.piece = lay_row_of(g, &r, k, &slot);
        entry.is_shared = true;
        const bool is_base = s->repeats && !v->varies;
        if (is_base)
            entry.within = KOINE_NONE;
        push_entry(g->ks, is_base ? g->base : g->out, entry);
        hold(s, (uint32_t)(v - s->values.all.at), slot, is_base ? s->own.base : s->own.list,
             is_guarded ? guard_of(g, k, number) : 0);
        vec_push(g->ks->arena, &g->ks->shared_slots, slot);
    }
}

static void write_over(Share *s, uint32_t slot, uint32_t entry)
{
    SlotState *state = share_slot(s, slot);
    (void)entry;
    if (state->holds != KOINE_NONE && s->values.all.at[state->holds].held.slot == slot)
        s->values.all.at[state->holds].held.slot = KOINE_NONE;
    state->holds = KOINE_NONE;
}

/* What the rows define can be read from now on. */
static void hold_outputs(Group *g)
{
    Share *s = g->s;
    for (uint32_t k = 0; k < g->n; k++) {
        const Entry *entry = &g->list->at[g->first + k];
        const Kernel *kernel = &g->ks->kernels.at[entry->piece.kernel];
        for (uint32_t j = 0; j < kernel->n_outputs; j++) {
            const uint32_t slot = g->ks->rows.at[entry->piece.row + j];
            const SharedValue *v = value_of(g, k, s->shapes.roots.at[g->nodes.first_root + j]);
            write_over(s, slot, 0);
            if (v->kind == VALUE_OPERATION && !share_is_held(s, v, 0) && is_held_by_outputs(s, v))
                hold(s, (uint32_t)(v - s->values.all.at), slot, s->own.list, 0);
        }
    }
}

static void share_rows(Group *g)
{
    Kernels *ks = g->ks;
    bool is_changed = false;
    g->nodes = *share_kernel(g->s, g->list->at[g->first].piece.kernel);
    plan(g);
    for (uint32_t k = 0; k < g->nodes.n; k++)
        if (g->is_used.at[k] && g->is_replaced.at[k]) {
            make_shared(g, k);
            is_changed = true;
        }
    const uint32_t kernel = g->list->at[g->first].piece.kernel;
    Rewritten r = { .n_outputs = 0 };
    if (is_changed)
        r = rewrite(g, ks->kernels.at[kernel].n_outputs, ks->kernels.at[kernel].outputs, KOINE_NONE, false);
    for (uint32_t k = 0; k < g->n; k++) {
        Entry entry = g->list->at[g->first + k];
        uint32_t slots[KERNEL_OUTPUTS];
        for (uint32_t j = 0; is_changed && j < r.n_outputs; j++)
            slots[j] = ks->rows.at[entry.piece.row + j];
        if (is_changed)
            entry.piece = lay_row_of(g, &r, k, slots);
        push_entry(ks, g->out, entry);
    }
    hold_outputs(g);
}

/* ---- lists ---- */
/* Rows from `first` on that become one loop, or one. */
static uint32_t rows_of_loop(const Group *g, uint32_t first)
{
    const Entry *begin = &g->list->at[first];
    const Kernel *kernel = &g->ks->kernels.at[begin->piece.kernel];
    uint32_t n = 1;
    while (first + n < g->list->n) {
        const Entry *next = &g->list->at[first + n];
        if (g->s->first_value.at[first + n] == KOINE_NONE || next->system != KOINE_NONE ||
            next->within != begin->within || next->piece.kernel != begin->piece.kernel ||
            next->piece.row != begin->piece.row + n * kernel->width)
            break;
        n++;
    }
    return n < AFFINE_FROM ? 1 : n;
}

Shared share_entries(Share *s, const ShareRequest *request, const Entries *list, Entries *out, Entries *base)
{
    Kernels *ks = s->ks;
    Group g = { .s = s, .ks = ks, .list = list, .out = out, .base = base };
    s->before = request->after;
    s->own = (Shared){ s->n_lists + 1, s->n_lists + 2 };
    s->n_lists += 2;
    s->repeats = base ? request->repeats : 0;
    if (!request->after.list && !request->after.base) {
        s->epoch++;
        s->values.all.n = s->values.args.n = 0;
    }
    const bool is_shared = share_number(s, request, list);
    if (is_shared)
        choose_values(s);
    for (uint32_t k = 0; k < list->n && !is_shared; k++)
        push_entry(ks, out, list->at[k]);
    for (uint32_t k = 0; k < list->n && is_shared; k += g.n) {
        g.first = k;
        g.n = 1;
        if (s->first_value.at[k] == KOINE_NONE) {
            push_entry(ks, out, list->at[k]);
            share_writes(s, &list->at[k], write_over, 0);
        } else {
            g.n = rows_of_loop(&g, k);
            share_rows(&g);
        }
    }
    return s->own;
}
