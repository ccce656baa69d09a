/* Types are not written: a variable is Boolean if its value or its use says so, else Real.
 *
 * Variables and expressions have type nodes; what must be equal is united. The first two nodes are the types. */
#ifndef LANG_DYMOLA_TYPES_H
#define LANG_DYMOLA_TYPES_H

#include "ir/model.h"
#include "lang/dymola/ast.h"

enum { TYPE_NODE_REAL, TYPE_NODE_BOOLEAN };

typedef struct {
    VEC(uint32_t) sets; /* the sets of equal type nodes, see graph/sets.h */
    Map of_variable;    /* the type nodes of own variables, by variable of the Model */
} TypeNodes;

uint32_t dym_new_type(Translation *translation);
uint32_t dym_type_of(Translation *translation, VarId var);
void dym_unify(Translation *translation, uint32_t a, uint32_t b, Span where);
/* Infers types from values, equations and connections, Real where nothing tells, and checks calls and sizes by the way.
 */
void dym_check_types(Translation *translation);

#endif
