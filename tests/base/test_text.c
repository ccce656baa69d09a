/* Text under construction: what is added stands there, terminated, whatever its size. */
#include "base/text.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int create_arena(void **state)
{
    *state = arena_create(NULL);
    return 0;
}

static int destroy_arena(void **state)
{
    arena_destroy(*state);
    return 0;
}

static void pieces_follow_each_other_and_the_text_is_terminated(void **state)
{
    Text text = { .arena = *state };
    text_add(&text, "alpha");
    text_char(&text, ' ');
    text_bytes(&text, "beta-not-this", 4);
    text_format(&text, " %s %d", "gamma", 7);
    text_bytes(&text, NULL, 0);
    assert_string_equal(text.at, "alpha beta gamma 7");
    assert_int_equal(text.n, 18);
}

static void an_empty_piece_makes_an_empty_text(void **state)
{
    Text text = { .arena = *state };
    text_add(&text, "");
    assert_string_equal(text.at, "");
    assert_int_equal(text.n, 0);
}

static void two_texts_grow_in_one_arena_without_mixing(void **state)
{
    Text a = { .arena = *state }, b = { .arena = *state };
    for (int i = 0; i < 20000; i++) {
        text_char(&a, (char)('a' + i % 26));
        text_format(&b, "%d", i % 10);
    }
    assert_int_equal(a.n, 20000);
    assert_int_equal(b.n, 20000);
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(a.at[i], 'a' + i % 26);
        assert_int_equal(b.at[i], '0' + i % 10);
    }
}

static void format_longer_than_the_room_is_complete(void **state)
{
    Text text = { .arena = *state };
    text_format(&text, "%0500d", 1);
    assert_int_equal(text.n, 500);
    assert_int_equal(text.at[499], '1');
    assert_int_equal(text.at[500], 0);
}

static void integers_are_exact_at_their_limits(void **state)
{
    Text text = { .arena = *state };
    text_integer(&text, 0);
    text_char(&text, ' ');
    text_integer(&text, INT64_MAX);
    text_char(&text, ' ');
    text_integer(&text, INT64_MIN);
    assert_string_equal(text.at, "0 9223372036854775807 -9223372036854775808");
}

static void reals_are_shortest_and_with_point_where_asked(void **state)
{
    Text text = { .arena = *state };
    const double values[] = { 1, -0.0, 0.1, 1e30, INFINITY, NAN };
    for (int i = 0; i < 6; i++) {
        text_real(&text, values[i]);
        text_char(&text, ' ');
        text_real_point(&text, values[i]);
        text_char(&text, ' ');
    }
    assert_string_equal(text.at, "1 1.0 -0 -0.0 0.1 0.1 1e+30 1e+30 inf inf nan nan ");
}

static void json_escapes_quotes_and_control_characters(void **state)
{
    Text text = { .arena = *state };
    text_json(&text, "a\"b\\c\n\r\t\x01\x1fä");
    assert_string_equal(text.at, "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u001fä\"");
}

static void names_of_elements_fill_empty_brackets(void **state)
{
    Arena *arena = *state;
    static const uint32_t index[] = { 2, 3, 4 };
    Text text = { .arena = arena };
    text_element(&text, "a[].b[,].x", 10, 3, index);
    text_char(&text, ' ');
    text_element(&text, "a[].x", 5, 3, index);
    text_char(&text, ' ');
    text_element(&text, "x", 1, 2, index);
    assert_string_equal(text.at, "a[2].b[3,4].x a[2].x[3,4] x[2,3]");
}

static void names_of_elements_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        uint32_t n, last;
    } rows[] = { { "a[2].b[3,4].x", "a[].b[,].x", 3, 4 },
                 { "a[2].x[3]", "a[].x", 2, 3 },
                 { "x[7]", "x", 1, 7 },
                 { "a[2].x", "a[].x", 1, 2 },
                 { "x", "x", 0, 0 },
                 { "a[].x", "a[].x", 0, 0 },
                 { "a[2,3].x", "a[].x", 0, 0 },
                 { "a[0].x", "a[].x", 0, 0 },
                 { "a[2.x", "a[].x", 0, 0 },
                 { "a[2]", "a[].x", 0, 0 },
                 { "a[2].xy", "a[].x", 0, 0 },
                 { "A[2].x", "a[].x", 0, 0 },
                 { "a[99999999999].x", "a[].x", 0, 0 },
                 { "x[1,2,3,4,5]", "x", 0, 0 },
                 { "x[-1]", "x", 0, 0 } };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint32_t index[4];
        const uint32_t n = text_read_element(rows[k].text, strlen(rows[k].text), rows[k].name, false, index, 4);
        assert_int_equal(n, rows[k].n);
        if (n)
            assert_int_equal(index[n - 1], rows[k].last);
    }
    uint32_t one;
    assert_int_equal(text_read_element("A[2].X", 6, "a[].x", true, &one, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pieces_follow_each_other_and_the_text_is_terminated, create_arena,
                                        destroy_arena),
        cmocka_unit_test_setup_teardown(an_empty_piece_makes_an_empty_text, create_arena, destroy_arena),
        cmocka_unit_test_setup_teardown(names_of_elements_fill_empty_brackets, create_arena, destroy_arena),
        cmocka_unit_test(names_of_elements_are_read),
        cmocka_unit_test_setup_teardown(two_texts_grow_in_one_arena_without_mixing, create_arena, destroy_arena),
        cmocka_unit_test_setup_teardown(format_longer_than_the_room_is_complete, create_arena, destroy_arena),
        cmocka_unit_test_setup_teardown(integers_are_exact_at_their_limits, create_arena, destroy_arena),
        cmocka_unit_test_setup_teardown(reals_are_shortest_and_with_point_where_asked, create_arena, destroy_arena),
        cmocka_unit_test_setup_teardown(json_escapes_quotes_and_control_characters, create_arena, destroy_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
