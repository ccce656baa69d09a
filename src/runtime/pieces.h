/* What a run remembers, piece by piece: whoever owns memory that a saved run needs visits it here, in an order that
 * never changes. The same visit counts the bytes, takes them out of the run and puts them back, so that the three
 * cannot differ. A piece is plain numbers: pointers stay where they are, and vectors that change places are visited by
 * the part they play. */
#ifndef KOINE_RUNTIME_PIECES_H
#define KOINE_RUNTIME_PIECES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum { KOINE_PIECES_COUNT, KOINE_PIECES_TAKE, KOINE_PIECES_PUT } KoineVisit;

typedef struct KoinePieces {
    KoineVisit visit;
    unsigned char *at; /* TAKE: where the next piece goes; PUT: where it comes from */
    uint64_t left;     /* PUT: bytes from there on; else bytes so far */
    bool is_short;     /* PUT: there were too few */
} KoinePieces;

static inline void koine_piece(KoinePieces *pieces, void *memory, uint64_t size)
{
    if (pieces->visit == KOINE_PIECES_PUT) {
        pieces->is_short |= size > pieces->left;
        if (pieces->is_short)
            return;
        pieces->left -= size;
        if (size)
            memcpy(memory, pieces->at, size);
    } else {
        pieces->left += size;
        if (pieces->visit == KOINE_PIECES_COUNT)
            return;
        if (size)
            memcpy(pieces->at, memory, size);
    }
    pieces->at += size;
}

#define KOINE_PIECE(pieces, value) koine_piece(pieces, &(value), sizeof(value))

/* A vector of n numbers. */
static inline void koine_piece_numbers(KoinePieces *pieces, double *numbers, uint64_t n)
{
    koine_piece(pieces, numbers, n * sizeof *numbers);
}

#endif
