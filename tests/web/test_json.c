/* What a file claims to be JSON reaches the page only if it is. */
#include "web/json_rows.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void objects_are_known(void **state)
{
    (void)state;
    static const char *const good[] = { "{}", " { \"a\": [1, -2.5e+3, true, null, {}] } \n",
                                        "{\"a\\n\\u00e4\": \"\xc3\xa4\"}", "{\"a\":[0, -0, 0.5, 10, 1E5, 2e-07]}",
                                        "{\"a\":\"\\\\u\"}" };
    for (size_t k = 0; k < sizeof good / sizeof *good; k++)
        assert_true(json_is_object(good[k]));
}

static void what_could_forge_keys_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "",
                                       "[]",
                                       "1",
                                       "{} }",
                                       "{}, \"end\": {}",
                                       "null, \"a\": {}",
                                       "{",
                                       "{\"a\"}",
                                       "{,}",
                                       "{\"a\":1,}",
                                       "{\"a\":}",
                                       "{\"a\":\"\n\"}",
                                       "{a:1}",
                                       "{\"a\":1 2}",
                                       "{\"a\":\"\xff\"}",
                                       "{\"a\":alert(1)}",
                                       "{\"a\":\"\\x\"}",
                                       "{\"a\":\"\\u12g4\"}",
                                       "{\"a\":1-2}",
                                       "{\"a\":1e}",
                                       "{\"a\":01}",
                                       "{\"a\":1.}",
                                       "{\"a\":-}",
                                       "{\"a\":[1}" };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        if (json_is_object(bad[k]))
            fail_msg("%s", bad[k]);
    char deep[4096] = "{\"a\":";
    memset(deep + 5, '[', 4000);
    assert_false(json_is_object(deep));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(objects_are_known),
                                        cmocka_unit_test(what_could_forge_keys_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
