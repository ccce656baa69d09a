/* Common subexpressions of what is executed one after the other: a part, the sections of a system.
 *
 * Values are numbered over the whole list: two expressions have one number if they are the same operation of the same
 * numbers, whatever equations they stand in; a slot has the number of what was written to it last. A value that several
 * entries need is computed once, into a slot of its own or into the variable that it defines anyway, and read by the
 * others. Nothing is computed that would not be computed otherwise: what stands in branches only is computed in the
 * branch that several need it in, or stays there. What is not worth a slot is left where it is.
 *
 * Rows of one kernel that follow each other become a loop and are treated alike: either a subexpression is replaced in
 * all of them or in none, so that code does not grow with the number of instances. Loops of array equations only define
 * slots here. Everything is linear in the number of nodes. docs/decisions/0019 says why this happens here. */
#ifndef EMIT_PROGRAM_SHARE_H
#define EMIT_PROGRAM_SHARE_H

#include "emit/program/kernels.h"

typedef struct { /* numbers of lists; 0: none */
    uint32_t list, base;
} Shared;

typedef struct {
    Shared after;            /* lists that are always executed before, so that what they computed may be used. Between
                                them and this list only others are executed that have them before, too */
    uint32_t repeats;        /* the list is executed so often for each execution of `base` */
    uint32_t n_varying;      /* slots that change between these executions, beside those that the list writes */
    const uint32_t *varying; /* may be NULL */
    uint32_t n_range, range; /* the n_range slots from `range` on change, too */
    uint32_t n_fixed, fixed; /* n_fixed > 0: every slot changes but the n_fixed from `fixed` on; this holds in
                                the lists before, too */
} ShareRequest;

typedef struct Share Share;
typedef struct Systems Systems; /* systems.h */
Share *share_create(Kernels *ks, const Systems *systems);
void share_destroy(Share *share);
/* Looks for what may occur twice in these lists, or be computed once for many executions: before they are shared one
 * after the other. Entries without any of it cost no memory. */
void share_survey(Share *s, uint32_t n, const Entries *const *lists);
/* `out` does what `list` does. `base` (NULL: none) gets what does not vary; it is to be executed before. */
Shared share_entries(Share *s, const ShareRequest *request, const Entries *list, Entries *out, Entries *base);

#endif
