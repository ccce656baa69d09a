/* What a picture of some width shows of a range of time: every row where they are few, else for each of `width` pieces
 * of time the smallest and the largest value, in the order in which they came. All columns share the times. */
#ifndef WEB_CURVES_H
#define WEB_CURVES_H

#include "web/result.h"

enum { CURVES_COLUMNS_MOST = 256, CURVES_WIDTH_MOST = 8192 };

typedef struct {
    double from, to; /* may be infinite */
    uint32_t width;
    bool wants_points; /* whole points, evenly thinned out, instead of smallest and largest values */
} CurvesWindow;

typedef struct {
    uint64_t n;       /* points */
    bool is_reduced;  /* smallest and largest values */
    double *times;    /* n */
    double **columns; /* n each */
} Curves;

/* False: the values cannot be read. */
bool curves_read(const Result *result, const uint32_t *columns, uint32_t n_columns, CurvesWindow window, Arena *arena,
                 Curves *curves);

/* Times at which two rows stand: both sides of an event. */
typedef struct {
    double *times; /* n */
    uint32_t n;
    bool is_all; /* there are no more of them */
} CurvesEvents;

/* The first `most` of them, at most. */
CurvesEvents curves_events(const Result *result, double from, double to, uint32_t most, Arena *arena);

#endif
