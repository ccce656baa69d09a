/* Private to reduce-index: quantities with their derivatives, equations, and what was found out about both. */
#ifndef PASSES_REDUCE_INDEX_H
#define PASSES_REDUCE_INDEX_H

#include "graph/pantelides.h"
#include "passes/pipeline.h"

typedef struct {
    uint32_t row, depth; /* row of the reduction, how often it is differentiated */
} SetRow;
typedef struct {
    uint32_t row, column; /* of the plan */
    Term term;
} SetEntry;
typedef struct { /* of a state set */
    uint32_t n_rows, n_columns, n_levels;
    SetRow *rows;      /* the most often differentiated first */
    uint32_t *columns; /* quantities */
    bool *is_given;    /* per column: it shall be a state, and is one; it is only watched */
    double *weights;
    VEC(SetEntry) entries;
} SetPlan;

/* Where each variable stands in a chain of derivatives. */
typedef struct {
    uint32_t *quantity; /* that it belongs to, or ID_NONE */
    uint32_t *order;    /* which derivative of the quantity it is */
    uint32_t *follower; /* the variable that is its derivative, or ID_NONE */
    uint32_t *link;     /* the equation der(x) = v that says so */
} Chains;

/* A quantity is a variable with all its derivatives. der(x) = v makes v the first derivative of x: both are one
 * quantity then, and the equation is no row. */
typedef struct {
    uint32_t n;
    uint32_t *head;      /* variable of order 0 */
    uint32_t *present;   /* highest derivative that is there in any case */
    uint32_t *demoted;   /* how many of its highest derivatives are unknowns of their own (dummy derivatives) */
    uint32_t *set;       /* state set it is a candidate of: index in plans, or ID_NONE */
    uint32_t *first_ref; /* refs[first_ref[j] + k] stands for order k of quantity j */
    Ref *refs;
} Quantities;

/* Equations that are no links, and the quantities in them. */
typedef struct {
    uint32_t n;
    uint32_t *equation;
    bool *is_rigid;      /* cannot be differentiated or turned around */
    Incidence incidence; /* rows, quantities */
    uint32_t *order;     /* per entry of the incidence: the highest derivative of the quantity in the row */
} ReductionRows;

typedef struct {
    Compile *c;
    Model *model;
    Chains chains;
    Quantities quantities;
    ReductionRows rows;
    Pantelides p;
    VEC(SetPlan) plans;
    uint32_t n_set_states; /* states and choices that were made for them */
    bool is_again;         /* the model is another one now: all of it is to be found out once more */
} Reduction;

/* It is in a differentiated equation; known from the writing on. */
static inline bool is_touched(const Reduction *r, uint32_t quantity)
{
    return r->quantities.first_ref[quantity] != ID_NONE;
}

/* Order k of the quantity is integrated. */
static inline bool is_state(const Reduction *r, uint32_t quantity, uint32_t order)
{
    return order + r->quantities.demoted[quantity] < r->p.highest[quantity];
}

/* Makes copies of elements that would be states in part; true: there are such, and nothing else was changed. */
bool copy_elements(Reduction *r);

/* Order of the quantity that the reference is; false: it is of none. */
static inline bool quantity_of(const Reduction *r, Ref ref, uint32_t *quantity, uint32_t *order)
{
    if ((ref.kind != REF_NOW && ref.kind != REF_DER) || r->chains.quantity[ref.var.index] == ID_NONE)
        return false;
    *quantity = r->chains.quantity[ref.var.index];
    *order = r->chains.order[ref.var.index] + (ref.kind == REF_DER);
    return true;
}

/* The variable that is order k of the quantity, or ID_NONE. */
static inline uint32_t variable_of_order(const Reduction *r, uint32_t quantity, uint32_t order)
{
    uint32_t v = r->quantities.head[quantity];
    while (order-- && v != ID_NONE)
        v = r->chains.follower[v];
    return v;
}

/* reduce_select.c: which derivatives become unknowns of their own. False: reported. */
bool select_states(Reduction *r);
/* The references that stand for the orders of a quantity, once they are placed. */
Ref ref_of_order(const Reduction *r, uint32_t quantity, uint32_t order);
/* reduce_sets.c: the plans become state sets of the model, with their states and equations. */
void write_state_sets(Reduction *r);
/* reduce_derive.c: variables, differentiated equations, references. False: reported. */
bool write_reduced(Reduction *r);

#endif
