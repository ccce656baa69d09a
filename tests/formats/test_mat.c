/* MAT files: written and read back, interrupted, too large, of other tools, damaged. */
#include "formats/mat.h"
#include "base/text.h"
#include "fake_model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static FakeModel fake;

typedef struct {
    Arena *arena;
    Sources *sources;
    Diag *diag;
    char path[64];
} Fixture;

static int set_up(void **state)
{
    Fixture *const fixture = calloc(1, sizeof *fixture);
    fake_create(&fake);
    fixture->arena = arena_create(NULL);
    fixture->sources = sources_create(fixture->arena);
    fixture->diag = diag_create(fixture->arena, fixture->sources);
    snprintf(fixture->path, sizeof fixture->path, "/tmp/koine-mat-%ld.mat", (long)getpid());
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *const fixture = *state;
    unlink(fixture->path);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static void check_rows(const Series *series, uint64_t rows)
{
    const SeriesColumn *const x = series_find(series, "minus_x"), *const off = series_find(series, "off"),
                              *const p = series_find(series, "p"), *const a = series_find(series, "A[2,3]");
    assert_true(x && off && p && a);
    assert_true(p->is_constant);
    assert_true(series_value(p, 1) == 9.81);
    for (uint64_t row = 0; row < rows; row++) {
        fake_fill(&fake, (int)row);
        assert_true(series_value(&series->columns[0], row) == 0.25 * (double)row);
        assert_true(series_value(x, row) == -fake.slots[SLOT_X].r);
        assert_true(series_value(off, row) == (row % 2 == 0));
        assert_true(series_value(a, row) == fake.slots[SLOT_A + 5].r);
    }
}

static void what_is_written_reads_back_exactly(void **state)
{
    Fixture *const fixture = *state;
    enum { ROWS = 10000 };
    KoineSink *const sink = mat_sink(&(MatOptions){ .path = fixture->path }, fixture->arena);
    assert_int_equal(fake_run(&fake, sink, ROWS), KOINE_OK);
    Series *const series = series_read(fixture->path, fixture->arena, fixture->diag);
    assert_non_null(series);
    assert_int_equal(series->n_rows, ROWS);
    assert_int_equal(series->n_columns, 17);
    assert_string_equal(series->columns[0].name, "time");
    assert_string_equal(series_find(series, "x")->comment, "position [m]");
    check_rows(series, ROWS);
}

static void an_interrupted_run_leaves_a_readable_file(void **state)
{
    Fixture *const fixture = *state;
    KoineSink *const sink = mat_sink(&(MatOptions){ .path = fixture->path }, fixture->arena);
    assert_int_equal(sink->begin(sink, &fake.model), KOINE_OK);
    for (int row = 0; row < 10000; row++) {
        fake_fill(&fake, row);
        const KoinePoint point = { .time = 0.25 * row };
        assert_int_equal(sink->point(sink, &fake.model, &point), KOINE_OK);
    }
    /* no end: the process was killed here */
    Series *const series = series_read(fixture->path, fixture->arena, fixture->diag);
    assert_non_null(series);
    assert_true(series->n_rows > 8000 && series->n_rows < 10000);
    check_rows(series, series->n_rows);
    sink->end(sink, &fake.model);
}

static void a_run_without_points_leaves_a_readable_file(void **state)
{
    Fixture *const fixture = *state;
    KoineSink *const sink = mat_sink(&(MatOptions){ .path = fixture->path }, fixture->arena);
    assert_int_equal(fake_run(&fake, sink, 0), KOINE_OK);
    Series *const series = series_read(fixture->path, fixture->arena, fixture->diag);
    assert_non_null(series);
    assert_int_equal(series->n_rows, 0);
}

static void the_limit_of_the_format_is_an_error_and_the_points_so_far_stay(void **state)
{
    Fixture *const fixture = *state;
    const MatOptions options = { .path = fixture->path, .limit = 15 * 8 * 10 };
    KoineSink *const sink = mat_sink(&options, fixture->arena);
    assert_int_equal(fake_run(&fake, sink, 11), KOINE_FAILED);
    assert_non_null(strstr(sink->error, "at most 10 points of 15 variables"));
    Series *const series = series_read(fixture->path, fixture->arena, fixture->diag);
    assert_non_null(series);
    assert_int_equal(series->n_rows, 10);
}

static void failures_to_write_are_told(void **state)
{
    Fixture *const fixture = *state;
    KoineSink *sink = mat_sink(&(MatOptions){ .path = "/dev/full" }, fixture->arena);
    assert_int_equal(fake_run(&fake, sink, 3), KOINE_FAILED);
    assert_string_equal(sink->error, "cannot write '/dev/full': No space left on device");
    sink = mat_sink(&(MatOptions){ .path = "-" }, fixture->arena);
    assert_int_equal(fake_run(&fake, sink, 3), KOINE_FAILED);
    assert_string_equal(sink->error, "a MAT file cannot be written to the standard output");
    static const char *const globs[] = { "nothing" };
    sink = mat_sink(&(MatOptions){ .path = fixture->path, .globs = globs, .n_globs = 1 }, fixture->arena);
    assert_int_equal(fake_run(&fake, sink, 3), KOINE_FAILED);
    assert_string_equal(sink->error, "no variable matches 'nothing'");
}

/* ---- files of other tools, put together here byte by byte from the description of the format ---- */

static void put_int32(Text *file, int32_t value, bool is_big)
{
    const uint32_t bits = (uint32_t)value;
    for (int i = 0; i < 4; i++)
        text_char(file, (char)(bits >> 8 * (is_big ? 3 - i : i) & 0xff));
}

static void put_double(Text *file, double value, bool is_big)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++)
        text_char(file, (char)(bits >> 8 * (is_big ? 7 - i : i) & 0xff));
}

static void put_head(Text *file, const char *name, int type, int rows, int columns, bool is_big)
{
    put_int32(file, type + (is_big ? 1000 : 0), is_big);
    put_int32(file, rows, is_big);
    put_int32(file, columns, is_big);
    put_int32(file, 0, is_big);
    put_int32(file, (int32_t)strlen(name) + 1, is_big);
    text_bytes(file, name, strlen(name) + 1);
}

/* A character matrix with a text in each row, stored by columns. */
static void put_texts(Text *file, const char *name, int rows, int columns, const char *const *texts, bool is_big)
{
    put_head(file, name, 51, rows, columns, is_big);
    for (int c = 0; c < columns; c++)
        for (int r = 0; r < rows; r++)
            text_char(file, c < (int)strlen(texts[r]) ? texts[r][c] : ' ');
}

/* "binNormal": names in rows, points in rows. Variables: Time, y = -u, u, k constant. */
static Text normal_file(Arena *arena, bool is_big)
{
    static const char *const aclass[] = { "Atrajectory", "1.1", "", "binNormal" };
    static const char *const names[] = { "Time", "y", "u", "k" };
    static const char *const descriptions[] = { "time in [s]", "", "input", "gain" };
    static const int info[4][4] = { { 0, 1, 0, -1 }, { 2, -2, 0, -1 }, { 2, 2, 0, -1 }, { 1, 2, 0, -1 } };
    static const double fixed[2][2] = { { 0, 5 }, { 2, 5 } };
    static const double varying[3][2] = { { 0, 10 }, { 1, 11 }, { 2, 12.5 } };
    Text file = { .arena = arena };
    put_texts(&file, "Aclass", 4, 11, aclass, is_big);
    put_texts(&file, "name", 4, 6, names, is_big);
    put_texts(&file, "description", 4, 12, descriptions, is_big);
    put_head(&file, "dataInfo", 20, 4, 4, is_big);
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 4; r++)
            put_int32(&file, info[r][c], is_big);
    put_head(&file, "data_1", 0, 2, 2, is_big);
    for (int c = 0; c < 2; c++)
        for (int r = 0; r < 2; r++)
            put_double(&file, fixed[r][c], is_big);
    put_head(&file, "data_2", 0, 3, 2, is_big);
    for (int c = 0; c < 2; c++)
        for (int r = 0; r < 3; r++)
            put_double(&file, varying[r][c], is_big);
    return file;
}

static void normal_layout_is_read_in_both_byte_orders(void **state)
{
    Fixture *const fixture = *state;
    for (int is_big = 0; is_big < 2; is_big++) {
        const Text file = normal_file(fixture->arena, is_big);
        assert_true(mat_is_file(file.at, file.n));
        Series *const series = mat_read("t.mat", file.at, file.n, fixture->arena, fixture->diag);
        assert_non_null(series);
        assert_int_equal(series->n_rows, 3);
        assert_int_equal(series->n_columns, 4);
        assert_string_equal(series->columns[0].name, "Time");
        assert_string_equal(series->columns[0].comment, "time in [s]");
        assert_true(series_value(&series->columns[0], 2) == 2);
        assert_true(series_value(series_find(series, "y"), 2) == -12.5);
        assert_true(series_value(series_find(series, "u"), 1) == 11);
        assert_true(series_value(series_find(series, "k"), 2) == 5);
    }
}

static void every_cut_of_a_file_is_refused_or_read_in_part(void **state)
{
    Fixture *const fixture = *state;
    const Text file = normal_file(fixture->arena, false);
    for (size_t n = 0; n < file.n; n++) {
        char *const copy = malloc(n + 1); /* of its own, so that the sanitizer sees each byte too many */
        memcpy(copy, file.at, n);
        Diag *const diag = diag_create(fixture->arena, fixture->sources);
        if (!mat_read("t.mat", copy, n, fixture->arena, diag))
            assert_int_equal(diag_errors(diag), 1);
        free(copy);
    }
}

static void a_file_that_ends_early_is_read_so_far_with_a_warning(void **state)
{
    Fixture *const fixture = *state;
    KoineSink *const sink = mat_sink(&(MatOptions){ .path = fixture->path }, fixture->arena);
    assert_int_equal(fake_run(&fake, sink, 20), KOINE_OK);
    FILE *const file = fopen(fixture->path, "rb");
    char *const bytes = NEW_ARRAY(fixture->arena, char, 65536);
    const size_t size = fread(bytes, 1, 65536, file);
    fclose(file);
    /* 15 doubles a point: two and a half points are missing */
    Series *const series = mat_read("t.mat", bytes, size - 300, fixture->arena, fixture->diag);
    assert_non_null(series);
    assert_int_equal(series->n_rows, 17);
    assert_int_equal(diag_errors(fixture->diag), 0);
    assert_int_equal(diag_warnings(fixture->diag), 1);
    assert_non_null(strstr(diag_json(fixture->diag, fixture->arena), "17 of its 20 columns are there"));
    check_rows(series, 17);
}

static void other_files_are_not_mistaken(void **state)
{
    Fixture *const fixture = *state;
    assert_false(mat_is_file("time,x\n0,1\n1,2\n2,3\n3,4\n", 24));
    assert_false(mat_is_file("", 0));
    Text file = { .arena = fixture->arena };
    put_head(&file, "x", 0, 1, 1, false);
    put_double(&file, 1, false);
    assert_true(mat_is_file(file.at, file.n)); /* a MATLAB 4 file, but no result */
    assert_null(mat_read("t.mat", file.at, file.n, fixture->arena, fixture->diag));
    assert_non_null(strstr(diag_json(fixture->diag, fixture->arena), "not a result file of a Modelica tool"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_reads_back_exactly),
        TEST(an_interrupted_run_leaves_a_readable_file),
        TEST(a_run_without_points_leaves_a_readable_file),
        TEST(the_limit_of_the_format_is_an_error_and_the_points_so_far_stay),
        TEST(failures_to_write_are_told),
        TEST(normal_layout_is_read_in_both_byte_orders),
        TEST(every_cut_of_a_file_is_refused_or_read_in_part),
        TEST(a_file_that_ends_early_is_read_so_far_with_a_warning),
        TEST(other_files_are_not_mistaken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
