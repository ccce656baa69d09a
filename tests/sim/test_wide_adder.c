/* The adder of the document widened to 1,000 bits, from the classes of examples/adder: it loads, settles to the right
 * sum in both versions of the gates, and an event step looks at as few equations as with 4 bits. */
#include "assertions.h"
#include "run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char root[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/koine-adder-XXXXXX");
    return mkdtemp(root) ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static FILE *create(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

/* All bits of a are set, those of b are not, so that the carry runs through all of them. It comes after a time in which
 * everything has settled: a bit takes two gates of 10 ns. */
static double carry_time(uint32_t bits)
{
    return 100 + 25.0 * bits;
}

static void write_adder(uint32_t bits, bool is_logic)
{
    const char *on = is_logic ? "TRUE" : "high", *off = is_logic ? "FALSE" : "low";
    FILE *f = create("koine.bank");
    fprintf(f, "import \"%s/examples/adder\"\n", KOINE_SOURCE_DIR);
    fclose(f);
    f = create("Drive.mdl");
    fprintf(f,
            "BASIC COMPONENT Drive\n%sDECLARATION OF ELEMENTS\n  STATE VARIABLE Out (%s) := %s\n"
            "DYNAMIC BEHAVIOUR\n  WHENEVER (T >= %g) AND (Out = %s) DO\n    Out^ := %s;\n  END\nEND OF Drive\n",
            is_logic ? "" : "LOCAL DEFINITION\n  VALUE SET State: (high, low, undef)\n", is_logic ? "LOGICAL" : "State",
            off, carry_time(bits), off, on);
    fclose(f);
    f = create("Wide.mdl");
    fprintf(f, "HIGH LEVEL COMPONENT Wide\n  SUBCOMPONENTS Drive,\n");
    for (uint32_t k = 0; k < bits; k++)
        fprintf(f, "    Addi%u OF CLASS Addi%s\n", k, k + 1 < bits ? "," : "");
    fprintf(f, "  OUTPUT EQUIVALENCES\n    c := Addi%u.c;\n", bits - 1);
    for (uint32_t k = 0; k < bits; k++)
        fprintf(f, "    s%u := Addi%u.s;\n", k, k);
    fprintf(f, "  COMPONENT CONNECTIONS\n    Drive.Out --> Addi0.cl;\n");
    for (uint32_t k = 0; k + 1 < bits; k++)
        fprintf(f, "    Addi%u.c --> Addi%u.cl;\n", k, k + 1);
    fprintf(f, "  INITIALIZE\n");
    for (uint32_t k = 0; k < bits; k++)
        fprintf(f, "    Addi%u.a := %s;\n    Addi%u.b := %s;\n", k, on, k, off);
    fprintf(f, "END OF Wide\n");
    fclose(f);
}

static Compilation *compile(const char *version)
{
    char path[128];
    snprintf(path, sizeof path, "%s/Wide.mdl", root);
    const char *const versions[] = { version, NULL };
    Compilation *c = compilation_create(NULL);
    fail_if(!compilation_load(c, &(CompileRequest){ .path = path, .versions = versions }) || !compilation_schedule(c),
            "%s", diag_json(c->diag, c->arena));
    return c;
}

static KoineRunStatistics simulate(const KoineModelKind *kind, double stop, uint32_t bits, double on, bool has_carry)
{
    const KoineHost host = { .max_steps = 10000 };
    KoineModel *model;
    assert_int_equal(kind->create(kind, &host, &model), KOINE_OK);
    KoineRunReport report;
    fail_if(koine_simulate(model, &(KoineRunOptions){ .stop = stop, .interval = stop }, &report) != KOINE_RUN_DONE,
            "%s", report.text);
    uint32_t set = 0, seen = 0;
    for (uint32_t k = 0; k < kind->tables->n_variables; k++) { /* s0, s1, ...: in one go, there are many names */
        const KoineVariable *v = &kind->tables->variables[k];
        if (v->name[0] != 's' || strchr(v->name, '.'))
            continue;
        seen++;
        set += ((const KoineSlot *)(const void *)(model->block + v->now))->i == (int64_t)on;
    }
    assert_int_equal(seen, bits);
    assert_int_equal(set, has_carry ? 0 : bits); /* 2^n - 1, or 2^n: the carry alone */
    assert_int_equal(value_of(model, "c") == on, has_carry);
    kind->destroy(model);
    return report.statistics;
}

/* Equations looked at in an event step while the carry runs; the sums before and after are checked on the way. */
static double nodes_per_step(uint32_t bits, const char *version)
{
    const bool is_logic = strcmp(version, "Logic") == 0;
    const char *why;
    write_adder(bits, is_logic);
    Compilation *c = compile(version);
    const KoineModelKind *kind = compilation_kind(c, "interp", &why);
    const KoineRunStatistics before = simulate(kind, 0.99 * carry_time(bits), bits, 1, false);
    const KoineRunStatistics after = simulate(kind, 1.99 * carry_time(bits), bits, 1, true);
    compilation_destroy(c);
    const double steps = (double)(after.events.event_steps - before.events.event_steps);
    if (!is_logic)
        assert_true(steps > 2 * bits); /* it really runs */
    return (double)(after.model.node_evaluations - before.model.node_evaluations) / steps;
}

static void test_thousand_bits_logic(void **state)
{
    (void)state;
    nodes_per_step(1000, "Logic");
}

static void test_thousand_bits_delay(void **state)
{
    (void)state;
    const double few = nodes_per_step(4, "Delay"), many = nodes_per_step(1000, "Delay");
    fail_if(many > 1.5 * few, "%g equations a step with 1000 bits, %g with 4", many, few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_thousand_bits_logic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_thousand_bits_delay, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
