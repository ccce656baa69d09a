/* See declared.h. */
#include "ir/declared.h"
#include "base/bug.h"
#include <string.h>

static Declared *declared_of(Function *f)
{
    if (!f->declared)
        f->declared = NEW(f->body->arena, Declared);
    return f->declared;
}

void declare_derivative(Function *f, const DeclaredDerivative *derivative)
{
    Declared *own = declared_of(f), *other = declared_of(derivative->by);
    vec_push(f->body->arena, &own->derivatives, *derivative);
    if (other->base)
        return;
    other->base = f;
    other->in_base = own->derivatives.n - 1;
}

void declare_inverse(Function *f, const DeclaredInverse *inverse)
{
    vec_push(f->body->arena, &declared_of(f)->inverses, *inverse);
}

/* The entry by which the function is a derivative; NULL: it is none. */
static const DeclaredDerivative *entry_of(const Function *f)
{
    const Declared *declared = f->declared;
    return declared && declared->base ? &declared->base->declared->derivatives.at[declared->in_base] : NULL;
}

static bool is_real(const Function *f, uint32_t field)
{
    return f->body->variables.at[field].type.kind == TYPE_REAL;
}

uint32_t declared_moving(const Function *f, const DeclaredDerivative *derivative, uint32_t *inputs)
{
    uint32_t n = 0;
    if (derivative->order > 1) { /* what this one has last */
        const DeclaredDerivative *own = entry_of(f);
        const uint32_t last =
            own && own->order < derivative->order ? declared_moving(f->declared->base, own, inputs) : 0;
        for (; n < last && n < f->n_inputs; n++)
            inputs[n] = f->n_inputs - last + n;
        return n;
    }
    for (uint32_t k = 0; k < f->n_inputs; k++)
        if (is_real(f, k) && derivative->inputs[k] == INPUT_MOVES)
            inputs[n++] = k;
    return n;
}

/* ---- what is wrong ---- */
static bool is_like(const Function *a, uint32_t one, const Function *b, uint32_t other)
{
    const Variable *v = &a->body->variables.at[one], *w = &b->body->variables.at[other];
    if (!type_equal(v->type, w->type))
        return false;
    for (uint32_t k = 0; k < v->type.rank; k++) {
        const Expr *m = a->body->dims.at[v->first_dim + k].term.shape,
                   *n = b->body->dims.at[w->first_dim + k].term.shape;
        if (m->kind == EXPR_INTEGER && n->kind == EXPR_INTEGER && m != n)
            return false;
    }
    return true;
}

static const char *derivative_mistake(const Function *f, const DeclaredDerivative *d, const char **help)
{
    const Function *by = d->by;
    uint32_t *moving = NEW_ARRAY(f->body->arena, uint32_t, f->n_inputs + 1u), n_reals = 0;
    const DeclaredDerivative *own = entry_of(f);
    *help = "declare the derivative of order 1 at the function, the one of order 2 at that one, and so on";
    if (d->order > 1 && (!own || own->order + 1 != d->order))
        return "has a derivative of an order that does not follow on its own";
    *help = "only what is computed from the arguments alone has a derivative";
    if (!f->is_pure || !by->is_pure)
        return "has a derivative, and one of both is not pure";
    for (uint32_t k = 0; k < f->n_inputs; k++)
        if (d->inputs[k] != INPUT_MOVES && (!is_real(f, k) || d->order > 1))
            return *help = "name a Real input, at the derivative of order 1",
                   "takes an input out that has no derivative";
    const uint32_t n = declared_moving(f, d, moving);
    *help =
        "its inputs are those of the function, and behind them the derivatives of its Real inputs, with their types";
    if (by->n_inputs != f->n_inputs + n || n == 0)
        return "has a derivative with another number of inputs";
    for (uint32_t k = 0; k < by->n_inputs; k++)
        if (!is_like(by, k, f, k < f->n_inputs ? k : moving[k - f->n_inputs]))
            return "has a derivative with inputs of other types";
    *help = "its outputs are the derivatives of all Real outputs, in order";
    for (uint32_t k = 0; k < f->n_outputs; k++)
        if (is_real(f, f->n_inputs + k)) {
            if (n_reals == by->n_outputs || !is_like(f, f->n_inputs + k, by, by->n_inputs + n_reals))
                return "has a derivative with other outputs";
            n_reals++;
        }
    return n_reals != by->n_outputs || n_reals == 0 ? "has a derivative with other outputs" : NULL;
}

static const char *inverse_mistake(const Function *f, const DeclaredInverse *i, const char **help)
{
    const Function *by = i->by;
    bool has_output = false;
    *help = "only what is computed from the arguments alone has an inverse";
    if (!f->is_pure || !by->is_pure)
        return "has an inverse, and one of both is not pure";
    *help = "a function with one Real number as output has inverses that give one Real input";
    if (f->n_outputs != 1 || by->n_outputs != 1 || !is_real(f, i->input) || !is_real(f, f->n_inputs) ||
        f->body->variables.at[f->n_inputs].type.rank > 0 || !is_like(f, i->input, by, by->n_inputs))
        return "has an inverse for what is no number";
    *help = "its inputs are the output of the function, once, and the inputs beside the one that it gives";
    for (uint32_t k = 0; k < by->n_inputs; k++) {
        has_output |= i->args[k] == f->n_inputs;
        if (i->args[k] == i->input || !is_like(by, k, f, i->args[k]))
            return "has an inverse with other inputs";
    }
    return has_output ? NULL : "has an inverse that does not get its output";
}

const char *declared_mistake(const Function *f, Span *where, const char **help)
{
    const Declared *declared = f->declared;
    const char *mistake = NULL;
    for (uint32_t k = 0; declared && k < declared->derivatives.n && !mistake; k++) {
        *where = declared->derivatives.at[k].span;
        mistake = derivative_mistake(f, &declared->derivatives.at[k], help);
    }
    for (uint32_t k = 0; declared && k < declared->inverses.n && !mistake; k++) {
        *where = declared->inverses.at[k].span;
        mistake = inverse_mistake(f, &declared->inverses.at[k], help);
    }
    return mistake;
}

/* ---- calls ---- */
static bool is_zero(const Expr *e)
{
    if (e->kind != EXPR_ARRAY)
        return expr_is_real(e, 0);
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!is_zero(e->args[k]))
            return false;
    return true;
}

/* What was taken out of the first derivative does not move, and what has derivatives among the arguments moves along
 * them. */
static bool holds_in(const Function *base, const DeclaredDerivative *d, const Expr *call, const Expr *const *tangents,
                     Arena *arena)
{
    uint32_t *moving = NEW_ARRAY(arena, uint32_t, base->n_inputs + 1u);
    const uint32_t n = declared_moving(base, d, moving);
    for (uint32_t k = 0; k < base->n_inputs && d->order == 1; k++)
        if (d->inputs[k] == INPUT_ZERO && !is_zero(tangents[k]))
            return false;
    for (uint32_t k = 0; k < n && call->n_args > base->n_inputs; k++)
        if (tangents[moving[k]] != call->args[base->n_inputs + k])
            return false;
    return true;
}

static bool holds(const Function *f, const DeclaredDerivative *d, const Expr *call, const Expr *const *tangents,
                  Arena *arena)
{
    if (d->order == 1)
        return holds_in(f, d, call, tangents, arena);
    for (const Function *at = f; entry_of(at); at = at->declared->base)
        if (!holds_in(at->declared->base, entry_of(at), call, tangents, arena))
            return false;
    return true;
}

const Function *declared_derivative(Arena *arena, const Expr *call, const Expr *const *tangents, const Expr **args,
                                    uint32_t *n)
{
    const Function *f = call->u.function;
    for (uint32_t k = 0; f->declared && k < f->declared->derivatives.n; k++) {
        const DeclaredDerivative *d = &f->declared->derivatives.at[k];
        if (!holds(f, d, call, tangents, arena))
            continue;
        uint32_t *moving = NEW_ARRAY(arena, uint32_t, f->n_inputs + 1u);
        const uint32_t n_moving = declared_moving(f, d, moving);
        memcpy(args, call->args, call->n_args * sizeof *args);
        for (uint32_t j = 0; j < n_moving; j++)
            args[call->n_args + j] = tangents[moving[j]];
        *n = call->n_args + n_moving;
        return d->by;
    }
    return NULL;
}

const Expr *declared_inverse(Pool *pool, const Expr *call, uint32_t argument, const Expr *value)
{
    const Function *f = call->u.function;
    for (uint32_t k = 0; f && f->declared && k < f->declared->inverses.n; k++) {
        const DeclaredInverse *i = &f->declared->inverses.at[k];
        if (i->input != argument)
            continue;
        const Expr **args = NEW_ARRAY(pool_arena(pool), const Expr *, i->by->n_inputs + 1u);
        for (uint32_t j = 0; j < i->by->n_inputs; j++)
            args[j] = i->args[j] == f->n_inputs ? value : call->args[i->args[j]];
        return expr_function(pool, i->by, 0, i->by->body->variables.at[i->by->n_inputs].type, i->by->n_inputs, args);
    }
    return NULL;
}
