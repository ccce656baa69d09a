/* External objects of a running model: what constructors of C have made, and who ends it.
 *
 * They lie outside of the block, in a store of the instance: an object is made once in a start, and ended before the
 * next start or with the instance, the last one first. A slot holds its number, from 1; the block says where that
 * store is. */
#ifndef KOINE_OBJECTS_H
#define KOINE_OBJECTS_H

#include "koine/api.h"
#include "koine/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of a call, see KoineSlots.calls: the one with this place in them is the address of the store. */
enum { KOINE_OBJECT_PLACE = 7 };

typedef struct { /* who ends an object; the context belongs to the function */
    void (*end)(const void *context, void *object);
    const void *context;
} KoineObjectEnd;

/* The object with this number of the instance whose block holds `call`; NULL: it has not been made. */
KOINE_API void *koine_object_of(const KoineSlot *call, int64_t number);

/* It has been made. 0: there is no room for such a number, or the object is none (NULL); nobody ends it. */
KOINE_API uint32_t koine_object_made(const KoineSlot *call, int64_t number, void *object, KoineObjectEnd end);

#ifdef __cplusplus
}
#endif

#endif
