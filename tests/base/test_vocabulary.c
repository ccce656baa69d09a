/* Lists of words: found, and written one after the other. */
#include "assertions.h"
#include "base/vocabulary.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const char *fruit(uint32_t k)
{
    static const char *const words[] = { "apple", "fig", "pear", NULL };
    return words[k];
}

static const char *one(uint32_t k)
{
    return k == 0 ? "apple" : NULL;
}

static void test_a_word_is_found_whole(void **state)
{
    (void)state;
    assert_ptr_equal(word_among(fruit, "fig"), fruit(1));
    assert_null(word_among(fruit, "fi"));
    assert_null(word_among(fruit, "figs"));
    assert_null(word_among(NULL, "fig"));
}

static void test_the_nearest_word(void **state)
{
    (void)state;
    assert_string_equal(word_nearest(fruit, "appel"), "apple");
    assert_string_equal(word_nearest(fruit, "pea"), "pear");
    assert_null(word_nearest(fruit, "quince"));
    assert_null(word_nearest(fruit, "xyz")); /* as many edits as letters: not like it */
}

static void test_a_list_has_another_separator_at_its_end(void **state)
{
    (void)state;
    Arena *const arena = arena_create(NULL);
    assert_string_equal(words_listed(fruit, " or ", arena), "apple, fig or pear");
    assert_string_equal(words_listed(fruit, ", ", arena), "apple, fig, pear");
    assert_string_equal(words_listed(one, " or ", arena), "apple");
    assert_string_equal(words_listed(NULL, " or ", arena), "");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_word_is_found_whole),
        cmocka_unit_test(test_the_nearest_word),
        cmocka_unit_test(test_a_list_has_another_separator_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
