/* Private to runtime/support: stores, what instances have outside of their blocks: external objects, and texts that
 * found no room. */
#ifndef SUPPORT_OBJECTS_H
#define SUPPORT_OBJECTS_H

#include "koine/objects.h"
#include "texts_outside.h"

/* A store with room for n objects: its number, from 1. 0: no memory. */
uint32_t koine_objects_create(uint32_t n);
/* Ends all objects of it, the last one first. */
void koine_objects_end(uint32_t store);
void koine_objects_destroy(uint32_t store); /* after ending them; 0: nothing */
/* Where it has its texts; NULL: there is no such store. */
OutsideTexts **koine_objects_texts(uint32_t store);

#endif
