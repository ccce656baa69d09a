/* Growable arrays in an arena.
 *
 *     VEC(uint32_t) edges = { 0 };
 *     vec_push(arena, &edges, 7);
 *     for (uint32_t i = 0; i < edges.n; i++) use(edges.at[i]);
 *
 * Items move when the array grows: keep indices, not pointers. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/arena.h"

#define VEC(Type)                                                                                                      \
    struct {                                                                                                           \
        Type *at;                                                                                                      \
        uint32_t n, capacity;                                                                                          \
    }

void *vec_grow(Arena *arena, void *at, uint32_t *capacity, uint32_t wanted, size_t item_size);

#define vec_reserve(arena, vec, wanted)                                                                                \
    ((vec)->capacity >= (wanted)                                                                                       \
         ? (void)0                                                                                                     \
         : (void)((vec)->at = vec_grow((arena), (vec)->at, &(vec)->capacity, (wanted), sizeof *(vec)->at)))
#define vec_push(arena, vec, item) (vec_reserve((arena), (vec), (vec)->n + 1), (vec)->at[(vec)->n++] = (item))
#define vec_push_zero(arena, vec)                                                                                      \
    (vec_reserve((arena), (vec), (vec)->n + 1), memset(&(vec)->at[(vec)->n], 0, sizeof *(vec)->at),                    \
     &(vec)->at[(vec)->n++])
#define vec_pop(vec) ((vec)->at[--(vec)->n])

#endif
