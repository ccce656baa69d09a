/* Looking for a word in a list of words, and the list as a text; see vocabulary.h. */
#include "base/vocabulary.h"
#include "base/names.h"
#include "base/text.h"
#include <string.h>

const char *word_among(WordAt *words, const char *name)
{
    for (uint32_t k = 0; words && words(k); k++)
        if (strcmp(words(k), name) == 0)
            return words(k);
    return NULL;
}

const char *word_nearest(WordAt *words, const char *name)
{
    uint32_t best = 3;
    const char *nearest = NULL;
    for (uint32_t k = 0; words(k); k++) {
        const char *candidate = words(k);
        const uint32_t distance = edit_distance(name, candidate, best);
        if (distance < best && distance < strlen(candidate)) {
            best = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

const char *words_listed(WordAt *words, const char *last, Arena *arena)
{
    Text text = { .arena = arena };
    for (uint32_t k = 0; words && words(k); k++)
        text_format(&text, "%s%s", k == 0 ? "" : words(k + 1) ? ", " : last, words(k));
    return arena_text(arena, text.at, text.n);
}
