/* Plots: what was recorded for them during a run, and drawing on the terminal. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "cli/command.h"
#include "experiment/experiment.h"
#include "formats/plot.h"
#include "koine/simulate.h"

/* A sink that keeps what the panes show. `panes` may be empty: then a few visible variables, states first. */
typedef struct Show Show;
Show *show_create(const ExperimentPane *panes, uint32_t n_panes, Arena *arena);
KoineSink *show_sink(Show *show);
/* Draws on `to`, as wide as its terminal. */
void show_draw(const Show *show, FILE *to, bool colour);

/* Draws panes on `to` with what its terminal can show; `size` gives width and height where they are not 0. */
void draw_panes(const PlotPane *panes, uint32_t n_panes, const PlotOptions *size, FILE *to, bool colour, Arena *arena);

#endif
