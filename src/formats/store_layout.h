/* The native store as an HDF5 file: names and sizes that writer and reader agree on. docs/results.md tells the rest. */
#ifndef FORMATS_STORE_LAYOUT_H
#define FORMATS_STORE_LAYOUT_H

#include <stdint.h>

enum { STORE_VERSION = 1 };
#define STORE_FORMAT "koine-result" /* attribute of the root */

/* Datasets: /begin /end /blocks /values /extremes /first /changes /constants /enumerations and those of the group
 * /variables: name unit comment table. */

enum { /* columns of /variables/table */
       TABLE_STORAGE,
       TABLE_COLUMN,
       TABLE_NEGATED,
       TABLE_TYPE,
       TABLE_VARIABILITY,
       TABLE_CAUSALITY,
       TABLE_ENUMERATION, /* row of /enumerations, or -1 */
       TABLE_COLUMNS
};

enum {                /* columns of /blocks */
       BLOCK_ROWS,    /* rows up to the end of the block */
       BLOCK_CHANGES, /* its first row of /changes */
       BLOCK_COLUMNS
};

typedef struct StoreChange { /* a row of /changes */
    uint64_t column;         /* CHANGE_NONE: fills up the chunk */
    uint64_t row;
    int64_t value; /* bits of the slot */
} StoreChange;
#define CHANGE_NONE UINT64_MAX

enum {
    COLUMN_KIND,
    COLUMN_EVENT_STEP,
    MARK_COLUMNS
}; /* the first columns by change; the first dense one is the time */

enum {
    CHUNK_VALUES = 4096,    /* of eight bytes, in a chunk of /values or /extremes */
    CHUNK_CHANGES = 1024,   /* in a chunk of /changes */
    CHUNK_FIRST = 4096,     /* columns in a chunk of /first */
    CHUNK_BYTES = 1 << 16,  /* of texts */
    SPAN_ROWS = 256,        /* with one smallest and largest value */
    BLOCK_ROWS_MOST = 4096, /* rows of a block: ... */
    BLOCK_ROWS_LEAST = 16
};
#define BLOCK_BYTES ((uint64_t)1 << 24) /* ... and about this much memory */

#endif
