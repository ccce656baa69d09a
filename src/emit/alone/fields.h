/* The tables of a program as constant C data.
 *
 * Every array is a constant of its own, before what points to it; the last one is the program. Texts of the model go
 * through model_text.h, and the whole is looked through before it is given away (vet_data of vet.h). */
#ifndef EMIT_ALONE_FIELDS_H
#define EMIT_ALONE_FIELDS_H

#include "base/text.h"
#include "koine/support.h"

/* Appends "static const KoineProgram a7[1] = {...};" and all that it needs. Returns the number of that array. */
uint32_t print_data(const KoineProgram *program, Text *to);

/* Words of the data that are no numbers: types and fields of structs.def. */
bool is_data_word(const char *word, size_t n);

#define KINDS "koine_alone_kinds" /* an array of the kinds of components, filled when they are loaded */

#endif
