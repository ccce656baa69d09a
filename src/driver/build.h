/* A model in a form that leaves Koine: a target of emit/target.h. */
#ifndef DRIVER_BUILD_H
#define DRIVER_BUILD_H

#include "driver/compile.h"
#include "emit/target.h"

/* The bytes of a target for a model that is loaded. False: the diagnostics say why, or *why does where it is not NULL.
 */
bool compilation_build(Compilation *c, const char *target, Text *to, const char **why);

bool compilation_makes_folder(const char *target); /* else it is always one file */
bool compilation_build_folder(Compilation *c, const char *target, FolderFiles *to, const char **why);

#endif
