/* Plots of results as text: for a terminal, and as SVG.
 *
 * What is drawn: consecutive points are joined by straight lines; a discrete series holds its value
 * until the next point. Two points of equal time are a jump, drawn as a dotted vertical line, never
 * as a slope. A value that is not finite is a gap. However many points there are, the smallest and
 * the largest value of each column of the picture are drawn, so narrow peaks stay visible. */
#ifndef FORMATS_PLOT_H
#define FORMATS_PLOT_H

#include "base/text.h"

typedef struct {
    const char *name;
    const double *times, *values;
    uint64_t n;
    bool is_constant; /* values has a single number */
    bool is_discrete; /* holds its value between points */
} PlotSeries;

typedef struct {
    const char *title; /* NULL or "": none */
    const PlotSeries *series;
    uint32_t n_series;
} PlotPane;

typedef struct {
    uint32_t width, height; /* of a pane: characters (0: 80 x 20) or pixels (0: 900 x 360) */
    bool is_ascii;          /* terminal: nothing but ASCII; else braille dots */
    bool has_colour;        /* terminal: ANSI colours; without them several series have marks of their own */
    const char *x_label;    /* NULL: "time" */
} PlotOptions;

/* Panes below each other, lines ended by line feeds. */
Text plot_terminal(const PlotPane *panes, uint32_t n_panes, const PlotOptions *options, Arena *arena);
/* A self-contained document; colours follow the reader's light or dark preference. */
Text plot_svg(const PlotPane *panes, uint32_t n_panes, const PlotOptions *options, Arena *arena);

#endif
