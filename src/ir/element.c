/* Indices that are affine in the iterators, as one linear number; see element.h. */
#include "ir/element.h"
#include "base/bug.h"

typedef struct {
    int64_t constant, factor[ELEMENT_LEVELS];
} Index;

static bool is_constant(const Index *index)
{
    for (uint32_t k = 0; k < ELEMENT_LEVELS; k++)
        if (index->factor[k])
            return false;
    return true;
}

static bool index_of(const Expr *e, Index *out)
{
    *out = (Index){ 0 };
    if (e->kind == EXPR_INTEGER) {
        out->constant = e->u.integer;
        return true;
    }
    if (e->kind == EXPR_ITERATOR && e->u.iterator < ELEMENT_LEVELS) {
        out->factor[e->u.iterator] = 1;
        return true;
    }
    Index a, b = { 0 };
    if (e->kind != EXPR_CALL || !index_of(e->args[0], &a) || (e->n_args == 2 && !index_of(e->args[1], &b)))
        return false;
    int64_t scale_a = 1, scale_b = 1;
    switch ((Op)e->op) {
    case OP_ADD: break;
    case OP_SUB: scale_b = -1; break;
    case OP_NEG: scale_a = -1; break;
    case OP_MUL:
        if (!is_constant(&a) && !is_constant(&b))
            return false;
        if (!is_constant(&a)) {
            scale_a = b.constant;
            scale_b = 0;
        } else {
            scale_b = a.constant;
            scale_a = 0;
        }
        break;
    default: return false;
    }
    out->constant = a.constant * scale_a + b.constant * scale_b;
    for (uint32_t k = 0; k < ELEMENT_LEVELS; k++)
        out->factor[k] = a.factor[k] * scale_a + b.factor[k] * scale_b;
    return true;
}

bool element_map(const Model *model, const Expr *leaf, const Ref *refs, DomainId domain, ElementMap *map)
{
    *map = (ElementMap){ 0 };
    if (leaf->n_args == 0)
        return true;
    const Variable *v = model_var(model, refs[leaf->u.leaf].var);
    const Domain *d = &model->domains.at[domain.index];
    int64_t weight = 1;
    for (uint32_t k = leaf->n_args; k-- > 0;) {
        Index index;
        if (!index_of(leaf->args[k], &index))
            return false;
        map->base += (index.constant - 1) * weight;
        for (uint32_t j = 0; j < ELEMENT_LEVELS; j++) {
            if (!index.factor[j])
                continue;
            if (j >= d->n)
                return false;
            const Iterator *it = &model->iterators.at[d->first + j];
            map->base += index.factor[j] * it->first * weight;
            map->step[j] += index.factor[j] * it->stride * weight;
        }
        weight *= model->dims.at[v->first_dim + k].extent;
    }
    return true;
}

void element_range(const Model *model, const ElementMap *map, DomainId domain, int64_t *lo, int64_t *hi)
{
    const Domain *d = &model->domains.at[domain.index];
    *lo = *hi = map->base;
    for (uint32_t k = 0; k < d->n && k < ELEMENT_LEVELS; k++) {
        const int64_t reach = map->step[k] * (model->iterators.at[d->first + k].count - 1);
        *(reach < 0 ? lo : hi) += reach;
    }
}

bool element_is_inside(const Model *model, const Expr *leaf, const Ref *refs, DomainId domain)
{
    const Variable *v = model_var(model, refs[leaf->u.leaf].var);
    const Domain *d = &model->domains.at[domain.index];
    for (uint32_t k = 0; k < leaf->n_args; k++) {
        Index index;
        if (!index_of(leaf->args[k], &index))
            return false;
        int64_t lo = index.constant, hi = index.constant;
        for (uint32_t j = 0; j < ELEMENT_LEVELS; j++) {
            if (!index.factor[j])
                continue;
            if (j >= d->n)
                return false;
            const Iterator *it = &model->iterators.at[d->first + j];
            const int64_t first = index.factor[j] * it->first;
            const int64_t last = index.factor[j] * (it->first + (it->count - 1) * it->stride);
            lo += first < last ? first : last;
            hi += first < last ? last : first;
        }
        if (lo < 1 || hi > model->dims.at[v->first_dim + k].extent)
            return false;
    }
    return true;
}

bool element_is_own(const Model *model, const Expr *leaf, const Ref *refs, DomainId domain)
{
    const Variable *v = model_var(model, refs[leaf->u.leaf].var);
    const Domain *d = &model->domains.at[domain.index];
    ElementMap map;
    bool is_own =
        v->type.rank == d->n && leaf->n_args == d->n && element_map(model, leaf, refs, domain, &map) && map.base == 0;
    int64_t weight = 1;
    for (uint32_t k = d->n; k-- > 0 && is_own;) {
        const int64_t count = model->iterators.at[d->first + k].count;
        is_own = model->dims.at[v->first_dim + k].extent == count && map.step[k] == weight;
        weight *= count;
    }
    return is_own;
}
