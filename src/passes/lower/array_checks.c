/* See array_checks.h. */
#include "passes/lower/array_checks.h"

bool checks_know(SizeChecks *c, const Expr *a, const Expr *b)
{
    for (uint32_t k = 0; k < c->n_in_front; k++)
        if (c->in_front[k].a == a && c->in_front[k].b == b)
            return true;
    if (c->n_in_front < MOST_CHECKS && !a->has_index && !b->has_index) {
        c->in_front[c->n_in_front].a = a;
        c->in_front[c->n_in_front++].b = b;
    }
    return false;
}

bool checks_add(SizeChecks *c, const Expr *a, const Expr *b, const char *text)
{
    if (c->n_in_loops == MOST_CHECKS)
        return false;
    c->in_loops[c->n_in_loops++] = (LoopCheck){ .a = a, .b = b, .text = text };
    return true;
}

static bool has_iterator(const Expr *e, uint32_t level)
{
    bool found = e->kind == EXPR_ITERATOR && e->u.iterator == level;
    for (uint32_t k = 0; e->has_index && k < e->n_args && !found; k++)
        found = has_iterator(e->args[k], level);
    return found;
}

void checks_own(SizeChecks *c, const Expr *loop)
{
    const uint32_t level = loop->u.iterator;
    for (uint32_t k = 0; k < c->n_in_loops; k++) {
        LoopCheck *check = &c->in_loops[k];
        if (!check->loop && (has_iterator(check->a, level) || has_iterator(check->b, level)))
            check->loop = loop;
    }
}

bool checks_are_said(const SizeChecks *c)
{
    for (uint32_t k = 0; k < c->n_in_loops; k++)
        if (!c->in_loops[k].is_said)
            return false;
    return true;
}
