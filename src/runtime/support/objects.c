/* See koine/objects.h. Stores are found by their number, since a block contains no addresses: rows of the list double
 * in size and stay where they are, so a look does not wait for anybody. */
#include "objects.h"
#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
    void *object; /* NULL: not made */
    KoineObjectEnd end;
    uint32_t before; /* the number of the one that was made before it; 0: none */
} Object;

typedef struct {
    uint32_t n, last; /* last: the number of the one that was made last */
    Object *at;       /* never NULL */
    OutsideTexts *texts;
} Store;

enum { ROWS = 26, FIRST = 6 }; /* row k has 2^(k + FIRST) places */
static _Atomic(Store *) rows[ROWS];
static atomic_flag lock = ATOMIC_FLAG_INIT; /* held for a few instructions, where an instance is made or ends */

static void take_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
    }
}

static void release_lock(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

static Store *find(uint32_t store)
{
    uint32_t place = store - 1;
    for (uint32_t k = 0; k < ROWS && store; k++) {
        const uint32_t n = UINT32_C(1) << (k + FIRST);
        Store *row = atomic_load_explicit(&rows[k], memory_order_acquire);
        if (place < n)
            return row ? row + place : NULL;
        place -= n;
    }
    return NULL;
}

/* A place that nobody has; 0: no memory. Locked. */
static uint32_t take_place(void)
{
    uint32_t number = 1;
    for (uint32_t k = 0; k < ROWS; k++) {
        const uint32_t n = UINT32_C(1) << (k + FIRST);
        Store *row = atomic_load_explicit(&rows[k], memory_order_relaxed);
        if (!row) {
            row = calloc(n, sizeof *row);
            if (!row)
                return 0;
            atomic_store_explicit(&rows[k], row, memory_order_release);
        }
        for (uint32_t j = 0; j < n; j++, number++)
            if (!row[j].at)
                return number;
    }
    return 0;
}

uint32_t koine_objects_create(uint32_t n)
{
    Object *objects = calloc(n + (size_t)1, sizeof *objects);
    if (!objects)
        return 0;
    take_lock();
    const uint32_t number = take_place();
    if (number)
        *find(number) = (Store){ .n = n, .at = objects };
    release_lock();
    if (!number)
        free(objects);
    return number;
}

void koine_objects_end(uint32_t number)
{
    Store *store = find(number);
    while (store && store->last) {
        Object ended = store->at[store->last - 1];
        store->at[store->last - 1] = (Object){ 0 };
        store->last = ended.before;
        if (ended.end.end)
            ended.end.end(ended.end.context, ended.object);
    }
}

void koine_objects_destroy(uint32_t number)
{
    Store *store = find(number);
    if (!store)
        return;
    koine_objects_end(number);
    koine_outside_destroy(store->texts);
    take_lock();
    free(store->at);
    *store = (Store){ 0 };
    release_lock();
}

OutsideTexts **koine_objects_texts(uint32_t number)
{
    Store *store = find(number);
    return store && store->at ? &store->texts : NULL;
}

static Object *object_at(const KoineSlot *call, int64_t number)
{
    Store *store = find((uint32_t)call[KOINE_OBJECT_PLACE].i);
    return store && number >= 1 && number <= store->n ? &store->at[number - 1] : NULL;
}

void *koine_object_of(const KoineSlot *call, int64_t number)
{
    const Object *found = object_at(call, number);
    return found ? found->object : NULL;
}

uint32_t koine_object_made(const KoineSlot *call, int64_t number, void *object, KoineObjectEnd end)
{
    Store *store = find((uint32_t)call[KOINE_OBJECT_PLACE].i);
    Object *made = object_at(call, number);
    if (!made || made->object || !object)
        return 0;
    *made = (Object){ object, end, store->last };
    store->last = (uint32_t)number;
    return 1;
}
