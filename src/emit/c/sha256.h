/* SHA-256 (FIPS 180-4), for the names of cache entries. */
#ifndef EMIT_C_SHA256_H
#define EMIT_C_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t h[8];
    uint8_t block[64];
    uint64_t n; /* bytes so far */
} Sha256;

enum { SHA256_TEXT = 65 }; /* 64 hexadecimal digits and 0 */

void sha256_begin(Sha256 *sha);
void sha256_add(Sha256 *sha, const void *data, size_t size);
void sha256_end(Sha256 *sha, char text[SHA256_TEXT]);

#endif
