/* Results as MATLAB 4 files in the layout of Modelica tools ("Atrajectory", version 1.1).
 *
 * Matrices Aclass, name, description, dataInfo, data_1 (parameters and constants: values at start and
 * stop) and data_2 (everything else, the time in front). We write "binTrans", where a point is a
 * column of data_2: points are appended and the count in the head of the matrix is put right each
 * time bytes reach the disk, so an interrupted run leaves a readable file. Variables that share
 * their values share a row, with a sign. */
#ifndef FORMATS_MAT_H
#define FORMATS_MAT_H

#include "base/arena.h"
#include "base/diag.h"
#include "formats/series.h"
#include "koine/simulate.h"

typedef struct {
    const char *path;
    bool is_confined;         /* named by a model or an experiment, see formats/writing.h */
    const char *const *globs; /* see select.h; NULL: everything visible, parameters too */
    uint32_t n_globs;
    bool every_event_step;
    uint64_t limit; /* largest size of data_2 in bytes; 0: 2 GiB - 1, beyond which readers fail */
} MatOptions;

/* A sink that lives in the arena; the texts of the options must stay. */
KoineSink *mat_sink(const MatOptions *options, Arena *arena);

bool mat_is_file(const void *bytes, size_t size); /* by its first bytes */
/* Reads "binTrans" and "binNormal", either byte order, any number type. NULL: reported. */
Series *mat_read(const char *path, const void *bytes, size_t size, Arena *arena, Diag *diag);

#endif
