/* External objects: made once where a run begins, ended once whatever becomes of it. */
#include "run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/external/"

static const ExternalPermission ALL = { .allows_all = true };
static char notes[64]; /* the file in which table.c writes what it does */

static int begin_notes(void **state)
{
    (void)state;
    snprintf(notes, sizeof notes, "/tmp/koine-tables-XXXXXX");
    const int file = mkstemp(notes);
    assert_true(file >= 0);
    close(file);
    return setenv("KOINE_TEST_TABLES", notes, 1);
}

static int end_notes(void **state)
{
    (void)state;
    return unlink(notes);
}

/* What was written since the last look. */
static void expect_notes(const char *expected)
{
    char text[2000];
    FILE *file = fopen(notes, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, expected);
    assert_int_equal(truncate(notes, 0), 0);
}

/* Table a has the points 2 k, b and c 3 k: y = 2 t + 2 (t + 1), z = 3 t + 6 t, x' = 3 x; a has one point more than b.
 */
static void check_values(const RunResult *r)
{
    expect_near(run_at(r, "y", 0.5), 4, 1e-12);
    expect_near(run_at(r, "z", 0.5), 4.5, 1e-12);
    expect_near(run_at(r, "x", 0.5), 4.4816890703380645, 1e-6); /* exp(1.5) */
    expect_near(run_last(r, "n"), 9, 0);
    expect_notes("made second\nmade second\nmade first\nended first\nended second\nended second\n");
}

static void test_they_are_made_in_order_and_ended_backwards(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "table.ir", .stop = 1, .interval = 0.25, .external = ALL },
                     check_values);
}

static void test_an_implicit_method_takes_differences(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODELS "table.ir", .stop = 1, .interval = 0.25, .solver = "cvode-bdf", .external = ALL },
        check_values);
}

static void check_pause(const RunResult *r)
{
    expect_near(run_last(r, "y"), 6, 1e-12);
    expect_notes("made second\nmade second\nmade first\nended first\nended second\nended second\n");
}

static void test_a_run_that_goes_on_keeps_them(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = MODELS "table.ir", .stop = 1, .interval = 0.25, .pause = 0.5, .external = ALL },
        check_pause);
}

static void expect_failed(const char *file, const char *words, const char *expected)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    for (size_t k = 0; k < 3; k++) {
        RunResult *r =
            run_model(&(RunRequest){ .path = file, .tier = tiers[k], .stop = 1, .interval = 0.25, .external = ALL });
        if (!r->is_compiled)
            fail_msg("%s", r->messages);
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        if (!strstr(r->report.text, words))
            fail_msg("%s, %s: '%s' is not in: %s", file, tiers[k], words, r->report.text);
        run_free(r);
        expect_notes(expected);
    }
}

static void test_a_start_that_fails_ends_those_that_were_made(void **state)
{
    (void)state;
    expect_failed(MODELS "table_refused.ir", "there is no table of this name (table_open of C)",
                  "made first\nended first\n");
    expect_failed(MODELS "table_nothing.ir", "what makes it gives NULL (table_open of C)", "made first\nended first\n");
}

/* One of them does not want to end, which nobody hears any more. */
static void test_a_run_that_fails_ends_them(void **state)
{
    (void)state;
    expect_failed(MODELS "table_fault.ir", "too much", "made first\nmade bad end\nended bad end\nended first\n");
}

/* The texts find no room, so the start is tried again: s10 has 70*2^10 characters, the slope of b. */
static void check_texts(const RunResult *r)
{
    expect_near(run_at(r, "y", 0.5), 35841, 1e-9);
    expect_notes("made early\nmade 012\nended 012\nended early\n");
}

static void test_a_start_that_is_tried_again_makes_them_once(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "table_texts.ir", .stop = 1, .interval = 0.5, .external = ALL },
                     check_texts);
}

/* fopen and fclose of the system, without a compiler. */
static void check_file(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "y"), 0, 0);
}

static void test_libraries_make_them(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "file.ir", .stop = 1, .interval = 0.5, .external = ALL }, check_file);
}

/* ---- more than one run ---- */
typedef struct {
    Compilation *c;
    const KoineModelKind *kind;
} Loaded;

static Loaded load(const char *path, const char *tier)
{
    const char *why = "it cannot be compiled";
    Loaded loaded = { .c = compilation_create(NULL) };
    const CompileRequest request = { .path = path, .external = ALL, .task_span = SPAN_NONE };
    if (compilation_load(loaded.c, &request) && compilation_schedule(loaded.c))
        loaded.kind = compilation_kind(loaded.c, tier, &why);
    if (!loaded.kind)
        fail_msg("%s", why);
    return loaded;
}

static void test_each_start_of_each_instance_has_its_own(void **state)
{
    (void)state;
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    for (size_t k = 0; k < 3; k++) {
        const Loaded loaded = load(MODELS "table_fault.ir", tiers[k]);
        KoineModel *one, *two;
        assert_int_equal(loaded.kind->create(loaded.kind, NULL, &one), KOINE_OK);
        assert_int_equal(loaded.kind->create(loaded.kind, NULL, &two), KOINE_OK);
        expect_notes("");
        assert_int_equal(loaded.kind->initialise(one, 0), KOINE_OK);
        assert_int_equal(loaded.kind->initialise(two, 0), KOINE_OK);
        expect_notes("made first\nmade bad end\nmade first\nmade bad end\n");
        assert_int_equal(loaded.kind->initialise(one, 0), KOINE_OK);
        expect_notes("ended bad end\nended first\nmade first\nmade bad end\n");
        loaded.kind->destroy(two);
        expect_notes("ended bad end\nended first\n");
        expect_near(value_of(one, "y"), 0, 0);
        loaded.kind->destroy(one);
        expect_notes("ended bad end\nended first\n");
        compilation_destroy(loaded.c);
    }
}

static void test_a_run_with_them_cannot_be_saved(void **state)
{
    (void)state;
    const Loaded loaded = load(MODELS "table.ir", "interp");
    KoineModel *model;
    KoineRunReport report;
    KoineReason why = { 0 };
    const KoineRunOptions options = { .stop = 1, .interval = 0.25, .tolerance = 1e-6 };
    assert_int_equal(loaded.kind->create(loaded.kind, NULL, &model), KOINE_OK);
    KoineRun *run = koine_run_open(model, &options, &report);
    assert_non_null(run);
    assert_true(koine_run_advance(run, 0.5));
    assert_null(koine_run_save(run, NULL, &why));
    assert_non_null(strstr(why.text, "keeps something that cannot be copied"));
    koine_run_close(run);
    loaded.kind->destroy(model);
    compilation_destroy(loaded.c);
    expect_notes("made second\nmade second\nmade first\nended first\nended second\nended second\n");
}

static void test_a_run_that_is_interrupted_ends_them(void **state)
{
    (void)state;
    const Loaded loaded = load(MODELS "table.ir", "interp");
    volatile int interrupt = 0;
    KoineModel *model;
    KoineRunReport report;
    const KoineRunOptions options = {
        .stop = 1, .interval = 0.25, .tolerance = 1e-6, .listener = { .interrupt = &interrupt }
    };
    assert_int_equal(loaded.kind->create(loaded.kind, NULL, &model), KOINE_OK);
    KoineRun *run = koine_run_open(model, &options, &report);
    assert_true(run && koine_run_advance(run, 0.5));
    interrupt = 1;
    assert_false(koine_run_advance(run, 1));
    koine_run_close(run);
    assert_int_equal(report.end, KOINE_RUN_INTERRUPTED);
    loaded.kind->destroy(model);
    compilation_destroy(loaded.c);
    expect_notes("made second\nmade second\nmade first\nended first\nended second\nended second\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_are_made_in_order_and_ended_backwards),
        cmocka_unit_test(test_an_implicit_method_takes_differences),
        cmocka_unit_test(test_a_run_that_goes_on_keeps_them),
        cmocka_unit_test(test_a_start_that_fails_ends_those_that_were_made),
        cmocka_unit_test(test_a_run_that_fails_ends_them),
        cmocka_unit_test(test_a_start_that_is_tried_again_makes_them_once),
        cmocka_unit_test(test_libraries_make_them),
        cmocka_unit_test(test_each_start_of_each_instance_has_its_own),
        cmocka_unit_test(test_a_run_with_them_cannot_be_saved),
        cmocka_unit_test(test_a_run_that_is_interrupted_ends_them),
    };
    return cmocka_run_group_tests(tests, begin_notes, end_notes);
}
