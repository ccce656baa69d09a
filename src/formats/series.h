/* Results read back: named columns of numbers over time. */
#ifndef FORMATS_SERIES_H
#define FORMATS_SERIES_H

#include "base/arena.h"
#include "base/diag.h"
#include "formats/select.h"

typedef struct {
    const char *name, *comment; /* comment: "" where the file has none */
    const double *values;       /* n_rows of them, or one when is_constant; aliases share them */
    bool is_constant;
} SeriesColumn;

typedef struct { /* a field that is no number */
    uint64_t row;
    uint32_t column;
    const char *text;
} SeriesWord;

typedef struct {
    uint32_t n_columns;
    uint64_t n_rows;
    const SeriesColumn *columns; /* the first one is the time */
    struct Store *store;         /* of series_lazy: where the values still are; NULL: in the columns */
    const SeriesWord *words;     /* of series_signals: their values are nan */
    uint64_t n_words;
} Series;

static inline double series_value(const SeriesColumn *column, uint64_t row)
{
    return column->values[column->is_constant ? 0 : row];
}

/* Reads a result of any format (result_file.h), told apart by content; "-" is the standard input. NULL: reported. */
Series *series_read(const char *path, Arena *arena, Diag *diag);
/* The same, but the values of native files are not read before they are asked for: columns[k].values is NULL, but for
 * the time. To be ended by series_done. */
Series *series_lazy(const char *path, Arena *arena, Diag *diag);
/* The same, but fields of a table that are no numbers are kept as words: they may be values of a set. */
Series *series_signals(const char *path, Arena *arena, Diag *diag);
void series_done(const Series *series);
/* The values of a column, read into the arena where they are not there yet. */
const double *series_fetch(const Series *series, uint32_t column, Arena *arena);
/* One value, read where it still is in the file. */
double series_at(const Series *series, const SeriesColumn *column, uint64_t row);
/* NULL: no such column. */
const SeriesColumn *series_find(const Series *series, const char *name);
/* How a glob finds columns: exactly, or in any capitals where none has those that are given. NULL: it finds none. */
GlobMatch *series_glob(const Series *series, const char *glob);
/* The column most like `name`, for "did you mean"; NULL: none is near. */
const char *series_nearest(const Series *series, const char *name);

#endif
