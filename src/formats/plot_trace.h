/* What both kinds of plots share: ranges, ticks, and series reduced to what can be seen. Private to plot_*.c. */
#ifndef FORMATS_PLOT_TRACE_H
#define FORMATS_PLOT_TRACE_H

#include "formats/plot.h"

typedef enum { LINK_LINE, LINK_JUMP, LINK_GAP } Link;

typedef struct {
    double x, y;
    Link link; /* with the point before */
} TracePoint;

typedef struct {
    TracePoint *at;
    uint32_t n;
} Trace;

typedef struct {
    double low, high; /* low < high, both finite, and so is high - low */
} Range;

/* Ticks at first, first + 1, ... times step * 10^exponent, with step 1, 2 or 5. */
typedef struct {
    int64_t first;
    uint32_t n;
    int step, exponent;
} Ticks;

/* The range of all finite times or values; false: there is none. */
bool time_range(const PlotPane *pane, Range *range);
bool value_range(const PlotPane *pane, Range *range);

/* At most `most` ticks inside the range. */
Ticks ticks_inside(Range range, uint32_t most);
double tick_value(const Ticks *ticks, uint32_t k);

/* The series reduced to at most about eight points for each of `columns` columns of the picture. */
Trace trace_series(const PlotSeries *series, Range times, uint32_t columns, Arena *arena);

/* Characters of a name as they appear: invalid bytes and control characters become '?'. */
const char *plot_name(const char *name, Arena *arena);
uint32_t plot_name_width(const char *name);

/* Where `value` lies: 0 at low, 1 at high, never outside. */
static inline double range_share(Range range, double value)
{
    const double share = (value - range.low) / (range.high - range.low);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

#endif
