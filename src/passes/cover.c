/* See cover.h. */
#include "passes/cover.h"
#include "ir/element.h"
#include <stdlib.h>

static int compare_parts(const void *a, const void *b)
{
    const Covered *x = a, *y = b;
    if (x->unknown != y->unknown)
        return x->unknown < y->unknown ? -1 : 1;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void report(Compile *c, const Covered *other, const Covered *part, int64_t element)
{
    const Model *m = c->model;
    const Ref ref = c->unknowns.at[part->unknown];
    const char *path = variable_path(m, ref.var, c->scratch);
    diag_error(c->diag, DIAG_DOUBLE_DEFINITION, m->equations.at[part->equation].origin.span,
               ref.kind == REF_DER ? "element %lld of 'der(%s)' has two definitions"
                                   : "element %lld of '%s' has two definitions",
               (long long)element + 1, path);
    if (other != part)
        diag_note(c->diag, m->equations.at[other->equation].origin.span, "the other one is here");
}

/* Parts without gaps, in the order of their first elements. */
static void check_dense(Compile *c, const Covered *parts, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++)
        if (parts[k].lo <= parts[k - 1].hi) {
            report(c, &parts[k - 1], &parts[k], parts[k].lo);
            return;
        }
}

/* Which part determines an element, one after the other. */
typedef struct {
    Compile *c;
    const Covered *parts;
    uint32_t *owner; /* per element: 1 + part */
} Owners;

static bool own(Owners *o, uint32_t part, int64_t element)
{
    if (o->owner[element])
        report(o->c, &o->parts[o->owner[element] - 1], &o->parts[part], element);
    const bool is_first = o->owner[element] == 0;
    o->owner[element] = part + 1;
    return is_first;
}

/* All points of the range, the last loop fastest. */
static bool own_points(Owners *o, uint32_t part)
{
    const Model *m = o->c->model;
    const Equation *e = &m->equations.at[o->parts[part].equation];
    const Domain *d = &m->domains.at[e->domain.index];
    ElementMap map;
    int64_t at[ELEMENT_LEVELS] = { 0 };
    if (!element_map(m, e->lhs.shape, term_refs(m, e->lhs), e->domain, &map))
        return true;
    for (uint64_t n = domain_count(m, e->domain); n > 0; n--) {
        int64_t element = map.base;
        for (uint32_t k = 0; k < d->n; k++)
            element += map.step[k] * at[k];
        if (!own(o, part, element))
            return false;
        for (uint32_t k = d->n; k-- > 0 && ++at[k] == m->iterators.at[d->first + k].count;)
            at[k] = 0;
    }
    return true;
}

static void check_points(Compile *c, const Covered *parts, uint32_t n)
{
    const uint64_t count = variable_count(c->model, c->unknowns.at[parts[0].unknown].var);
    Owners o = { c, parts, NEW_ARRAY(c->scratch, uint32_t, count + 1) };
    bool is_good = true;
    for (uint32_t k = 0; k < n && is_good; k++) {
        if (!parts[k].is_dense)
            is_good = own_points(&o, k);
        for (int64_t j = parts[k].lo; parts[k].is_dense && is_good && j <= parts[k].hi; j++)
            is_good = own(&o, k, j);
    }
}

void check_cover(Compile *c, Covered *parts, uint32_t n)
{
    if (n)
        qsort(parts, n, sizeof *parts, compare_parts);
    for (uint32_t first = 0, end; first < n; first = end) {
        bool all_dense = true;
        for (end = first; end < n && parts[end].unknown == parts[first].unknown; end++)
            all_dense &= parts[end].is_dense;
        if (!all_dense)
            check_points(c, parts + first, end - first);
        else
            check_dense(c, parts + first, end - first);
    }
}
