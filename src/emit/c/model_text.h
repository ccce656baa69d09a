/* Texts of a model in generated C.
 *
 * Names, file names and comments come from whoever wrote the model. They reach the C text through this file only, and
 * as nothing but identifiers, comments and literals: no byte of them can end one, join lines or begin anything else. */
#ifndef EMIT_C_MODEL_TEXT_H
#define EMIT_C_MODEL_TEXT_H

#include "base/text.h"

enum { MODEL_IDENTIFIER = 39 }; /* most characters: 63 are significant in C17, others may be added behind them */
/* Letters, digits and _ of the name, at least one; what else stands in it becomes _. The first may be a digit. */
char *model_identifier(Arena *arena, const char *name);

/* A comment of one line: printable ASCII without \, ? and #, and no two of * and / side by side. */
void model_comment(Text *text, const char *comment);

/* A literal with the bytes of the text: what is not a letter, a digit or harmless stands there by its number. */
void model_string(Text *text, const char *string);

#endif
