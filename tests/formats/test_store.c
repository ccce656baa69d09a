/* The native result store, written and read back. */
#include "base/vec.h"
#include "fake_model.h"
#include "formats/store.h"
#include <fcntl.h>
#include <hdf5.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    Arena *arena;
    Sources *sources;
    Diag *diag;
    char path[64];
} Fixture;

static int set_up(void **state)
{
    Fixture *const f = calloc(1, sizeof *f);
    f->arena = arena_create(NULL);
    f->sources = sources_create(f->arena);
    f->diag = diag_create(f->arena, f->sources);
    snprintf(f->path, sizeof f->path, "/tmp/koine-test-store-%ld.h5", (long)getpid());
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *const f = *state;
    unlink(f->path);
    arena_destroy(f->arena);
    free(f);
    return 0;
}

static KoineSink *write_rows(Fixture *f, FakeModel *fake, int rows, const char *begin)
{
    const StoreOptions options = { .path = f->path, .begin = begin };
    KoineSink *const sink = store_sink(&options, f->arena);
    assert_int_equal(fake_run(fake, sink, rows), KOINE_OK);
    return sink;
}

static Store *open_good(Fixture *f)
{
    Store *const store = store_open(f->path, f->arena, f->diag);
    diag_print(f->diag, stderr, (DiagStyle){ 0 });
    assert_non_null(store);
    assert_int_equal(diag_errors(f->diag), 0);
    assert_int_equal(diag_warnings(f->diag), 0);
    return store;
}

static void assert_bits(double a, double b)
{
    assert_memory_equal(&a, &b, sizeof a);
}

/* Every recorded value reads back with the same bits, in blocks that are full and in the last one. */
static void test_values_come_back_exactly(void **state)
{
    enum { ROWS = 10000 };
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    KoineSink *const sink = write_rows(f, &fake, ROWS, "{\"model\": \"Fake\"}");
    assert_true(store_finish(sink, "{\"end\": \"done\"}"));
    Store *const store = open_good(f);
    const StoreInfo *const info = store_info(store);
    assert_int_equal(info->n_rows, ROWS);
    assert_int_equal(info->lost_rows, 0);
    assert_string_equal(info->begin, "{\"model\": \"Fake\"}");
    assert_string_equal(info->end, "{\"end\": \"done\"}");
    static const char *const names[] = { "time", "x", "der(x)", "minus_x", "A[2,3]", "on",
                                         "off",  "n", "door",   "Integ.Z", "p",      "odd, \"name\"" };
    double *const values = calloc(ROWS, sizeof *values);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const uint32_t v = store_find(store, names[k]);
        assert_int_not_equal(v, UINT32_MAX);
        store_values(store, v, 0, ROWS, values);
        for (int row = 0; row < ROWS; row++) {
            fake_fill(&fake, row);
            const double expected[] = { 0.25 * row,
                                        fake.slots[SLOT_X].r,
                                        fake.slots[SLOT_DX].r,
                                        -fake.slots[SLOT_X].r,
                                        fake.slots[SLOT_A + 5].r,
                                        row % 2,
                                        1 - row % 2,
                                        -row,
                                        1 + row % 2,
                                        fake.slots[SLOT_Z].r,
                                        9.81,
                                        fake.slots[SLOT_ODD].r };
            assert_bits(values[row], expected[k]);
        }
    }
    free(values);
    store_close(store);
}

/* A longer file of an earlier run leaves nothing behind. */
static void test_an_older_file_is_replaced(void **state)
{
    Fixture *const f = *state;
    FakeModel fake;
    struct stat state_long, state_short;
    fake_create(&fake);
    assert_true(store_finish(write_rows(f, &fake, 9000, NULL), "{}"));
    assert_int_equal(stat(f->path, &state_long), 0);
    assert_true(store_finish(write_rows(f, &fake, 10, NULL), "{}"));
    assert_int_equal(stat(f->path, &state_short), 0);
    assert_true(state_short.st_size < state_long.st_size);
    Store *const store = open_good(f);
    assert_int_equal(store_info(store)->n_rows, 10);
    store_close(store);
}

/* A part of a variable is the same as that part of the whole, wherever blocks end. */
static void test_ranges_do_not_depend_on_blocks(void **state)
{
    enum { ROWS = 9000 };
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    assert_true(store_finish(write_rows(f, &fake, ROWS, NULL), NULL));
    Store *const store = open_good(f);
    assert_null(store_info(store)->end);
    static const uint64_t firsts[] = { 0, 1, 4095, 4096, 5000, 8191, 8999 }, counts[] = { 1, 2, 4096, 4097, 9000 };
    double *const whole = calloc(ROWS, sizeof *whole), *const part = calloc(ROWS, sizeof *part);
    for (uint32_t v = 0; v < store_info(store)->n_variables; v++) {
        store_values(store, v, 0, ROWS, whole);
        for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++)
            for (size_t j = 0; j < sizeof counts / sizeof counts[0]; j++) {
                const uint64_t n = firsts[i] + counts[j] <= ROWS ? counts[j] : ROWS - firsts[i];
                store_values(store, v, firsts[i], n, part);
                assert_memory_equal(part, whole + firsts[i], n * sizeof *part);
            }
    }
    free(whole);
    free(part);
    store_close(store);
}

static const StoreVariable *variable(const Store *store, const char *name)
{
    const uint32_t k = store_find(store, name);
    assert_int_not_equal(k, UINT32_MAX);
    return &store_info(store)->variables[k];
}

static void test_columns_have_types_units_and_descriptions(void **state)
{
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    assert_true(store_finish(write_rows(f, &fake, 3, NULL), NULL));
    Store *const store = open_good(f);
    assert_string_equal(variable(store, "x")->unit, "m");
    assert_string_equal(variable(store, "x")->comment, "position");
    assert_int_equal(variable(store, "x")->storage, STORE_DENSE);
    assert_int_equal(variable(store, "n")->type, KOINE_INTEGER);
    assert_int_equal(variable(store, "n")->storage, STORE_CHANGES);
    assert_int_equal(variable(store, "p")->storage, STORE_CONSTANT);
    assert_string_equal(variable(store, "door")->enumeration, "Door");
    assert_int_equal(variable(store, "door")->n_labels, 2);
    assert_string_equal(variable(store, "door")->labels[1], "open");
    assert_int_equal(store_find(store, "text"), UINT32_MAX);
    assert_int_equal(store_find(store, "secret"), UINT32_MAX);
    store_close(store);
}

static void test_aliases_are_stored_once(void **state)
{
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    assert_true(store_finish(write_rows(f, &fake, 3, NULL), NULL));
    Store *const store = open_good(f);
    assert_int_equal(variable(store, "minus_x")->column, variable(store, "x")->column);
    assert_true(variable(store, "minus_x")->is_negated);
    assert_int_equal(variable(store, "off")->column, variable(store, "on")->column);
    store_close(store);
}

/* Whole numbers beyond 2^53, which no double holds, keep every digit. */
static void test_integers_are_exact(void **state)
{
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    const StoreOptions options = { .path = f->path };
    KoineSink *const sink = store_sink(&options, f->arena);
    assert_int_equal(sink->begin(sink, &fake.model), KOINE_OK);
    for (int k = 0; k < 3; k++) {
        fake.slots[SLOT_N].i = INT64_MAX - k;
        const KoinePoint point = { .time = k,
                                   .event_step = (uint32_t)k,
                                   .kind = k == 1 ? KOINE_POINT_RIGHT : KOINE_POINT_GRID };
        assert_int_equal(sink->point(sink, &fake.model, &point), KOINE_OK);
    }
    assert_int_equal(sink->end(sink, &fake.model), KOINE_OK);
    assert_true(store_finish(sink, NULL));
    Store *const store = open_good(f);
    KoineSlot slots[3];
    store_slots(store, store_find(store, "n"), 0, 3, slots);
    for (int k = 0; k < 3; k++)
        assert_true(slots[k].i == INT64_MAX - k);
    uint8_t kinds[3];
    uint32_t event_steps[3];
    store_kinds(store, 0, 3, kinds, event_steps);
    assert_int_equal(kinds[1], KOINE_POINT_RIGHT);
    assert_int_equal(event_steps[2], 2);
    uint64_t row;
    assert_int_equal(store_events(store, 0, 2, 1, &row), 1);
    assert_int_equal(row, 1);
    store_close(store);
}

/* Extremes of a picture are those of all rows, found here by looking at each of them. */
static void test_buckets_are_the_extremes_of_their_rows(void **state)
{
    enum { ROWS = 50000, N = 20 };
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    assert_true(store_finish(write_rows(f, &fake, ROWS, NULL), NULL));
    Store *const store = open_good(f);
    double *const values = calloc(ROWS, sizeof *values);
    static const char *const names[] = { "x", "minus_x", "n", "odd, \"name\"" };
    for (size_t v = 0; v < 4; v++) {
        const uint32_t variable = store_find(store, names[v]);
        StoreBucket buckets[N];
        store_values(store, variable, 0, ROWS, values);
        store_buckets(store, variable, 100, 12000, N, buckets);
        uint64_t next = 400; /* the row of time 100 */
        for (int k = 0; k < N; k++) {
            assert_int_equal(buckets[k].first, next);
            double smallest = INFINITY, largest = -INFINITY;
            for (uint64_t row = next; row < next + buckets[k].n; row++) {
                smallest = fmin(smallest, values[row]);
                largest = fmax(largest, values[row]);
            }
            assert_true(buckets[k].minimum == smallest);
            assert_true(buckets[k].maximum == largest);
            const double left = 100 + 595.0 * k; /* borders are good to a quarter of the width */
            assert_true(fabs(buckets[k].first_time - left) <= 595.0 / 4);
            next += buckets[k].n;
        }
        assert_int_equal(next, 48001);
    }
    assert_int_equal(store_row_at(store, -1), 0);
    assert_int_equal(store_row_at(store, 0.3), 2);
    assert_int_equal(store_row_at(store, 1e9), ROWS);
    free(values);
    store_close(store);
}

/* ---- Bad files --------------------------------------------------------------------------------------------------- */

static uint64_t file_size(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (uint64_t)status.st_size;
}

/* Counts the rows of x that are as written; the others must be nan. */
static uint64_t good_rows(Store *store)
{
    const uint64_t n = store_info(store)->n_rows;
    double *const values = calloc(n + 1, sizeof *values);
    store_values(store, store_find(store, "x"), 0, n, values);
    uint64_t good = 0;
    for (uint64_t row = 0; row < n; row++) {
        if (isnan(values[row]))
            continue;
        assert_bits(values[row], 0.1 * (double)row);
        good++;
    }
    free(values);
    return good;
}

static void test_a_cut_file_gives_what_is_whole(void **state)
{
    enum { ROWS = 20000 };
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    assert_true(store_finish(write_rows(f, &fake, ROWS, NULL), "{}"));
    const uint64_t size = file_size(f->path);
    uint64_t before = ROWS;
    for (int eighth = 7; eighth >= 0; eighth--) {
        assert_int_equal(truncate(f->path, (off_t)(size * (uint64_t)eighth / 8)), 0);
        Diag *const diag = diag_create(f->arena, f->sources);
        Store *const store = store_open(f->path, f->arena, diag);
        if (!store) {
            assert_int_equal(diag_errors(diag), 1);
            assert_true(eighth <= 1);
            continue;
        }
        const uint64_t good = good_rows(store);
        assert_true(good <= before);
        assert_true(eighth < 4 || good >= 4096); /* a block at least, while the file is half there */
        if (good < ROWS)
            assert_true(diag_warnings(diag) == 1 || store_info(store)->n_rows == good);
        before = good;
        store_close(store);
    }
    assert_true(before < ROWS);
}

static void test_damage_anywhere_is_found(void **state)
{
    enum { ROWS = 9000 };
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    assert_true(store_finish(write_rows(f, &fake, ROWS, NULL), "{}"));
    const uint64_t size = file_size(f->path);
    const int file = open(f->path, O_RDWR);
    assert_true(file >= 0);
    for (uint64_t at = 0; at < size; at += 1 + size / 400) {
        unsigned char byte;
        assert_int_equal(pread(file, &byte, 1, (off_t)at), 1);
        assert_int_equal(pwrite(file, &(unsigned char){ byte ^ 0x55 }, 1, (off_t)at), 1);
        const ArenaMark mark = arena_mark(f->arena);
        Diag *const diag = diag_create(f->arena, f->sources);
        Store *const store = store_open(f->path, f->arena, diag);
        assert_true(store || diag_errors(diag) == 1);
        if (store) {
            good_rows(store); /* asserts that what is not lost is right */
            store_close(store);
        }
        arena_reset(f->arena, mark);
        assert_int_equal(pwrite(file, &byte, 1, (off_t)at), 1);
    }
    close(file);
    store_close(open_good(f));
}

static const char *first_message(Diag *diag)
{
    DiagItem item;
    assert_true(diag_item(diag, 0, &item));
    return item.at.message;
}

static void test_other_files_are_refused(void **state)
{
    Fixture *const f = *state;
    FILE *const file = fopen(f->path, "w");
    fputs("\x89HDF\r\n\x1a\n and no more of it, but long enough to hold a superblock", file);
    fclose(file);
    assert_null(store_open(f->path, f->arena, f->diag));
    assert_non_null(strstr(first_message(f->diag), "this HDF5 file is not a result of Koine"));
    Diag *const again = diag_create(f->arena, f->sources);
    assert_null(store_open("/nowhere/x.h5", f->arena, again));
    assert_string_equal(first_message(again), "cannot read '/nowhere/x.h5': No such file or directory");
}

/* ---- Bad luck ---------------------------------------------------------------------------------------------------- */

static void test_two_writers_of_one_file(void **state)
{
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    const StoreOptions options = { .path = f->path };
    KoineSink *const first = store_sink(&options, f->arena), *const second = store_sink(&options, f->arena);
    assert_int_equal(first->begin(first, &fake.model), KOINE_OK);
    assert_int_equal(second->begin(second, &fake.model), KOINE_FAILED);
    assert_non_null(strstr(second->error, "another run is writing it"));
    second->end(second, &fake.model);
    store_finish(second, NULL);
    for (int row = 0; row < 5; row++) {
        fake_fill(&fake, row);
        assert_int_equal(first->point(first, &fake.model, &(KoinePoint){ .time = row }), KOINE_OK);
    }
    assert_int_equal(first->end(first, &fake.model), KOINE_OK);
    assert_true(store_finish(first, NULL));
    Store *const store = open_good(f);
    assert_int_equal(good_rows(store), 5);
    store_close(store);
}

/* The limit of the file's size stands for a full disk: both are met before the library is. */
static void test_a_full_disk_keeps_what_was_written(void **state)
{
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1 << 20, before.rlim_max }), 0);
    const StoreOptions options = { .path = f->path };
    KoineSink *const sink = store_sink(&options, f->arena);
    const KoineStatus status = fake_run(&fake, sink, 200000);
    store_finish(sink, "{}");
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, KOINE_FAILED);
    assert_string_equal(sink->error, arena_format(f->arena, "cannot write '%s': File too large", f->path));
    Store *const store = open_good(f);
    assert_true(store_info(store)->n_rows >= 4096);
    assert_int_equal(good_rows(store), store_info(store)->n_rows);
    store_close(store);
}

/* A disk that refuses although the space was reserved: even closing cannot write any more. What was written before can
 * be read, and nothing of the file is left in the library, which would try again when the program ends. */
static void test_a_disk_that_refuses_at_the_end(void **state)
{
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    const StoreOptions options = { .path = f->path };
    KoineSink *const sink = store_sink(&options, f->arena);
    assert_int_equal(sink->begin(sink, &fake.model), KOINE_OK);
    struct rlimit before;
    KoineStatus status = KOINE_OK;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    for (int row = 0; row < 40000 && status == KOINE_OK; row++) {
        if (row == 20000)
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 100, before.rlim_max });
        fake_fill(&fake, row);
        const KoinePoint point = { .time = 0.25 * row, .kind = KOINE_POINT_GRID };
        status = sink->point(sink, &fake.model, &point);
    }
    if (status == KOINE_OK)
        status = sink->end(sink, &fake.model);
    const bool is_finished = store_finish(sink, "{}");
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_true(status == KOINE_FAILED || !is_finished);
    assert_string_equal(sink->error, arena_format(f->arena, "cannot write '%s': File too large", f->path));
    assert_int_equal(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    Store *const store = store_open(f->path, f->arena, f->diag);
    assert_non_null(store);
    assert_true(store_info(store)->n_rows >= 4096);
    assert_int_equal(good_rows(store), store_info(store)->n_rows);
    store_close(store);
}

static void test_a_result_can_be_read_while_it_grows(void **state)
{
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    const StoreOptions options = { .path = f->path };
    KoineSink *const sink = store_sink(&options, f->arena);
    assert_int_equal(sink->begin(sink, &fake.model), KOINE_OK);
    Store *store = NULL;
    uint64_t seen = 0;
    for (int row = 0; row < 60000; row++) {
        fake_fill(&fake, row);
        assert_int_equal(sink->point(sink, &fake.model, &(KoinePoint){ .time = row }), KOINE_OK);
        if (row == 5000)
            store = open_good(f);
        if (row > 5000 && row % 2000 == 0) {
            store_refresh(store);
            assert_true(store_info(store)->n_rows >= seen);
            seen = store_info(store)->n_rows;
            assert_int_equal(good_rows(store), seen);
            assert_null(store_info(store)->end);
        }
    }
    assert_true(seen >= 40000);
    assert_int_equal(sink->end(sink, &fake.model), KOINE_OK);
    assert_true(store_finish(sink, "{\"end\": \"done\"}"));
    assert_true(store_refresh(store));
    assert_string_equal(store_info(store)->end, "{\"end\": \"done\"}");
    assert_int_equal(good_rows(store), 60000);
    assert_false(store_refresh(store));
    store_close(store);
}

/* Where a clock that was a day ahead is set right, the time of day of the program's last look lies far in the future.
 * The library takes this definition instead of its own. */
static bool is_clock_ahead;
int clock_gettime(clockid_t clock, struct timespec *now)
{
    const int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME && is_clock_ahead)
        now->tv_sec += 86400;
    return result;
}

/* Rows are in the file after the patience of the writer, whatever happens to the time of day. */
static void test_a_clock_that_is_set_back_delays_no_rows(void **state)
{
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    is_clock_ahead = true;
    const StoreOptions options = { .path = f->path, .patience = 0.02 };
    KoineSink *const sink = store_sink(&options, f->arena);
    assert_int_equal(sink->begin(sink, &fake.model), KOINE_OK);
    for (int row = 0; row < 50; row++) {
        fake_fill(&fake, row);
        assert_int_equal(sink->point(sink, &fake.model, &(KoinePoint){ .time = row }), KOINE_OK);
    }
    Store *const store = open_good(f);
    for (int go = 0; go < 500 && store_info(store)->n_rows < 50; go++) {
        usleep(10000);
        store_refresh(store);
    }
    is_clock_ahead = false;
    assert_int_equal(good_rows(store), 50);
    store_close(store);
    assert_int_equal(sink->end(sink, &fake.model), KOINE_OK);
    assert_true(store_finish(sink, NULL));
}

/* A run that is slow to fill a block: its rows are there before the block is full, and no row is lost or twice. */
static void test_a_slow_run_is_written_before_its_block_is_full(void **state)
{
    Fixture *const f = *state;
    FakeModel fake;
    fake_create(&fake);
    const StoreOptions options = { .path = f->path, .patience = 0.02 };
    KoineSink *const sink = store_sink(&options, f->arena);
    assert_int_equal(sink->begin(sink, &fake.model), KOINE_OK);
    Store *store = NULL;
    uint64_t seen = 0;
    for (int row = 0; row < 6000; row++) {
        fake_fill(&fake, row);
        assert_int_equal(sink->point(sink, &fake.model, &(KoinePoint){ .time = row }), KOINE_OK);
        if (row != 100 && row != 500 && row != 5000)
            continue;
        for (int go = 0; go < 200 && seen < (uint64_t)row; go++) {
            usleep(10000);
            store = store ? store : open_good(f);
            store_refresh(store);
            seen = store_info(store)->n_rows;
        }
        assert_int_equal(seen, row + 1);
        assert_int_equal(good_rows(store), seen);
        double on[101];
        store_values(store, store_find(store, "on"), 0, 101, on);
        assert_true(on[99] == 1 && on[100] == 0);
    }
    assert_int_equal(sink->end(sink, &fake.model), KOINE_OK);
    assert_true(store_finish(sink, NULL));
    store_refresh(store);
    assert_int_equal(good_rows(store), 6000);
    store_close(store);
    store = open_good(f);
    assert_int_equal(good_rows(store), 6000);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_values_come_back_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_older_file_is_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ranges_do_not_depend_on_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_columns_have_types_units_and_descriptions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_aliases_are_stored_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_integers_are_exact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_buckets_are_the_extremes_of_their_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_cut_file_gives_what_is_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage_anywhere_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_files_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_writers_of_one_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_full_disk_keeps_what_was_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_disk_that_refuses_at_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_result_can_be_read_while_it_grows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_clock_that_is_set_back_delays_no_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_slow_run_is_written_before_its_block_is_full, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
