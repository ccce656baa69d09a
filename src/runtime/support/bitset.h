/* A set of small integers with fast access to the smallest: a tree of 64-bit words with as many levels as the largest
 * member needs. Lies in the model's block. */
#ifndef SUPPORT_BITSET_H
#define SUPPORT_BITSET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { BITSET_LEVELS = 4 }; /* 16 million members */
typedef struct {
    uint64_t *level[BITSET_LEVELS]; /* level 0: the members; a bit of level k+1: its word of level k is not 0 */
    int top;                        /* the level that is a single word */
} Bitset;

static inline uint64_t bitset_words(uint64_t n, int level)
{
    for (int k = 0; k <= level; k++)
        n = (n + 63) / 64;
    return n + 1; /* one to spare: a search may look just past the end */
}

static inline int bitset_top(uint64_t n)
{
    int top = 0;
    for (n = (n + 63) / 64; n > 1; n = (n + 63) / 64)
        top++;
    return top;
}

static inline void bitset_add(const Bitset *set, uint32_t member)
{
    for (int k = 0; k <= set->top; k++) {
        uint64_t *word = &set->level[k][member >> 6];
        const uint64_t before = *word;
        *word = before | (uint64_t)1 << (member & 63);
        if (before)
            return;
        member >>= 6;
    }
}

static inline void bitset_remove(const Bitset *set, uint32_t member)
{
    for (int k = 0; k <= set->top; k++) {
        uint64_t *word = &set->level[k][member >> 6];
        *word &= ~((uint64_t)1 << (member & 63));
        if (*word)
            return;
        member >>= 6;
    }
}

static inline bool bitset_has(const Bitset *set, uint32_t member)
{
    return set->level[0][member >> 6] >> (member & 63) & 1;
}

static inline bool bitset_is_empty(const Bitset *set)
{
    return set->level[set->top][0] == 0;
}

static inline uint32_t bitset_first(const Bitset *set) /* must not be empty */
{
    uint32_t member = 0;
    for (int k = set->top; k >= 0; k--)
        member = member << 6 | (uint32_t)__builtin_ctzll(set->level[k][member]);
    return member;
}

/* Removes and gives the smallest; must not be empty. The words are read on the way down and written on the way up, as
 * far as they have become 0. */
static inline uint32_t bitset_take(const Bitset *set)
{
    const int top = set->top;
    if (top == 0) {
        const uint64_t word = set->level[0][0];
        set->level[0][0] = word & (word - 1);
        return (uint32_t)__builtin_ctzll(word);
    }
    uint64_t *at[BITSET_LEVELS];
    uint32_t member = 0;
    for (int k = top; k >= 0; k--) {
        at[k] = &set->level[k][member];
        member = member << 6 | (uint32_t)__builtin_ctzll(*at[k]);
    }
    for (int k = 0; k <= top && (*at[k] &= *at[k] - 1) == 0; k++)
        ;
    return member;
}

/* The smallest member that is at least `from`, or UINT32_MAX. */
static inline uint32_t bitset_next(const Bitset *set, uint32_t from)
{
    if (bitset_is_empty(set))
        return UINT32_MAX;
    for (int k = 0; k <= set->top; k++) {
        if (k == set->top && from >= 64)
            return UINT32_MAX;
        const uint64_t rest = set->level[k][from >> 6] >> (from & 63);
        if (rest) {
            uint32_t member = from + (uint32_t)__builtin_ctzll(rest);
            while (k-- > 0)
                member = member << 6 | (uint32_t)__builtin_ctzll(set->level[k][member]);
            return member;
        }
        from = (from >> 6) + 1;
    }
    return UINT32_MAX;
}

#endif
