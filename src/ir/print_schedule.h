/* The text form of a Schedule; docs/ir.md describes it. It belongs to the Model it was made of. */
#ifndef IR_PRINT_SCHEDULE_H
#define IR_PRINT_SCHEDULE_H

#include "base/text.h"
#include "ir/schedule.h"

void schedule_print(const Schedule *schedule, Text *to);

#endif
