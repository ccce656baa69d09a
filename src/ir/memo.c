/* Open addressing with linear probing, at most half full; see memo.h. */
#include "ir/memo.h"

void memo_begin(Memo *memo, Arena *arena)
{
    memo->arena = arena;
    memo->owns_arena = false;
    memo->n = 0;
    memo->capacity = MEMO_FIRST;
    memo->slots = memo->first;
    memset(memo->first, 0, sizeof memo->first);
}

void memo_end(Memo *memo)
{
    if (memo->owns_arena)
        arena_destroy(memo->arena);
}

Arena *memo_arena(Memo *memo)
{
    if (!memo->arena) {
        memo->arena = arena_create(NULL);
        memo->owns_arena = true;
    }
    return memo->arena;
}

static MemoSlot *slot_of(const Memo *memo, uint32_t key)
{
    const uint32_t mask = memo->capacity - 1;
    uint32_t hash = key * 0x9e3779b1u;
    hash ^= hash >> 15;
    MemoSlot *slot = &memo->slots[hash & mask];
    while (slot->key && slot->key != key)
        slot = &memo->slots[++hash & mask];
    return slot;
}

static void enlarge(Memo *memo)
{
    const MemoSlot *old = memo->slots;
    const uint32_t n = memo->capacity;
    memo->capacity = n * 4;
    memo->slots = NEW_ARRAY(memo_arena(memo), MemoSlot, memo->capacity);
    for (uint32_t k = 0; k < n; k++)
        if (old[k].key)
            *slot_of(memo, old[k].key) = old[k];
}

bool memo_get(const Memo *memo, const Expr *node, uint32_t *value)
{
    const MemoSlot *slot = slot_of(memo, node->id + 1);
    if (!slot->key)
        return false;
    *value = slot->value;
    return true;
}

void memo_put(Memo *memo, const Expr *node, uint32_t value)
{
    if ((memo->n + 1) * 2 > memo->capacity)
        enlarge(memo);
    MemoSlot *slot = slot_of(memo, node->id + 1);
    if (!slot->key) {
        slot->key = node->id + 1;
        memo->n++;
    }
    slot->value = value;
}
