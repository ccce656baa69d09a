/* Loaded native code as KoineCode; shared by the tcc and cc tiers. */
#ifndef EMIT_C_NATIVE_H
#define EMIT_C_NATIVE_H

#include "emit/c/print.h"
#include "emit/executable.h"

/* false: the table is not the one of `code`. derivatives: address of koine_derivatives or NULL. */
bool native_fill(Executable *executable, const Code *code, const void *table, void *derivatives);

#endif
