/* The bytes of a fuzzer as a row of choices: where they end, the first of what there is to choose is taken. */
#ifndef TESTS_FUZZ_CHOICES_H
#define TESTS_FUZZ_CHOICES_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const uint8_t *at, *end;
} Choices;

static inline uint32_t choose_byte(Choices *c)
{
    return c->at < c->end ? *c->at++ : 0;
}

/* A number below n, which is at most 65536. */
static inline uint32_t choose(Choices *c, uint32_t n)
{
    const uint32_t low = choose_byte(c);
    return (n > 256 ? low + 256 * choose_byte(c) : low) % n;
}

#endif
