/* The table of languages: a new language is one row here. */
#ifndef LANG_LANGUAGES_H
#define LANG_LANGUAGES_H

#include "ir/language.h"

/* Row k: the built-in ones, then `further` (ended by NULL; may be NULL). NULL after the last. */
const Language *language_at(const Language *const *further, uint32_t k);
/* By the ending of the name; NULL: no language has it. */
const Language *language_of(const Language *const *further, const char *path);
/* Profile k of the built-in ones, in the order of names; NULL after the last. */
ProfileAt language_profile;
/* The path of an existing file BASE.<ending of a language>; NULL: there is none. */
const char *language_file(const Language *const *further, const char *base, Arena *arena);
/* The class in a file, which is opened; request.source is filled in. NULL: already reported. */
Model *language_load(const Language *const *further, const char *path, Span wanted_at, LoadRequest request, Diag *diag);

#endif
