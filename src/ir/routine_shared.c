/* Several results of a call, assigned one after the other: the call is made once, before the first of them; see
 * routine.h. Only where the whole value of a statement is a result: what may not be evaluated stays where it is. */
#include "ir/memo.h"
#include "ir/routine_make.h"

/* The call of which the value is one of several results; NULL: it is none. */
static const Expr *call_of(const RoutineStep *s)
{
    const Expr *call = s->kind == STATEMENT_ASSIGN && is_part(s->value) ? s->value->args[0] : NULL;
    return call && is_model_call(call) && call->u.function->is_pure ? call : NULL;
}

static bool reads_in(const Expr *e, uint32_t slot, uint32_t field, Memo *seen)
{
    uint32_t known;
    bool found = (e->kind == EXPR_LEAF && e->u.leaf == slot) || (is_element(e) && e->result == field);
    if (found || e->n_args == 0 || memo_get(seen, e, &known))
        return found; /* else the search had ended there */
    for (uint32_t k = 0; k < e->n_args && !found; k++)
        found = reads_in(e->args[k], slot, field, seen);
    memo_put(seen, e, 0);
    return found;
}

static bool reads(const Maker *m, const Expr *e, uint32_t field)
{
    Memo seen;
    memo_begin(&seen, NULL);
    const bool found = reads_in(e, m->fields.at[field].first, field, &seen);
    memo_end(&seen);
    return found;
}

/* How many steps from this one on, up to the last that takes a result of the call; *n: those that do. */
static uint32_t find_last(const Maker *m, uint32_t first, const Expr *call, uint32_t *n)
{
    uint32_t last = first;
    *n = 0;
    for (uint32_t k = first; k && m->steps.at[k].kind == STATEMENT_ASSIGN; k = m->steps.at[k].next) {
        if (call_of(&m->steps.at[k]) == call) {
            last = k;
            ++*n;
        }
        if (reads(m, call, m->steps.at[k].field))
            break;
    }
    return last;
}

/* A step that keeps all results of the call, in the order of rows. */
static uint32_t hold(Maker *m, const Expr *call)
{
    const uint32_t width = function_width(call->u.function);
    const uint32_t field = maker_add_field(m, (NameId){ 0 }, (Type){ TYPE_REAL, 1, 0 });
    m->fields.at[field].count = m->fields.at[field].extents[0] = width;
    m->n_slots += width - 1;
    const uint32_t step = maker_add_step(m, STATEMENT_ASSIGN, call);
    m->steps.at[step].field = field;
    m->steps.at[step].is_raw = true;
    return step;
}

uint32_t routine_share_calls(Maker *m, uint32_t first)
{
    uint32_t before = 0, begin = first;
    for (uint32_t k = first; k; before = k, k = m->steps.at[k].next) {
        uint32_t n;
        const RoutineStep own = m->steps.at[k];
        const Expr *call = call_of(&own);
        if (!call)
            continue;
        const uint32_t last = find_last(m, k, call, &n);
        if (n < 2)
            continue;
        m->span = own.span;
        m->statement = own.statement;
        const uint32_t made = hold(m, call);
        const Expr *row = maker_leaf(m, m->steps.at[made].field);
        for (uint32_t j = k; j; j = j == last ? 0 : m->steps.at[j].next)
            if (call_of(&m->steps.at[j]) == call)
                m->steps.at[j].value = expr_with_args(m->pool, m->steps.at[j].value, &row);
        m->steps.at[made].next = k;
        if (before)
            m->steps.at[before].next = made;
        else
            begin = made;
    }
    return begin;
}
