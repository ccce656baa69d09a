/* Composing arrays of instances. All instances of an array share their rows: each variable has the dimensions of the
 * array first, each equation, transition and assertion a range for each of them. A parameter that sizes or indices
 * depend on is one for all instances and has no such dimension. */
#ifndef IR_COMPOSE_H
#define IR_COMPOSE_H

#include "ir/model.h"

enum { ARRAY_RANK = 8 }; /* at most, of arrays in arrays together */

typedef struct {
    uint32_t n;
    int64_t extent[ARRAY_RANK]; /* -1: not known yet */
} ArrayShape;

typedef struct { /* of the array that is made */
    InstanceId owner;
    NameId name;
    Span span;
} ArrayName;

/* Everything in the part once more, in a Model of its own. */
Model *model_copy(const Model *part);
/* Why instances of it cannot share their rows ("a region"), or NULL. */
const char *model_array_obstacle(const Model *part, const ArrayShape *shape);
/* As model_compose; there must be no obstacle. */
InstanceId model_compose_array(Model *into, const ArrayName *array, const ArrayShape *shape, const Model *part,
                               uint32_t *first_var);
/* The same where there is one: instances `name[1]`, `name[2]` ... with rows of their own, in the order of rows. Their
 * variables follow each other from the first one on. */
void model_compose_elements(Model *into, const ArrayName *array, const ArrayShape *shape, const Model *part,
                            uint32_t *first_var);
NameId instance_element_name(Model *model, NameId name, const ArrayShape *shape, uint64_t number); /* from 0 on */
/* The extents of an array composed without them: terms of the model that it was put into. */
void model_set_extents(Model *model, uint32_t first_var, uint32_t n_vars, uint32_t n, const Term *extents);
/* Dimensions of all arrays of instances on the way to this one. */
uint32_t instance_rank(const Model *model, InstanceId instance);
uint64_t shape_count(const ArrayShape *shape); /* of known extents; saturates at UINT64_MAX */

#endif
