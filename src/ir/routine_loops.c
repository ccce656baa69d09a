/* What loops tell before they begin; see routine.h.
 *
 * An index that is a sum of loop variables with numbers as factors lies between bounds: where they are inside of the
 * array, nobody has to look. A loop from number to number that nothing leaves is passed so many times: its iterations
 * are counted at once. And a sum that has lost its value keeps that in all that a loop adds to it: it is enough to
 * look at it behind the loop. All tiers do the same, so a function fails in all of them or in none. */
#include "base/bug.h"
#include "ir/memo.h"
#include "ir/routine_make.h"

enum { LARGEST_BOUND = 1 << 30 }; /* of a loop variable, and of factors: products stay far below 2^63 */

/* ---- sums of loop variables ---- */
static bool is_small(int64_t number)
{
    return number <= LARGEST_BOUND && number >= -LARGEST_BOUND;
}

static bool add_term(RoutinePlace *place, uint32_t slot, int64_t factor)
{
    uint32_t k = 0;
    while (k < place->n && place->terms[k].slot != slot)
        k++;
    if (k == ROUTINE_RANK)
        return false;
    const int64_t sum = factor + (k < place->n ? place->terms[k].factor : 0);
    if (k == place->n)
        place->n++;
    place->terms[k].slot = slot;
    place->terms[k].factor = (int32_t)sum;
    return is_small(sum);
}

/* place += factor*e; false: it is no such sum. */
static bool add_sum(RoutinePlace *place, const Expr *e, int64_t factor)
{
    if (!is_small(factor) || e->depth > 16)
        return false;
    if (e->kind == EXPR_INTEGER) {
        place->first += is_small(e->u.integer) ? factor * e->u.integer : 0;
        return is_small(e->u.integer);
    }
    if (e->kind == EXPR_LEAF && e->type.rank == 0)
        return add_term(place, e->u.leaf, factor);
    if (e->kind != EXPR_CALL)
        return false;
    switch ((Op)e->op) {
    case OP_NEG: return add_sum(place, e->args[0], -factor);
    case OP_ADD: return add_sum(place, e->args[0], factor) && add_sum(place, e->args[1], factor);
    case OP_SUB: return add_sum(place, e->args[0], factor) && add_sum(place, e->args[1], -factor);
    case OP_MUL:
        for (uint32_t k = 0; k < 2; k++)
            if (e->args[k]->kind == EXPR_INTEGER && is_small(e->args[k]->u.integer))
                return add_sum(place, e->args[1 - k], factor * e->args[k]->u.integer);
        return false;
    default: return false;
    }
}

static const RoutineField *loop_variable(const Maker *m, uint32_t slot)
{
    for (uint32_t k = function_fields(m->function); k < m->fields.n; k++)
        if (m->fields.at[k].first == slot)
            return m->fields.at[k].has_bounds ? &m->fields.at[k] : NULL;
    return NULL;
}

/* Between which numbers it lies; false: nothing is known. */
static bool range_of(const Maker *m, const Expr *e, int64_t *lo, int64_t *hi)
{
    RoutinePlace place = { 0 };
    if (e->type.kind != TYPE_INTEGER || !add_sum(&place, e, 1))
        return false;
    *lo = *hi = place.first;
    for (uint32_t k = 0; k < place.n; k++) {
        const RoutineField *variable = loop_variable(m, place.terms[k].slot);
        const int64_t factor = place.terms[k].factor;
        if (!variable)
            return false;
        *lo += factor * (factor > 0 ? variable->lo : variable->hi);
        *hi += factor * (factor > 0 ? variable->hi : variable->lo);
    }
    return true;
}

bool maker_is_inside(const Maker *m, uint32_t field, const Expr *const *index)
{
    const RoutineField *f = &m->fields.at[field];
    int64_t lo, hi;
    for (uint32_t k = 0; k < f->rank; k++)
        if (!range_of(m, index[k], &lo, &hi) || lo < 1 || hi > (int64_t)f->extents[k] || f->count > LARGEST_BOUND)
            return false;
    return true;
}

void maker_bound(Maker *m, uint32_t variable, const Expr *from, const Expr *to, const Expr *step)
{
    int64_t lo[2], hi[2];
    RoutineField *field = &m->fields.at[variable];
    if (step->kind != EXPR_INTEGER || !range_of(m, from, &lo[0], &hi[0]) || !range_of(m, to, &lo[1], &hi[1]))
        return;
    const bool is_down = step->u.integer < 0;
    if (!is_small(lo[is_down]) || !is_small(hi[!is_down]))
        return;
    field->has_bounds = true;
    field->lo = (int32_t)lo[is_down];
    field->hi = (int32_t)hi[!is_down];
}

RoutinePlace routine_place(const Routine *routine, uint32_t field, const Expr *const *index)
{
    const RoutineField *f = &routine->fields[field];
    RoutinePlace place = { 0 };
    int64_t stride = 1;
    for (uint32_t k = f->rank; k-- > 0; stride *= f->extents[k]) {
        const bool is_sum = add_sum(&place, index[k], stride);
        REQUIRE(is_sum);
        place.first -= stride;
    }
    return place;
}

/* ---- what fails ---- */
static bool has_one(const Expr *e, bool (*is_one)(const Expr *), Memo *memo)
{
    uint32_t known;
    if (!e->has_call)
        return false;
    if (memo_get(memo, e, &known))
        return known;
    bool result = is_one(e);
    for (uint32_t k = 0; k < e->n_args && !result; k++)
        result = has_one(e->args[k], is_one, memo);
    memo_put(memo, e, result);
    return result;
}

static bool has(const Expr *e, bool (*is_one)(const Expr *))
{
    Memo memo;
    memo_begin(&memo, NULL);
    const bool result = has_one(e, is_one, &memo);
    memo_end(&memo);
    return result;
}

static bool calls(const Expr *e)
{
    return e->kind == EXPR_TEXT || is_model_call(e);
}

static bool fails(const Expr *e)
{
    return calls(e) || (is_element(e) && !is_inside_element(e));
}

bool routine_may_fail(const Expr *e)
{
    return has(e, fails);
}

/* ---- what is looked at behind loops ---- */
/* It is not finite where what the slot holds is not. */
static bool keeps(const Expr *e, uint32_t slot, Memo *memo)
{
    uint32_t known;
    if (e->kind == EXPR_LEAF)
        return e->u.leaf == slot;
    if (e->kind != EXPR_CALL || e->type.kind != TYPE_REAL)
        return false;
    if (memo_get(memo, e, &known))
        return known;
    bool result = false;
    switch ((Op)e->op) {
    case OP_NEG:
    case OP_DIV: result = keeps(e->args[0], slot, memo); break;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: result = keeps(e->args[0], slot, memo) || keeps(e->args[1], slot, memo); break;
    default: break;
    }
    memo_put(memo, e, result);
    return result;
}

static bool adds_to_itself(const Maker *m, const RoutineStep *s)
{
    const RoutineField *field = &m->fields.at[s->field];
    if (field->rank > 0 || field->type.kind != TYPE_REAL)
        return false;
    Memo memo;
    memo_begin(&memo, NULL);
    const bool result = keeps(s->value, field->first, &memo);
    memo_end(&memo);
    return result;
}

/* Assigns, chooses and counts, and comes to its end: nothing is told, and nothing called, while a value is lost. */
static bool is_plain(const Maker *m, uint32_t first)
{
    for (uint32_t k = first; k; k = m->steps.at[k].next) {
        const RoutineStep *s = &m->steps.at[k];
        const bool is_known =
            s->kind == STATEMENT_ASSIGN || s->kind == STATEMENT_IF || (s->kind == STATEMENT_WHILE && s->loop);
        if (!is_known || s->looks || has(s->value, calls) || !is_plain(m, s->inner) || !is_plain(m, s->otherwise))
            return false;
    }
    return true;
}

/* The last assignment to each field; 0: none, or some assignment does not keep that the value is lost. */
static void find_sums(const Maker *m, uint32_t first, uint32_t *sums, bool *is_other)
{
    for (uint32_t k = first; k; k = m->steps.at[k].next) {
        const RoutineStep *s = &m->steps.at[k];
        find_sums(m, s->inner, sums, is_other);
        find_sums(m, s->otherwise, sums, is_other);
        if (s->kind != STATEMENT_ASSIGN)
            continue;
        sums[s->field] = k;
        is_other[s->field] |= s->is_late || !adds_to_itself(m, s);
    }
}

static void mark_late(Maker *m, uint32_t first, const bool *is_other)
{
    for (uint32_t k = first; k; k = m->steps.at[k].next) {
        RoutineStep *s = &m->steps.at[k];
        s->is_late |= s->kind == STATEMENT_ASSIGN && !is_other[s->field];
        mark_late(m, s->inner, is_other);
        mark_late(m, s->otherwise, is_other);
    }
}

static void look_behind(Maker *m, RoutineStep *step)
{
    Arena *arena = m->body->arena;
    uint32_t *sums = NEW_ARRAY(arena, uint32_t, m->fields.n), n = 0;
    bool *is_other = NEW_ARRAY(arena, bool, m->fields.n);
    RoutineLoop *loop = NEW(arena, RoutineLoop);
    *loop = *step->loop;
    find_sums(m, step->inner, sums, is_other);
    mark_late(m, step->inner, is_other);
    for (uint32_t k = 0; k < m->fields.n; k++)
        if (sums[k] && !is_other[k])
            sums[n++] = sums[k];
    loop->late = sums;
    loop->n_late = n;
    step->loop = loop;
}

void routine_look_late(Maker *m, uint32_t first)
{
    for (uint32_t k = first; k; k = m->steps.at[k].next) {
        RoutineStep *s = &m->steps.at[k];
        if (s->kind == STATEMENT_WHILE && s->loop && is_plain(m, s->inner))
            look_behind(m, s);
        routine_look_late(m, s->inner);
        routine_look_late(m, s->otherwise);
    }
}
