/* The language Dymola: what a text becomes; more texts, and wrong ones with their messages, are files (test_files.c).
 * Equations are compared after expand-connections, as a sorted list without places. Row numbers of docs/coverage/OT.md
 * in the names. */
#include "lang/dymola/parser.h"
#include "load.h"

static uint32_t live_equations(const Model *model)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < model->equations.n; k++)
        n += model->equations.at[k].kind != EQUATION_DROPPED;
    return n;
}

/* ---- lexical rules and declarations ---- */
static void test_ot001_names_are_case_sensitive(void **state)
{
    (void)state;
    expect_equations("model m local Potential potential Potential = 1 potential = 2 end",
                     "Potential = 1.0\npotential = 2.0\n");
}

static void test_ot003_comments(void **state)
{
    (void)state;
    expect_equations("{ one\n two } model{}m local x { x } x {\n} = { 7 } 1 end", "x = 1.0\n");
}

static void test_ot006_ot008_inheritance_copies(void **state)
{
    (void)state;
    expect_equations(
        "model class A local a a = 1 end model type (A) B local b b = a end model class (B) C local c c = b end\n"
        "model m submodel (C) x end",
        "x.a = 1.0\nx.b = x.a\nx.c = x.b\n");
}

/* The model that a text becomes, all of it. */
static char *text_form(const char *text)
{
    Loaded l = load(text);
    Text printed = { .arena = l.arena };
    model_print(l.model, &printed, (PrintOptions){ .no_places = true });
    char *copy = strdup(printed.at);
    release(&l);
    return copy;
}

/* The same text with a comma, and with a blank, in every list there is: parameters, constants, variables, nodes, cuts
 * and their parts, paths, objects and their arguments, connections and their operands, directives. */
static void test_ot005_commas_are_optional_in_all_lists(void **state)
{
    (void)state;
    static const char with[] =
        "model class A parameter p=1, q=2 constant k=3, l=4 local x, y terminal t, s input i, j output o, r\n"
        "cut a (v, w / f, g), b (v1, w1 / -f, -g), c (z) main cut m [a, b] main path <a - b>\n"
        "x = p y = q t = x s = y o = i r = j z = k + l v - v1 = f w - w1 = g end\n"
        "model class One main cut c (V, W / F, G) F = V G = W end\n"
        "model m submodel (A) d (p=5, q=7), e (6, 8) submodel (One) n, u, h node n1, n2\n"
        "connect d at (n1, n2), e at (n2, n1), n at n1, u at n2, h:c at (n1) d.i = 1 d.j = 2 e.i = 3 e.j = 4 end\n"
        "variable unknown d.x, e.x";
    char without[sizeof with];
    for (size_t k = 0; k < sizeof with; k++)
        without[k] = with[k] == ',' ? ' ' : with[k];
    char *a = text_form(with), *b = text_form(without);
    assert_non_null(strstr(a, "e.q")); /* it is the model */
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static void test_ot014_hierarchical_names(void **state)
{
    (void)state;
    expect_equations("model class A local v v = 1 end model class B submodel (A) s end\n"
                     "model m submodel (B) b local x, y x = b::s.v y = b.s.v end",
                     "b.s.v = 1.0\nx = b.s.v\ny = b.s.v\n");
}

static void test_ot017_access(void **state)
{
    (void)state;
    const char *text =
        "model class A local v terminal w v = 1 w = v end model m submodel (A) a local x y x = a.w y = a.v end";
    Loaded l = load(text);
    release(&l);
    l = load_as(text, NULL, "dymola");
    assert_null(l.model);
    assert_non_null(strstr(messages(&l), "error KN1318: `v` is local to its class"));
    assert_int_equal(diag_errors(l.diag), 1); /* not the terminal */
    release(&l);
    l = load_as("model class A local v terminal w input i output o cut c (p / q) v = 1 w = v o = i q = p end\n"
                "model m submodel (A) a local x x = a.w + a.i + a.o + a.p + a.q a.i = 1 a.p = 2 end",
                NULL, "dymola");
    assert_non_null(l.model);
    assert_int_equal(diag_errors(l.diag), 0);
    release(&l);
}

/* ---- cuts and connections ---- */
#define PIN                                                                                                            \
    "model class TwoPin cut a (Va / i) cut b (Vb / -i) main cut mc [a, b] main path mp <a - b> end\n"                  \
    "model class One main cut c (V / i) end\n"

static void test_ot026_four_forms_are_one(void **state)
{
    (void)state;
    static const char *const forms[] = { "connect C:a at n1, C:b at n2", "connect C at (n1, n2)",
                                         "connect C from n1 to n2", "connect n1 to C to n2" };
    for (uint32_t k = 0; k < 4; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 PIN "model m submodel (TwoPin) C submodel (One) x y node n1 n2\n%s connect x at n1 y = n2 end",
                 forms[k]);
        expect_equations(text, "C.Va = x.V\nC.Vb = y.V\nC.i = -x.i\nC.i = y.i\n");
    }
}

static void test_ot023_ot024_ot025_ot028_ot029_operands(void **state)
{
    (void)state;
    const char *series = "A.Va = x.V\nA.Vb = B.Va\nA.i = -x.i\nA.i = B.i\nB.Vb = y.V\nB.i = y.i\n";
    expect_equations(PIN "model m submodel (TwoPin) A B submodel (One) x y connect x to A - B to y end", series);
    expect_equations(PIN "model m submodel (TwoPin) A B submodel (One) x y connect x - A..mp - B:a, B:b at y:c end",
                     series);
    const char *turned = "A.Va = x.V\nA.Vb = B.Vb\nA.i = -B.i\nA.i = -x.i\nB.Va = y.V\nB.i = -y.i\n";
    expect_equations(PIN "model m submodel (TwoPin) A B submodel (One) x y connect x - A - \\ B, B:a at y end", turned);
    expect_equations(PIN "model m submodel (TwoPin) A B submodel (One) x y connect x - A - reversed B, B:a at y end",
                     turned);
    expect_equations(PIN "model m submodel (TwoPin) A submodel (One) x connect A at (x, .) end",
                     "A.Va = x.V\nA.i = -x.i\nA.i = 0.0\n");
}

/* common - ( V0 // (C - R1) // (L - R2)), L9421: one node of three, one of three, two of two. */
static void test_ot027_series_and_parallel(void **state)
{
    (void)state;
    expect_equations(
        PIN "model m submodel (TwoPin) V0 C R1 L R2 node common\n"
            "connect common - ( V0 // (C - R1) // (L - R2)) end",
        "0.0 = -R1.i + (-R2.i + (-V0.i))\n0.0 = C.i + (L.i + V0.i)\nC.Va = L.Va\nC.Vb = R1.Va\nC.i = R1.i\n"
        "L.Va = V0.Va\nL.Vb = R2.Va\nL.i = R2.i\nR1.Vb = R2.Vb\nR2.Vb = V0.Vb\n");
}

static void test_ot030_loop_and_named_connections(void **state)
{
    (void)state;
    expect_equations(PIN "model m submodel (TwoPin) A B connect <ring> A loop B end",
                     "A.Va = B.Vb\nA.Vb = B.Va\nA.i = B.i\nA.i = B.i\n");
}

static void test_ot031_nodes_with_variables(void **state)
{
    (void)state;
    expect_equations(PIN "model m submodel (One) x local y node m (q / t) connect x at m y = q + t end",
                     "q = x.V\nt = x.i\ny = q + t\n");
}

/* The cut of the enclosing model gets variables like those of the inner one; inside its flow counts the other way. */
static void test_ot032_cuts_without_variables(void **state)
{
    (void)state;
    expect_equations(PIN "model class S cut s submodel (One) x connect s at x end\n"
                         "model m submodel (S) o submodel (One) y local w connect o:s at y w = o::s.V end",
                     "o.s.V = o.x.V\no.s.V = y.V\no.s.i = -y.i\no.s.i = o.x.i\nw = o.s.V\n");
}

static void test_ot033_three_at_a_node(void **state)
{
    (void)state;
    expect_equations(PIN "model m submodel (One) x y z node n connect x at n y at n, z at n end",
                     "0.0 = x.i + (y.i + z.i)\nx.V = y.V\ny.V = z.V\n");
}

/* Unconnected flows are 0; one that an equation from outside names is left alone. */
static void test_ot035_unconnected_flows(void **state)
{
    (void)state;
    expect_equations(PIN "model m submodel (One) x y local f y.i = f f = 3 end", "f = 3.0\nx.i = 0.0\ny.i = f\n");
}

static void test_ot038_ot039_ot040_expressions(void **state)
{
    (void)state;
    expect_equations("model m local a b c x y x = 2*Time\n"
                     "a = if x > 1 then 1 else if x < -1 then -1 else x\n"
                     "b = sqrt(x)+exp(x)+ln(x)+sin(x)+cos(x)+tan(x)+arcsin(x)+arccos(x)+arctan(x)\n"
                     "c = arctan2(x, y)+sinh(x)+cosh(x)+tanh(x)+abs(x)+max(x, y)+int(x)\n"
                     "y = -x**2 end",
                     "a = if x > 1.0 then 1.0 else if x < -1.0 then -1.0 else x\n"
                     "b = sqrt(x) + exp(x) + log(x) + sin(x) + cos(x) + tan(x) + asin(x) + acos(x) + atan(x)\n"
                     "c = atan2(x, y) + sinh(x) + cosh(x) + tanh(x) + abs(x) + max(x, y) + trunc(x)\n"
                     "x = 2.0*time\ny = -pow(x, 2.0)\n");
}

static void test_booleans_are_inferred(void **state)
{
    (void)state;
    expect_has("model class S cut c (o) local i u x x = if o then i else u i = 1 u = 2 end\n"
               "model m submodel (S) s local p = True connect s:c at k p = Time > 1 cut k (q) end",
               "var", "q Boolean discrete");
}

/* The samples of the appendix, L9368-9388, L9408-9415, L9462-9475. */
static void test_ot041_samples(void **state)
{
    (void)state;
    Loaded l = load("model m parameter p1 p2=5, p3=-5E-3 local x=1, y z\n"
                    "cut c1 (v1, v2 / v3, -v4), c2(u) main cut c3 [c1, (v5, v6) [ (v7 v8) (v1/v3)]]\n"
                    "path p1 <c1 - c2> main path < (v9,v10) - [(v11/v12) (v13)] > end");
    release(&l);
    static const char *const connects[] = { "m1:c at m2:c", "m1 at m2", "m3 at (n1 n2, m2:c)", "m4..mp at m5..mp",
                                            "m4 to m5 to m6" };
    for (uint32_t k = 0; k < 5; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 PIN "model class Three main cut mc [(a) (b) (V/f)] end\n"
                     "model m submodel (One) m1 m2 submodel (Three) m3 submodel (TwoPin) m4 m5 m6\n"
                     "node n1 n2 connect %s end",
                 connects[k]);
        l = load(text);
        release(&l);
    }
    static const char sample[] =
        "model m local u i1 i2 t1 f1x f1y phi NextTime x parameter C L1 SampleTime a b\n"
        "C*der(u) = i1 + i2\n"
        "t1 = (f1x*sin(phi) - f1y*cos(phi))*L1\n"
        "u = if Time > 1 and Time < 2 then 1 else 2*Time\n"
        "when Time > NextTime then new(NextTime) = NextTime + SampleTime new(x) = a*x + b*u endwhen\n"
        "when x > 1 then init(u) = -u end when end";
    l = load("model m end");
    uint32_t errors = 0;
    const Lexer lexer = {
        .arena = l.arena, .names = pool_names(l.pool), .sources = l.sources, .diag = l.diag, .errors = &errors
    };
    const Class *all = dym_parse(lexer, sources_add_text(l.sources, "sample.dym", sample, strlen(sample)));
    assert_non_null(all);
    assert_int_equal(all->classes.at[0]->equations.n, 3);
    assert_int_equal(all->classes.at[0]->whens.n, 2);
    release(&l);
}

/* ---- the circuit of the document ---- */
static Loaded load_circuit(void)
{
    Loaded l = { .arena = arena_create(NULL) };
    uint32_t source;
    l.sources = sources_create(l.arena);
    l.diag = diag_create(l.arena, l.sources);
    l.pool = pool_create(l.arena, names_create(l.arena));
    assert_int_equal(sources_open(l.sources, KOINE_SOURCE_DIR "/examples/circuit-dymola/circuit.dym", &source),
                     SOURCE_OK);
    const LoadRequest request = { .pool = l.pool, .sources = l.sources, .source = source };
    l.model = dymola_language.load(&request, l.diag);
    if (!l.model)
        fail_msg("%s", messages(&l));
    return l;
}

/* L927-950: the same list, potentials in another order of pairs. */
static void test_ot015_ot042_basic_system_of_the_circuit(void **state)
{
    (void)state;
    Loaded l = load_circuit();
    run_to(&l, "expand-connections");
    assert_int_equal(live_equations(l.model), 24);
    assert_string_equal(
        equations_of(&l),
        "0.0 = R1.i + (R2.i + U0.i)\nC.C*der(C.u) = C.i\nC.Va = R1.Vb\nC.Vb = L.Vb\nC.i = R1.i\n"
        "C.u = C.Va - C.Vb\nL.L*der(L.i) = L.u\nL.Va = R2.Vb\nL.Vb = U0.Vb\nL.i = R2.i\nL.u = L.Va - L.Vb\n"
        "R1.R*R1.i = R1.u\nR1.Va = R2.Va\nR1.u = R1.Va - R1.Vb\nR2.R*R2.i = R2.u\nR2.Va = U0.Va\n"
        "R2.u = R2.Va - R2.Vb\nU0.V0 = U0.u\nU0.Vb = g.V\nU0.u = U0.Va - U0.Vb\ng.V = 0.0\nu = U0.V0\n"
        "y1 = C.u\ny2 = L.i\n");
    release(&l);
}

/* The document keeps the outputs y1 = C.u, y2 = L.i as equations: its 13 are our 11 and these two. */
static void test_ot047_alias_elimination_of_the_circuit(void **state)
{
    (void)state;
    Loaded l = load_circuit();
    run_to(&l, "eliminate-aliases");
    uint32_t outputs = 0;
    for (uint32_t k = 0; k < l.model->variables.n; k++)
        outputs +=
            l.model->variables.at[k].causality == CAUSALITY_OUTPUT && !var_is_none(l.model->variables.at[k].alias);
    assert_int_equal(outputs, 2);
    assert_int_equal(live_equations(l.model) + outputs, 13);
    release(&l);
}

/* 10,000 cells of a resistor and a capacitor: every unknown finds its equation. Large enough that
 * the arrays of the Model move while they grow. */
static void test_a_ladder_of_many_cells(void **state)
{
    (void)state;
    enum { CELLS = 10000 };
    Loaded l = { .arena = arena_create(NULL) };
    Text text = { .arena = l.arena };
    text_add(&text, "@el.lib\nmodel class Cell submodel (Resistor) R (R=1) submodel (Capacitor) C (C=1)\n"
                    "submodel (Ground) g cut a cut b main path <a - b> connect a - R - b, R:b - C - g end\n"
                    "model ladder submodel (Vsource) V submodel (Ground) g submodel (Cell)");
    for (uint32_t k = 0; k < CELLS; k++)
        text_format(&text, " c%u", k);
    text_add(&text, "\nconnect g - reversed V - c0");
    for (uint32_t k = 1; k < CELLS; k++)
        text_format(&text, ", c%u - c%u", k - 1, k);
    text_add(&text, "\nV.V0 = 1 end");
    Loaded ladder = load(text.at);
    run_to(&ladder, "match-equations");
    assert_true(live_equations(ladder.model) >= 2 * CELLS); /* a resistor and a capacitor each, less the aliases */
    release(&ladder);
    release(&l);
}

/* ---- wrong texts ---- */
static void test_a_model_that_is_not_there(void **state)
{
    (void)state;
    Loaded l = load_as("model m end", "n", NULL);
    assert_null(l.model);
    assert_non_null(strstr(messages(&l), "1:1: error KN1308: there is no model `n` in this text"));
    release(&l);
}

/* Objects that multiply, objects nested too deep; parentheses without end; a long chain of operators. */
static void test_hostile_texts(void **state)
{
    (void)state;
    Loaded l;
    for (uint32_t copies = 1; copies <= 2; copies++) {
        char chain[20000];
        size_t n = (size_t)sprintf(chain, "model class A0 end\n");
        for (uint32_t k = 1; k <= 220; k++)
            n += (size_t)sprintf(chain + n, "model class A%u submodel (A%u) a%s end\n", k, k - 1,
                                 copies > 1 ? ", b" : "");
        sprintf(chain + n, "model m submodel (A220) x end");
        l = load_as(chain, NULL, NULL);
        assert_null(l.model);
        assert_non_null(strstr(messages(&l), "t.dym:22:32: error KN1309: objects are nested more than 200 deep"));
        release(&l);
    }
    char doubled[4000];
    size_t length = (size_t)sprintf(doubled, "model class A0 end\n");
    for (uint32_t k = 1; k <= 30; k++)
        length += (size_t)sprintf(doubled + length, "model class A%u submodel (A%u) a b end\n", k, k - 1);
    sprintf(doubled + length, "model m submodel (A30) x end");
    l = load_as(doubled, NULL, NULL);
    assert_null(l.model);
    assert_non_null(strstr(messages(&l), "error KN1309: the model has more than 1000000 objects"));
    release(&l);
    char *text = malloc(60100);
    strcpy(text, "model m local x x = ");
    memset(text + 20, '(', 60000);
    text[60020] = '\0';
    l = load_as(text, NULL, NULL);
    assert_null(l.model);
    assert_non_null(strstr(messages(&l), "nested too deep"));
    release(&l);
    for (uint32_t k = 0; k < 20000; k++)
        memcpy(text + 20 + 2 * k, "1+", 2);
    strcpy(text + 20 + 40000, "1 end");
    l = load_as(text, NULL, NULL);
    assert_null(l.model);
    release(&l);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot001_names_are_case_sensitive),
        cmocka_unit_test(test_ot003_comments),
        cmocka_unit_test(test_ot006_ot008_inheritance_copies),
        cmocka_unit_test(test_ot005_commas_are_optional_in_all_lists),
        cmocka_unit_test(test_ot014_hierarchical_names),
        cmocka_unit_test(test_ot017_access),
        cmocka_unit_test(test_ot026_four_forms_are_one),
        cmocka_unit_test(test_ot023_ot024_ot025_ot028_ot029_operands),
        cmocka_unit_test(test_ot027_series_and_parallel),
        cmocka_unit_test(test_ot030_loop_and_named_connections),
        cmocka_unit_test(test_ot031_nodes_with_variables),
        cmocka_unit_test(test_ot032_cuts_without_variables),
        cmocka_unit_test(test_ot033_three_at_a_node),
        cmocka_unit_test(test_ot035_unconnected_flows),
        cmocka_unit_test(test_ot038_ot039_ot040_expressions),
        cmocka_unit_test(test_booleans_are_inferred),
        cmocka_unit_test(test_ot041_samples),
        cmocka_unit_test(test_ot015_ot042_basic_system_of_the_circuit),
        cmocka_unit_test(test_ot047_alias_elimination_of_the_circuit),
        cmocka_unit_test(test_a_ladder_of_many_cells),
        cmocka_unit_test(test_a_model_that_is_not_there),
        cmocka_unit_test(test_hostile_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
