/* Tables: what the runner and its users know of a model (koine/model.h). Made from all stages of the layout. */
#ifndef EMIT_PROGRAM_TABLES_H
#define EMIT_PROGRAM_TABLES_H

#include "emit/program/events.h"

KoineTables tables_fill(const Schedule *schedule, const Slots *slots, const Systems *systems, const Parts *parts,
                        const Events *events, Arena *arena);

#endif
