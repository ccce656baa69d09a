/* A term at one point of its ranges: loop variables become numbers, reductions are written out, elements of split
 * arrays become the variables that hold them (see split_arrays.c). */
#ifndef PASSES_INSTANTIATE_H
#define PASSES_INSTANTIATE_H

#include "base/map.h"
#include "passes/pipeline.h"

enum {
    POINT_LEVELS = 16, /* nested ranges and reductions of one term */
    ELEMENT_IN_RANGE = -2,
    MOST_ELEMENTS = 1 << 22 /* that are treated one by one */
};

typedef struct {
    bool is_known[POINT_LEVELS]; /* per level of the domain; an unknown loop variable stays */
    int64_t value[POINT_LEVELS];
    int64_t element;   /* of whole arrays the element with this number, from 0; -1: they stay whole; ELEMENT_IN_RANGE:
                          that of the loop variables, one a dimension */
    Map *constants;    /* NULL: values of loop variables are literals; else constants, number -> variable: points then
                          share their expressions, however many there are */
    bool is_attribute; /* start values and bindings: no variable may be added for what is summed so far */
} Point;
#define POINT_NONE ((Point){ .element = -1 })

/* The first point of the domain, and the one after it; false behind the last. Sizes are evaluated. */
bool point_first(const Model *model, DomainId domain, Point *point);
bool point_next(const Model *model, DomainId domain, Point *point);

/* A new domain over the elements of an array, one loop variable a dimension; sizes are evaluated. */
DomainId domain_of_array(Model *model, VarId array);

/* `is_open` (may be NULL) becomes true if a reduction could not be written out without knowing all loop variables. */
Term term_at(Compile *c, Term term, const Point *point, Span span, bool *is_open);

#endif
