/* Result files: the formats, how a name tells one, and the sink that writes it.
 *
 * A new format is a file that writes and reads it, with its row (a ResultFormat), and a line in result_formats.def.
 * Readers, settings, help texts and the viewer take everything from the rows. */
#ifndef FORMATS_RESULT_FILE_H
#define FORMATS_RESULT_FILE_H

#include "base/text.h"
#include "formats/series.h"
#include "koine/simulate.h"

typedef struct {
    const char *path;
    bool is_confined;         /* named by a model or an experiment, see formats/writing.h */
    const char *const *globs; /* see formats/select.h */
    uint32_t n_globs;
    bool has_parameters; /* columns for parameters too, where the format leaves the choice */
    bool has_phases;     /* parameters may change in the run */
    const char *begin;   /* a JSON object about the run, for formats that hold one */
} ResultOptions;

enum {
    RESULT_HOLDS_PARAMETERS = 1, /* parameters and constants are always in it */
    RESULT_HOLDS_TEXTS = 4,      /* Strings that are named in full */
    RESULT_HOLDS_RUN = 2         /* what is known of the run before (ResultOptions.begin) and after it */
};

typedef Series *ReadSeries(const char *path, const char *bytes, size_t size, Arena *arena, Diag *diag);

typedef struct {
    const char *remark;    /* what help says of it beside its ending; NULL: nothing */
    const char *begins_as; /* what its first bytes tell, for messages: "HDF5"; NULL: they tell nothing, it is text */
    unsigned holds;        /* RESULT_HOLDS_... */
    KoineSink *(*sink)(const ResultOptions *options, Arena *arena);
    /* Called after the sink's end, always; `end` is a JSON object about the run, or NULL. False: sink->error says why.
     * NULL: there is nothing left to do. */
    bool (*finish)(KoineSink *sink, const char *end);
    bool (*is_file)(const void *bytes, size_t size); /* by the first bytes; NULL where begins_as is NULL */
    /* Whether the first bytes show that Koine wrote the file. NULL: they do not, formats/written.h is asked. */
    bool (*is_ours)(const char *bytes, size_t size);
    ReadSeries *read;       /* all of a file that is in memory; NULL: see open */
    ReadSeries *read_words; /* the same, with fields that are no numbers; NULL: it has none */
    /* Reads in place: no values but the time. NULL: the file is read as a whole. */
    Series *(*open)(const char *path, Arena *arena, Diag *diag);
    /* How many points a file of a run that was killed has, and the time of the last. NULL: that cannot be told. */
    void (*measure)(const char *path, Arena *arena, uint64_t *points, double *time);
} ResultFormat;

#define RESULT_FORMAT(name, ending) extern const ResultFormat name##_format;
#include "formats/result_formats.def"
#undef RESULT_FORMAT

/* Row k and its ending; NULL after the last one. */
const ResultFormat *result_format_at(uint32_t k);
const char *result_ending(uint32_t k);
/* The format that the ending of a name tells; NULL: it tells none. */
const ResultFormat *result_format_named(const char *path);
/* The same, for writing: pipes, devices and "-" take the first row. NULL: the name tells no format. */
const ResultFormat *result_format_to_write(const char *path);
/* Endings with their remarks: "FILE.csv, FILE.mat, FILE.h5 (native: ...)". */
const char *result_formats_described(Arena *arena);

#endif
