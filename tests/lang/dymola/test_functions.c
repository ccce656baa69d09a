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
    assert_non_null(strstr(text.at,
                           "function sat\n  input x Real\n  input limit Real\n  output sat Real\n  local s Real\n"
                           "  begin\n    s := if noEvent(x > limit) then limit else x\n"
                           "    sat := if noEvent(s < -limit) then -limit else s\n  end\nend sat\n"));
    release(&l);
}

static void test_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        { SAT "model m local y y = sat(1) end", "6:21: error KN1317: `sat` has 2 arguments, not 1" },
        { "function f(x) f = g(x) end function g(x) g = x end model m local y y = f(1) end",
          "1:19: error KN1317: the function `g` is defined later" },
        { "function f(x) f = f(x) end model m local y y = f(1) end",
          "1:19: error KN1317: the function `f` is defined later" },
        { "function sin(x) sin = x end model m end", "1:10: error KN1306: there are two functions `sin`" },
        { "function f(x) f = x end function f(x) f = x end model m end",
          "1:34: error KN1306: there are two functions `f`" },
        { "function f(x) x = 1 f = x end model m end", "1:15: error KN1344: an argument is not assigned to" },
        { "function f(x) local y y = x end model m end", "1:10: error KN1344: the function gives no value" },
        { "function f(x) f = Time*x end model m end", "1:19: error KN1344: a function knows its arguments only" },
        { "function f(x) f = der(x) end model m end", "1:19: error KN1344: a function knows its arguments only" },
        { "function f(x) 2*f = x f = x end model m end",
          "1:15: error KN1344: a statement assigns a value to a variable" },
        { "function f(x) local v(3) f = x end model m end", "1:21: error KN1344: functions have scalars only" },
        { "function f(x) f = x > 1 end model m end", "error KN1312: arguments and value of a function are numbers" },
        { "function f(x) f = z end model m end", "1:19: error KN1310: there is no variable `z`" },
        { "function f(x) f = x", "error KN1010: expected" },
        { "function f model m end", "1:12: error KN1010: expected `(`, found `model`" },
        { "function (x) f = x end model m end", "1:10: error KN1010: expected the name of a function, found `(`" },
    };
    for (uint32_t k = 0; k < sizeof cases / sizeof *cases; k++)
        expect_refused(cases[k].text, cases[k].message);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ot040_a_function_is_called),
                                        cmocka_unit_test(test_rejected) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
