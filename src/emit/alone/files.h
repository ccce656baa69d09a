/* The files that every model standing alone comes with: the runtime's sources and what is below src/alone. They are
 * inside the program, so that nothing of the source tree is needed. Written by embed.cmake. */
#ifndef EMIT_ALONE_FILES_H
#define EMIT_ALONE_FILES_H

#include <stddef.h>

typedef struct {
    const char *path; /* in the folder that is written; NULL behind the last one */
    const char *bytes;
    size_t n;
} AloneFile;

extern const AloneFile alone_files[];

#endif
