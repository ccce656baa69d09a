/* Chunks of the native store: columns out of rows, planes of bytes, blocks of LZ4, checksums. Each is compared with the
 * plain way to do it. */
#include "formats/store_pack.h"
#include "formats/store_tile.h"
#include <lz4.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* ---- checksums ---- */

/* As the definition says: a word at a time, folded after each. */
static uint32_t plain_fletcher32(const unsigned char *bytes, size_t size)
{
    uint32_t sum1 = 0, sum2 = 0;
    for (size_t k = 0; k < size; k += 2) {
        sum1 += (uint32_t)bytes[k] << 8 | (k + 1 < size ? bytes[k + 1] : 0);
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 += sum1;
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    return sum2 << 16 | sum1;
}

static void test_fletcher_is_that_of_the_definition(void **state)
{
    (void)state;
    enum { SIZE = 40000 };
    unsigned char *const bytes = malloc(SIZE);
    uint64_t random = 1;
    for (int fill = 0; fill < 4; fill++) { /* any bytes, only the largest, only zeros, a single one at the end */
        for (size_t k = 0; k < SIZE; k++)
            bytes[k] = fill == 0 ? (unsigned char)next_random(&random) : fill == 1 ? 0xff : 0;
        for (size_t size = 0; size < SIZE; size = size < 100 ? size + 1 : size * 3 / 2) {
            if (fill == 3 && size > 0)
                bytes[size - 1] = 1;
            assert_int_equal(fletcher32(bytes, size), plain_fletcher32(bytes, size));
            if (fill == 3 && size > 0)
                bytes[size - 1] = 0;
        }
    }
    free(bytes);
}

/* ---- chunks ---- */

/* Numbers whose high bytes repeat and whose low ones do not; `wild` ones repeat nowhere. */
static void fill_numbers(double *numbers, size_t n, bool is_wild, uint64_t *random)
{
    for (size_t k = 0; k < n; k++) {
        const uint64_t bits = next_random(random) << 40 ^ next_random(random) << 20 ^ next_random(random);
        memcpy(&numbers[k], &bits, sizeof bits);
        if (!is_wild)
            numbers[k] = 1 + 1e-3 * (double)(next_random(random) % 1000003) / 1000003;
    }
}

static void test_numbers_come_back_whatever_was_learnt(void **state)
{
    (void)state;
    enum { N = 4096, WIDTH = 8, CHUNKS = 60 };
    double *const numbers = malloc(N * WIDTH), *const back = malloc(N * WIDTH);
    unsigned char *const planes = malloc(N * WIDTH), *const packed = malloc(pack_bound(N * WIDTH));
    static const size_t sizes[] = { 1, 15, 16, 17, 1023, 1024, 1031, N };
    uint64_t random = 7;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        PackHistory history = { 0 };
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            const size_t n = sizes[s];
            fill_numbers(numbers, n, chunk / 10 % 2, &random);
            const size_t size = pack(numbers, n, WIDTH, planes, &history, packed);
            assert_true(size <= pack_bound(n * WIDTH));
            memset(planes, 0xaa, n * WIDTH);
            assert_true(unpack_planes(packed, size, n, WIDTH, true, planes));
            unshuffle(planes, n, WIDTH, 0, n, back);
            assert_memory_equal(back, numbers, n * WIDTH);
            packed[size / 2] ^= 1;
            assert_false(unpack_planes(packed, size, n, WIDTH, true, planes));
        }
    }
    free(numbers);
    free(back);
    free(planes);
    free(packed);
}

/* Planes that do get smaller are still found after ones that did not. */
static void test_what_gets_smaller_is_found_again(void **state)
{
    (void)state;
    enum { N = 4096, WIDTH = 8 };
    double *const numbers = malloc(N * WIDTH);
    unsigned char *const planes = malloc(N * WIDTH), *const packed = malloc(pack_bound(N * WIDTH));
    PackHistory history = { 0 };
    uint64_t random = 3;
    for (int chunk = 0; chunk < 100; chunk++) {
        fill_numbers(numbers, N, true, &random);
        assert_true(pack(numbers, N, WIDTH, planes, &history, packed) > N * WIDTH);
    }
    memset(numbers, 0, N * WIDTH);
    size_t size = 0;
    for (int chunk = 0; chunk < 33; chunk++)
        size = pack(numbers, N, WIDTH, planes, &history, packed);
    assert_true(size < 500);
    free(numbers);
    free(planes);
    free(packed);
}

/* One block for all planes, as small chunks are and as others may write. */
static void test_a_frame_of_one_block_is_read(void **state)
{
    (void)state;
    enum { N = 2048, WIDTH = 8, SIZE = N * WIDTH };
    unsigned char planes[SIZE], back[SIZE], frame[SIZE + 1000] = { 0 };
    for (size_t k = 0; k < SIZE; k++)
        planes[k] = (unsigned char)(k / 100);
    const int packed = LZ4_compress_default((const char *)planes, (char *)frame + 16, SIZE, SIZE);
    assert_true(packed > 0);
    for (int k = 0; k < 4; k++) {
        frame[4 + k] = frame[8 + k] = (unsigned char)(SIZE >> 8 * (3 - k));
        frame[12 + k] = (unsigned char)(packed >> 8 * (3 - k));
    }
    const size_t length = 16 + (size_t)packed;
    const uint32_t sum = plain_fletcher32(frame, length);
    for (int k = 0; k < 4; k++)
        frame[length + (size_t)k] = (unsigned char)(sum >> 8 * k);
    assert_true(unpack_planes(frame, length + 4, N, WIDTH, true, back));
    assert_memory_equal(back, planes, SIZE);
    assert_false(unpack_planes(frame, length + 3, N, WIDTH, false, back)); /* cut off */
    frame[8] = frame[9] = frame[10] = frame[11] = 0;                       /* blocks of no bytes */
    assert_false(unpack_planes(frame, length + 4, N, WIDTH, false, back));
}

/* ---- tiles ---- */

static void test_tiles_are_the_columns_of_the_rows(void **state)
{
    (void)state;
    enum { MOST = 35, STRIDE = 48 };
    KoineSlot rows[MOST * STRIDE], tile[MOST * MOST];
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        rows[k].i = (int64_t)k;
    for (uint32_t n = 0; n <= MOST; n += 1 + n / 9)
        for (uint32_t columns = 1; columns <= MOST; columns++)
            for (uint32_t height = n > 0 ? n : 1; height <= MOST; height += 7) {
                memset(tile, 0xaa, sizeof tile);
                const TileSource from = { rows + 3, STRIDE, n, columns, columns < 20 };
                tile_gather(&from, height, tile);
                for (size_t c = 0; c < columns; c++)
                    for (size_t r = 0; r < height; r++)
                        assert_int_equal(tile[c * height + r].i, r < n ? (int64_t)(r * STRIDE + c + 3) : 0);
            }
}

static void test_extremes_do_not_see_what_is_no_number(void **state)
{
    (void)state;
    KoineSlot values[40];
    double pair[2];
    for (uint32_t n = 0; n <= 40; n++)
        for (uint32_t place = 0; place < n; place++) { /* of the smallest; the largest beside it */
            for (uint32_t k = 0; k < 40; k++)
                values[k].r = k % 3 ? 5.0 : (double)NAN;
            values[place].r = -2;
            values[(place + 1) % n].r = n > 1 ? 7 : -2;
            tile_extremes(values, n, pair);
            assert_true(pair[0] == -2 && pair[1] == (n > 1 ? 7 : -2));
        }
    values[0].r = (double)NAN;
    tile_extremes(values, 1, pair);
    assert_true(isnan(pair[0]) && isnan(pair[1]));
    tile_extremes(values, 0, pair);
    assert_true(isnan(pair[0]) && isnan(pair[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fletcher_is_that_of_the_definition),
        cmocka_unit_test(test_numbers_come_back_whatever_was_learnt),
        cmocka_unit_test(test_what_gets_smaller_is_found_again),
        cmocka_unit_test(test_a_frame_of_one_block_is_read),
        cmocka_unit_test(test_tiles_are_the_columns_of_the_rows),
        cmocka_unit_test(test_extremes_do_not_see_what_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
