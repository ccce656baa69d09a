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

/* The datasets of the file; store_layout.h says what they contain. */
typedef struct {
    Hdf5Dataset blocks, values, extremes, first, changes, constants;
} StoreData;

/* How the datasets are cut: columns of both kinds, rows of a block, and rows of a span of /extremes. */
typedef struct {
    uint32_t n_dense, n_changes, block_rows, span_rows;
} StoreShape;

/* The first and the last time of every span, made when a question needs them. */
typedef struct {
    StorePair *at;
    uint64_t n, n_rows; /* n_rows: rows of the file that the spans were made of */
} StoreTimes;

struct Store {
    StoreInfo info;
    const char *path;
    Arena *arena; /* for what stays */
    Arena *index; /* for what a refresh replaces */
    int descriptor;
    Hdf5File file;
    StoreData data;
    StoreShape shape;
    uint64_t n_blocks;
    uint64_t *block_changes; /* n_blocks + 1: first row of /changes of each; CHANGE_NONE: not known */
    Map by_name;             /* hash of a name -> variable */
    StoreHand hands[STORE_HANDS];
    StoreTimes times;
};

/* store_open on an open file, which is closed in the end; without regard to checksums: for fuzzing. */
Store *store_open_unchecked(int descriptor, Arena *arena, Diag *diag);
/* The smallest and largest values of spans first .. first + n - 1 of a dense column. nan: lost, or no number. */
void store_read_spans(Store *store, uint32_t column, uint64_t first, uint64_t n, StorePair *pairs);

#endif
