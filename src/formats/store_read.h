/* An open native store. Private to formats: store_read.c and store_query.c. */
#ifndef FORMATS_STORE_READ_H
#define FORMATS_STORE_READ_H

#include "base/map.h"
#include "formats/store.h"
#include "formats/store_hdf5.h"

typedef struct {
    double smallest, largest;
} StorePair;

/* A chunk that was decoded last: the next question is often about the same one. */
typedef struct {
    const Hdf5Dataset *dataset; /* NULL: none */
    uint64_t chunk;
    Hdf5Scratch scratch;
} StoreHand;
enum { HAND_VALUES, HAND_CHANGES, HAND_OTHER, STORE_HANDS };

struct Store {
    StoreInfo info;
    const char *path;
    Arena *arena; /* for what stays */
    Arena *index; /* for what a refresh replaces */
    int descriptor;
    Hdf5File file;
    Hdf5Dataset blocks, values, extremes, first, changes, constants;
    uint32_t n_dense, n_changes, block_rows, span_rows;
    uint64_t n_blocks;
    uint64_t *block_changes; /* n_blocks + 1: first row of /changes of each; CHANGE_NONE: not known */
    Map by_name;             /* of hashes */
    StoreHand hands[STORE_HANDS];
    StorePair *spans;             /* times of spans: first and last */
    uint64_t n_spans, spans_rows; /* of `spans`, and the rows they are made of */
};

/* store_open on an open file, which is closed in the end; without regard to checksums: for fuzzing. */
Store *store_open_unchecked(int descriptor, Arena *arena, Diag *diag);
/* The smallest and largest values of spans first .. first + n - 1 of a dense column. nan: lost, or no number. */
void store_read_spans(Store *store, uint32_t column, uint64_t first, uint64_t n, StorePair *pairs);

#endif
