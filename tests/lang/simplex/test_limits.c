/* Large and hostile texts: nothing crashes, nothing takes more than linear time, and what is too much is said. */
#include "fixture.h"
#include "base/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void repeat(Text *text, const char *what, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        text_add(text, what);
}

static bool reports(Fixture *fixture, const char *code)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    diag_print(fixture->diag, to, (DiagStyle){ 0 });
    fclose(to);
    const bool is_found = strstr(text, code) != NULL;
    free(text);
    return is_found;
}

static const char HEAD[] = "BASIC COMPONENT A DECLARATION OF ELEMENTS STATE VARIABLE z (REAL) := 0 "
                           "DEPENDENT VARIABLES y (REAL), l (LOGICAL) DYNAMIC BEHAVIOUR ";

/* `l := …` resp. `y := …` with a large right side must fail with KN1006, or load. */
static void check_body(const char *before, const char *open, uint32_t n, const char *middle, const char *close,
                       const char *after, const char *code)
{
    Fixture *fixture = fixture_create(".");
    Text text = { .arena = fixture->arena };
    text_add(&text, HEAD);
    text_add(&text, before);
    repeat(&text, open, n);
    text_add(&text, middle);
    repeat(&text, close, n);
    text_add(&text, after);
    text_add(&text, " END OF A");
    const double begin = now();
    const Model *model = fixture_load_text(fixture, text.at, text.n);
    const double seconds = now() - begin;
    if (code) {
        assert_null(model);
        assert_true(reports(fixture, code));
    } else {
        assert_non_null(model);
    }
    assert_true(seconds < 20);
    fixture_destroy(fixture);
}

static void test_nesting(void **state)
{
    (void)state;
    enum { MANY = 1000000 };
    check_body("l := z > 0; y := ", "(", MANY, "1", ")", ";", "KN1006");
    check_body("l := z > 0; y := ", "(", 400, "1", ")", ";", NULL);
    check_body("l := z > 0; y := ", "(", MANY, "", "", "", "KN1006");
    check_body("y := 1; l := ", "NOT ", MANY, "TRUE", "", ";", "KN1006");
    check_body("y := 1; l := ", "NOT ", 1000, "TRUE", "", ";", NULL);
    check_body("l := z > 0; y := ", "ABS(", MANY, "1", ")", ";", "KN1006");
    check_body("l := z > 0; y := 1", " + z", MANY, "", "", ";", "KN1006");
    check_body("l := z > 0; y := 1", " + z", 1000, "", "", ";", NULL);
    check_body("l := z > 0; y := ", "- (", MANY, "1", ")", ";", "KN1006");
    check_body("l := z > 0; y := 1; ", "IF z > 0 DO ", MANY, "", "", "", "KN1006");
    check_body("l := z > 0; y := 1; ", "IF z > 0 DO ", 100, "WHENEVER z > 0 DO z^ := 1; END", " END", "", NULL);
    check_body("l := z > 0; y := 1; WHENEVER z > 0 DO ", "IF z > 0 DO ", MANY, "z^ := 1;", " END", " END", "KN1006");
    check_body("l := z > 0; y := 1; WHENEVER z > 0 DO ", "IF z > 0 DO ", 100, "z^ := 1;", " END", " END", NULL);
}

static void test_many_branches(void **state)
{
    (void)state;
    check_body("l := z > 0; IF z > 0 DO y := 1; END", " ELSIF z > 1 DO y := 2; END", 60000, " ELSE DO y := 3; END", "",
               "", NULL);
    check_body("l := z > 0; IF z > 0 DO y := 1; END", " ELSIF z > 1 DO y := 2; END", 70000, " ELSE DO y := 3; END", "",
               "", "KN1113");
    check_body("l := z > 0; y := 1; WHENEVER z > 0 DO IF z > 0 DO z^ := 1; END", " ELSIF z > 1 DO z^ := 2; END", 500,
               "", "", " END", NULL);
    check_body("l := z > 0; y := 1; WHENEVER z > 0 DO IF z > 0 DO z^ := 1; END", " ELSIF z > 1 DO z^ := 2; END", 5000,
               "", "", " END", "KN1006");
}

static void test_long_texts(void **state)
{
    (void)state;
    enum { LONG = 3000000 };
    check_body("l := z > 0; y := 1;", " ", LONG, "", "", "", NULL);
    check_body("l := z > 0; y := 1; #", "x", LONG, "\n", "", "", NULL);
    check_body("l := z > 0; y := ", "x", LONG, "", "", ";", "KN1106");
    check_body("l := z > 0; y := ", "1", LONG, "", "", ";", "KN1012");
    check_body("l := z > 0; y := 0.", "0", LONG, "1", "", ";", "KN1012");
    check_body("l := z > 0; y := 1; WHENEVER z > 0 DO DISPLAY (\"", "x", LONG, "\"); z^ := 0; END", "", "", NULL);
    check_body("l := z > 0; y := 1;", "y := 1; ", LONG / 20, "", "", "", "KN1145");
    check_body("l := z > 0; y := 1;", "? ", LONG / 10, "", "", "", "KN1004");
    check_body("l := z > 0; y := 1;", ") ; ", LONG / 10, "", "", "", "KN1010");
}

static void test_many_unknown_names(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    Fixture *fixture = fixture_create(".");
    Text text = { .arena = fixture->arena };
    text_add(&text, "BASIC COMPONENT A DECLARATION OF ELEMENTS CONSTANTS z (REAL) := 1");
    for (uint32_t k = 0; k < MANY; k++)
        text_format(&text, ", c%u (REAL) := 1", k);
    text_add(&text, " DEPENDENT VARIABLE y (REAL) DYNAMIC BEHAVIOUR y := 0;");
    for (uint32_t k = 0; k < MANY; k++)
        text_format(&text, " u%u := v%u;", k, k);
    text_add(&text, " END OF A");
    const double begin = now();
    assert_null(fixture_load_text(fixture, text.at, text.n));
    assert_true(now() - begin < 20);
    assert_int_equal(diag_errors(fixture->diag), 2 * MANY);
    fixture_destroy(fixture);
}

/* Sums of many different quantities: references are found by number, not by search. */
static void test_many_references(void **state)
{
    (void)state;
    enum { GROUPS = 1000, SIZE = 100 };
    Fixture *fixture = fixture_create(".");
    Text text = { .arena = fixture->arena };
    text_add(&text, "BASIC COMPONENT A DECLARATION OF ELEMENTS CONSTANTS z (REAL) := 1");
    for (uint32_t k = 0; k < GROUPS * SIZE; k++)
        text_format(&text, ", c%u (REAL) := 1", k);
    text_add(&text, " DEPENDENT VARIABLE y (REAL) DYNAMIC BEHAVIOUR y := z");
    for (uint32_t k = 0; k < GROUPS; k++) {
        text_format(&text, " + (z");
        for (uint32_t j = 0; j < SIZE; j++)
            text_format(&text, " + c%u", k * SIZE + j);
        text_format(&text, ")");
    }
    text_add(&text, "; END OF A");
    const double begin = now();
    assert_non_null(fixture_load_text(fixture, text.at, text.n));
    assert_true(now() - begin < 20);
    fixture_destroy(fixture);
}

/* 100,000 subcomponents in a ring, with an input, an output and initial values. */
static void test_many_subcomponents(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    Fixture *fixture = fixture_create(KOINE_SOURCE_DIR "/examples/triangle");
    Text text = { .arena = fixture->arena };
    text_add(&text, "HIGH LEVEL COMPONENT A SUBCOMPONENTS Integ");
    for (uint32_t k = 0; k < MANY; k++)
        text_format(&text, ",\n  I%u OF CLASS Integ", k);
    text_add(&text, "\nINPUT CONNECTIONS u --> Integ.X;\nOUTPUT EQUIVALENCES\n");
    for (uint32_t k = 0; k < MANY; k += 10)
        text_format(&text, "  o%u := I%u.Z;\n", k, k);
    text_add(&text, "COMPONENT CONNECTIONS\n");
    for (uint32_t k = 0; k < MANY; k++)
        text_format(&text, "  I%u.Z --> I%u.X;\n", k, (k + 1) % MANY);
    text_add(&text, "INITIALIZE\n");
    for (uint32_t k = 0; k < MANY; k += 10)
        text_format(&text, "  o%u := %u;\n", k, k);
    text_add(&text, "END OF A\n");
    const double begin = now();
    const Model *model = fixture_load_text(fixture, text.at, text.n);
    const double seconds = now() - begin;
    assert_non_null(model);
    assert_int_equal(model->instances.n, MANY + 2);
    assert_int_equal(model->connections.n, MANY + 1);
    assert_int_equal(model->equations.n, MANY + 1 + MANY / 10);
    print_message("100,000 subcomponents: %.3f s\n", seconds);
    assert_true(seconds < 5); /* without optimisation, with sanitizers; a release build takes a tenth of a second */
    fixture_destroy(fixture);
}

/* Levels, each with two of the level below: forty would be 2^40 components, and 22 already take what nobody has. */
static void refuse_doubling(uint32_t levels)
{
    Fixture *fixture = fixture_create(".");
    for (uint32_t k = 0; k < levels; k++) {
        const char *text =
            k == 0 ? "BASIC COMPONENT L0 DECLARATION OF ELEMENTS CONSTANT c (REAL) := 1 END OF L0"
                   : arena_format(fixture->arena,
                                  "HIGH LEVEL COMPONENT L%u SUBCOMPONENTS a OF CLASS L%u, b OF CLASS L%u END "
                                  "OF L%u",
                                  k, k - 1, k - 1, k);
        sources_add_text(fixture->sources, arena_format(fixture->arena, "./L%u.mdl", k), text, strlen(text));
    }
    assert_null(fixture_load(fixture, levels - 1, NULL));
    assert_true(reports(fixture, "KN1113: `L19` would have 1048575 components"));
    assert_in_range(arena_bytes(fixture->arena), 0, 500000000);
    fixture_destroy(fixture);
}

static void test_doubling(void **state)
{
    (void)state;
    refuse_doubling(22);
    refuse_doubling(40);
}

/* Every beginning of a model, and every model with a byte in the middle replaced, is answered. */
static void test_damaged_texts(void **state)
{
    (void)state;
    static const char *const paths[] = { "examples/bouncing-ball/Ball.mdl", "examples/adder/And/Delay.mdl",
                                         "examples/sincos/SinCos.mdl",
                                         "tests/lang/simplex/accept/SX-096-if-in-event.mdl",
                                         "tests/lang/simplex/accept/SX-031-tables.mdl" };
    static const char replacements[] = { '\0', '\xff', '(', ';', '"', '^', 'E', '9' };
    for (uint32_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        Fixture *reader = fixture_create(".");
        uint32_t id;
        const char *path = arena_format(reader->arena, "%s/%s", KOINE_SOURCE_DIR, paths[k]);
        assert_int_equal(sources_open(reader->sources, path, &id), SOURCE_OK);
        const Source *source = sources_get(reader->sources, id);
        char *copy = arena_text(reader->arena, source->text, source->size);
        for (uint32_t at = 0; at < source->size; at++) {
            Fixture *fixture = fixture_create(KOINE_SOURCE_DIR "/examples/sincos");
            assert_null(fixture_load_text(fixture, copy, at < source->size - 1 ? at : 0));
            assert_true(diag_errors(fixture->diag) > 0);
            const char kept = copy[at];
            copy[at] = replacements[at % sizeof replacements];
            const Model *model = fixture_load_text(fixture, copy, source->size);
            copy[at] = kept;
            assert_true(model || diag_errors(fixture->diag) > 0);
            fixture_destroy(fixture);
        }
        fixture_destroy(reader);
    }
}

static void test_rubbish(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    for (uint32_t round = 0; round < 300; round++) {
        char bytes[2000];
        for (uint32_t k = 0; k < sizeof bytes; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            bytes[k] = (char)(round % 2 ? random : 32 + random % 95);
        }
        memcpy(bytes, "BASIC COMPONENT A DECLARATION OF ELEMENTS DYNAMIC BEHAVIOUR ", round % 3 ? 60 : 0);
        Fixture *fixture = fixture_create(".");
        assert_null(fixture_load_text(fixture, bytes, sizeof bytes));
        assert_true(diag_errors(fixture->diag) > 0);
        fixture_destroy(fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting),         cmocka_unit_test(test_many_branches),
        cmocka_unit_test(test_long_texts),      cmocka_unit_test(test_many_unknown_names),
        cmocka_unit_test(test_many_references), cmocka_unit_test(test_many_subcomponents),
        cmocka_unit_test(test_doubling),        cmocka_unit_test(test_damaged_texts),
        cmocka_unit_test(test_rubbish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
