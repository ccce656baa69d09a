/* Whether a generated text is one that the printer can have written; asked before any compiler sees it.
 *
 * The second wall behind model_text.h. Outside of the prelude the text has only characters, words and calls of our own
 * vocabulary: no directive, no joined lines, no string, no keyword we do not use, no call of a function that is not
 * the prelude's or the text's own. */
#ifndef EMIT_C_VET_H
#define EMIT_C_VET_H

#include "base/text.h"
#include "emit/code.h"

typedef struct {
    size_t begin, end; /* of the prelude in the text: it is ours, word for word */
} PreludeSpan;

/* false: *why says where and what. */
bool vet_text(const Code *code, const Text *text, PreludeSpan prelude, Arena *arena, const char **why);

/* The same for constant data: numbers, literals, designators and arrays that are called a1, a2 and so on; is_word knows
 * all other words of it. No call, no directive, no operator. */
bool vet_data(const Text *text, bool (*is_word)(const char *word, size_t n), Arena *arena, const char **why);

#endif
