/* What expressions are worth before the run: values of parameters as the text gives them, and bounds of what moves. */
#ifndef PASSES_KNOWN_VALUES_H
#define PASSES_KNOWN_VALUES_H

#include "ir/model.h"

typedef struct {
    Model *model;
    double *value;   /* per variable: of a parameter; NAN: none */
    bool *has_value; /* per variable: it was looked for */
} KnownValues;

KnownValues known_values(Model *model, Arena *scratch);
/* NAN: it has no value before the run. */
double known_parameter(KnownValues *known, Ref ref);
double known_value(KnownValues *known, const Expr *e, const Ref *refs);

typedef struct {
    double low, high;
} Bounds;
/* Between which values the Real expression stays, whatever its variables are; infinite where nothing is known. Sums
 * whose parts cancel but for rounding reach 0. `budget` bounds the search in shared nodes. */
Bounds known_bounds(KnownValues *known, const Expr *e, const Ref *refs, uint32_t *budget);
static inline bool bounds_have_zero(Bounds b)
{
    return !(b.low > 0 || b.high < 0);
}

#endif
