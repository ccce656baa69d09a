/* The model a command line names: FILE or FILE:CLASS. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "cli/command.h"
#include "driver/compile.h"

typedef struct {
    const char *path;
    const char *class_name; /* NULL: the one in the file */
} Target;

/* Splits at the last colon, unless a file of the whole name exists. */
Target target_split(const char *text, Arena *arena);
/* False: there is no such file; said on stderr, with a name like it where there is one. */
bool target_exists(const Command *command, const Target *target);
/* Text to schedule; diagnostics are printed. False: they say why. `profile` may be NULL. */
bool target_compile(const Command *command, const Target *target, const char *profile, Compilation *c);

#endif
