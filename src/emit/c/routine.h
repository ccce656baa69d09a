/* Functions of the model as C functions. Private to emit/c.
 *
 * One function does the work and hands its outputs over in `out`; for each output that is used in an expression there
 * is another one that returns it. `call` are the call slots, see ir/routine.h. */
#ifndef EMIT_C_ROUTINE_H
#define EMIT_C_ROUTINE_H

#include "emit/c/expression.h"
#include "ir/routine.h"

typedef struct RoutinePrinter {
    const Routine *routine;
    const char **names; /* per field */
    uint32_t first_site, site;
} RoutinePrinter;

const char *routine_slot_name(const RoutinePrinter *printer, uint32_t slot);
void print_routine_call(Printer *printer, Text *text, const Expr *e); /* or an element of an array in a routine */
void print_routines(Printer *printer);

#endif
