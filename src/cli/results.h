/* Results that a command line names. */
#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include "cli/command.h"
#include "formats/series.h"

/* The first `n` arguments as results, without their values (series_lazy); diagnostics are printed. To be ended by
 * series_done, also where the status is not EXIT_GOOD: those that cannot be read are NULL. */
int read_results(const Command *command, uint32_t n, const Series **results);

#endif
