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
#include <sqlite3.h>

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
    static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
    for (int k = 0; k < 4; k++)
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
                           .end.outcome = "done",
                           .end.message = "",
                           .stop = 1.5,
                           .end.time = 1.5,
                           .end.points = 7,
                           .end.run_seconds = 0.25,
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
    assert_true(runs[1].stop == 1.5 && runs[1].end.points == 7 && runs[1].end.run_seconds == 0.25);
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

static void write_whole(const char *path, const void *bytes, size_t n)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void put_big_endian(unsigned char *to, uint32_t value)
{
    for (int k = 0; k < 4; k++)
        to[k] = (unsigned char)(value >> (24 - 8 * k));
}

/* A journal of SQLite with nothing to undo, for a database of 4096-byte pages; its end names another file. */
static size_t hostile_journal(unsigned char *to, const char *other, uint32_t n_pages)
{
    static const unsigned char mark[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
    const uint32_t length = (uint32_t)strlen(other);
    uint32_t sum = 0;
    memset(to, 0, 512);
    memcpy(to, mark, sizeof mark);
    put_big_endian(to + 16, n_pages);
    put_big_endian(to + 20, 512);
    put_big_endian(to + 24, 4096);
    unsigned char *at = to + 512;
    put_big_endian(at, 0x40000000 / 4096 + 1);
    memcpy(at + 4, other, length);
    for (uint32_t k = 0; k < length; k++)
        sum += (uint32_t)(signed char)other[k];
    at += 4 + length;
    put_big_endian(at, length);
    put_big_endian(at + 4, sum);
    memcpy(at + 8, mark, sizeof mark);
    return (size_t)(at + 16 - to);
}

static void test_a_journal_deletes_no_other_file(void **state)
{
    Fixture *const f = *state;
    Catalogue *c = open_good(f);
    catalogue_close(c);
    const char *const other = arena_format(f->arena, "%s/precious", f->folder);
    write_whole(other, "mine", 4);
    unsigned char journal[1024];
    struct stat size;
    assert_int_equal(stat(f->path, &size), 0);
    unlink(arena_format(f->arena, "%s-wal", f->path)); /* an archive would not have it */
    write_whole(arena_format(f->arena, "%s-journal", f->path), journal,
                hostile_journal(journal, other, (uint32_t)(size.st_size / 4096)));
    assert_int_equal(catalogue_open(f->path, false, f->arena, &c), CATALOGUE_DAMAGED);
    assert_int_equal(catalogue_open(f->path, true, f->arena, &c), CATALOGUE_DAMAGED);
    assert_int_equal(access(other, F_OK), 0);
    assert_int_equal(unlink(other), 0);
}

/* An index of somebody else is computed with every run that is noted. */
static void test_an_index_computes_no_gigabyte(void **state)
{
    Fixture *const f = *state;
    catalogue_close(open_good(f));
    sqlite3 *base;
    assert_int_equal(sqlite3_open(f->path, &base), SQLITE_OK);
    assert_int_equal(sqlite3_exec(base, "CREATE INDEX i ON runs(printf('%99999999d', id))", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(base);
    Catalogue *const c = open_good(f);
    CatalogueRun run = some_run("m", "r.csv", "");
    sqlite3_memory_highwater(1);
    assert_int_equal(catalogue_add(c, &run), CATALOGUE_GOOD); /* what is too long is NULL there */
    assert_in_range(sqlite3_memory_highwater(0), 1, 64 << 20);
    catalogue_close(c);
}

static void test_files_beside_a_catalogue_have_one_name(void **state)
{
    Fixture *const f = *state;
    static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
    Catalogue *c = open_good(f);
    catalogue_close(c);
    const char *const other = arena_format(f->arena, "%s/precious", f->folder);
    write_whole(other, "mine", 4);
    for (int k = 0; k < 4; k++)
        for (int is_soft = 0; is_soft < 2; is_soft++) {
            const char *const path = arena_format(f->arena, "%s%s", f->path, ends[k]);
            unlink(path);
            assert_int_equal(is_soft ? symlink(other, path) : link(other, path), 0);
            assert_int_equal(catalogue_open(f->path, true, f->arena, &c), CATALOGUE_REFUSED);
            assert_int_equal(unlink(path), 0);
        }
    assert_int_equal(unlink(other), 0);
}

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
        cmocka_unit_test_setup_teardown(test_a_journal_deletes_no_other_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_index_computes_no_gigabyte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_beside_a_catalogue_have_one_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_writers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_where_the_catalogue_is, set_up, tear_down),
        cmocka_unit_test(test_tags_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
