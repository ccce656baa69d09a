/* CSV as written by the sink and as read back. */
#include "formats/csv.h"
#include "formats/csv_text.h"
#include "base/text.h"
#include "../base/comma_locale.h"
#include "fake_model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
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
    snprintf(fixture->path, sizeof fixture->path, "/tmp/koine-csv-%ld.csv", (long)getpid());
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

static char *file_text(const Fixture *fixture, size_t *size)
{
    FILE *const file = fopen(fixture->path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *const text = NEW_ARRAY(fixture->arena, char, *size + 1);
    assert_int_equal(fread(text, 1, *size, file), *size);
    fclose(file);
    return text;
}

static KoineSink *sink_for(const Fixture *fixture, const char *const *globs, uint32_t n)
{
    return csv_sink(&(CsvOptions){ .path = fixture->path, .globs = globs, .n_globs = n }, fixture->arena);
}

static const char *const EXPECTED =
    "time,x,der(x),minus_x,\"A[1,1]\",\"A[1,2]\",\"A[1,3]\",\"A[2,1]\",\"A[2,2]\",\"A[2,3]\",on,off,n,door,Integ.Z,"
    "\"odd, \"\"name\"\"\"\n"
    "0,0,-0,-0,0.125,0.25,0.375,0.5,0.625,0.75,0,1,0,1,1e+30,0\n"
    "0.25,0.1,-1.5,-0.1,1.125,1.25,1.375,1.5,1.625,1.75,1,0,-1,2,5e+29,1\n"
    "0.5,0.2,-3,-0.2,2.125,2.25,2.375,2.5,2.625,2.75,0,1,-2,1,3.333333333333333e+29,nan\n";

static void rows_are_written_as_documented(void **state)
{
    const Fixture *const fixture = *state;
    size_t size;
    assert_int_equal(fake_run(&fake, sink_for(fixture, NULL, 0), 3), KOINE_OK);
    assert_string_equal(file_text(fixture, &size), EXPECTED);
}

static void a_comma_locale_changes_no_byte(void **state)
{
    const Fixture *const fixture = *state;
    if (!set_comma_locale()) {
        print_message("no locale with a decimal comma can be had: skipped\n");
        skip();
    }
    const KoineStatus status = fake_run(&fake, sink_for(fixture, NULL, 0), 3);
    size_t size;
    const char *const text = file_text(fixture, &size);
    Series *const series = csv_read(fixture->path, text, size, fixture->arena, fixture->diag);
    setlocale(LC_ALL, "C");
    assert_int_equal(status, KOINE_OK);
    assert_string_equal(text, EXPECTED);
    assert_non_null(series);
    assert_true(series_value(series_find(series, "x"), 1) == 0.1);
}

static void what_is_written_reads_back_exactly(void **state)
{
    Fixture *const fixture = *state;
    enum { ROWS = 20000 }; /* several buffers */
    assert_int_equal(fake_run(&fake, sink_for(fixture, NULL, 0), ROWS), KOINE_OK);
    Series *const series = series_read(fixture->path, fixture->arena, fixture->diag);
    assert_non_null(series);
    assert_int_equal(series->n_rows, ROWS);
    assert_int_equal(series->n_columns, 16);
    const SeriesColumn *const x = series_find(series, "minus_x"), *const a = series_find(series, "A[2,3]"),
                              *const odd = series_find(series, "odd, \"name\"");
    assert_non_null(x);
    assert_non_null(a);
    assert_non_null(odd);
    for (int row = 0; row < ROWS; row++) {
        fake_fill(&fake, row);
        assert_true(series_value(&series->columns[0], (uint64_t)row) == 0.25 * row);
        assert_true(series_value(x, (uint64_t)row) == -fake.slots[SLOT_X].r);
        assert_true(series_value(a, (uint64_t)row) == fake.slots[SLOT_A + 5].r);
    }
    assert_true(isnan(series_value(odd, 2)));
}

static void a_filter_chooses_columns(void **state)
{
    const Fixture *const fixture = *state;
    static const char *const globs[] = { "Integ.*", "p" };
    size_t size;
    assert_int_equal(fake_run(&fake, sink_for(fixture, globs, 2), 1), KOINE_OK);
    assert_string_equal(file_text(fixture, &size), "time,Integ.Z,p\n0,1e+30,9.81\n");
}

static void an_unmatched_glob_is_told_before_a_file_is_made(void **state)
{
    const Fixture *const fixture = *state;
    static const char *const globs[] = { "Integ.Y" };
    KoineSink *const sink = sink_for(fixture, globs, 1);
    assert_int_equal(fake_run(&fake, sink, 1), KOINE_FAILED);
    assert_string_equal(sink->error, "no variable matches 'Integ.Y'; did you mean 'Integ.Z'?");
    assert_int_not_equal(access(fixture->path, F_OK), 0);
}

static void a_full_disk_is_told_with_its_reason(void **state)
{
    const Fixture *const fixture = *state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    KoineSink *const sink = csv_sink(&(CsvOptions){ .path = "/dev/full" }, fixture->arena);
    assert_int_equal(fake_run(&fake, sink, 20000), KOINE_FAILED);
    assert_string_equal(sink->error, "cannot write '/dev/full': No space left on device");
}

static void a_path_that_cannot_be_written_is_told_with_its_reason(void **state)
{
    const Fixture *const fixture = *state;
    KoineSink *const sink = csv_sink(&(CsvOptions){ .path = "/no/such/folder/x.csv" }, fixture->arena);
    assert_int_equal(fake_run(&fake, sink, 1), KOINE_FAILED);
    assert_string_equal(sink->error, "cannot write '/no/such/folder/x.csv': No such file or directory");
}

/* A limit on the size of files stands for the disk that fills up in the middle of a line. */
static void a_file_that_cannot_grow_is_cut_to_whole_lines(void **state)
{
    const Fixture *const fixture = *state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 300000, 300000 });
        KoineSink *const sink = sink_for(fixture, NULL, 0);
        const KoineStatus status = fake_run(&fake, sink, 20000);
        _exit(status < 0 && strstr(sink->error, "File too large") ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    size_t size;
    const char *const text = file_text(fixture, &size);
    assert_true(size > 299000 && size <= 300000);
    assert_int_equal(text[size - 1], '\n');
    Series *const series = csv_read("cut", text, size, fixture->arena, fixture->diag);
    assert_non_null(series);
    assert_true(series->n_rows > 1000);
}

/* ---- reading ---- */

static Series *read_text(Fixture *fixture, const char *text)
{
    return csv_read("t.csv", text, strlen(text), fixture->arena, fixture->diag);
}

static void any_name_of_a_column_comes_back(void **state)
{
    Fixture *const fixture = *state;
    static const char *const names[] = { "\tx", "x\t", " x", "x ", "\t", "", "a;b", "a\tb", "a\rb", "a\nb", "\"", "," };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        Text text = { .arena = fixture->arena };
        text_add(&text, "time,");
        csv_add_name(&text, names[k]);
        text_add(&text, "\n0,1\n");
        const Series *const series = csv_read("t.csv", text.at, text.n, fixture->arena, fixture->diag);
        assert_non_null(series);
        assert_int_equal(series->n_columns, 2);
        assert_string_equal(series->columns[1].name, names[k]);
    }
}

static void crlf_quotes_blanks_and_empty_lines_are_read(void **state)
{
    Fixture *const fixture = *state;
    Series *const series =
        read_text(fixture, "\xef\xbb\xbftime, \"a,\"\"b\"\"\" ,c\r\n0,\"1.5\", 2 \r\n\r\n1,,-inf\r\n2,3,4\r\n");
    assert_non_null(series);
    assert_int_equal(series->n_columns, 3);
    assert_int_equal(series->n_rows, 3);
    assert_string_equal(series->columns[1].name, "a,\"b\"");
    assert_true(series_value(&series->columns[1], 0) == 1.5);
    assert_true(isnan(series_value(&series->columns[1], 1)));
    assert_true(series_value(&series->columns[2], 0) == 2);
    assert_true(series_value(&series->columns[2], 1) == -INFINITY);
    assert_true(series_value(&series->columns[2], 2) == 4);
}

static void semicolons_and_tabulators_separate_where_there_is_no_comma(void **state)
{
    Fixture *const fixture = *state;
    assert_int_equal(read_text(fixture, "t;x\n1;2\n")->n_columns, 2);
    assert_int_equal(read_text(fixture, "t\tx\n1\t2\n")->n_columns, 2);
}

static void a_header_alone_is_a_series_without_rows(void **state)
{
    Fixture *const fixture = *state;
    Series *const series = read_text(fixture, "time,x");
    assert_non_null(series);
    assert_int_equal(series->n_rows, 0);
}

static void rubbish_is_refused_with_its_line(void **state)
{
    Fixture *const fixture = *state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        { "", "t.csv: the first line is empty; it must have the names" },
        { "\n1,2\n", "t.csv: the first line is empty; it must have the names" },
        { "1,2\n3,4\n", "t.csv: the first line has no names" },
        { "time,x\n0,1\n1,abc\n", "t.csv:3: 'abc' in column 'x' is not a number" },
        { "time,x\n0,1.5.2\n", "t.csv:2: '1.5.2' in column 'x' is not a number" },
        { "time,x\n0\n", "t.csv:2: fewer than the 2 fields of the first line" },
        { "time,x\n0,1,2\n", "t.csv:2: more than the 2 fields of the first line" },
        { "time,\"x\n0,1\n", "t.csv:1: a quote is not closed" },
        { "time,\"x\"y\n0,1\n", "t.csv:1: text after a closing quote" },
        { "time,x\n0,\"1\n\n\n", "t.csv:2: a quote is not closed" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Diag *const diag = diag_create(fixture->arena, fixture->sources);
        assert_null(csv_read("t.csv", cases[i].text, strlen(cases[i].text), fixture->arena, diag));
        const char *const json = diag_json(diag, fixture->arena);
        Text quoted = { .arena = fixture->arena };
        text_json(&quoted, cases[i].expected);
        if (!strstr(json, quoted.at))
            fail_msg("expected %s in %s", quoted.at, json);
    }
}

static void memory_is_bounded_by_the_text(void **state)
{
    Fixture *const fixture = *state;
    const int N = arena_is_hostile(NULL) ? 1000 : 40000; /* growing arrays by one item each costs the square */
    Text text = { .arena = fixture->arena };
    for (int i = 0; i < N; i++)
        text_add(&text, i ? ",a" : "a"); /* as many columns as lines, but one field in a line */
    for (int i = 0; i < N; i++)
        text_add(&text, "\n1");
    const size_t before = arena_bytes(fixture->arena);
    assert_null(csv_read("t.csv", text.at, text.n, fixture->arena, fixture->diag));
    assert_true(arena_bytes(fixture->arena) - before < (size_t)64 << 20);
}

static void a_missing_file_is_reported(void **state)
{
    Fixture *const fixture = *state;
    assert_null(series_read("/no/such/file.csv", fixture->arena, fixture->diag));
    assert_non_null(strstr(diag_json(fixture->diag, fixture->arena), "No such file"));
    assert_null(series_read("/tmp", fixture->arena, fixture->diag));
    assert_int_equal(diag_errors(fixture->diag), 2);
}

static void the_nearest_column_is_suggested(void **state)
{
    Fixture *const fixture = *state;
    Series *const series = read_text(fixture, "time,Integ.Z,speed\n0,1,2\n");
    assert_string_equal(series_nearest(series, "Z"), "Integ.Z");
    assert_string_equal(series_nearest(series, "sped"), "speed");
    assert_null(series_nearest(series, "completely_else"));
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* others may use the machine */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int print_speed(void)
{
    enum { N = 100, ROWS = 50000 };
    static KoineSlot slots[N];
    static KoineVariable variables[N];
    static char names[N][16];
    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "v%d", i);
        variables[i] = (KoineVariable){ .name = names[i], .now = 8 * (uint64_t)i, .count = 1, .type = KOINE_REAL };
        variables[i].variability = KOINE_VARIABILITY_CONTINUOUS;
    }
    const KoineTables tables = { .n_variables = N, .variables = variables };
    const KoineModelKind kind = { .tables = &tables };
    const KoineModel model = { .kind = &kind, .block = (unsigned char *)slots };
    for (int changing = 100; changing >= 0; changing -= 50) {
        Arena *const arena = arena_create(NULL);
        KoineSink *const sink = csv_sink(&(CsvOptions){ .path = "/dev/null" }, arena);
        sink->begin(sink, &model);
        double spent = 0;
        for (int row = 0; row < ROWS; row++) {
            for (int i = 0; i < changing; i++)
                slots[i].r = sin(row * 0.001 + i);
            const double begin = seconds_now();
            sink->point(sink, &model, &(KoinePoint){ .time = row * 0.001 });
            spent += seconds_now() - begin;
        }
        sink->end(sink, &model);
        printf("%3d of 100 columns change: %.1f ns per number\n", changing, spent * 1e9 / ROWS / N);
        arena_destroy(arena);
    }
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--speed") == 0)
        return print_speed();
    const struct CMUnitTest tests[] = {
        TEST(rows_are_written_as_documented),
        TEST(a_comma_locale_changes_no_byte),
        TEST(what_is_written_reads_back_exactly),
        TEST(a_filter_chooses_columns),
        TEST(an_unmatched_glob_is_told_before_a_file_is_made),
        TEST(a_full_disk_is_told_with_its_reason),
        TEST(a_path_that_cannot_be_written_is_told_with_its_reason),
        TEST(a_file_that_cannot_grow_is_cut_to_whole_lines),
        TEST(any_name_of_a_column_comes_back),
        TEST(crlf_quotes_blanks_and_empty_lines_are_read),
        TEST(semicolons_and_tabulators_separate_where_there_is_no_comma),
        TEST(a_header_alone_is_a_series_without_rows),
        TEST(rubbish_is_refused_with_its_line),
        TEST(memory_is_bounded_by_the_text),
        TEST(a_missing_file_is_reported),
        TEST(the_nearest_column_is_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
