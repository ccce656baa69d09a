/* when and init: the equations of a when hold in the steps of a transition, init(v) is the value of a state v after it.
 */
#ifndef LANG_DYMOLA_EVENTS_H
#define LANG_DYMOLA_EVENTS_H

#include "ir/model.h"
#include "lang/dymola/objects.h"

typedef struct { /* init(var) */
    VarId var;
    Span span;
    bool is_at_start; /* it stands outside of whens */
} InitUse;
typedef VEC(InitUse) InitUses;

typedef struct { /* the when that is being lowered */
    uint32_t transition;
    VEC(Assignment) sets, inits;
    Map stand_ins; /* the variables that stand for the values of states after the event, by state */
} WhenUse;

bool dym_has_init(const Node *node);
Ref dym_init_ref(Translation *translation, const Node *node, VarId var); /* what init(var) is in an equation */
void dym_take_inits(Translation *translation, const ClassObject *object);
void dym_check_inits(Translation *translation); /* of the model to be built: only states are under init */
void dym_lower_inits(Translation *translation); /* an equation with init determines the start of the state */
void dym_lower_when(Translation *translation, const When *text);

#endif
