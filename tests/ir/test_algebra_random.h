/* Random expressions for the tests of evaluate, simplify, derive, substitute and solve, and a second opinion about
 * their values.
 *
 * Leaves 0..3 are Real, 4 and 5 Integer, 6 and 7 Boolean. Expressions share sub-expressions. All is a function of the
 * seed. The reference evaluator is recursive, in long double, and independent of src/ir/evaluate.c. With noise it
 * changes each Real result by a relative 1e-15 at random: the spread of a few such runs tells how much rounding
 * errors can matter (Vignes, Math. Comput. Simul. 35 (1993)). */
#ifndef TEST_ALGEBRA_RANDOM_H
#define TEST_ALGEBRA_RANDOM_H

#include "ir/evaluate.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { N_REAL = 4, N_INTEGER = 2, N_BOOLEAN = 2, N_LEAVES = N_REAL + N_INTEGER + N_BOOLEAN };

/* What the generator may use. */
enum {
    WITH_POWER = 1,     /* pow */
    WITH_STEPS = 2,     /* relations, if, Integers, Booleans, floor, sign ... */
    WITH_KINKS = 4,     /* abs, min, max */
    WITH_REDUCTION = 8, /* sums over a range; with WITH_STEPS also the other reductions */
    WITH_ALL = 15
};

typedef struct {
    Arena *arena;
    Pool *pool;
    uint64_t random;
    unsigned with;
    uint32_t n_iterators; /* in scope */
    const Expr *old[64];  /* Real ones without free iterators, for sharing */
    uint32_t n_old;
} Maker;

static inline Maker maker_create(uint64_t seed, unsigned with)
{
    Maker m = { .arena = arena_create(NULL), .random = seed * 0x9e3779b97f4a7c15u + 1, .with = with };
    m.pool = pool_create(m.arena, names_create(m.arena));
    return m;
}

static inline void maker_destroy(Maker *m)
{
    arena_destroy(m->arena);
}

/* splitmix64 */
static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint32_t random_below(Maker *m, uint32_t n)
{
    return (uint32_t)(random_bits(&m->random) % n);
}

static inline double random_real(Maker *m, double lo, double hi)
{
    return lo + (hi - lo) * (double)(random_bits(&m->random) >> 11) * 0x1p-53;
}

static inline const Expr *real_leaf(Maker *m, uint32_t k)
{
    return expr_leaf(m->pool, k, REAL_TYPE);
}

/* Short words for the tests. */
static inline const Expr *number(Maker *m, double value)
{
    return expr_real(m->pool, value);
}

static inline const Expr *whole(Maker *m, int64_t value)
{
    return expr_integer(m->pool, value);
}

static inline const Expr *truth(Maker *m, bool value)
{
    return expr_boolean(m->pool, value);
}

static inline const Expr *one(Maker *m, Op op, const Expr *a)
{
    return expr_unary(m->pool, op, a);
}

static inline const Expr *two(Maker *m, Op op, const Expr *a, const Expr *b)
{
    return expr_binary(m->pool, op, a, b);
}

static inline const Expr *make_real(Maker *m, uint32_t size);
static inline const Expr *make_integer(Maker *m, uint32_t size);
static inline const Expr *make_boolean(Maker *m, uint32_t size);

static inline const Expr *make_reduction(Maker *m, Op op, uint32_t size, const Expr *(*make)(Maker *, uint32_t))
{
    const uint32_t level = m->n_iterators++;
    const Expr *const body = make(m, size);
    m->n_iterators--;
    const bool is_falling = random_below(m, 4) == 0;
    const int64_t lo = 1 + random_below(m, 3), hi = lo + random_below(m, 3) - (random_below(m, 8) == 0);
    const Expr *const bounds[] = { expr_integer(m->pool, lo), expr_integer(m->pool, hi) };
    return expr_reduce(m->pool, op, level, body, bounds[is_falling], expr_integer(m->pool, is_falling ? -1 : 1),
                       bounds[!is_falling]);
}

static inline const Expr *make_real_atom(Maker *m)
{
    static const double literals[] = { 0, 1, -1, 2, 3, 4, 0.5, -2, 10, 0.1, -0.25, 7, 1e3, 1e-3, -3.5, 1.0 / 3 };
    const uint32_t choice = random_below(m, 10);
    if (choice < 3)
        return expr_real(m->pool, literals[random_below(m, sizeof literals / sizeof *literals)]);
    if (choice < 4)
        return expr_real(m->pool, random_real(m, -5, 5));
    if (choice < 5 && (m->with & WITH_STEPS))
        return expr_unary(m->pool, OP_REAL, make_integer(m, 1));
    if (choice < 6 && m->n_iterators)
        return expr_unary(m->pool, OP_REAL, expr_iterator(m->pool, random_below(m, m->n_iterators)));
    return real_leaf(m, random_below(m, N_REAL));
}

/* One of the Real operations; those that are often undefined get an operand that suits them. */
static inline const Expr *make_real_operation(Maker *m, uint32_t size)
{
    static const Op arithmetic[] = { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_ADD, OP_SUB, OP_MUL, OP_NEG };
    static const Op smooth[] = { OP_SQRT, OP_EXP,  OP_LOG,   OP_LOG10, OP_SIN,  OP_COS,  OP_TAN,     OP_ASIN,
                                 OP_ACOS, OP_ATAN, OP_ATAN2, OP_SINH,  OP_COSH, OP_TANH, OP_HOMOTOPY };
    static const Op kinked[] = { OP_ABS, OP_MIN, OP_MAX };
    static const Op stepped[] = { OP_SIGN, OP_FLOOR, OP_CEIL, OP_TRUNC, OP_ROUND };
    static const double exponents[] = { 2, 3, 4, -1, 0.5, 0, 1, 2.5, -2, 1.5 };
    Pool *const pool = m->pool;
    Op op = arithmetic[random_below(m, 8)];
    const uint32_t choice = random_below(m, 12);
    if (choice < 4)
        op = smooth[random_below(m, sizeof smooth / sizeof *smooth)];
    else if (choice == 4 && (m->with & WITH_KINKS))
        op = kinked[random_below(m, 3)];
    else if (choice == 5 && (m->with & WITH_STEPS))
        op = stepped[random_below(m, 5)];
    else if (choice == 6 && (m->with & WITH_STEPS))
        return expr_if(pool, make_boolean(m, size / 3), make_real(m, size / 3), make_real(m, size / 3));
    else if (choice == 7 && (m->with & WITH_POWER)) {
        const Expr *const exponent =
            random_below(m, 5) ? expr_real(pool, exponents[random_below(m, 10)]) : make_real(m, size / 2);
        return expr_binary(pool, OP_POW, make_real(m, size / 2), exponent);
    } else if (choice == 8 && (m->with & WITH_REDUCTION) && m->n_iterators < 2) {
        static const Op all[] = { OP_ADD, OP_ADD, OP_MUL, OP_MIN, OP_MAX };
        return make_reduction(m, m->with & WITH_STEPS ? all[random_below(m, 5)] : OP_ADD, size - 1, make_real);
    }
    const Expr *a = make_real(m, op_arity(op) == 1 ? size - 1 : size / 2);
    if ((op == OP_ASIN || op == OP_ACOS) && random_below(m, 4))
        a = expr_unary(pool, OP_SIN, a);
    if (op == OP_EXP || op == OP_SINH || op == OP_COSH)
        a = random_below(m, 2) ? expr_unary(pool, OP_SIN, a) : a;
    if ((op == OP_SQRT || op == OP_LOG || op == OP_LOG10) && random_below(m, 4))
        a = expr_binary(pool, OP_ADD, expr_binary(pool, OP_MUL, a, a), expr_real(pool, 1));
    return op_arity(op) == 1 ? expr_unary(pool, op, a) : expr_binary(pool, op, a, make_real(m, size / 2));
}

static inline const Expr *make_real(Maker *m, uint32_t size)
{
    if (size <= 1)
        return make_real_atom(m);
    if (m->n_old && m->n_iterators == 0 && random_below(m, 6) == 0)
        return m->old[random_below(m, m->n_old)];
    const Expr *const e = make_real_operation(m, size);
    if (m->n_iterators == 0 && m->n_old < 64)
        m->old[m->n_old++] = e;
    return e;
}

static inline const Expr *make_integer(Maker *m, uint32_t size)
{
    static const Op binary[] = { OP_ADD, OP_SUB, OP_MUL, OP_IDIV, OP_IMOD, OP_MIN, OP_MAX };
    static const Op unary[] = { OP_NEG, OP_ABS, OP_SIGN };
    static const Op of_real[] = { OP_IFLOOR, OP_ICEIL, OP_ITRUNC, OP_IROUND };
    Pool *const pool = m->pool;
    const uint32_t choice = random_below(m, 12);
    if (size <= 1 || choice == 0) {
        if (m->n_iterators && random_below(m, 3) == 0)
            return expr_iterator(pool, random_below(m, m->n_iterators));
        return random_below(m, 2) ? expr_integer(pool, (int64_t)random_below(m, 7) - 3)
                                  : expr_leaf(pool, N_REAL + random_below(m, N_INTEGER), INTEGER_TYPE);
    }
    if (choice < 6)
        return expr_binary(pool, binary[random_below(m, 7)], make_integer(m, size / 2), make_integer(m, size / 2));
    if (choice < 8)
        return expr_unary(pool, unary[random_below(m, 3)], make_integer(m, size - 1));
    if (choice < 9)
        return expr_unary(pool, OP_NUMBER, make_boolean(m, size - 1));
    if (choice < 10)
        return expr_if(pool, make_boolean(m, size / 3), make_integer(m, size / 3), make_integer(m, size / 3));
    if (choice < 11 && m->n_iterators < 2 && (m->with & WITH_REDUCTION)) {
        static const Op all[] = { OP_ADD, OP_MUL, OP_MIN, OP_MAX };
        return make_reduction(m, all[random_below(m, 4)], size - 1, make_integer);
    }
    return expr_unary(pool, of_real[random_below(m, 4)], make_real(m, size - 1));
}

static inline const Expr *make_boolean(Maker *m, uint32_t size)
{
    Pool *const pool = m->pool;
    const uint32_t choice = random_below(m, 12);
    const Op relation = (Op)(OP_LT + random_below(m, OP_NE - OP_LT + 1));
    if (size <= 1 || choice == 0)
        return random_below(m, 3) ? expr_leaf(pool, N_REAL + N_INTEGER + random_below(m, N_BOOLEAN), BOOLEAN_TYPE)
                                  : expr_boolean(pool, random_below(m, 2));
    if (choice < 2)
        return expr_unary(pool, OP_NOT, make_boolean(m, size - 1));
    if (choice < 4)
        return expr_binary(pool, choice == 2 ? OP_AND : OP_OR, make_boolean(m, size / 2), make_boolean(m, size / 2));
    if (choice < 5)
        return expr_if(pool, make_boolean(m, size / 3), make_boolean(m, size / 3), make_boolean(m, size / 3));
    if (choice < 6)
        return expr_binary(pool, random_below(m, 2) ? OP_EQ : OP_NE, make_boolean(m, size / 2),
                           make_boolean(m, size / 2));
    if (choice < 8)
        return expr_binary(pool, relation, make_integer(m, size / 2), make_integer(m, size / 2));
    if (choice < 9 && m->n_iterators < 2 && (m->with & WITH_REDUCTION))
        return make_reduction(m, random_below(m, 2) ? OP_AND : OP_OR, size - 1, make_boolean);
    return random_below(m, 2) ? expr_binary(pool, relation, make_real(m, size / 2), make_real(m, size / 2))
                              : expr_literal_relation(pool, relation, make_real(m, size / 2), make_real(m, size / 2));
}

static inline void make_leaves(Maker *m, Value *leaves)
{
    static const double special[] = { 0, 1, -1, 2, 0.5 };
    for (uint32_t k = 0; k < N_REAL; k++)
        leaves[k].r = random_below(m, 5) ? random_real(m, -3, 3) : special[random_below(m, 5)];
    for (uint32_t k = N_REAL; k < N_REAL + N_INTEGER; k++)
        leaves[k].i = (int64_t)random_below(m, 9) - 4;
    for (uint32_t k = N_REAL + N_INTEGER; k < N_LEAVES; k++)
        leaves[k].i = random_below(m, 2);
}

/* ---- the reference ---- */
typedef struct {
    const Value *leaves;
    long double reals[N_REAL]; /* instead of leaves */
    int64_t iterators[8];
    uint64_t *noise; /* NULL: none */
    bool is_bad;     /* some value on the way was not finite, or out of the range where double is like long double */
    bool is_tie;     /* abs, min or max just at the kink */
    bool has_many_steps; /* floor(1000*x) and the like: steps too near to each other for differences */
    bool is_zero_atan2;  /* atan2(0, b), about: the sign of the zero matters */
} Reference;

static inline long double reference(Reference *r, const Expr *e);

static inline long double reference_reduce(Reference *r, const Expr *e)
{
    const int64_t lo = (int64_t)reference(r, e->args[1]), step = (int64_t)reference(r, e->args[2]),
                  hi = (int64_t)reference(r, e->args[3]);
    long double value = e->op == OP_MUL || e->op == OP_AND;
    bool is_first = true;
    for (int64_t i = lo; step > 0 ? i <= hi : i >= hi; i += step) {
        r->iterators[e->u.iterator] = i;
        const long double body = reference(r, e->args[0]);
        if (e->op == OP_ADD)
            value += body;
        if (e->op == OP_MUL)
            value *= body;
        if (e->op == OP_AND)
            value = value != 0 && body != 0;
        if (e->op == OP_OR)
            value = value != 0 || body != 0;
        if (e->op == OP_MIN)
            value = is_first || body < value ? body : value;
        if (e->op == OP_MAX)
            value = is_first || body > value ? body : value;
        is_first = false;
    }
    if (is_first && (e->op == OP_MIN || e->op == OP_MAX))
        return NAN;
    return value;
}

static inline long double reference_call(Reference *r, const Expr *e)
{
    const long double a = reference(r, e->args[0]);
    const long double b = e->n_args > 1 ? reference(r, e->args[1]) : 0;
    r->is_tie |= (e->op == OP_ABS && a == 0) || ((e->op == OP_MIN || e->op == OP_MAX) && a == b);
    r->has_many_steps |= e->op >= OP_FLOOR && e->op <= OP_IROUND && fabsl(a) > 50;
    switch ((Op)e->op) {
    case OP_NEG: return -a;
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV: return a / b;
    case OP_POW: return powl(a, b);
    case OP_IDIV: return truncl(a / b);
    case OP_IMOD: return fmodl(a, b);
    case OP_AT_LEAST:
    case OP_NARROW:
    case OP_REAL:
    case OP_NUMBER:
    case OP_HOMOTOPY: return a;
    case OP_NOT: return a == 0;
    case OP_AND: return a != 0 && b != 0;
    case OP_OR: return a != 0 || b != 0;
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    case OP_GE: return a >= b;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_ABS: return fabsl(a);
    case OP_MIN: return a < b ? a : b;
    case OP_MAX: return a > b ? a : b;
    case OP_SIGN: return (a > 0) - (a < 0);
    case OP_FLOOR:
    case OP_IFLOOR: return floorl(a);
    case OP_CEIL:
    case OP_ICEIL: return ceill(a);
    case OP_TRUNC:
    case OP_ITRUNC: return truncl(a);
    case OP_ROUND:
    case OP_IROUND: return roundl(a);
    case OP_SQRT: return sqrtl(a);
    case OP_EXP: return expl(a);
    case OP_LOG: return logl(a);
    case OP_LOG10: return log10l(a);
    case OP_SIN: return sinl(a);
    case OP_COS: return cosl(a);
    case OP_TAN: return tanl(a);
    case OP_ASIN: return asinl(a);
    case OP_ACOS: return acosl(a);
    case OP_ATAN: return atanl(a);
    case OP_MIX:
    case OP_RANDOM: break; /* of Integers */
    case OP_ATAN2: r->is_zero_atan2 |= fabsl(a) < 1e-12L; return atan2l(a, b);
    case OP_SINH: return sinhl(a);
    case OP_COSH: return coshl(a);
    case OP_TANH: return tanhl(a);
    case OP_ELEMENT:
    case OP_COUNT: break;
    }
    fail_msg("unknown Op");
    return 0;
}

static inline long double reference(Reference *r, const Expr *e)
{
    long double value = 0;
    switch ((ExprKind)e->kind) {
    case EXPR_REAL: return e->u.real;
    case EXPR_INTEGER:
    case EXPR_BOOLEAN:
    case EXPR_ENUM: return e->u.integer;
    case EXPR_LEAF: return e->type.kind == TYPE_REAL ? r->reals[e->u.leaf] : (long double)r->leaves[e->u.leaf].i;
    case EXPR_ITERATOR: return r->iterators[e->u.iterator];
    case EXPR_CALL: value = reference_call(r, e); break;
    case EXPR_IF: value = reference(r, e->args[reference(r, e->args[0]) != 0 ? 1 : 2]); break;
    case EXPR_REDUCE: value = reference_reduce(r, e); break;
    case EXPR_STRING:
    case EXPR_RANGE:
    case EXPR_EACH:
    case EXPR_WHOLE:
    case EXPR_TEXT:
    case EXPR_ARRAY:
    case EXPR_TABLE:
    case EXPR_FUNCTION: fail_msg("not scalar");
    }
    r->is_bad |= !isfinite(value) || fabsl(value) > 1e100L || (value != 0 && fabsl(value) < 1e-100L);
    if (e->type.kind == TYPE_INTEGER)
        r->is_bad |= fabsl(value) > 0x1p62L;
    else if (e->type.kind == TYPE_REAL && r->noise)
        value *= 1 + 1e-15L * ((long double)(random_bits(r->noise) >> 11) * 0x1p-52L - 1);
    return value;
}

static inline Reference make_reference(const Value *leaves, uint64_t *noise)
{
    Reference r = { .leaves = leaves, .noise = noise };
    for (uint32_t k = 0; k < N_REAL; k++)
        r.reals[k] = leaves[k].r;
    return r;
}

/* How far rounding can move the value: the largest of eight noisy deviations. */
static inline double rounding_spread(const Expr *e, const Value *leaves, uint64_t seed)
{
    Reference exact = make_reference(leaves, NULL);
    const long double value = reference(&exact, e);
    long double spread = 0;
    for (uint32_t k = 0; k < 8; k++) {
        Reference noisy = make_reference(leaves, &seed);
        const long double deviation = fabsl(reference(&noisy, e) - value);
        if (!(deviation <= spread) && !isnan(spread))
            spread = deviation;
    }
    return (double)spread;
}

/* Distinct nodes. */
static inline uint32_t count_nodes(Maker *m, const Expr *e)
{
    uint8_t *const seen = NEW_ARRAY(m->arena, uint8_t, pool_count(m->pool));
    const Expr **const stack = NEW_ARRAY(m->arena, const Expr *, pool_count(m->pool) + 1);
    uint32_t n = 0, n_stack = 0;
    stack[n_stack++] = e;
    seen[e->id] = 1;
    while (n_stack) {
        const Expr *const top = stack[--n_stack];
        n++;
        for (uint32_t k = 0; k < top->n_args; k++)
            if (!seen[top->args[k]->id]) {
                seen[top->args[k]->id] = 1;
                stack[n_stack++] = top->args[k];
            }
    }
    return n;
}

/* For messages: the expression as text (a tree: small ones only). */
static inline void print_expr(const Expr *e)
{
    switch ((ExprKind)e->kind) {
    case EXPR_REAL: printf("%.17g", e->u.real); return;
    case EXPR_INTEGER:
    case EXPR_BOOLEAN:
    case EXPR_ENUM: printf("%lldi", (long long)e->u.integer); return;
    case EXPR_LEAF: printf("x%u", e->u.leaf); break;
    case EXPR_ITERATOR: printf("i%u", e->u.iterator); return;
    case EXPR_CALL: printf("%s%s", op_text((Op)e->op), e->is_literal ? "!" : ""); break;
    case EXPR_IF: printf("if"); break;
    case EXPR_REDUCE: printf("reduce i%u %s", e->u.iterator, op_text((Op)e->op)); break;
    case EXPR_RANGE:
    case EXPR_EACH:
    case EXPR_WHOLE:
    case EXPR_ARRAY: printf("array"); break;
    case EXPR_TEXT: printf("text operation"); break;
    case EXPR_FUNCTION: printf("f"); break;
    case EXPR_TABLE: printf("table%u", e->u.table->index); break;
    case EXPR_STRING: printf("text"); return;
    }
    if (e->n_args == 0)
        return;
    printf("(");
    for (uint32_t k = 0; k < e->n_args; k++) {
        if (k)
            printf(", ");
        print_expr(e->args[k]);
    }
    printf(")");
}

#endif
