/* Two results compared signal by signal, each by a tube (compare.h). */
#ifndef FORMATS_COMPARE_RESULTS_H
#define FORMATS_COMPARE_RESULTS_H

#include "base/vec.h"
#include "formats/compare.h"
#include "formats/plot.h"
#include "formats/series.h"

typedef struct {
    uint32_t reference, other; /* columns */
    Deviation deviation;
} ComparedSignal;

typedef struct {
    Arena *arena;
    const Series *reference, *other;
    double tube, absolute;    /* size of the tube, and a difference that never counts: see tube_height */
    const char *const *globs; /* the signals that are compared; none: all of the reference */
    uint32_t n_globs;
    /* What compare_results finds: */
    GlobMatch **finds;         /* how each glob finds signals; NULL: it finds none */
    double width;              /* of the tube, in units of time */
    VEC(ComparedSignal) pairs; /* signals that both have; those that differ most come first */
    VEC(const char *) missing; /* signals of the reference that the other one has not */
    uint32_t n_different;      /* pairs that differ */
    uint32_t n_more;           /* signals that only the other one has */
    bool has_same_times;       /* both cover the same time */
} Comparison;

/* Both have points. */
void compare_results(Comparison *comparison);
bool signal_differs(const ComparedSignal *signal);

/* A line where the times differ, a line for each of the signals that differ most (where all agree, for the one that
 * does so least) and for those that are missing; at most `most` of each. */
void comparison_text(const Comparison *comparison, uint32_t most, Text *text);
/* One sentence about all signals; `name` is that of the second result. */
void comparison_summary(const Comparison *comparison, const char *name, Text *text);
/* Panes with both curves of the signals that differ most, at most so many; `names` are those of the two results. */
uint32_t comparison_panes(const Comparison *comparison, const char *const names[2], uint32_t most, PlotPane *panes);

#endif
