/* Which scalars of a model are recorded, and what they are called.
 *
 * A glob is a name in which `*` stands for any characters and `?` for one; brackets are literal, so
 * `x[1,2]` names an element and `x` the whole array; `x'` is der(x). Without globs everything visible that changes
 * is recorded. Parameters, constants and hidden variables are recorded where a glob without
 * wildcards names them, and so are Strings in the formats that have them. The order is that of the globs, then that of
 * the table; a scalar appears once. */
#ifndef FORMATS_SELECT_H
#define FORMATS_SELECT_H

#include "base/text.h"
#include "koine/model.h"

typedef struct {
    uint32_t variable; /* row of tables->variables */
    uint32_t element;  /* from 0, row major */
    uint64_t offset;   /* of its slot in the block */
} Column;

typedef struct {
    Column *at;
    uint32_t n;
} Selection;

/* A glob that matches nothing. */
typedef struct {
    uint32_t glob;       /* its index */
    const char *nearest; /* a name like it, or NULL */
    bool is_text;        /* it names a String, which this does not take */
    bool is_closed;      /* it does match parameters or hidden variables, which must be named in full */
} SelectionMiss;

enum {
    SELECT_PARAMETERS = 1, /* wildcards match parameters and constants too */
    SELECT_TEXTS = 2       /* Strings are recorded where they are named in full */
};

bool select_columns(const KoineTables *tables, const char *const *globs, uint32_t n_globs, unsigned flags, Arena *arena,
                    Selection *selection, SelectionMiss *miss);
/* "no variable matches 'Integ.Y'; did you mean 'Integ.Z'?" */
void selection_miss_text(const SelectionMiss *miss, const char *const *globs, char *text, size_t size);

/* Splits "a*,x[1,2],'b,c'" at the commas outside of brackets and quotes; blanks around are dropped. */
uint32_t globs_split(const char *list, Arena *arena, const char *const **globs);
typedef bool GlobMatch(const char *glob, const char *name);
GlobMatch glob_matches;
GlobMatch glob_matches_any_case; /* for globs that no name has the capitals of */

/* "x", "x[3]", "x[1,2]", "der(x[3])" */
void column_name(const KoineTables *tables, const Column *column, Text *name);

/* The value of a recorded scalar as a number: Booleans 0 or 1, enumerations by number. */
static inline double column_value(const KoineVariable *variable, KoineSlot slot)
{
    const bool is_negated = variable->flags & KOINE_VARIABLE_NEGATED;
    if (variable->type == KOINE_REAL)
        return is_negated ? -slot.r : slot.r;
    if (variable->type == KOINE_BOOLEAN)
        return is_negated != (slot.i != 0);
    return is_negated ? -(double)slot.i : (double)slot.i;
}

#endif
