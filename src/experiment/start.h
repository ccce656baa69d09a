/* The start state from an earlier result. */
#ifndef EXPERIMENT_START_H
#define EXPERIMENT_START_H

#include "base/diag.h"
#include "base/text.h"
#include "experiment/experiment.h"
#include "formats/series.h"
#include "koine/model.h"

typedef struct {
    const char *path;
    const Series *series;
    double time;        /* of the state */
    uint64_t row, next; /* it lies from `row` on towards `next`; equal: it is that row */
} StartState;

/* Reads `start-from` of the experiment and finds its state: the last row, or the one at `start-from-time`. False:
 * reported. */
bool start_read(const Experiment *experiment, Arena *arena, Diag *diag, StartState *start);

/* Writes what the result holds of the model's settable quantities into its block, before initialise. Every state must
 * be there, unless `set` gives it. False: reported. */
bool start_write(const StartState *start, const Experiment *experiment, KoineModel *model, Arena *arena, Diag *diag);

/* Warns where the start of the model, which comes after start_write, has given a state another value. */
void start_compare(const StartState *start, const Experiment *experiment, const KoineModel *model, Arena *arena,
                   Diag *diag);

/* Adds to a JSON object what a run that goes on from here needs besides the variables. */
void start_note_memory(KoineModel *model, double time, Text *json);

/* The largest values of the states up to that row, for KoineRunOptions.scales: the run goes on with their sizes. */
void start_scales(const StartState *start, const KoineTables *tables, Arena *arena, double *scales);

#endif
