/* Interned names, natural order, distance of names. */
#include "assertions.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/names.h"
#include <stdio.h>

static void equal_texts_have_equal_ids(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Names *names = names_create(arena);
    assert_int_equal(names_count(names), 1);
    assert_true(name_is_empty(names_text(names, "")));
    assert_true(name_is_empty(names_add(names, "abc", 0)));
    const NameId x = names_text(names, "x");
    assert_false(name_is_empty(x));
    assert_true(name_equal(x, names_add(names, "xyz", 1)));
    assert_false(name_equal(x, names_text(names, "X")));
    assert_string_equal(names_of(names, x), "x");
    assert_int_equal(names_length(names, x), 1);
    assert_int_equal(names_count(names), 3);
    arena_destroy(arena);
}

static void finding_does_not_add(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Names *names = names_create(arena);
    NameId found;
    assert_false(names_find(names, "speed", 5, &found));
    assert_int_equal(names_count(names), 1);
    const NameId speed = names_text(names, "speed");
    assert_true(names_find(names, "speedy", 5, &found));
    assert_true(name_equal(found, speed));
    assert_false(names_find(names, "speedy", 6, &found));
    arena_destroy(arena);
}

static void zeros_are_part_of_a_name(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Names *names = names_create(arena);
    const NameId a = names_add(names, "a\0b", 3), b = names_add(names, "a\0c", 3), c = names_add(names, "a", 1);
    assert_false(name_equal(a, b));
    assert_false(name_equal(a, c));
    assert_int_equal(names_length(names, a), 3);
    assert_memory_equal(names_of(names, a), "a\0b", 4);
    arena_destroy(arena);
}

static void many_names_stay_where_they_are(void **state)
{
    (void)state;
    const uint32_t N = arena_is_hostile(NULL) ? 2000 : 100000; /* every name moves the table */
    Arena *arena = arena_create(NULL);
    Names *names = names_create(arena);
    const char *first = names_of(names, names_text(names, "name0"));
    char text[32];
    for (uint32_t k = 0; k < N; k++) {
        const int length = snprintf(text, sizeof text, "name%u", k);
        assert_int_equal(names_add(names, text, (size_t)length).index, k + 1);
    }
    assert_ptr_equal(names_of(names, names_text(names, "name0")), first);
    for (uint32_t k = 0; k < N; k += 7) {
        snprintf(text, sizeof text, "name%u", k);
        assert_int_equal(names_text(names, text).index, k + 1);
        assert_string_equal(names_of(names, (NameId){ k + 1 }), text);
    }
    assert_int_equal(names_count(names), N + 1);
    arena_destroy(arena);
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void natural_order_of_known_names(void **state)
{
    (void)state;
    static const char *const ASCENDING[] = {
        "",
        "0",
        "00",
        "1",
        "01",
        "2",
        "10",
        "A",
        "B",
        "a",
        "a.b",
        "a1",
        "a1b",
        "a01",
        "a001",
        "a2",
        "a10",
        "a10b2",
        "a10b10",
        "ab",
        "b[1]",
        "b[2]",
        "b[10]",
        "b[10].x",
        "b[10].y",
        "b[010]",
        "x18446744073709551616",
        "x18446744073709551617",
        "\xc3\xa9",
    };
    const size_t n = sizeof ASCENDING / sizeof *ASCENDING;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            const int expected = (a > b) - (a < b);
            fail_if(sign(natural_compare(ASCENDING[a], ASCENDING[b])) != expected, "\"%s\" against \"%s\"",
                    ASCENDING[a], ASCENDING[b]);
        }
}

static void natural_order_is_total(void **state)
{
    (void)state;
    enum { N = 400 };
    static char text[N][8];
    uint32_t random = 1;
    for (int k = 0; k < N; k++)
        for (int i = 0; i < 6; i++) {
            random = random * 1664525 + 1013904223;
            text[k][i] = "001123ab."[(random >> 16) % 9];
            if ((random >> 24) % 8 == 0)
                break;
        }
    static int8_t order[N][N];
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            order[a][b] = (int8_t)sign(natural_compare(text[a], text[b]));
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) {
            assert_int_equal(order[a][b], -order[b][a]);
            assert_int_equal(order[a][b] == 0, strcmp(text[a], text[b]) == 0);
            for (int c = 0; c < N; c++)
                fail_if(order[a][b] <= 0 && order[b][c] <= 0 && order[a][c] > 0, "%s, %s, %s", text[a], text[b],
                        text[c]);
        }
}

static void edits_between_names(void **state)
{
    (void)state;
    assert_int_equal(edit_distance("speed", "speed", 5), 0);
    assert_int_equal(edit_distance("speed", "SPEED", 5), 0);
    assert_int_equal(edit_distance("sped", "speed", 5), 1);
    assert_int_equal(edit_distance("kitten", "sitting", 9), 3);
    assert_int_equal(edit_distance("", "abc", 9), 3);
    assert_int_equal(edit_distance("abc", "xyzuvw", 4), 4);
    char longest[100];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(edit_distance(longest, "a", 3), 3);
    longest[63] = 0;
    assert_int_equal(edit_distance(longest, longest + 1, 3), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_have_equal_ids),   cmocka_unit_test(finding_does_not_add),
        cmocka_unit_test(zeros_are_part_of_a_name),     cmocka_unit_test(many_names_stay_where_they_are),
        cmocka_unit_test(natural_order_of_known_names), cmocka_unit_test(natural_order_is_total),
        cmocka_unit_test(edits_between_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
