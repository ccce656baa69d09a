/* Settings of many quantities at once, written out. */
#ifndef EXPERIMENT_MEMBERS_H
#define EXPERIMENT_MEMBERS_H

#include "base/diag.h"
#include "experiment/experiment.h"
#include "koine/model.h"

/* `M[*].K=5` becomes a setting for every member, but for those that have one of their own; `M.K={1, 2, 3}` one for each
 * member of the array M of components. All others stay as they are. False: reported. */
bool members_expand(const KoineTables *tables, const Setting **settings, uint32_t *n, Arena *arena, Diag *diag);

#endif
