/* Private to runtime/support: stores, what instances have outside of their blocks: external objects, and texts that
 * found no room. */
#ifndef SUPPORT_OBJECTS_H
#define SUPPORT_OBJECTS_H

#include "koine/objects.h"
#include "texts_outside.h"

typedef struct ObjectStore ObjectStore;

ObjectStore *koine_objects_create(uint32_t n); /* with room for n objects; NULL: no memory */
/* Ends all objects of it, the last one first. */
void koine_objects_end(ObjectStore *store);
void koine_objects_destroy(ObjectStore *store); /* after ending them; NULL: nothing */
/* Where it has its texts; NULL: there is no store. */
OutsideTexts **koine_objects_texts(ObjectStore *store);
OutsideTexts **koine_objects_texts_of(const KoineSlot *call); /* of the instance whose block holds `call` */

#endif
