/* Columns of a result as a pane of a plot. */
#ifndef FORMATS_PLOT_COLUMNS_H
#define FORMATS_PLOT_COLUMNS_H

#include "formats/plot.h"
#include "formats/series.h"

/* The columns that a list of globs names, in its order, each once. Returns the glob that names none; NULL: all do. */
const char *plot_named(const Series *results, const char *globs, Arena *arena, PlotPane *pane);
/* The first columns that change, at most so many. Returns how many change. */
uint32_t plot_unasked(const Series *results, uint32_t most, Arena *arena, PlotPane *pane);

#endif
