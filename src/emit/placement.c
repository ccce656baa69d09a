/* Regions by lowest common ancestor, parents before arguments; see placement.h. */
#include "emit/placement.h"
#include "base/bug.h"

void placement_init(Placement *placement, const Pool *pool, Arena *arena)
{
    *placement = (Placement){ .arena = arena };
    placement->n_numbers = pool_count(pool);
    placement->number = NEW_ARRAY(arena, uint32_t, placement->n_numbers);
}

/* The pool may have grown, and bodies of functions may belong to its base: arguments are older than who uses them. */
static void make_room(Placement *p, const Kernel *kernel)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < kernel->n_outputs; k++)
        n = kernel->outputs[k]->id >= n ? kernel->outputs[k]->id + 1 : n;
    if (n <= p->n_numbers)
        return;
    p->number = arena_grow(p->arena, p->number, p->n_numbers * sizeof *p->number, 2 * (size_t)n * sizeof *p->number,
                           _Alignof(uint32_t));
    p->n_numbers = 2 * n;
}

/* The argument whose value an expression passes on, or NULL. */
static const Expr *passed_on(Placement *p, const Expr *e);

static void collect(Placement *p, const Expr *e)
{
    if (p->number[e->id])
        return;
    const Expr *same = passed_on(p, e);
    if (same) {
        p->number[e->id] = p->number[same->id];
    } else {
        const bool may_be_array = e->kind == EXPR_LEAF || e->kind == EXPR_ARRAY || e->kind == EXPR_FUNCTION;
        REQUIRE(e->kind != EXPR_REDUCE && (e->type.rank == 0 || may_be_array) &&
                (e->kind != EXPR_LEAF || e->n_args == 0));
        for (uint32_t k = 0; k < e->n_args; k++)
            collect(p, e->args[k]);
        vec_push(p->arena, &p->nodes, ((PlacedNode){ .expr = e, .region = ID_NONE }));
        p->number[e->id] = p->nodes.n;
    }
    vec_push(p->arena, &p->numbered, e->id);
}

static const Expr *passed_on(Placement *p, const Expr *e)
{
    if (e->kind == EXPR_CALL && (e->op == OP_HOMOTOPY || e->op == OP_NUMBER)) {
        collect(p, e->args[0]);
        return e->args[0];
    }
    if (e->kind != EXPR_IF)
        return NULL;
    collect(p, e->args[1]);
    collect(p, e->args[2]);
    return p->number[e->args[1]->id] == p->number[e->args[2]->id] ? e->args[1] : NULL;
}

static uint32_t common_region(const Placement *p, uint32_t a, uint32_t b)
{
    const PlacedRegion *region = p->regions.at;
    while (a != b) {
        if (region[a].depth < region[b].depth)
            b = region[b].parent;
        else if (region[a].depth > region[b].depth)
            a = region[a].parent;
        else
            a = region[a].parent, b = region[b].parent;
    }
    return a;
}

static void use(Placement *p, const Expr *e, uint32_t region)
{
    PlacedNode *node = &p->nodes.at[placement_number(p, e)];
    node->uses++;
    node->region = node->region == ID_NONE ? region : common_region(p, node->region, region);
}

/* The region in which argument k of a node is needed. */
static uint32_t region_of_argument(const PlacedNode *node, uint32_t k)
{
    return node->expr->kind == EXPR_IF && k > 0 ? node->side + k - 1 : node->region;
}

/* The IF that separates a use in `region` from the place where the node is computed, or ID_NONE. */
static uint32_t separating_if(const Placement *p, uint32_t region, uint32_t computed_in)
{
    uint32_t owner = ID_NONE;
    for (; region != computed_in; region = p->regions.at[region].parent)
        owner = p->regions.at[region].owner;
    return owner;
}

static uint32_t prelude_owner(const Placement *p, const PlacedNode *user, uint32_t k, uint32_t *argument)
{
    *argument = placement_number(p, user->expr->args[k]);
    if (user->uses == 0 || expr_is_constant(p->nodes.at[*argument].expr))
        return ID_NONE;
    return separating_if(p, region_of_argument(user, k), p->nodes.at[*argument].region);
}

static void list_preludes(Placement *p)
{
    uint32_t total = 0, argument;
    for (uint32_t i = 0; i < p->nodes.n; i++)
        for (uint32_t k = 0; k < p->nodes.at[i].expr->n_args; k++) {
            const uint32_t owner = prelude_owner(p, &p->nodes.at[i], k, &argument);
            if (owner != ID_NONE)
                p->nodes.at[owner].n_prelude++;
        }
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        p->nodes.at[i].first = total;
        total += p->nodes.at[i].n_prelude;
        p->nodes.at[i].n_prelude = 0;
    }
    vec_reserve(p->arena, &p->prelude, total);
    p->prelude.n = total;
    for (uint32_t i = 0; i < p->nodes.n; i++)
        for (uint32_t k = 0; k < p->nodes.at[i].expr->n_args; k++) {
            const uint32_t owner = prelude_owner(p, &p->nodes.at[i], k, &argument);
            if (owner != ID_NONE) {
                PlacedNode *node = &p->nodes.at[owner];
                p->prelude.at[node->first + node->n_prelude++] = argument;
            }
        }
}

void placement_of(Placement *p, const Kernel *kernel)
{
    for (uint32_t i = 0; i < p->numbered.n; i++)
        p->number[p->numbered.at[i]] = 0;
    p->numbered.n = p->nodes.n = p->regions.n = p->prelude.n = 0;
    make_room(p, kernel);
    for (uint32_t k = 0; k < kernel->n_outputs; k++)
        collect(p, kernel->outputs[k]);
    vec_push(p->arena, &p->regions, ((PlacedRegion){ ID_NONE, 0, ID_NONE }));
    for (uint32_t k = 0; k < kernel->n_outputs; k++)
        use(p, kernel->outputs[k], 0);
    for (uint32_t i = p->nodes.n; i-- > 0;) {
        PlacedNode *node = &p->nodes.at[i];
        if (node->uses == 0)
            continue;
        if (node->expr->kind == EXPR_IF) {
            const PlacedRegion side = { node->region, p->regions.at[node->region].depth + 1, i };
            node->side = p->regions.n;
            vec_push(p->arena, &p->regions, side);
            vec_push(p->arena, &p->regions, side);
        }
        for (uint32_t k = 0; k < node->expr->n_args; k++)
            use(p, node->expr->args[k], region_of_argument(node, k));
    }
    if (p->regions.n > 1)
        list_preludes(p);
}
