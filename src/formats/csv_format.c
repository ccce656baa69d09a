/* CSV as a format of results; see result_file.h and csv.h. */
#define _GNU_SOURCE
#include "formats/csv.h"
#include "formats/result_file.h"
#include <stdlib.h>

static KoineSink *create_sink(const ResultOptions *o, Arena *arena)
{
    return csv_sink(&(CsvOptions){ .path = o->path,
                                   .is_confined = o->is_confined,
                                   .globs = o->globs,
                                   .n_globs = o->n_globs,
                                   .has_parameters = o->has_parameters },
                    arena);
}

/* Whole lines, and the number that the last of them begins with. */
static void measure(const char *path, Arena *arena, uint64_t *points, double *time)
{
    (void)arena;
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    uint64_t n = 0;
    for (ssize_t length; file && (length = getline(&line, &size, file)) > 0 && line[length - 1] == '\n'; n++)
        *time = strtod(line, NULL);
    *points = n > 1 ? n - 1 : 0; /* the first one has the names */
    free(line);
    if (file)
        fclose(file);
}

const ResultFormat csv_format = {
    .sink = create_sink, .holds = RESULT_HOLDS_TEXTS, .read = csv_read, .read_words = csv_read_words, .measure = measure
};
