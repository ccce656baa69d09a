/* Results as comma separated values (RFC 4180), written and read.
 *
 * First line: `time` and the names in the spelling of the source, quoted where needed; an array is a
 * column for each element. Then a line for each point: numbers as the shortest text that reads back
 * exactly, Booleans 0 or 1, enumerations by number. Both sides of an event are two lines of equal
 * time. The file only ever holds whole lines. */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "base/arena.h"
#include "base/diag.h"
#include "formats/series.h"
#include "koine/simulate.h"

typedef struct {
    const char *path;         /* "-": the standard output */
    bool is_confined;         /* named by a model or an experiment, see formats/writing.h */
    const char *const *globs; /* what to record, see select.h; NULL: everything visible that changes */
    uint32_t n_globs;
    bool every_event_step; /* a line after each event step as well */
    bool has_parameters;   /* columns for parameters and constants too */
} CsvOptions;

/* A sink that lives in the arena. The file is created by the sink's begin; options are copied, the
 * texts they point to must stay. */
KoineSink *csv_sink(const CsvOptions *options, Arena *arena);

/* Reads a table of numbers with names in the first line. The separator is the comma, or the semicolon
 * or tabulator where the first line has no comma. An empty field is a gap (nan). `path` is for
 * messages. NULL: reported. */
Series *csv_read(const char *path, const char *text, size_t size, Arena *arena, Diag *diag);
/* The same, but a field that is no number is kept as a word, outside of the column of times. */
Series *csv_read_words(const char *path, const char *text, size_t size, Arena *arena, Diag *diag);

#endif
