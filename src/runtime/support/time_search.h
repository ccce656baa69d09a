/* Private to runtime/support: where a function of the time leaves the side it is on.
 *
 * A search goes from piece to piece. A piece is proved to hold no crossing by its intervals of values and slopes, or it
 * holds exactly one, or it is divided, down to 16 ulp of the time: there the signs at its ends decide. A crossing
 * counts when the operands differ by more than 8 ulp of the larger one, and by more than their rounding. */
#ifndef SUPPORT_TIME_SEARCH_H
#define SUPPORT_TIME_SEARCH_H

#include "interval.h"

typedef struct { /* one border: sign*x + offset > 0 on this side of it, x being the difference of the operands */
    double sign, offset;
    bool zero_crosses; /* 0 itself is on the other side */
} Border;

typedef struct {
    const KoineTimeCode *code;
    const KoineSlot *inputs;
    Cell *cells;
    uint32_t n_borders;
    Border borders[2];
    bool is_guarded; /* without value it stays on its side; else it leaves it */
} Watched;

typedef struct TimeSearch { /* in the block */
    double from;            /* how far it has come */
    double width;           /* of the next piece */
    uint64_t work;          /* evaluations since the last crossing */
    uint32_t doubts;        /* pieces in a row about which nothing could be proved */
    uint8_t is_begun, has_warned;
    uint8_t has_crossing; /* at `from`: the border ... */
    uint8_t border;
    uint8_t is_blind; /* ... or there is no value from there on */
} TimeSearch;

typedef enum { PIECE_PROVED, PIECE_DOUBTFUL, PIECE_CROSSED } PieceKind;

/* From `at` on, with what was learnt about the time scale so far. */
void koine_search_begin(TimeSearch *search, double at);

/* One piece further: from `from` as it was to `from` as it is then. CROSSED: that is the crossing. */
PieceKind koine_search_piece(const Watched *watched, TimeSearch *search);

/* Whether it is on its side at this time, without doubt. */
bool koine_search_is_inside(const Watched *watched, double time);

#endif
