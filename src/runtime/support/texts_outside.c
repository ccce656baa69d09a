/* See texts_outside.h. Each text has memory of its own, so what somebody looks at does not move. */
#include "texts_outside.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 64 };
static const uint64_t MOST_BYTES = UINT64_C(1) << 30;

static void link_text(OutsideTexts *o, uint32_t number)
{
    uint32_t *bucket = &o->buckets[o->at[number].hash & (o->capacity - 1)];
    o->at[number].next = *bucket;
    *bucket = number + 1;
}

static bool grow(OutsideTexts *o)
{
    const uint32_t capacity = o->capacity ? 2 * o->capacity : FIRST;
    OutsideText *at = realloc(o->at, capacity * sizeof *at);
    if (at)
        o->at = at;
    uint32_t *buckets = at ? calloc(capacity, sizeof *buckets) : NULL;
    if (!buckets)
        return false;
    free(o->buckets);
    o->buckets = buckets;
    o->capacity = capacity;
    for (uint32_t k = 0; k < o->n; k++)
        link_text(o, k);
    return true;
}

char *koine_outside_room(OutsideTexts **texts, uint64_t n)
{
    if (!*texts)
        *texts = calloc(1, sizeof **texts);
    OutsideTexts *o = *texts;
    if (!o || o->bytes + n > MOST_BYTES || (o->n == o->capacity && !grow(o)))
        return NULL;
    o->room = malloc(n + 1);
    return o->room;
}

void koine_outside_drop(OutsideTexts *o)
{
    free(o->room);
    o->room = NULL;
}

uint32_t koine_outside_find(const OutsideTexts *o, const char *text, uint64_t n, uint32_t hash)
{
    uint32_t k = o->n ? o->buckets[hash & (o->capacity - 1)] : 0;
    while (k && (o->at[k - 1].hash != hash || o->at[k - 1].size != n || memcmp(o->at[k - 1].text, text, n) != 0))
        k = o->at[k - 1].next;
    return k;
}

uint32_t koine_outside_finish(OutsideTexts *o, uint64_t n, uint32_t hash)
{
    const uint32_t known = koine_outside_find(o, o->room, n, hash);
    if (known) {
        koine_outside_drop(o);
        return known - 1;
    }
    o->at[o->n] = (OutsideText){ o->room, (uint32_t)n, hash, 0 };
    o->room = NULL;
    o->bytes += n;
    link_text(o, o->n);
    return o->n++;
}

void koine_outside_clear(OutsideTexts *o)
{
    if (!o || o->n == 0)
        return;
    for (uint32_t k = 0; k < o->n; k++)
        free(o->at[k].text);
    memset(o->buckets, 0, o->capacity * sizeof *o->buckets);
    o->n = 0;
    o->bytes = 0;
}

void koine_outside_destroy(OutsideTexts *o)
{
    if (!o)
        return;
    koine_outside_clear(o);
    free(o->room);
    free(o->at);
    free(o->buckets);
    free(o);
}
