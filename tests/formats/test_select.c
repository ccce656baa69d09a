/* Which scalars are recorded, in which order and under which names. */
#include "formats/select.h"
#include "fake_model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static FakeModel fake;

static int set_up(void **state)
{
    fake_create(&fake);
    *state = arena_create(NULL);
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(*state);
    return 0;
}

/* The names chosen, joined by blanks, or the message. */
static const char *chosen(Arena *arena, const char *list, unsigned flags)
{
    const char *const *globs = NULL;
    const uint32_t n = list ? globs_split(list, arena, &globs) : 0;
    Selection selection;
    SelectionMiss miss;
    if (!select_columns(&fake.tables, globs, n, flags, arena, &selection, &miss)) {
        char *const text = NEW_ARRAY(arena, char, 256);
        selection_miss_text(&miss, globs, text, 256);
        return text;
    }
    Text names = { .arena = arena };
    text_add(&names, "");
    for (uint32_t i = 0; i < selection.n; i++) {
        if (i)
            text_char(&names, ' ');
        column_name(&fake.tables, &selection.at[i], &names);
        const KoineVariable *const variable = &fake.variables[selection.at[i].variable];
        assert_int_equal(selection.at[i].offset, variable->now + 8 * selection.at[i].element);
    }
    return names.at;
}

static void everything_visible_that_changes_is_recorded_by_default(void **state)
{
    assert_string_equal(
        chosen(*state, NULL, 0),
        "x der(x) minus_x A[1,1] A[1,2] A[1,3] A[2,1] A[2,2] A[2,3] on off n door Integ.Z odd, \"name\"");
}

static void parameters_come_with_the_flag_or_by_name(void **state)
{
    assert_non_null(strstr(chosen(*state, NULL, SELECT_PARAMETERS), " p "));
    assert_string_equal(chosen(*state, "p", 0), "p");
    assert_string_equal(chosen(*state, "p,x*", 0), "p x");
}

static void hidden_variables_only_come_by_their_full_name(void **state)
{
    assert_string_equal(chosen(*state, "secret", 0), "secret");
    assert_string_equal(chosen(*state, "s*", 0),
                        "'s*' matches only parameters and hidden variables; they are recorded when named in full");
}

static void wildcards_match_any_and_one_character(void **state)
{
    assert_string_equal(chosen(*state, "Integ.*, o?", 0), "Integ.Z on");
    assert_string_equal(chosen(*state, "?", 0), "x A[1,1] A[1,2] A[1,3] A[2,1] A[2,2] A[2,3] n");
    assert_true(glob_matches("a*b*c", "a--b--b-c"));
    assert_false(glob_matches("a*b*c", "a--b--b-"));
    assert_true(glob_matches("K?nigin", "Königin")); /* one character of two bytes */
    assert_true(glob_matches("*", ""));
    assert_false(glob_matches("?", ""));
}

static void brackets_are_literal_and_name_elements(void **state)
{
    assert_string_equal(chosen(*state, "A[1,2]", 0), "A[1,2]");
    assert_string_equal(chosen(*state, "A[*,3]", 0), "A[1,3] A[2,3]");
    assert_string_equal(chosen(*state, "A", 0), "A[1,1] A[1,2] A[1,3] A[2,1] A[2,2] A[2,3]");
}

static void order_is_that_of_the_globs_and_nothing_comes_twice(void **state)
{
    assert_string_equal(chosen(*state, "n,x,x,*x", 0), "n x minus_x");
    assert_string_equal(chosen(*state, "A[2,1],A", 0), "A[2,1] A[1,1] A[1,2] A[1,3] A[2,2] A[2,3]");
}

static void an_array_of_derivatives_has_its_index_inside(void **state)
{
    fake.variables[1].count = 3;
    fake.variables[1].n_dims = 1;
    fake.variables[1].first_dim = 1;
    assert_string_equal(chosen(*state, "der*", 0), "der(x[1]) der(x[2]) der(x[3])");
}

static void a_glob_without_match_is_an_error_with_the_nearest_name(void **state)
{
    assert_string_equal(chosen(*state, "Integ.Y", 0), "no variable matches 'Integ.Y'; did you mean 'Integ.Z'?");
    assert_string_equal(chosen(*state, "Z", 0), "no variable matches 'Z'; did you mean 'Integ.Z'?");
    assert_string_equal(chosen(*state, "x,quite_another", 0), "no variable matches 'quite_another'");
    assert_string_equal(chosen(*state, "text", 0), "'text' is a String: only CSV holds texts");
}

static void lists_split_at_commas_outside_brackets_and_quotes(void **state)
{
    const char *const *globs;
    assert_int_equal(globs_split(" a , x[1,2],'b,c' ,,", *state, &globs), 3);
    assert_string_equal(globs[0], "a");
    assert_string_equal(globs[1], "x[1,2]");
    assert_string_equal(globs[2], "'b,c'");
    assert_int_equal(globs_split("", *state, &globs), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(everything_visible_that_changes_is_recorded_by_default),
        TEST(parameters_come_with_the_flag_or_by_name),
        TEST(hidden_variables_only_come_by_their_full_name),
        TEST(wildcards_match_any_and_one_character),
        TEST(brackets_are_literal_and_name_elements),
        TEST(order_is_that_of_the_globs_and_nothing_comes_twice),
        TEST(an_array_of_derivatives_has_its_index_inside),
        TEST(a_glob_without_match_is_an_error_with_the_nearest_name),
        TEST(lists_split_at_commas_outside_brackets_and_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
