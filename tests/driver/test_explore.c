/* What stands behind a model: places of declarations and definitions, blocks, incidence. */
#include "assertions.h"
#include "driver/compile.h"
#include "explain/explore.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define EXAMPLES KOINE_SOURCE_DIR "/examples/"

static Compilation *compile(const char *path)
{
    Compilation *const c = compilation_create(NULL);
    fail_if(!compilation_load(c, &(CompileRequest){ .path = path }) || !compilation_schedule(c), "%s",
            diag_json(c->diag, c->arena));
    return c;
}

static const char *ask(Compilation *c, ExploreKind kind, ExploreRequest request)
{
    Text text = { .arena = c->arena };
    return explore(c->schedule, kind, &request, &text) ? text.at : NULL;
}

static void expect(const char *text, const char *part)
{
    fail_if(!text || !strstr(text, part), "'%s' is not in\n%s", part, text ? text : "(nothing)");
}

static void both_branches_of_an_equation_are_found(void **state)
{
    (void)state;
    Compilation *const c = compile(EXAMPLES "bouncing-ball/Ball.mdl");
    const char *const text = ask(c, EXPLORE_VARIABLE, (ExploreRequest){ .name = "Ay" });
    expect(text, "\"line\": 21, \"text\": \"               Ay (REAL) ,");
    expect(text, "{ \"how\": \"equation\", \"of\": 1, \"place\": { \"file\": \"" EXAMPLES
                 "bouncing-ball/Ball.mdl\", \"source\": 0, \"line\": 34, \"text\": \"    Ay := (K1/M) * (Radius - "
                 "Abstand)\\n        + (K2/M) * (1/Abstand - 1/Radius)\\n        - (D/M) * Vy;\" } }");
    expect(text, "\"line\": 40, \"text\": \"    Ay := 0;\"");
    expect(text, "\"reads\": [\"K1\", \"M\", \"Radius\", \"Abstand\", \"K2\", \"D\", \"Vy\"]");
    expect(ask(c, EXPLORE_VARIABLE, (ExploreRequest){ .name = "der(Y)" }), "\"text\": \"    Y'  := Vy;\"");
    expect(ask(c, EXPLORE_VARIABLE, (ExploreRequest){ .name = "Radius" }), "\"use\": \"parameter\"");
    assert_null(ask(c, EXPLORE_VARIABLE, (ExploreRequest){ .name = "Radiu" }));
    assert_null(ask(c, EXPLORE_VARIABLE, (ExploreRequest){ .name = "" }));
    compilation_destroy(c);
}

/* Equations without direction: what the connections made says where the variable comes from. */
static void a_system_names_how_many_are_solved_together(void **state)
{
    (void)state;
    Compilation *const c = compile(EXAMPLES "circuit-dymola/circuit.dym");
    const char *const components = ask(c, EXPLORE_COMPONENTS, (ExploreRequest){ 0 });
    expect(components, "\"parent\": -1");
    expect(components, "\"parent\": 0");
    const char *const blocks = ask(c, EXPLORE_BLOCKS, (ExploreRequest){ .most = 1000 });
    expect(blocks, "\"kind\": \"assignment\"");
    expect(ask(c, EXPLORE_BLOCKS, (ExploreRequest){ .first = 1, .most = 1 }), "\"first\": 1, \"blocks\": [{");
    expect(ask(c, EXPLORE_BLOCKS, (ExploreRequest){ .first = 1000000, .most = 5 }), "\"blocks\": []");
    compilation_destroy(c);
}

/* A system that became formulas is a row of assignments here. */
static void formulas_are_assignments(void **state)
{
    (void)state;
    Compilation *const c = compile(KOINE_SOURCE_DIR "/tests/sim/dymola/drive.dym");
    const char *const text = ask(c, EXPLORE_BLOCKS, (ExploreRequest){ .first = 0, .most = 10 });
    expect(text, "\"kind\": \"assignment\", \"size\": 1, \"moving\": true, \"unknowns\": [\"a1\"]");
    expect(ask(c, EXPLORE_INCIDENCE, (ExploreRequest){ .most = 400 }), "\"systems\": []");
    compilation_destroy(c);
}

/* In the order of computation every equation depends on unknowns before it and on its own: nothing above the diagonal
 * outside of systems. */
static void incidence_is_lower_triangular(void **state)
{
    (void)state;
    Compilation *const c = compile(EXAMPLES "bouncing-ball/Ball.mdl");
    const char *const text = ask(c, EXPLORE_INCIDENCE, (ExploreRequest){ .most = 400 });
    expect(text, "\"systems\": []");
    const char *at = strstr(text, "\"at\": [") + strlen("\"at\": [");
    uint32_t n = 0;
    for (; *at && *at != ']'; n++) {
        char *end;
        const unsigned long row = strtoul(at, &end, 10), column = strtoul(end + 1, &end, 10);
        strtoul(end + 1, &end, 10);
        assert_true(column <= row);
        at = *end == ',' ? end + 1 : end;
    }
    assert_true(n >= 9);
    expect(ask(c, EXPLORE_INCIDENCE, (ExploreRequest){ .most = 3 }), "\"cells\": 3");
    compilation_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_branches_of_an_equation_are_found),
        cmocka_unit_test(a_system_names_how_many_are_solved_together),
        cmocka_unit_test(formulas_are_assignments),
        cmocka_unit_test(incidence_is_lower_triangular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
