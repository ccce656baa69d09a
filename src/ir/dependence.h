/* Why a system of equations is singular: which of its unknowns can change together without an equation noticing, and
 * which of its equations follow from each other. Both sets are least: none of their members can be left out. */
#ifndef IR_DEPENDENCE_H
#define IR_DEPENDENCE_H

#include "base/map.h"
#include "ir/evaluate.h"
#include "ir/schedule.h"

enum { DEPENDENCE_MOST = 50000 }; /* rows; larger systems are not looked at */

typedef struct {
    uint32_t n_unknowns, n_equations;
    uint32_t *unknowns, *equations; /* as numbers of rows */
} Dependence;

/* Derivatives of a row, left less right side, by the unknowns in `columns` (kind << 32 | variable -> column), added to
 * `to`; their columns to `used`. Returns how many. NAN where there is none. */
uint32_t row_derivatives(Model *model, const SystemRow *row, const Map *columns, Value (*value)(void *context, Ref ref),
                         void *context, Arena *arena, double *to, uint32_t *used);

/* With the values that `value` gives to what the equations read; with is_general these stand for all values, so that
 * nothing may be decided by them. False: regular, or it cannot be told. */
bool find_dependence(Model *model, const SystemRow *rows, uint32_t n, bool is_general,
                     Value (*value)(void *context, Ref ref), void *context, Arena *arena, Dependence *found);

#endif
