/* Calls of which several nodes of the event graph need results are nodes of their own, before the first that reads
 * them; see event_layout.h. Only calls that are executed whatever the branches; a comparison and a system execute their
 * own. */
#include "emit/program/event_layout.h"
#include "ir/memo.h"
#include "ir/routine.h"
#include "ir/substitute.h"

typedef struct { /* a call with its arguments */
    const Expr *call;
    uint32_t n_leaves;
    const uint32_t *slots; /* of its leaves, numbered as they occur */
    uint32_t uses, last_piece;
    uint32_t slot, cell; /* of the results, once it has a node; else KOINE_NONE */
    uint32_t next;
} EventCall;

struct EventCalls {
    EventLayout *e;
    Map index; /* hash -> 1 + first of a chain */
    VEC(EventCall) all;
    uint32_t n_nodes;
};

/* Calls inside of an expression, the outer ones first; of those behind a condition nothing. */
typedef struct {
    EventCalls *calls;
    const uint32_t *slots; /* of the leaves of the expression */
    VEC(const Expr *) found;
    VEC(uint32_t) numbers;
} Search;

/* ---- which calls ---- */
static void list_leaves(const Expr *e, uint32_t *map, uint32_t *n, Memo *memo)
{
    uint32_t seen;
    if (e->kind == EXPR_LEAF && map[e->u.leaf] == KOINE_NONE)
        map[e->u.leaf] = (*n)++;
    if (e->n_leaves == 0 || e->n_args == 0 || memo_get(memo, e, &seen))
        return;
    memo_put(memo, e, 0);
    for (uint32_t k = 0; k < e->n_args; k++)
        list_leaves(e->args[k], map, n, memo);
}

/* The expression with its leaves numbered as they occur, and their slots. */
static const Expr *compact(Kernels *ks, const Expr *e, const uint32_t *slots, uint32_t *n, const uint32_t **own)
{
    uint32_t *map = NEW_ARRAY(ks->scratch, uint32_t, e->n_leaves + 1u);
    Memo memo;
    for (uint32_t k = 0; k < e->n_leaves; k++)
        map[k] = KOINE_NONE;
    *n = 0;
    memo_begin(&memo, NULL);
    list_leaves(e, map, n, &memo);
    memo_end(&memo);
    uint32_t *to = NEW_ARRAY(ks->scratch, uint32_t, *n + 1u);
    for (uint32_t k = 0; k < e->n_leaves; k++)
        if (map[k] != KOINE_NONE)
            to[map[k]] = slots[k];
        else
            map[k] = 0;
    *own = to;
    return expr_renumber(ks->model->pool, e, map);
}

static uint32_t number_of(EventCalls *calls, const Expr *call, const uint32_t *slots)
{
    Kernels *ks = calls->e->ks;
    EventCall own = { .slot = KOINE_NONE, .last_piece = KOINE_NONE };
    own.call = compact(ks, call, slots, &own.n_leaves, &own.slots);
    uint64_t hash = own.call->id;
    for (uint32_t k = 0; k < own.n_leaves; k++)
        hash = hash_mix(hash, own.slots[k]);
    uint32_t first = 0;
    if (!map_get(&calls->index, hash, &first))
        first = 0;
    for (uint32_t k = first; k; k = calls->all.at[k - 1].next) {
        const EventCall *c = &calls->all.at[k - 1];
        if (c->call == own.call && memcmp(c->slots, own.slots, own.n_leaves * sizeof *own.slots) == 0)
            return k - 1;
    }
    own.next = first;
    vec_push(ks->scratch, &calls->all, own);
    map_put(&calls->index, hash, calls->all.n);
    return calls->all.n - 1;
}

/* all: also what is in calls that were found. */
static void search(Search *s, const Expr *e, bool all, Memo *memo)
{
    uint32_t seen;
    if (!e->has_call || memo_get(memo, e, &seen))
        return;
    memo_put(memo, e, 0);
    if (is_model_call(e) && e->u.function->is_pure) {
        const uint32_t number = number_of(s->calls, e, s->slots);
        if (all || s->calls->all.at[number].uses > 1) {
            vec_push(s->calls->e->ks->scratch, &s->found, e);
            vec_push(s->calls->e->ks->scratch, &s->numbers, number);
            if (!all)
                return;
        }
    }
    const bool is_choice = e->kind == EXPR_IF || (e->kind == EXPR_CALL && (e->op == OP_AND || e->op == OP_OR));
    for (uint32_t k = 0; k < (is_choice ? 1u : e->n_args); k++)
        search(s, e->args[k], all, memo);
}

static Search find_calls(EventCalls *calls, const Expr *e, const uint32_t *slots, bool all)
{
    Search s = { .calls = calls, .slots = slots };
    Memo memo;
    memo_begin(&memo, NULL);
    search(&s, e, all, &memo);
    memo_end(&memo);
    return s;
}

static bool has_calls(const Kernels *ks, Piece piece)
{
    const Kernel *kernel = &ks->kernels.at[piece.kernel];
    return piece.n == 1 && !kernel->strides && !kernel->has_iterator && kernel->n_outputs == 1 &&
           kernel->outputs[0]->has_call;
}

EventCalls *event_calls_find(EventLayout *e)
{
    Kernels *ks = e->ks;
    EventCalls *calls = NEW(ks->arena, EventCalls);
    calls->e = e;
    map_init(&calls->index, ks->arena, 0);
    for (uint32_t k = 0; k < e->s->parts[PART_EVENT].n; k++) {
        const uint32_t index = e->s->parts[PART_EVENT].at[k];
        for (uint32_t j = e->parts->blocks.first_piece[index];
             e->s->blocks.at[index].kind == BLOCK_ASSIGN && j < e->parts->blocks.first_piece[index + 1]; j++) {
            const Piece piece = ks->pieces.at[j];
            if (!has_calls(ks, piece))
                continue;
            const Search s =
                find_calls(calls, ks->kernels.at[piece.kernel].outputs[0], ks->rows.at + piece.row + 1, true);
            for (uint32_t i = 0; i < s.numbers.n; i++) {
                EventCall *call = &calls->all.at[s.numbers.at[i]];
                call->uses += call->last_piece != j;
                call->last_piece = j;
            }
        }
    }
    return calls;
}

/* ---- nodes ---- */
static uint32_t lay_call(EventCalls *calls, uint32_t number, uint32_t index);

/* A kernel that computes `e` into `slot`, with the calls that have nodes read from where these put their results. */
static Piece lay(EventCalls *calls, const Expr *e, const uint32_t *slots, uint32_t slot, const Search *s)
{
    Kernels *ks = calls->e->ks;
    const Expr **to = NEW_ARRAY(ks->scratch, const Expr *, s->found.n + 1u);
    uint32_t *all = NEW_ARRAY(ks->scratch, uint32_t, e->n_leaves + s->found.n + 1u), n;
    const uint32_t *own;
    memcpy(all, slots, e->n_leaves * sizeof *all);
    for (uint32_t k = 0; k < s->found.n; k++) {
        all[e->n_leaves + k] = calls->all.at[s->numbers.at[k]].slot;
        to[k] = expr_leaf(ks->model->pool, e->n_leaves + k, s->found.at[k]->type);
    }
    const Expr *output = expr_substitute(ks->model->pool, e, s->found.n, s->found.at, to);
    output = compact(ks, output, all, &n, &own);
    uint32_t *row = NEW_ARRAY(ks->scratch, uint32_t, n + 1u);
    row[0] = slot;
    memcpy(row + 1, own, n * sizeof *row);
    const Piece piece = { kernel_for(ks, 1, &output, n, NULL, NULL), put_row(ks, row, n + 1), 1 };
    ks->kernels.at[piece.kernel].is_shared = true;
    return piece;
}

static void read_calls(EventCalls *calls, const Search *s)
{
    EventLayout *e = calls->e;
    for (uint32_t k = 0; k < s->numbers.n; k++) {
        const Read read = { calls->all.at[s->numbers.at[k]].cell, e->nodes.n - 1 };
        vec_push(e->ks->arena, &e->reads, read);
    }
}

/* The shared calls that are arguments of this one, or of what is in its arguments. */
static Search inner_calls(EventCalls *calls, const EventCall *call)
{
    Search s = { .calls = calls, .slots = call->slots };
    Memo memo;
    memo_begin(&memo, NULL);
    for (uint32_t k = 0; k < call->call->n_args; k++)
        search(&s, call->call->args[k], false, &memo);
    memo_end(&memo);
    return s;
}

static uint32_t lay_call(EventCalls *calls, uint32_t number, uint32_t index)
{
    EventLayout *e = calls->e;
    if (calls->all.at[number].slot != KOINE_NONE)
        return calls->all.at[number].slot;
    const Search inner = inner_calls(calls, &calls->all.at[number]);
    for (uint32_t k = 0; k < inner.numbers.n; k++)
        lay_call(calls, inner.numbers.at[k], index);
    EventCall *call = &calls->all.at[number];
    const Block *b = &e->s->blocks.at[index];
    bool is_moving = b->is_moving;
    call->slot = take_slots(e->ks, call->call->type.rank > 0 ? expr_extent(call->call) : 1);
    call->cell = 2 * e->m->variables.n + e->elements.n + e->pres.n + calls->n_nodes++;
    const Piece piece = lay(calls, call->call, call->slots, call->slot, &inner);
    KoineNode *node = add_node(e, KOINE_NODE_CALL, index);
    node->kernel = piece.kernel;
    node->row = piece.row;
    node->n = 1;
    node->output = call->slot;
    node->cell = call->cell;
    read_term(e, b->u.assign.rhs, &is_moving);
    read_calls(calls, &inner);
    note_moving(e, is_moving);
    return call->slot;
}

Piece event_calls_lay(EventCalls *calls, uint32_t index, Piece piece, EventReads *reads)
{
    Kernels *ks = calls->e->ks;
    *reads = (EventReads){ 0 };
    if (!has_calls(ks, piece))
        return piece;
    const Expr *output = ks->kernels.at[piece.kernel].outputs[0];
    uint32_t *slots = NEW_ARRAY(ks->scratch, uint32_t, output->n_leaves + 1u);
    memcpy(slots, ks->rows.at + piece.row + 1, output->n_leaves * sizeof *slots);
    const Search s = find_calls(calls, output, slots, false);
    if (!s.numbers.n)
        return piece;
    uint32_t *cells = NEW_ARRAY(ks->scratch, uint32_t, s.numbers.n);
    for (uint32_t k = 0; k < s.numbers.n; k++) {
        lay_call(calls, s.numbers.at[k], index);
        cells[k] = calls->all.at[s.numbers.at[k]].cell;
    }
    *reads = (EventReads){ s.numbers.n, cells };
    return lay(calls, output, slots, ks->rows.at[piece.row], &s);
}

uint32_t event_calls_count(const EventCalls *calls)
{
    return calls->n_nodes;
}
