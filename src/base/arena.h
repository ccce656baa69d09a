/* Memory by lifetime: an arena is filled and thrown away as a whole.
 *
 * Allocation never returns NULL: when memory is exhausted the handler given at creation is called,
 * which must not return (the command line prints a message and exits with status 4). Memory is
 * zeroed. A mark allows scratch use: mark, work, reset to the mark. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct Arena Arena;
typedef struct {
    void *chunk;
    size_t used;
    uint64_t n_large;
} ArenaMark;

/* Called when memory is exhausted; must not return. NULL: abort with a message on stderr. */
typedef void (*OutOfMemory)(size_t wanted);

Arena *arena_create(OutOfMemory out_of_memory);
Arena *arena_create_like(const Arena *arena); /* with the same handler: for scratch */
void arena_destroy(Arena *arena);
void *arena_alloc(Arena *arena, size_t size, size_t align); /* zeroed */
/* Grows the block at `old`, in place when it is the last one allocated or large. What is new is zero, unless
 * something was written beyond old_size. */
void *arena_grow(Arena *arena, void *old, size_t old_size, size_t new_size, size_t align);
ArenaMark arena_mark(const Arena *arena);
void arena_reset(Arena *arena, ArenaMark mark);
/* Hostile memory, for tests: builds with KOINE_HOSTILE give every allocation a chunk of its own when the environment
 * has KOINE_HOSTILE=1, let what grows move nearly every time, and poison what is released. NULL: would an arena created
 * now be hostile? */
#ifdef KOINE_HOSTILE
bool arena_is_hostile(const Arena *arena);
#else
static inline bool arena_is_hostile(const Arena *arena)
{
    (void)arena;
    return false;
}
#endif
/* Hostile memory only: the allocation after this many fails, for this arena and those created like it. */
void arena_fail_after(Arena *arena, uint64_t allocations);
size_t arena_bytes(const Arena *arena); /* bytes obtained from the system */

char *arena_text(Arena *arena, const char *text, size_t length); /* copy, terminated by 0 */
char *arena_format(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define NEW(arena, Type)          ((Type *)arena_alloc((arena), sizeof(Type), _Alignof(Type)))
#define NEW_ARRAY(arena, Type, n) ((Type *)arena_alloc((arena), sizeof(Type) * (size_t)(n), _Alignof(Type)))

#endif
