/* What a run starts from: states and unknowns of nonlinear systems, where each begins, and who says so; for `koine
 * inspect`. */
#ifndef EXPLAIN_STARTS_H
#define EXPLAIN_STARTS_H

#include "base/text.h"
#include "ir/given.h"
#include "ir/schedule.h"

void list_starts(const Schedule *schedule, const GivenValue *values, uint32_t n_values, bool is_json, Text *to);

#endif
