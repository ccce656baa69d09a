/* HDF5 files in the form our writer gives them, read without the library. Private to formats.
 *
 * The library trusts what it reads: damaged and malicious files can crash it, a file that was cut off it does not open
 * at all, and a lock of its own is needed to use it from several threads. The part of the format that a native store
 * uses is small: superblock 3, object headers 2 with links in them, datasets in chunks of which one dimension grows
 * (an extensible array is the index). Every structure in it has a checksum; every address and size is checked against
 * the file before it is used. The format is that of the HDF5 File Format Specification 3.0. */
#ifndef FORMATS_STORE_HDF5_H
#define FORMATS_STORE_HDF5_H

#include "base/arena.h"
#include <stdbool.h>

typedef struct {
    int descriptor;
    uint64_t size;     /* bytes there are */
    uint64_t promised; /* bytes there were when it was closed; 0: it was not, it is being written or was killed */
    uint64_t root;     /* address of the root group's object header */
    bool is_unchecked; /* checksums are not looked at: for fuzzing, which they would stop at the first byte */
} Hdf5File;

enum { HDF5_RANK = 3 };

typedef struct {
    uint64_t address;
    uint32_t size;
    uint32_t is_there; /* 0: never written, or its index is damaged */
} Hdf5Chunk;

typedef struct {
    int rank, growing;
    uint64_t extent[HDF5_RANK], chunk[HDF5_RANK];
    uint32_t width;        /* bytes of an element */
    uint64_t elements;     /* of a chunk */
    uint64_t across;       /* chunks for each step along the growing dimension */
    uint64_t index;        /* address of the extensible array */
    uint64_t n_chunks;     /* known: what is in `chunks`; further ones do not exist */
    Hdf5Chunk *chunks;     /* the growing dimension counts slowest, the others as they stand */
    bool is_index_damaged; /* parts of the index could not be read */
} Hdf5Dataset;

typedef enum { HDF5_GOOD, HDF5_UNREADABLE, HDF5_NOT_HDF5, HDF5_OTHER, HDF5_DAMAGED } Hdf5Status;

bool hdf5_is_file(const void *bytes, size_t size);
/* `descriptor` stays the caller's, file->is_unchecked is his. OTHER: an HDF5 file, but not of this form. */
Hdf5Status hdf5_open(Hdf5File *file, int descriptor);
/* A whole number among the attributes of the root group. */
Hdf5Status hdf5_number(const Hdf5File *file, const char *name, int32_t *value);
/* "/variables/name" */
/* Like malloc; ends the program where a small piece is not to be had. */
void *hdf5_allocate(size_t size);
Hdf5Status hdf5_dataset(const Hdf5File *file, const char *path, Arena *arena, Hdf5Dataset *dataset);
/* Scratch for one chunk of a dataset: planes of elements*width bytes and the packed bytes. */
typedef struct {
    unsigned char *planes, *packed;
    size_t planes_size, packed_size;
} Hdf5Scratch;
/* The chunk as planes (see store_pack.h) in scratch->planes. False: it is not there or damaged. */
bool hdf5_chunk(const Hdf5File *file, const Hdf5Dataset *dataset, uint64_t k, Hdf5Scratch *scratch);
void hdf5_scratch_free(Hdf5Scratch *scratch);

#endif
