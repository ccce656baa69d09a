/* Lists of words that a setting or an option can be. A list is a function, because its words stand in the rows of a
 * table that others keep: tiers, languages, formats of results. */
#ifndef BASE_VOCABULARY_H
#define BASE_VOCABULARY_H

#include "base/profile.h"

/* Word k of a list; NULL after the last one. */
typedef const char *WordAt(uint32_t k);

/* The word of the list that equals `name`, as the list spells it; NULL: there is none, or no list. */
const char *word_among(WordAt *words, const char *name);
/* The word that is most like `name`; NULL: none is near. */
const char *word_nearest(WordAt *words, const char *name);
/* All words: "a, b or c" where `last` is " or ". */
const char *words_listed(WordAt *words, const char *last, Arena *arena);

/* The lists that settings of a run choose from. A list that is NULL has no words. */
typedef struct {
    ProfileAt *profiles;
    WordAt *tiers;
} Vocabulary;

#endif
