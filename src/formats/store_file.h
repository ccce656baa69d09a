/* The HDF5 side of the native store's writer: datasets that grow, finished chunks, space. Private to formats.
 *
 * Nothing that fails here is fatal: the first failure is remembered in `error`, later calls do nothing. Disk space is
 * reserved ahead of what the library writes, because the library cannot close a file whose structures it could not
 * write: a full disk is found before it sees it. */
#ifndef FORMATS_STORE_FILE_H
#define FORMATS_STORE_FILE_H

#include "base/arena.h"
#include "formats/replace.h"
#include "formats/store_driver.h"
#include "formats/store_pack.h"
#include <stdbool.h>

typedef struct {
    hid_t id;
    int rank, growing; /* the dimension that grows */
    hsize_t extent[3], chunk[3];
    size_t width; /* bytes of an element */
    PackHistory history;
} StoreDataset;

typedef struct {
    const char *path;
    hid_t file, driver_id;
    int descriptor; /* of the file; holds the lock; -1: not open */
    StoreDriver driver;
    uint64_t reserved, limit; /* bytes: on the disk, and what the process may write */
    bool is_unreserved;       /* this file system cannot reserve */
    bool has_older;           /* there is an older file, which is replaced when the new one can be read */
    bool is_replacing;        /* by this one */
    bool is_failed;
    Replacement replacement;
    char error[256];
    unsigned char *planes, *packed; /* room for the largest chunk */
} StoreFile;

/* Opens and locks; an older file is not touched. */
bool store_file_open(StoreFile *file, const char *path, bool is_confined);
/* Every chunk has at most `largest` bytes; planes and packed are the caller's, of `largest` and pack_bound(largest).
 * The file must stay where it is in memory. */
bool store_file_create(StoreFile *file, Arena *arena);
/* From here on others may read while we write; no further dataset can be made. An older file is gone. */
void store_file_share(StoreFile *file);
void store_file_flush(StoreFile *file);
/* Closes everything; also after failures. */
bool store_file_close(StoreFile *file);

/* What a call of the library came to: `status` is its own, the driver knows about the disk. A property that could not
 * be set counts as well: without it the file would be written, but not be read. */
void store_file_check(StoreFile *file, int64_t status);
hid_t store_file_group(StoreFile *file, const char *name);
/* `type` is closed with the dataset where it is not one of the library's own. */
StoreDataset store_file_dataset(StoreFile *file, const char *name, hid_t type, int rank, int growing,
                                const hsize_t *extent, const hsize_t *chunk);
void store_file_extend(StoreFile *file, StoreDataset *dataset, hsize_t extent);
/* A whole chunk, beginning at the element `at`. */
void store_file_chunk(StoreFile *file, StoreDataset *dataset, const hsize_t *at, const void *elements);
void store_file_dataset_close(StoreFile *file, StoreDataset *dataset);
void store_file_attribute(StoreFile *file, const char *name, hid_t type, const void *value);

#endif
