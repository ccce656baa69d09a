/* Calls as tiers evaluate them: one node for all results of a call, and parts of it; see routine.h. */
#include "ir/memo.h"
#include "ir/routine.h"
#include <string.h>

const Expr *function_field_braces(Pool *pool, const Function *f, uint32_t field, const Expr *const *elements)
{
    const Variable *v = &f->body->variables.at[field];
    uint64_t n = function_field_count(f, field);
    const Expr **row = NEW_ARRAY(pool_arena(pool), const Expr *, n);
    memcpy(row, elements, n * sizeof *row);
    for (uint32_t k = v->type.rank; k-- > 0;) {
        const uint64_t extent = (uint64_t)f->body->dims.at[v->first_dim + k].term.shape->u.integer;
        n /= extent;
        for (uint64_t j = 0; j < n; j++)
            row[j] = expr_array(pool, (uint32_t)extent, row + j * extent);
    }
    return row[0];
}

uint32_t function_width(const Function *f)
{
    uint64_t width = 0;
    for (uint32_t k = 0; k < f->n_outputs; k++)
        width += function_field_count(f, f->n_inputs + k);
    return width > UINT32_MAX ? UINT32_MAX : (uint32_t)width;
}

bool function_has_data(const Function *f, uint32_t field)
{
    const Variable *v = &f->body->variables.at[field];
    const Expr *e = v->binding.shape;
    if (field < f->n_inputs + f->n_outputs || v->type.rank == 0 || !e || e->kind != EXPR_ARRAY || !expr_is_literal(e))
        return false;
    for (uint32_t k = 1; k < f->body->statements.n; k++) {
        const Statement *s = &f->body->statements.at[k];
        if (s->kind == STATEMENT_ASSIGN && term_refs(f->body, s->target)[s->target.shape->u.leaf].var.index == field)
            return false;
    }
    return true;
}

bool routine_is_pointer(const Routine *routine, uint32_t slot)
{
    for (uint32_t k = 0; k < routine->n_fields && routine->fields[k].first <= slot; k++)
        if (routine->fields[k].first == slot)
            return routine->fields[k].is_pointer;
    return false;
}

uint32_t routine_offset(const Routine *routine, uint32_t output)
{
    const RoutineField *outputs = routine->fields + routine->function->n_inputs;
    return outputs[output].first - outputs[0].first;
}

uint32_t expr_extent(const Expr *e)
{
    return is_model_call(e) ? function_width(e->u.function) : e->result;
}

/* The scalars of an array in braces, those of inner ones in the order of rows. */
static void list_scalars(const Expr *e, const Expr **list, uint32_t *n)
{
    if (e->kind != EXPR_ARRAY)
        list[(*n)++] = e;
    for (uint32_t k = 0; k < e->n_args && e->kind == EXPR_ARRAY; k++)
        list_scalars(e->args[k], list, n);
}

static uint32_t count_scalars(const Expr *e)
{
    uint32_t n = e->kind != EXPR_ARRAY;
    for (uint32_t k = 0; k < e->n_args && e->kind == EXPR_ARRAY; k++)
        n += count_scalars(e->args[k]);
    return n;
}

static const Expr *in_a_row(Pool *pool, const Expr *e, Arena *arena)
{
    const Expr **list = NEW_ARRAY(arena, const Expr *, count_scalars(e));
    uint32_t n = 0;
    list_scalars(e, list, &n);
    return expr_array(pool, n, list);
}

static const Expr *call_and_part(Pool *pool, const Expr *e)
{
    const Function *f = e->u.function;
    uint32_t first = e->element;
    if (e->result == RESULT_ALL)
        return e;
    if (function_width(f) == 1 && e->type.rank == 0)
        return e;
    for (uint32_t k = 0; k < e->result; k++)
        first += (uint32_t)function_field_count(f, f->n_inputs + k);
    const Type row = { TYPE_REAL, 1, 0 };
    const Expr *all = expr_function(pool, f, RESULT_ALL, row, e->n_args, e->args);
    const uint32_t extent = e->type.rank ? (uint32_t)function_field_count(f, f->n_inputs + e->result) : 1;
    const Expr *part = expr_function(pool, &routine_part, extent, e->type, 1, &all);
    return expr_function_element(pool, part, first, e->type);
}

static const Expr *parts(Pool *pool, const Expr *e, Memo *memo)
{
    uint32_t known;
    if (!e->has_call && (e->n_args == 0 || e->kind != EXPR_ARRAY))
        return e;
    if (memo_get(memo, e, &known))
        return pool_node(pool, known);
    const Expr **args = NEW_ARRAY(memo_arena(memo), const Expr *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++)
        args[k] = parts(pool, e->args[k], memo);
    const Expr *result = expr_with_args(pool, e, args);
    if (e->kind == EXPR_ARRAY)
        result = in_a_row(pool, result, memo_arena(memo));
    else if (is_model_call(e))
        result = call_and_part(pool, result);
    memo_put(memo, e, result->id);
    return result;
}

const Expr *expr_parts(Pool *pool, const Expr *e)
{
    Memo memo;
    if (!e->has_call && e->kind != EXPR_ARRAY)
        return e;
    memo_begin(&memo, NULL);
    const Expr *result = parts(pool, e, &memo);
    memo_end(&memo);
    return result;
}
