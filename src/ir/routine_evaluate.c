/* Routines step by step, for constants and for the explanation of faults; see routine.h. */
#include "base/bug.h"
#include "ir/routine_call.h"
#include <math.h>
#include <string.h>

typedef enum { FLOW_ON, FLOW_BREAK, FLOW_RETURN, FLOW_FAULT } Flow;

bool routine_fail(RoutineCall *call, RoutineFaultKind kind)
{
    call->has_failed = true;
    if (!call->fault || call->fault->kind != ROUTINE_NO_FAULT)
        return false;
    call->fault->kind = (uint8_t)kind;
    call->fault->routine = call->routine;
    call->fault->step = call->step;
    memcpy(call->fault->frame, call->frame, call->routine->n_slots * sizeof *call->frame);
    return false;
}

static bool count_step(RoutineCall *call)
{
    return *call->steps_left > 0 ? (--*call->steps_left, true) : routine_fail(call, ROUTINE_ENDLESS);
}

bool routine_element_slot(RoutineCall *call, uint32_t field, const int64_t *index, uint32_t *slot)
{
    const RoutineField *f = &call->routine->fields[field];
    uint32_t offset = 0;
    for (uint32_t k = 0; k < f->rank; k++) {
        if (index[k] < 1 || index[k] > (int64_t)f->extents[k])
            return routine_fail(call, ROUTINE_INDEX);
        offset = offset * f->extents[k] + (uint32_t)(index[k] - 1);
    }
    *slot = f->first + offset;
    return true;
}

static bool run_assignment(RoutineCall *call, const RoutineStep *step)
{
    const RoutineField *field = &call->routine->fields[step->field];
    Value value;
    uint32_t slot = field->first;
    int64_t index[ROUTINE_RANK];
    for (uint32_t k = 0; k < field->rank; k++) {
        if (!expr_evaluate_in(call, step->index[k], &value))
            return false;
        index[k] = value.i;
    }
    if (!expr_evaluate_in(call, step->value, &value) || !routine_element_slot(call, step->field, index, &slot))
        return false;
    call->frame[slot] = value;
    return value_is_good(field->type, value) || routine_fail(call, ROUTINE_NOT_FINITE);
}

static Flow run_list(RoutineCall *call, uint32_t first);

static Flow run_loop(RoutineCall *call, const RoutineStep *step)
{
    for (;;) {
        Value condition;
        call->step = step;
        if (!expr_evaluate_in(call, step->value, &condition))
            return FLOW_FAULT;
        if (!condition.i)
            return FLOW_ON;
        if (!count_step(call))
            return FLOW_FAULT;
        const Flow flow = run_list(call, step->inner);
        if (flow != FLOW_ON)
            return flow == FLOW_BREAK ? FLOW_ON : flow;
    }
}

static Flow run_step(RoutineCall *call, const RoutineStep *step)
{
    Value condition;
    call->step = step;
    switch ((StatementKind)step->kind) {
    case STATEMENT_ASSIGN: return run_assignment(call, step) ? FLOW_ON : FLOW_FAULT;
    case STATEMENT_WHILE: return run_loop(call, step);
    case STATEMENT_BREAK: return FLOW_BREAK;
    case STATEMENT_RETURN: return FLOW_RETURN;
    case STATEMENT_IF:
        if (!expr_evaluate_in(call, step->value, &condition))
            return FLOW_FAULT;
        return run_list(call, condition.i ? step->inner : step->otherwise);
    case STATEMENT_ASSERT:
        if (!expr_evaluate_in(call, step->value, &condition))
            return FLOW_FAULT;
        return condition.i || routine_fail(call, ROUTINE_CHECK) ? FLOW_ON : FLOW_FAULT;
    case STATEMENT_FOR: break;
    }
    BUG("not a step of a routine");
}

static Flow run_list(RoutineCall *call, uint32_t first)
{
    for (uint32_t k = first; k; k = call->routine->steps[k].next) {
        const Flow flow = run_step(call, &call->routine->steps[k]);
        if (flow != FLOW_ON)
            return flow;
    }
    return FLOW_ON;
}

static bool run(RoutineCall *call, const Value *inputs, Value *outputs)
{
    const Routine *r = call->routine;
    const Function *f = r->function;
    for (uint32_t k = 0; k < r->n_fields; k++)
        for (uint32_t j = 0; j < r->fields[k].count; j++)
            call->frame[r->fields[k].first + j].i = r->fields[k].type.kind == TYPE_ENUM;
    for (uint32_t k = 0; k < f->n_inputs; k++)
        call->frame[r->fields[k].first] = inputs[k];
    call->step = &r->steps[r->first];
    const bool is_good = count_step(call) && run_list(call, r->first) != FLOW_FAULT;
    for (uint32_t k = 0; k < f->n_outputs; k++) {
        const RoutineField *field = &r->fields[f->n_inputs + k];
        outputs[k] = call->frame[field->first];
        if (!is_good && field->type.kind == TYPE_REAL)
            outputs[k].r = NAN;
        else if (!is_good)
            outputs[k].i = INTEGER_FAULT;
    }
    return is_good;
}

bool routine_call(RoutineCall *outer, const Expr *e, const Value *inputs, Value *result)
{
    Value frame[ROUTINE_SLOTS], outputs[256];
    uint32_t steps = ROUTINE_STEPS;
    RoutineCall call = { .routine = routine_of(e->u.function),
                         .frame = frame,
                         .steps_left = outer ? outer->steps_left : &steps,
                         .depth = outer ? outer->depth + 1 : 1,
                         .fault = outer ? outer->fault : NULL };
    if (outer && outer->depth >= ROUTINE_DEPTH)
        return routine_fail(outer, ROUTINE_TOO_DEEP);
    const bool is_good = run(&call, inputs, outputs);
    *result = outputs[e->op];
    if (outer && !is_good)
        outer->has_failed = true;
    return is_good || !outer;
}

bool routine_evaluate(const Routine *routine, const Value *inputs, uint32_t steps, Value *outputs, RoutineFault *fault)
{
    Value frame[ROUTINE_SLOTS];
    RoutineCall call = { .routine = routine, .frame = frame, .steps_left = &steps, .depth = 1, .fault = fault };
    if (fault)
        fault->kind = ROUTINE_NO_FAULT;
    return run(&call, inputs, outputs);
}
