/* Routines step by step, for constants and for the explanation of faults; see routine.h. */
#include "base/bug.h"
#include "ir/external.h"
#include "ir/routine_call.h"
#include <math.h>
#include <string.h>

enum { ROUTINE_SMALL = 512 };

typedef enum { FLOW_ON, FLOW_BREAK, FLOW_RETURN, FLOW_FAULT } Flow;

bool routine_fail(RoutineCall *call, RoutineFaultKind kind)
{
    call->has_failed = true;
    if (!call->fault || call->fault->kind != ROUTINE_NO_FAULT)
        return false;
    call->fault->kind = (uint8_t)kind;
    call->fault->routine = call->routine;
    call->fault->step = call->step;
    call->fault->frame = NEW_ARRAY(call->fault->arena, Value, call->routine->n_slots);
    memcpy(call->fault->frame, call->frame, call->routine->n_slots * sizeof *call->frame);
    return false;
}

static bool count_step(RoutineCall *call)
{
    return *call->steps_left > 0 ? (--*call->steps_left, true) : routine_fail(call, ROUTINE_ENDLESS);
}

static Value *elements_of(RoutineCall *call, const RoutineField *field)
{
    return field->is_pointer ? (Value *)call->frame[field->first].a : call->frame + field->first;
}

bool routine_find_element(RoutineCall *call, uint32_t field, const int64_t *index, Value **place)
{
    const RoutineField *f = &call->routine->fields[field];
    uint32_t offset = 0;
    for (uint32_t k = 0; k < f->rank; k++) {
        if (index[k] < 1 || index[k] > (int64_t)f->extents[k])
            return routine_fail(call, ROUTINE_INDEX);
        offset = offset * f->extents[k] + (uint32_t)(index[k] - 1);
    }
    *place = elements_of(call, f) + offset;
    return true;
}

static bool run_whole_assignment(RoutineCall *call, const RoutineStep *step, const RoutineField *field)
{
    Arena *arena = arena_create(NULL); /* what the value consists of */
    Value value;
    bool is_good = expr_evaluate_array(call, step->value, arena, &value);
    for (uint32_t k = 0; k < field->count && is_good && !step->is_raw; k++)
        is_good = value_is_good(field->type, value.a[k]) || routine_fail(call, ROUTINE_NOT_FINITE);
    if (is_good)
        memmove(call->frame + field->first, value.a, field->count * sizeof value);
    arena_destroy(arena);
    return is_good;
}

static bool run_assignment(RoutineCall *call, const RoutineStep *step)
{
    const RoutineField *field = &call->routine->fields[step->field];
    Value value, *place = call->frame + field->first;
    if (is_whole_assignment(field, step))
        return run_whole_assignment(call, step, field);
    int64_t index[ROUTINE_RANK];
    for (uint32_t k = 0; k < field->rank; k++) {
        if (!expr_evaluate_in(call, step->index[k], &value))
            return false;
        index[k] = value.i;
    }
    if (!expr_evaluate_in(call, step->value, &value) || !routine_find_element(call, step->field, index, &place))
        return false;
    if (!value_is_good(field->type, value)) /* the operands keep their values, which are told */
        return routine_fail(call, ROUTINE_NOT_FINITE);
    *place = value;
    return true;
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
    case STATEMENT_SEND:
    case STATEMENT_TOGETHER:
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

static void begin_frame(RoutineCall *call, const Value *inputs)
{
    const Routine *r = call->routine;
    for (uint32_t k = 0; k < r->n_fields; k++)
        for (uint32_t j = 0; j < (r->fields[k].is_pointer ? 1 : r->fields[k].count); j++)
            call->frame[r->fields[k].first + j] = r->fields[k].begin;
    for (uint32_t k = 0; k < r->n_fields; k++)
        if (k < r->function->n_inputs)
            call->frame[r->fields[k].first] = inputs[k];
        else if (r->fields[k].data)
            call->frame[r->fields[k].first].a = r->fields[k].data;
}

static bool run_external(RoutineCall *call, const Value *inputs, Value *outputs)
{
    ExternalCode *code = call->routine->function->external->code;
    REQUIRE(code);
    const uint32_t kind = code->call(code, NULL, inputs, outputs, false);
    return kind == ROUTINE_NO_FAULT || routine_fail(call, (RoutineFaultKind)kind);
}

static bool run_statements(RoutineCall *call, Value *outputs)
{
    const Routine *r = call->routine;
    const bool is_good = run_list(call, r->first) != FLOW_FAULT;
    memcpy(outputs, call->frame + r->fields[r->function->n_inputs].first, r->width * sizeof *outputs);
    return is_good;
}

static bool run(RoutineCall *call, const Value *inputs, Value *outputs)
{
    const Routine *r = call->routine;
    const Function *f = r->function;
    begin_frame(call, inputs);
    call->step = &r->steps[r->first];
    const bool is_good =
        f->external ? run_external(call, inputs, outputs) : count_step(call) && run_statements(call, outputs);
    for (uint32_t k = 0; k < f->n_outputs && !is_good; k++) {
        const RoutineField *field = &r->fields[f->n_inputs + k];
        for (uint32_t j = 0; j < field->count; j++)
            outputs[routine_offset(r, k) + j] =
                field->type.kind == TYPE_REAL ? (Value){ .r = NAN } : (Value){ .i = INTEGER_FAULT };
    }
    return is_good;
}

/* The frame of a function with few numbers lies on the stack. */
static bool run_small(RoutineCall *call, const Value *inputs, Value *outputs)
{
    Value frame[ROUTINE_SMALL];
    call->frame = frame;
    return run(call, inputs, outputs);
}

static bool run_with_frame(RoutineCall *call, const Value *inputs, Value *outputs)
{
    if (call->routine->n_slots <= ROUTINE_SMALL && call->room <= ROUTINE_ROOM / 16)
        return run_small(call, inputs, outputs);
    Arena *arena = arena_create(NULL);
    call->frame = NEW_ARRAY(arena, Value, call->routine->n_slots);
    const bool is_good = run(call, inputs, outputs);
    arena_destroy(arena);
    return is_good;
}

bool routine_call(RoutineCall *outer, const Function *function, const Value *inputs, Value *outputs)
{
    uint32_t steps = ROUTINE_FOLDED;
    RoutineCall call = { .routine = routine_of(function),
                         .steps_left = outer ? outer->steps_left : &steps,
                         .more_beside = outer ? outer->more_beside : 0,
                         .room = outer ? outer->room : 0,
                         .fault = outer ? outer->fault : NULL };
    call.room += routine_room(call.routine, call.more_beside);
    if (outer && call.room > ROUTINE_ROOM)
        return routine_fail(outer, ROUTINE_TOO_DEEP);
    const bool is_good = run_with_frame(&call, inputs, outputs);
    if (outer && !is_good)
        outer->has_failed = true;
    return is_good || !outer;
}

bool routine_evaluate(const Routine *routine, const Value *inputs, RoutineLimits limits, Value *outputs,
                      RoutineFault *fault)
{
    RoutineCall call = {
        .routine = routine, .steps_left = &limits.steps, .more_beside = limits.more_beside, .fault = fault
    };
    call.room = routine_room(routine, limits.more_beside);
    if (fault) {
        fault->kind = ROUTINE_NO_FAULT;
        fault->steps = limits.steps;
    }
    return run_with_frame(&call, inputs, outputs);
}
