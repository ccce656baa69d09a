/* Expressions that are arrays: braces, ranges, arrays by a loop, operations on whole arrays; see expr.h. */
#include "base/bug.h"
#include "ir/expr.h"
#include "ir/pool.h"
#include <string.h>

typedef enum {
    RULE_PRODUCT,
    RULE_TURN,
    RULE_TWO_VECTORS,
    RULE_SPREAD,
    RULE_OUTER,
    RULE_SQUARE,
    RULE_SIZES,
    RULE_FILL,
    RULE_SPACE,
    RULE_REDUCE,
    RULE_LOGIC,
    RULE_SIZE,
    RULE_FORM,
    RULE_JOIN
} Rule;
typedef struct {
    const char *text;
    uint16_t least, most;
    uint8_t rule;
} WholeRow;

static const WholeRow rows[WHOLE_COUNT] = {
#define WHOLE(name, text, least, most, rule) { text, least, most, RULE_##rule },
#include "ir/whole.def"
#undef WHOLE
};

const char *whole_text(WholeOp op)
{
    return rows[op].text;
}

bool whole_by_text(const char *text, size_t length, WholeOp *op)
{
    for (uint32_t k = 0; k < WHOLE_COUNT; k++)
        if (strlen(rows[k].text) == length && memcmp(rows[k].text, text, length) == 0) {
            *op = (WholeOp)k;
            return true;
        }
    return false;
}

bool whole_takes(WholeOp op, uint32_t n)
{
    return n >= rows[op].least && n <= rows[op].most;
}

/* ---- types ---- */
static bool is_number(Type type)
{
    return type.kind == TYPE_REAL || type.kind == TYPE_INTEGER;
}

static bool are_sizes(uint32_t n, const Expr *const *args)
{
    for (uint32_t k = 0; k < n; k++)
        if (!type_equal(args[k]->type, INTEGER_TYPE))
            return false;
    return true;
}

static bool same_kind(Type a, Type b)
{
    return a.kind == b.kind && a.enumeration == b.enumeration;
}

/* Vectors and matrices: the last dimension of the first and the first of the second go. */
static bool type_of_product(Type a, Type b, Type *type)
{
    *type = a;
    type->rank = (uint8_t)(a.rank + b.rank - 2);
    return is_number(a) && same_kind(a, b) && a.rank >= 1 && a.rank <= 2 && b.rank >= 1 && b.rank <= 2;
}

static bool type_of_join(uint32_t n, const Expr *const *args, Type *type)
{
    if (args[0]->kind != EXPR_INTEGER || args[0]->u.integer < 1 || args[0]->u.integer > 8)
        return false;
    *type = args[1]->type;
    uint8_t rank = (uint8_t)args[0]->u.integer;
    for (uint32_t k = 1; k < n; k++) {
        if (!same_kind(args[k]->type, *type))
            return false;
        rank = args[k]->type.rank > rank ? args[k]->type.rank : rank;
    }
    type->rank = rank;
    return true;
}

bool whole_type(WholeOp op, uint32_t n, const Expr *const *args, Type *type)
{
    const Type a = args[0]->type, b = n > 1 ? args[1]->type : a;
    *type = a;
    switch ((Rule)rows[op].rule) {
    case RULE_PRODUCT: return type_of_product(a, b, type);
    case RULE_TURN: return a.rank == 2;
    case RULE_TWO_VECTORS: return a.rank == 1 && type_equal(a, b) && is_number(a);
    case RULE_SPREAD: type->rank = 2; return a.rank == 1 && is_number(a);
    case RULE_OUTER: type->rank = 2; return a.rank == 1 && type_equal(a, b) && is_number(a);
    case RULE_SQUARE: type->rank = 2; return are_sizes(1, args);
    case RULE_SIZES: type->rank = (uint8_t)n; return are_sizes(n, args);
    case RULE_FILL: type->rank = (uint8_t)(n - 1); return a.rank == 0 && are_sizes(n - 1, args + 1);
    case RULE_SPACE: type->rank = 1; return type_equal(a, REAL_TYPE) && type_equal(b, a) && are_sizes(1, args + 2);
    case RULE_REDUCE: type->rank = 0; return a.rank > 0 && is_number(a);
    case RULE_LOGIC: type->rank = 0; return a.rank > 0 && a.kind == TYPE_BOOLEAN;
    case RULE_SIZE:
        *type = INTEGER_TYPE;
        type->rank = n == 1;
        return a.rank > 0 && are_sizes(n - 1, args + 1);
    case RULE_FORM: type->rank = op == WHOLE_VECTOR ? 1 : op == WHOLE_MATRIX ? 2 : 0; return true;
    case RULE_JOIN: return type_of_join(n, args, type);
    }
    BUG("unknown rule of an operation on arrays");
}

/* ---- builders ---- */
const Expr *expr_array(Pool *pool, uint32_t n, const Expr *const *elements)
{
    REQUIRE(n > 0 && n <= UINT16_MAX);
    Type type = elements[0]->type;
    for (uint32_t k = 1; k < n; k++)
        REQUIRE(type_equal(elements[k]->type, type));
    type.rank++;
    return pool_intern(pool, &(Expr){ .kind = EXPR_ARRAY, .type = type, .n_args = (uint16_t)n, .u.integer = 0 },
                       elements);
}

const Expr *expr_range(Pool *pool, const Expr *lo, const Expr *step, const Expr *hi)
{
    const Expr *const args[] = { lo, step, hi };
    REQUIRE(are_sizes(3, args));
    Expr head = { .kind = EXPR_RANGE, .type = { TYPE_INTEGER, 1, 0 }, .n_args = 3, .u.integer = 0 };
    return pool_intern(pool, &head, args);
}

const Expr *expr_all(Pool *pool)
{
    Expr head = { .kind = EXPR_RANGE, .type = { TYPE_INTEGER, 1, 0 }, .u.integer = 0 };
    return pool_intern(pool, &head, NULL);
}

const Expr *expr_each(Pool *pool, uint32_t level, const Expr *body, const Expr *lo, const Expr *step, const Expr *hi)
{
    const Expr *const args[] = { body, lo, step, hi };
    REQUIRE(are_sizes(3, args + 1));
    Expr head = { .kind = EXPR_EACH, .type = body->type, .n_args = 4, .u.integer = 0 };
    head.type.rank++;
    head.u.iterator = level;
    return pool_intern(pool, &head, args);
}

const Expr *expr_whole(Pool *pool, WholeOp op, uint32_t n, const Expr *const *args)
{
    Expr head = { .kind = EXPR_WHOLE, .op = (uint8_t)op, .n_args = (uint16_t)n, .u.integer = 0 };
    REQUIRE(whole_takes(op, n) && whole_type(op, n, args, &head.type));
    return pool_intern(pool, &head, args);
}

const Expr *expr_array_element(const Expr *e, uint64_t number)
{
    while (e->kind == EXPR_ARRAY) {
        uint64_t below = 1;
        for (const Expr *inner = e->args[0]; inner->kind == EXPR_ARRAY; inner = inner->args[0])
            below *= inner->n_args;
        const uint64_t own = number / below;
        number %= below;
        e = e->args[own < e->n_args ? own : e->n_args - 1u];
    }
    return e;
}

bool expr_reads_value(const Expr *e, uint32_t leaf)
{
    if (e->n_leaves <= leaf)
        return false;
    if (e->kind == EXPR_LEAF && e->u.leaf == leaf)
        return true;
    const uint32_t first = e->kind == EXPR_WHOLE && e->op == WHOLE_SIZE;
    for (uint32_t k = first; k < e->n_args; k++)
        if (expr_reads_value(e->args[k], leaf))
            return true;
    return false;
}

bool expr_takes_size(const Expr *e, uint32_t k)
{
    switch ((ExprKind)e->kind) {
    case EXPR_LEAF:
    case EXPR_RANGE: return true;
    case EXPR_REDUCE:
    case EXPR_EACH: return k > 0;
    case EXPR_WHOLE:
        return e->op == WHOLE_IDENTITY || e->op == WHOLE_ZEROS || e->op == WHOLE_ONES ||
               (e->op == WHOLE_FILL && k > 0) || (e->op == WHOLE_LINSPACE && k == 2) || (e->op == WHOLE_SIZE && k == 1);
    default: return false;
    }
}
