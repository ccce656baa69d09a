#include "formats/store_pack.h"
#include <limits.h>
#include <lz4.h>
#include <string.h>

enum { LZ4_HEAD = 12, BLOCK_HEAD = 4, CHECKSUM = 4 };

static void put_big(unsigned char *to, uint64_t value, int bytes)
{
    for (int k = bytes - 1; k >= 0; k--, value >>= 8)
        to[k] = (unsigned char)value;
}

static uint64_t get_big(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    for (int k = 0; k < bytes; k++)
        value = value << 8 | from[k];
    return value;
}

/* ---- shuffle ----------------------------------------------------------------------------------------------------- */

/* Elements of eight bytes are turned sixteen at a time where the compiler has vectors; without them the plain loops at
 * the end of shuffle and unshuffle do everything. */
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define HAS_TURN
#endif
#endif

#ifdef HAS_TURN
enum { LANES = 16 };
typedef unsigned char Bytes __attribute__((vector_size(16)));

/* Byte p of the 128 goes to 2p, from the second half to 2p+1: the seven bits of its place rotate by one. */
static inline void interleave(Bytes x[8])
{
    Bytes y[8];
    for (int k = 0; k < 4; k++) {
        y[2 * k] = __builtin_shufflevector(x[k], x[k + 4], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        y[2 * k + 1] =
            __builtin_shufflevector(x[k], x[k + 4], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    memcpy(x, y, sizeof y);
}

/* The place of a byte is its element (four bits), then its number in it (three): four rotations exchange them. */
static size_t shuffle_words(const unsigned char *from, size_t n, unsigned char *const to[PACK_PLANES])
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        Bytes x[8];
        memcpy(x, from + 8 * i, sizeof x);
        for (int k = 0; k < 4; k++)
            interleave(x);
        for (size_t k = 0; k < 8; k++)
            memcpy(to[k] + i, &x[k], LANES);
    }
    return i;
}

/* And three bring them back. */
static size_t unshuffle_words(const unsigned char *from, size_t n, size_t count, unsigned char *to)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        Bytes x[8];
        for (size_t k = 0; k < 8; k++)
            memcpy(&x[k], from + k * n + i, LANES);
        for (int k = 0; k < 3; k++)
            interleave(x);
        memcpy(to + 8 * i, x, sizeof x);
    }
    return i;
}
#else
static size_t shuffle_words(const unsigned char *from, size_t n, unsigned char *const to[PACK_PLANES])
{
    (void)from, (void)n, (void)to;
    return 0;
}

static size_t unshuffle_words(const unsigned char *from, size_t n, size_t count, unsigned char *to)
{
    (void)from, (void)n, (void)count, (void)to;
    return 0;
}
#endif

static void shuffle(const unsigned char *from, size_t n, size_t width, unsigned char *to)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < width; k++)
            to[k * n + i] = from[i * width + k];
}

/* Each plane to a place of its own. */
static void shuffle_planes(const unsigned char *from, size_t n, unsigned char *const to[PACK_PLANES])
{
    for (size_t i = shuffle_words(from, n, to); i < n; i++)
        for (size_t k = 0; k < PACK_PLANES; k++)
            to[k][i] = from[i * PACK_PLANES + k];
}

void unshuffle(const void *planes, size_t n, size_t width, size_t first, size_t count, void *to)
{
    const unsigned char *from = (const unsigned char *)planes + first;
    unsigned char *out = to;
    for (size_t i = width == 8 ? unshuffle_words(from, n, count, out) : 0; i < count; i++)
        for (size_t k = 0; k < width; k++)
            out[i * width + k] = from[k * n + i];
}

/* ---- checksums --------------------------------------------------------------------------------------------------- */

static bool is_little(void)
{
    static const union {
        uint16_t word;
        unsigned char first;
    } ORDER = { 1 };
    return ORDER.first;
}

/* Words of two bytes, in rows of eight: pairs of them, the low and the high halves, with sums of their own. With `once`
 * the sum of a place and `twice` that of its partial sums, the sum of all partial sums is eight times that of `twice`
 * less `once` times the place. */
enum { PAIRS = 4, ROW = 2 * PAIRS, ROWS = 360 }; /* rows after which `twice` could overflow */
typedef uint32_t Sums __attribute__((vector_size(4 * PAIRS)));

typedef struct {
    uint64_t plain, partial; /* modulo 65535 */
    bool is_any;             /* a word was not 0 */
} Fletcher;

static void add_rows(Fletcher *f, const unsigned char *bytes, size_t rows)
{
    Sums once_low = { 0 }, once_high = { 0 }, twice_low = { 0 }, twice_high = { 0 };
    for (size_t row = 0; row < rows; row++, bytes += 2 * ROW) {
        Sums pairs;
        memcpy(&pairs, bytes, sizeof pairs);
        once_low += pairs & 0xffff;
        once_high += pairs >> 16;
        twice_low += once_low;
        twice_high += once_high;
    }
    uint64_t plain = 0, partial = 0, less = 0;
    for (int k = 0; k < PAIRS; k++) {
        const uint64_t second = is_little() ? once_high[k] : once_low[k];
        plain += (uint64_t)once_low[k] + once_high[k];
        partial += (uint64_t)twice_low[k] + twice_high[k];
        less += 2 * (uint64_t)k * ((uint64_t)once_low[k] + once_high[k]) + second;
    }
    f->partial = (f->partial + ROW * rows * f->plain + ROW * partial - less) % 65535;
    f->plain = (f->plain + plain) % 65535;
    f->is_any |= plain != 0;
}

static void add_word(Fletcher *f, const unsigned char bytes[2])
{
    uint16_t word;
    memcpy(&word, bytes, sizeof word);
    f->plain = (f->plain + word) % 65535;
    f->partial = (f->partial + f->plain) % 65535;
    f->is_any |= word != 0;
}

/* HDF5 takes the first byte of a word as the high one; exchanging the bytes of all words exchanges those of the sums.
 * And its way to add gives 65535 where the sum is a multiple of that, and 0 only if all words are 0. */
static uint32_t fletcher_sum(uint64_t sum, bool is_any)
{
    const uint32_t value = sum == 0 && is_any ? 65535 : (uint32_t)sum;
    return is_little() ? value >> 8 | (value & 0xff) << 8 : value;
}

uint32_t fletcher32(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    Fletcher f = { 0, 0, false };
    while (size >= 2 * ROW) {
        const size_t most = size / (2 * ROW), rows = most < ROWS ? most : ROWS;
        add_rows(&f, bytes, rows);
        bytes += rows * 2 * ROW;
        size -= rows * 2 * ROW;
    }
    for (; size >= 2; size -= 2, bytes += 2)
        add_word(&f, bytes);
    if (size == 1)
        add_word(&f, (const unsigned char[2]){ *bytes, 0 });
    return fletcher_sum(f.partial, f.is_any) << 16 | fletcher_sum(f.plain, f.is_any);
}

static uint32_t rotate(uint32_t x, int k)
{
    return x << k | x >> (32 - k);
}

uint32_t lookup3(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint32_t a = 0xdeadbeefu + (uint32_t)size, b = a, c = a;
    for (; size > 12; size -= 12, at += 12) {
        a += at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        b += at[4] | (uint32_t)at[5] << 8 | (uint32_t)at[6] << 16 | (uint32_t)at[7] << 24;
        c += at[8] | (uint32_t)at[9] << 8 | (uint32_t)at[10] << 16 | (uint32_t)at[11] << 24;
        a = (a - c) ^ rotate(c, 4), c += b;
        b = (b - a) ^ rotate(a, 6), a += c;
        c = (c - b) ^ rotate(b, 8), b += a;
        a = (a - c) ^ rotate(c, 16), c += b;
        b = (b - a) ^ rotate(a, 19), a += c;
        c = (c - b) ^ rotate(b, 4), b += a;
    }
    if (size == 0)
        return c;
    uint32_t rest[3] = { 0 };
    for (size_t k = 0; k < size; k++)
        rest[k / 4] |= (uint32_t)at[k] << 8 * (k % 4);
    a += rest[0];
    b += rest[1];
    c += rest[2];
    c = (c ^ b) - rotate(b, 14);
    a = (a ^ c) - rotate(c, 11);
    b = (b ^ a) - rotate(a, 25);
    c = (c ^ b) - rotate(b, 16);
    a = (a ^ c) - rotate(c, 4);
    b = (b ^ a) - rotate(a, 14);
    return (c ^ b) - rotate(b, 24);
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* Planes of this size on are blocks of their own: those that do not get smaller need not be tried again and again. */
static const size_t PLANE_FROM = 1024;

size_t pack_bound(size_t size)
{
    return LZ4_HEAD + PACK_PLANES * BLOCK_HEAD + size + CHECKSUM;
}

/* One block of the frame: its size, its bytes. What does not get smaller is stored as it is. */
static size_t pack_block(const unsigned char *from, size_t size, unsigned char *to)
{
    char *body = (char *)to + BLOCK_HEAD;
    size_t packed = (size_t)LZ4_compress_default((const char *)from, body, (int)size, (int)size - 1);
    if (packed == 0) {
        memcpy(body, from, size);
        packed = size;
    }
    put_big(to, packed, BLOCK_HEAD);
    return packed;
}

/* A plane that hardly got smaller is left alone for a while, twice as long each time. */
static void learn(PackPlane *plane, size_t packed, size_t size)
{
    enum { LONGEST = 31 };
    plane->pause = packed < size - size / 8 ? 0 : plane->pause < LONGEST ? 2 * plane->pause + 1 : LONGEST;
    plane->wait = plane->pause;
}

/* A plane a block. The first ones, the low bytes, are seldom tried and stand where they belong from the begin. */
static size_t pack_planes(const void *elements, size_t n, unsigned char *scratch, PackHistory *history,
                          unsigned char *to)
{
    unsigned char *planes[PACK_PLANES];
    size_t n_plain = 0;
    while (n_plain < PACK_PLANES && history->planes[n_plain].wait > 0)
        n_plain++;
    for (size_t k = 0; k < PACK_PLANES; k++)
        planes[k] = k < n_plain ? to + k * (BLOCK_HEAD + n) + BLOCK_HEAD : scratch + k * n;
    shuffle_planes(elements, n, planes);
    size_t length = 0;
    for (size_t k = 0; k < PACK_PLANES; k++) {
        PackPlane *plane = &history->planes[k];
        size_t packed = n;
        if (plane->wait > 0) {
            plane->wait--;
            put_big(to + length, n, BLOCK_HEAD);
            if (k >= n_plain)
                memcpy(to + length + BLOCK_HEAD, planes[k], n);
        } else {
            packed = pack_block(planes[k], n, to + length);
            learn(plane, packed, n);
        }
        length += BLOCK_HEAD + packed;
    }
    return length;
}

/* The LZ4 filter's frame: size of the whole and of a block, then the blocks. */
size_t pack(const void *elements, size_t n, size_t width, void *planes, PackHistory *history, void *to)
{
    const size_t size = n * width;
    unsigned char *out = to;
    const bool is_by_plane = n >= PLANE_FROM && width == PACK_PLANES;
    put_big(out, size, 8);
    put_big(out + 8, is_by_plane ? n : size, 4);
    size_t length = LZ4_HEAD;
    if (is_by_plane) {
        length += pack_planes(elements, n, planes, history, out + length);
    } else {
        shuffle(elements, n, width, planes);
        length += BLOCK_HEAD + pack_block(planes, size, out + length);
    }
    const uint32_t checksum = fletcher32(out, length);
    for (int k = 0; k < CHECKSUM; k++)
        out[length + (size_t)k] = (unsigned char)(checksum >> 8 * k);
    return length + CHECKSUM;
}

static bool unpack_blocks(const unsigned char *from, size_t length, size_t block, char *to, size_t size)
{
    for (size_t done = 0; done < size; done += block) {
        const size_t raw = size - done < block ? size - done : block;
        if (length < BLOCK_HEAD)
            return false;
        const size_t packed = get_big(from, BLOCK_HEAD);
        from += BLOCK_HEAD;
        length -= BLOCK_HEAD;
        if (packed > length)
            return false;
        if (packed == raw)
            memcpy(to + done, from, raw);
        else if (LZ4_decompress_safe((const char *)from, to + done, (int)packed, (int)raw) != (int)raw)
            return false;
        from += packed;
        length -= packed;
    }
    return length == 0;
}

bool unpack_planes(const void *packed, size_t size, size_t n, size_t width, bool is_checked, void *planes)
{
    const unsigned char *from = packed;
    if (size < LZ4_HEAD + BLOCK_HEAD + CHECKSUM || size > INT_MAX || n * width > INT_MAX)
        return false;
    const size_t length = size - CHECKSUM;
    uint32_t checksum = 0;
    for (int k = 0; k < CHECKSUM; k++)
        checksum |= (uint32_t)from[length + (size_t)k] << 8 * k;
    if ((is_checked && checksum != fletcher32(from, length)) || get_big(from, 8) != n * width)
        return false;
    const size_t block = get_big(from + 8, 4);
    return block > 0 && unpack_blocks(from + LZ4_HEAD, length - LZ4_HEAD, block, planes, n * width);
}
