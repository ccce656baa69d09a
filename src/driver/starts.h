/* What a run starts from: states and unknowns of nonlinear systems, where each begins, and who says so; for `koine inspect`. */
#ifndef DRIVER_STARTS_H
#define DRIVER_STARTS_H

#include "driver/compile.h"
#include "ir/schedule.h"

void list_starts(const Schedule *schedule, const CompileValue *values, uint32_t n_values, bool is_json, Text *to);

#endif
