/* Looking for a word in a list of words, and the list as a text; see vocabulary.h. */
#include "base/vocabulary.h"
#include "base/text.h"
#include <string.h>

const char *word_among(WordAt *words, const char *name)
{
    for (uint32_t k = 0; words && words(k); k++)
        if (strcmp(words(k), name) == 0)
            return words(k);
    return NULL;
}

const char *words_listed(WordAt *words, const char *last, Arena *arena)
{
    Text text = { .arena = arena };
    for (uint32_t k = 0; words && words(k); k++)
        text_format(&text, "%s%s", k == 0 ? "" : words(k + 1) ? ", " : last, words(k));
    return arena_text(arena, text.at, text.n);
}
