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

/* Where equations get the values of what they read from. */
typedef struct {
    Model *model;
    Value (*value)(void *context, Ref ref);
    void *context;
    bool is_general; /* the values stand for all values, so nothing may be decided by them */
} ValueSource;

/* Derivatives of a row, left less right side, by the unknowns in `columns` (kind << 32 | variable -> column), added to
 * `to`; their columns to `used`. Returns how many. NAN where there is none. */
uint32_t row_derivatives(const ValueSource *source, const SystemRow *row, const Map *columns, Arena *arena, double *to,
                         uint32_t *used);

/* False: regular, or it cannot be told. */
bool find_dependence(const ValueSource *source, const SystemRow *rows, uint32_t n, Arena *arena, Dependence *found);

#endif
