/* The language Dymola: what `new` becomes, and the messages of wrong texts. */
#include "load.h"

/* The text's new(v) is the variable, the text's v its value before; a Boolean starts as False, a number at 0. */
static void test_ot084_ot091_new_is_now(void **state)
{
    (void)state;
    const char *text = "model m local a b=True c n k=2 new(a) = b and not a new(b) = not b c = a or b\n"
                       "new(n) = n + k k = 3*Time end";
    expect_equations(text, "a := pre(b) and not pre(a)\nb := not pre(b)\nc := pre(a) or pre(b)\n"
                           "k = 3.0*time\nn = pre(n) + k\n");
    expect_has(text, "var",
               "a Boolean discrete now start false\nb Boolean discrete now start true\n"
               "c Boolean discrete start false\nn Real discrete now start 0.0\n");
    expect_equations("model m local a b a = new(b) new(b) = not a end", "a = b\nb := not a\n");
}

/* A class that is used with new(object.v): what it reads is the value before. */
static void test_new_of_an_objects_variable(void **state)
{
    (void)state;
    expect_equations("model class S terminal Open, u 0 = if Open then u else u - 1 end\n"
                     "model m submodel (S) a b new(a.Open) = not a.u > 0 b.Open = a.Open end",
                     "0.0 = if b.Open then b.u else b.u - 1.0\n0.0 = if pre(a.Open) then a.u else a.u - 1.0\n"
                     "a.Open := not a.u > 0.0\nb.Open := pre(a.Open)\n");
}

/* What is connected to v is v of the text: the value before. */
static void test_new_in_a_cut(void **state)
{
    (void)state;
    expect_equations("model class P cut c (s) new(s) = not s end model class Q cut c (r) local z z = not r end\n"
                     "model m submodel (P) p submodel (Q) q connect p:c at q:c end",
                     "p.$o1 := pre(p.s)\np.$o1 = q.r\np.s := not pre(p.s)\nq.z := not q.r\n");
}

static void test_rejected(void **state)
{
    (void)state;
    expect_refused("model m parameter p local x x = 1 new(p) = 2 end",
                   "1:35: error KN1322: new of a parameter or constant");
    expect_refused("model m input u new(u) = 2 end",
                   "1:17: error KN1322: new of an input, which is given from outside");
    expect_refused("model m local x der(x) = 1 new(x) = 2 end", "1:28: error KN1322: new of a variable under der");
    expect_refused("model class A terminal b, c b = not c end model m submodel (A) a new(a.b) = a.c a.c = True end",
                   "1:66: error KN1322: new of a variable that its own class defines");
    expect_refused("model m local x x = new(z) end", "1:25: error KN1310: there is no variable `z`");
    expect_refused("model m new(Time) = 1 end", "1:13: error KN1310: there is no variable `Time`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot084_ot091_new_is_now),
        cmocka_unit_test(test_new_of_an_objects_variable),
        cmocka_unit_test(test_new_in_a_cut),
        cmocka_unit_test(test_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
