/* Private to runtime/support: the table of texts in the block.
 *
 * An area of the block with a head, entries, buckets of their hashes and the bytes of the texts one behind the other.
 * Entry 0 is the empty text; those behind it, up to n_fixed, are the literals of the program and stay for ever. Between
 * two evaluations a text is in use if any word of the block outside of the area is its number: others are given up when
 * room is needed. */
#ifndef SUPPORT_TEXTS_H
#define SUPPORT_TEXTS_H

#include "koine/texts.h"
#include "machine.h"

typedef enum { TEXT_GOOD, TEXT_TOO_LONG, TEXT_OUTSIDE, TEXT_NO_FORMAT } TextFailure;

typedef struct {
    uint64_t capacity; /* bytes of the area, with this head */
    uint64_t used;     /* bytes of texts */
    uint64_t wanted;   /* bytes of a text that found no room; 0: none */
    uint32_t n_entries, n_fixed, n_free, first_free;
    uint32_t failure;          /* TextFailure: why the last operation had no result; GOOD: it had one */
    uint32_t is_entry_missing; /* with wanted: there were bytes, but no entry */
    int64_t operands[3];       /* of the failure */
} TextTable;

/* Bytes of an area in which the texts of a program have room; 0: the program has none. */
uint64_t koine_texts_size(const KoineProgram *program);
uint64_t koine_texts_growth(const Machine *m); /* bytes that the area has more than at first */
void koine_texts_begin(Machine *m);            /* a new instance: the literals of the program */
/* Whether an operation found no room since the last call of koine_texts_make_room. */
bool koine_texts_want_room(const Machine *m);
/* After that: gives up what nobody holds, makes the block larger if that is not enough. False: no memory. */
bool koine_texts_make_room(Machine *m);
/* At the end of an instant: at least a quarter of the area is free then. False: no memory. */
bool koine_texts_tidy(Machine *m);
/* Why an operation had no result, as a sentence; false: none failed since the last call. */
bool koine_texts_failure(Machine *m, char *to, size_t size);
/* The bytes of a text, terminated by 0; what is no number of a text is the empty one. */
const char *koine_texts_get(const Machine *m, int64_t number, uint32_t *n);

const char *koine_machine_text(KoineModel *model, KoineSlot value, size_t *n);
KoineStatus koine_machine_put_text(KoineModel *model, const char *text, size_t n, KoineSlot *value);

#endif
