/* The run catalogue: what is noted comes back; bad files and bad places are told. */
#include "experiment/catalogue.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    Arena *arena;
    char folder[64], path[128];
} Fixture;

static int set_up(void **state)
{
    Fixture *const f = calloc(1, sizeof *f);
    f->arena = arena_create(NULL);
    snprintf(f->folder, sizeof f->folder, "/tmp/koine-test-catalogue-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/.koine/runs.sqlite", f->folder);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *const f = *state;
    static const char *const ends[] = { "", "-wal", "-shm" };
    for (int k = 0; k < 3; k++)
        unlink(arena_format(f->arena, "%s%s", f->path, ends[k]));
    rmdir(arena_format(f->arena, "%s/.koine", f->folder));
    assert_int_equal(rmdir(f->folder), 0);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

static CatalogueRun some_run(const char *model, const char *result, const char *tags)
{
    return (CatalogueRun){ .created = "2026-01-31T12:00:00Z",
                           .koine = "0.1.0",
                           .model = model,
                           .file = "/a/b.mdl",
                           .experiment = "",
                           .hash = "00",
                           .settings = "{\"set\": {\"odd 'name'\": \"1;DROP TABLE runs\"}}",
                           .result = result,
                           .outcome = "done",
                           .message = "",
                           .stop = 1.5,
                           .time = 1.5,
                           .points = 7,
                           .run_seconds = 0.25,
                           .tags = tags };
}

static Catalogue *open_good(Fixture *f)
{
    Catalogue *catalogue;
    assert_int_equal(catalogue_open(f->path, true, f->arena, &catalogue), CATALOGUE_GOOD);
    return catalogue;
}

static uint32_t list(Fixture *f, Catalogue *c, CatalogueFilter filter, CatalogueRun **runs)
{
    uint32_t n;
    assert_int_equal(catalogue_list(c, &filter, f->arena, runs, &n), CATALOGUE_GOOD);
    return n;
}

static void test_runs_come_back(void **state)
{
    Fixture *const f = *state;
    Catalogue *c = open_good(f);
    CatalogueRun first = some_run("Ball", "/r/a.h5", "x,y"), second = some_run("Bar", "/r/b.h5", ""),
                 third = some_run("Ball", "/r/a.h5", "");
    assert_int_equal(catalogue_add(c, &first), CATALOGUE_GOOD);
    assert_int_equal(catalogue_add(c, &second), CATALOGUE_GOOD);
    assert_int_equal(catalogue_add(c, &third), CATALOGUE_GOOD);
    catalogue_close(c);
    c = open_good(f);
    CatalogueRun *runs;
    assert_int_equal(list(f, c, (CatalogueFilter){ 0 }, &runs), 3);
    assert_int_equal(runs[0].id, 3); /* the newest first */
    assert_string_equal(runs[2].settings, first.settings);
    assert_string_equal(runs[2].tags, "x,y");
    assert_true(runs[2].is_replaced); /* the third wrote the same file */
    assert_false(runs[0].is_replaced);
    assert_true(runs[1].stop == 1.5 && runs[1].points == 7 && runs[1].run_seconds == 0.25);
    assert_int_equal(list(f, c, (CatalogueFilter){ .model = "B*r" }, &runs), 1);
    assert_int_equal(list(f, c, (CatalogueFilter){ .tag = "y" }, &runs), 1);
    assert_int_equal(list(f, c, (CatalogueFilter){ .tag = "x,y" }, &runs), 1);
    assert_int_equal(list(f, c, (CatalogueFilter){ .most = 2 }, &runs), 2);
    assert_int_equal(catalogue_tag(c, 2, "good"), CATALOGUE_GOOD);
    assert_int_equal(catalogue_tag(c, 2, "good"), CATALOGUE_GOOD);
    assert_int_equal(list(f, c, (CatalogueFilter){ .id = 2 }, &runs), 1);
    assert_string_equal(runs[0].tags, "good");
    assert_int_equal(catalogue_forget(c, 2), CATALOGUE_GOOD);
    assert_int_equal(list(f, c, (CatalogueFilter){ .id = 2 }, &runs), 0);
    catalogue_close(c);
}

static void test_a_catalogue_is_not_made_by_looking(void **state)
{
    Fixture *const f = *state;
    Catalogue *c;
    assert_int_equal(catalogue_open(f->path, false, f->arena, &c), CATALOGUE_ABSENT);
    assert_null(c);
    assert_int_not_equal(access(f->path, F_OK), 0);
}

static void test_damaged_and_other_files_are_told(void **state)
{
    Fixture *const f = *state;
    Catalogue *c = open_good(f);
    CatalogueRun run = some_run("Ball", "", "");
    assert_int_equal(catalogue_add(c, &run), CATALOGUE_GOOD);
    catalogue_close(c);
    unlink(arena_format(f->arena, "%s-wal", f->path));
    unlink(arena_format(f->arena, "%s-shm", f->path));
    FILE *const file = fopen(f->path, "w");
    for (int k = 0; k < 1000; k++)
        fputs("this is not a database ", file);
    fclose(file);
    assert_int_equal(catalogue_open(f->path, true, f->arena, &c), CATALOGUE_DAMAGED);
    assert_int_equal(catalogue_open(f->path, false, f->arena, &c), CATALOGUE_DAMAGED);
    assert_int_equal(catalogue_open("/proc/nowhere/runs.sqlite", true, f->arena, &c), CATALOGUE_REFUSED);
}

typedef struct {
    const char *path;
    int failures;
} Writer;

enum { RUNS_EACH = 25, WRITERS = 4 };

static void *note_many(void *context)
{
    Writer *const w = context;
    for (int k = 0; k < RUNS_EACH; k++) {
        Arena *const arena = arena_create(NULL);
        Catalogue *c;
        CatalogueRun run = some_run("Ball", "", "");
        if (catalogue_open(w->path, true, arena, &c) != CATALOGUE_GOOD || catalogue_add(c, &run) != CATALOGUE_GOOD)
            w->failures++;
        catalogue_close(c);
        arena_destroy(arena);
    }
    return NULL;
}

/* Runs that end at the same time are all noted; also when none has made the file yet. */
static void test_many_writers(void **state)
{
    Fixture *const f = *state;
    pthread_t threads[WRITERS];
    Writer writers[WRITERS];
    for (int k = 0; k < WRITERS; k++) {
        writers[k] = (Writer){ f->path, 0 };
        pthread_create(&threads[k], NULL, note_many, &writers[k]);
    }
    for (int k = 0; k < WRITERS; k++) {
        pthread_join(threads[k], NULL);
        assert_int_equal(writers[k].failures, 0);
    }
    Catalogue *const c = open_good(f);
    CatalogueRun *runs;
    assert_int_equal(list(f, c, (CatalogueFilter){ 0 }, &runs), WRITERS * RUNS_EACH);
    catalogue_close(c);
}

/* The nearest folder above with a .koine, but not the home folder; else the current one. */
static void test_where_the_catalogue_is(void **state)
{
    Fixture *const f = *state;
    char before[512];
    assert_non_null(getcwd(before, sizeof before));
    const char *const below = arena_format(f->arena, "%s/below", f->folder);
    assert_int_equal(mkdir(below, 0777), 0);
    assert_int_equal(chdir(below), 0);
    setenv("HOME", "/tmp", 1); /* someone may have run a model there */
    assert_string_equal(catalogue_path(f->arena), arena_format(f->arena, "%s/.koine/runs.sqlite", below));
    assert_int_equal(mkdir(arena_format(f->arena, "%s/.koine", f->folder), 0777), 0);
    assert_string_equal(catalogue_path(f->arena), f->path);
    setenv("HOME", f->folder, 1);
    const char *const beside = access("/tmp/.koine", F_OK) == 0 ? "/tmp" : below;
    assert_string_equal(catalogue_path(f->arena), arena_format(f->arena, "%s/.koine/runs.sqlite", beside));
    assert_int_equal(chdir(f->folder), 0);
    assert_string_equal(catalogue_path(f->arena), f->path);
    assert_int_equal(rmdir(below), 0);
    assert_int_equal(chdir(before), 0);
}

static void test_tags_are_words(void **state)
{
    (void)state;
    assert_true(catalogue_is_tag("final-2"));
    assert_false(catalogue_is_tag("a,b"));
    assert_false(catalogue_is_tag("a b"));
    assert_false(catalogue_is_tag(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_runs_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_catalogue_is_not_made_by_looking, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_and_other_files_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_writers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_where_the_catalogue_is, set_up, tear_down),
        cmocka_unit_test(test_tags_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
