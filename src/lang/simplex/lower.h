/* A checked basic component becomes a Model: docs/languages/simplex.md, "What becomes of it". */
#ifndef LANG_SIMPLEX_LOWER_H
#define LANG_SIMPLEX_LOWER_H

#include "lang/simplex/check.h"

typedef struct {
    Checker *checker;
    Model *model;
    bool is_in_event;          /* relations make no events */
    bool is_traced;            /* places of subexpressions go to the model's occurrences */
    VEC(const Table *) tables; /* by TableDecl */
    Loops loops;               /* that are loop variables of the Model, outermost first */
    uint32_t n_levels;         /* of them and of the reductions around */
    NameId target;             /* of the assignment at work: names its streams */
    VEC(VarId) drawn;          /* counts of the streams that it draws from */
    Loops written;             /* that are written out value by value, outermost first */
    bool is_start;             /* an initial value is lowered: what it draws is drawn once ... */
    uint64_t element;          /* ... for this element of an array, from 1 on; 0: it is none */
    uint32_t n_of_element;     /* numbers drawn for it so far */
    /* The references of the term under construction; a quantity has its leaf if it has the term's stamp. */
    VEC(Ref) refs;
    uint32_t stamp;
    uint32_t *stamps, *leaves; /* by quantity; after the last: the time */
} Lower;

/* NULL: reported (only limits are left to report here). */
Model *mdl_lower_basic(Checker *checker, Sources *sources);
/* The value that a quantity has when nobody says: 0, FALSE, the first value. */
const Expr *mdl_default_value(Pool *pool, Type type);

/* ---- lower_expression.c ---- */
void mdl_lower_begin(Lower *lower); /* a new set of references */
const Expr *mdl_lower_expression(Lower *lower, const Node *node, bool wants_real);
/* An element, or the quantity itself if n is 0; `ref` is its value or derivative. */
const Expr *mdl_lower_element(Lower *lower, const Quantity *quantity, uint32_t object, Ref ref, uint32_t n,
                              Node *const *index);
Term mdl_lower_term(Lower *lower, const Node *node, bool wants_real);
/* The same, and where its parts stand; for the origin of an equation or transition. */
Term mdl_lower_traced(Lower *lower, const Node *node, bool wants_real, Origin *origin);

/* ---- random.c ---- */
const Expr *mdl_lower_draw(Lower *lower, const Node *node);
/* Advances the stream with this count, when the assignment that draws from it is made. */
Assignment mdl_count_draw(Lower *lower, VarId count, const Assignment *drawing);
/* A leaf that stands nowhere else. */
const Expr *mdl_lower_own_leaf(Lower *lower, Ref ref);

#endif
