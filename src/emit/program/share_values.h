/* Private to emit/program/share*.c: numbers of values; see share.h. */
#ifndef EMIT_PROGRAM_SHARE_VALUES_H
#define EMIT_PROGRAM_SHARE_VALUES_H

#include "emit/placement.h"
#include "emit/program/share.h"
#include "ir/routine.h"

enum { WORTH = 6 }; /* additions that have to be saved: less does not pay for a store and its slot */

typedef enum { VALUE_SLOT, VALUE_CONSTANT, VALUE_OPERATION, VALUE_ARRAY /* of the values of its elements */ } ValueKind;

typedef struct {          /* what the list at work wants of a value; of another list it is not valid */
    bool is_sure : 1;     /* some entry computes it in any case */
    bool is_boundary : 1; /* read from a slot by those that need it */
    bool is_wanted : 1;   /* ... which is to be made */
    bool is_outside : 1;  /* needed by something that varies */
    uint32_t list;        /* number of the list that this belongs to */
    uint32_t entries;     /* how many compute it */
    uint32_t first_entry, last_entry;
    uint32_t named_at; /* the first entry whose output it is, or KOINE_NONE */
    uint32_t uses;
    uint32_t guard;   /* the first branch that it is needed in, or 0 */
    uint32_t guarded; /* by how many entries there */
} Demand;

typedef struct {    /* the slot that holds a value */
    uint32_t slot;  /* KOINE_NONE: none does */
    uint32_t list;  /* since which list */
    uint32_t guard; /* not 0: only in this branch */
} Holder;

typedef struct {      /* there are as many as operations in a model: small */
    uint32_t payload; /* what operation, which constant */
    uint32_t hash, next;
    uint32_t first_arg; /* in share->args: numbers of values */
    uint16_t n_args;
    uint16_t cost; /* of computing it: a sum over what is no boundary */
    uint8_t kind, own_cost;
    bool varies;
    bool is_frequent; /* a call that may be needed once more, here or in a list that comes later */
    Demand demand;
    Holder held;
} SharedValue;

typedef enum { NODE_LEAF, NODE_CONSTANT, NODE_OPERATION, NODE_UNLIKE } NodeRole; /* unlike: no other has its value */

typedef struct { /* a node of a kernel */
    const Expr *expr;
    uint32_t first_arg; /* in share->node_args: numbers of nodes, as many as expr has arguments */
    uint32_t payload;   /* number of the leaf, id of the constant, what operation */
    uint8_t role;       /* NodeRole */
    bool commutes;
    bool takes_arrays; /* it may: a call */
    bool is_sure;      /* computed whatever the branches */
    bool is_root;
    bool is_anchor;     /* the smallest that is worth a slot: all that is contains one */
    bool is_otherwise;  /* ... its side */
    uint32_t condition; /* node: the branch that it is needed in, whatever further branches; KOINE_NONE: none such */
} Node;

typedef struct {
    uint32_t first, n;   /* in share->nodes, in post-order */
    uint32_t first_root; /* in share->roots: node of each output */
    bool is_known;
    uint32_t n_anchors; /* 0: nothing in it is worth a slot */
} KernelNodes;

typedef struct {
    uint32_t epoch, value;
    uint32_t list, written_at; /* last entry that writes it, and its list; 0: none yet */
    uint32_t holds;            /* the value whose holder it is, or KOINE_NONE */
} SlotState;

typedef struct {
    uint32_t epoch, first; /* 1 + first value of a chain, if it is the present epoch */
} ValueHead;

typedef struct { /* a kernel made of another one, and where its leaves come from */
    uint32_t kernel, n_outputs, n_leaves;
    const uint32_t *source; /* leaf of the kernel before, or 1 << 31 | number of a node that is read from a slot */
    /* of what it was made: many rows ask for the same */
    uint32_t before, only;
    uint64_t replaced; /* nodes */
    bool is_guarded;
    uint32_t next;
} Rewritten;

typedef struct { /* the kernels that were looked into */
    VEC(KernelNodes) kernels;
    VEC(Node) nodes;
    VEC(uint32_t) node_args, roots;
} Shapes;

typedef struct {              /* what occurs twice, roughly: by hash, before values are numbered */
    uint32_t *marks, n_marks; /* by hash of an anchor: number*4 + how often it occurs, at most 2 */
    uint32_t number;          /* of the survey */
    VEC(uint32_t) hashes;     /* per node of the entry at work */
    VEC(bool) hash_varies;    /* ... it depends on what varies */
} Survey;

typedef struct { /* values of the present epoch */
    VEC(SharedValue) all;
    VEC(uint32_t) args;
    ValueHead *heads; /* by hash */
    uint32_t n_heads;
} Values;

struct Share {
    Kernels *ks;
    const Systems *systems;
    Arena *arena; /* all that follows lives in it */
    Placement placement;
    Shapes shapes;
    Survey survey;
    Values values;
    VEC(SlotState) slots;
    uint32_t epoch; /* all numbers of values belong to it */
    uint32_t n_lists, repeats;
    uint32_t n_fixed, fixed; /* slots; see ShareRequest */
    Shared own, before;      /* the list at work, those before it */
    VEC(Rewritten) rewritten;
    Map rewritten_index;       /* hash -> first of a chain */
    VEC(uint32_t) first_value; /* per entry: in `numbers`, or KOINE_NONE: it is not looked into */
    VEC(uint32_t) numbers;     /* per entry and node: its value */
};

const KernelNodes *share_kernel(Share *s, uint32_t kernel);
SlotState *share_slot(Share *s, uint32_t slot);
/* Numbers of all nodes of the list; false: there is nothing to share. */
bool share_number(Share *s, const ShareRequest *request, const Entries *list);
/* Calls `write` for each slot that the entry writes. */
void share_writes(Share *s, const Entry *entry, void (*write)(Share *s, uint32_t slot, uint32_t entry_number),
                  uint32_t entry_number);

/* Argument k of a call is an array where it lies in the block. */
static inline bool share_is_array(const Expr *e, uint32_t k)
{
    return is_model_call(e) && e->args[k]->kind == EXPR_LEAF && e->args[k]->type.rank > 0;
}

/* The branch a node is in, by the number of its condition; 0: none. */
static inline uint32_t share_guard(const Node *node, const uint32_t *numbers)
{
    return node->condition == KOINE_NONE ? 0 : 2 * (numbers[node->condition] + 1) + node->is_otherwise;
}

/* The value's slot can be read by the list at work, where `guard` holds. */
static inline bool share_is_held(const Share *s, const SharedValue *v, uint32_t guard)
{
    const uint32_t since = v->held.list;
    if (v->held.guard && v->held.guard != guard)
        return false;
    return v->held.slot != KOINE_NONE &&
           (since == s->own.list || since == s->own.base || since == s->before.list || since == s->before.base);
}

#endif
