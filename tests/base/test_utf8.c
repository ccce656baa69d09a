/* UTF-8: every character there and back, everything else refused. */
#include "assertions.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/utf8.h"
#include <string.h>

static void every_character_reads_back(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x110010; c++) {
        char text[4];
        const bool is_character = c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff);
        const uint32_t n = utf8_encode(c, text);
        uint32_t size;
        const uint32_t read = utf8_decode(text, text + n, &size);
        fail_if((read == c) != is_character || size != (is_character ? n : 1), "U+%04X", c);
        fail_if(n > 1 && utf8_decode(text, text + n - 1, &size) != UTF8_BAD, "U+%04X cut", c);
    }
}

static void ill_formed_text_is_refused(void **state)
{
    (void)state;
    static const char *const BAD[] = {
        "\x80",         "\xbf",         "\xc0\x80",         "\xc1\xbf",         "\xe0\x80\x80",
        "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff",         "\xc3",         "\xe2\x82",         "a\xf0\x9f\x98",    "\xc3(",
    };
    for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++)
        fail_if(utf8_is_valid(BAD[k], strlen(BAD[k])), "case %zu", k);
    assert_true(utf8_is_valid("", 0));
    assert_true(utf8_is_valid("a\0b", 3));
    assert_true(utf8_is_valid("gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x98\x80", 15));
}

/* ASCII is skipped in groups of eight: the first other byte is found wherever it stands. */
static void one_byte_beyond_ascii_is_found_anywhere(void **state)
{
    (void)state;
    char text[40];
    for (size_t size = 0; size <= sizeof text; size++)
        for (size_t at = 0; at <= size; at++) {
            memset(text, 'a', sizeof text);
            if (at < size)
                text[at] = '\x80';
            fail_if(utf8_ascii(text, size) != at, "%zu of %zu", at, size);
            fail_if(utf8_is_valid(text, size) != (at == size), "%zu of %zu", at, size);
        }
}

static void widths(void **state)
{
    (void)state;
    assert_int_equal(utf8_width('a'), 1);
    assert_int_equal(utf8_width(0xe9), 1);
    assert_int_equal(utf8_width(0x301), 0);   /* combining acute accent */
    assert_int_equal(utf8_width(0x3b1), 1);   /* alpha */
    assert_int_equal(utf8_width(0x6f22), 2);  /* a Chinese character */
    assert_int_equal(utf8_width(0x1f600), 2); /* an emoji */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_reads_back),
        cmocka_unit_test(ill_formed_text_is_refused),
        cmocka_unit_test(one_byte_beyond_ascii_is_found_anywhere),
        cmocka_unit_test(widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
