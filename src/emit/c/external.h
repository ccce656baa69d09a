/* Functions of C in generated C. Private to emit/c.
 *
 * The text knows no address and no name of them: whoever loads it fills the places that koine_externals lists. Watched
 * calls go through the host (ir/external.h), all others directly to the function. */
#ifndef EMIT_C_EXTERNAL_H
#define EMIT_C_EXTERNAL_H

#include "emit/c/routine.h"

#define NATIVE_EXTERNALS "koine_externals"
/* The first entries of koine_externals; behind them for each function of C in the order of routines: its address, what
 * the host knows of it, its alarm, and the count of failures. */
enum {
    EXTERNAL_PLACE_WATCHED,
    EXTERNAL_PLACE_AFTER,
    EXTERNAL_PLACE_TEXT,
    EXTERNAL_PLACE_OBJECT,
    EXTERNAL_PLACE_MADE,
    EXTERNAL_PLACE_TAKE,
    EXTERNAL_PLACE_DONE,
    EXTERNAL_PLACES,
    EXTERNAL_EACH = 4
};

bool has_externals(const Code *code);
/* The number of a function of C among them, from 1. */
uint32_t external_number(const Code *code, const Function *function);
/* Declarations and the list of places. */
void print_externals(Text *text, const Code *code, Arena *arena);
/* What the function of the model does. */
void print_external_body(Printer *printer, const RoutinePrinter *routine);

#endif
