/* Rules of SIMPLEX-MDL for a whole model, run in every tier: what follows what and when, instances, connections,
 * initial values, and what an event costs. Expected values are closed forms or follow from the rule by hand; the
 * comment at each test says how. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <unistd.h>

#define RULES KOINE_SOURCE_DIR "/tests/sim/simplex/rules/"

static double at_row(const RunResult *r, uint32_t row, const char *name)
{
    return r->rows[row].values[run_column(r, name)];
}

/* sin(T) = 0.5 first at pi/6. */
static void check_time_through_a_dependent(const RunResult *r)
{
    expect_near(run_last(r, "TEvent"), 0.52359877559829887, 1e-9);
    expect_near(run_last(r, "N"), 1, 0);
}

static void test_sx048_time_through_a_dependent(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = RULES "SinT.mdl", .stop = 3, .interval = 1 },
                     check_time_through_a_dependent);
}

/* The first points of a grid behind pi/6 = 0.52359...: 0.524 on one of 0.001, 0.6 on one of 0.1. */
static void test_sx048_within_one_cell_of_the_grid(void **state)
{
    (void)state;
    static const double grids[] = { 0.001, 0.1, 1e-6 }, times[] = { 0.524, 0.6, 0.523599 };
    for (int k = 0; k < 3; k++) {
        RunResult *r =
            run_model(&(RunRequest){ .path = RULES "SinT.mdl", .stop = 3, .interval = 1, .resolution = grids[k] });
        expect_done(r);
        expect_near(run_last(r, "TEvent"), times[k], 1e-15);
        expect_near(run_last(r, "N"), 1, 0);
        run_free(r);
    }
}

/* X = T passes Y = 2 at 2; the event there raises Y to 4, which X passes at 4. */
static void check_logical_dependent(const RunResult *r)
{
    expect_near(run_at(r, "L", 1.5), 0, 0);
    expect_near(run_at(r, "L", 2.5), 0, 0);
    expect_near(run_at(r, "Y", 2.5), 4, 0);
    expect_near(run_at(r, "L", 4.5), 1, 0);
    expect_near(run_at(r, "M", 4.5), 0, 0); /* Y > 3 */
    expect_near(run_last(r, "Hits"), 1, 0);
    bool was_true = false; /* inside the instant at 2 */
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double x = at_row(r, k, "X"), y = at_row(r, k, "Y");
        was_true |= at_row(r, k, "L") == 1 && at_row(r, k, "M") == 1 && fabs(r->rows[k].time - 2) < 1e-9;
        if (fabs(x - y) > 1e-9) /* at the crossing itself either value is right */
            expect_near(at_row(r, k, "L"), x > y, 0);
    }
    assert_true(was_true);
}

static void test_sx051_logical_dependent(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = RULES "Logik.mdl", .stop = 5, .interval = 0.5, .every_event_step = true },
                     check_logical_dependent);
}

/* Z goes 4, 3, 2, 1, 0 in Takte 0 to 4; in each of them Y = 2 Z + 1 and K = Y - Z = Z + 1. */
static void check_same_takt(const RunResult *r)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double z = at_row(r, k, "Z");
        expect_near(at_row(r, k, "Y"), 2 * z + 1, 0);
        expect_near(at_row(r, k, "K"), z + 1, 0);
        if (r->rows[k].kind == KOINE_POINT_STEP) {
            expect_near(z, 4 - (double)r->rows[k].event_step, 0);
            n++;
        }
    }
    assert_true(n >= 4);
    expect_near(run_last(r, "Z"), 0, 0);
}

static void test_sx065_dependents_follow_in_the_same_takt(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = RULES "Folgt.mdl", .stop = 1, .interval = 1, .every_event_step = true },
                     check_same_takt);
}

/* X = T. Y' = 2 up to X = 1, 0 up to X = 2, -1 from there on; Z has no equation anywhere. */
static void check_missing_equation(const RunResult *r)
{
    expect_near(run_at(r, "Y", 0.5), 1, 1e-9);
    expect_near(run_at(r, "Y", 1.25), 2, 1e-8);
    expect_near(run_at(r, "Y", 1.75), 2, 1e-8);
    expect_near(run_at(r, "Y", 3), 1, 1e-8);
    expect_near(run_at(r, "Z", 3), 7, 0);
}

static void test_sx073_no_equation_no_change(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = RULES "Halt.mdl", .stop = 3, .interval = 0.25 }, check_missing_equation);
}

/* X before the event at T = k is 2 k - 3: -3, -1, 1, 3. */
static void check_if_in_event(const RunResult *r)
{
    static const double y[] = { 3, 1, 1, 3 }, zone[] = { 1, 2, 3, 3 };
    for (int k = 0; k < 4; k++) {
        expect_near(run_at(r, "Y", k + 0.5), y[k], 0);
        expect_near(run_at(r, "Zone", k + 0.5), zone[k], 0);
    }
}

static void test_sx096_if_in_event(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = RULES "Betrag.mdl", .stop = 3.5, .interval = 0.5 }, check_if_in_event);
}

/* Every second of time each source steps twice, A by 1 and B by 3: N = 2 k after T = k, and 6 k. */
static void check_house(const RunResult *r)
{
    static const char *const same_as_a[] = { "Schrank.M", "Schrank.K.M", "Schrank.K.S1.M", "Schrank.K.S2.M", "S3.M" };
    static const char *const same_as_b[] = { "Schrank.V", "Schrank.K.V", "Schrank.K.S1.V", "S3.V" };
    for (uint32_t k = 0; k < r->n_rows; k++) {
        for (uint32_t j = 0; j < sizeof same_as_a / sizeof *same_as_a; j++)
            expect_near(at_row(r, k, same_as_a[j]), at_row(r, k, "A.N"), 0);
        for (uint32_t j = 0; j < sizeof same_as_b / sizeof *same_as_b; j++)
            expect_near(at_row(r, k, same_as_b[j]), at_row(r, k, "B.X"), 0);
        expect_near(at_row(r, k, "Twice"), 2 * at_row(r, k, "A.N"), 0);
        expect_near(at_row(r, k, "Schrank.K.S1.Half"), at_row(r, k, "B.X") / 2, 0);
    }
    for (int k = 1; k <= 3; k++) {
        expect_near(run_at(r, "A.N", k + 0.5), 2 * k, 0);
        expect_near(run_at(r, "B.N", k + 0.5), 6 * k, 0);
        expect_near(run_at(r, "A.X", k + 0.5), k + 0.5, 1e-8);
        expect_near(run_at(r, "B.X", k + 0.5), 3 * (k + 0.5), 1e-8);
    }
    /* An input of a high level component that nobody connects is 0 for all its sensors (L8892, L6026); a sensor
     * without any connection keeps its own value (L4797). */
    expect_near(run_last(r, "Schrank.Open.S1.M"), 0, 0);
    expect_near(run_last(r, "Schrank.Open.S2.M"), 0, 0);
    expect_near(run_last(r, "Schrank.Open.S1.V"), 0, 0);
    expect_near(run_last(r, "Schrank.Open.S2.V"), 22, 0);
    expect_near(run_last(r, "Schrank.K.S2.V"), 22, 0);
}

static void test_sx139_sx143_sx144_sx148_house(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = RULES "Haus.mdl", .stop = 3.5, .interval = 0.5, .every_event_step = true },
                     check_house);
}

static void test_sx142_a_component_contains_itself(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = RULES "cycle/A.mdl", .stop = 1, .interval = 1 });
    assert_false(r->is_compiled);
    assert_non_null(strstr(r->messages, "cycle/C.mdl:3:14: error KN2051: "));
    assert_non_null(strstr(r->messages, "cycle/A.mdl' contains itself"));
    assert_non_null(strstr(r->messages, "cycle/A.mdl:2:15: through"));
    assert_non_null(strstr(r->messages, "cycle/B.mdl:3:14: through"));
    run_free(r);
}

/* a: only the basic component says something. b: the middle wins. c, d: the outer one wins, whichever names they
 * use. */
static void check_initial(const RunResult *r)
{
    expect_near(run_last(r, "Mitte.Innen.a"), 1, 0);
    expect_near(run_last(r, "Mitte.Innen.b"), 2, 0);
    expect_near(run_last(r, "Mitte.Innen.c"), 3, 0);
    expect_near(run_last(r, "Mitte.Innen.d"), 3, 0);
    expect_near(run_last(r, "d"), 3, 0);
}

static void set_from_outside(KoineModel *model)
{
    set_value(model, "Mitte.Innen.a", 4);
    set_value(model, "Mitte.Innen.b", 4);
    set_value(model, "Mitte.Innen.d", 4);
}

static void check_experiment_wins(const RunResult *r)
{
    expect_near(run_last(r, "Mitte.Innen.a"), 4, 0);
    expect_near(run_last(r, "Mitte.b"), 4, 0);
    expect_near(run_last(r, "Mitte.c"), 3, 0);
    expect_near(run_last(r, "Mitte.d"), 4, 0);
    expect_near(run_last(r, "d"), 4, 0);
}

static void test_sx154_the_outer_value_wins(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = RULES "Aussen.mdl", .stop = 1, .interval = 1 }, check_initial);
    run_in_all_tiers((RunRequest){ .path = RULES "Aussen.mdl", .stop = 1, .interval = 1, .prepare = set_from_outside },
                     check_experiment_wins);
}

/* L13630: open inputs are high. Takt 1 at T = 0: NxtOut = high (1), TSwitch = 10; Takt 1 at T = 10: Out = high, it was
 * undef (3). */
static void check_and_delay(const RunResult *r)
{
    expect_near(run_at(r, "Out", 5), 3, 0);
    expect_near(run_at(r, "NxtOut", 5), 1, 0);
    expect_near(run_at(r, "TSwitch", 5), 10, 0);
    uint32_t n[2][2] = { { 0 } }; /* rows of Takt 0 and of later ones, at 0 and at 10 */
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const bool is_late = r->rows[k].time == 10;
        const bool is_takt = r->rows[k].kind == KOINE_POINT_STEP || r->rows[k].kind == KOINE_POINT_RIGHT;
        if (!is_takt || (r->rows[k].time != 0 && !is_late))
            continue;
        expect_near(at_row(r, k, is_late ? "Out" : "NxtOut"), r->rows[k].event_step == 0 ? 3 : 1, 0);
        n[is_late][r->rows[k].event_step > 0]++;
    }
    assert_true(n[0][0] > 0 && n[0][1] > 0 && n[1][0] > 0 && n[1][1] > 0);
    expect_near(run_last(r, "Out"), 1, 0);
}

static void test_sx161_and_with_delay(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/tests/sim/simplex/AndDelay.mdl",
                                   .stop = 20,
                                   .interval = 5,
                                   .every_event_step = true },
                     check_and_delay);
}

/* N counts the Takte, one each, until the limit of 20 ends the run. */
static void test_sx166_a_true_condition_fires_again(void **state)
{
    (void)state;
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    for (int k = 0; k < 3; k++) {
        RunResult *r = run_model(&(RunRequest){ .path = RULES "Immer.mdl",
                                                .tier = tiers[k],
                                                .stop = 1,
                                                .interval = 1,
                                                .max_steps = 20,
                                                .every_event_step = true });
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        assert_non_null(strstr(r->report.text, "more than 20 event steps"));
        assert_non_null(strstr(r->report.text, "Immer.mdl:6"));
        expect_near(r->report.time, 0, 0);
        uint32_t n = 0;
        for (uint32_t j = 0; j < r->n_rows; j++)
            if (r->rows[j].kind == KOINE_POINT_STEP) {
                expect_near(at_row(r, j, "N"), (double)r->rows[j].event_step, 0);
                n++;
            }
        assert_true(n >= 20);
        run_free(r);
    }
}

/* X' = 1 for a second, -2 for a second: -1 after two of them. No root function is ever looked at. */
static void check_discrete_region(const RunResult *r)
{
    expect_near(run_at(r, "X", 1.5), 0, 1e-9);
    expect_near(run_at(r, "X", 4), -2, 1e-9);
    assert_int_equal(r->report.statistics.integration.root_evaluations, 0);
    assert_int_equal(r->report.statistics.events.state_events, 0);
}

static void test_sx112_discrete_regions_cost_no_search(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = RULES "Diskret.mdl", .stop = 4, .interval = 0.5 }, check_discrete_region);
}

/* ---- what an event costs ---- */
static char folder[64], path_of_many[128];
static uint32_t n_ticking;

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void copy_class(const char *name)
{
    char path[512], text[4096];
    snprintf(path, sizeof path, "%s%s", RULES, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    write_file(name, text);
}

/* `clocks` clocks U1, U2, ...; `readers` readers, the first `awake` at the first clock, the others at the last. */
static void write_many(uint32_t clocks, uint32_t readers, uint32_t awake)
{
    static char text[65536];
    size_t n = (size_t)snprintf(text, sizeof text, "HIGH LEVEL COMPONENT Viele\nSUBCOMPONENTS\n");
    for (uint32_t k = 1; k <= clocks; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "  U%u OF CLASS Uhr%s\n", k,
                              k < clocks || readers > 0 ? "," : "");
    for (uint32_t k = 1; k <= readers; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "  R%u OF CLASS Senke%s\n", k, k < readers ? "," : "");
    if (readers > 0)
        n += (size_t)snprintf(text + n, sizeof text - n, "COMPONENT CONNECTIONS\n");
    for (uint32_t k = 1; k <= readers; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "  U%u.Odd --> R%u.M;\n", k <= awake ? 1 : clocks, k);
    snprintf(text + n, sizeof text - n, "END OF Viele\n");
    write_file("Viele.mdl", text);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/koine-rules-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path_of_many, sizeof path_of_many, "%s/Viele.mdl", folder);
    copy_class("Uhr.mdl");
    copy_class("Senke.mdl");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = { "Viele.mdl", "Uhr.mdl", "Senke.mdl" };
    for (uint32_t k = 0; k < 3; k++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        remove(path);
    }
    return rmdir(folder);
}

static void stop_the_others(KoineModel *model)
{
    for (uint32_t k = 0; k < model->kind->tables->n_variables; k++) {
        const char *name = model->kind->tables->variables[k].name;
        unsigned clock;
        if (sscanf(name, "U%u.", &clock) == 1 && clock > n_ticking && strstr(name, ".TNext"))
            set_value(model, name, 1e9);
    }
}

/* Event graph nodes evaluated per tick of the first `ticking` clocks: the growth from T = 10.5 to T = 110.5. */
static double nodes_per_tick(uint32_t clocks, uint32_t readers, uint32_t awake, uint32_t ticking)
{
    double nodes[2];
    write_many(clocks, readers, awake);
    n_ticking = ticking;
    for (int k = 0; k < 2; k++) {
        RunResult *r = run_model(&(RunRequest){
            .path = path_of_many, .stop = k ? 110.5 : 10.5, .interval = 1000, .prepare = stop_the_others });
        expect_done(r);
        expect_near(run_last(r, "U1.N"), k ? 110 : 10, 0);
        nodes[k] = (double)r->report.statistics.model.node_evaluations;
        run_free(r);
    }
    return (nodes[1] - nodes[0]) / 100;
}

/* One clock of 4 or of 200 ticks: the same work. */
static void test_sx164_components_at_rest_cost_nothing(void **state)
{
    (void)state;
    const double few = nodes_per_tick(4, 0, 0, 1);
    assert_true(few > 0);
    expect_near(nodes_per_tick(200, 0, 0, 1), few, 0);
}

/* All clocks tick: the work per clock stays, so that N components cost N times one, not N^2. */
static void test_sx165_cost_is_linear(void **state)
{
    (void)state;
    const double one = nodes_per_tick(2, 0, 0, 2) / 2, many = nodes_per_tick(100, 0, 0, 100) / 100;
    assert_true(one > 0);
    assert_true(many <= 1.01 * one);
}

/* Readers of another clock sleep; each reader of the ticking clock costs the same. */
static void test_sx167_a_change_wakes_its_readers_only(void **state)
{
    (void)state;
    const double one = nodes_per_tick(2, 1, 1, 1), alone = nodes_per_tick(2, 1, 0, 1);
    assert_true(one > alone);
    expect_near(nodes_per_tick(2, 50, 1, 1), one, 0);
    expect_near(nodes_per_tick(2, 50, 11, 1) - nodes_per_tick(2, 50, 1, 1), 10 * (one - alone), 1e-9);
}

/* ---- one program, many runs ---- */
static KoineRunEnd run_kind(const KoineModelKind *kind, const char *name, double value, const char *wanted, double *got,
                            KoineRunReport *report)
{
    const KoineHost host = { 0 };
    KoineModel *model;
    assert_int_equal(kind->create(kind, &host, &model), KOINE_OK);
    if (name)
        set_value(model, name, value);
    const KoineRunOptions options = { .stop = 1, .interval = 0.5, .tolerance = 1e-9 };
    const KoineRunEnd end = koine_simulate(model, &options, report);
    if (got)
        *got = value_of(model, wanted);
    kind->destroy(model);
    return end;
}

static const KoineModelKind *compile(Compilation *c, const char *path, const char *tier)
{
    const char *why;
    assert_true(compilation_load(c, &(CompileRequest){ .path = path }) && compilation_schedule(c));
    const KoineModelKind *kind = compilation_kind(c, tier, &why);
    assert_non_null(kind);
    return kind;
}

/* a = 0: X/a has no value. b = 1000: the exponential overflows. a = 2: X = exp(T/2). */
static void test_sx195_sx197_after_an_error_the_next_run_works(void **state)
{
    (void)state;
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    for (int k = 0; k < 3; k++) {
        Compilation *c = compilation_create(NULL);
        const KoineModelKind *kind = compile(c, RULES "Bruch.mdl", tiers[k]);
        KoineRunReport report;
        double x;
        assert_int_equal(run_kind(kind, NULL, 0, NULL, NULL, &report), KOINE_RUN_FAILED);
        assert_non_null(strstr(report.text, "Bruch.mdl:7"));
        assert_non_null(strstr(report.text, "division by zero"));
        expect_near(report.time, 0, 0);
        assert_int_equal(run_kind(kind, "b", 1000, NULL, NULL, &report), KOINE_RUN_FAILED);
        assert_int_equal(run_kind(kind, "a", 2, "X", &x, &report), KOINE_RUN_DONE);
        expect_near(x, exp(0.5), 1e-8);
        compilation_destroy(c);
    }
}

static void set_overflow(KoineModel *model)
{
    set_value(model, "a", 1);
    set_value(model, "b", 1000);
}

static void test_sx197_overflow_ends_the_run(void **state)
{
    (void)state;
    RunResult *r =
        run_model(&(RunRequest){ .path = RULES "Bruch.mdl", .stop = 1, .interval = 1, .prepare = set_overflow });
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text, "Bruch.mdl:8"));
    run_free(r);
}

/* X = exp(T/a): other values of a without compiling again, in any order, and the first result again bit by bit. */
static void test_sx198_one_model_many_experiments(void **state)
{
    (void)state;
    Compilation *c = compilation_create(NULL);
    const KoineModelKind *kind = compile(c, RULES "Bruch.mdl", "interp");
    KoineRunReport report;
    double first, x;
    assert_int_equal(run_kind(kind, "a", 1, "X", &first, &report), KOINE_RUN_DONE);
    expect_near(first, exp(1), 1e-8);
    assert_int_equal(run_kind(kind, "a", -1, "X", &x, &report), KOINE_RUN_DONE);
    expect_near(x, exp(-1), 1e-8);
    assert_int_equal(run_kind(kind, "a", 1, "X", &x, &report), KOINE_RUN_DONE);
    assert_memory_equal(&x, &first, sizeof x);
    compilation_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sx048_time_through_a_dependent),
        cmocka_unit_test(test_sx048_within_one_cell_of_the_grid),
        cmocka_unit_test(test_sx051_logical_dependent),
        cmocka_unit_test(test_sx065_dependents_follow_in_the_same_takt),
        cmocka_unit_test(test_sx073_no_equation_no_change),
        cmocka_unit_test(test_sx096_if_in_event),
        cmocka_unit_test(test_sx139_sx143_sx144_sx148_house),
        cmocka_unit_test(test_sx142_a_component_contains_itself),
        cmocka_unit_test(test_sx154_the_outer_value_wins),
        cmocka_unit_test(test_sx161_and_with_delay),
        cmocka_unit_test(test_sx166_a_true_condition_fires_again),
        cmocka_unit_test(test_sx112_discrete_regions_cost_no_search),
        cmocka_unit_test_setup_teardown(test_sx164_components_at_rest_cost_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sx165_cost_is_linear, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sx167_a_change_wakes_its_readers_only, set_up, tear_down),
        cmocka_unit_test(test_sx195_sx197_after_an_error_the_next_run_works),
        cmocka_unit_test(test_sx197_overflow_ends_the_run),
        cmocka_unit_test(test_sx198_one_model_many_experiments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
