/* Advice by what variables are in their ports: potentials, or flows that add up to zero. */
#ifndef PASSES_ROLES_H
#define PASSES_ROLES_H

#include "passes/pipeline.h"

/* Whether all of these are flows of ports. */
bool are_flows(const Compile *c, const Ref *unknowns, uint32_t n);
/* A note at an equation, "this equation ...", that names the object it belongs to: classes are written once. */
void note_equation(const Compile *c, uint32_t equation, const char *what);
/* An equation, an unknown that the diagnostic reported last is about, for programs. */
void blame_equation(const Compile *c, uint32_t equation);
void blame_unknown(const Compile *c, Ref unknown);
/* What would determine these unknowns. */
const char *advice_for_undetermined(const Compile *c, const Ref *unknowns, uint32_t n);
/* What to do about more equations than unknowns, these being the unknowns. */
const char *advice_for_overdetermined(const Compile *c, const Ref *unknowns, uint32_t n);
/* Two of these equations that say the same, the second being the later one in the text. False: there are none. */
bool find_equal_equations(const Model *m, const uint32_t *equations, uint32_t n, uint32_t *first, uint32_t *second);

/* The region with this selector, the comparison with this bit; NULL: there is none. */
const Region *region_of(const Model *m, VarId selector);
const Relation *relation_of(const Model *m, VarId bit);

#endif
