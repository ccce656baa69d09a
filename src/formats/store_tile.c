#include "formats/store_tile.h"
#include <math.h>
#include <string.h>

enum { SIDE = 8 }; /* slots of a cache line */

/* A whole square. */
static void turn(const KoineSlot *from, size_t stride, size_t ahead, size_t height, KoineSlot *to)
{
    KoineSlot square[SIDE][SIDE];
    for (size_t r = 0; r < SIDE; r++) {
        memcpy(square[r], from + r * stride, sizeof square[r]);
        __builtin_prefetch(from + r * stride + ahead);
    }
    for (size_t c = 0; c < SIDE; c++)
        for (size_t r = 0; r < SIDE; r++)
            to[c * height + r] = square[r][c];
}

static void turn_rest(const KoineSlot *from, size_t stride, size_t n_rows, size_t n_columns, size_t height,
                      KoineSlot *to)
{
    for (size_t r = 0; r < n_rows; r++)
        for (size_t c = 0; c < n_columns; c++)
            to[c * height + r] = from[r * stride + c];
}

void tile_gather(const TileSource *s, size_t height, KoineSlot *tile)
{
    const size_t rows = s->n_rows, columns = s->n_columns, ahead = s->has_next ? columns : 0;
    const size_t whole_rows = rows - rows % SIDE, whole_columns = columns - columns % SIDE;
    for (size_t c = 0; rows < height && c < columns; c++)
        memset(tile + c * height + rows, 0, (height - rows) * sizeof *tile);
    for (size_t r = 0; r < whole_rows; r += SIDE) {
        const KoineSlot *from = s->rows + r * s->stride;
        for (size_t c = 0; c < whole_columns; c += SIDE)
            turn(from + c, s->stride, ahead, height, tile + c * height + r);
        turn_rest(from + whole_columns, s->stride, SIDE, columns - whole_columns, height,
                  tile + whole_columns * height + r);
    }
    turn_rest(s->rows + whole_rows * s->stride, s->stride, rows - whole_rows, columns, height, tile + whole_rows);
}

/* Several at a time: each comparison would wait for the one before it. */
void tile_extremes(const KoineSlot *values, uint32_t n, double pair[2])
{
    double low[SIDE], high[SIDE];
    for (int k = 0; k < SIDE; k++) {
        low[k] = (double)INFINITY;
        high[k] = -(double)INFINITY;
    }
    uint32_t i = 0;
    for (; i + SIDE <= n; i += SIDE)
        for (uint32_t k = 0; k < SIDE; k++) {
            const double x = values[i + k].r;
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        }
    for (; i < n; i++) {
        low[0] = values[i].r < low[0] ? values[i].r : low[0];
        high[0] = values[i].r > high[0] ? values[i].r : high[0];
    }
    for (int k = 1; k < SIDE; k++) {
        low[0] = low[k] < low[0] ? low[k] : low[0];
        high[0] = high[k] > high[0] ? high[k] : high[0];
    }
    const bool is_any = low[0] <= high[0];
    pair[0] = is_any ? low[0] : (double)NAN;
    pair[1] = is_any ? high[0] : (double)NAN;
}
