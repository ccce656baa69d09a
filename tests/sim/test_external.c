/* Functions of C: what they give in all tiers, who may execute them, and what becomes of those that do wrong. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/external/"

static const ExternalPermission ALL = { .allows_all = true };

/* ---- what they give ---- */
/* v' = -k v^2: v = v0/(1 + k v0 t); the second one is erf of libm. */
static void check_drag(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double v = r->rows[k].values[run_column(r, "v")];
        expect_near(v, 2 / (1 + 0.6 * r->rows[k].time), 1e-7);
        expect_near(r->rows[k].values[run_column(r, "e")], erf(v), 0);
    }
}

static void test_a_c_file_and_libm(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "drag.ir", .stop = 1, .interval = 0.1, .external = ALL }, check_drag);
}

/* An implicit method needs derivatives: there are none, so it takes differences. */
static void test_a_jacobian_takes_differences(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODELS "drag.ir", .stop = 1, .interval = 0.1, .solver = "cvode-bdf", .external = ALL },
        check_drag);
}

/* x = start*exp(t/2); the sum is 2 x1 + 3 x2 + 2 x3 = 14 exp(t/2). */
static void check_arrays(const RunResult *r)
{
    expect_done(r);
    const double sum = 14 * exp(0.5);
    expect_near(run_last(r, "y"), sum, 1e-6);
    expect_near(run_last(r, "z"), sum + 11, 1e-6); /* the fifth element of a 2 by 3 matrix, row after row */
    expect_near(run_last(r, "c"), 3, 0);
    expect_near(run_last(r, "b"), 1, 0); /* what is not 0 is true */
    expect_near(run_last(r, "mo"), 2, 0);
}

static void test_arrays_sizes_and_outputs_by_address(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "arrays.ir", .stop = 1, .interval = 0.1, .external = ALL },
                     check_arrays);
}

/* x = x0 exp(-t), s = t; the sizes are those of the arguments, or numbers. */
static void check_sizes(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time, *at = r->rows[k].values;
        expect_near(at[run_column(r, "y[1]")], 14 * exp(-t), 1e-6);
        expect_near(at[run_column(r, "y[2]")], 32 * exp(-t), 1e-6);
        expect_near(at[run_column(r, "z[1]")], 2 * t, 1e-6);
        expect_near(at[run_column(r, "z[2]")], 0, 0);
        expect_near(at[run_column(r, "z[3]")], t, 1e-6);
        expect_near(at[run_column(r, "p[1]")], 1 + t * t, 1e-6);
        expect_near(at[run_column(r, "p[4]")], 1 + 16 * t * t, 1e-6);
        expect_near(at[run_column(r, "q[2]")], 2 + 6 * t, 1e-6);
        expect_near(at[run_column(r, "n")], 6, 0);
        expect_near(at[run_column(r, "m")], 3, 0);
    }
}

static void test_open_sizes_are_those_of_arguments(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "sizes.ir", .stop = 1, .interval = 0.1, .external = ALL },
                     check_sizes);
}

/* Ticks at 0.5 and 1.5; x = t + 2t + 3, y = t + 8, z = (1 + 3) + 10*3. */
static void check_kinds(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "x"), 9, 1e-12);
    expect_near(run_last(r, "y"), 10, 1e-12);
    expect_near(run_last(r, "z"), 34, 0);
    expect_near(run_last(r, "m"), 6, 0);
    expect_near(run_last(r, "k[1]"), 3, 0);
    expect_near(run_last(r, "k[3]"), 3, 0);
}

static void test_open_sizes_of_all_kinds(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "sizes_kinds.ir", .stop = 2, .interval = 1, .external = ALL },
                     check_kinds);
}

static void check_text(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "y"), 4, 0);
    expect_near(run_last(r, "z"), 1, 0);
}

static void test_a_text_with_static_functions_and_macros(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "text.ir", .stop = 2, .external = ALL }, check_text);
}

static void check_texts(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "a"), 3, 0);
    expect_near(run_last(r, "b"), 6, 0);
    expect_near(run_last(r, "c"), 30, 0);
    expect_near(run_last(r, "d"), 0, 0);
    expect_near(run_at(r, "e", 0.25), 1, 0);
    expect_near(run_at(r, "e", 0.75), 3, 0);
}

static void test_texts_are_arguments(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "texts.ir", .stop = 1, .interval = 0.25, .external = ALL },
                     check_texts);
}

/* From t = 0.5 on a is one; p is the text of 2, twice. */
static void check_given(const RunResult *r)
{
    expect_done(r);
    assert_string_equal(run_text_at(r, "p", 0), "zwei: \xc3\xa4zwei: \xc3\xa4");
    assert_string_equal(run_text_at(r, "b", 0.25), "zwei: \xc3\xa4zwei: \xc3\xa4zwei: \xc3\xa4zwei: \xc3\xa4");
    assert_string_equal(run_text_at(r, "b", 1), "oneonezwei: \xc3\xa4zwei: \xc3\xa4");
    assert_string_equal(run_text_at(r, "c", 1), "oneonezwei: \xc3\xa4zwei: \xc3\xa4");
    assert_string_equal(run_text_at(r, "f", 0), "two|words");
    assert_string_equal(run_text_at(r, "r", 1), "onemiddle");
    expect_near(run_at(r, "n", 0), 5, 0);
    expect_near(run_at(r, "k", 0), 1, 0);
    expect_near(run_at(r, "k", 1), 0, 0);
    assert_string_equal(run_text_at(r, "l", 0), "");
    assert_string_equal(run_text_at(r, "l", 0.25), "line 2");
    assert_string_equal(run_text_at(r, "l", 1), "line 4");
    const char *m = run_text_at(r, "m", 1);
    assert_int_equal(strlen(m), 128 * strlen("line 3-"));
    assert_memory_equal(m, "line 3-line 3-", 14);
}

static void test_texts_are_given(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "given.ir", .stop = 1, .interval = 0.25, .external = ALL },
                     check_given);
}

/* ---- functions that are not pure ---- */
/* The C function counts its calls. At 0.5: a = 1, b = 2, then the third and fourth by `twice`: 10*3 + 4. At 1.5: 5, 6,
 * one by `both` as b > 5: 100*7 + 6, then 8 and 9. At 2.5: 10, 11, 1200 + 11, 13 and 14. */
static void check_impure(const RunResult *r)
{
    expect_done(r);
    static const double at[] = { 1, 2, 3 }, a[] = { 1, 5, 10 }, b[] = { 2, 6, 11 }, n[] = { 3, 14, 35 },
                        m[] = { 34, 89, 144 }, q[] = { 0, 706, 1211 };
    for (size_t k = 0; k < 3; k++) {
        expect_near(run_at(r, "a", at[k]), a[k], 0);
        expect_near(run_at(r, "b", at[k]), b[k], 0);
        expect_near(run_at(r, "n", at[k]), n[k], 0);
        expect_near(run_at(r, "m", at[k]), m[k], 0);
        expect_near(run_at(r, "r", at[k]), m[k] / 2, 0);
        expect_near(run_at(r, "q", at[k]), q[k], 0);
    }
}

static void test_impure_calls_are_executed_once_a_firing_in_order(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "impure.ir", .stop = 3, .interval = 0.25, .external = ALL },
                     check_impure);
}

/* At 0.5 a = 1, 2 is sent, b = 3, the loop sends 4 and 5; at 0.75 6 is sent and 7 is told. At 1.5 a = 8, 9 is sent, b =
 * 10, then 11, as b > 5, 12 and 13; at 1.75 14 and 15; at 2.5 16 to 21, at 2.75 22 and 23. The last three are kept. */
static void check_sent(const RunResult *r)
{
    static const double at[] = { 1, 2, 3 }, a[] = { 1, 8, 16 }, b[] = { 3, 10, 18 }, n[] = { 4, 22, 56 },
                        order[] = { 20405, 111213, 192021 }, sent[] = { 6, 614, 61422 };
    expect_done(r);
    for (size_t k = 0; k < 3; k++) {
        expect_near(run_at(r, "a", at[k]), a[k], 0);
        expect_near(run_at(r, "b", at[k]), b[k], 0);
        expect_near(run_at(r, "n", at[k]), n[k], 0);
        expect_near(run_at(r, "order", at[k]), order[k], 0);
        expect_near(run_at(r, "s2", at[k]), sent[k], 0);
    }
}

static void test_impure_calls_are_sent_and_told_once_a_firing(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "impure_sent.ir", .stop = 3, .interval = 0.25, .external = ALL },
                     check_sent);
}

/* A task of two components with a value that goes from one to the other. y = sin(0.1 k) at t = 0.1 k, the charge is 1 +
 * sum of 0.1 y. Each instant is one commit, in which the source is called before the battery, each once. */
static void check_task(const RunResult *r)
{
    static const char *const names[] = { "y[1]", "u", "q[1]", "y[2]", "q[2]" };
    double now[] = { 0, 0, 1, 0, 0 };
    expect_done(r);
    uint32_t n = 0;
    for (uint32_t row = 0; row < r->n_rows; row++) {
        const RunRow *at = &r->rows[row];
        if (at->kind != KOINE_POINT_STEP || at->time < 0.05)
            continue;
        assert_int_equal(at->event_step, n % 2);
        expect_near(at->time, 0.1 * (1 + n / 2), 1e-15);
        if (n % 2) { /* it has been called between the two rows */
            now[0] = now[1] = sin(0.1 * (1 + n / 2));
            now[2] += 0.1 * now[0];
            now[3] = n;
            now[4] = n + 1;
        }
        for (uint32_t k = 0; k < 5; k++)
            expect_near(at->values[run_column(r, names[k])], now[k], 1e-15);
        n++;
    }
    assert_int_equal(n, 20);
}

static void test_a_task_of_components_takes_one_event_step(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){
            .path = MODELS "task.ir", .stop = 1.05, .interval = 0.5, .every_event_step = true, .external = ALL },
        check_task);
}

/* 14 characters doubled 14 times find no room in the block: the number before and the one behind are called for once.
 */
static void check_impure_texts(const RunResult *r)
{
    expect_done(r);
    for (int k = 1; k <= 3; k++) {
        expect_near(run_at(r, "a", k), 2 * k - 1, 0);
        expect_near(run_at(r, "b", k), 2 * k, 0);
        expect_near(run_at(r, "n", k), 14 << 14, 0);
    }
}

static void test_texts_without_room_call_nothing_twice(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "impure_texts.ir", .stop = 3, .interval = 0.5, .external = ALL },
                     check_impure_texts);
}

/* ---- who may execute them ---- */
static RunResult *run_with(const char *file, ExternalPermission permission)
{
    return run_model(&(RunRequest){ .path = file, .stop = 1, .external = permission });
}

static void expect_refused(const char *file, ExternalPermission permission, const char *words)
{
    RunResult *r = run_with(file, permission);
    assert_false(r->is_compiled);
    if (!strstr(r->messages, words))
        fail_msg("'%s' is not in: %s", words, r->messages);
    run_free(r);
}

static void expect_allowed(const char *file, ExternalPermission permission)
{
    RunResult *r = run_with(file, permission);
    expect_done(r);
    run_free(r);
}

static void test_nothing_is_executed_without_permission(void **state)
{
    (void)state;
    expect_refused(MODELS "drag.ir", (ExternalPermission){ 0 },
                   "drag.ir:3:1: error KN4070: function drag would execute c_drag of C from " MODELS "drag.c");
    expect_refused(MODELS "drag.ir", (ExternalPermission){ 0 }, "would execute erf of C from the library m");
    expect_refused(MODELS "text.ir", (ExternalPermission){ 0 }, "from the C text in " MODELS "text.ir");
}

static void test_files_are_allowed_by_name(void **state)
{
    (void)state;
    const char *const both[] = { MODELS "../external/drag.c", "m", NULL }, *const one[] = { MODELS "drag.c", NULL };
    const char *const text[] = { MODELS "text.ir", NULL };
    expect_allowed(MODELS "drag.ir", (ExternalPermission){ .files = both });
    expect_refused(MODELS "drag.ir", (ExternalPermission){ .files = one }, "the library m");
    expect_allowed(MODELS "text.ir", (ExternalPermission){ .files = text });
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void test_trusted_folders_count_where_they_are_asked(void **state)
{
    (void)state;
    char folder[] = "/tmp/koine-trust-XXXXXX", path[256];
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CONFIG_HOME", folder, 1);
    snprintf(path, sizeof path, "%s/koine", folder);
    mkdir(path, 0700);
    expect_refused(MODELS "drag.ir", (ExternalPermission){ .counts_trust = true }, "KN4070");
    snprintf(path, sizeof path, "%s/koine/trusted", folder);
    write_file(path, KOINE_SOURCE_DIR "/tests\n");
    chmod(path, 0600);
    expect_allowed(MODELS "drag.ir", (ExternalPermission){ .counts_trust = true });
    expect_refused(MODELS "drag.ir", (ExternalPermission){ 0 }, "KN4070");
    chmod(path, 0666);
    expect_refused(MODELS "drag.ir", (ExternalPermission){ .counts_trust = true }, "does not count");
    unsetenv("XDG_CONFIG_HOME");
}

/* ---- what is missing, or called in another way ---- */
static void test_what_is_missing_is_said(void **state)
{
    (void)state;
    expect_refused(MODELS "no_file.ir", ALL, "the library 'absent.c' is not there");
    expect_refused(MODELS "no_library.ir", ALL, "koine_absent");
    expect_refused(MODELS "no_header.ir", ALL, "absent.h");
    expect_refused(MODELS "no_symbol.ir", ALL, "c_nowhere");
    expect_refused(MODELS "no_destructor.ir", ALL, "table_nowhere");
    expect_refused(MODELS "no_system_destructor.ir", ALL, "there is no 'fclose_nowhere' in its libraries");
    expect_refused(MODELS "no_system_symbol.ir", ALL, "there is no 'erff_nowhere' in its libraries");
}

static void test_what_is_called_in_another_way_is_refused(void **state)
{
    (void)state;
    expect_refused(MODELS "few_arguments.ir", ALL, "c_drag");
    expect_refused(MODELS "sizes_differ.ir", ALL, "argument 2 of multiply has the sizes [2], but its input x has [3]");
    expect_refused(MODELS "known_arguments.ir", ALL, "it has the type d(d)");
    expect_refused(MODELS "address_for_number.ir", ALL, "c_level");
    expect_refused(MODELS "double_for_int.ir", ALL, "the call of c_counts");
}

/* ---- what does wrong ---- */
static void expect_failed(const char *file, const char *words)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    for (size_t k = 0; k < 3; k++) {
        RunResult *r =
            run_model(&(RunRequest){ .path = file, .tier = tiers[k], .stop = 1, .interval = 0.1, .external = ALL });
        if (!r->is_compiled)
            fail_msg("%s", r->messages);
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        if (!strstr(r->report.text, words))
            fail_msg("%s, %s: '%s' is not in: %s", file, tiers[k], words, r->report.text);
        run_free(r);
    }
}

static void test_functions_that_fail_end_the_run(void **state)
{
    (void)state;
    expect_failed(MODELS "bad_refuses.ir", "the argument is above 1.5 (c_refuses of C)");
    expect_failed(MODELS "bad_nothing.ir", "no finite value (c_nothing of C)");
    expect_failed(MODELS "bad_level.ir", "no value of its enumeration (c_level of C)");
    expect_failed(MODELS "bad_counts.ir", "no int of C");
    expect_failed(MODELS "bad_texts.ir", "there is no character to be counted (c_count of C)");
    expect_failed(MODELS "bad_sensor.ir", "the sensor is dead (c_next of C)");
}

static int what; /* parameter k of bad_given.ir */

static void set_what(KoineModel *model)
{
    set_value(model, "k", what);
}

static void test_texts_that_are_none_end_the_run(void **state)
{
    (void)state;
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    static const char *const words[] = { "it gives NULL for a text (g_bad of C)",
                                         "it gives a text that is not UTF-8 (g_bad of C)",
                                         "it gives a text that is not UTF-8 (g_bad of C)",
                                         "it gives a text that is not UTF-8 (g_bad of C)",
                                         "it gives a text that is longer than 1048576 bytes (g_bad of C)",
                                         "it gives a text that is longer than 1048576 bytes (g_bad of C)",
                                         "it knows no text (g_bad of C)" };
    for (size_t k = 0; k < 3; k++)
        for (what = 0; what < 8; what++) {
            RunResult *r = run_model(&(RunRequest){
                .path = MODELS "bad_given.ir", .tier = tiers[k], .stop = 1, .external = ALL, .prepare = set_what });
            if (!r->is_compiled)
                fail_msg("%s", r->messages);
            if (what < 7 && !strstr(r->report.text, words[what]))
                fail_msg("%d, %s: '%s' is not in: %s", what, tiers[k], words[what], r->report.text);
            if (what == 7)
                assert_string_equal(run_text_at(r, "s", 1), "\xf0\x9f\x98\x80");
            run_free(r);
        }
}

static void test_functions_that_meddle_end_the_run(void **state)
{
    (void)state;
    expect_failed(MODELS "bad_rounds.ir", "another mode of arithmetic behind (rounding, exceptions) (c_rounds of C)");
    expect_failed(MODELS "bad_traps.ir", "another mode of arithmetic behind (rounding, exceptions) (c_traps of C)");
    expect_failed(MODELS "bad_speaks.ir", "it changes the locale of the process (c_speaks of C)");
    expect_failed(MODELS "bad_catches.ir", "it changes what the process does with signals (c_catches of C)");
}

/* A header that changes makes another object: the old one is not taken from the cache. */
static void test_a_header_that_changes_counts(void **state)
{
    (void)state;
    char folder[] = "/tmp/koine-header-XXXXXX", path[256], model[256];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/factor.c", folder);
    write_file(path, "#include \"factor.h\"\ndouble c_factor(double x) { return FACTOR*x; }\n");
    snprintf(model, sizeof model, "%s/model.ir", folder);
    write_file(model, "koine-ir 1\nmodel M\nfunction f external \"c_factor\" library \"factor.c\"\n  input x Real\n"
                      "  output y Real\nend f\nvar y Real continuous now\neq e1 y := f(time)\nend M\n");
    snprintf(path, sizeof path, "%s/factor.h", folder);
    for (int factor = 2; factor < 5; factor++) {
        char text[64];
        snprintf(text, sizeof text, "#define FACTOR %d\n", factor);
        write_file(path, text);
        RunResult *r = run_with(model, ALL);
        expect_done(r);
        expect_near(run_last(r, "y"), factor, 0);
        run_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_c_file_and_libm),
        cmocka_unit_test(test_a_jacobian_takes_differences),
        cmocka_unit_test(test_arrays_sizes_and_outputs_by_address),
        cmocka_unit_test(test_open_sizes_are_those_of_arguments),
        cmocka_unit_test(test_open_sizes_of_all_kinds),
        cmocka_unit_test(test_a_text_with_static_functions_and_macros),
        cmocka_unit_test(test_texts_are_arguments),
        cmocka_unit_test(test_texts_are_given),
        cmocka_unit_test(test_impure_calls_are_executed_once_a_firing_in_order),
        cmocka_unit_test(test_impure_calls_are_sent_and_told_once_a_firing),
        cmocka_unit_test(test_a_task_of_components_takes_one_event_step),
        cmocka_unit_test(test_texts_without_room_call_nothing_twice),
        cmocka_unit_test(test_nothing_is_executed_without_permission),
        cmocka_unit_test(test_files_are_allowed_by_name),
        cmocka_unit_test(test_trusted_folders_count_where_they_are_asked),
        cmocka_unit_test(test_what_is_missing_is_said),
        cmocka_unit_test(test_what_is_called_in_another_way_is_refused),
        cmocka_unit_test(test_functions_that_fail_end_the_run),
        cmocka_unit_test(test_texts_that_are_none_end_the_run),
        cmocka_unit_test(test_functions_that_meddle_end_the_run),
        cmocka_unit_test(test_a_header_that_changes_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
