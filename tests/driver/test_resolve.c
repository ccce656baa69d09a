/* Classes by name: one file each, found in the folder of the file that asks; what is missing or contains itself. */
#include "driver/compile.h"
#include "driver/words.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define CLASSES KOINE_SOURCE_DIR "/tests/driver/classes/"

static Compilation *load(const char *path, bool *is_good)
{
    Compilation *c = compilation_create(NULL);
    const CompileRequest request = { .path = path };
    *is_good = compilation_load(c, &request);
    return c;
}

/* Refused with one error of this code, whose message has these texts in it, one after the other. */
static void assert_refused(const char *path, const char *code, const char *first, const char *second)
{
    bool is_good;
    Compilation *c = load(path, &is_good);
    assert_false(is_good);
    assert_int_equal(diag_errors(c->diag), 1);
    const char *json = diag_json(c->diag, c->arena);
    const char *at = strstr(json, code);
    assert_non_null(at);
    at = strstr(at, first);
    assert_non_null(at);
    assert_non_null(strstr(at, second));
    compilation_destroy(c);
}

static void test_a_class_lies_beside_the_file_that_asks(void **state)
{
    (void)state;
    bool is_good;
    Compilation *c = load(CLASSES "Pair.mdl", &is_good);
    assert_true(is_good);
    assert_int_equal(diag_errors(c->diag), 0);
    compilation_destroy(c);
}

static void test_an_unknown_class_is_named_with_its_file(void **state)
{
    (void)state;
    assert_refused(CLASSES "UnknownPart.mdl", "KN2050", "there is no component class 'Missing'", "Missing.mdl");
}

static void test_a_component_cannot_contain_itself(void **state)
{
    (void)state;
    assert_refused(CLASSES "Ring.mdl", "KN2051", "Ring.mdl' contains itself", "Middle.mdl");
    assert_refused(CLASSES "Own.mdl", "KN2051", "Own.mdl' contains itself", "");
}

/* ---- Two languages with one ending ---- */

static bool is_loud(const char *text, size_t size)
{
    return size >= 4 && memcmp(text, "LOUD", 4) == 0;
}

static Model *load_loud(const LoadRequest *request, Diag *diag)
{
    diag_error(diag, DIAG_SYNTAX, (Span){ request->source, 0, 0 }, "read as loud");
    return NULL;
}

static Model *load_quiet(const LoadRequest *request, Diag *diag)
{
    diag_error(diag, DIAG_SYNTAX, (Span){ request->source, 0, 0 }, "read as quiet");
    return NULL;
}

static void assert_read_as(const char *text, const char *message)
{
    static const char *const endings[] = { "voice", NULL };
    static const Language loud = {
        .name = "loud", .title = "Loud", .extensions = endings, .recognises = is_loud, .load = load_loud
    };
    static const Language quiet = { .name = "quiet", .title = "Quiet", .extensions = endings, .load = load_quiet };
    static const Language *const languages[] = { &loud, &quiet, NULL };
    Compilation *c = compilation_create(NULL);
    sources_add_text(c->sources, "a.voice", text, strlen(text));
    assert_false(compilation_load(c, &(CompileRequest){ .path = "a.voice", .languages = languages }));
    assert_non_null(strstr(diag_json(c->diag, c->arena), message));
    compilation_destroy(c);
}

static void test_languages_of_one_ending_look_at_the_text(void **state)
{
    (void)state;
    assert_read_as("LOUD x", "read as loud");
    assert_read_as("x", "read as quiet");
}

static void test_profiles_come_from_the_table_of_languages(void **state)
{
    (void)state;
    assert_string_equal(compilation_profile(0)->name, "dymola");
    assert_string_equal(compilation_profile(1)->name, "simplex");
    assert_null(compilation_profile(2));
    assert_true(profile_setting(compilation_profile(1), "TScal")->value == 1e-3);
    assert_null(profile_setting(compilation_profile(0), "TScal"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_class_lies_beside_the_file_that_asks),
        cmocka_unit_test(test_an_unknown_class_is_named_with_its_file),
        cmocka_unit_test(test_a_component_cannot_contain_itself),
        cmocka_unit_test(test_languages_of_one_ending_look_at_the_text),
        cmocka_unit_test(test_profiles_come_from_the_table_of_languages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
