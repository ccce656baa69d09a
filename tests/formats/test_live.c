/* The preview of a run: all of it at any time, coarser when there is much, in a file of fixed size. */
#include "formats/live.h"
#include "fake_model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static FakeModel fake;
static char path[64];
static Arena *arena;

static int set_up(void **state)
{
    (void)state;
    fake_create(&fake);
    arena = arena_create(NULL);
    snprintf(path, sizeof path, "/tmp/koine-live-%ld.live", (long)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    unlink(path);
    return 0;
}

static void put(KoineSink *sink, int k)
{
    fake.slots[SLOT_X].r = 2.0 * k;
    assert_int_equal(sink->point(sink, &fake.model, &(KoinePoint){ .time = k, .kind = KOINE_POINT_GRID }), KOINE_OK);
}

static uint32_t column_named(const LiveFile *file, const char *name)
{
    for (uint32_t k = 0; k < live_columns(file); k++)
        if (strcmp(live_column(file, k).name, name) == 0)
            return k;
    fail_msg("no column '%s'", name);
    return 0;
}

static void points_are_there_at_once(void **state)
{
    (void)state;
    KoineSink *const sink = live_sink(path, NULL, 0, arena);
    const char *error;
    assert_int_equal(sink->begin(sink, &fake.model), KOINE_OK);
    LiveFile *const file = live_open(path, arena, &error);
    assert_non_null(file);
    assert_int_equal(live_refresh(file), 0);
    for (int k = 0; k < 10; k++)
        put(sink, k);
    assert_int_equal(live_refresh(file), 10);
    double times[10], xs[10], minus[10];
    live_read(file, 0, 0, 10, times);
    const uint32_t x = column_named(file, "x");
    live_read(file, x, 0, 10, xs);
    live_read(file, column_named(file, "minus_x"), 0, 10, minus);
    for (int k = 0; k < 10; k++)
        assert_true(times[k] == k && xs[k] == 2.0 * k && minus[k] == -2.0 * k);
    assert_string_equal(live_column(file, x).unit, "m");
    assert_string_equal(live_column(file, x).comment, "position");
    assert_true(live_column(file, column_named(file, "n")).is_discrete);
    assert_int_equal(sink->end(sink, &fake.model), KOINE_OK);
    assert_int_equal(live_refresh(file), 10); /* what was written stays */
    live_close(file);
}

static void a_long_run_is_there_from_begin_to_end(void **state)
{
    (void)state;
    enum { POINTS = 1000000 };
    const char *const globs[] = { "x" };
    KoineSink *const sink = live_sink(path, globs, 1, arena);
    const char *error;
    assert_int_equal(sink->begin(sink, &fake.model), KOINE_OK);
    struct stat before, after;
    stat(path, &before);
    for (int k = 0; k < POINTS; k++)
        put(sink, k);
    stat(path, &after);
    assert_true(before.st_size == after.st_size && after.st_size <= 17 << 20);
    LiveFile *const file = live_open(path, arena, &error);
    const uint64_t n = live_refresh(file);
    assert_true(n > 10000 && n < POINTS);
    double *const times = malloc(n * sizeof *times), *const xs = malloc(n * sizeof *xs);
    live_read(file, 0, 0, n, times);
    live_read(file, 1, 0, n, xs);
    for (uint64_t k = 0; k < n; k++) {
        assert_true(xs[k] == 2 * times[k]);
        assert_true(k == 0 ? times[k] == 0 : times[k] - times[k - 1] == times[1] - times[0]);
    }
    assert_true(times[n - 1] > 0.99 * POINTS);
    free(times);
    free(xs);
    live_close(file);
    sink->end(sink, &fake.model);
}

static void what_is_no_preview_is_refused(void **state)
{
    (void)state;
    const char *error = NULL;
    assert_null(live_open("/nowhere/x.live", arena, &error));
    assert_non_null(strstr(error, "cannot read '/nowhere/x.live'"));
    static const size_t sizes[] = { 0, 7, 56, 100, 5000 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        FILE *const to = fopen(path, "w");
        for (size_t n = 0; n < sizes[k]; n++)
            fputc("konlive1"[n % 8], to);
        fclose(to);
        error = NULL;
        assert_null(live_open(path, arena, &error));
        assert_non_null(strstr(error, "is no preview"));
    }
    /* a folder that is not there ends no run */
    KoineSink *const sink = live_sink("/nowhere/x.live", NULL, 0, arena);
    assert_int_equal(sink->begin(sink, &fake.model), KOINE_OK);
    put(sink, 1);
    assert_int_equal(sink->end(sink, &fake.model), KOINE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(points_are_there_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_run_is_there_from_begin_to_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_preview_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
