/* Arena and growable arrays. */
#include "assertions.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stdlib.h>

static bool is_zero(const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t k = 0; k < size; k++)
        if (byte[k])
            return false;
    return true;
}

static void blocks_are_aligned_zeroed_and_disjoint(void **state)
{
    (void)state;
    enum { N = 2000 };
    static const size_t ALIGN[] = { 1, 2, 4, 8, 16 };
    Arena *arena = arena_create(NULL);
    unsigned char *block[N];
    size_t size[N];
    for (size_t k = 0; k < N; k++) {
        const size_t align = ALIGN[k % 5];
        size[k] = k * 7 % 301 + (k % 97 == 0 ? 100000 : 0);
        block[k] = arena_alloc(arena, size[k], align);
        assert_int_equal((uintptr_t)block[k] % align, 0);
        assert_true(is_zero(block[k], size[k]));
        memset(block[k], (int)(k % 251) + 1, size[k]);
    }
    for (size_t k = 0; k < N; k++)
        for (size_t i = 0; i < size[k]; i++)
            assert_int_equal(block[k][i], k % 251 + 1);
    arena_destroy(arena);
}

static void reset_gives_back_and_zeroes(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    const ArenaMark empty = arena_mark(arena);
    char *kept = arena_text(arena, "kept", 4);
    const size_t bytes = arena_bytes(arena);
    for (int round = 0; round < 10; round++) {
        const ArenaMark mark = arena_mark(arena);
        for (size_t k = 1; k < 200; k++) {
            void *block = arena_alloc(arena, k * 97, 8);
            assert_true(is_zero(block, k * 97));
            memset(block, 0xff, k * 97);
        }
        assert_true(arena_bytes(arena) > bytes);
        arena_reset(arena, mark);
        assert_int_equal(arena_bytes(arena), bytes);
        assert_string_equal(kept, "kept");
    }
    arena_reset(arena, empty);
    assert_int_equal(arena_bytes(arena), 0);
    arena_destroy(arena);
    arena_destroy(NULL);
}

/* Also where blocks were released, or grow: what was written there must not be seen. */
static void large_blocks_are_zero_again(void **state)
{
    (void)state;
    static const size_t sizes[] = { 300000, 1000000, 300000, 700000, 5000000, 262144, 2000000, 3000000, 400000 };
    enum { N = sizeof sizes / sizeof sizes[0], ROUNDS = 4, N_BLOCKS = 20 };
    for (size_t round = 0; round < ROUNDS; round++) {
        Arena *arena = arena_create(NULL);
        for (size_t k = 0; k < N_BLOCKS; k++) {
            const size_t size = sizes[(round + k) % N], larger = size + 100000 * (k % 3);
            unsigned char *block = arena_alloc(arena, size, 16);
            assert_true(is_zero(block, size));
            memset(block, 0xff, size);
            block = arena_grow(arena, block, size, larger, 16);
            assert_int_equal(block[size - 1], 0xff);
            assert_true(is_zero(block + size, larger - size));
            memset(block, 0xff, larger);
        }
        arena_destroy(arena);
    }
}

static void grow_keeps_the_content(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    unsigned char *block = NULL;
    size_t size = 0;
    for (size_t larger = 1; larger < 300000; larger = larger * 3 / 2 + 1) {
        block = arena_grow(arena, block, size, larger, 1);
        assert_true(is_zero(block + size, larger - size));
        for (size_t k = size; k < larger; k++)
            block[k] = (unsigned char)(k % 253 + 1);
        size = larger;
        if (larger % 2)
            arena_alloc(arena, 1, 1); /* in the way: the block must move */
    }
    for (size_t k = 0; k < size; k++)
        assert_int_equal(block[k], k % 253 + 1);
    arena_destroy(arena);
}

static void the_last_block_grows_in_place(void **state)
{
    (void)state;
    if (arena_is_hostile(NULL))
        skip();
    Arena *arena = arena_create(NULL);
    char *block = arena_alloc(arena, 10, 1);
    assert_ptr_equal(arena_grow(arena, block, 10, 1000, 1), block);
    arena_alloc(arena, 1, 1);
    assert_ptr_not_equal(arena_grow(arena, block, 1000, 1001, 1), block);
    arena_destroy(arena);
}

static void texts_are_copied_and_terminated(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    assert_string_equal(arena_text(arena, "model bank", 5), "model");
    assert_string_equal(arena_text(arena, NULL, 0), "");
    assert_string_equal(arena_format(arena, "%s[%d]", "x", 3), "x[3]");
    assert_int_equal(strlen(arena_format(arena, "%*d", 5000, 7)), 5000);
    arena_destroy(arena);
}

static jmp_buf exhausted;

static void leave(size_t wanted)
{
    (void)wanted;
    longjmp(exhausted, 1);
}

static void exhausted_memory_calls_the_handler(void **state)
{
    (void)state;
    static Arena *arena;
    arena = arena_create(leave);
    arena_alloc(arena, 10, 1);
    if (setjmp(exhausted) == 0) {
        arena_alloc(arena, SIZE_MAX - 100, 16);
        fail_msg("the allocation must not return");
    }
    assert_non_null(arena_alloc(arena, 10, 1)); /* still usable */
    arena_destroy(arena);
}

static void vectors_grow(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    VEC(uint64_t) squares = { 0 };
    VEC(char) letters = { 0 };
    const uint32_t n = 3000;
    for (uint32_t k = 0; k < n; k++) {
        vec_push(arena, &squares, (uint64_t)k * k);
        *vec_push_zero(arena, &letters) += (char)('a' + k % 26);
    }
    for (uint32_t k = 0; k < n; k++) {
        assert_int_equal(squares.at[k], (uint64_t)k * k);
        assert_int_equal(letters.at[k], 'a' + k % 26);
    }
    assert_int_equal(vec_pop(&squares), (uint64_t)(n - 1) * (n - 1));
    assert_int_equal(squares.n, n - 1);
    squares.at[squares.n] = 5;
    assert_int_equal(*vec_push_zero(arena, &squares), 0);
    vec_reserve(arena, &squares, 10 * n);
    assert_true(squares.capacity >= 10 * n);
    assert_int_equal(squares.at[7], 49);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_zeroed_and_disjoint),
        cmocka_unit_test(reset_gives_back_and_zeroes),
        cmocka_unit_test(large_blocks_are_zero_again),
        cmocka_unit_test(grow_keeps_the_content),
        cmocka_unit_test(the_last_block_grows_in_place),
        cmocka_unit_test(texts_are_copied_and_terminated),
        cmocka_unit_test(exhausted_memory_calls_the_handler),
        cmocka_unit_test(vectors_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
