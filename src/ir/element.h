/* Which element of an array a leaf with index expressions stands for, as a function of the iterators.
 *
 * For an index that is affine in the iterators the linear element number (row major, from 0) of iteration
 * (j1, j2, ...), counted from 0, is base + sum of step[k]*j_k. Dimensions and domains must be evaluated. */
#ifndef IR_ELEMENT_H
#define IR_ELEMENT_H

#include "ir/model.h"

enum { ELEMENT_LEVELS = 8 };
typedef struct {
    int64_t base;
    int64_t step[ELEMENT_LEVELS];
} ElementMap;

/* `leaf` is an EXPR_LEAF of a term with references `refs`; scalars and whole arrays give base 0.
 * False: an index is not affine in the iterators. */
bool element_map(const Model *model, const Expr *leaf, const Ref *refs, DomainId domain, ElementMap *map);
/* Every index is affine in the iterators and, at each point of the domain, one of the array. */
bool element_is_inside(const Model *model, const Expr *leaf, const Ref *refs, DomainId domain);
/* At each point of the domain it is the element with the number of the point, and all elements are met. */
bool element_is_own(const Model *model, const Expr *leaf, const Ref *refs, DomainId domain);
/* Smallest and largest element over the domain. */
void element_range(const Model *model, const ElementMap *map, DomainId domain, int64_t *lo, int64_t *hi);

#endif
