/* Numbering values: each node of each entry of a list; see share.h. */
#include "emit/program/share_values.h"
#include "base/bug.h"
#include "emit/program/systems.h"
#include "emit/runs.h"
#include "ir/routine.h"

/* ---- kernels ---- */
/* What an operation costs, in additions. */
static uint8_t operation_cost(const Expr *e)
{
    if (e->kind == EXPR_FUNCTION)
        return is_part(e) ? 0 : 60;
    if (e->kind == EXPR_TABLE)
        return 15;
    if (e->kind != EXPR_CALL)
        return e->kind == EXPR_IF;
    return (uint8_t)op_cost((Op)e->op);
}

/* The IF whose side the region is, if it is no part of another one; ID_NONE: none such. */
static uint32_t outer_if(const Placement *p, uint32_t region)
{
    return region != ID_NONE && p->regions.at[region].depth == 1 ? p->regions.at[region].owner : ID_NONE;
}

/* Which operation it is; false: like nothing else, because what it reads is not known. Equal calls of a function that
 * is not pure are one: they stand in the body of one transition (V17). */
static bool find_payload(const Expr *e, uint32_t *payload)
{
    enum { MOST = 1 << 20 };
    const bool is_result = is_part(e);
    const uint32_t number = is_result                  ? e->element
                            : e->kind == EXPR_FUNCTION ? e->u.function->number
                            : e->kind == EXPR_TABLE    ? e->u.table->index
                                                       : 0;
    *payload = number << 12 | (uint32_t)e->kind << 8 | (is_result ? 1u : e->op);
    return number < MOST && !(e->kind == EXPR_CALL && e->op == OP_ELEMENT);
}

static NodeRole role_of(const Expr *e, uint32_t *payload)
{
    if (e->kind == EXPR_LEAF) {
        *payload = e->u.leaf;
        return NODE_LEAF;
    }
    if (expr_is_constant(e)) {
        *payload = e->id;
        return NODE_CONSTANT;
    }
    return find_payload(e, payload) ? NODE_OPERATION : NODE_UNLIKE;
}

static void list_nodes(Share *s, const Kernel *kernel, KernelNodes *out)
{
    const Placement *p = &s->placement;
    uint64_t *costs = NEW_ARRAY(s->arena, uint64_t, p->nodes.n);
    *out =
        (KernelNodes){ .first = s->shapes.nodes.n, .n = p->nodes.n, .first_root = s->shapes.roots.n, .is_known = true };
    for (uint32_t k = 0; k < p->nodes.n; k++) {
        const PlacedNode *placed = &p->nodes.at[k];
        Node node = { .expr = placed->expr,
                      .first_arg = s->shapes.node_args.n,
                      .is_sure = placed->uses && placed->region == 0,
                      .condition = KOINE_NONE };
        node.role = (uint8_t)role_of(placed->expr, &node.payload);
        node.commutes = placed->expr->kind == EXPR_CALL && (placed->expr->op == OP_ADD || placed->expr->op == OP_MUL);
        const uint32_t owner = placed->uses ? outer_if(p, placed->region) : ID_NONE;
        if (owner != ID_NONE) {
            node.condition = placement_number(p, p->nodes.at[owner].expr->args[0]);
            node.is_otherwise = placed->region != p->nodes.at[owner].side;
        }
        vec_push(s->arena, &s->shapes.nodes, node);
        costs[k] = placed->uses ? operation_cost(placed->expr) : 0;
        uint64_t most = 0;
        for (uint32_t j = 0; j < placed->expr->n_args; j++) {
            const uint32_t arg = placement_number(p, placed->expr->args[j]);
            vec_push(s->arena, &s->shapes.node_args, arg);
            costs[k] += costs[arg];
            most = costs[arg] > most ? costs[arg] : most;
        }
        costs[k] = costs[k] < WORTH ? costs[k] : WORTH; /* no more is asked */
        s->shapes.nodes.at[out->first + k].is_anchor =
            (costs[k] == WORTH && most < WORTH) || (placed->uses && is_model_call(placed->expr));
        out->n_anchors += s->shapes.nodes.at[out->first + k].is_anchor;
    }
    for (uint32_t k = 0; k < kernel->n_outputs; k++) {
        const uint32_t root = placement_number(p, kernel->outputs[k]);
        s->shapes.nodes.at[out->first + root].is_root = true;
        vec_push(s->arena, &s->shapes.roots, root);
    }
}

const KernelNodes *share_kernel(Share *s, uint32_t number)
{
    while (s->shapes.kernels.n <= number)
        (void)vec_push_zero(s->arena, &s->shapes.kernels);
    KernelNodes *nodes = &s->shapes.kernels.at[number];
    if (!nodes->is_known) {
        placement_of(&s->placement, &s->ks->kernels.at[number]);
        list_nodes(s, &s->ks->kernels.at[number], nodes);
    }
    return nodes;
}

/* ---- slots ---- */
SlotState *share_slot(Share *s, uint32_t slot)
{
    if (slot >= s->slots.n) { /* new memory is zero: what nobody asks for is not touched */
        vec_reserve(s->arena, &s->slots, slot + 1);
        s->slots.n = s->slots.capacity;
    }
    SlotState *state = &s->slots.at[slot];
    if (state->epoch != s->epoch)
        *state = (SlotState){ .epoch = s->epoch, .value = KOINE_NONE, .holds = KOINE_NONE };
    return state;
}

/* Whatever it is now: its value gets a number when somebody reads it. */
static void write_unknown(Share *s, uint32_t slot, uint32_t entry)
{
    SlotState *state = share_slot(s, slot);
    state->value = KOINE_NONE;
    state->list = s->own.list;
    state->written_at = entry;
}

void share_writes(Share *s, const Entry *entry, void (*write)(Share *s, uint32_t slot, uint32_t entry_number),
                  uint32_t entry_number)
{
    if (entry->system != KOINE_NONE) {
        const KoineSystem *system = &s->systems->systems.at[entry->system];
        for (uint32_t k = 0; k < system->n + system->n_inner; k++) {
            if (entry->is_tangent && system->tangent.unknowns[k] != KOINE_NONE)
                write(s, system->tangent.unknowns[k], entry_number);
            else if (!entry->is_tangent)
                write(s, system->unknowns[k], entry_number);
        }
        return;
    }
    const Kernel *kernel = &s->ks->kernels.at[entry->piece.kernel];
    const uint32_t *row = s->ks->rows.at + entry->piece.row;
    for (uint32_t i = 0; i < entry->piece.n; i++)
        for (uint32_t k = 0; k < kernel->n_outputs; k++)
            for (uint32_t j = 0; j < output_values(kernel, k); j++)
                write(s, run_position(kernel, row, i, k) + j, entry_number);
}

/* ---- values ---- */
static uint32_t add_value(Share *s, SharedValue value)
{
    value.held.slot = value.demand.named_at = KOINE_NONE;
    vec_push(s->arena, &s->values.all, value);
    return s->values.all.n - 1;
}

static void enlarge_heads(Share *s)
{
    const uint32_t before = s->values.n_heads;
    s->values.n_heads = before ? 4 * before : 1024;
    s->values.heads = NEW_ARRAY(s->arena, ValueHead, s->values.n_heads);
    for (uint32_t k = 0; k < s->values.all.n; k++) {
        SharedValue *v = &s->values.all.at[k];
        if (v->kind == VALUE_SLOT)
            continue;
        ValueHead *head = &s->values.heads[v->hash & (s->values.n_heads - 1)];
        v->next = head->epoch == s->epoch ? head->first : 0;
        *head = (ValueHead){ s->epoch, k + 1 };
    }
}

/* The value of this operation, made if it is new. */
static uint32_t find_value(Share *s, ValueKind kind, uint32_t payload, uint32_t n_args, const uint32_t *args)
{
    uint64_t hash = hash_mix(kind, payload);
    for (uint32_t k = 0; k < n_args; k++)
        hash = hash_mix(hash, args[k]);
    if (s->values.all.n >= s->values.n_heads)
        enlarge_heads(s);
    ValueHead *head = &s->values.heads[(uint32_t)hash & (s->values.n_heads - 1)];
    const uint32_t first = head->epoch == s->epoch ? head->first : 0;
    for (uint32_t k = first; k; k = s->values.all.at[k - 1].next) {
        const SharedValue *v = &s->values.all.at[k - 1];
        if (v->hash == (uint32_t)hash && v->kind == kind && v->payload == payload && v->n_args == n_args &&
            (n_args == 0 || memcmp(s->values.args.at + v->first_arg, args, n_args * sizeof *args) == 0))
            return k - 1;
    }
    SharedValue value = { .payload = payload,
                          .hash = (uint32_t)hash,
                          .next = first,
                          .first_arg = s->values.args.n,
                          .n_args = (uint16_t)n_args,
                          .kind = (uint8_t)kind };
    for (uint32_t k = 0; k < n_args; k++) {
        value.varies |= s->values.all.at[args[k]].varies;
        vec_push(s->arena, &s->values.args, args[k]);
    }
    const uint32_t number = add_value(s, value);
    *head = (ValueHead){ s->epoch, number + 1 };
    return number;
}

static bool slot_varies(const Share *s, uint32_t slot, const SlotState *state)
{
    if (s->n_fixed && slot - s->fixed >= s->n_fixed)
        return true;
    return s->repeats && state->list == s->own.list;
}

/* What the slot holds at this entry. */
static uint32_t slot_value(Share *s, uint32_t slot)
{
    SlotState *state = share_slot(s, slot);
    if (state->value == KOINE_NONE)
        state->value = add_value(s, (SharedValue){ .kind = VALUE_SLOT, .varies = slot_varies(s, slot, state) });
    return state->value;
}

/* What the n slots from `slot` on hold at this entry, together. */
static uint32_t array_value(Share *s, uint32_t slot, uint64_t n)
{
    enum { ROW = 256, PAYLOAD = EXPR_LEAF << 8 };
    uint32_t row[ROW], n_row = 0;
    for (uint64_t k = 0; k < n; k++) {
        row[n_row++] = slot_value(s, slot + (uint32_t)k);
        if (n_row == ROW) {
            row[0] = find_value(s, VALUE_ARRAY, PAYLOAD, n_row, row);
            n_row = 1;
        }
    }
    return find_value(s, VALUE_ARRAY, PAYLOAD, n_row, row);
}

static uint32_t operation_value(Share *s, const Node *node, const uint32_t *numbers, const uint32_t *leaf_slots)
{
    enum { FEW = 8 };
    const Expr *e = node->expr;
    uint32_t few[FEW];
    uint32_t *args = e->n_args <= FEW ? few : NEW_ARRAY(s->arena, uint32_t, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++) {
        args[k] = numbers[s->shapes.node_args.at[node->first_arg + k]];
        if (share_is_array(e, k))
            args[k] = array_value(s, leaf_slots[e->args[k]->u.leaf], function_field_count(e->u.function, k));
    }
    if (node->role == NODE_UNLIKE)
        return add_value(s, (SharedValue){ .kind = VALUE_SLOT, .varies = s->repeats > 0 });
    if (node->commutes && args[0] > args[1]) {
        const uint32_t first = args[0];
        args[0] = args[1];
        args[1] = first;
    }
    const uint32_t number = find_value(s, VALUE_OPERATION, node->payload, e->n_args, args);
    s->values.all.at[number].own_cost = operation_cost(e);
    return number;
}

/* ---- what is worth a look ---- */
static bool is_plain(const Kernels *ks, const Entry *entry)
{
    if (entry->system != KOINE_NONE || entry->piece.n != 1)
        return false;
    const Kernel *kernel = &ks->kernels.at[entry->piece.kernel];
    return !kernel->strides && !kernel->has_iterator;
}

static bool may_vary(const Share *s, uint32_t slot)
{
    if (s->n_fixed)
        return slot - s->fixed >= s->n_fixed;
    return slot < s->slots.n && s->slots.at[slot].epoch == s->epoch && s->slots.at[slot].list == s->own.list;
}

/* Some element of the array that argument k of a call is, if it is one. */
static bool array_may_vary(const Share *s, const Expr *e, uint32_t k, const uint32_t *row)
{
    bool any = false;
    if (share_is_array(e, k))
        for (uint64_t i = 0; i < function_field_count(e->u.function, k) && !any; i++)
            any = may_vary(s, row[e->args[k]->u.leaf] + (uint32_t)i);
    return any;
}

/* Hashes of the nodes of an entry by their operations and slots. */
static void hash_nodes(Share *s, const Entry *entry, const KernelNodes *nodes)
{
    const Kernel *kernel = &s->ks->kernels.at[entry->piece.kernel];
    const uint32_t *row = s->ks->rows.at + entry->piece.row + kernel->n_outputs;
    vec_reserve(s->arena, &s->survey.hashes, nodes->n);
    vec_reserve(s->arena, &s->survey.hash_varies, nodes->n);
    const Node *node = s->shapes.nodes.at + nodes->first;
    const uint32_t *args = s->shapes.node_args.at;
    uint32_t *hashes = s->survey.hashes.at;
    bool *all_vary = s->survey.hash_varies.at;
    for (uint32_t k = 0; k < nodes->n; k++, node++) {
        if (node->role == NODE_LEAF) {
            hashes[k] = (uint32_t)hash_mix(1, row[node->payload]);
            all_vary[k] = s->repeats && may_vary(s, row[node->payload]);
            continue;
        }
        bool varies = node->role == NODE_UNLIKE;
        uint64_t hash = hash_mix(2, node->payload), sum = 0;
        for (uint32_t j = 0; j < node->expr->n_args; j++) {
            const uint32_t arg = args[node->first_arg + j];
            varies |= all_vary[arg];
            if (node->takes_arrays && s->repeats)
                varies |= array_may_vary(s, node->expr, j, row);
            if (node->commutes)
                sum += hashes[arg];
            else
                hash = hash_mix(hash, hashes[arg]);
        }
        hashes[k] = (uint32_t)(node->commutes ? hash_mix(hash, sum) : hash);
        all_vary[k] = varies;
    }
}

void share_survey(Share *s, uint32_t n, const Entries *const *lists)
{
    uint64_t n_anchors = 0;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < lists[k]->n; j++)
            if (is_plain(s->ks, &lists[k]->at[j]))
                n_anchors += share_kernel(s, lists[k]->at[j].piece.kernel)->n_anchors;
    if (s->survey.n_marks < 4 * n_anchors) {
        for (s->survey.n_marks = s->survey.n_marks ? s->survey.n_marks : 1024; s->survey.n_marks < 4 * n_anchors;)
            s->survey.n_marks *= 2;
        s->survey.marks = NEW_ARRAY(s->arena, uint32_t, s->survey.n_marks);
    }
    s->survey.number++;
    s->repeats = 0;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < lists[k]->n; j++) {
            const Entry *entry = &lists[k]->at[j];
            const KernelNodes *nodes = is_plain(s->ks, entry) ? share_kernel(s, entry->piece.kernel) : NULL;
            if (!nodes || !nodes->n_anchors)
                continue;
            hash_nodes(s, entry, nodes);
            for (uint32_t i = 0; i < nodes->n; i++) {
                uint32_t *mark = &s->survey.marks[s->survey.hashes.at[i] & (s->survey.n_marks - 1)];
                if (s->shapes.nodes.at[nodes->first + i].is_anchor)
                    *mark = *mark / 4 == s->survey.number ? 4 * s->survey.number + 2 : 4 * s->survey.number + 1;
            }
        }
}

/* What has this hash may occur twice, in any of the lists. */
static bool is_frequent(const Share *s, uint32_t hash)
{
    return s->survey.marks[hash & (s->survey.n_marks - 1)] == 4 * s->survey.number + 2;
}

/* Something in it may occur elsewhere, or be computed before. */
static bool is_interesting(Share *s, const Entry *entry)
{
    const KernelNodes *nodes = is_plain(s->ks, entry) ? share_kernel(s, entry->piece.kernel) : NULL;
    if (!nodes || !nodes->n_anchors)
        return false;
    REQUIRE(s->survey.n_marks); /* a survey was made */
    hash_nodes(s, entry, nodes);
    for (uint32_t k = 0; k < nodes->n; k++) {
        if (!s->shapes.nodes.at[nodes->first + k].is_anchor)
            continue;
        if (is_frequent(s, s->survey.hashes.at[k]) || (s->repeats && !s->survey.hash_varies.at[k]))
            return true;
    }
    return false;
}

/* ---- entries ---- */
static void note_use(Share *s, uint32_t number, uint32_t entry, bool is_sure, uint32_t guard)
{
    SharedValue *v = &s->values.all.at[number];
    if (v->demand.list != s->own.list) {
        v->demand.list = s->own.list;
        v->demand.is_sure = v->demand.is_boundary = v->demand.is_wanted = v->demand.is_outside = false;
        v->demand.entries = v->demand.uses = v->demand.guard = v->demand.guarded = 0;
        v->demand.last_entry = v->demand.named_at = KOINE_NONE;
        v->demand.first_entry = entry;
    }
    if (v->demand.guard == 0)
        v->demand.guard = guard;
    v->demand.guarded += guard && guard == v->demand.guard;
    v->demand.entries += v->demand.last_entry != entry;
    v->demand.last_entry = entry;
    v->demand.is_sure |= is_sure;
}

static void number_nodes(Share *s, const Entry *entry, uint32_t number, const KernelNodes *nodes)
{
    const Kernel *kernel = &s->ks->kernels.at[entry->piece.kernel];
    const uint32_t *row = s->ks->rows.at + entry->piece.row, first = s->numbers.n;
    vec_reserve(s->arena, &s->numbers, first + nodes->n);
    memset(s->numbers.at + first, 0, nodes->n * sizeof *s->numbers.at);
    s->numbers.n += nodes->n;
    for (uint32_t k = 0; k < nodes->n; k++) {
        const Node *node = &s->shapes.nodes.at[nodes->first + k];
        uint32_t *own = s->numbers.at + first;
        own[k] = node->role == NODE_LEAF       ? slot_value(s, row[kernel->n_outputs + node->payload])
                 : node->role == NODE_CONSTANT ? find_value(s, VALUE_CONSTANT, node->payload, 0, NULL)
                                               : operation_value(s, node, own, row + kernel->n_outputs);
    }
    for (uint32_t k = 0; k < nodes->n; k++) { /* conditions stand behind their branches */
        const Node *node = &s->shapes.nodes.at[nodes->first + k];
        const uint32_t *own = s->numbers.at + first;
        if (s->values.all.at[own[k]].kind == VALUE_OPERATION && node->expr->kind != EXPR_LEAF)
            note_use(s, own[k], number, node->is_sure, share_guard(node, own));
        if (is_model_call(node->expr)) /* hash_nodes was at this entry last */
            s->values.all.at[own[k]].is_frequent |= is_frequent(s, s->survey.hashes.at[k]);
    }
    for (uint32_t k = 0; k < kernel->n_outputs; k++) {
        const uint32_t root = s->numbers.at[first + s->shapes.roots.at[nodes->first_root + k]];
        SharedValue *v = &s->values.all.at[root];
        SlotState *state = share_slot(s, row[k]);
        state->value = root;
        state->list = s->own.list;
        state->written_at = number;
        for (uint32_t j = 1; j < output_values(kernel, k); j++)
            write_unknown(s, row[k] + j, number);
        if (v->demand.list != s->own.list)
            continue;
        v->demand.uses++;
        v->demand.is_outside = true;
        if (v->demand.named_at == KOINE_NONE)
            v->demand.named_at = number;
    }
}

/* Nothing before it is shared, nothing in it is interesting: what it writes need not be known. */
static bool is_dull(Share *s, const Entries *list)
{
    for (uint32_t k = 0; k < list->n; k++)
        if (s->values.all.n || is_interesting(s, &list->at[k]))
            return false;
    return true;
}

bool share_number(Share *s, const ShareRequest *request, const Entries *list)
{
    s->first_value.n = s->numbers.n = 0;
    s->n_fixed = request->n_fixed;
    s->fixed = request->fixed;
    if (is_dull(s, list))
        return false;
    for (uint32_t k = 0; k < s->values.all.n && s->n_fixed == 0; k++)
        s->values.all.at[k].varies = false; /* in this list: it was computed before */
    for (uint32_t k = 0; k < request->n_varying; k++)
        write_unknown(s, request->varying[k], 0);
    for (uint32_t k = 0; k < request->n_range; k++)
        write_unknown(s, request->range + k, 0);
    for (uint32_t k = 0; k < list->n; k++) {
        const Entry *entry = &list->at[k];
        const bool is_numbered = is_interesting(s, entry);
        vec_push(s->arena, &s->first_value, is_numbered ? s->numbers.n : KOINE_NONE);
        if (is_numbered)
            number_nodes(s, entry, k + 1, share_kernel(s, entry->piece.kernel));
        else
            share_writes(s, entry, write_unknown, k + 1);
    }
    return true;
}
