/* One result, wherever it is: columns over time of which ranges can be read.
 *
 * Ways to read are rows of a table in result.c: previews, native files in place, and all other formats as a whole. A
 * result has an arena of its own, so that it can be read again when its file has changed. */
#ifndef WEB_RESULT_H
#define WEB_RESULT_H

#include "base/text.h"

typedef struct {
    const char *name, *unit, *comment; /* "": none */
    bool is_constant, is_discrete;     /* discrete: holds its value between points */
} ResultColumn;

typedef struct Result Result;

/* By the ending of the name: a result and not a model. */
bool result_is_named(const char *path);
/* NULL: *error says why, in the arena given. */
Result *result_open(const char *path, Arena *arena, const char **error);
/* The same; *is_unreadable: the system, and not the file, is the reason. */
Result *result_try(const char *path, Arena *arena, const char **error, bool *is_unreadable);
void result_close(Result *result);
uint32_t result_columns(const Result *result); /* the first one is the time */
const ResultColumn *result_column(const Result *result, uint32_t column);
uint32_t result_find(const Result *result, const char *name); /* UINT32_MAX: there is none */
uint64_t result_rows(const Result *result);
/* Values of a column from row `first` on. False: they cannot be read. */
bool result_read(const Result *result, uint32_t column, uint64_t first, uint64_t n, double *to);
/* The first row at or behind a time. */
uint64_t result_row_at(const Result *result, double time);
/* The file now, against what it was when it was opened or looked at last. */
typedef enum {
    RESULT_SAME,
    RESULT_GROWN /* further rows can be read */,
    RESULT_OTHER /* to be opened again */
} ResultChange;
ResultChange result_look(Result *result);
/* What is known of the run: JSON objects as docs/results.md describes them; NULL: nothing. */
const char *result_provenance(const Result *result);
/* What should be known when it is looked at: it is damaged, its run did not end; NULL: nothing. */
const char *result_note(const Result *result);
const char *result_statistics(const Result *result);

/* ---- where the file itself knows more than its rows ---- */
typedef struct {
    uint64_t n; /* rows; 0: none, and nothing else is set */
    double minimum, maximum;
    double first_time, last_time;
} ResultBucket;
/* Smallest and largest values of `n` equal pieces of time. False: the rows must be read. */
bool result_buckets(const Result *result, uint32_t column, double from, double to, uint32_t n, ResultBucket *buckets);
/* Times of events, at most `most` of them; *n: how many there are. False: two rows of equal time tell. */
bool result_events(const Result *result, double from, double to, uint32_t most, double *times, uint64_t *n);

#endif
