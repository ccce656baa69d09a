/* A result written in another form: values keep every bit, and what the run was stays where both forms hold it. */
#ifndef EXPERIMENT_CONVERSION_H
#define EXPERIMENT_CONVERSION_H

#include "formats/result_file.h"

typedef struct {
    const char *from; /* the file that was read, as its name is noted in the new one */
    const Series *series;
    const char *to;
    const ResultFormat *format;
    const char *const *globs; /* the variables that are taken over; none: all */
    uint32_t n_globs;
} Conversion;

/* The first glob that matches no variable; NULL: all do. */
const char *conversion_unknown(const Conversion *conversion);
/* False: *error says why the file could not be written. */
bool conversion_write(const Conversion *conversion, Arena *arena, const char **error);
/* Pieces of the result that turned out to be damaged when they were read: their values became nan. */
uint64_t conversion_damages(const Conversion *conversion);

#endif
