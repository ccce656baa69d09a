/* See objects.h. */
#include "objects.h"
#include <stdlib.h>

typedef struct {
    void *object; /* NULL: not made */
    KoineObjectEnd end;
    uint32_t before; /* the number of the one that was made before it; 0: none */
} Object;

struct ObjectStore {
    uint32_t n, last; /* last: the number of the one that was made last */
    Object *at;       /* never NULL */
    OutsideTexts *texts;
};

/* The block says where the store of its instance is; NULL: it has none. */
static ObjectStore *store_of(const KoineSlot *call)
{
    return (ObjectStore *)(intptr_t)call[KOINE_OBJECT_PLACE].i;
}

ObjectStore *koine_objects_create(uint32_t n)
{
    ObjectStore *store = calloc(1, sizeof *store);
    Object *objects = calloc(n + (size_t)1, sizeof *objects);
    if (!store || !objects) {
        free(objects);
        free(store);
        return NULL;
    }
    *store = (ObjectStore){ .n = n, .at = objects };
    return store;
}

void koine_objects_end(ObjectStore *store)
{
    while (store && store->last) {
        Object ended = store->at[store->last - 1];
        store->at[store->last - 1] = (Object){ 0 };
        store->last = ended.before;
        if (ended.end.end)
            ended.end.end(ended.end.context, ended.object);
    }
}

void koine_objects_destroy(ObjectStore *store)
{
    if (!store)
        return;
    koine_objects_end(store);
    koine_outside_destroy(store->texts);
    free(store->at);
    free(store);
}

OutsideTexts **koine_objects_texts(ObjectStore *store)
{
    return store ? &store->texts : NULL;
}

OutsideTexts **koine_objects_texts_of(const KoineSlot *call)
{
    return koine_objects_texts(store_of(call));
}

static Object *object_at(const KoineSlot *call, int64_t number)
{
    ObjectStore *store = store_of(call);
    return store && number >= 1 && number <= store->n ? &store->at[number - 1] : NULL;
}

void *koine_object_of(const KoineSlot *call, int64_t number)
{
    const Object *found = object_at(call, number);
    return found ? found->object : NULL;
}

uint32_t koine_object_made(const KoineSlot *call, int64_t number, void *object, KoineObjectEnd end)
{
    ObjectStore *store = store_of(call);
    Object *made = object_at(call, number);
    if (!made || made->object || !object)
        return 0;
    *made = (Object){ object, end, store->last };
    store->last = (uint32_t)number;
    return 1;
}
