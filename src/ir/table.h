/* Tables: functions of one Real given by points; see docs/ir.md.
 *
 * They live in the pool as enumerations do, and equal ones are one, so that an expression that calls
 * a table is the same for all instances of a class. */
#ifndef IR_TABLE_H
#define IR_TABLE_H

#include "base/arena.h"
#include "base/names.h"
#include <stdbool.h>

typedef enum { TABLE_LINEAR, TABLE_BESSEL, TABLE_SPLINE, TABLE_AKIMA, TABLE_CONSTANT } TableMethod;
typedef enum { OUTSIDE_ERROR, OUTSIDE_HOLD, OUTSIDE_EXTRAPOLATE } TableOutside;

enum { TABLE_ORDERS = 4 }; /* the function and its derivatives that are not zero everywhere */

typedef struct {
    NameId name;
    uint8_t method, outside;
    uint32_t n;          /* points, see table_least */
    const double *x, *y; /* x ascends; all are finite */
    /* filled by the pool */
    uint32_t index;
    const double
        *data[TABLE_ORDERS]; /* as koine_lookup wants it, by order of the derivative; NULL: not asked for yet */
} Table;

uint32_t table_least(TableMethod method);  /* points it needs */
uint32_t table_degree(TableMethod method); /* derivatives of higher order are zero */
bool table_has_kinks(TableMethod method);  /* its points are events when the argument moves */
bool table_equal(const Table *a, const Table *b);
/* Coefficients of a derivative, 0 the function itself; computed once. */
const double *table_data(Table *table, uint32_t order, Arena *arena);
uint32_t table_data_size(const Table *table); /* numbers in it */

#endif
