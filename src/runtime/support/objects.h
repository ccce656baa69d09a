/* Private to runtime/support: stores of external objects. */
#ifndef SUPPORT_OBJECTS_H
#define SUPPORT_OBJECTS_H

#include "koine/objects.h"

/* A store for n objects: its number, from 1. 0: no memory. */
uint32_t koine_objects_create(uint32_t n);
/* Ends all objects of it, the last one first. */
void koine_objects_end(uint32_t store);
void koine_objects_destroy(uint32_t store); /* after ending them; 0: nothing */

#endif
