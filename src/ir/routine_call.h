/* A call that is being evaluated. Private to evaluate.c and routine_evaluate.c. */
#ifndef IR_ROUTINE_CALL_H
#define IR_ROUTINE_CALL_H

#include "ir/routine.h"

typedef struct RoutineCall {
    const Routine *routine;
    Value *frame;
    uint32_t *steps_left;
    int32_t more_beside;
    uint32_t room;           /* that this call and those around it take */
    RoutineFault *fault;     /* of the innermost call that failed; may be NULL */
    const RoutineStep *step; /* at work */
    bool has_failed;
} RoutineCall;

/* An expression of the routine; false: no value, and call->has_failed if that is a fault. */
bool expr_evaluate_in(RoutineCall *call, const Expr *e, Value *result);
/* An array; what it consists of lies in the frame or in the arena. */
bool expr_evaluate_array(RoutineCall *call, const Expr *e, Arena *arena, Value *result);
/* All results of a call in an expression of `outer`, or from outside: outer NULL. */
bool routine_call(RoutineCall *outer, const Function *function, const Value *inputs, Value *outputs);
bool routine_find_element(RoutineCall *call, uint32_t field, const int64_t *index, Value **place);
/* Notes the fault; false. */
bool routine_fail(RoutineCall *call, RoutineFaultKind kind);

#endif
