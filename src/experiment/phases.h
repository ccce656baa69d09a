/* A run in phases: run to a time, change something, go on. A run without `phases` is one phase. */
#ifndef EXPERIMENT_PHASES_H
#define EXPERIMENT_PHASES_H

#include "experiment/control.h"
#include "koine/simulate.h"

typedef struct {
    KoineRunOptions options; /* of this part of the run; without sinks */
    KoineHost host;          /* what it says of limits */
    SettingList settings;    /* to be set when it begins */
} Phase;

typedef struct {
    Phase *at;
    uint32_t n;
} Phases;

/* The parts of a run, with the settings of each on top of those before. `controls`: of the first one. False:
 * reported. */
bool phases_prepare(Experiment *experiment, const KoineHost *host, const KoineTables *tables, Arena *arena, Diag *diag,
                    Controls *controls, Phases *phases);

/* Sinks that see one run where there are several: begun with the first, ended with the last, and at the border of two
 * phases with the points that an undivided run would have, or both sides of what was changed there. */
typedef struct PhaseSinks PhaseSinks;
PhaseSinks *phase_sinks(KoineSink *const *sinks, uint32_t n, Arena *arena);
KoineSink *const *phase_sinks_of(PhaseSinks *sinks, bool is_first, bool is_last, const KoineRunOptions *options);
/* Before the first run: any of the runs may be followed by another. */
void phase_sinks_cut_anywhere(PhaseSinks *sinks);
/* Ends them when the run does not reach its last phase. */
void phase_sinks_end(PhaseSinks *sinks, const KoineModel *model);

#endif
