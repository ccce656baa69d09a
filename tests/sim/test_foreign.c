/* Foreign components: models by hand in a library of their own take part in models of the text form. Numbers are closed
 * forms. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MODELS KOINE_FOREIGN_DIR "/"

static RunRequest request_for(const char *path, double stop, double interval)
{
    return (RunRequest){ .path = path, .stop = stop, .interval = interval, .external.allows_all = true };
}

/* The model with `words` behind each of its components. */
static const char *with_words(const char *name, const char *words)
{
    static char path[300];
    char line[500];
    snprintf(path, sizeof path, MODELS "%s", name);
    FILE *from = fopen(path, "r");
    snprintf(path, sizeof path, MODELS "apart_%s", name);
    FILE *to = fopen(path, "w");
    while (fgets(line, sizeof line, from)) {
        const bool is_component = strncmp(line, "foreign ", 8) == 0;
        line[strcspn(line, "\n")] = 0;
        fprintf(to, "%s%s\n", line, is_component ? words : "");
    }
    fclose(from);
    fclose(to);
    return path;
}

/* y = k*u + 1 with k = 3, u = t^2. */
static void check_gain(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++)
        expect_near(r->rows[k].values[run_column(r, "y")], 3 * r->rows[k].time * r->rows[k].time + 1, 1e-14);
}

static void test_outputs_follow_inputs_at_once(void **state)
{
    (void)state;
    run_in_all_tiers(request_for(MODELS "gain.ir", 2, 0.25), check_gain);
}

/* u jumps to 2 at 0.5, so y to 7, and that is an event in the same instant. */
static void check_lazy(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const RunRow *at = &r->rows[k];
        const double u = at->values[run_column(r, "u")];
        expect_near(at->values[run_column(r, "y")], 3 * u + 1, 0);
        if (at->time > 0.5)
            expect_near(u, 2, 0);
    }
    expect_near(r->rows[0].values[run_column(r, "y")], 1, 0);
    expect_near(run_at(r, "n", 0.25), 0, 0);
    expect_near(run_at(r, "n", 0.5), 1, 0);
    expect_near(run_at(r, "y", 0.5), 7, 0);
}

static void test_outputs_are_asked_for_whenever_they_are_read(void **state)
{
    (void)state;
    run_in_all_tiers(request_for(MODELS "lazy.ir", 1, 0.25), check_lazy);
}

/* x' = (2 - 3x - x)/2 = 1 - 2x from 0.25: x = 0.5 - 0.25 exp(-2t), y = 3x. */
static void check_lag(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double x = 0.5 - 0.25 * exp(-2 * r->rows[k].time);
        expect_near(r->rows[k].values[run_column(r, "f.x")], x, 1e-7);
        expect_near(r->rows[k].values[run_column(r, "y")], 3 * x, 3e-7);
    }
}

static void test_states_join_those_of_the_whole(void **state)
{
    (void)state;
    run_in_all_tiers(request_for(MODELS "lag.ir", 3, 0.25), check_lag);
}

/* Down from 1: hits at t1 = sqrt(2/g), then every 2 e^k t1. */
static void check_ball(const RunResult *r)
{
    expect_done(r);
    const double g = 9.81, t1 = sqrt(2 / g), t2 = t1 + t1, t3 = t2 + 0.5 * t1;
    expect_near(run_at(r, "n", 0.4), 0, 0);
    expect_near(run_at(r, "n", 0.6), 1, 0);
    expect_near(run_at(r, "h", 0.6), 0.5 * g * t1 * (0.6 - t1) - g / 2 * (0.6 - t1) * (0.6 - t1), 1e-7);
    expect_near(run_at(r, "n", 1.0), 2, 0);
    expect_near(run_at(r, "f.v", 1.0), 0.25 * g * t1 - g * (1 - t2), 1e-6);
    expect_near(run_at(r, "n", 1.2), t3 < 1.2 ? 3 : 2, 0);
    expect_near(run_at(r, "low", 0.4), 1 - g / 2 * 0.16 < 0.25, 0);
    expect_near(run_at(r, "low", 0.6), run_at(r, "h", 0.6) < 0.25, 0);
}

static void test_roots_of_a_component_are_located(void **state)
{
    (void)state;
    run_in_all_tiers(request_for(MODELS "ball.ir", 1.2, 0.2), check_ball);
}

/* n grows by t at 0.1, 0.2 ... */
static void check_ticks(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "n", 0.05), 0, 0);
    expect_near(run_at(r, "n", 0.25), 0.1 + 0.2, 1e-15);
    expect_near(run_at(r, "m", 0.25), 2 * (0.1 + 0.2), 1e-15);
    expect_near(run_last(r, "n"), 5.5, 1e-14);
}

static void test_time_events_of_a_component_happen(void **state)
{
    (void)state;
    run_in_all_tiers(request_for(MODELS "ticks.ir", 1.02, 0.05), check_ticks);
}

/* Steps of 1/8 with the inputs at their begin: y grows by (t^2 + 1)/8, z by y/8, both at once; x' = y is z in between.
 */
static void check_steps(const RunResult *r)
{
    double y = 0, z = 0;
    uint32_t n = 0;
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const RunRow *at = &r->rows[k];
        const double begin = n * 0.125;
        if (at->kind == KOINE_POINT_STEP) /* before its commit, the only one */
            assert_int_equal(at->event_step, 0);
        if (at->kind == KOINE_POINT_RIGHT) {
            expect_near(at->time, 0.125 * (1 + n), 0);
            assert_int_equal(at->event_step, 1);
            z += y / 8;
            y += (begin * begin + 1) / 8;
            n++;
        }
        expect_near(at->values[run_column(r, "y")], y, 0);
        expect_near(at->values[run_column(r, "z")], z, 0);
        expect_near(at->values[run_column(r, "x")], z + y * (at->time - n * 0.125), 1e-12);
    }
    assert_int_equal(n, 15);
}

static RunRequest request_for_steps(const char *path)
{
    RunRequest request = request_for(path, 1.99, 0.3);
    request.every_event_step = true;
    return request;
}

static void test_steps_of_a_component_are_made_where_they_end(void **state)
{
    (void)state;
    run_in_all_tiers(request_for_steps(MODELS "steps.ir"), check_steps);
    run_in_all_tiers(request_for_steps(with_words("steps.ir", " apart")), check_steps);
}

/* Two in one model, each an instance of a class: x1' = (1 - x1)/2, x2' = (x1 - x2)/2 from 0.25. */
static void check_two(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time;
        expect_near(r->rows[k].values[run_column(r, "a.f.x")], 1 - 0.75 * exp(-t / 2), 1e-7);
        expect_near(r->rows[k].values[run_column(r, "b.f.x")], 1 - 0.75 * exp(-t / 2) * (1 + t / 2), 1e-7);
    }
}

static void test_instances_of_a_component_are_apart(void **state)
{
    (void)state;
    run_in_all_tiers(request_for(MODELS "two.ir", 3, 0.5), check_two);
}

/* Iteration matrices of stiff solvers hold differences of the component: the numbers are the same. */
static void test_solvers_with_a_jacobian_integrate_components(void **state)
{
    static const char *const solvers[] = { "cvode-bdf", "ida", "arkode-dirk", "dop853" };
    (void)state;
    for (uint32_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        RunRequest request = request_for(MODELS "two.ir", 3, 0.5);
        request.solver = solvers[k];
        RunResult *r = run_model(&request);
        if (r->is_compiled && r->report.end != KOINE_RUN_DONE)
            fail_msg("%s: %s", solvers[k], r->report.text);
        const double t = 3;
        expect_near(run_last(r, "b.f.x"), 1 - 0.75 * exp(-t / 2) * (1 + t / 2), 1e-5);
        run_free(r);
    }
}

/* The run goes on with the component as it is. */
static void test_a_run_with_a_component_is_continued(void **state)
{
    (void)state;
    RunRequest request = request_for(MODELS "ball.ir", 1.2, 0.2);
    request.pause = 0.5;
    run_in_all_tiers(request, check_ball);
}

/* ---- what goes wrong ---- */
static void expect_failure(const char *path, const char *text)
{
    const RunRequest request = request_for(path, 1, 0.1);
    RunResult *r = run_model(&request);
    assert_true(r->is_compiled);
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    if (!strstr(r->report.text, text))
        fail_msg("%s: not '%s'", r->report.text, text);
    assert_true(r->n_rows >= 5); /* what was computed is kept */
    run_at(r, "y", 0.5);
    run_free(r);
}

static void test_a_component_without_number_ends_the_run(void **state)
{
    (void)state;
    expect_failure(MODELS "nan.ir", "the foreign component 'f' gives no finite value for y");
}

static void test_outputs_that_depend_on_more_than_is_said_end_the_run(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        const RunRequest request = request_for(k ? with_words("liar.ir", " apart") : MODELS "liar.ir", 1, 0.1);
        RunResult *r = run_model(&request);
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        assert_non_null(strstr(r->report.text, "gives another value for y when u changes, and its tables say"));
        run_free(r);
    }
}

static void test_a_component_that_fails_ends_the_run_with_its_words(void **state)
{
    (void)state;
    expect_failure(MODELS "failing.ir", "the pressure is too high");
    expect_failure(MODELS "early.ir", "has come to time 0.55 in its step to 0.6");
}

/* A model whose component stands in `line`. */
static void expect_refusal(const char *line, const char *code, const char *text, bool allowed)
{
    static const char path[] = KOINE_FOREIGN_DIR "/refused.ir";
    FILE *file = fopen(path, "w");
    fprintf(file,
            "koine-ir 1\nmodel Refused\nvar u Real continuous\nvar y Real continuous\nvar n Integer discrete\n"
            "param k Real = 1.0\neq e1 u = time\n%s\nend Refused\n",
            line);
    fclose(file);
    RunRequest request = request_for(path, 1, 0.1);
    request.external.allows_all = allowed;
    RunResult *r = run_model(&request);
    assert_true(!r->is_compiled);
    if (!strstr(r->messages, code) || !strstr(r->messages, text) || !strstr(r->messages, "refused.ir:8"))
        fail_msg("%s: not '%s' '%s' but %s", line, code, text, r->messages);
    run_free(r);
    remove(path);
}

static void test_nothing_is_loaded_without_permission(void **state)
{
    (void)state;
    expect_refusal("foreign f \"components.so\" \"gain_kind\" in (u) out (y)", "KN2073", "components.so", false);
}

static void test_libraries_that_cannot_be_loaded_are_refused(void **state)
{
    (void)state;
    expect_refusal("foreign f \"nowhere.so\" \"gain_kind\" in (u) out (y)", "KN2071", "cannot be loaded", true);
    expect_refusal("foreign f \"gain.ir\" \"gain_kind\" in (u) out (y)", "KN2071", "cannot be loaded", true);
    expect_refusal("foreign f \"components.so\" \"no_kind\" in (u) out (y)", "KN2071", "no symbol 'no_kind'", true);
    expect_refusal("foreign f \"components.so\" \"gives_none()\" in (u) out (y)", "KN2071", "gives none", true);
}

static void test_tables_that_are_wrong_are_refused(void **state)
{
    static const char *const wrong[][2] = { { "wrong_version", "version 1" },
                                            { "wrong_size", "table of 8 bytes" },
                                            { "without_step", "one that is required" },
                                            { "wrong_place", "outside of its block" },
                                            { "wrong_states", "which variable its state 0 is" },
                                            { "wrong_count", "impossible numbers" } };
    (void)state;
    for (uint32_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        char line[200];
        snprintf(line, sizeof line, "foreign f \"components.so\" \"%s\" in (u) out (y)", wrong[k][0]);
        expect_refusal(line, "KN2071", wrong[k][1], true);
    }
}

static void test_steps_that_cannot_be_made_are_refused(void **state)
{
    (void)state;
    expect_refusal("foreign f \"components.so\" \"gain_kind\" in (u) out (y) step 0.1", "KN2071",
                   "has no function 'advance'", true);
    expect_refusal("foreign f \"components.so\" \"gain_kind\" in (u) out (y) apart step 0.1", "KN2071",
                   "has no function 'advance'", true);
    expect_refusal("foreign f \"components.so\" \"stepping_lag_kind\" in (u) out (y) step 0.1", "KN2071",
                   "has states or root functions", true);
    expect_refusal("foreign f \"components.so\" \"sum_kind\" in (u) out (y) step -0.1", "KN1032", "no positive number",
                   true);
    expect_refusal("foreign f \"components.so\" \"sum_kind\" in (u) out (y) through ((y, u)) step 0.1", "KN2071",
                   "none of its outputs depends on an input", true);
}

static void test_ports_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    expect_refusal("foreign f \"components.so\" \"gain_kind\" in (u) out (y = \"z\")", "KN2072", "no variable", true);
    expect_refusal("foreign f \"components.so\" \"gain_kind\" in (u = \"y\") out (y)", "KN2072", "is no input", true);
    expect_refusal("foreign f \"components.so\" \"gain_kind\" in (u) out (n = \"y\")", "KN2072", "another type", true);
    expect_refusal("foreign f \"components.so\" \"gain_kind\" in (u) out (y) set (k = \"y\")", "KN2072",
                   "cannot be set", true);
    expect_refusal("foreign f \"components.so\" \"gain_kind\" in (u) out (y, y)", "KN2072", "named twice", true);
    expect_refusal("foreign f \"components.so\" \"lag_kind\" out (y) states (u)", "KN2072", "is not its state", true);
}

/* ---- in a process of its own ---- */
static void test_a_process_of_its_own_gives_the_same_numbers(void **state)
{
    static const struct {
        const char *name;
        double stop, interval;
        void (*check)(const RunResult *r);
    } runs[] = { { "gain.ir", 2, 0.25, check_gain },      { "lazy.ir", 1, 0.25, check_lazy },
                 { "lag.ir", 3, 0.25, check_lag },        { "ball.ir", 1.2, 0.2, check_ball },
                 { "ticks.ir", 1.02, 0.05, check_ticks }, { "two.ir", 3, 0.5, check_two } };
    (void)state;
    for (uint32_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        RunRequest request = request_for(MODELS, runs[k].stop, runs[k].interval);
        char path[300];
        snprintf(path, sizeof path, MODELS "%s", runs[k].name);
        request.path = path;
        RunResult *together = run_model(&request);
        request.path = with_words(runs[k].name, " apart");
        run_in_all_tiers(request, runs[k].check);
        RunResult *apart = run_model(&request);
        assert_int_equal(together->n_rows, apart->n_rows);
        for (uint32_t row = 0; row < apart->n_rows; row++)
            assert_memory_equal(together->rows[row].values, apart->rows[row].values, apart->n_columns * sizeof(double));
        run_free(together);
        run_free(apart);
        remove(request.path);
    }
}

static void test_a_component_apart_that_fails_ends_the_run_with_its_words(void **state)
{
    (void)state;
    expect_failure(with_words("failing.ir", " apart"), "the pressure is too high");
    expect_failure(with_words("nan.ir", " apart"), "the foreign component 'f' gives no finite value for y");
}

static void test_a_process_that_ends_ends_the_run(void **state)
{
    (void)state;
    expect_failure(with_words("crashing.ir", " apart"), "components.so, was ended by the signal SIGABRT");
    expect_failure(with_words("exiting.ir", " apart"), "components.so, has ended with exit status 0");
    expect_failure(with_words("hanging.ir", " apart limit 0.5"), "components.so, gave no answer within 0.5 s");
}

static void test_a_library_is_looked_at_apart(void **state)
{
    (void)state;
    expect_refusal("foreign f \"components.so\" \"gain_kind\" in (u) out (y) apart", "KN2073", "components.so", false);
    expect_refusal("foreign f \"nowhere.so\" \"gain_kind\" in (u) out (y) apart", "KN2071", "cannot be loaded", true);
    expect_refusal("foreign f \"components.so\" \"no_kind\" in (u) out (y) apart", "KN2071", "no symbol 'no_kind'",
                   true);
    expect_refusal("foreign f \"components.so\" \"wrong_version\" in (u) out (y) apart", "KN2071", "version 1", true);
    expect_refusal("foreign f \"components.so\" \"crashes_at_once()\" in (u) out (y) apart", "KN2071",
                   "was ended by the signal SIGABRT while", true);
    expect_refusal("foreign f \"components.so\" \"hangs_at_once()\" in (u) out (y) apart limit 0.3", "KN2071",
                   "gave no answer within 0.3 s", true);
    expect_refusal("foreign f \"components.so\" \"gain_kind\" in (u) out (y = \"z\") apart", "KN2072", "no variable",
                   true);
}

int main(void)
{
    setenv("KOINE_COMPONENT", KOINE_COMPONENT_PROGRAM, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs_follow_inputs_at_once),
        cmocka_unit_test(test_outputs_are_asked_for_whenever_they_are_read),
        cmocka_unit_test(test_states_join_those_of_the_whole),
        cmocka_unit_test(test_roots_of_a_component_are_located),
        cmocka_unit_test(test_time_events_of_a_component_happen),
        cmocka_unit_test(test_steps_of_a_component_are_made_where_they_end),
        cmocka_unit_test(test_instances_of_a_component_are_apart),
        cmocka_unit_test(test_solvers_with_a_jacobian_integrate_components),
        cmocka_unit_test(test_a_run_with_a_component_is_continued),
        cmocka_unit_test(test_a_component_without_number_ends_the_run),
        cmocka_unit_test(test_outputs_that_depend_on_more_than_is_said_end_the_run),
        cmocka_unit_test(test_a_component_that_fails_ends_the_run_with_its_words),
        cmocka_unit_test(test_nothing_is_loaded_without_permission),
        cmocka_unit_test(test_libraries_that_cannot_be_loaded_are_refused),
        cmocka_unit_test(test_tables_that_are_wrong_are_refused),
        cmocka_unit_test(test_steps_that_cannot_be_made_are_refused),
        cmocka_unit_test(test_ports_that_do_not_fit_are_refused),
        cmocka_unit_test(test_a_process_of_its_own_gives_the_same_numbers),
        cmocka_unit_test(test_a_component_apart_that_fails_ends_the_run_with_its_words),
        cmocka_unit_test(test_a_process_that_ends_ends_the_run),
        cmocka_unit_test(test_a_library_is_looked_at_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
