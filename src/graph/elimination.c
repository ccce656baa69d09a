#include "graph/elimination.h"
#include <math.h>

static const double LEAST_PIVOT = 1e-10;     /* of the largest number: less is rounding */
static const double LEAST_RIGHT_SIDE = 1e-9; /* of the largest number, in a row without coefficients */
static const double LEAST_DEPENDENCE = 1e-9; /* of an unknown on an open one */

Elimination eliminate(uint32_t n, double *a, Arena *arena)
{
    const uint32_t w = n + 1;
    Elimination e = { .n = n,
                      .can_be_met = true,
                      .row = NEW_ARRAY(arena, uint32_t, n + 1),
                      .column = NEW_ARRAY(arena, uint32_t, n + 1),
                      .matrix = a };
    double scale = 0;
    for (uint32_t j = 0; j < n; j++)
        e.row[j] = j;
    for (uint32_t j = 0; j < n * w; j++)
        scale = fmax(scale, fabs(a[j]));
    for (; e.rank < n; e.rank++) {
        uint32_t best = e.rank, column = 0;
        for (uint32_t i = e.rank; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                if (fabs(a[e.row[i] * w + j]) > fabs(a[e.row[best] * w + column])) {
                    best = i;
                    column = j;
                }
        if (fabs(a[e.row[best] * w + column]) <= LEAST_PIVOT * scale)
            break;
        const uint32_t row = e.row[best];
        e.row[best] = e.row[e.rank];
        e.row[e.rank] = row;
        e.column[e.rank] = column;
        for (uint32_t i = 0; i < n; i++) { /* above, too: what is left says how pivots depend on free columns */
            const double factor = i == row ? 0 : a[i * w + column] / a[row * w + column];
            for (uint32_t j = 0; factor != 0 && j < w; j++)
                a[i * w + j] = j == column ? 0 : a[i * w + j] - factor * a[row * w + j];
        }
    }
    for (uint32_t i = e.rank; i < n; i++)
        e.can_be_met &= fabs(a[e.row[i] * w + n]) <= LEAST_RIGHT_SIDE * scale;
    return e;
}

void list_open_columns(const Elimination *e, bool *is_open)
{
    const uint32_t n = e->n, w = n + 1;
    for (uint32_t j = 0; j < n; j++)
        is_open[j] = true;
    for (uint32_t i = 0; i < e->rank; i++)
        is_open[e->column[i]] = false;
    for (uint32_t i = 0; i < e->rank; i++)
        for (uint32_t j = 0; j < n && !is_open[e->column[i]]; j++)
            if (j != e->column[i] && fabs(e->matrix[e->row[i] * w + j]) > LEAST_DEPENDENCE) {
                bool is_pivot = false;
                for (uint32_t p = 0; p < e->rank && !is_pivot; p++)
                    is_pivot = e->column[p] == j;
                is_open[e->column[i]] = !is_pivot;
            }
}
