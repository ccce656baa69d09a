/* Rules of SIMPLEX-MDL that show only in a run, one small model each. Expected values: closed forms, given beside the
 * assertion. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define RUNS KOINE_SOURCE_DIR "/tests/sim/simplex/runs/"

static void assert_near(double actual, double expected, double tolerance)
{
    fail_if(!(fabs(actual - expected) <= tolerance), "%.12g, expected %.12g within %g", actual, expected, tolerance);
}

static RunResult *run(const char *path, double stop, double interval)
{
    RunResult *r = run_model(&(RunRequest){ .path = path, .stop = stop, .interval = interval });
    fail_if(!r->is_compiled, "%s", r->messages);
    fail_if(r->report.end != KOINE_RUN_DONE, "%s", r->report.text);
    return r;
}

/* x = 2 t reaches 3 at 1.5, is set back to 1, and again every unit of time: four times until 5. */
static void test_sx098_a_continuous_state_jumps(void **state)
{
    (void)state;
    RunResult *r = run(RUNS "Sprung.mdl", 5, 0.25);
    assert_near(run_last(r, "n"), 4, 0);
    assert_near(run_last(r, "x"), 2, 1e-8);
    assert_near(run_at(r, "x", 1.25), 2.5, 1e-8);
    assert_near(run_at(r, "x", 1.75), 1.5, 1e-8);
    run_free(r);
}

static void test_sx099_sx103_sx106_regions(void **state)
{
    (void)state;
    RunResult *r = run(RUNS "Bereich.mdl", 4, 0.5);
    assert_near(run_at(r, "y", 0.5), 0.5, 1e-9);
    assert_near(run_at(r, "y", 1.5), 15, 1e-8);
    assert_near(run_at(r, "y", 2.5), 250, 1e-7);
    assert_near(run_at(r, "y", 3.5), -1, 0);
    assert_near(run_at(r, "n", 0), 5, 0); /* in the first instant, while x < 1 */
    assert_near(run_at(r, "m", 1.5), 0, 0);
    assert_near(run_last(r, "m"), 3, 0); /* from x = 2 on */
    run_free(r);
}

static void test_sx100_sx101_display(void **state)
{
    (void)state;
    RunResult *r = run(RUNS "Anzeige.mdl", 2.5, 1);
    assert_non_null(r->output);
    assert_string_equal(r->output, "n = 0 at 1, 2\nn = 1 at 2, 2\n");
    run_free(r);
}

/* x = t - 5, y = 5 - t: both above -0.001 only in (4.999, 5.001); |x - 2| < 0.0001 around 7; x >= 3 at 8, x - y > 6.002
 * at 8.001. One output interval, so that steps are long. */
static void test_sx118_sx119_sx121_sx124_crossings(void **state)
{
    (void)state;
    RunResult *r = run(RUNS "Kreuz.mdl", 9, 9);
    assert_near(run_last(r, "kurz"), 1, 0);
    assert_near(run_last(r, "nahe"), 1, 0);
    assert_near(run_last(r, "mitte"), 4, 1e-9); /* -3 + T above 5 - T */
    assert_near(run_last(r, "erst"), 1, 0);
    assert_near(run_last(r, "zweit"), 2, 0);
    run_free(r);
}

static void narrow(KoineModel *model)
{
    set_value(model, "breit", 1e-3);
}

/* x = t - 5.5 is within 1 of 0 from 4.5 on, within 0.001 from 5.499 on, and outside at both ends of a step of 11. On a
 * grid of 0.001 the first points inside are 4.501 and 5.5. */
static void test_sx119_a_passage_within_one_step(void **state)
{
    (void)state;
    static const double entered[2][2] = { { 4.5, 5.499 }, { 4.501, 5.5 } };
    for (int on_grid = 0; on_grid < 2; on_grid++)
        for (int is_narrow = 0; is_narrow < 2; is_narrow++) {
            RunResult *r = run_model(&(RunRequest){ .path = RUNS "Vorbei.mdl",
                                                    .solver = "rk4",
                                                    .stop = 11,
                                                    .interval = 11,
                                                    .step = 11,
                                                    .resolution = on_grid ? 0.001 : 0,
                                                    .prepare = is_narrow ? narrow : NULL });
            assert_true(r->is_compiled && r->report.end == KOINE_RUN_DONE);
            assert_near(run_at(r, "x", 0), -5.5, 0);
            assert_near(run_last(r, "x"), 5.5, 1e-12);
            assert_near(run_last(r, "n"), 1, 0);
            assert_near(run_last(r, "tEin"), entered[on_grid][is_narrow], 1e-9);
            assert_true(r->report.statistics.integration.steps <=
                        5); /* of 11, but for what is cut at the event and at the corner */
            run_free(r);
        }
}

static void test_sx129_sx131_sx132_time(void **state)
{
    (void)state;
    RunResult *r = run(RUNS "Zeit.mdl", 10, 0.5);
    assert_near(run_at(r, "vor", 4.5), 1, 0);
    assert_near(run_at(r, "vor", 5), 0, 0); /* 5 > T is false at 5 */
    assert_near(run_at(r, "a", 4.5), 0, 0);
    assert_near(run_at(r, "a", 5), 1, 0); /* 5 <= T is T >= 5 */
    assert_near(run_at(r, "n", 4.5), 0, 0);
    assert_near(run_at(r, "n", 6.5), 0, 0);
    assert_near(run_at(r, "n", 7), 1, 0); /* TZiel moved from 4 to 7 at 2 */
    assert_int_equal(r->report.statistics.integration.steps, 0);
    run_free(r);
}

/* 2 - 2.5 + 2.5 + 0 from 0 to 3. */
static void test_sx058_sx110_kinks(void **state)
{
    (void)state;
    RunResult *r = run(RUNS "Kink.mdl", 3, 1);
    assert_near(run_last(r, "y"), 2, 1e-8);
    run_free(r);
}

/* The same of a state: its corners at 1, 1.5 and 2 are events there, and no step is refused because of them. In between
 * y' is -2 x + 1, -1, 1 and 2 x - 3: y = 0, -1/2, 0 and 2 at 1, 1.5, 2 and 3. */
static void test_sx058_sx110_corners_are_events(void **state)
{
    (void)state;
    static const double corners[] = { 1, 1.5, 2 }, values[] = { 0, -0.5, 0 };
    RunResult *r = run_model(
        &(RunRequest){ .path = RUNS "Knicke.mdl", .solver = "dopri5", .stop = 3, .interval = 3, .tolerance = 1e-10 });
    assert_true(r->is_compiled && r->report.end == KOINE_RUN_DONE);
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->n_rows; k++)
        if (r->rows[k].kind == KOINE_POINT_REGION) {
            assert_true(n < 3);
            assert_near(r->rows[k].time, corners[n], 1e-9);
            assert_near(r->rows[k].values[run_column(r, "y")], values[n++], 1e-9);
        }
    assert_int_equal(n, 3);
    assert_near(run_last(r, "y"), 2, 1e-9);
    assert_int_equal(r->report.statistics.events.state_events, 3);
    assert_int_equal(r->report.statistics.integration.rejected_steps, 0);
    run_free(r);
}

/* x' = -2 x + 0.25 from 3. */
static void test_sx146_sx150_sx152_sx154_sx155_connections(void **state)
{
    (void)state;
    RunResult *r = run(RUNS "Selbst.mdl", 1, 0.5);
    assert_near(run_last(r, "Aus"), 0.125 + 2.875 * exp(-2), 1e-8);
    assert_near(run_last(r, "Zerfall.k"), 2, 0);
    assert_near(run_last(r, "Wert"), 0.25, 0);
    run_free(r);
}

static void test_sx094_double_assignment(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = RUNS "Doppel.mdl", .stop = 2, .interval = 1 });
    assert_true(r->is_compiled);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text, "two events assign 'Z'"));
    assert_non_null(strstr(r->report.text, "Doppel.mdl:6"));
    assert_non_null(strstr(r->report.text, "Doppel.mdl:7"));
    assert_near(r->report.time, 1, 0);
    run_free(r);
}

static void test_sx090_sx102_sx128_countdown(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){
        .path = KOINE_SOURCE_DIR "/tests/sim/simplex/case5.mdl", .stop = 1, .interval = 1, .every_event_step = true });
    assert_int_equal(r->report.end, KOINE_RUN_DONE);
    assert_near(run_last(r, "z"), 0, 0);
    const uint32_t z = run_column(r, "z");
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->n_rows; k++) /* 3, 2, 1, 0 in Takte 0 to 3 */
        if (r->rows[k].time == 0 && (r->rows[k].kind == KOINE_POINT_STEP || r->rows[k].kind == KOINE_POINT_RIGHT)) {
            assert_near(r->rows[k].values[z], 3 - (double)r->rows[k].event_step, 0);
            n++;
        }
    assert_int_equal(n, 4);
    run_free(r);
    r = run_model(&(RunRequest){
        .path = KOINE_SOURCE_DIR "/tests/sim/simplex/case5.mdl", .stop = 1, .interval = 1, .max_steps = 2 });
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    assert_non_null(strstr(r->report.text, "more than 2 event steps"));
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sx098_a_continuous_state_jumps),
        cmocka_unit_test(test_sx099_sx103_sx106_regions),
        cmocka_unit_test(test_sx100_sx101_display),
        cmocka_unit_test(test_sx118_sx119_sx121_sx124_crossings),
        cmocka_unit_test(test_sx119_a_passage_within_one_step),
        cmocka_unit_test(test_sx129_sx131_sx132_time),
        cmocka_unit_test(test_sx058_sx110_kinks),
        cmocka_unit_test(test_sx058_sx110_corners_are_events),
        cmocka_unit_test(test_sx146_sx150_sx152_sx154_sx155_connections),
        cmocka_unit_test(test_sx094_double_assignment),
        cmocka_unit_test(test_sx090_sx102_sx128_countdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
