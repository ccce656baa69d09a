/* What the rules of simplification share: literals, and the rules of sums and products. Private to simplify*.c. */
#ifndef IR_SIMPLIFY_RULES_H
#define IR_SIMPLIFY_RULES_H

#include "base/bug.h"
#include "ir/evaluate.h"

/* Which rules hold. */
typedef struct {
    Pool *pool;
    bool gather; /* the rules for derivatives */
} Rules;

/* ---- literals ---- */
static inline Value literal_value(const Expr *e)
{
    return e->kind == EXPR_REAL ? (Value){ .r = e->u.real } : (Value){ .i = e->u.integer };
}

static inline bool is_value(const Expr *e)
{
    return e->kind <= EXPR_ENUM && value_is_good(e->type, literal_value(e));
}

static inline bool is_number(const Expr *e)
{
    return (e->kind == EXPR_REAL || e->kind == EXPR_INTEGER) && is_value(e);
}

static inline bool is(const Expr *e, int number)
{
    return (e->kind == EXPR_REAL && e->u.real == number) || (e->kind == EXPR_INTEGER && e->u.integer == number);
}

static inline bool is_boolean(const Expr *e, bool value)
{
    return e->kind == EXPR_BOOLEAN && e->u.integer == value;
}

static inline bool is_negative(const Expr *e)
{
    return is_number(e) && (e->kind == EXPR_REAL ? e->u.real < 0 : e->u.integer < 0);
}

static inline bool is_call(const Expr *e, Op op)
{
    return e->kind == EXPR_CALL && e->op == op;
}

static inline const Expr *make_literal(Pool *pool, Type type, Value value)
{
    switch ((TypeKind)type.kind) {
    case TYPE_REAL: return expr_real(pool, value.r);
    case TYPE_INTEGER: return expr_integer(pool, value.i);
    case TYPE_BOOLEAN: return expr_boolean(pool, value.i != 0);
    case TYPE_ENUM: return expr_enum(pool, type.enumeration, value.i);
    case TYPE_STRING:
    case TYPE_OBJECT: break;
    }
    BUG("no literal of this type");
}

static inline const Expr *make_number(Pool *pool, Type type, int number)
{
    return make_literal(pool, type,
                        type.kind == TYPE_REAL ? (Value){ .r = (double)number } : (Value){ .i = (int64_t)number });
}

/* Where signs are moved about, the zero is the positive one. */
static inline const Expr *unsigned_zero(Pool *pool, double value)
{
    return expr_real(pool, value == 0 ? 0 : value);
}

static inline const Expr *negated_literal(Pool *pool, const Expr *e)
{
    if (e->kind == EXPR_REAL)
        return unsigned_zero(pool, -e->u.real);
    return make_literal(pool, e->type, op_evaluate(OP_NEG, e->type, (const Value[]){ literal_value(e) }));
}

/* ---- simplify_sums.c: the operation on operands that are simplified already ---- */
const Expr *simplify_neg(Rules r, const Expr *a);
const Expr *simplify_add(Rules r, const Expr *a, const Expr *b);
const Expr *simplify_sub(Rules r, const Expr *a, const Expr *b);
const Expr *simplify_mul(Rules r, const Expr *a, const Expr *b);
const Expr *simplify_divide(Rules r, const Expr *a, const Expr *b);

#endif
