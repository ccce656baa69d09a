/* Private to runtime/support: texts that found no room in the block, until the evaluation that made them is over. */
#ifndef SUPPORT_TEXTS_OUTSIDE_H
#define SUPPORT_TEXTS_OUTSIDE_H

#include <stdint.h>

typedef struct {
    char *text;                /* terminated by 0 */
    uint32_t size, hash, next; /* next: 1 + the next one in its bucket; 0: none */
} OutsideText;

typedef struct OutsideTexts {
    uint32_t n, capacity;
    OutsideText *at;
    uint32_t *buckets; /* as many as the capacity, a power of 2: 1 + the first text; 0: none */
    char *room;        /* a text that is being made */
    uint64_t bytes;    /* of all */
} OutsideTexts;

/* Room for a text of n bytes and 0, which outside_finish makes a text; NULL: no memory. */
char *koine_outside_room(OutsideTexts **texts, uint64_t n);
void koine_outside_drop(OutsideTexts *texts); /* the room is not used */
/* 1 + the number of a text; 0: it is not there. */
uint32_t koine_outside_find(const OutsideTexts *texts, const char *text, uint64_t n, uint32_t hash);
/* The number, from 0, of the text of n bytes in the room, or of one that equals it. */
uint32_t koine_outside_finish(OutsideTexts *texts, uint64_t n, uint32_t hash);
void koine_outside_clear(OutsideTexts *texts);
void koine_outside_destroy(OutsideTexts *texts);

#endif
