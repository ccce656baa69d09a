/* Which array equations stay whole although they compare: each point of their range has a comparison of its own, and
 * all of them are one relation over the range. */
#ifndef PASSES_KEEP_COMPARISONS_H
#define PASSES_KEEP_COMPARISONS_H

#include "passes/pipeline.h"

/* Per variable: something reads its derivative. */
const bool *find_read_derivatives(const Model *model, Arena *arena);
/* It gives the derivative of a state, which nothing reads, and all that changes in it at events are comparisons of
 * states, and abs, min, max and sign of them. Nothing but the integration follows from such comparisons: so none of
 * them is part of a ring, and none decides anything in the instant in which it changes. */
bool equation_keeps_comparisons(const Model *model, const Equation *equation, const bool *is_read);
/* The condition of a transition over the domain: all that changes in it at events are comparisons of the same kind.
 * Elements may be discrete here: an event wakes those that read the element, and no others. */
bool condition_keeps_comparisons(const Model *model, Term condition, DomainId domain);
/* All loop variables go by 1, and there are not too many. */
bool domain_has_unit_strides(const Model *model, DomainId domain);

/* The variable becomes an array with an element for each point of the domain; of the scalar domain it stays as it is.
 */
void give_points(Model *model, VarId variable, DomainId domain);
/* The element of such a variable for the point of the domain at which the term is evaluated. */
const Expr *ref_at_point(TermBuilder *builder, Ref ref, DomainId domain);
/* They have the same values of loop variables, in the same order. */
bool domains_are_equal(const Model *model, DomainId a, DomainId b);

#endif
