/* Chunks of the native store as bytes: shuffled, LZ4, checksum. Private to formats.
 *
 * They are what the HDF5 filters 2 (shuffle), 32004 (LZ4) and 3 (Fletcher-32) give one after the other, so that every
 * HDF5 program with the LZ4 plugin reads them; made here because a writer that hands finished chunks to the library is
 * several times faster, and because the reader takes nothing on trust. */
#ifndef FORMATS_STORE_PACK_H
#define FORMATS_STORE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_FILTER_SHUFFLE = 2, STORE_FILTER_FLETCHER = 3, STORE_FILTER_LZ4 = 32004 };

/* What was learnt from the chunks before about each byte of an element: the low bytes of numbers seldom get smaller,
 * and finding that out costs most of the time. To be begun with zeros. */
enum { PACK_PLANES = 8 };
typedef struct {
    uint8_t pause, wait; /* chunks that are not tried: after the next failure, still */
} PackPlane;
typedef struct {
    PackPlane planes[PACK_PLANES];
} PackHistory;

/* Bytes that a packed chunk of `size` bytes needs at most. */
size_t pack_bound(size_t size);
/* Packs n elements of `width` bytes; `planes` is scratch of n*width bytes. Returns the bytes written to `to`. */
size_t pack(const void *elements, size_t n, size_t width, void *planes, PackHistory *history, void *to);
/* Gives the n*width bytes back as planes: byte 0 of all elements, then byte 1, ... False: damaged. is_checked: its
 * checksum counts. */
bool unpack_planes(const void *packed, size_t size, size_t n, size_t width, bool is_checked, void *planes);
/* Elements first .. first + count - 1 out of the planes of n elements of `width` bytes. */
void unshuffle(const void *planes, size_t n, size_t width, size_t first, size_t count, void *to);

/* Fletcher's checksum as HDF5's filter 3 computes it. */
uint32_t fletcher32(const void *bytes, size_t size);
/* Bob Jenkins' lookup3, the checksum of HDF5's structures. */
uint32_t lookup3(const void *bytes, size_t size);

#endif
