/* Terms with arrays in them, said by elements: how large an array is, where its elements are written differently, and
 * what each of them is. lower_arrays.c uses it for the model, array_statements.c for statements.
 *
 * Sizes and indices are expressions over the leaves of the term; where they are known they are literals. In a model
 * they are always known; in a function those of arguments may not be. */
#ifndef PASSES_LOWER_ARRAYS_H
#define PASSES_LOWER_ARRAYS_H

#include "passes/pipeline.h"

enum { ARRAY_RANK = 8, ARRAY_LEVELS = 16 };

typedef struct {
    uint32_t rank;
    const Expr *at[ARRAY_RANK];
} Extents;

typedef struct Arrays Arrays;
struct Arrays {
    Compile *c;
    Model *model; /* of which the term is: the model, or the body of a function */
    Pool *pool;
    TermBuilder builder; /* of the term */
    Span span;
    const Expr *loop[ARRAY_LEVELS];             /* per level in the source: what stands for the loop variable */
    int64_t lo[ARRAY_LEVELS], hi[ARRAY_LEVELS]; /* per level that is made: its range; lo > hi: not known */
    uint32_t n_levels;                          /* that are made */
    uint32_t n_inner;                           /* loops inside the term around the place that is at work */
    /* An array that is used more than once for each of its elements: a variable that holds it; NULL: it is none. */
    const Expr *(*hold)(Arrays *x, const Expr *e);
    /* Two sizes that are known in the run only must be equal there; NULL: there are none. */
    void (*check)(Arrays *x, const Expr *a, const Expr *b, const char *text);
    /* The loop, a reduction, is whole now: sizes that its variable is in were checked before; NULL as for check. */
    void (*looped)(Arrays *x, const Expr *loop);
    void *context;    /* of hold, check and looped */
    bool is_function; /* the term is one of a statement: sizes may be known in the run only */
    int64_t few;      /* sums of so many terms, or fewer, are written out */
    bool has_failed;
};

/* A term of an element over `domain`; its loop variables stand for themselves. */
void arrays_begin(Arrays *x, Compile *c, Model *model, DomainId domain, Span span);
/* A further loop variable with the values lo to hi; NULL: nested too deep, reported. arrays_leave takes it back. */
const Expr *arrays_enter(Arrays *x, int64_t lo, int64_t hi);
void arrays_leave(Arrays *x);
void arrays_fail(Arrays *x, DiagCode code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The number that an Integer expression is, if that is known. */
bool array_number(const Expr *e, int64_t *value);
/* The least and the largest value of an index that is affine in the loop variables. */
bool array_bounds(const Arrays *x, const Expr *e, int64_t *lo, int64_t *hi);
/* a*factor + b, simplified; all are Integers. */
const Expr *array_index(Arrays *x, const Expr *a, const Expr *factor, const Expr *b);

/* The size of each dimension; false: reported. */
bool array_extents(Arrays *x, const Expr *e, Extents *extents);
/* Both are equal; else reported as `what`. Where that is known in the run only, it is checked there. */
bool arrays_agree(Arrays *x, const Extents *a, const Extents *b, const char *what);
/* How many values lo, lo + step ... hi has. */
const Expr *array_count(Arrays *x, const Expr *const *range);

/* Behind which elements of dimension `dim`, counted from 1, another way of writing them begins; `offset` is added. */
typedef struct {
    VEC(int64_t) at;
} Cuts;
void array_cuts(Arrays *x, const Expr *e, uint32_t dim, int64_t offset, Cuts *cuts);

/* The element with these indices, one a dimension, from 1; of a scalar itself. NULL: reported. */
const Expr *array_element(Arrays *x, const Expr *e, const Expr *const *index);
/* Computing its elements more than once costs much. */
bool array_is_costly(const Expr *e);
/* All elements in braces, as they are needed where only those can be. */
const Expr *array_braces(Arrays *x, const Expr *e);
/* The call with arguments that are variables or in braces. */
const Expr *array_call(Arrays *x, const Expr *e);

#endif
