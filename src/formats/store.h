/* Results in the native store: an HDF5 file, chunked and compressed, that grows while the run goes on.
 *
 * docs/results.md describes the file for others. In short: the recorded scalars are columns. Real columns that change
 * continuously are kept whole (`dense`), with the smallest and largest value of every few hundred rows; discrete ones
 * by change; parameters and constants once. Aliases share a column, with a sign. A block is so many rows; blocks are
 * packed and written by a thread of their own, each followed by a flush in HDF5's single-writer mode: whoever reads
 * while the run goes on, or after it was killed, finds whole blocks; of a slow run also the begin of the last one. */
#ifndef FORMATS_STORE_H
#define FORMATS_STORE_H

#include "base/arena.h"
#include "base/diag.h"
#include "koine/simulate.h"

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *path;
    bool is_confined;         /* named by a model or an experiment, see formats/writing.h */
    const char *const *globs; /* see select.h; NULL: everything visible, parameters too */
    uint32_t n_globs;
    bool every_event_step;
    double patience;   /* seconds that rows wait for their block to become full at most; 0: 10 */
    bool has_phases;   /* parameters may change in the run: they are stored by change */
    const char *begin; /* what is known of the run beforehand: a JSON object, kept as it is; NULL: {} */
} StoreOptions;

/* A sink that lives in the arena; the texts of the options must stay until it begins. The file is created by the
 * sink's begin and is complete after store_finish. */
KoineSink *store_sink(const StoreOptions *options, Arena *arena);
/* Closes the file, with what came of the run: a JSON object, kept as it is; NULL: not known. To be called once after
 * the sink's end, whatever happened. False: it could not be written; sink->error says why. */
bool store_finish(KoineSink *sink, const char *end);

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef enum { STORE_CONSTANT, STORE_DENSE, STORE_CHANGES } StoreStorage;

typedef struct {
    const char *name, *unit, *comment;
    uint8_t type, variability, causality; /* KOINE_REAL, ... */
    uint8_t storage;                      /* STORE_... */
    bool is_negated;                      /* alias: minus the column, for Booleans not the column */
    uint32_t column;                      /* of its storage; equal storage and column: aliases */
    const char *enumeration;              /* its name, or NULL */
    const char *const *labels;            /* of the enumeration; value k has the number k + 1 */
    uint32_t n_labels;
} StoreVariable;

/* Reads in place what is asked for. One thread at a time may use a Store; any number of them may be open on a file. */
typedef struct Store Store;

typedef struct {
    uint64_t n_rows;
    uint32_t n_variables; /* the first one is the time */
    const StoreVariable *variables;
    const char *begin, *end; /* JSON; end is NULL while the run goes on, or if it was killed */
    uint64_t lost_rows;      /* rows in which something is missing: the file is damaged or cut */
    bool is_closed;          /* in order; else the run goes on, or was killed */
    uint64_t n_damaged;      /* chunks that turned out to be damaged when they were read */
} StoreInfo;

bool store_is_file(const void *bytes, size_t size); /* by its first bytes: some HDF5 file */
/* NULL: reported. What is damaged but leaves the rest readable is reported as a warning. */
Store *store_open(const char *path, Arena *arena, Diag *diag);
void store_close(Store *store);
const StoreInfo *store_info(const Store *store);
/* The row of a variable; UINT32_MAX: there is none of that name. */
uint32_t store_find(const Store *store, const char *name);
/* Looks for rows that were written since; true: there are more, or the run has ended. */
bool store_refresh(Store *store);

/* Rows first .. first + n - 1 of a variable as numbers (Booleans 0 or 1, enumerations by number). What is lost is
 * nan. */
void store_values(Store *store, uint32_t variable, uint64_t first, uint64_t n, double *values);
/* The same without a change of type: whole numbers of any size. Lost is 0. For variables that are not Real. */
void store_slots(Store *store, uint32_t variable, uint64_t first, uint64_t n, KoineSlot *slots);
/* KOINE_POINT_... and event step of each row; either may be NULL. */
void store_kinds(Store *store, uint64_t first, uint64_t n, uint8_t *kinds, uint32_t *event_steps);
/* The first row whose time is not before `time`; n_rows: none. */
uint64_t store_row_at(Store *store, double time);

typedef struct {
    uint64_t first, n;       /* rows; n 0: none lies here, and nothing else is set */
    double minimum, maximum; /* nan: no number */
    double first_time, last_time;
} StoreBucket;
/* What a picture of `n` columns from time `from` to time `to` shows: column k has the rows with times from its left
 * border up to before the right one, the last column its right border too; where many rows share a column a border may
 * be off by a quarter of its width. Costs about as much for ten million rows as for a hundred thousand. */
void store_buckets(Store *store, uint32_t variable, double from, double to, uint32_t n, StoreBucket *buckets);

/* Rows at which an instant changed something (KOINE_POINT_RIGHT and KOINE_POINT_REGION) with a time from `from` to
 * `to`; at most `most` are written, the number there are is returned. */
uint64_t store_events(Store *store, double from, double to, uint64_t most, uint64_t *rows);

#endif
