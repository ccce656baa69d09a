/* Reduction: of the points in one column of the picture the first, last, lowest and highest are kept
 * (U. Jugel et al., "M4", VLDB 2014), and both sides of its jumps and gaps unless there are many. */
#include "formats/plot_trace.h"
#include "base/utf8.h"
#include "base/vec.h"
#include <float.h>
#include <math.h>

/* ---- the points of a series as they are joined ---- */

typedef struct {
    const PlotSeries *series;
    uint64_t next;
    double last_x, last_y;
    bool has_last;   /* a finite point came before */
    bool has_gap;    /* since then there was something that is not finite */
    bool has_corner; /* a discrete series: the end of the value held has been given for `next` */
} Cursor;

static bool next_point(Cursor *cursor, TracePoint *point)
{
    const PlotSeries *series = cursor->series;
    for (; cursor->next < series->n; cursor->next++) {
        const double x = series->times[cursor->next];
        const double y = series->values[series->is_constant ? 0 : cursor->next];
        if (!isfinite(x) || !isfinite(y)) {
            cursor->has_gap = true;
            continue;
        }
        const bool is_joined = cursor->has_last && !cursor->has_gap;
        if (series->is_discrete && is_joined && x != cursor->last_x && y != cursor->last_y && !cursor->has_corner) {
            *point = (TracePoint){ x, cursor->last_y, LINK_LINE };
            cursor->has_corner = true;
            cursor->last_x = x;
            return true;
        }
        const bool is_jump = is_joined && x == cursor->last_x && y != cursor->last_y;
        *point = (TracePoint){ x, y, is_jump ? LINK_JUMP : is_joined ? LINK_LINE : LINK_GAP };
        *cursor = (Cursor){ .series = series, .next = cursor->next + 1, .last_x = x, .last_y = y, .has_last = true };
        return true;
    }
    return false;
}

/* ---- one column of the picture ---- */

enum { MOST_BREAKS = 2 };

typedef struct {
    TracePoint point;
    uint64_t order;
} Kept;

typedef struct {
    Kept first, last, lowest, highest;
    Kept breaks[2 * MOST_BREAKS]; /* both sides of each jump or gap inside the column */
    uint32_t n_breaks;
    bool is_empty;
} Bucket;

static void bucket_add(Bucket *bucket, Kept kept)
{
    if (bucket->is_empty) {
        *bucket = (Bucket){ .first = kept, .last = kept, .lowest = kept, .highest = kept };
        return;
    }
    if (kept.point.link != LINK_LINE) {
        if (bucket->n_breaks < MOST_BREAKS) {
            bucket->breaks[2 * bucket->n_breaks] = bucket->last;
            bucket->breaks[2 * bucket->n_breaks + 1] = kept;
        }
        bucket->n_breaks++;
    }
    if (kept.point.y < bucket->lowest.point.y)
        bucket->lowest = kept;
    if (kept.point.y > bucket->highest.point.y)
        bucket->highest = kept;
    bucket->last = kept;
}

typedef struct {
    Arena *arena;
    VEC(TracePoint) points;
} Output;

/* Gives the kept points in order, each once. */
static void bucket_flush(Bucket *bucket, Output *output)
{
    if (bucket->is_empty)
        return;
    Kept kept[4 + 2 * MOST_BREAKS] = { bucket->first, bucket->lowest, bucket->highest, bucket->last };
    uint32_t n = 4;
    const bool has_few_breaks = bucket->n_breaks <= MOST_BREAKS;
    for (uint32_t i = 0; has_few_breaks && i < 2 * bucket->n_breaks; i++)
        kept[n++] = bucket->breaks[i];
    for (uint32_t i = 1; i < n; i++) /* insertion sort of eight */
        for (uint32_t k = i; k > 0 && kept[k].order < kept[k - 1].order; k--) {
            const Kept swap = kept[k];
            kept[k] = kept[k - 1];
            kept[k - 1] = swap;
        }
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && kept[i].order == kept[i - 1].order)
            continue;
        TracePoint point = kept[i].point;
        if (i > 0 && kept[i].order != kept[i - 1].order + 1)
            point.link = LINK_LINE; /* points left out between the two */
        vec_push(output->arena, &output->points, point);
    }
    bucket->is_empty = true;
}

Trace trace_series(const PlotSeries *series, Range times, uint32_t columns, Arena *arena)
{
    Output output = { .arena = arena };
    Cursor cursor = { .series = series };
    Bucket bucket = { .is_empty = true };
    double column = -1;
    Kept kept = { .order = 0 };
    for (; next_point(&cursor, &kept.point); kept.order++) {
        const double here = floor(range_share(times, kept.point.x) * columns);
        if (here != column)
            bucket_flush(&bucket, &output);
        column = here;
        bucket_add(&bucket, kept);
    }
    bucket_flush(&bucket, &output);
    return (Trace){ output.points.at, output.points.n };
}

/* ---- ranges and ticks ---- */

static const double LARGEST = DBL_MAX / 16; /* differences and widened ranges stay finite */
static const double NEAR_ZERO = 0.05;       /* a range that almost begins or ends at 0 shall show it */

static void widen(Range *range, double value)
{
    if (!isfinite(value))
        return;
    value = value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : value;
    range->low = value < range->low ? value : range->low;
    range->high = value > range->high ? value : range->high;
}

/* A range in which something can be told apart; false: nothing was finite. */
static bool is_range(Range *range)
{
    if (range->low > range->high)
        return false;
    const double size = fmax(fabs(range->low), fabs(range->high));
    if (range->high - range->low <= size * 1e-13 || range->high - range->low < DBL_MIN * 16) {
        const double half = size > DBL_MIN * 1e20 ? size * 0.05 : 0.5;
        range->low -= half;
        range->high += half;
    }
    return true;
}

bool time_range(const PlotPane *pane, Range *range)
{
    *range = (Range){ INFINITY, -INFINITY };
    for (uint32_t s = 0; s < pane->n_series; s++)
        for (uint64_t i = 0; i < pane->series[s].n; i++)
            widen(range, pane->series[s].times[i]);
    return is_range(range);
}

bool value_range(const PlotPane *pane, Range *range)
{
    *range = (Range){ INFINITY, -INFINITY };
    for (uint32_t s = 0; s < pane->n_series; s++)
        for (uint64_t i = 0; i < (pane->series[s].is_constant ? 1 : pane->series[s].n); i++)
            widen(range, pane->series[s].values[i]);
    if (!is_range(range))
        return false;
    const double near = NEAR_ZERO * (range->high - range->low);
    if (range->low > 0 && range->low < near)
        range->low = 0;
    if (range->high < 0 && range->high > -near)
        range->high = 0;
    return true;
}

/* The number with the given digits and exponent; exact where text_to_real is, which is everywhere. */
static double decimal(int64_t digits, int exponent)
{
    char text[48];
    const int n = snprintf(text, sizeof text, "%llde%d", (long long)digits, exponent);
    double value = 0;
    text_to_real(text, text + n, &value);
    return value;
}

/* A quotient that misses a whole number by rounding counts as that number. */
static double floor_nearly(double x)
{
    return floor(x + 1e-9 + 4 * DBL_EPSILON * fabs(x));
}

static double ceil_nearly(double x)
{
    return ceil(x - 1e-9 - 4 * DBL_EPSILON * fabs(x));
}

Ticks ticks_inside(Range range, uint32_t most)
{
    static const int steps[] = { 1, 2, 5 };
    const double rough = (range.high - range.low) / most;
    for (int exponent = (int)floor(log10(rough));; exponent++) {
        for (int i = 0; i < 3; i++) {
            const double size = decimal(steps[i], exponent);
            const double first = ceil_nearly(range.low / size), last = floor_nearly(range.high / size);
            if (last - first < most)
                return (Ticks){ (int64_t)first, last < first ? 0 : (uint32_t)(last - first) + 1, steps[i], exponent };
        }
    }
}

double tick_value(const Ticks *ticks, uint32_t k)
{
    return decimal((ticks->first + (int64_t)k) * ticks->step, ticks->exponent);
}

/* ---- names ---- */

const char *plot_name(const char *name, Arena *arena)
{
    Text clean = { .arena = arena };
    text_add(&clean, "");
    const char *end = name + strlen(name);
    uint32_t length;
    for (const char *at = name; at < end; at += length) {
        const uint32_t character = utf8_decode(at, end, &length);
        if (character == UTF8_BAD || character < 0x20 || (character >= 0x7f && character < 0xa0))
            text_char(&clean, '?');
        else
            text_bytes(&clean, at, length);
    }
    return clean.at;
}

uint32_t plot_name_width(const char *name)
{
    uint32_t width = 0, length;
    const char *end = name + strlen(name);
    for (; name < end; name += length)
        width += utf8_width(utf8_decode(name, end, &length));
    return width;
}
