/* order-model: canonical order, so that the order of declarative statements and components in the text changes
 * nothing. Variables are ordered by path, name by name in natural order; equations by owner, left side, right side;
 * regions and transitions by owner and conditions. Ids are renumbered everywhere. */
#include "base/bug.h"
#include "base/map.h"
#include "graph/graph.h"
#include "ir/walk.h"
#include "passes/pipeline.h"
#include <stdlib.h>

/* ---- ranks of names ---- */
typedef struct {
    const char *text;
    uint32_t name;
} NameRow;

static int compare_names(const void *a, const void *b)
{
    const NameRow *x = a, *y = b;
    const int order = natural_compare(x->text, y->text);
    return order ? order : (x->name > y->name) - (x->name < y->name);
}

/* rank[name]: position of the name among all names in natural order. */
static uint32_t *rank_names(const Model *m, Arena *arena)
{
    const Names *names = pool_names(m->pool);
    const uint32_t n = names_count(names);
    NameRow *rows = NEW_ARRAY(arena, NameRow, n);
    for (uint32_t k = 0; k < n; k++)
        rows[k] = (NameRow){ names_of(names, (NameId){ k }), k };
    qsort(rows, n, sizeof *rows, compare_names);
    uint32_t *rank = NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t k = 0; k < n; k++)
        rank[rows[k].name] = k;
    return rank;
}

/* ---- variables: depth first through the instance tree, siblings by rank of name ---- */
typedef struct {
    uint32_t *instance; /* position of each instance */
    uint32_t *variable; /* new index of each variable */
} Positions;

static Positions place_variables(const Model *m, Arena *arena)
{
    const uint32_t n_instances = m->instances.n, n = n_instances + m->variables.n; /* nodes: instances, variables */
    const uint32_t *rank = rank_names(m, arena);
    uint32_t *key = NEW_ARRAY(arena, uint32_t, n), *nodes = NEW_ARRAY(arena, uint32_t, n);
    uint32_t *first = NEW_ARRAY(arena, uint32_t, n_instances + 2); /* children of instance p: first[p] .. first[p+1] */
    for (uint32_t k = 0; k < n; k++) {
        nodes[k] = k;
        key[k] = rank[k < n_instances ? m->instances.at[k].name.index : m->variables.at[k - n_instances].name.index];
    }
    sort_by_key(nodes, n, key, arena);
    for (uint32_t k = 1; k < n; k++) {
        const uint32_t parent =
            k < n_instances ? m->instances.at[k].parent.index : m->variables.at[k - n_instances].owner.index;
        first[parent + 1]++;
    }
    for (uint32_t k = 0; k < n_instances; k++)
        first[k + 1] += first[k];
    uint32_t *fill = NEW_ARRAY(arena, uint32_t, n_instances + 1), *children = NEW_ARRAY(arena, uint32_t, n);
    memcpy(fill, first, n_instances * sizeof *fill);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t node = nodes[k];
        if (node == 0)
            continue;
        const uint32_t parent =
            node < n_instances ? m->instances.at[node].parent.index : m->variables.at[node - n_instances].owner.index;
        children[fill[parent]++] = node;
    }
    Positions at = { NEW_ARRAY(arena, uint32_t, n_instances), NEW_ARRAY(arena, uint32_t, m->variables.n) };
    uint32_t *stack = NEW_ARRAY(arena, uint32_t, n_instances + 1), *next = NEW_ARRAY(arena, uint32_t, n_instances + 1);
    memcpy(next, first, n_instances * sizeof *next);
    uint32_t depth = 0, instances = 0, variables = 0;
    stack[depth++] = 0;
    at.instance[0] = instances++;
    while (depth) {
        const uint32_t here = stack[depth - 1];
        if (next[here] == first[here + 1]) {
            depth--;
            continue;
        }
        const uint32_t node = children[next[here]++];
        if (node >= n_instances) {
            at.variable[node - n_instances] = variables++;
        } else {
            at.instance[node] = instances++;
            stack[depth++] = node;
        }
    }
    REQUIRE(variables == m->variables.n);
    return at;
}

/* ---- renumbering ---- */
static uint32_t *inverse(const uint32_t *ids, uint32_t n, Arena *arena)
{
    uint32_t *to = NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t k = 0; k < n; k++)
        to[ids[k]] = k;
    return to;
}

/* items[k] becomes what items[ids[k]] was; what stands in its place already is not touched. A ring of places is a chain
 * of reads from anywhere: they are asked for some steps before. */
static void permute(void *items, const uint32_t *ids, uint32_t n, size_t size, Arena *scratch)
{
    enum { AHEAD = 8, LINE = 64 };
    unsigned char *at = items, *first = arena_alloc(scratch, size, 16);
    bool *is_done = NEW_ARRAY(scratch, bool, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        if (is_done[k] || ids[k] == k)
            continue;
        uint32_t place = k, later = k;
        for (uint32_t j = 0; j < AHEAD; j++)
            later = ids[later];
        memcpy(first, at + k * size, size);
        for (; ids[place] != k; place = ids[place], later = ids[later]) {
            for (size_t j = 0; j < size; j += LINE)
                __builtin_prefetch(at + later * size + j);
            memcpy(at + place * size, at + ids[place] * size, size);
            is_done[place] = true;
        }
        memcpy(at + place * size, first, size);
        is_done[place] = true;
    }
}
#define PERMUTE(m, field, ids, scratch) permute((m)->field.at, (ids), (m)->field.n, sizeof *(m)->field.at, (scratch))

static void move_variables(Model *m, const uint32_t *to, Arena *arena)
{
    PERMUTE(m, variables, inverse(to, m->variables.n, arena), arena);
    model_renumber(m, LIST_VARIABLES, to);
}

/* ---- equations, regions, transitions: by content ---- */
typedef struct {
    const Model *model;
    const uint32_t *instance;   /* position of instances */
    const uint32_t *shape_rank; /* per node id, of the shapes in use */
    const uint64_t *region_key; /* per region: what stands in it, whatever its order */
    const uint64_t *when_key;   /* per transition: the equations that hold in its steps, whatever their order */
} Order;

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_terms(const Order *o, Term a, Term b)
{
    if (!a.shape || !b.shape)
        return compare_numbers(a.shape != NULL, b.shape != NULL);
    if (a.shape != b.shape)
        return compare_numbers(o->shape_rank[a.shape->id], o->shape_rank[b.shape->id]);
    const Ref *x = term_refs(o->model, a), *y = term_refs(o->model, b);
    for (uint32_t k = 0; k < a.shape->n_leaves; k++) {
        if (x[k].var.index != y[k].var.index)
            return compare_numbers(x[k].var.index, y[k].var.index);
        if (x[k].kind != y[k].kind)
            return compare_numbers(x[k].kind, y[k].kind);
    }
    return 0;
}

static uint64_t key_of(const Order *o, RegionId region)
{
    return region.index == ID_NONE ? 0 : o->region_key[region.index];
}

static int compare_equations(const Order *o, const Equation *a, const Equation *b)
{
    int order = compare_numbers(o->instance[a->owner.index], o->instance[b->owner.index]);
    if (order == 0)
        order = compare_terms(o, a->lhs, b->lhs);
    if (order == 0)
        order = compare_terms(o, a->rhs, b->rhs);
    if (order == 0)
        order = compare_numbers(key_of(o, a->region), key_of(o, b->region));
    if (order == 0)
        order = compare_numbers(a->branch, b->branch);
    if (order == 0)
        order = compare_numbers(a->when, b->when);
    return order;
}

static int compare_term_lists(const Order *o, uint32_t first_a, uint32_t n_a, uint32_t first_b, uint32_t n_b)
{
    int order = compare_numbers(n_a, n_b);
    for (uint32_t k = 0; order == 0 && k < n_a; k++)
        order = compare_terms(o, o->model->conditions.at[first_a + k], o->model->conditions.at[first_b + k]);
    return order;
}

static int compare_regions(const Order *o, const Region *a, const Region *b)
{
    int order = compare_numbers(o->instance[a->owner.index], o->instance[b->owner.index]);
    if (order == 0)
        order = compare_term_lists(o, a->first_condition, a->n_conditions, b->first_condition, b->n_conditions);
    if (order == 0)
        order = compare_numbers(a->has_else, b->has_else);
    if (order == 0) /* the same conditions twice: by what they decide */
        order = compare_numbers(o->region_key[a - o->model->regions.at], o->region_key[b - o->model->regions.at]);
    return order;
}

/* Channels of one component differ in their names. */
static int compare_channels(const Order *o, const Channel *a, const Channel *b)
{
    const Names *names = pool_names(o->model->pool);
    const int order = compare_numbers(o->instance[a->owner.index], o->instance[b->owner.index]);
    return order ? order : strcmp(names_of(names, a->name), names_of(names, b->name));
}

static int compare_actions(const Order *o, const Action *a, const Action *b)
{
    const Model *m = o->model;
    int order = strcmp(names_of(pool_names(m->pool), a->text), names_of(pool_names(m->pool), b->text));
    if (order == 0)
        order = compare_terms(o, a->message, b->message);
    if (order == 0)
        order = compare_numbers((uint64_t)a->kind << 32 | (uint32_t)a->priority,
                                (uint64_t)b->kind << 32 | (uint32_t)b->priority);
    if (order == 0 && a->kind == ACTION_SEND)
        order = compare_channels(o, &m->channels.at[a->channel], &m->channels.at[b->channel]);
    if (order == 0)
        order = compare_term_lists(o, a->first_arg, a->n_args, b->first_arg, b->n_args);
    if (order == 0)
        order = compare_terms(o, a->guard, b->guard);
    return order;
}

static int compare_transitions(const Order *o, const Transition *a, const Transition *b)
{
    int order = compare_numbers(o->instance[a->owner.index], o->instance[b->owner.index]);
    if (order == 0)
        order = compare_numbers(a->trigger, b->trigger);
    if (order == 0)
        order = compare_term_lists(o, a->first_condition, a->n_conditions, b->first_condition, b->n_conditions);
    if (order == 0)
        order = compare_numbers(a->n_assignments, b->n_assignments);
    for (uint32_t k = 0; order == 0 && k < a->n_assignments; k++) {
        const Assignment *x = &o->model->assignments.at[a->first_assignment + k];
        const Assignment *y = &o->model->assignments.at[b->first_assignment + k];
        order = compare_terms(o, x->target, y->target);
        if (order == 0)
            order = compare_terms(o, x->value, y->value);
        if (order == 0)
            order = compare_terms(o, x->guard, y->guard);
    }
    if (order == 0)
        order = compare_numbers(key_of(o, a->region), key_of(o, b->region));
    if (order == 0)
        order = compare_numbers(a->branch, b->branch);
    if (order == 0)
        order = compare_numbers((uint64_t)a->effect << 32 | a->rank, (uint64_t)b->effect << 32 | b->rank);
    if (order == 0)
        order = compare_numbers(a->n_actions, b->n_actions);
    for (uint32_t k = 0; order == 0 && k < a->n_actions; k++)
        order =
            compare_actions(o, &o->model->actions.at[a->first_action + k], &o->model->actions.at[b->first_action + k]);
    if (order == 0)
        order = compare_numbers(o->when_key[a - o->model->transitions.at], o->when_key[b - o->model->transitions.at]);
    return order;
}

/* Merge sort of ids with a comparison that has a context; stable, so equal elements keep their order. */
typedef int (*CompareIds)(const Order *o, uint32_t a, uint32_t b);
static void sort_ids(uint32_t *ids, uint32_t n, CompareIds compare, const Order *o, uint32_t *work)
{
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t begin = 0; begin < n; begin += 2 * width) {
            const uint32_t middle = begin + width < n ? begin + width : n;
            const uint32_t end = begin + 2 * width < n ? begin + 2 * width : n;
            uint32_t i = begin, j = middle, k = begin;
            if (middle < end && compare(o, ids[middle - 1], ids[middle]) <= 0)
                continue; /* already in order */
            while (i < middle || j < end)
                work[k++] = j == end || (i < middle && compare(o, ids[i], ids[j]) <= 0) ? ids[i++] : ids[j++];
            memcpy(ids + begin, work + begin, (end - begin) * sizeof *ids);
        }
    }
}

static int compare_equation_ids(const Order *o, uint32_t a, uint32_t b)
{
    return compare_equations(o, &o->model->equations.at[a], &o->model->equations.at[b]);
}

static int compare_region_ids(const Order *o, uint32_t a, uint32_t b)
{
    return compare_regions(o, &o->model->regions.at[a], &o->model->regions.at[b]);
}

static int compare_transition_ids(const Order *o, uint32_t a, uint32_t b)
{
    return compare_transitions(o, &o->model->transitions.at[a], &o->model->transitions.at[b]);
}

/* Inside a SET the order of assignments has no meaning: by target. */
static int compare_assignment_ids(const Order *o, uint32_t a, uint32_t b)
{
    const Assignment *x = &o->model->assignments.at[a], *y = &o->model->assignments.at[b];
    const int order = compare_terms(o, x->target, y->target);
    return order ? order : compare_terms(o, x->value, y->value);
}

static uint32_t *sorted(uint32_t n, CompareIds compare, const Order *o, Arena *arena)
{
    uint32_t *ids = NEW_ARRAY(arena, uint32_t, n), *work = NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t k = 0; k < n; k++)
        ids[k] = k;
    sort_ids(ids, n, compare, o, work);
    return ids;
}

static const uint64_t *moved_keys(const uint64_t *keys, const uint32_t *ids, uint32_t n, Arena *arena)
{
    uint64_t *moved = NEW_ARRAY(arena, uint64_t, n + 1);
    for (uint32_t k = 0; k < n; k++)
        moved[k] = keys[ids[k]];
    return moved;
}

/* Gives for each place the region that stood there before. */
static const uint32_t *order_regions(Model *m, const Order *o, Arena *arena)
{
    const uint32_t *ids = sorted(m->regions.n, compare_region_ids, o, arena);
    const uint32_t *to = inverse(ids, m->regions.n, arena);
    PERMUTE(m, regions, ids, arena);
    model_renumber(m, LIST_REGIONS, to);
    return ids;
}

static void order_transitions(Model *m, const Order *o, Arena *arena)
{
    uint32_t *work = NEW_ARRAY(arena, uint32_t, m->assignments.n + 1),
             *ids = NEW_ARRAY(arena, uint32_t, m->assignments.n + 1);
    for (uint32_t k = 0; k < m->assignments.n; k++)
        ids[k] = k;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        if (t->form == FORM_SET)
            sort_ids(ids + t->first_assignment, t->n_assignments, compare_assignment_ids, o, work);
    }
    PERMUTE(m, assignments, ids, arena);
    const uint32_t *order = sorted(m->transitions.n, compare_transition_ids, o, arena);
    const uint32_t *to = inverse(order, m->transitions.n, arena);
    PERMUTE(m, transitions, order, arena);
    model_renumber(m, LIST_TRANSITIONS, to);
}

static void order_equations(Model *m, const Order *o, Arena *arena)
{
    const uint32_t *ids = sorted(m->equations.n, compare_equation_ids, o, arena);
    const uint32_t *to = inverse(ids, m->equations.n, arena);
    PERMUTE(m, equations, ids, arena);
    model_renumber(m, LIST_EQUATIONS, to);
}

/* ---- ranks of shapes, independent of the order of creation ---- */
typedef struct {
    const Pool *pool;
    const Expr *shape;
} ShapeRow;

static int compare_shapes(const void *a, const void *b)
{
    const ShapeRow *x = a, *y = b;
    return expr_compare(x->pool, x->shape, y->shape);
}

/* Of what is put into order, by its sides, conditions and assignments. */
static void note_shape(void *context, Term term, const TermPlace *place)
{
    uint8_t *used = context;
    if (place->list == LIST_EQUATIONS || place->list == LIST_ASSIGNMENTS || place->role == TERM_CONDITION)
        used[term.shape->id] = 1;
}

static const uint32_t *rank_shapes(const Model *m, Arena *arena)
{
    uint8_t *used = NEW_ARRAY(arena, uint8_t, pool_count(m->pool) + 1);
    model_visit_terms(m,
                      ELEMENTS(LIST_EQUATIONS) | ELEMENTS_DROPPED | ELEMENTS(LIST_REGIONS) | ELEMENTS(LIST_TRANSITIONS),
                      note_shape, used);
    uint32_t n = 0;
    for (uint32_t k = 0; k < pool_count(m->pool); k++)
        n += used[k];
    ShapeRow *rows = NEW_ARRAY(arena, ShapeRow, n);
    n = 0;
    for (uint32_t k = 0; k < pool_count(m->pool); k++)
        if (used[k])
            rows[n++] = (ShapeRow){ m->pool, pool_node(m->pool, k) };
    qsort(rows, n, sizeof *rows, compare_shapes);
    uint32_t *rank = NEW_ARRAY(arena, uint32_t, pool_count(m->pool) + 1);
    for (uint32_t k = 0; k < n; k++)
        rank[rows[k].shape->id] = k;
    return rank;
}

/* ---- keys of regions: sums, so that the order of what they hold does not matter ---- */
static uint64_t term_key(const Order *o, Term term)
{
    if (!term.shape)
        return 1;
    uint64_t key = hash_mix(7, o->shape_rank[term.shape->id]);
    for (uint32_t k = 0; k < term.shape->n_leaves; k++)
        key = hash_mix(key, (uint64_t)term_refs(o->model, term)[k].kind << 32 | term_refs(o->model, term)[k].var.index);
    return key;
}

static void add_to_regions(const Model *m, RegionId region, uint16_t branch, uint64_t key, uint64_t *keys)
{
    for (; region.index != ID_NONE; region = m->regions.at[region.index].parent) {
        key = hash_mix(key, branch);
        keys[region.index] += key;
        branch = m->regions.at[region.index].parent_branch;
    }
}

static const uint64_t *region_keys(const Order *o, Arena *arena)
{
    const Model *m = o->model;
    uint64_t *keys = NEW_ARRAY(arena, uint64_t, m->regions.n + 1);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        add_to_regions(m, e->region, e->branch, hash_mix(term_key(o, e->lhs), term_key(o, e->rhs)), keys);
    }
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        uint64_t key = 3;
        for (uint32_t j = 0; j < t->n_conditions; j++)
            key = hash_mix(key, term_key(o, m->conditions.at[t->first_condition + j]));
        uint64_t body = 0;
        for (uint32_t j = 0; j < t->n_assignments; j++) {
            const Assignment *a = &m->assignments.at[t->first_assignment + j];
            body += hash_mix(term_key(o, a->target), hash_mix(term_key(o, a->guard), term_key(o, a->value)));
        }
        add_to_regions(m, t->region, t->branch, hash_mix(key, body), keys);
    }
    return keys;
}

static const uint64_t *when_keys(const Order *o, Arena *arena)
{
    const Model *m = o->model;
    uint64_t *keys = NEW_ARRAY(arena, uint64_t, m->transitions.n + 1);
    for (uint32_t k = 0; k < m->equations.n; k++) {
        const Equation *e = &m->equations.at[k];
        if (e->when)
            keys[e->when - 1] += hash_mix(term_key(o, e->lhs), term_key(o, e->rhs));
    }
    return keys;
}

bool order_model(Compile *c)
{
    Model *m = c->model;
    Arena *scratch = c->scratch;
    const Positions at = place_variables(m, scratch);
    move_variables(m, at.variable, scratch);
    Order order = { m, at.instance, rank_shapes(m, scratch), NULL, NULL };
    order.region_key = region_keys(&order, scratch);
    const uint32_t *regions = order_regions(m, &order, scratch);
    order.region_key = moved_keys(order.region_key, regions, m->regions.n, scratch);
    order.when_key = when_keys(&order, scratch);
    order_transitions(m, &order, scratch);
    order_equations(m, &order, scratch);
    return true;
}
