/* The files of accept/ and reject/, see tests/lang/files.h. The models of examples/ and tests/sim/simplex load. The
 * comment `# profile simplex` asks for that profile. */
#include "../files.h"
#include "fixture.h"

static LoadedFile load_file(const Case *which)
{
    uint32_t source;
    Fixture *fixture = fixture_create(which->folder);
    assert_int_equal(sources_open(fixture->sources, which->path, &source), SOURCE_OK);
    const char *text = sources_get(fixture->sources, source)->text;
    if (strstr(text, "# profile simplex"))
        fixture->profile = "simplex";
    diag_set_limit(fixture->diag, 1000);
    Model *model = fixture_load(fixture, source, NULL);
    return (LoadedFile){ fixture->arena, fixture->diag, text, model };
}

static const LanguageFiles simplex_files = { ".mdl", '#', '\n', load_file };

static void test_loads(void **state)
{
    const LoadedFile file = load_file(*state);
    expect_silence(&file);
    arena_destroy(file.arena);
}

/* A text that is wrong is wrong the second time too. */
static void test_twice(void **state)
{
    (void)state;
    static const char text[] = "BASIC COMPONENT A DECLARATION OF ELEMENTS CONSTANT a (REAL) := x END OF A";
    Fixture *fixture = fixture_create(".");
    const uint32_t source = sources_add_text(fixture->sources, "A.mdl", text, sizeof text - 1);
    assert_null(fixture_load(fixture, source, NULL));
    assert_null(fixture_load(fixture, source, NULL));
    assert_int_equal(diag_errors(fixture->diag), 1);
    fixture_destroy(fixture);
}

static void test_class_name(void **state)
{
    (void)state;
    static const char text[] = "BASIC COMPONENT Aa DECLARATION OF ELEMENTS CONSTANT a (REAL) := 1 END OF Aa";
    Fixture *fixture = fixture_create(".");
    const uint32_t source = sources_add_text(fixture->sources, "A.mdl", text, sizeof text - 1);
    assert_non_null(fixture_load(fixture, source, "Aa"));
    assert_non_null(fixture_load(fixture, source, "aA"));
    assert_null(fixture_load(fixture, source, "A"));
    assert_non_null(strstr(printed(fixture->arena, fixture->diag), "KN1103"));
    fixture_destroy(fixture);
}

int main(void)
{
    static const char *const loading[] = {
        "examples/bouncing-ball", "examples/triangle",         "examples/sincos",         "examples/predator-prey",
        "examples/heating",       "examples/adder/And",        "examples/adder/Or",       "examples/adder/XOr",
        "examples/rc-circuit",    "examples/oscillator",       "examples/lotka-volterra", "examples/case-studies",
        "tests/sim/simplex",      "tests/lang/simplex/classes"
    };
    files = &simplex_files;
    bool is_complete = add_folder("tests/lang/simplex/accept", test_accept) > 0;
    is_complete &= add_folder("tests/lang/simplex/reject", test_reject) > 0;
    for (size_t k = 0; k < sizeof loading / sizeof *loading; k++)
        is_complete &= add_folder(loading[k], test_loads) > 0;
    add_case("a text that is wrong is wrong twice", test_twice, NULL);
    add_case("class name", test_class_name, NULL);
    if (!is_complete)
        return 1;
    return _cmocka_run_group_tests("simplex files", tests, n_cases, NULL, NULL);
}
