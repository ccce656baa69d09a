/* One result, wherever it is: columns over time of which ranges can be read.
 *
 * The kinds of files are rows of a table in result.c; nobody else knows them apart. A result has an arena of its own,
 * so that it can be read again when its file has changed. */
#ifndef WEB_RESULT_H
#define WEB_RESULT_H

#include "base/text.h"

typedef struct {
    const char *name, *unit, *comment; /* "": none */
    bool is_constant, is_discrete;     /* discrete: holds its value between points */
} ResultColumn;

typedef struct Result Result;

/* NULL: *error says why, in the arena given. */
Result *result_open(const char *path, Arena *arena, const char **error);
void result_close(Result *result);
const char *result_form(const Result *result); /* "CSV", ... */
uint32_t result_columns(const Result *result); /* the first one is the time */
const ResultColumn *result_column(const Result *result, uint32_t column);
uint64_t result_rows(const Result *result);
/* Values of a column from row `first` on. False: they cannot be read. */
bool result_read(const Result *result, uint32_t column, uint64_t first, uint64_t n, double *to);
/* The first row at or behind a time. */
uint64_t result_row_at(const Result *result, double time);
/* Whether the file has other content now than when it was opened or looked at last; a live result reads it at once. */
bool result_has_changed(Result *result);

#endif
