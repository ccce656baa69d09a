/* A sink that keeps what the panes of an experiment show, so that a run can be drawn when it has ended. */
#ifndef EXPERIMENT_SHOW_H
#define EXPERIMENT_SHOW_H

#include "experiment/experiment.h"
#include "formats/plot.h"
#include "koine/simulate.h"

typedef struct Show Show;
/* `panes` may be empty: then a few visible variables are shown, states first. */
Show *show_create(const ExperimentPane *panes, uint32_t n_panes, Arena *arena);
KoineSink *show_sink(Show *show);
/* What was recorded; NULL: nothing was. */
const PlotPane *show_panes(const Show *show, uint32_t *n);

#endif
