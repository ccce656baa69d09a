/* Functions of a Dymola text: what they become, and the messages of wrong ones. */
#include "load.h"

#define SAT                                                                                                            \
    "function sat(x, limit)\nlocal s\ns = if x > limit then limit else x\nsat = if s < -limit then -limit else "       \
    "s\nend\n"

static void test_ot040_a_function_is_called(void **state)
{
    (void)state;
    expect_equations(SAT "function twice(x) twice = sat(2*x, 3) end\n"
                         "model class A terminal u y y = twice(u) end model m submodel (A) a b local x\n"
                         "a.u = Time b.u = sat(a.y, 1)\nsat(x, 2) = abs(max(x, int(3.5))) end",
                     "a.u = time\na.y = twice(a.u)\nb.u = sat(a.y, 1.0)\nb.y = twice(b.u)\n"
                     "sat(x, 2.0) = abs(max(x, trunc(3.5)))\n");
    /* statements in their order, comparisons are no events */
    Loaded l = load(SAT "model m local y y = sat(Time, 1) end");
    Text text = { .arena = l.arena };
    model_print(l.model, &text, (PrintOptions){ .no_places = true });
    assert_non_null(strstr(
        text.at, "function sat\n  input x Real\n  input limit Real\n  output sat Real = 0.0\n  local s Real = 0.0\n"
                 "  begin\n    s := if noEvent(x > limit) then limit else x\n"
                 "    sat := if noEvent(s < -limit) then -limit else s\n  end\nend sat\n"));
    release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ot040_a_function_is_called) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
