/* Inputs and states that change between two advances, entries that are called there: closed forms, in all tiers. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/changes/"

typedef struct {
    Compilation *compilation;
    const KoineModelKind *kind;
    KoineHost host;
    KoineModel *model;
    KoineRunOptions options;
    KoineRunReport report;
    KoineRun *run;
} Stage;

static Stage *set_up(const char *path, const char *tier, const char *solver)
{
    Stage *s = calloc(1, sizeof *s);
    const char *why = NULL;
    s->compilation = compilation_create(NULL);
    if (!compilation_load(s->compilation, &(CompileRequest){ .path = path, .task_span = SPAN_NONE }) ||
        !compilation_schedule(s->compilation)) {
        diag_print(s->compilation->diag, stderr, (DiagStyle){ 0 });
        fail_msg("%s does not compile", path);
    }
    s->kind = compilation_kind(s->compilation, tier, &why);
    assert_non_null(s->kind);
    s->host = (KoineHost){ .tolerance = 1e-9 };
    assert_int_equal(s->kind->create(s->kind, &s->host, &s->model), KOINE_OK);
    s->options = (KoineRunOptions){ .stop = 4, .interval = 0.1, .step = 0.01, .tolerance = 1e-9, .solver = solver };
    s->run = koine_run_open(s->model, &s->options, &s->report);
    return s;
}

static KoineRunEnd tear_down(Stage *s)
{
    const KoineRunEnd end = koine_run_close(s->run);
    s->kind->destroy(s->model);
    compilation_destroy(s->compilation);
    free(s);
    return end;
}

static KoineChange change_of(const Stage *s, const char *name, uint32_t element, double value)
{
    const KoineTables *t = s->kind->tables;
    for (uint32_t k = 0; k < t->n_variables; k++)
        if (strcmp(t->variables[k].name, name) == 0) {
            KoineChange change = { k, element, { .r = value } };
            if (t->variables[k].type != KOINE_REAL)
                change.value.i = (int64_t)value;
            return change;
        }
    fail_msg("there is no variable %s", name);
    return (KoineChange){ 0 };
}

static void change_to(Stage *s, const char *name, double value)
{
    KoineReason why = { "" };
    const KoineChange change = change_of(s, name, 0, value);
    if (!koine_run_change(s->run, &change, 1, &why))
        fail_msg("%s: %s", name, why.text);
}

static uint64_t restarts_of(const Stage *s)
{
    return s->report.statistics.integration.restarts;
}

/* T*der(x) = u - x from x(0) = 0, u = 1 and, from 0.7 on, 3; from 1.3 on mode = 2 doubles u. */
static double x_at(double t)
{
    const double at07 = 1 - exp(-0.35), at13 = 3 + (at07 - 3) * exp(-0.3);
    return t < 0.7   ? 1 - exp(-t / 2)
           : t < 1.3 ? 3 + (at07 - 3) * exp((0.7 - t) / 2)
                     : 6 + (at13 - 6) * exp((1.3 - t) / 2);
}

static void drive_plant(Stage *s, double tolerance)
{
    assert_true(koine_run_advance(s->run, 0.7));
    expect_near(value_of(s->model, "x"), x_at(0.7), tolerance);
    const uint64_t before = restarts_of(s);
    change_to(s, "u", 3);
    assert_int_equal(restarts_of(s), before + 1);
    assert_float_equal(value_of(s->model, "u"), 3, 0);
    assert_float_equal(value_of(s->model, "held"), 3, 0);
    assert_float_equal(s->report.time, 0.7, 0);
    change_to(s, "u", 3);
    assert_int_equal(restarts_of(s), before + 1);
    assert_true(koine_run_advance(s->run, 1.3));
    expect_near(value_of(s->model, "x"), x_at(1.3), tolerance);
    change_to(s, "mode", 2);
    assert_int_equal(restarts_of(s), before + 2);
    assert_float_equal(value_of(s->model, "held"), 6, 0);
    change_to(s, "mode", 3); /* lit stays what it is */
    assert_int_equal(restarts_of(s), before + 2);
    assert_true(koine_run_advance(s->run, 3));
    expect_near(value_of(s->model, "x"), x_at(3), tolerance);
}

static void i2_inputs_change_between_advances(void **state)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    double x[3];
    (void)state;
    for (int k = 0; k < 3; k++) {
        Stage *s = set_up(MODELS "plant.ir", tiers[k], "dopri5");
        drive_plant(s, 1e-8);
        x[k] = value_of(s->model, "x");
        assert_int_equal(tear_down(s), KOINE_RUN_INTERRUPTED);
    }
    assert_memory_equal(&x[0], &x[1], sizeof *x);
    assert_memory_equal(&x[0], &x[2], sizeof *x);
}

/* Fixed steps keep the order of their method. */
static void i2_every_solver_takes_changed_inputs(void **state)
{
    (void)state;
    for (uint32_t k = 0; koine_solver_name(k); k++) {
        const char *name = koine_solver_name(k);
        const bool is_rough = strstr(name, "euler") != NULL, is_second = strcmp(name, "heun") == 0;
        Stage *s = set_up(MODELS "plant.ir", "interp", name);
        drive_plant(s, is_rough ? 2e-2 : is_second ? 1e-4 : 2e-6);
        tear_down(s);
    }
}

/* What feeds no derivative leaves the solver alone: the states have the bits of a run in which nothing changed. */
static void s15_only_what_feeds_the_dynamics_begins_the_solver_anew(void **state)
{
    (void)state;
    Stage *quiet = set_up(MODELS "plant.ir", "interp", "dopri5"), *s = set_up(MODELS "plant.ir", "interp", "dopri5");
    const uint64_t before = restarts_of(s);
    for (int k = 1; k < 30; k++) {
        koine_run_advance(s->run, 0.1 * k);
        change_to(s, "w", 0.01 * k);
        expect_near(value_of(s->model, "y") - value_of(s->model, "x"), 0.01 * k, 1e-15);
        expect_near(value_of(s->model, "z"), 1e-4 * k * k, 1e-15);
    }
    assert_int_equal(restarts_of(s), before);
    koine_run_advance(s->run, 3.9);
    koine_run_advance(quiet->run, 3.9);
    assert_float_equal(value_of(s->model, "x"), value_of(quiet->model, "x"), 0);
    assert_int_equal(s->report.statistics.integration.steps, quiet->report.statistics.integration.steps);
    tear_down(s);
    tear_down(quiet);
}

/* Edges of discrete inputs, left limits of continuous ones, several changes at once. */
static void s10_changes_are_events(void **state)
{
    (void)state;
    Stage *s = set_up(MODELS "plant.ir", "interp", "dopri5");
    KoineReason why = { "" };
    koine_run_advance(s->run, 1);
    const KoineChange both[] = { change_of(s, "on", 0, 1), change_of(s, "mode", 0, 5) };
    assert_true(koine_run_change(s->run, both, 2, &why));
    assert_float_equal(value_of(s->model, "n"), 1, 0);
    assert_float_equal(value_of(s->model, "mark"), 5, 0);
    koine_run_advance(s->run, 1.5);
    change_to(s, "on", 0);
    assert_float_equal(value_of(s->model, "n"), 1, 0);
    change_to(s, "on", 1);
    assert_float_equal(value_of(s->model, "n"), 2, 0);
    change_to(s, "w", 0.25);
    assert_float_equal(value_of(s->model, "jumps"), 0, 0);
    koine_run_advance(s->run, 1.75);
    change_to(s, "w", 0.75);
    assert_float_equal(value_of(s->model, "jumps"), 0.5, 0);
    change_to(s, "w", 0.875);
    assert_float_equal(value_of(s->model, "jumps"), 0.5, 0);
    tear_down(s);
}

static void s10_states_change_between_advances(void **state)
{
    (void)state;
    Stage *s = set_up(MODELS "plant.ir", "interp", "dopri5");
    koine_run_advance(s->run, 0.55);
    const uint64_t before = restarts_of(s);
    change_to(s, "x", -4);
    assert_int_equal(restarts_of(s), before + 1);
    assert_float_equal(value_of(s->model, "x"), -4, 0);
    assert_float_equal(value_of(s->model, "y"), -4, 0);
    koine_run_advance(s->run, 2);
    expect_near(value_of(s->model, "x"), 1 - 5 * exp((0.55 - 2) / 2), 1e-8);
    tear_down(s);
}

static void s11_entries_are_called_between_advances(void **state)
{
    (void)state;
    Stage *s = set_up(MODELS "plant.ir", "interp", "dopri5");
    KoineReason why = { "" };
    assert_int_equal(s->kind->tables->callables.n_entries, 1);
    assert_true(koine_run_enter(s->run, 0, &why)); /* at the start */
    assert_float_equal(value_of(s->model, "n"), 100, 0);
    const uint64_t before = restarts_of(s);
    koine_run_advance(s->run, 1.234);
    assert_true(koine_run_enter(s->run, 0, &why));
    assert_true(koine_run_enter(s->run, 0, &why));
    assert_float_equal(value_of(s->model, "n"), 300, 0);
    assert_int_equal(restarts_of(s), before);
    assert_false(koine_run_enter(s->run, 1, &why));
    assert_non_null(strstr(why.text, "no entry 1"));
    koine_run_advance(s->run, INFINITY);
    assert_false(koine_run_enter(s->run, 0, &why));
    assert_non_null(strstr(why.text, "has ended"));
    assert_int_equal(tear_down(s), KOINE_RUN_DONE);
}

static void i2_elements_of_arrays_change(void **state)
{
    (void)state;
    Stage *s = set_up(MODELS "arrays.ir", "interp", "dopri5");
    KoineReason why = { "" };
    koine_run_advance(s->run, 1);
    const KoineChange changes[] = { change_of(s, "u", 2, 2), change_of(s, "x", 0, 5), change_of(s, "gear", 0, 3) };
    assert_true(koine_run_change(s->run, changes, 3, &why));
    assert_float_equal(value_of(s->model, "quick"), 1, 0);
    koine_run_advance(s->run, 2);
    expect_near(value_of(s->model, "s"), 5 * exp(-1) + 2 * (1 - exp(-1)), 1e-8);
    tear_down(s);
}

static void expect_refused(Stage *s, KoineChange change, const char *text)
{
    KoineReason why = { "" };
    const KoineChange both[] = { change_of(s, "u", 0, 9), change };
    assert_false(koine_run_change(s->run, both, 2, &why));
    if (!strstr(why.text, text))
        fail_msg("'%s' does not say '%s'", why.text, text);
    assert_float_equal(value_of(s->model, "u"), 0, 0); /* nothing was changed */
}

static void what_cannot_be_changed_is_refused(void **state)
{
    (void)state;
    Stage *s = set_up(MODELS "arrays.ir", "interp", "dopri5");
    koine_run_advance(s->run, 1);
    expect_refused(s, (KoineChange){ 4711, 0, { .r = 0 } }, "no variable 4711");
    expect_refused(s, change_of(s, "s", 0, 1), "neither an input nor a state");
    expect_refused(s, change_of(s, "der(x)", 0, 1), "neither an input nor a state");
    expect_refused(s, change_of(s, "u", 3, 1), "no element 4");
    expect_refused(s, change_of(s, "u", 0, NAN), "no value of 'u'");
    expect_refused(s, change_of(s, "x", 0, INFINITY), "no value of 'x'");
    expect_refused(s, change_of(s, "gear", 0, 4), "no value of 'gear'");
    expect_refused(s, change_of(s, "gear", 0, 0), "no value of 'gear'");
    assert_true(koine_run_advance(s->run, 2));
    tear_down(s);
}

/* A run with changes that is saved and taken up again goes on with the same bits. */
static void changes_survive_saving(void **state)
{
    (void)state;
    Stage *s = set_up(MODELS "plant.ir", "interp", "dop853");
    KoineReason why = { "" };
    koine_run_advance(s->run, 0.7);
    change_to(s, "u", 3);
    koine_run_advance(s->run, 0.9);
    change_to(s, "w", 2);
    KoineSavedRun *saved = koine_run_save(s->run, NULL, &why);
    assert_non_null(saved);
    koine_run_advance(s->run, 3);
    const double x = value_of(s->model, "x"), y = value_of(s->model, "y");
    change_to(s, "u", -7);
    change_to(s, "w", -7);
    koine_run_advance(s->run, 3.5);
    assert_int_equal(koine_run_restore(s->run, saved, &why), KOINE_RESTORED_EXACTLY);
    assert_float_equal(value_of(s->model, "u"), 3, 0);
    assert_float_equal(value_of(s->model, "w"), 2, 0);
    koine_run_advance(s->run, 3);
    assert_float_equal(value_of(s->model, "x"), x, 0);
    assert_float_equal(value_of(s->model, "y"), y, 0);
    koine_saved_free(saved);
    tear_down(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(i2_inputs_change_between_advances),
        cmocka_unit_test(i2_every_solver_takes_changed_inputs),
        cmocka_unit_test(s15_only_what_feeds_the_dynamics_begins_the_solver_anew),
        cmocka_unit_test(s10_changes_are_events),
        cmocka_unit_test(s10_states_change_between_advances),
        cmocka_unit_test(s11_entries_are_called_between_advances),
        cmocka_unit_test(i2_elements_of_arrays_change),
        cmocka_unit_test(what_cannot_be_changed_is_refused),
        cmocka_unit_test(changes_survive_saving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
