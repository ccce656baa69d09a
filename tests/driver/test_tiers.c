/* The words of the option --tier are the rows of the table of tiers, and `auto` climbs through them. */
#include "assertions.h"
#include "driver/compile.h"
#include "driver/words.h"
#include "emit/tiers.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const char MODEL[] = "BASIC COMPONENT Falling\n"
                            "DECLARATION OF ELEMENTS\n"
                            "STATE VARIABLES CONTINUOUS x (REAL) := 1\n"
                            "DYNAMIC BEHAVIOUR\n"
                            "DIFFERENTIAL EQUATIONS x' := -x; END\n"
                            "END OF Falling\n";

static Compilation *compile(void)
{
    Compilation *const c = compilation_create(NULL);
    sources_add_text(c->sources, "Falling.mdl", MODEL, sizeof MODEL - 1);
    assert_true(compilation_load(c, &(CompileRequest){ .path = "Falling.mdl" }) && compilation_schedule(c));
    return c;
}

static void test_every_row_is_a_word_and_loads(void **state)
{
    (void)state;
    Compilation *const c = compile();
    const char *why;
    assert_string_equal(compilation_tier_word(0), "auto");
    for (uint32_t k = 0; tier_at(k); k++) {
        assert_string_equal(compilation_tier_word(k + 1), tier_at(k)->name);
        assert_non_null(compilation_kind(c, tier_at(k)->name, &why));
    }
    assert_null(compilation_tier_word(tier_count() + 1));
    assert_null(compilation_kind(c, "nothing", &why));
    assert_string_equal(why, "no such tier");
    compilation_destroy(c);
}

static void test_each_tier_of_auto_pays_later_than_the_one_before(void **state)
{
    (void)state;
    uint64_t before = 0;
    assert_int_equal(tier_at(0)->pays_at, 0);
    for (uint32_t k = 1; tier_at(k); k++) {
        if (tier_at(k)->pays_at == TIER_NEVER)
            continue;
        assert_true(tier_at(k)->pays_at > before);
        before = tier_at(k)->pays_at;
    }
    assert_true(before > 0);
}

static void test_titles_name_every_tier(void **state)
{
    (void)state;
    Arena *const arena = arena_create(NULL);
    assert_string_equal(compilation_tier_titles(arena),
                        "interp (at once), tcc (compiled quickly), cc (compiled by the C compiler)");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_a_word_and_loads),
        cmocka_unit_test(test_each_tier_of_auto_pays_later_than_the_one_before),
        cmocka_unit_test(test_titles_name_every_tier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
