/* Interned names: equal texts have equal ids; comparing names is comparing integers. Id 0 is "". */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include "base/arena.h"
#include <stdbool.h>

typedef struct {
    uint32_t index;
} NameId;
typedef struct Names Names;

Names *names_create(Arena *arena);
NameId names_add(Names *names, const char *text, size_t length);
NameId names_text(Names *names, const char *text);
bool names_find(const Names *names, const char *text, size_t length, NameId *found); /* without adding */
const char *names_of(const Names *names, NameId name); /* terminated by 0, lives as long as the table */
uint32_t names_length(const Names *names, NameId name);
uint32_t names_count(const Names *names);

static inline bool name_equal(NameId a, NameId b)
{
    return a.index == b.index;
}
static inline bool name_is_empty(NameId a)
{
    return a.index == 0;
}

/* Natural order: digit runs compare by value ("a2" < "a10"), then by length, else by bytes. */
int natural_compare(const char *a, const char *b);

/* Number of edits between two names without regard to case, at most `limit`; for "did you mean". */
uint32_t edit_distance(const char *a, const char *b, uint32_t limit);

#endif
