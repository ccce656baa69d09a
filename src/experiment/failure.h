/* A run that failed, as a diagnostic: what, where, its line, when, and what helps. */
#ifndef EXPERIMENT_FAILURE_H
#define EXPERIMENT_FAILURE_H

#include "base/diag.h"
#include "koine/simulate.h"

DiagCode failure_code(const KoineRunReport *report); /* DIAG_RUN_FAILED if the cause is not told */
void failure_tell(Diag *diag, Sources *sources, const KoineTables *tables, const KoineRunReport *report,
                  const char *file);

#endif
