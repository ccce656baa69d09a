/* How many models have each word of the text form: those of ir/word.def, op.def and whole.def. */
#ifndef TESTS_ELEMENTS_WORDS_H
#define TESTS_ELEMENTS_WORDS_H

#include <stdbool.h>
#include <stdint.h>

void words_count(const char *path); /* those in the text of a model */
/* Prints words that fewer than one in a hundred models have, and those that none has. True: there are none of the first
 * kind. */
bool words_print(uint64_t n_models);

#endif
