/* Values given for a run: parameters, start values, control parameters. */
#ifndef CLI_SET_H
#define CLI_SET_H

#include "base/diag.h"
#include "experiment/experiment.h"
#include "koine/model.h"

/* Writes the settings into the block of a model that is not initialised yet. False: reported, all of them. */
bool set_values(KoineModel *model, const Setting *settings, uint32_t n, Arena *arena, Diag *diag);

#endif
