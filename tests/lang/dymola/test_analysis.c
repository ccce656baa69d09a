/* From text to Schedule: what becomes of parameters and of equations that nobody needs. */
#include "ir/print_schedule.h"
#include "load.h"

#define CIRCUIT                                                                                                        \
    "@el.lib\nmodel circuit submodel (Vsource) U0 submodel (Resistor) R1 (R=100), R2 (R=20)\n"                         \
    "submodel (Capacitor) C (C=1.E-6) submodel (Inductor) L (L=1.5E-3) submodel (Ground) g\n"                          \
    "node n0, n1, n2, n3 input u output y1, y2\n"                                                                      \
    "connect g at n0, U0 at (n1,n0), R1 at (n1,n2), C at (n2,n0), R2 at (n1,n3), L at (n3,n0)\n"                       \
    "u = U0.V0    y1 = C.u    y2 = L.i end\n"

typedef struct {
    char *blocks; /* what is assigned, a line each */
    uint32_t n_blocks, n_aliased_outputs;
} Analysed;

static Analysed analyse(Loaded *l, bool evaluates, bool removes)
{
    Compile c = { .model = l->model,
                  .arena = l->arena,
                  .diag = l->diag,
                  .evaluates_parameters = evaluates,
                  .removes_unneeded = removes };
    if (!run_pipeline(&c, NULL, NULL))
        fail_msg("%s", messages(l));
    Text text = { .arena = l->arena }, found = { .arena = l->arena };
    schedule_print(c.schedule, &text);
    text_add(&found, "");
    for (char *line = strtok(text.at, "\n"); line; line = strtok(NULL, "\n")) {
        char *assign = strstr(line, " assign "), *level = strstr(line, " level ");
        if (strncmp(line, "block ", 6) == 0 && assign && level)
            text_format(&found, "%.*s\n", (int)(level - assign - 8), assign + 8);
    }
    Analysed a = { .blocks = found.at, .n_blocks = c.schedule->blocks.n };
    for (uint32_t k = 0; k < l->model->variables.n; k++)
        a.n_aliased_outputs +=
            l->model->variables.at[k].causality == CAUSALITY_OUTPUT && !var_is_none(l->model->variables.at[k].alias);
    return a;
}

/* Figure 2.4 of the document, L1190-1200: all parameters but C and L are numbers, only outputs and derivatives are
 * wanted: 8 statements. Two of them, y1 = C.u and y2 = L.i, are variables that share a place here; R1.i is called
 * C.i. */
static void test_ot053_ot054_eight_statements(void **state)
{
    (void)state;
    Loaded l = load(CIRCUIT "variable not evaluate C.C, L.L");
    const Analysed a = analyse(&l, true, true);
    assert_string_equal(a.blocks, "R1.u := u - C.u\nR2.u := 20.0*L.i\nL.Va := u - R2.u\nC.i := R1.u/100.0\n"
                                  "der(C.u) := C.i/C.C\nder(L.i) := L.Va/L.L\n");
    assert_int_equal(a.n_blocks + a.n_aliased_outputs, 8);
    release(&l);
}

/* Without demand parameters stay, and all 11 equations of the circuit are computed. */
static void test_ot054_parameters_stay_without_demand(void **state)
{
    (void)state;
    Loaded l = load(CIRCUIT "variable not evaluate C.C");
    const Analysed a = analyse(&l, false, false);
    assert_non_null(strstr(a.blocks, "R2.u := R2.R*L.i\n"));
    assert_non_null(strstr(a.blocks, "der(L.i) := L.u/L.L\n"));
    assert_int_equal(a.n_blocks, 11);
    release(&l);
}

/* L1165: a = b*(c + d) with b = 0; c and d only served it. */
static void test_ot052_a_factor_zero(void **state)
{
    (void)state;
    const char *text =
        "model m parameter b=0 local a c d output x der(x) = a - x a = b*(c + d) c = 2*d d = sin(Time) end";
    Loaded l = load(text);
    assert_string_equal(analyse(&l, false, false).blocks,
                        "d := sin(time)\nc := 2.0*d\na := b*(c + d)\nder(x) := a - x\n");
    release(&l);
    l = load(text);
    assert_string_equal(analyse(&l, true, false).blocks, "d := sin(time)\nder(x) := -x\nc := 2.0*d\n");
    release(&l);
    l = load(text);
    assert_string_equal(analyse(&l, true, true).blocks, "der(x) := -x\n");
    release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ot053_ot054_eight_statements),
                                        cmocka_unit_test(test_ot054_parameters_stay_without_demand),
                                        cmocka_unit_test(test_ot052_a_factor_zero) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
