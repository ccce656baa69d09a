/* The C text that connects the functions of a model with what they name; see wrapper.c. */
#ifndef EMIT_EXTERNAL_WRAPPER_H
#define EMIT_EXTERNAL_WRAPPER_H

#include "base/text.h"
#include "emit/external/external.h"

/* What the functions of a model name, each once. */
typedef struct {
    const Function *const *functions; /* all are external */
    const ExternalFiles *files;       /* per function */
    uint32_t n;
    const Sources *sources;
    Arena *arena;
} ExternalSet;

#define EXTERNAL_ENTRY "koine_entry_" /* and the number of the function */
#define EXTERNAL_END   "koine_end_"   /* likewise: what ends the object that it makes */

/* Whether there is anything to compile: a C file, a header, a text or an archive. */
bool external_has_text(const ExternalSet *set);
/* The text with the entries: `double koine_entry_0(double, const double *)`. */
Text external_text(const ExternalSet *set);
/* C files that are compiled by themselves, and not as parts of the text. */
void external_sources(const ExternalSet *set, ExternalFiles *to);
/* How a function of libm or libc is called really, where that is known and is not what the model says; else NULL. */
const char *external_known_mistake(const Function *function, Arena *arena);

#endif
