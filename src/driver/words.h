/* The words that options of a compilation take, for help texts and messages. */
#ifndef DRIVER_WORDS_H
#define DRIVER_WORDS_H

#include "base/vocabulary.h"

/* NULL after the last one, each. */
const char *compilation_systems_name(uint32_t k); /* how systems of equations are solved: CompileRequest.systems */
const char *compilation_pass_name(uint32_t k);    /* in order */
const char *compilation_pass_purpose(uint32_t k);
ProfileAt compilation_profile;  /* of all languages */
WordAt compilation_target_name; /* of emit/target.h */
WordAt compilation_tier_word;   /* "auto", then the rows of emit/tiers.h */
extern const Vocabulary compilation_vocabulary;

/* "interp (at once), tcc (compiled quickly), ...": the tiers and how they execute. */
const char *compilation_tier_titles(Arena *arena);
/* "c (the equations ...), ...": the targets and what they make. */
const char *compilation_target_titles(Arena *arena);

uint8_t systems_choice(const char *name); /* a SystemsChoice; NULL: the usual one */

#endif
