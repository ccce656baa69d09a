/* Values given for a run: parameters, start values, control parameters. */
#ifndef EXPERIMENT_SET_H
#define EXPERIMENT_SET_H

#include "base/diag.h"
#include "experiment/experiment.h"
#include "koine/model.h"

typedef enum {
    SET_START, /* before the model is initialised: parameters and start values */
    SET_NOW,   /* between two parts of a run: parameters and states */
    SET_CHECK  /* nothing is written */
} SetWhat;

/* Writes the settings into the block of a model. False: reported, all of them. */
bool set_values(KoineModel *model, SetWhat what, const Setting *settings, uint32_t n, Arena *arena, Diag *diag);

/* Nominal values of states into `nominals`, one a state, where it is not NULL. False: reported, all of them. */
bool set_nominals(const KoineTables *tables, const Setting *settings, uint32_t n, double *nominals, Arena *arena,
                  Diag *diag);

#endif
