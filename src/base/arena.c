/* Chunked arena; see arena.h. Small blocks share chunks. A large block is mapped on its own: growing it moves no bytes,
 * and pages of a very large one that are never touched cost nothing. Hostile memory gives every allocation a chunk of
 * its own, poisons released memory and thereby lets the address sanitizer see each overrun. */
#define _GNU_SOURCE /* mremap */
#include "base/arena.h"
#include "base/bug.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef struct Chunk {
    struct Chunk *before;
    size_t size, used;
    _Alignas(16) unsigned char data[];
} Chunk;

typedef struct Large { /* header at the begin of a mapping; the block follows */
    struct Large *before, *after;
    size_t mapped;
    uint64_t number; /* in order of allocation: a mark remembers the last one */
    _Alignas(16) unsigned char data[];
} Large;

struct Arena {
    Chunk *last;
    Large *large; /* newest first */
    uint64_t n_large;
    OutOfMemory out_of_memory;
    size_t bytes;
    bool is_hostile;
    uint64_t *allowed; /* hostile memory: allocations until one fails, shared with arenas created like this one */
    uint64_t own_allowed;
};

#ifdef KOINE_HOSTILE
bool arena_is_hostile(const Arena *arena)
{
    if (arena)
        return arena->is_hostile;
    const char *wanted = getenv("KOINE_HOSTILE");
    return wanted && strcmp(wanted, "1") == 0;
}
#endif

/* Blocks of this size and more are large. */
static size_t large_from(const Arena *arena)
{
    return arena_is_hostile(arena) ? SIZE_MAX : (size_t)1 << 18;
}

static _Noreturn void fail(const Arena *arena, size_t wanted)
{
    if (arena && arena->out_of_memory)
        arena->out_of_memory(wanted);
    bug_no_memory(wanted);
}

static Chunk *chunk_create(Arena *arena, size_t wanted)
{
    static const size_t CHUNK_FIRST = (size_t)1 << 16, CHUNK_LARGEST = (size_t)1 << 22;
    size_t size = arena->last ? arena->last->size * 2 : CHUNK_FIRST;
    if (size > CHUNK_LARGEST)
        size = CHUNK_LARGEST;
    if (size < wanted)
        size = wanted;
    if (arena_is_hostile(arena)) {
        size = wanted;
        if (arena->allowed && (*arena->allowed)-- == 0)
            fail(arena, wanted);
    }
    Chunk *chunk = wanted > SIZE_MAX / 2 ? NULL : calloc(1, sizeof *chunk + size);
    if (!chunk)
        fail(arena, wanted);
    chunk->size = size;
    arena->bytes += size;
    return chunk;
}

/* ---- large blocks ---- */
static size_t mapping_for(size_t size)
{
    enum { PAGE = 4096 };
    return (size + sizeof(Large) + PAGE - 1) / PAGE * PAGE;
}

enum { HUGE_FROM = 1 << 22 };

/* Filling a large array costs a page fault for every 4 KiB otherwise. Only advice: a refusal does not matter. */
static void use_huge_pages(void *block, size_t mapped)
{
#ifdef MADV_HUGEPAGE
    if (mapped >= HUGE_FROM)
        (void)madvise(block, mapped, MADV_HUGEPAGE);
#else
    (void)block;
    (void)mapped;
#endif
}

/* Blocks of less than a huge page or two get their pages at once: nearly all of them are filled, and one fault a page
 * costs more than to clear it. */
static Large *map_block(size_t mapped)
{
    const int populate = mapped < HUGE_FROM ? MAP_POPULATE : 0;
    Large *block = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    use_huge_pages(block, mapped);
    return block;
}

static void *large_alloc(Arena *arena, size_t size)
{
    const size_t mapped = mapping_for(size);
    Large *block = size > SIZE_MAX / 2 ? NULL : map_block(mapped);
    if (!block)
        fail(arena, size);
    *block = (Large){ .before = arena->large, .mapped = mapped, .number = ++arena->n_large };
    if (arena->large)
        arena->large->after = block;
    arena->large = block;
    arena->bytes += mapped;
    return block->data;
}

static void large_release(Arena *arena, Large *block)
{
    if (block->before)
        block->before->after = block->after;
    if (block->after)
        block->after->before = block->before;
    else
        arena->large = block->before;
    arena->bytes -= block->mapped;
    munmap(block, block->mapped);
}

static void *large_grow(Arena *arena, void *old, size_t new_size)
{
    Large *block = (Large *)(void *)((unsigned char *)old - sizeof(Large));
    const size_t mapped = mapping_for(new_size), before = block->mapped;
    if (mapped <= before)
        return old;
    Large *moved = mremap(block, before, mapped, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED)
        fail(arena, new_size);
    use_huge_pages(moved, mapped);
    moved->mapped = mapped;
    arena->bytes += mapped - before;
    if (moved->before)
        moved->before->after = moved;
    if (moved->after)
        moved->after->before = moved;
    else
        arena->large = moved;
    return moved->data;
}

/* ---- interface ---- */
Arena *arena_create(OutOfMemory out_of_memory)
{
    Arena *arena = calloc(1, sizeof *arena);
    if (!arena) {
        if (out_of_memory)
            out_of_memory(sizeof *arena);
        fail(NULL, sizeof *arena);
    }
    arena->out_of_memory = out_of_memory;
    arena->is_hostile = arena_is_hostile(NULL);
    return arena;
}

Arena *arena_create_like(const Arena *arena)
{
    Arena *created = arena_create(arena->out_of_memory);
    created->allowed = arena->allowed;
    return created;
}

void arena_fail_after(Arena *arena, uint64_t allocations)
{
    arena->own_allowed = allocations;
    arena->allowed = &arena->own_allowed;
}

static void release_last(Arena *arena)
{
    Chunk *chunk = arena->last;
    arena->last = chunk->before;
    arena->bytes -= chunk->size;
    if (arena_is_hostile(arena))
        memset(chunk->data, 0xdb, chunk->size);
    free(chunk);
}

void arena_destroy(Arena *arena)
{
    if (!arena)
        return;
    while (arena->last)
        release_last(arena);
    while (arena->large)
        large_release(arena, arena->large);
    free(arena);
}

void *arena_alloc(Arena *arena, size_t size, size_t align)
{
    if (size >= large_from(arena))
        return large_alloc(arena, size);
    Chunk *chunk = arena->last;
    if (chunk) {
        const size_t begin = (chunk->used + align - 1) & ~(align - 1);
        if (begin <= chunk->size && size <= chunk->size - begin) {
            chunk->used = begin + size;
            return chunk->data + begin;
        }
    }
    chunk = chunk_create(arena, size);
    chunk->before = arena->last;
    arena->last = chunk;
    chunk->used = size;
    return chunk->data;
}

void *arena_grow(Arena *arena, void *old, size_t old_size, size_t new_size, size_t align)
{
    REQUIRE(new_size >= old_size);
    if (old && old_size >= large_from(arena))
        return large_grow(arena, old, new_size);
    Chunk *chunk = arena->last;
    unsigned char *bytes = old;
    if (bytes && chunk && bytes + old_size == chunk->data + chunk->used && bytes >= chunk->data &&
        new_size < large_from(arena) && new_size - old_size <= chunk->size - chunk->used) {
        chunk->used += new_size - old_size;
        return old;
    }
    void *grown = arena_alloc(arena, new_size, align);
    if (old_size)
        memcpy(grown, old, old_size);
    return grown;
}

ArenaMark arena_mark(const Arena *arena)
{
    return (ArenaMark){ arena->last, arena->last ? arena->last->used : 0, arena->n_large };
}

void arena_reset(Arena *arena, ArenaMark mark)
{
    for (Large *block = arena->large, *before; block && block->number > mark.n_large; block = before) {
        before = block->before;
        large_release(arena, block);
    }
    while (arena->last && (void *)arena->last != mark.chunk)
        release_last(arena);
    Chunk *chunk = arena->last;
    if (!chunk)
        return;
    REQUIRE(mark.used <= chunk->used);
    memset(chunk->data + mark.used, 0, chunk->used - mark.used);
    chunk->used = mark.used;
}

size_t arena_bytes(const Arena *arena)
{
    return arena->bytes;
}

char *arena_text(Arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1, 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

char *arena_format(Arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    REQUIRE(length >= 0);
    char *text = arena_alloc(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
