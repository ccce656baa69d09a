/* Private to runtime/support: functions of the time on an interval of it. */
#ifndef SUPPORT_INTERVAL_H
#define SUPPORT_INTERVAL_H

#include "koine/support.h"
#include "range.h"

typedef struct Cell {
    Range value;     /* holds the value at every point of the interval that has one; empty: there is none anywhere */
    Range slope;     /* holds every difference quotient of two points; ALL_NUMBERS also where it jumps */
    bool is_partial; /* there may be points without value */
    int32_t same;    /* 1 + the number of the cell whose value this is at every point, negative: the value negated */
} Cell;

/* Both have the same value at every point, bit by bit: on this interval the one is computed as the other is. */
static inline bool cells_are_same(const Cell *a, const Cell *b)
{
    return a->same == b->same && a->same != 0;
}

/* cells: code->n of them; inputs: those of the function. A point is an interval whose ends are equal: its cells hold
 * what rounding leaves open. */
void koine_time_evaluate(const KoineTimeCode *code, const KoineSlot *inputs, Range time, Cell *cells);

#endif
