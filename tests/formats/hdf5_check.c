/* Native results as others see them: read with the HDF5 library and its filters, and an LZ4 filter that is not ours.
 * The values are those of the fake model, by its formulas. */
#include "fake_model.h"
#include "formats/store.h"
#include <hdf5.h>
#include <lz4.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 5000 };

static uint32_t big(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The frame of filter 32004: 8 bytes of size, 4 of block size, then blocks with 4 bytes of size, all big-endian. */
static size_t decode(unsigned flags, size_t n_values, const unsigned *values, size_t n_bytes, size_t *size,
                     void **buffer)
{
    (void)n_values, (void)values, (void)n_bytes;
    const unsigned char *from = *buffer;
    if (!(flags & H5Z_FLAG_REVERSE))
        return 0;
    const size_t whole = (size_t)big(from) << 32 | big(from + 4), block = big(from + 8);
    char *const to = malloc(whole);
    from += 12;
    for (size_t done = 0; done < whole; done += block) {
        const size_t raw = whole - done < block ? whole - done : block, packed = big(from);
        if (packed == raw)
            memcpy(to + done, from + 4, raw);
        else if (LZ4_decompress_safe((const char *)from + 4, to + done, (int)packed, (int)raw) != (int)raw)
            return free(to), 0;
        from += 4 + packed;
    }
    free(*buffer);
    *buffer = to;
    *size = whole;
    return whole;
}

static hid_t open_dataset(hid_t file, const char *name, hsize_t *extent)
{
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    assert_true(dataset >= 0);
    H5Sget_simple_extent_dims(space, extent, NULL);
    H5Sclose(space);
    return dataset;
}

static void *read_dataset(hid_t file, const char *name, hid_t type, size_t size, hsize_t *extent)
{
    const hid_t dataset = open_dataset(file, name, extent);
    void *const values = calloc(1, size + 1);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
    return values;
}

static void check_values(hid_t file, int32_t (*table)[7], uint32_t x)
{
    hsize_t extent[3];
    H5Dclose(open_dataset(file, "/values", extent));
    assert_int_equal(extent[1], ROWS);
    double *const values = read_dataset(file, "/values", H5T_NATIVE_DOUBLE, 8 * extent[0] * extent[1], extent);
    assert_int_equal(table[0][0], STORE_DENSE);
    for (int row = 0; row < ROWS; row++) {
        assert_true(values[row] == 0.25 * row); /* column 0 is the time */
        assert_true(values[(size_t)table[x][1] * ROWS + (size_t)row] == 0.1 * row);
    }
    free(values);
}

static void test_the_library_reads_what_we_write(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/koine-hdf5-check-%ld.h5", (long)getpid());
    Arena *const arena = arena_create(NULL);
    FakeModel fake;
    fake_create(&fake);
    const StoreOptions options = { .path = path, .begin = "{}" };
    KoineSink *const sink = store_sink(&options, arena);
    assert_int_equal(fake_run(&fake, sink, ROWS), KOINE_OK);
    assert_true(store_finish(sink, "{\"end\": \"done\"}"));

    static const H5Z_class2_t lz4 = { H5Z_CLASS_T_VERS, 32004, 1, 1, "lz4", NULL, NULL, decode };
    assert_true(H5Zregister(&lz4) >= 0);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    hsize_t extent[3];
    char *const end = read_dataset(file, "/end", H5T_NATIVE_UCHAR, 100, extent);
    assert_string_equal(end, "{\"end\": \"done\"}");
    free(end);
    const hid_t names = open_dataset(file, "/variables/name", extent), type = H5Dget_type(names);
    const size_t width = H5Tget_size(type), n = extent[0];
    H5Dclose(names);
    char *const texts = read_dataset(file, "/variables/name", type, width * n, extent);
    H5Tclose(type);
    int32_t(*const table)[7] = read_dataset(file, "/variables/table", H5T_NATIVE_INT32, 28 * n, extent);
    assert_int_equal(extent[1], 7);
    uint32_t x = 0;
    while (x < n && strncmp(texts + x * width, "x", width) != 0)
        x++;
    assert_true(x < n);
    check_values(file, table, x);
    free(texts);
    free(table);
    H5Fclose(file);
    unlink(path);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_library_reads_what_we_write) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
