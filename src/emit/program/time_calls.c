/* Functions in interval code: their statements are written out where they are called.
 *
 * The frame holds registers instead of values. Loops go on as long as their conditions are numbers, so their bounds
 * must be. Behind an IF that the time decides, both branches are executed on frames of their own, and what they leave
 * behind is chosen by the condition. What would be too long, or ends by the time, has no interval form. */
#include "emit/program/time.h"

enum { DEEPEST_CALL = 16 };

typedef struct Rest Rest;
struct Rest {             /* what follows behind a list of steps */
    uint32_t step, after; /* after: behind the loop that the list belongs to */
    bool is_loop;
    const Rest *outer;
};

static bool run_from(Coder *d, uint32_t step, const Rest *rest);

/* An expression of the routine. */
static uint32_t value_of(Coder *d, const Expr *e)
{
    memo_begin(&d->call->known, coder_scratch(d));
    const uint32_t value = coder_expr(d, e);
    memo_end(&d->call->known);
    return value;
}

static bool element_slot(Coder *d, uint32_t number, const Expr *const *index, uint32_t *slot)
{
    const RoutineField *field = &d->call->routine->fields[number];
    uint32_t offset = 0;
    for (uint32_t k = 0; k < field->rank; k++) {
        const uint32_t at = coder_expr(d, index[k]);
        double value;
        if (at == KOINE_NONE || !coder_knows(d, at, &value) || !(value >= 1 && value <= field->extents[k]))
            return false;
        offset = offset * field->extents[k] + (uint32_t)(value - 1);
    }
    *slot = field->first + offset;
    return true;
}

static bool assign(Coder *d, const RoutineStep *step)
{
    uint32_t slot;
    if (is_whole_assignment(&d->call->routine->fields[step->field], step))
        return false;
    const uint32_t value = value_of(d, step->value);
    memo_begin(&d->call->known, coder_scratch(d));
    const bool is_known = element_slot(d, step->field, step->index, &slot);
    memo_end(&d->call->known);
    if (is_known)
        d->call->registers[slot] = value;
    return is_known;
}

static bool leaves(const Routine *routine, uint32_t first)
{
    for (uint32_t k = first; k; k = routine->steps[k].next) {
        const RoutineStep *step = &routine->steps[k];
        if (step->kind == STATEMENT_RETURN || step->kind == STATEMENT_BREAK || leaves(routine, step->inner) ||
            leaves(routine, step->otherwise))
            return true;
    }
    return false;
}

static uint32_t *copy_frame(const Coder *d)
{
    const uint32_t n = d->call->routine->n_slots;
    uint32_t *copy = NEW_ARRAY(coder_scratch(d), uint32_t, n);
    for (uint32_t k = 0; k < n; k++)
        copy[k] = d->call->registers[k];
    return copy;
}

/* Both ways, each with what follows. */
static bool fork(Coder *d, uint32_t condition, const RoutineStep *step, const Rest *rest)
{
    TimeCall *call = d->call;
    uint32_t *otherwise = copy_frame(d);
    if (!run_from(d, step->inner, rest))
        return false;
    uint32_t *then = call->registers;
    call->registers = otherwise;
    if (!run_from(d, step->otherwise, rest))
        return false;
    otherwise = call->registers;
    for (uint32_t k = 0; k < call->routine->n_slots; k++)
        if (then[k] == KOINE_NONE || otherwise[k] == KOINE_NONE)
            otherwise[k] = KOINE_NONE;
        else if (then[k] != otherwise[k])
            otherwise[k] = coder_put(d, KOINE_TIME_IF, condition, then[k], otherwise[k]);
    return true;
}

static const Rest *followed_by(const Coder *d, Rest rest)
{
    Rest *out = NEW(coder_scratch(d), Rest);
    *out = rest;
    return out;
}

/* The condition of a step: a number in *value, or the register. False: neither. */
static bool decide(Coder *d, const RoutineStep *step, uint32_t *condition, double *value)
{
    *condition = value_of(d, step->value);
    if (*condition == KOINE_NONE)
        return false;
    if (coder_knows(d, *condition, value))
        *condition = KOINE_NONE;
    return true;
}

/* The steps from there and everything in `rest`, to the end of the function. */
static bool run_from(Coder *d, uint32_t step, const Rest *rest)
{
    for (;;) {
        if (!step && !rest)
            return true;
        if (!step) {
            step = rest->step;
            rest = rest->outer;
            continue;
        }
        const RoutineStep *s = &d->call->routine->steps[step];
        if (s->looks) { /* what has no value has no register */
            step = s->next;
            continue;
        }
        const bool is_choice = s->kind == STATEMENT_IF || s->kind == STATEMENT_WHILE || s->kind == STATEMENT_ASSERT;
        uint32_t condition = KOINE_NONE;
        double value = 0;
        if (is_choice && !decide(d, s, &condition, &value))
            return false;
        if (condition != KOINE_NONE && s->kind != STATEMENT_IF)
            return false;
        switch ((StatementKind)s->kind) {
        case STATEMENT_RETURN: return true;
        case STATEMENT_BREAK:
            while (!rest->is_loop)
                rest = rest->outer;
            step = rest->after;
            rest = rest->outer;
            continue;
        case STATEMENT_ASSIGN:
            if (!assign(d, s))
                return false;
            break;
        case STATEMENT_ASSERT:
            if (value == 0)
                return false;
            break;
        case STATEMENT_WHILE:
            if (value == 0)
                break;
            rest = followed_by(d, (Rest){ .step = step, .after = s->next, .is_loop = true, .outer = rest });
            step = s->inner;
            continue;
        case STATEMENT_IF:
            if (condition != KOINE_NONE &&
                (leaves(d->call->routine, s->inner) || leaves(d->call->routine, s->otherwise)))
                return fork(d, condition, s, followed_by(d, (Rest){ .step = s->next, .outer = rest }));
            if (condition != KOINE_NONE) {
                if (!fork(d, condition, s, NULL))
                    return false;
                break;
            }
            rest = followed_by(d, (Rest){ .step = s->next, .outer = rest });
            step = value != 0 ? s->inner : s->otherwise;
            continue;
        case STATEMENT_SEND:
        case STATEMENT_TOGETHER:
        case STATEMENT_FOR: return false;
        }
        step = s->next;
    }
}

/* Arrays are followed inside of a function only. */
static bool has_arrays_outside(const Routine *routine)
{
    for (uint32_t k = 0; k < routine->function->n_inputs + routine->function->n_outputs; k++)
        if (routine->fields[k].rank > 0)
            return true;
    return false;
}

static uint32_t begin_of(Coder *d, const RoutineField *field)
{
    if (!value_is_good(field->type, field->begin))
        return KOINE_NONE;
    return coder_put_number(d, field->type.kind == TYPE_REAL ? field->begin.r : (double)field->begin.i);
}

static uint32_t call_function(Coder *d, const Expr *e)
{
    const Routine *routine = routine_of(e->u.function);
    TimeCall *outer = d->call, call = { .routine = routine, .depth = outer ? outer->depth + 1 : 1 };
    if (call.depth > DEEPEST_CALL || routine->function->external || !routine->function->is_pure ||
        has_arrays_outside(routine))
        return KOINE_NONE;
    call.registers = NEW_ARRAY(coder_scratch(d), uint32_t, routine->n_slots);
    for (uint32_t k = 0; k < routine->n_fields; k++) {
        const uint32_t begin = begin_of(d, &routine->fields[k]);
        for (uint32_t j = 0; j < (routine->fields[k].is_pointer ? 1 : routine->fields[k].count); j++)
            call.registers[routine->fields[k].first + j] = begin;
    }
    for (uint32_t k = 0; k < e->n_args; k++) {
        const uint32_t argument = coder_expr(d, e->args[k]);
        if (argument == KOINE_NONE)
            return KOINE_NONE;
        call.registers[routine->fields[k].first] = argument;
    }
    d->call = &call;
    const bool is_done = run_from(d, routine->first, NULL);
    d->call = outer;
    return is_done ? call.registers[routine->fields[routine->function->n_inputs + e->result].first] : KOINE_NONE;
}

uint32_t coder_function(Coder *d, const Expr *e)
{
    uint32_t slot;
    if (is_model_call(e))
        return call_function(d, e);
    if (!is_element(e) || !element_slot(d, e->result, e->args, &slot))
        return KOINE_NONE;
    const RoutineField *field = &d->call->routine->fields[e->result];
    if (!field->data)
        return d->call->registers[slot];
    const Value value = field->data[slot - field->first];
    return coder_put_number(d, field->type.kind == TYPE_REAL ? value.r : (double)value.i);
}
