#include "formats/store_pack.h"
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

/* Byte j of word k becomes byte k of word j. */
static void transpose_bytes(uint64_t w[8])
{
    static const uint64_t LOW1 = 0x00ff00ff00ff00ffu, LOW2 = 0x0000ffff0000ffffu, LOW4 = 0x00000000ffffffffu;
    for (int k = 0; k < 8; k += 2) {
        const uint64_t t = ((w[k] >> 8) ^ w[k + 1]) & LOW1;
        w[k] ^= t << 8;
        w[k + 1] ^= t;
    }
    for (int k = 0; k < 8; k = k % 4 == 1 ? k + 3 : k + 1) {
        const uint64_t t = ((w[k] >> 16) ^ w[k + 2]) & LOW2;
        w[k] ^= t << 16;
        w[k + 2] ^= t;
    }
    for (int k = 0; k < 4; k++) {
        const uint64_t t = ((w[k] >> 32) ^ w[k + 4]) & LOW4;
        w[k] ^= t << 32;
        w[k + 4] ^= t;
    }
}

/* Whether word k in memory begins with its lowest byte: then eight words can be turned at once. */
static bool is_little(void)
{
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    return first == 1;
}

static void shuffle(const unsigned char *from, size_t n, size_t width, unsigned char *to)
{
    size_t i = 0;
    for (; width == 8 && is_little() && i + 8 <= n; i += 8) {
        uint64_t words[8];
        memcpy(words, from + 8 * i, sizeof words);
        transpose_bytes(words);
        for (size_t k = 0; k < 8; k++)
            memcpy(to + k * n + i, &words[k], 8);
    }
    for (; i < n; i++)
        for (size_t k = 0; k < width; k++)
            to[k * n + i] = from[i * width + k];
}

void unshuffle(const void *planes, size_t n, size_t width, size_t first, size_t count, void *to)
{
    const unsigned char *const from = (const unsigned char *)planes + first;
    unsigned char *const out = to;
    size_t i = 0;
    for (; width == 8 && is_little() && i + 8 <= count; i += 8) {
        uint64_t words[8];
        for (size_t k = 0; k < 8; k++)
            memcpy(&words[k], from + k * n + i, 8);
        transpose_bytes(words);
        memcpy(out + 8 * i, words, sizeof words);
    }
    for (; i < count; i++)
        for (size_t k = 0; k < width; k++)
            out[i * width + k] = from[k * n + i];
}

/* ---- checksums --------------------------------------------------------------------------------------------------- */

/* As HDF5 computes it: words of two bytes, the first one high. */
static uint32_t fletcher32(const unsigned char *bytes, size_t size)
{
    enum { MOST = 360 }; /* words after which the sums could overflow */
    uint32_t sum1 = 0, sum2 = 0;
    size_t words = size / 2;
    while (words > 0) {
        const size_t n = words < MOST ? words : MOST;
        for (size_t k = 0; k < n; k++, bytes += 2) {
            sum1 += (uint32_t)bytes[0] << 8 | bytes[1];
            sum2 += sum1;
        }
        words -= n;
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    if (size % 2) {
        sum1 += (uint32_t)*bytes << 8;
        sum2 += sum1;
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    return sum2 << 16 | sum1;
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

size_t pack_bound(size_t size)
{
    return LZ4_HEAD + BLOCK_HEAD + (size_t)LZ4_compressBound((int)size) + CHECKSUM;
}

/* The LZ4 filter's frame: size of the whole and of a block, then blocks with their sizes; ours is one block. What does
 * not get smaller is stored as it is, with the size of the block. */
size_t pack(const void *elements, size_t n, size_t width, void *planes, void *to)
{
    const size_t size = n * width;
    unsigned char *const out = to;
    shuffle(elements, n, width, planes);
    put_big(out, size, 8);
    put_big(out + 8, size, 4);
    char *const body = (char *)out + LZ4_HEAD + BLOCK_HEAD;
    size_t packed = (size_t)LZ4_compress_default(planes, body, (int)size, LZ4_compressBound((int)size));
    if (packed == 0 || packed >= size) {
        memcpy(body, planes, size);
        packed = size;
    }
    put_big(out + LZ4_HEAD, packed, 4);
    const size_t length = LZ4_HEAD + BLOCK_HEAD + packed;
    const uint32_t checksum = fletcher32(out, length);
    for (int k = 0; k < CHECKSUM; k++)
        out[length + (size_t)k] = (unsigned char)(checksum >> 8 * k);
    return length + CHECKSUM;
}

bool unpack_planes(const void *packed, size_t size, size_t n, size_t width, bool is_checked, void *planes)
{
    const unsigned char *const from = packed;
    if (size < LZ4_HEAD + BLOCK_HEAD + CHECKSUM)
        return false;
    const size_t length = size - CHECKSUM, body = length - LZ4_HEAD - BLOCK_HEAD;
    uint32_t checksum = 0;
    for (int k = 0; k < CHECKSUM; k++)
        checksum |= (uint32_t)from[length + (size_t)k] << 8 * k;
    if ((is_checked && checksum != fletcher32(from, length)) || get_big(from, 8) != n * width ||
        get_big(from + 8, 4) != n * width || get_big(from + LZ4_HEAD, 4) != body)
        return false;
    const char *const begin = (const char *)from + LZ4_HEAD + BLOCK_HEAD;
    if (body == n * width) {
        memcpy(planes, begin, body);
        return true;
    }
    return LZ4_decompress_safe(begin, planes, (int)body, (int)(n * width)) == (int)(n * width);
}
