/* A model as text, at any place on its way to code. */
#ifndef DRIVER_DUMP_H
#define DRIVER_DUMP_H

#include "driver/compile.h"

typedef enum { DUMP_MODEL, DUMP_SHAPES, DUMP_SCHEDULE, DUMP_PROGRAM, DUMP_C } DumpForm;
/* Runs the passes up to `after` (NULL: all; "load": none) and writes the text form. False: the diagnostics say why. */
bool compilation_dump(Compilation *c, const char *after, DumpForm form, Text *to);
/* The text of a file with the messages about it, also when it could not be loaded (explain/symbols.h). */
void compilation_listing(const Compilation *c, const char *path, bool has_numbers, bool has_no_messages, Text *to);

#endif
