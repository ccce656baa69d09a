/* The document's SIMPLEX models, run in every tier. Expected values: spec section 5 of SIMPLEX-II (computed there with
 * fine fixed steps and exact event location, independent of Koine) or closed forms. */
#include "assertions.h"
#include "run.h"
#include "toy.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define EXAMPLES KOINE_SOURCE_DIR "/examples/"
#define CASES    KOINE_SOURCE_DIR "/tests/sim/simplex/"
static const char *const tiers[] = { "interp", "tcc", "cc" };

static void assert_near(double actual, double expected, double tolerance)
{
    fail_if(!(fabs(actual - expected) <= tolerance), "%.12g, expected %.12g within %g", actual, expected, tolerance);
}

static void assert_done(const RunResult *r)
{
    fail_if(!r->is_compiled, "%s", r->messages);
    fail_if(r->report.end != KOINE_RUN_DONE, "%s", r->report.text);
}

/* Same rows, same columns, same bits. */
static void assert_equal_bits(const RunResult *a, const RunResult *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->n_columns, b->n_columns);
    for (uint32_t k = 0; k < a->n_rows; k++) {
        assert_memory_equal(&a->rows[k].time, &b->rows[k].time, sizeof(double));
        assert_memory_equal(a->rows[k].values, b->rows[k].values, a->n_columns * sizeof(double));
    }
}

static void in_all_tiers(RunRequest request, void (*check)(const RunResult *r))
{
    RunResult *first = NULL;
    for (int k = 0; k < 3; k++) {
        request.tier = tiers[k];
        RunResult *r = run_model(&request);
        assert_done(r);
        check(r);
        if (first) {
            assert_equal_bits(first, r);
            run_free(r);
        } else {
            first = r;
        }
    }
    run_free(first);
}

static void check_hafuchs(const RunResult *r) /* the reference of the document's example, to its third halving */
{
    static const struct {
        double time, hares, foxes;
    } table[] = { { 10, 581.68595, 11.951298 },    { 50, 455.45485, 22.691072 },    { 100, 514.08575, 20.811517 },
                  { 200, 497.48087, 20.040463 },   { 300, 500.26906, 19.976207 },   { 500, 499.99695, 19.999584 },
                  { 510, 387.99916, 15.211540 },   { 600, 478.79936, 1.4140245 },   { 1000, 495.44851, 0.3555423 },
                  { 1500, 497.63715, 0.18675622 }, { 1510, 321.41544, 0.11818638 }, { 1600, 250.03924, 1.98953e-5 },
                  { 2000, 250, 8.45e-23 },         { 2600, 125.02097, 0 } };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        assert_near(run_at(r, "Hasen", table[k].time), table[k].hares, 1e-6 * table[k].hares);
        assert_near(run_at(r, "Fuechse", table[k].time), table[k].foxes, 1e-6 * table[k].foxes + 1e-9);
    }
    assert_near(run_at(r, "relKap", 499), 1000, 0);
    assert_near(run_at(r, "relKap", 2499), 250, 0);
    assert_near(run_at(r, "relKap", 2501), 125, 0);
}

static void test_sx162_predator_prey(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = EXAMPLES "predator-prey/HaFuchs.mdl", .stop = 2600, .interval = 1 },
                 check_hafuchs);
}

static double time_of_event(const RunResult *r, uint32_t number) /* state events only: LEFT rows, steps excluded */
{
    const uint32_t abstand = run_column(r, "Abstand");
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->n_rows; k++)
        if (r->rows[k].kind == KOINE_POINT_LEFT && fabs(r->rows[k].values[abstand] - 0.05) < 1e-6 && n++ == number)
            return r->rows[k].time;
    fail_msg("no contact %u", number);
    return 0;
}

static void check_ball(const RunResult *r)
{
    assert_near(time_of_event(r, 0), 0.440091, 2e-6); /* sqrt(2*0.95/9.81) */
    assert_near(time_of_event(r, 0), sqrt(2 * 0.95 / 9.81), 1e-8);
    assert_near(time_of_event(r, 1), 0.448298, 2e-6);
    assert_near(time_of_event(r, 2), 1.212961, 2e-6);
    assert_near(time_of_event(r, 4), 1.938416, 2e-6);
    /* first apex, from the dense output at 0.1 ms: the largest Y after the first contact */
    const uint32_t y = run_column(r, "Y");
    double best = -1, at = 0;
    for (uint32_t k = 0; k < r->n_rows; k++)
        if (r->rows[k].time > 0.5 && r->rows[k].values[y] > best) {
            best = r->rows[k].values[y];
            at = r->rows[k].time;
        }
    assert_near(best, 0.670488, 1e-6);
    assert_near(at, 0.803968, 1e-4);
    assert_near(run_at(r, "Y", 1), 0.481996, 1e-6);
    assert_near(run_at(r, "Y", 2), -0.200774, 1e-6);
}

static void test_sx113_ball(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = EXAMPLES "bouncing-ball/Ball.mdl", .stop = 2, .interval = 1e-4 }, check_ball);
}

static void test_sx123_triangle_split_is_the_same(void **state)
{
    (void)state;
    RunResult *one = run_model(&(RunRequest){ .path = EXAMPLES "triangle/Dreieck1.mdl", .stop = 12, .interval = 0.25 });
    RunResult *three =
        run_model(&(RunRequest){ .path = EXAMPLES "triangle/Dreieck.mdl", .stop = 12, .interval = 0.25 });
    assert_done(one);
    assert_done(three);
    assert_int_equal(one->n_rows, three->n_rows);
    static const char *const pairs[][2] = {
        { "Z2", "Integ.Z" }, { "Z1", "Hyst.Z" }, { "Y", "Invert.Y" }, { "Z2", "Output" }
    };
    for (uint32_t k = 0; k < one->n_rows; k++) {
        assert_memory_equal(&one->rows[k].time, &three->rows[k].time, sizeof(double));
        for (uint32_t j = 0; j < 4; j++)
            assert_memory_equal(&one->rows[k].values[run_column(one, pairs[j][0])],
                                &three->rows[k].values[run_column(three, pairs[j][1])], sizeof(double));
    }
    assert_near(run_at(one, "Z2", 2), 0, 1e-9); /* period 4, slope 1 */
    assert_near(run_at(one, "Z2", 8), 0, 1e-9);
    run_free(one);
    run_free(three);
}

static void check_sincos(const RunResult *r)
{
    for (int k = 0; k <= 8; k++) {
        assert_near(run_at(r, "OutSin", k * 0.25), sin(6.28 * k * 0.25), 1e-7);
        assert_near(run_at(r, "OutCos", k * 0.25), cos(6.28 * k * 0.25), 1e-7);
    }
}

static void test_sx157_sincos(void **state)
{
    (void)state;
    in_all_tiers((RunRequest){ .path = EXAMPLES "sincos/SinCos.mdl", .stop = 2, .interval = 0.25 }, check_sincos);
}

/* ---- event case studies, spec 5.2 ---- */
static void check_rest(const char *file, const char *a, double x, const char *b, double y)
{
    for (int k = 0; k < 3; k++) {
        char path[512];
        snprintf(path, sizeof path, "%s%s", CASES, file);
        RunResult *r = run_model(&(RunRequest){ .path = path, .tier = tiers[k], .stop = 1, .interval = 1 });
        assert_done(r);
        assert_near(run_last(r, a), x, 0);
        if (b)
            assert_near(run_last(r, b), y, 0);
        run_free(r);
    }
}

static void test_sx088_two_assignments(void **state)
{
    (void)state;
    check_rest("case1.mdl", "z1", 5, "z2", 3);
}

static void test_sx086_swap(void **state)
{
    (void)state;
    check_rest("case2.mdl", "z1", 3, "z2", 5);
}

static void test_sx087_old_state(void **state)
{
    (void)state;
    check_rest("case3.mdl", "z1", 0, "z2", 7);
}

static void test_sx089_propagation(void **state)
{
    (void)state;
    check_rest("case4.mdl", "z1", 0, "z2", 2);
    static const double z1[] = { 10, 0, 0 }, z2[] = { 5, 5, 2 }; /* Takt by Takt, all of them at 0 */
    RunResult *r =
        run_model(&(RunRequest){ .path = CASES "case4.mdl", .stop = 1, .interval = 1, .every_event_step = true });
    assert_done(r);
    uint32_t seen = 0;
    for (uint32_t k = 0; k < r->n_rows; k++)
        if (r->rows[k].kind == KOINE_POINT_STEP || r->rows[k].kind == KOINE_POINT_RIGHT) {
            const uint32_t takt = r->rows[k].event_step;
            assert_true(r->rows[k].time == 0 && takt <= 2);
            assert_near(r->rows[k].values[run_column(r, "z1")], z1[takt], 0);
            assert_near(r->rows[k].values[run_column(r, "z2")], z2[takt], 0);
            seen |= 1u << takt;
        }
    assert_int_equal(seen, 7);
    run_free(r);
}

static void test_sx091_no_rest(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        RunResult *r =
            run_model(&(RunRequest){ .path = CASES "case6.mdl", .tier = tiers[k], .stop = 1, .interval = 1 });
        assert_true(r->is_compiled);
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        assert_non_null(strstr(r->report.text, "do not come to rest"));
        assert_non_null(strstr(r->report.text, "'z' goes from"));
        assert_non_null(strstr(r->report.text, "repeat every 2 steps"));
        assert_non_null(strstr(r->report.text, "case6.mdl:"));
        run_free(r);
    }
}

/* The Takte of case 6: -5, 5, -1, 1, -1, ... Rows end before the last one, Takt 9 with z = 1, from which the message
 * tells the way on; that way is not gone. */
static void test_sx091_the_values_until_the_limit(void **state)
{
    (void)state;
    enum { LIMIT = 9 };
    RunResult *r = run_model(&(RunRequest){
        .path = CASES "case6.mdl", .stop = 1, .interval = 1, .max_steps = LIMIT, .every_event_step = true });
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text, "more than 9 event steps (MaxTkt). Now 'z' goes from 1 to -1"));
    uint32_t seen = 0;
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const uint32_t takt = r->rows[k].event_step;
        assert_true(r->rows[k].time == 0 && takt < LIMIT);
        assert_near(r->rows[k].values[run_column(r, "z")], takt == 0 ? -5 : takt == 1 ? 5 : takt % 2 ? 1 : -1, 0);
        seen |= 1u << takt;
    }
    assert_int_equal(seen, (1u << LIMIT) - 1);
    run_free(r);
}

/* Events that count for ever: no state comes back, whatever the limit is, also one below the steps that are
 * compared. */
static void test_no_rest_without_period(void **state)
{
    (void)state;
    for (uint32_t limit = 5; limit <= 14; limit++) {
        RunResult *r = run_model(&(RunRequest){
            .path = KOINE_SOURCE_DIR "/tests/sim/ir/counting.ir", .stop = 1, .interval = 0.1, .max_steps = limit });
        assert_true(r->is_compiled);
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        assert_non_null(strstr(r->report.text, "do not come to rest"));
        assert_non_null(strstr(r->report.text, "'n' goes from"));
        assert_null(strstr(r->report.text, "repeat"));
        run_free(r);
    }
}

static void test_sx092_time_event_once(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = CASES "case7.mdl", .stop = 20, .interval = 5 });
    assert_done(r);
    assert_near(run_at(r, "z", 5), 0, 0);
    assert_near(run_at(r, "z", 10), 1, 0);
    const uint32_t z = run_column(r, "z");
    uint32_t n_left = 0, n_right = 0;
    for (uint32_t k = 0; k < r->n_rows; k++) { /* both sides of the event: 0 then 1 at 10, and nowhere else */
        if (r->rows[k].kind == KOINE_POINT_LEFT) {
            assert_near(r->rows[k].time, 10, 0);
            assert_near(r->rows[k].values[z], 0, 0);
            n_left++;
        }
        if (r->rows[k].kind == KOINE_POINT_RIGHT) {
            assert_near(r->rows[k].time, 10, 0);
            assert_near(r->rows[k].values[z], 1, 0);
            assert_int_equal(r->rows[k].event_step, 1);
            n_right++;
        }
    }
    assert_int_equal(n_left, 1);
    assert_int_equal(n_right, 1);
    assert_int_equal(r->report.statistics.events.time_events, 1);
    run_free(r);
}

static void test_sx093_periodic_event(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = CASES "case8.mdl", .stop = 5.5, .interval = 0.5 });
    assert_done(r);
    for (int k = 0; k <= 5; k++)
        assert_near(run_at(r, "z", k), k + 1, 0);
    run_free(r);
}

/* ---- the adder ---- */
static uint32_t summands;
static void set_logic_inputs(KoineModel *model)
{
    char name[8];
    for (uint32_t k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "a%u", k);
        set_value(model, name, summands >> k & 1);
        snprintf(name, sizeof name, "b%u", k);
        set_value(model, name, summands >> (4 + k) & 1);
    }
    set_value(model, "cl", summands >> 8 & 1);
}

static void set_delay_inputs(KoineModel *model) /* high = 1, low = 2 */
{
    char name[8];
    for (uint32_t k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "a%u", k);
        set_value(model, name, summands >> k & 1 ? 1 : 2);
        snprintf(name, sizeof name, "b%u", k);
        set_value(model, name, summands >> (4 + k) & 1 ? 1 : 2);
    }
    set_value(model, "cl", summands >> 8 & 1 ? 1 : 2);
}

/* All 512 sums with one compilation: instances are independent of each other. */
static void add_all(const char *version, const char *tier, double stop, void (*prepare)(KoineModel *), double one)
{
    Compilation *c = compilation_create(NULL);
    const char *const versions[] = { version, NULL };
    const CompileRequest request = { .path = EXAMPLES "adder/Addi4Bit.mdl", .versions = versions };
    assert_true(compilation_load(c, &request) && compilation_schedule(c));
    const char *why;
    const KoineModelKind *kind = compilation_kind(c, tier, &why);
    assert_non_null(kind);
    for (summands = 0; summands < 512; summands++) {
        const KoineHost host = { 0 };
        KoineModel *model;
        assert_int_equal(kind->create(kind, &host, &model), KOINE_OK);
        prepare(model);
        const KoineRunOptions options = { .stop = stop, .interval = stop };
        KoineRunReport report;
        fail_if(koine_simulate(model, &options, &report) != KOINE_RUN_DONE, "%s", report.text);
        static const char *const outputs[] = { "s0", "s1", "s2", "s3", "c" };
        uint32_t sum = 0;
        for (uint32_t k = 0; k < 5; k++)
            sum += (uint32_t)(value_of(model, outputs[k]) == one) << k;
        assert_int_equal(sum, (summands & 15) + (summands >> 4 & 15) + (summands >> 8));
        kind->destroy(model);
    }
    compilation_destroy(c);
}

static void test_sx160_adder_logic(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
        add_all("Logic", tiers[k], 1, set_logic_inputs, 1);
}

/* The gates are exchanged by their version; the texts of the high level components are the same files. */
static void test_sx163_adder_delay_settles_to_the_same_sums(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++)
        add_all("Delay", tiers[k], 500, set_delay_inputs, 1);
}

static void test_sx161_and_delay(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = EXAMPLES "adder/And/Delay.mdl", .stop = 20, .interval = 5 });
    assert_done(r);
    assert_near(run_at(r, "Out", 5), 3, 0);  /* undef */
    assert_near(run_at(r, "Out", 10), 1, 0); /* high, from the event at T = 10 on */
    assert_near(run_at(r, "TSwitch", 5), 10, 0);
    run_free(r);
}

/* ---- two languages ---- */
static void test_toy_component_in_a_simplex_model(void **state)
{
    (void)state;
    static const Language *const languages[] = { &toy_language, NULL };
    RunResult *r = run_model(&(RunRequest){
        .path = KOINE_SOURCE_DIR "/tests/lang/toy/Kette.mdl", .stop = 1, .interval = 0.5, .languages = languages });
    assert_done(r);
    assert_near(run_last(r, "Verstaerk.y"), 2.5 * exp(-1), 1e-8);
    assert_near(run_last(r, "Aus"), 2.5 * (1 - exp(-1)), 1e-8);
    run_free(r);
}

/* Statements, events and components in another order: the same bytes. */
static void test_sx064_order_means_nothing(void **state)
{
    (void)state;
    RunResult *a = run_model(&(RunRequest){ .path = CASES "order/Modell.mdl", .stop = 10, .interval = 0.5 });
    RunResult *b = run_model(&(RunRequest){ .path = CASES "order/permuted/Modell.mdl", .stop = 10, .interval = 0.5 });
    assert_done(a);
    assert_done(b);
    assert_true(a->n_rows > 25);
    assert_equal_bits(a, b);
    for (uint32_t k = 0; k < a->n_columns; k++)
        assert_string_equal(a->names[k], b->names[k]);
    run_free(a);
    run_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sx162_predator_prey),
        cmocka_unit_test(test_sx113_ball),
        cmocka_unit_test(test_sx123_triangle_split_is_the_same),
        cmocka_unit_test(test_sx157_sincos),
        cmocka_unit_test(test_sx088_two_assignments),
        cmocka_unit_test(test_sx086_swap),
        cmocka_unit_test(test_sx087_old_state),
        cmocka_unit_test(test_sx089_propagation),
        cmocka_unit_test(test_sx091_no_rest),
        cmocka_unit_test(test_sx091_the_values_until_the_limit),
        cmocka_unit_test(test_no_rest_without_period),
        cmocka_unit_test(test_sx092_time_event_once),
        cmocka_unit_test(test_sx093_periodic_event),
        cmocka_unit_test(test_sx160_adder_logic),
        cmocka_unit_test(test_sx163_adder_delay_settles_to_the_same_sums),
        cmocka_unit_test(test_sx161_and_delay),
        cmocka_unit_test(test_toy_component_in_a_simplex_model),
        cmocka_unit_test(test_sx064_order_means_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
