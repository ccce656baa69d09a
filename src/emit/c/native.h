/* Loaded native code as KoineCode; shared by the tcc and cc tiers. */
#ifndef EMIT_C_NATIVE_H
#define EMIT_C_NATIVE_H

#include "emit/c/print.h"
#include "emit/executable.h"

typedef struct {            /* addresses of what generated C exports; NULL: it does not */
    const void *table;      /* koine_table */
    void *derivatives;      /* koine_derivatives */
    void *const *externals; /* koine_externals */
} NativeParts;
/* false: it is not of `code`. */
bool native_fill(Executable *executable, const Code *code, const NativeParts *parts);

#endif
