/* Tables of a kind as words, for another process. */
#ifndef FOREIGN_DESCRIBE_H
#define FOREIGN_DESCRIBE_H

#include "base/vec.h"
#include "koine/model.h"

typedef VEC(uint64_t) Words;

/* What a host of the component asks its tables for: variables, states, root functions, feed-through. */
void describe_tables(Words *words, const KoineTables *tables, Arena *arena);
/* NULL: these are no such words. */
const KoineTables *tables_of_words(const uint64_t *words, uint64_t n, Arena *arena);
void describe_text(Words *words, const char *text, Arena *arena);
uint64_t fingerprint_of_words(const uint64_t *words, uint64_t n);

#endif
