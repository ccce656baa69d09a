/* What tells one laid out model from another: the same text with the same settings gives the same guid, on any machine.
 * What is saved of a run belongs to it. */
#ifndef EMIT_PROGRAM_GUID_H
#define EMIT_PROGRAM_GUID_H

#include "emit/code.h"
#include "ir/model.h"

/* 32 hexadecimal digits, in `arena`. */
const char *guid_of(const KoineProgram *data, const Code *code, const Model *model, Arena *arena);

#endif
