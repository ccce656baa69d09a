/* Every element of the Model knows where it stands in the text, and every equation where its parts stand. */
#include "fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static char *text_at(const Fixture *fixture, Span span)
{
    assert_int_not_equal(span.source, SOURCE_NONE);
    const Source *source = sources_get(fixture->sources, span.source);
    assert_true(span.begin <= span.end && span.end <= source->size);
    return arena_text(fixture->arena, source->text + span.begin, span.end - span.begin);
}

static Model *load_file(Fixture *fixture, const char *path)
{
    uint32_t source;
    assert_int_equal(
        sources_open(fixture->sources, arena_format(fixture->arena, "%s/%s", KOINE_SOURCE_DIR, path), &source),
        SOURCE_OK);
    Model *model = fixture_load(fixture, source, NULL);
    assert_non_null(model);
    return model;
}

static void test_elements(void **state)
{
    (void)state;
    Fixture *fixture = fixture_create(".");
    const Model *model = load_file(fixture, "examples/bouncing-ball/Ball.mdl");
    assert_string_equal(text_at(fixture, model->span), "BASIC COMPONENT Ball");
    assert_string_equal(text_at(fixture, model->variables.at[0].span), "M");
    assert_string_equal(text_at(fixture, model->equations.at[0].origin.span), "X := Vx * T;");
    assert_string_equal(text_at(fixture, model->equations.at[1].origin.span), "Y'  := Vy;");
    assert_string_equal(
        text_at(fixture, model->regions.at[1].span) + 3 + 12,
        " DO Stufe := ITRUNC (X/StBreite); END\n  ELSE            DO Stufe := ITRUNC (TrBreite/StBreite); END");
    fixture_destroy(fixture);
}

static void test_events(void **state)
{
    (void)state;
    Fixture *fixture = fixture_create(".");
    const Model *model = load_file(fixture, "examples/predator-prey/HaFuchs.mdl");
    assert_int_equal(strncmp(text_at(fixture, model->transitions.at[0].origin.span), "WHENEVER T >= THalb", 19), 0);
    assert_string_equal(text_at(fixture, model->assignments.at[1].span), "THalb^  := T + 1000;");
    fixture_destroy(fixture);
}

static void test_connections(void **state)
{
    (void)state;
    Fixture *fixture = fixture_create(KOINE_SOURCE_DIR "/examples/heating");
    const Model *model = load_file(fixture, "examples/heating/Heizung.mdl");
    assert_string_equal(text_at(fixture, model->connections.at[0].span), "Regler.TAussen");
    assert_string_equal(text_at(fixture, model->instances.at[1].span), "Zimmer");
    assert_string_equal(text_at(fixture, model->equations.at[model->equations.n - 1].origin.span),
                        "TIst := Zimmer.TRaum");
    fixture_destroy(fixture);
}

static bool contains(const Expr *whole, const Expr *part)
{
    if (whole == part)
        return true;
    for (uint32_t k = 0; k < whole->n_args; k++)
        if (contains(whole->args[k], part))
            return true;
    return false;
}

/* Pre-order, spans inside of the parent's, nodes parts of the parent's. */
static uint32_t check_tree(const Model *model, uint32_t at)
{
    const Occurrence *parent = &model->occurrences.at[at];
    const uint32_t end = at + 1 + parent->n_below;
    for (uint32_t k = at + 1; k < end; k = check_tree(model, k)) {
        const Occurrence *child = &model->occurrences.at[k];
        assert_true(child->span.begin >= parent->span.begin && child->span.end <= parent->span.end);
        assert_true(contains(parent->node, child->node));
        assert_true(k + 1 + child->n_below <= end);
    }
    return end;
}

static void test_occurrences(void **state)
{
    (void)state;
    static const char *const paths[] = { "examples/bouncing-ball/Ball.mdl",
                                         "examples/predator-prey/HaFuchs.mdl",
                                         "examples/heating/Zimmer.mdl",
                                         "tests/lang/simplex/accept/SX-035-precedence.mdl",
                                         "tests/lang/simplex/accept/SX-039-all-real.mdl",
                                         "tests/lang/simplex/accept/SX-052-functions.mdl" };
    for (uint32_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        Fixture *fixture = fixture_create(".");
        const Model *model = load_file(fixture, paths[k]);
        for (uint32_t e = 0; e < model->equations.n; e++) {
            const Equation *equation = &model->equations.at[e];
            assert_ptr_equal(model->occurrences.at[equation->origin.first_occurrence].node, equation->rhs.shape);
            assert_int_equal(check_tree(model, equation->origin.first_occurrence),
                             equation->origin.first_occurrence + equation->origin.n_occurrences);
        }
        fixture_destroy(fixture);
    }
}

static void test_subexpression(void **state)
{
    (void)state;
    static const char text[] = "BASIC COMPONENT A DECLARATION OF ELEMENTS CONSTANTS a (REAL) := 1, n (INT) := 2 "
                               "DEPENDENT VARIABLE y (REAL) DYNAMIC BEHAVIOUR y := (a + n) * SIN(a); END OF A";
    static const char *const expected[] = { "(a + n) * SIN(a)", "(a + n)", "a", "n", "SIN(a)", "a" };
    Fixture *fixture = fixture_create(".");
    const Model *model = fixture_load_text(fixture, text, sizeof text - 1);
    assert_non_null(model);
    assert_int_equal(model->occurrences.n, 6);
    for (uint32_t k = 0; k < 6; k++)
        assert_string_equal(text_at(fixture, model->occurrences.at[k].span), expected[k]);
    assert_int_equal(model->occurrences.at[3].node->op, OP_REAL);
    fixture_destroy(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_elements), cmocka_unit_test(test_events),
                                        cmocka_unit_test(test_connections), cmocka_unit_test(test_occurrences),
                                        cmocka_unit_test(test_subexpression) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
