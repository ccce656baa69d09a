/* The builder of bounded texts: it never writes beyond its room, and says when something is left out. */
#include "runtime/support/text.h"
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_what_fits_is_kept(void **state)
{
    (void)state;
    char room[16];
    KoineText text = koine_text_in(room, sizeof room);
    assert_string_equal(room, "");
    koine_text_add(&text, "%d and %s", 12, "three");
    koine_text_add(&text, "%s", " 56"); /* 15 letters: the room is full */
    assert_string_equal(room, "12 and three 56");
    assert_int_equal(text.n, 15);
    assert_false(text.is_cut);
}

/* Every size and every length of what is added: the byte behind the room keeps its value. */
static void test_no_byte_beyond_the_room(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 24; size++)
        for (int length = 0; length <= 30; length++) {
            char room[32];
            memset(room, '#', sizeof room);
            KoineText text = koine_text_in(room, size);
            for (int k = 0; k < 4; k++)
                koine_text_add(&text, "%.*s", length, "abcdefghijklmnopqrstuvwxyzabcd");
            assert_int_equal(room[size], '#');
            if (size == 0)
                continue;
            assert_int_equal(strlen(room), text.n);
            assert_int_equal(text.is_cut, 4 * (size_t)length >= size);
            if (text.is_cut && size > 3)
                assert_string_equal(room + text.n - 3, "...");
            if (text.is_cut)
                assert_int_equal(text.n, size - 1);
        }
}

static void test_nothing_follows_an_ellipsis(void **state)
{
    (void)state;
    char room[8];
    KoineText text = koine_text_in(room, sizeof room);
    koine_text_add(&text, "0123456789");
    koine_text_add(&text, "x");
    assert_string_equal(room, "0123...");
}

static void test_going_on_behind_a_text(void **state)
{
    (void)state;
    char room[12] = "first";
    KoineText text = koine_text_behind(room, sizeof room);
    koine_text_add(&text, "; next");
    assert_string_equal(room, "first; next");
    char full[4] = { 'f', 'u', 'l', 'l' };
    text = koine_text_behind(full, sizeof full); /* no end: nothing is written */
    koine_text_add(&text, "more");
    assert_memory_equal(full, "full", 4);
}

/* A letter of two bytes at the cut goes as a whole. */
static void test_no_half_letter_is_left(void **state)
{
    (void)state;
    for (size_t size = 5; size < 16; size++) {
        char room[16];
        KoineText text = koine_text_in(room, size);
        koine_text_add(&text, "äöüäöüäöüäöü");
        assert_true(text.is_cut);
        assert_int_equal((text.n - 3) % 2, 0);
        assert_int_equal(strlen(room), text.n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_fits_is_kept),           cmocka_unit_test(test_no_byte_beyond_the_room),
        cmocka_unit_test(test_nothing_follows_an_ellipsis), cmocka_unit_test(test_going_on_behind_a_text),
        cmocka_unit_test(test_no_half_letter_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
