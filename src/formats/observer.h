/* Observers: what is recorded of a run beside its result, each in a table of its own.
 *
 * SAMPLED    rows at from + k*every, at `to`, before and after every event step and every region change; always all
 *            variables.
 * ON_CHANGE  all variables at `from`; then a row for each change, in which only what changed has a value.
 * COMPRESSED intervals of `width` (discrete: a value holds until the next) or of `samples` times `every` (continuous:
 *            trapezoids between the points of SAMPLED): a row at the end of each and at `to` with the smallest and
 *            largest value, borders included, and the mean over time.
 *
 * The first columns of the first two are `time` and `Takt`: 0 before an event, k after k event steps, -1 after a
 * change that no event made (another region). docs/experiments.md is the manual. */
#ifndef FORMATS_OBSERVER_H
#define FORMATS_OBSERVER_H

#include "base/arena.h"
#include "koine/simulate.h"

typedef enum {
    OBSERVER_SAMPLED,
    OBSERVER_ON_CHANGE,
    OBSERVER_COMPRESSED_CONTINUOUS,
    OBSERVER_COMPRESSED_DISCRETE
} ObserverKind;

typedef struct {
    ObserverKind kind;
    const char *path;         /* "-": the standard output */
    bool is_confined;         /* named by a model or an experiment, see formats/writing.h */
    const char *const *globs; /* see select.h; NULL: everything visible that changes */
    uint32_t n_globs;
    double from, to;  /* `to` may be INFINITY: to the end of the run */
    double every;     /* SAMPLED, COMPRESSED_CONTINUOUS */
    double width;     /* COMPRESSED_DISCRETE */
    uint32_t samples; /* COMPRESSED_CONTINUOUS: intervals of samples*every */
} ObserverOptions;

/* A sink that lives in the arena. The file is created by the sink's begin; the texts of the options must stay. */
KoineSink *observer_sink(const ObserverOptions *options, Arena *arena);

#endif
