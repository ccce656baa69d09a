/* A call that is being evaluated. Private to evaluate.c and routine_evaluate.c. */
#ifndef IR_ROUTINE_CALL_H
#define IR_ROUTINE_CALL_H

#include "ir/routine.h"

typedef struct RoutineCall {
    const Routine *routine;
    Value *frame;
    uint32_t *steps_left, depth;
    RoutineFault *fault;     /* of the innermost call that failed; may be NULL */
    const RoutineStep *step; /* at work */
    bool has_failed;
} RoutineCall;

/* An expression of the routine; false: no value, and call->has_failed if that is a fault. */
bool expr_evaluate_in(RoutineCall *call, const Expr *e, Value *result);
/* A call in an expression of `outer`, or from outside: outer NULL. */
bool routine_call(RoutineCall *outer, const Expr *e, const Value *inputs, Value *result);
bool routine_element_slot(RoutineCall *call, uint32_t field, const int64_t *index, uint32_t *slot);
/* Notes the fault; false. */
bool routine_fail(RoutineCall *call, RoutineFaultKind kind);

#endif
