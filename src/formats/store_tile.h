/* Columns out of the rows of a block, in the pieces that become chunks. Private to formats.
 *
 * Rows lie far apart: what is read from one is a few cache lines, and no hardware foresees the next. Squares of a cache
 * line each way are turned at a time, and the lines that the next piece needs are asked for meanwhile. */
#ifndef FORMATS_STORE_TILE_H
#define FORMATS_STORE_TILE_H

#include "koine/model.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const KoineSlot *rows; /* the first column wanted, in the first row */
    size_t stride;         /* slots from row to row */
    uint32_t n_rows, n_columns;
    bool has_next; /* as many columns follow in each row and are wanted next */
} TileSource;

/* Column c goes to tile[c*height], row by row; rows that are not there are 0. */
void tile_gather(const TileSource *from, size_t height, KoineSlot *tile);
/* The smallest and the largest number, not a number if there is none. */
void tile_extremes(const KoineSlot *values, uint32_t n, double pair[2]);

#endif
