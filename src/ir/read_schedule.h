/* Reading the text form of a Schedule; docs/ir.md describes it, print_schedule.h writes it. */
#ifndef IR_READ_SCHEDULE_H
#define IR_READ_SCHEDULE_H

#include "base/diag.h"
#include "ir/schedule.h"

/* The schedule in `source`, one of `sources`; it lives in the arena. `model` is the Model after the passes, with the
 * names and labels that the text uses; terms and domains of the text are added to it. What the text repeats of the
 * Model must be as it is there. Reading stops at the first mistake: NULL, already reported. */
Schedule *schedule_read(Model *model, Sources *sources, uint32_t source, Arena *arena, Diag *diag);

#endif
