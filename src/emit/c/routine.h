/* Functions of the model as C functions. Private to emit/c.
 *
 * One function does the work and hands its outputs over in `out`, one after the other; where that is one number, there
 * is another one that returns it. Arrays are addresses of their first elements. `call` are the call slots, see
 * ir/routine.h. */
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
/* A call, or an element of an array in a routine. `out`: where the results go if they are more than one number. */
void print_routine_call(Printer *printer, Text *text, const Expr *e, const char *out);
void print_routines(Printer *printer);

#endif
