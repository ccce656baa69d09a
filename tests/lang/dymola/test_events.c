/* The language Dymola: what new, when and init become, and the messages of wrong texts. */
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

/* ---- when and init ---- */
/* Equations of a when have no direction but for Booleans; init(v) = e is an assignment of the next step. */
static void test_ot081_ot084_ot086_whens_are_transitions(void **state)
{
    (void)state;
    Loaded l = load("model m local x a=0.5 u b v T\n"
                    "when Time >= T then new(T) = T + 1 new(x) + a*x = 2*u b = u > 1 init(v) = -v endwhen\n"
                    "der(v) = 1 u = 3 a = 1 end");
    Text text = { .arena = l.arena };
    model_print(l.model, &text, (PrintOptions){ .no_places = true });
    assert_non_null(strstr(text.at, "eq $e4 T = pre(T) + 1.0 when $t1\neq $e5 x + a*pre(x) = 2.0*u when $t1\n"));
    assert_non_null(strstr(text.at,
                           "trans $t1 edge now set start false when time >= pre(T) :\n  b := u > 1.0\nend $t1\n"
                           "trans $t2 edge next set start false when time >= pre(T) :\n"
                           "  next(v) := -v\nend $t2"));
    release(&l);
}

/* Outside of whens it says where the state starts, which is free then. */
static void test_ot086_init_at_the_start(void **state)
{
    (void)state;
    const char *text = "model m local x=5 y init(x) = 2*y der(x) = -x y = x - 1 end";
    expect_has(text, "eq", "initial $e1 x = 2.0*y");
    expect_has(text, "var", "x Real continuous start 5.0\n");
    expect_has("model class A local x der(x) = 1 end model m submodel (A) a init(a.x) = 3 end", "var",
               "a.x Real continuous\n");
}

static uint32_t roots_of(const char *text)
{
    Loaded l = load(text);
    Compile compile = { .model = l.model, .arena = l.arena, .diag = l.diag };
    assert_true(run_pipeline(&compile, NULL, NULL));
    const uint32_t n = compile.schedule->figures.n_roots;
    release(&l);
    return n;
}

/* The ifs and functions inside of the when add no root function to the one of its condition. */
static void test_ot083_no_indicators_in_whens(void **state)
{
    (void)state;
    assert_int_equal(roots_of("model m local x y H x = sin(Time) H = 1 when x > 0.5 then y = 1 endwhen end"), 1);
    assert_int_equal(roots_of("model m local x y H x = sin(Time) H = 1 when x > 0.5 then\n"
                              "y = if x > 0.7 then 1 else if x < -2 then abs(x) else max(x, 0) endwhen end"),
                     1);
    assert_int_equal(roots_of("model m local x y H x = sin(Time) when x > 0.5 then y = 1 endwhen\n"
                              "H = if x > 0.7 then 1 else 0 end"),
                     2);
}

/* The if of numbers is literal, conditions of whens and Boolean equations are not. */
static void test_ot074_set_events(void **state)
{
    (void)state;
    const char *body = "model m local x a b n a = x > 1 x = if Time > 2 then 1 else max(Time, 0)\n"
                       "when x > 3 then n = if x > 4 then 1 else 2 endwhen b = if a then x > 5 else False end ";
    char text[400];
    for (uint32_t k = 0; k < 3; k++) {
        snprintf(text, sizeof text, "%s%s", body, k == 0 ? "" : k == 1 ? "set Events on" : "set Events off");
        expect_has(text, "eq", k == 2 ? "x = if noEvent(time > 2.0) then" : "x = if time > 2.0 then");
        expect_has(text, "eq", "a := x > 1.0\n");
        expect_has(text, "eq", "b := if a then x > 5.0 else false\n");
        expect_has(text, "trans", "when x > 3.0 :");
        Loaded l = load_as(text, NULL, "dymola"); /* read as the original does: off unless the text says on */
        assert_non_null(l.model);
        assert_non_null(
            strstr(lines_of(&l, "eq"), k == 1 ? "x = if time > 2.0 then" : "x = if noEvent(time > 2.0) then"));
        release(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot084_ot091_new_is_now),
        cmocka_unit_test(test_new_of_an_objects_variable),
        cmocka_unit_test(test_new_in_a_cut),
        cmocka_unit_test(test_ot081_ot084_ot086_whens_are_transitions),
        cmocka_unit_test(test_ot086_init_at_the_start),
        cmocka_unit_test(test_ot083_no_indicators_in_whens),
        cmocka_unit_test(test_ot074_set_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
