/* Blocks of rows on their way into a native store. Private to formats: store_sink.c fills them, store_write.c packs
 * them and writes them. */
#ifndef FORMATS_STORE_WRITE_H
#define FORMATS_STORE_WRITE_H

#include "base/arena.h"
#include "formats/store_file.h"
#include "koine/model.h"

/* The datasets of the file; store_layout.h says what they contain. */
typedef struct {
    StoreDataset blocks, values, extremes, first, changes, constants, begin, end;
} StoreDatasets;

/* Room for one chunk of each kind, on its way into the file. */
typedef struct {
    KoineSlot *tile;
    double *pairs;
    int64_t *firsts;
    struct StoreChange *list;
    uint32_t n_list;
} StoreRoom;

typedef struct {
    uint32_t n_dense, n_changes; /* columns; the dense ones come first in a row */
    uint64_t stride;             /* slots from row to row of a block */
    uint32_t block_rows, spans;  /* rows of a block, and pairs of smallest and largest value in it */
    StoreFile file;
    StoreDatasets data;
    uint64_t n_blocks, n_rows, n_listed; /* written; n_listed: rows of /changes */
    StoreRoom room;
} StoreWriter;

/* What a column is, for the tables. */
typedef struct {
    const char *name, *unit, *comment;
    int32_t table[8]; /* TABLE_COLUMNS of them */
} StoreRow;

typedef struct {
    StoreRow *rows;
    uint32_t n_rows;
    const char **enumerations; /* name and labels, each on a line */
    uint32_t n_enumerations, n_constants;
    const char *begin; /* JSON */
} StoreTables;

/* Opens the file; n_dense and n_changes are known. False, also below: writer->file.error says why. */
bool store_writer_open(StoreWriter *writer, const char *path, bool is_confined, Arena *arena);
/* Makes all datasets and the tables; an older file goes. */
bool store_writer_begin(StoreWriter *writer, const StoreTables *tables, Arena *arena);
void store_writer_constants(StoreWriter *writer, const KoineSlot *slots, uint32_t n, Arena *arena);
/* Rows of n_dense + n_changes slots, `stride` apart, at most block_rows of them; fewer only in the last block, or for
 * now: the next call then has the same rows and more, and replaces what this one wrote. */
bool store_writer_block(StoreWriter *writer, const KoineSlot *rows, uint32_t n, bool is_for_now);
bool store_writer_end(StoreWriter *writer, const char *end);

#endif
