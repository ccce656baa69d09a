/* Hash-consing of expressions; see expr.h. */
#include "ir/expr.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/vec.h"
#include "ir/memo.h"
#include "ir/model.h"
#include "ir/pool.h"
#include <math.h>
#include <stdlib.h>

struct Pool {
    Arena *arena;
    Names *names;
    const Pool *base;        /* of an overlay: the pool whose nodes it refers to; NULL: none */
    uint32_t n_base;         /* ... how many of these: own nodes have the ids from here on */
    VEC(const Expr *) nodes; /* own ones */
    uint32_t *slots;         /* node id + 1, or 0 */
    uint32_t n_slots;
    VEC(Enumeration) enumerations;
    VEC(Table *) tables;
    uint32_t n_functions;
};

/* ---- operations ---- */
typedef struct {
    const char *text;
    uint8_t arity;
    char result;
    uint8_t takes, course, cost;
} OpRow;

static const OpRow op_rows[OP_COUNT] = {
#define OP(name, text, arity, result, takes, course, cost, ...)                                                        \
    { text, arity, #result[0], TAKES_##takes, COURSE_##course, cost },
#include "ir/op.def"
#undef OP
};

const char *op_text(Op op)
{
    return op_rows[op].text;
}

uint32_t op_arity(Op op)
{
    return op_rows[op].arity;
}

OpTakes op_takes(Op op)
{
    return (OpTakes)op_rows[op].takes;
}

OpCourse op_course(Op op)
{
    return (OpCourse)op_rows[op].course;
}

uint32_t op_cost(Op op)
{
    return op_rows[op].cost;
}

Type op_type(Op op, Type operands)
{
    switch (op_rows[op].result) {
    case 'S': return operands;
    case 'R': return REAL_TYPE;
    case 'I': return INTEGER_TYPE;
    case 'B': return BOOLEAN_TYPE;
    }
    BUG("unknown result rule");
}

bool op_is_relation(Op op)
{
    return op >= OP_LT && op <= OP_NE;
}

bool op_by_text(const char *text, uint32_t arity, Op *op)
{
    for (uint32_t k = 0; k < OP_COUNT; k++)
        if (op_rows[k].arity == arity && strcmp(op_rows[k].text, text) == 0) {
            *op = (Op)k;
            return true;
        }
    return false;
}

/* ---- pool ---- */
static void place(Pool *pool, const Expr *node)
{
    uint32_t slot = node->hash & (pool->n_slots - 1);
    while (pool->slots[slot])
        slot = (slot + 1) & (pool->n_slots - 1);
    pool->slots[slot] = node->id + 1;
}

static const Expr *own_node(const Pool *pool, uint32_t id)
{
    return pool->nodes.at[id - pool->n_base];
}

static void enlarge(Pool *pool, uint32_t n_slots)
{
    pool->n_slots = n_slots;
    pool->slots = NEW_ARRAY(pool->arena, uint32_t, n_slots);
    for (uint32_t k = 0; k < pool->nodes.n; k++)
        place(pool, pool->nodes.at[k]);
}

Pool *pool_create(Arena *arena, Names *names)
{
    Pool *pool = NEW(arena, Pool);
    pool->arena = arena;
    pool->names = names;
    enlarge(pool, 1024);
    return pool;
}

Pool *pool_overlay(const Pool *base, Arena *arena)
{
    Pool *pool = NEW(arena, Pool);
    pool->arena = arena;
    pool->names = base->names;
    pool->base = base;
    pool->n_base = pool_count(base);
    pool->n_functions = base->n_functions;
    for (uint32_t k = 0; k < base->enumerations.n; k++)
        vec_push(arena, &pool->enumerations, base->enumerations.at[k]);
    for (uint32_t k = 0; k < base->tables.n; k++)
        vec_push(arena, &pool->tables, base->tables.at[k]);
    enlarge(pool, 64);
    return pool;
}

Arena *pool_arena(const Pool *pool)
{
    return pool->arena;
}

Names *pool_names(const Pool *pool)
{
    return pool->names;
}

uint32_t pool_count(const Pool *pool)
{
    return pool->n_base + pool->nodes.n;
}

const Expr *pool_node(const Pool *pool, uint32_t id)
{
    while (id < pool->n_base)
        pool = pool->base;
    return own_node(pool, id);
}

static bool same_enumeration(const Enumeration *a, const Enumeration *b)
{
    if (!name_equal(a->name, b->name) || a->is_ordered != b->is_ordered || a->is_object != b->is_object || a->n != b->n)
        return false;
    for (uint32_t k = 0; k < a->n; k++)
        if (!name_equal(a->values[k], b->values[k]))
            return false;
    return true;
}

uint32_t pool_enumeration(Pool *pool, const Enumeration *enumeration)
{
    for (uint32_t k = 0; k < pool->enumerations.n; k++)
        if (same_enumeration(&pool->enumerations.at[k], enumeration))
            return k;
    REQUIRE(pool->enumerations.n < UINT16_MAX);
    Enumeration copy = *enumeration;
    NameId *values = NEW_ARRAY(pool->arena, NameId, copy.n);
    if (copy.n)
        memcpy(values, enumeration->values, copy.n * sizeof *values);
    copy.values = values;
    vec_push(pool->arena, &pool->enumerations, copy);
    return pool->enumerations.n - 1;
}

uint32_t pool_count_function(Pool *pool)
{
    return pool->n_functions++;
}

uint32_t pool_n_enumerations(const Pool *pool)
{
    return pool->enumerations.n;
}

const Enumeration *pool_get_enumeration(const Pool *pool, uint32_t index)
{
    return &pool->enumerations.at[index];
}

const Table *pool_table(Pool *pool, const Table *table)
{
    for (uint32_t k = 0; k < pool->tables.n; k++)
        if (table_equal(pool->tables.at[k], table))
            return pool->tables.at[k];
    Table *own = NEW(pool->arena, Table);
    double *points = NEW_ARRAY(pool->arena, double, 2 * (size_t)table->n);
    memcpy(points, table->x, table->n * sizeof *points);
    memcpy(points + table->n, table->y, table->n * sizeof *points);
    *own = (Table){ .name = table->name,
                    .method = table->method,
                    .outside = table->outside,
                    .n = table->n,
                    .x = points,
                    .y = points + table->n,
                    .index = pool->tables.n };
    vec_push(pool->arena, &pool->tables, own);
    return own;
}

uint32_t pool_n_tables(const Pool *pool)
{
    return pool->tables.n;
}

const Table *pool_get_table(const Pool *pool, uint32_t index)
{
    return pool->tables.at[index];
}

static uint64_t payload(const Expr *node)
{
    uint64_t bits;
    memcpy(&bits, &node->u, sizeof bits);
    return bits;
}

static uint32_t hash_of(const Expr *head, const Expr *const *args)
{
    uint64_t h =
        hash_mix((uint64_t)head->kind << 24 | (uint64_t)head->op << 16 | (uint64_t)head->is_literal << 8 | head->n_args,
                 payload(head));
    if (head->kind == EXPR_FUNCTION)
        h = hash_mix(h, (uint64_t)head->result << 32 | head->element);
    h = hash_mix(h, (uint64_t)head->type.kind << 32 | (uint64_t)head->type.rank << 16 | head->type.enumeration);
    for (uint32_t k = 0; k < head->n_args; k++)
        h = hash_mix(h, args[k]->id);
    return (uint32_t)h;
}

static bool is_same(const Expr *node, const Expr *head, const Expr *const *args)
{
    return node->hash == head->hash && node->kind == head->kind && node->op == head->op &&
           node->is_literal == head->is_literal && node->n_args == head->n_args && type_equal(node->type, head->type) &&
           payload(node) == payload(head) && node->result == head->result && node->element == head->element &&
           (head->n_args == 0 || memcmp(node->args, args, head->n_args * sizeof *args) == 0);
}

static bool is_checked(const Expr *node)
{
    if (node->kind == EXPR_TEXT)
        return true;
    if ((node->type.kind != TYPE_INTEGER && node->type.kind != TYPE_STRING) ||
        (node->kind != EXPR_CALL && node->kind != EXPR_IF))
        return false;
    if (node->kind == EXPR_IF)
        return node->args[1]->is_checked || node->args[2]->is_checked;
    return node->op != OP_NUMBER && node->op != OP_MIX && node->op != OP_ELEMENT;
}

static void fill_facts(Expr *node)
{
    node->has_index = node->kind == EXPR_ITERATOR || node->kind == EXPR_REDUCE || node->kind >= EXPR_RANGE ||
                      (node->kind == EXPR_LEAF && node->n_args > 0);
    node->has_whole = node->kind >= EXPR_RANGE || (node->kind == EXPR_CALL && node->type.rank > 0) ||
                      (node->kind == EXPR_LEAF && node->n_args > 0 && node->type.rank > 0);
    node->has_call = node->kind == EXPR_FUNCTION || node->kind == EXPR_TEXT;
    node->is_checked = is_checked(node);
    node->has_hiding = node->kind == EXPR_CALL && op_is_relation((Op)node->op) &&
                       (node->args[0]->is_checked || node->args[1]->is_checked);
    node->n_leaves = node->kind == EXPR_LEAF ? node->u.leaf + 1 : 0;
    uint32_t depth = 0;
    for (uint32_t k = 0; k < node->n_args; k++) {
        const Expr *arg = node->args[k];
        node->has_index |= arg->has_index;
        node->has_call |= arg->has_call;
        node->has_hiding |= arg->has_hiding;
        node->has_whole |=
            arg->has_whole || (node->kind == EXPR_ARRAY && arg->kind != EXPR_ARRAY && arg->type.rank > 0);
        if (arg->n_leaves > node->n_leaves)
            node->n_leaves = arg->n_leaves;
        if (arg->depth > depth)
            depth = arg->depth;
    }
    REQUIRE(depth < UINT16_MAX);
    node->depth = (uint16_t)(depth + 1);
}

/* The node among those of the pool itself and of its bases whose ids are below n. */
static const Expr *find_node(const Pool *pool, uint32_t n, const Expr *head, const Expr *const *args)
{
    for (; pool; n = pool->n_base, pool = pool->base) {
        const uint32_t mask = pool->n_slots - 1;
        for (uint32_t slot = head->hash & mask; pool->slots[slot]; slot = (slot + 1) & mask) {
            const Expr *node = own_node(pool, pool->slots[slot] - 1);
            if (node->id < n && is_same(node, head, args))
                return node;
        }
    }
    return NULL;
}

/* `head` gives kind, op, type, payload and n_args; its hash is filled in. */
const Expr *pool_intern(Pool *pool, Expr *head, const Expr *const *args)
{
    head->hash = hash_of(head, args);
    const Expr *known = find_node(pool, UINT32_MAX, head, args);
    if (known)
        return known;
    if ((pool->nodes.n + 1) * 2 > pool->n_slots)
        enlarge(pool, pool->n_slots * 2);
    Expr *node = arena_alloc(pool->arena, sizeof *head + head->n_args * sizeof *args, _Alignof(Expr));
    *node = *head;
    if (head->n_args)
        memcpy(node->args, args, head->n_args * sizeof *args);
    node->id = pool_count(pool);
    fill_facts(node);
    vec_push(pool->arena, &pool->nodes, node);
    place(pool, node);
    return node;
}

/* ---- builders ---- */
const Expr *expr_real(Pool *pool, double value)
{
    return pool_intern(pool, &(Expr){ .kind = EXPR_REAL, .type = REAL_TYPE, .u.real = value }, NULL);
}

const Expr *expr_integer(Pool *pool, int64_t value)
{
    return pool_intern(pool, &(Expr){ .kind = EXPR_INTEGER, .type = INTEGER_TYPE, .u.integer = value }, NULL);
}

const Expr *expr_boolean(Pool *pool, bool value)
{
    return pool_intern(pool, &(Expr){ .kind = EXPR_BOOLEAN, .type = BOOLEAN_TYPE, .u.integer = value }, NULL);
}

const Expr *expr_enum(Pool *pool, uint32_t enumeration, int64_t number)
{
    REQUIRE(number >= 1 && number <= (int64_t)pool->enumerations.at[enumeration].n);
    return pool_intern(pool, &(Expr){ .kind = EXPR_ENUM, .type = enum_type(enumeration), .u.integer = number }, NULL);
}

const Expr *expr_string(Pool *pool, NameId text)
{
    Expr head = { .kind = EXPR_STRING, .type = STRING_TYPE, .u.integer = 0 };
    head.u.text = text;
    return pool_intern(pool, &head, NULL);
}

const Expr *expr_leaf(Pool *pool, uint32_t leaf, Type type)
{
    Expr head = { .kind = EXPR_LEAF, .type = type, .u.integer = 0 };
    head.u.leaf = leaf;
    return pool_intern(pool, &head, NULL);
}

const Expr *expr_element(Pool *pool, uint32_t leaf, Type scalar, uint32_t n, const Expr *const *index)
{
    for (uint32_t k = 0; k < n; k++) {
        REQUIRE(index[k]->type.kind == TYPE_INTEGER && index[k]->type.rank <= 1);
        scalar.rank += index[k]->type.rank;
    }
    Expr head = { .kind = EXPR_LEAF, .type = scalar, .n_args = (uint16_t)n, .u.integer = 0 };
    head.u.leaf = leaf;
    return pool_intern(pool, &head, index);
}

const Expr *expr_iterator(Pool *pool, uint32_t level)
{
    Expr head = { .kind = EXPR_ITERATOR, .type = INTEGER_TYPE, .u.integer = 0 };
    head.u.iterator = level;
    return pool_intern(pool, &head, NULL);
}

static bool is_number(Type type)
{
    return type.kind == TYPE_REAL || type.kind == TYPE_INTEGER;
}

/* The types each operation takes: a mistake here is one of a front end, found in its tests. */
static void require_types(Op op, const Expr *const *args)
{
    const Type a = args[0]->type;
    switch (op_takes(op)) {
    case TAKES_NUMBERS: REQUIRE(is_number(a)); break;
    case TAKES_REALS: REQUIRE(a.kind == TYPE_REAL); break;
    case TAKES_INTEGERS: REQUIRE(a.kind == TYPE_INTEGER); break;
    case TAKES_BOOLEANS: REQUIRE(a.kind == TYPE_BOOLEAN); break;
    case TAKES_VALUE: REQUIRE(a.kind == TYPE_BOOLEAN || a.kind == TYPE_ENUM); break;
    case TAKES_ELEMENT: REQUIRE(args[0]->kind == EXPR_LEAF && args[1]->type.kind == TYPE_INTEGER); return;
    case TAKES_ORDERED:
    case TAKES_EQUAL: break;
    }
    if (op_arity(op) == 1)
        return;
    const Type b = args[1]->type;
    REQUIRE(a.kind == b.kind && a.enumeration == b.enumeration);
    REQUIRE(a.rank == b.rank || (!op_is_relation(op) && (a.rank == 0 || b.rank == 0)));
}

static const Expr *call(Pool *pool, Op op, bool is_literal, uint32_t n, const Expr *const *args)
{
    REQUIRE(n == op_rows[op].arity);
    require_types(op, args);
    Expr head = { .kind = EXPR_CALL,
                  .op = (uint8_t)op,
                  .is_literal = is_literal,
                  .type = op_type(op, args[0]->type),
                  .n_args = (uint16_t)n,
                  .u.integer = 0 };
    for (uint32_t k = 0; k < n; k++)
        if (args[k]->type.rank > head.type.rank && op != OP_ELEMENT)
            head.type.rank = args[k]->type.rank;
    return pool_intern(pool, &head, args);
}

const Expr *expr_call(Pool *pool, Op op, uint32_t n, const Expr *const *args)
{
    return call(pool, op, false, n, args);
}

const Expr *expr_unary(Pool *pool, Op op, const Expr *a)
{
    return call(pool, op, false, 1, &a);
}

const Expr *expr_binary(Pool *pool, Op op, const Expr *a, const Expr *b)
{
    const Expr *const args[] = { a, b };
    return call(pool, op, false, 2, args);
}

const Expr *expr_literal_relation(Pool *pool, Op op, const Expr *a, const Expr *b)
{
    REQUIRE(op_is_relation(op));
    const Expr *const args[] = { a, b };
    return call(pool, op, true, 2, args);
}

const Expr *expr_if(Pool *pool, const Expr *condition, const Expr *then, const Expr *otherwise)
{
    REQUIRE(condition->type.kind == TYPE_BOOLEAN && type_equal(then->type, otherwise->type));
    const Expr *const args[] = { condition, then, otherwise };
    return pool_intern(pool, &(Expr){ .kind = EXPR_IF, .type = then->type, .n_args = 3, .u.integer = 0 }, args);
}

const Expr *expr_reduce(Pool *pool, Op op, uint32_t level, const Expr *body, const Expr *lo, const Expr *step,
                        const Expr *hi)
{
    const Expr *const args[] = { body, lo, step, hi };
    Expr head = { .kind = EXPR_REDUCE, .op = (uint8_t)op, .type = body->type, .n_args = 4, .u.integer = 0 };
    head.u.iterator = level;
    return pool_intern(pool, &head, args);
}

const Expr *expr_function(Pool *pool, const Function *function, uint32_t result, Type type, uint32_t n,
                          const Expr *const *args)
{
    Expr head = { .kind = EXPR_FUNCTION, .result = result, .type = type, .n_args = (uint16_t)n, .u.integer = 0 };
    head.u.function = function;
    return pool_intern(pool, &head, args);
}

const Expr *expr_function_element(Pool *pool, const Expr *call, uint32_t element, Type type)
{
    Expr head = *call;
    head.type = type;
    head.element = element;
    return pool_intern(pool, &head, call->args);
}

const Expr *expr_table(Pool *pool, const Table *table, uint32_t order, const Expr *argument, const Expr *interval)
{
    REQUIRE(argument->type.kind == TYPE_REAL && (!interval || interval->type.kind == TYPE_INTEGER));
    table_data(pool->tables.at[table->index], order, pool->arena);
    const Expr *const args[] = { argument, interval };
    Expr head = {
        .kind = EXPR_TABLE, .op = (uint8_t)order, .type = REAL_TYPE, .n_args = interval ? 2 : 1, .u.table = table
    };
    return pool_intern(pool, &head, args);
}

const Expr *expr_text_op(Pool *pool, TextOp op, uint32_t n, const Expr *const *args)
{
    REQUIRE(text_op_fits(op, n, args));
    Expr head = {
        .kind = EXPR_TEXT, .op = (uint8_t)op, .type = text_op_type(op), .n_args = (uint16_t)n, .u.integer = 0
    };
    return pool_intern(pool, &head, args);
}

const Expr *expr_to_real(Pool *pool, const Expr *e)
{
    if (e->type.kind == TYPE_REAL)
        return e;
    if (e->kind == EXPR_INTEGER)
        return expr_real(pool, (double)e->u.integer);
    return expr_unary(pool, OP_REAL, e);
}

const Expr *expr_with_args(Pool *pool, const Expr *e, const Expr *const *args)
{
    if (e->n_args == 0 || memcmp(e->args, args, e->n_args * sizeof *args) == 0)
        return e;
    Expr head = *e;
    return pool_intern(pool, &head, args);
}

static const Expr *mark_literal(Pool *pool, const Expr *e, Map *seen)
{
    uint32_t known;
    if (e->n_args == 0)
        return e;
    if (map_get(seen, e->id, &known))
        return pool_node(pool, known);
    const Expr **args = NEW_ARRAY(pool->arena, const Expr *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++)
        args[k] = mark_literal(pool, e->args[k], seen);
    Expr head = *e;
    if (e->kind == EXPR_CALL && op_is_relation((Op)e->op))
        head.is_literal = true;
    const Expr *marked = pool_intern(pool, &head, args);
    map_put(seen, e->id, marked->id);
    return marked;
}

const Expr *expr_no_event(Pool *pool, const Expr *e)
{
    Map seen;
    map_init(&seen, pool->arena, 16);
    return mark_literal(pool, e, &seen);
}

bool expr_is_corner(const Expr *e)
{
    if (e->kind != EXPR_CALL)
        return false;
    const bool is_quotient = e->args[0]->kind == EXPR_CALL && e->args[0]->op == OP_DIV;
    const OpCourse course = op_course((Op)e->op);
    return course == COURSE_KINK || course == COURSE_STEP || course == COURSE_CUT || (e->op == OP_ATAN && is_quotient);
}

bool expr_too_deep(const Expr *a, const Expr *b)
{
    return a->depth + 1 > EXPR_DEPTH || (b && b->depth + 1 > EXPR_DEPTH);
}

bool expr_is_literal(const Expr *e)
{
    if (e->kind != EXPR_ARRAY)
        return expr_is_constant(e);
    for (uint32_t k = 0; k < e->n_args; k++)
        if (!expr_is_literal(e->args[k]))
            return false;
    return true;
}

bool expr_is_constant(const Expr *e)
{
    return e->kind <= EXPR_STRING;
}

bool expr_is_real(const Expr *e, double value)
{
    return e->kind == EXPR_REAL && e->u.real == value;
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_tables(const Pool *pool, const Table *a, const Table *b)
{
    int result = strcmp(names_of(pool->names, a->name), names_of(pool->names, b->name));
    if (result == 0)
        result = order((uint64_t)a->method << 40 | (uint64_t)a->outside << 32 | a->n,
                       (uint64_t)b->method << 40 | (uint64_t)b->outside << 32 | b->n);
    for (uint32_t k = 0; result == 0 && k < a->n; k++)
        if (a->x[k] != b->x[k] || a->y[k] != b->y[k])
            result = a->x[k] < b->x[k] || (a->x[k] == b->x[k] && a->y[k] < b->y[k]) ? -1 : 1;
    return result;
}

/* By name; functions of one name in the order in which they were made. */
static int compare_functions(const Pool *pool, const Function *a, const Function *b)
{
    if (a == b || !a || !b)
        return order(a != NULL, b != NULL);
    const int names = strcmp(names_of(pool->names, a->name), names_of(pool->names, b->name));
    return names ? names : order(a->number, b->number);
}

static int compare_payload(const Pool *pool, const Expr *a, const Expr *b)
{
    switch ((ExprKind)a->kind) {
    case EXPR_REAL:
        if (a->u.real != b->u.real)
            return a->u.real < b->u.real ? -1 : 1;
        return order(payload(a), payload(b));
    case EXPR_INTEGER:
    case EXPR_BOOLEAN:
    case EXPR_ENUM: return a->u.integer < b->u.integer ? -1 : a->u.integer > b->u.integer;
    case EXPR_STRING: return strcmp(names_of(pool->names, a->u.text), names_of(pool->names, b->u.text));
    case EXPR_LEAF:
    case EXPR_ITERATOR:
    case EXPR_EACH:
    case EXPR_REDUCE: return order(a->u.leaf, b->u.leaf);
    case EXPR_FUNCTION: return compare_functions(pool, a->u.function, b->u.function);
    case EXPR_TABLE: return compare_tables(pool, a->u.table, b->u.table);
    case EXPR_CALL:
    case EXPR_IF:
    case EXPR_RANGE:
    case EXPR_WHOLE:
    case EXPR_TEXT:
    case EXPR_ARRAY: return 0;
    }
    BUG("unknown ExprKind");
}

static int compare_types(const Pool *pool, Type a, Type b)
{
    if (a.kind != b.kind || a.rank != b.rank)
        return order((uint64_t)a.kind << 8 | a.rank, (uint64_t)b.kind << 8 | b.rank);
    if (a.kind != TYPE_ENUM || a.enumeration == b.enumeration)
        return 0;
    const Enumeration *x = &pool->enumerations.at[a.enumeration], *y = &pool->enumerations.at[b.enumeration];
    int result = strcmp(names_of(pool->names, x->name), names_of(pool->names, y->name));
    for (uint32_t k = 0; result == 0 && k < x->n && k < y->n; k++)
        result = strcmp(names_of(pool->names, x->values[k]), names_of(pool->names, y->values[k]));
    return result ? result : order(x->n, y->n);
}

int expr_compare(const Pool *pool, const Expr *a, const Expr *b)
{
    if (a == b)
        return 0;
    int result = order((uint64_t)a->kind << 16 | (uint64_t)a->op << 8 | a->is_literal,
                       (uint64_t)b->kind << 16 | (uint64_t)b->op << 8 | b->is_literal);
    if (result == 0)
        result = order((uint64_t)a->result << 32 | a->element, (uint64_t)b->result << 32 | b->element);
    if (result == 0)
        result = compare_types(pool, a->type, b->type);
    if (result == 0)
        result = compare_payload(pool, a, b);
    if (result == 0)
        result = order(a->n_args, b->n_args);
    for (uint32_t k = 0; result == 0 && k < a->n_args; k++)
        result = expr_compare(pool, a->args[k], b->args[k]);
    return result;
}

/* Small expressions are renumbered without a memo: sharing inside one equation is rare and shallow. */
static const Expr *renumber(Pool *pool, const Expr *e, const uint32_t *map, Memo *seen)
{
    uint32_t known;
    if (e->n_leaves == 0)
        return e;
    if (seen && memo_get(seen, e, &known))
        return pool_node(pool, known);
    Expr head = *e;
    if (e->kind == EXPR_LEAF)
        head.u.leaf = map[e->u.leaf];
    const Expr *few[8];
    const Expr **args = e->n_args <= 8 ? few : NEW_ARRAY(pool->arena, const Expr *, e->n_args);
    for (uint32_t k = 0; k < e->n_args; k++)
        args[k] = renumber(pool, e->args[k], map, seen);
    const Expr *result = pool_intern(pool, &head, args);
    if (seen)
        memo_put(seen, e, result->id);
    return result;
}

const Expr *expr_renumber(Pool *pool, const Expr *e, const uint32_t *map)
{
    enum { SMALL_DEPTH = 12 };
    if (e->depth <= SMALL_DEPTH)
        return renumber(pool, e, map, NULL);
    Memo seen;
    memo_begin(&seen, NULL);
    const Expr *result = renumber(pool, e, map, &seen);
    memo_end(&seen);
    return result;
}
