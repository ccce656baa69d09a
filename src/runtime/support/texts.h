/* Private to runtime/support: the table of texts in the block.
 *
 * An area of the block with a head, entries, buckets of their hashes and the bytes of the texts one behind the other.
 * Entry 0 is the empty text; those behind it, up to n_fixed, are the literals of the program and stay for ever. Between
 * two evaluations a text is in use if any word of the block outside of the area is its number: others are given up when
 * room is needed. What finds no room in an evaluation lies outside of the block until the evaluation is over; its
 * numbers are behind those that the area can have. */
#ifndef SUPPORT_TEXTS_H
#define SUPPORT_TEXTS_H

#include "koine/texts.h"
#include "machine.h"

typedef enum { TEXT_GOOD, TEXT_TOO_LONG, TEXT_OUTSIDE, TEXT_NO_FORMAT, TEXT_NO_MEMORY } TextFailure;

typedef struct {
    uint64_t capacity; /* bytes of the area, with this head */
    uint64_t used;     /* bytes of texts */
    uint32_t n_entries, n_fixed, n_free, first_free;
    uint32_t failure;    /* TextFailure: why the last operation had no result; GOOD: it had one */
    uint32_t is_outside; /* some texts have found no room */
    int64_t operands[3]; /* of the failure */
} TextTable;

/* Bytes of an area in which the texts of a program have room; 0: the program has none. */
uint64_t koine_texts_size(const KoineProgram *program);
uint64_t koine_texts_growth(const Machine *m); /* bytes that the area has more than at first */
void koine_texts_begin(Machine *m);            /* a new instance: the literals of the program */
/* An evaluation is over: texts that found no room, and are held, come into the block, which becomes larger. `status`,
 * or FAILED: no memory. */
KoineStatus koine_texts_settle(Machine *m, KoineStatus status);
/* At the end of an instant: at least a quarter of the area is free then. FAILED: no memory. */
KoineStatus koine_texts_tidy(Machine *m);
/* Between events: what was made outside is given up once it is much, if nothing holds it. */
void koine_texts_sweep(Machine *m);
/* Why an operation had no result, as a sentence; false: none failed since the last call. */
bool koine_texts_failure(Machine *m, char *to, size_t size);
/* The bytes of a text, terminated by 0; what is no number of a text is the empty one. */
const char *koine_texts_get(const Machine *m, int64_t number, uint32_t *n);

/* A text is made, in an evaluation. */
int64_t koine_texts_make(KoineSlot *call, const char *text, size_t n);

const char *koine_machine_text(KoineModel *model, KoineSlot value, size_t *n);
KoineStatus koine_machine_put_text(KoineModel *model, const char *text, size_t n, KoineSlot *value);

#endif
