/* The run catalogue: what was run, with which settings, where the result is, and what came of it.
 *
 * A SQLite file `.koine/runs.sqlite` in the project: the nearest folder above the current one that has a folder
 * `.koine` (the home folder and `/` do not count for what is below them), else the current one. Any number of processes
 * may use it at a time. It is a convenience: nothing depends on it, and it may be deleted. */
#ifndef EXPERIMENT_CATALOGUE_H
#define EXPERIMENT_CATALOGUE_H

#include "experiment/process.h"

typedef struct {         /* what came of a run */
    const char *outcome; /* "running", "done", "failed", "crashed", ... */
    const char *message; /* or "" */
    double time;         /* reached */
    uint64_t points;
    double compile_seconds, run_seconds;
} RunOutcome;

typedef struct {
    int64_t id;          /* given by the catalogue */
    const char *created; /* time of day in UTC, 2026-01-31T12:00:00Z */
    const char *koine;   /* version */
    const char *model, *file, *experiment, *hash;
    const char *origins;  /* files of the model with their hashes, JSON */
    const char *settings; /* JSON */
    const char *result;   /* absolute path, or "" */
    bool is_replaced;     /* a later run wrote the same file */
    ProcessMark process;  /* that ran it */
    double start, stop;   /* wanted */
    RunOutcome end;
    const char *tags; /* separated by commas */
} CatalogueRun;

typedef enum {
    CATALOGUE_GOOD,
    CATALOGUE_ABSENT,  /* there is none, and it was not to be made */
    CATALOGUE_REFUSED, /* it cannot be written here: a read-only folder */
    CATALOGUE_BUSY,    /* another process did not let go of it */
    CATALOGUE_DAMAGED, /* not a catalogue, or damaged */
    CATALOGUE_NEWER,   /* of a later version of Koine */
    CATALOGUE_FAILED
} CatalogueStatus;

typedef struct Catalogue Catalogue;

const char *catalogue_path(Arena *arena);
/* `is_made`: the file and its folder are made where they are missing. *catalogue is NULL unless GOOD. */
CatalogueStatus catalogue_open(const char *path, bool is_made, Arena *arena, Catalogue **catalogue);
void catalogue_close(Catalogue *catalogue);

/* Sets run->id; runs with the same result are marked as replaced, unless they are still going on. */
CatalogueStatus catalogue_add(Catalogue *catalogue, CatalogueRun *run);
/* Notes run->end, what came of the run with this id. */
CatalogueStatus catalogue_close_run(Catalogue *catalogue, const CatalogueRun *run);

typedef struct {
    const char *model, *tag; /* NULL: any; the model may have * and ? */
    int64_t id;              /* 0: any */
    uint32_t most;           /* the newest of them; 0: all */
} CatalogueFilter;
/* The runs that fit, newest first; they live in the arena. */
CatalogueStatus catalogue_list(Catalogue *catalogue, const CatalogueFilter *filter, Arena *arena, CatalogueRun **runs,
                               uint32_t *n);
CatalogueStatus catalogue_forget(Catalogue *catalogue, int64_t id);
/* Adds a tag to a run that has it not. */
CatalogueStatus catalogue_tag(Catalogue *catalogue, int64_t id, const char *tag);
bool catalogue_is_tag(const char *tag); /* letters, digits and signs without comma and blank */

#endif
