/* Expressions have the values that the thesis prints or defines: each row is computed by the Model that the text
 * becomes. */
#include "fixture.h"
#include "ir/evaluate.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const double PI = 3.14159265358979323846;

/* The value of `expression` in a component with the constants of thesis lines 5041 to 5076. */
static double value_of(const char *set, const char *expression)
{
    Fixture *fixture = fixture_create(".");
    const char *text = arena_format(
        fixture->arena,
        "BASIC COMPONENT A DECLARATION OF ELEMENTS CONSTANTS x (REAL) := 3.5, y (REAL) := 7, i (INT) := 5, "
        "j (INT) := 4, a (LOGICAL) := TRUE, b (LOGICAL) := FALSE, c (LOGICAL) := FALSE "
        "DEPENDENT VARIABLE v (%s) DYNAMIC BEHAVIOUR v := %s; END OF A",
        set, expression);
    const Model *model = fixture_load_text(fixture, text, strlen(text));
    if (!model) {
        diag_print(fixture->diag, stderr, (DiagStyle){ 0 });
        fail_msg("%s", expression);
        return 0;
    }
    const Term term = model->equations.at[0].rhs;
    Value leaves[16] = { 0 }, value;
    assert_true(term.shape->n_leaves <= 16);
    for (uint32_t k = 0; k < term.shape->n_leaves; k++) {
        const Variable *variable = model_var(model, term_refs(model, term)[k].var);
        assert_true(expr_evaluate(variable->binding.shape, NULL, NULL, &leaves[k]));
    }
    assert_true(expr_evaluate(term.shape, leaves, NULL, &value));
    const double result = term.shape->type.kind == TYPE_REAL ? value.r : (double)value.i;
    fixture_destroy(fixture);
    return result;
}

typedef struct {
    const char *expression;
    double value;
} Row;

static void check_rows(const char *set, const Row *rows, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const double found = value_of(set, rows[k].expression);
        if (!(fabs(found - rows[k].value) <= 1e-14 * fabs(rows[k].value)))
            fail_msg("%s is %.17g, not %.17g", rows[k].expression, found, rows[k].value);
    }
}
#define CHECK(set, rows) check_rows((set), (rows), sizeof(rows) / sizeof *(rows))

static void test_worked_results(void **state) /* SX-035, SX-036, SX-038, SX-039; thesis lines 5041 to 5256 */
{
    (void)state;
    static const Row integers[] = { { "i + 2*j + 5.0", 18 },          { "3 + 4 * 5", 23 }, { "(3+4)*5", 35 },
                                    { "((2*10+3)*10+4)*10+5", 2345 }, { "- i + j", -1 },   { "- i * j", -20 } };
    static const Row reals[] = { { "i/j + 1/4", 1.5 }, { "x - y/2", 0 },   { "i*x - j", 13.5 },
                                 { "8 / 4 / 2", 1 },   { "8 - 4 - 2", 2 }, { "2000000000 + 2000000000", 4e9 } };
    static const Row logicals[] = { { "a OR b AND c", 1 },
                                    { "(a OR b) AND c", 0 },
                                    { "a AND NOT b", 1 },
                                    { "2 + 7 > 10", 0 },
                                    { "(2 + 7 > 10) OR (3 = 6/2)", 1 },
                                    { "NOT a OR NOT b", 1 } };
    CHECK("INT", integers);
    CHECK("REAL", reals);
    CHECK("LOGICAL", logicals);
}

static void test_smooth_functions(void **state) /* SX-052, SX-053 */
{
    (void)state;
    const Row rows[] = { { "SQE(-3)", 9 },
                         { "SQRT(2)", sqrt(2) },
                         { "POW(2, 10)", 1024 },
                         { "ROOT(27, 3)", 3 },
                         { "EXP(1)", exp(1) },
                         { "LN(10)", log(10) },
                         { "LOG10(1000)", 3 },
                         { "LOG(8, 2)", 3 },
                         { "SIN(1)", sin(1) },
                         { "COS(1)", cos(1) },
                         { "TAN(1)", tan(1) },
                         { "ASIN(0.5)", asin(0.5) },
                         { "ACOS(0.5)", acos(0.5) },
                         { "ATAN(1)", PI / 4 },
                         { "ATAN2(1, 1)", PI / 4 },
                         { "ATAN2(1, -1)", 3 * PI / 4 },
                         { "ATAN2(-1, -1)", 5 * PI / 4 },
                         { "ATAN2(-1, 1)", -PI / 4 },
                         { "ATAN2(1, 0)", PI / 2 },
                         { "SINH(1)", sinh(1) },
                         { "COSH(1)", cosh(1) },
                         { "TANH(1)", tanh(1) } };
    CHECK("REAL", rows);
}

static void test_step_functions(void **state) /* SX-054, SX-055, SX-056, SX-058 */
{
    (void)state;
    static const Row rows[] = {
        { "SIGN(0)", 1 },     { "SIGN(-0.5)", -1 }, { "SIGN(2)", 1 },     { "TRUNC(-1.5)", -1 },  { "TRUNC(1.5)", 1 },
        { "RND(-1.5)", -2 },  { "RND(1.5)", 2 },    { "RND(1.4)", 1 },    { "FLOOR(-1.5)", -2 },  { "FLOOR(1.5)", 1 },
        { "CEIL(-1.5)", -1 }, { "CEIL(1.5)", 2 },   { "DIV(-7, 2)", -3 }, { "DIV2(-7, 2)", -4 },  { "MOD(-7, 2)", -1 },
        { "MOD(7, 2)", 1 },   { "MOD2(-3, 5)", 2 }, { "MOD2(7, 2)", 1 },  { "MAX(1, 2.5)", 2.5 }, { "MIN(1, 2.5)", 1 },
        { "ABS(-2.5)", 2.5 }, { "MAX(-1, -2)", -1 }
    };
    CHECK("REAL", rows);
}

static void test_integer_functions(void **state) /* SX-057 */
{
    (void)state;
    static const Row rows[] = { { "ITRUNC(-1.5)", -1 }, { "IRND(-1.5)", -2 },  { "IFLOOR(-1.5)", -2 },
                                { "ICEIL(-1.5)", -1 },  { "IABS(-3)", 3 },     { "ISIGN(0)", 1 },
                                { "ISIGN(-4)", -1 },    { "IDIV(-7, 2)", -3 }, { "IMOD(-7, 2)", -1 },
                                { "IMAX(3, 5)", 5 },    { "IMIN(3, 5)", 3 },   { "ITRUNC(7)", 7 } };
    CHECK("INT", rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_worked_results), cmocka_unit_test(test_smooth_functions),
                                        cmocka_unit_test(test_step_functions),
                                        cmocka_unit_test(test_integer_functions) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
