/* The public interface, as a program uses it. */
#include "assertions.h"
#include "koine/koine.h"
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define BALL KOINE_SOURCE_DIR "/examples/bouncing-ball/Ball.mdl"

static const char RISE[] = "BASIC COMPONENT Rise\n"
                           "DECLARATION OF ELEMENTS\n"
                           "  CONSTANTS K (REAL) := 2\n"
                           "  STATE VARIABLES CONTINUOUS X (REAL[m]) := 1\n"
                           "DYNAMIC BEHAVIOUR\n"
                           "  DIFFERENTIAL EQUATIONS X' := K; END\n"
                           "END OF Rise\n";

static KoineProject *open_rise(void)
{
    KoineProject *p =
        koine_open("Rise.mdl", &(KoineOpening){ .text = RISE, .size = sizeof RISE - 1, .tier = "interp" });
    if (!koine_is_ready(p))
        fail_msg("%s", koine_message(p));
    return p;
}

static double number(const KoineProject *p, const char *name)
{
    double value = NAN;
    assert_int_equal(koine_get(p, name, &value, 1), 1);
    return value;
}

static double last(const KoineResult *r, const char *name)
{
    const int64_t column = koine_result_find(r, name);
    assert_true(column >= 0);
    return koine_result_values(r, (uint32_t)column)[koine_result_rows(r) - 1];
}

static void a_text_is_opened_set_and_run(void **state)
{
    (void)state;
    KoineProject *p = open_rise();
    KoineVariableInfo info;
    const int64_t x = koine_find(p, "X");
    assert_true(x >= 0);
    assert_true(koine_variable(p, (uint32_t)x, &info));
    assert_string_equal(info.name, "X");
    assert_string_equal(info.unit, "m");
    assert_string_equal(info.type, "real");
    assert_string_equal(info.variability, "continuous");
    assert_true(info.is_state && info.is_settable);
    assert_int_equal(info.count, 1);
    assert_int_equal(koine_find(p, "Y"), -1);
    assert_float_equal(number(p, "X"), 1, 0);
    assert_true(koine_set(p, "K", "3"));
    assert_float_equal(number(p, "K"), 3, 0);
    koine_give(p, "stop", "2");
    assert_int_equal(koine_run(p), KOINE_END_DONE);
    assert_float_equal(koine_reached(p), 2, 0);
    assert_float_equal(number(p, "X"), 7, 1e-9); /* 1 + 3*2 */
    KoineResult *r = koine_result(p);
    assert_string_equal(koine_result_name(r, 0), "time");
    assert_int_equal(koine_result_rows(r), 501);
    assert_float_equal(last(r, "X"), 7, 1e-9);
    assert_float_equal(last(r, "K"), 3, 0);
    koine_close(p);
    assert_float_equal(last(r, "time"), 2, 0); /* it outlives the project */
    koine_result_free(r);
}

/* Functions of C are executed only where the program says so: erf(0.5) of libm. */
static void functions_of_c_need_the_switch(void **state)
{
    (void)state;
    static const char text[] = "koine-ir 1\nmodel M\nfunction f external \"erf\"\n  input x Real\n  output y Real\n"
                               "end f\nvar y Real continuous now\neq e1 y := f(0.5*time)\nend M\n";
    KoineDiagnostic d;
    KoineOpening how = { .text = text, .size = sizeof text - 1, .tier = "interp" };
    KoineProject *p = koine_open("M.ir", &how);
    assert_false(koine_is_ready(p));
    assert_true(koine_diagnostic(p, 0, &d));
    assert_int_equal(d.code, 4070);
    koine_close(p);
    how.allow_external = true;
    p = koine_open("M.ir", &how);
    koine_give(p, "stop", "1");
    assert_int_equal(koine_run(p), KOINE_END_DONE);
    assert_float_equal(number(p, "y"), erf(0.5), 0);
    koine_close(p);
}

static void diagnostics_are_data(void **state)
{
    (void)state;
    const char *text = "BASIC COMPONENT Bad\n"
                       "DECLARATION OF ELEMENTS\n  STATE VARIABLES DISCRETE X (REAL) := 1\n"
                       "DYNAMIC BEHAVIOUR\n  X^ := 1 + ;\nEND OF Bad\n";
    KoineProject *p = koine_open("Bad.mdl", &(KoineOpening){ .text = text, .size = strlen(text) });
    KoineDiagnostic d;
    assert_false(koine_is_ready(p));
    assert_true(koine_diagnostic(p, 0, &d));
    assert_int_equal(d.level, KOINE_LEVEL_ERROR);
    assert_true(d.code >= 1000);
    assert_string_equal(d.file, "Bad.mdl");
    assert_int_equal(d.line, 5);
    assert_true(d.column > 1 && d.message[0]);
    assert_non_null(strstr(koine_report(p, KOINE_REPORT_DIAGNOSTICS), "\"line\""));
    assert_int_equal(koine_run(p), KOINE_END_OPTIONS);
    koine_close(p);
    p = koine_open("/nowhere/None.mdl", NULL);
    assert_false(koine_is_ready(p));
    assert_true(koine_message(p)[0]);
    koine_close(p);
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    KoineProject *p = open_rise();
    KoineDiagnostic d;
    assert_false(koine_set(p, "Q", "1"));
    assert_true(koine_diagnostic(p, 0, &d));
    assert_non_null(strstr(d.message, "Q"));
    assert_int_equal(koine_run(p), KOINE_END_OPTIONS); /* no stop */
    assert_non_null(strstr(koine_message(p), "stop"));
    koine_give(p, "stop", "1");
    koine_give(p, "solver", "nonsense");
    assert_false(koine_begin(p));
    koine_give(p, "solver", NULL);
    assert_int_equal(koine_run(p), KOINE_END_DONE);
    assert_string_equal(koine_message(p), "");
    koine_close(p);
}

static void steps_give_what_one_call_gives(void **state)
{
    (void)state;
    KoineProject *p = koine_open(BALL, NULL);
    koine_give(p, "stop", "2");
    assert_int_equal(koine_run(p), KOINE_END_DONE);
    KoineResult *once = koine_result(p);
    assert_true(koine_begin(p));
    assert_float_equal(number(p, "Y"), 1, 0);
    for (double t = 0; koine_step(p, t); t += 0.037)
        assert_float_equal(koine_reached(p), t, 1e-15);
    assert_int_equal(koine_end(p), KOINE_END_DONE);
    KoineResult *steps = koine_result(p);
    assert_int_equal(koine_result_rows(once), koine_result_rows(steps));
    for (uint32_t k = 0; koine_result_name(once, k); k++)
        assert_memory_equal(koine_result_values(once, k), koine_result_values(steps, k),
                            koine_result_rows(once) * sizeof(double));
    assert_int_equal(koine_compare(once, steps, 0, 0, NULL, 0), 0);
    koine_result_free(once);
    koine_result_free(steps);
    assert_non_null(strstr(koine_report(p, KOINE_REPORT_STATISTICS), "\"steps\""));
    assert_non_null(strstr(koine_report(p, KOINE_REPORT_STRUCTURE), "states"));
    assert_non_null(koine_report(p, KOINE_REPORT_COMPONENTS));
    koine_close(p);
}

static void a_value_is_set_while_it_runs(void **state)
{
    (void)state;
    KoineProject *p = open_rise();
    koine_give(p, "stop", "2");
    assert_true(koine_begin(p));
    assert_true(koine_step(p, 1.003));
    assert_false(koine_set(p, "Q", "1"));
    assert_true(koine_set(p, "K", "-1"));
    assert_float_equal(number(p, "X"), 3.006, 1e-9);
    assert_true(koine_step(p, 1.5));
    assert_float_equal(number(p, "X"), 3.006 - 0.497, 1e-9);
    assert_true(koine_set(p, "X", "10"));
    assert_false(koine_step(p, 2));
    assert_int_equal(koine_end(p), KOINE_END_DONE);
    assert_float_equal(number(p, "X"), 9.5, 1e-9);
    KoineResult *r = koine_result(p);
    assert_float_equal(last(r, "X"), 9.5, 1e-9);
    assert_float_equal(last(r, "time"), 2, 0);
    for (uint64_t k = 1; k < koine_result_rows(r); k++)
        assert_true(koine_result_values(r, 0)[k] >= koine_result_values(r, 0)[k - 1]);
    koine_result_free(r);
    assert_int_equal(koine_run(p), KOINE_END_DONE); /* the next run has the value of the model */
    assert_float_equal(number(p, "X"), 5, 1e-9);
    koine_close(p);
}

static void on_progress(void *context, double time)
{
    KoineProject *p = context;
    if (time > 0)
        koine_interrupt(p);
}

static void an_interrupted_run_keeps_its_results(void **state)
{
    (void)state;
    KoineProject *p = koine_open(BALL, NULL);
    koine_give(p, "stop", "1e6");
    koine_listen(p, &(KoineListener){ .context = p, .progress = on_progress });
    assert_int_equal(koine_run(p), KOINE_END_INTERRUPTED);
    KoineResult *r = koine_result(p);
    assert_true(koine_result_rows(r) > 1);
    assert_float_equal(last(r, "time"), koine_reached(p), 0);
    assert_true(koine_reached(p) < 1e6);
    koine_result_free(r);
    koine_close(p);
}

static void files_are_written_read_and_compared(void **state)
{
    (void)state;
    const char *why = NULL;
    KoineProject *p = open_rise();
    KoineDeviation worst[2];
    koine_give(p, "stop", "2");
    koine_give(p, "output", "test_api.csv");
    assert_int_equal(koine_run(p), KOINE_END_DONE);
    KoineResult *file = koine_result_open("test_api.csv", &why), *memory = koine_result(p);
    assert_null(why);
    assert_int_equal(koine_compare(memory, file, 0, 0, worst, 2), 0);
    assert_true(koine_set(p, "K", "2.1"));
    assert_int_equal(koine_run(p), KOINE_END_DONE);
    KoineResult *other = koine_result(p);
    assert_int_equal(koine_compare(memory, other, -1, -1, worst, 2), 2); /* K and X */
    assert_float_equal(worst[0].deviation, 0.1, 1e-6);
    assert_string_equal(worst[0].name, "K");
    koine_result_free(file);
    koine_result_free(memory);
    koine_result_free(other);
    unlink("test_api.csv");
    file = koine_result_open("test_api.csv", &why);
    assert_non_null(why);
    assert_null(koine_result_name(file, 0));
    koine_result_free(file);
    koine_close(p);
}

static void an_experiment_is_opened(void **state)
{
    (void)state;
    KoineProject *p = koine_open(KOINE_SOURCE_DIR "/examples/bouncing-ball/Ball.exp.yaml", NULL);
    assert_true(koine_is_ready(p));
    koine_give(p, "stop", "0.5");
    assert_int_equal(koine_run(p), KOINE_END_DONE);
    KoineResult *r = koine_result(p);
    assert_true(koine_result_rows(r) >= 51); /* interval: 0.01 */
    koine_result_free(r);
    koine_close(p);
}

/* ---- Strings ---- */
static void strings_are_set_and_read(void **state)
{
    (void)state;
    KoineProject *p = koine_open(KOINE_SOURCE_DIR "/tests/sim/strings/texts.ir", &(KoineOpening){ .tier = "interp" });
    assert_true(koine_is_ready(p));
    assert_string_equal(koine_get_text(p, "name", 0), "pump");
    assert_null(koine_get_text(p, "title", 0)); /* computed */
    assert_null(koine_get_text(p, "x", 0));
    assert_null(koine_get_text(p, "name", 1));
    assert_null(koine_get_text(p, "nothing", 0));
    koine_give(p, "stop", "1");
    assert_true(koine_set(p, "name", "tap"));
    assert_true(koine_begin(p));
    assert_true(koine_step(p, 0.25));
    assert_string_equal(koine_get_text(p, "label", 0), "tap [m/s]: off 000 idle");
    koine_step(p, 1);
    assert_int_equal(koine_end(p), KOINE_END_DONE);
    assert_string_equal(koine_get_text(p, "label", 0), "tap [m/s]: on 001 at  0.500|idle  |");
    assert_string_equal(koine_get_text(p, "state", 0), "at  0.500|idle  |");
    assert_true(isnan(number(p, "label")));
    koine_close(p);
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

static void *run_alone(void *argument)
{
    double *end = argument;
    KoineProject *p = koine_open(BALL, &(KoineOpening){ .tier = "interp" });
    koine_give(p, "stop", "3");
    if (koine_run(p) != KOINE_END_DONE || koine_get(p, "Y", end, 1) != 1)
        *end = NAN;
    koine_close(p);
    return NULL;
}

static void projects_run_in_threads(void **state)
{
    (void)state;
    enum { N = 4 };
    pthread_t threads[N];
    double ends[N];
    for (int k = 0; k < N; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, run_alone, &ends[k]), 0);
    for (int k = 0; k < N; k++)
        pthread_join(threads[k], NULL);
    for (int k = 0; k < N; k++)
        assert_float_equal(ends[k], ends[0], 0);
}

/* T*der(x) = u - x from 0 with u = 1, and 3 from 0.7 on; back to 0.9, and on again with the same bits. */
static void test_a_run_is_steered_saved_and_linearised(void **state)
{
    (void)state;
    const KoineOpening opening = { .tier = "interp", .derivatives = "T" };
    KoineProject *p = koine_open(KOINE_SOURCE_DIR "/tests/sim/changes/plant.ir", &opening);
    double x, again, n;
    size_t size = 0;
    assert_true(koine_is_ready(p));
    koine_give(p, "stop", "4");
    koine_give(p, "tolerance", "1e-9");
    koine_give(p, "solver", "dopri5");
    assert_null(koine_save(p, &size));
    assert_non_null(strstr(koine_message(p), "no run is open"));
    assert_true(koine_begin(p));
    assert_true(koine_step(p, 0.7));
    assert_true(koine_set(p, "u", "3"));
    assert_true(koine_step(p, 0.9));
    const void *bytes = koine_save(p, &size);
    assert_non_null(bytes);
    unsigned char *kept = malloc(size);
    memcpy(kept, bytes, size);
    KoineResult *result = koine_result(p);
    const uint64_t rows = koine_result_rows(result);
    koine_result_free(result);
    assert_true(koine_step(p, 3));
    koine_get(p, "x", &x, 1);
    const double at07 = 1 - exp(-0.35), exact = 3 + (at07 - 3) * exp(-1.15);
    assert_true(fabs(x - exact) < 1e-8);
    assert_true(koine_restore(p, kept, size));
    assert_true(fabs(koine_reached(p) - 0.9) < 1e-15);
    result = koine_result(p);
    assert_int_equal(koine_result_rows(result), rows);
    koine_result_free(result);
    assert_true(koine_enter(p, "t3"));
    koine_get(p, "n", &n, 1);
    assert_true(n == 100);
    assert_false(koine_enter(p, "nothing"));
    assert_true(koine_restore(p, kept, size));
    assert_true(koine_step(p, 3));
    koine_get(p, "x", &again, 1);
    assert_memory_equal(&x, &again, sizeof x);
    const char *text = koine_linearize_report(p, "u,T", "y");
    assert_non_null(text);
    assert_non_null(strstr(text, "\"A\": [[-0.5]]"));
    assert_non_null(strstr(text, "\"C\": [[1]]"));
    assert_null(koine_linearize_report(p, "q", NULL));
    assert_non_null(strstr(koine_message(p), "no Real input or parameter"));
    kept[size / 2] ^= 1;
    assert_false(koine_restore(p, kept, size));
    assert_non_null(strstr(koine_message(p), "checksum"));
    free(kept);
    koine_end(p);
    koine_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_opened_set_and_run),
        cmocka_unit_test(functions_of_c_need_the_switch),
        cmocka_unit_test(diagnostics_are_data),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(steps_give_what_one_call_gives),
        cmocka_unit_test(a_value_is_set_while_it_runs),
        cmocka_unit_test(an_interrupted_run_keeps_its_results),
        cmocka_unit_test(files_are_written_read_and_compared),
        cmocka_unit_test(an_experiment_is_opened),
        cmocka_unit_test(strings_are_set_and_read),
        cmocka_unit_test(projects_run_in_threads),
        cmocka_unit_test(test_a_run_is_steered_saved_and_linearised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
