/* Sizes in statements that are known in the run only, where they are compared: in front of the statement, or in the
 * loop that a reduction of its expressions becomes, if its variable is in them. */
#ifndef PASSES_LOWER_ARRAY_CHECKS_H
#define PASSES_LOWER_ARRAY_CHECKS_H

#include "ir/expr.h"

enum { MOST_CHECKS = 16 };

typedef struct {
    const Expr *a, *b;
    const char *text;
    const Expr *loop; /* the reduction whose variable is in them; NULL: it is not whole yet */
    bool is_said;
} LoopCheck;

typedef struct { /* of the statement at work */
    struct {
        const Expr *a, *b;
    } in_front[MOST_CHECKS]; /* that need not be compared once more */
    uint32_t n_in_front;
    LoopCheck in_loops[MOST_CHECKS];
    uint32_t n_in_loops;
} SizeChecks;

/* Both were compared in front of the statement; else they are now. What varies in a loop is compared each time. */
bool checks_know(SizeChecks *checks, const Expr *a, const Expr *b);
/* To be compared in a loop; false: there is no room. */
bool checks_add(SizeChecks *checks, const Expr *a, const Expr *b, const char *text);
/* The reduction is whole: what its variable is in belongs to it. */
void checks_own(SizeChecks *checks, const Expr *loop);
/* Every one stands in its loop: an expression that was made simpler may have lost it. */
bool checks_are_said(const SizeChecks *checks);

#endif
