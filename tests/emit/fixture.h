/* Code built by hand, and the value of an expression by the plainest of means. */
#ifndef TESTS_EMIT_FIXTURE_H
#define TESTS_EMIT_FIXTURE_H

#include "base/bug.h"
#include "base/vec.h"
#include "emit/code.h"
#include "koine/ops.h"

typedef struct {
    Arena *arena;
    Pool *pool;
    VEC(Kernel) kernels;
    VEC(Run) runs;
    VEC(Section) sections;
    VEC(uint32_t) rows;
    const char **slot_names;
    uint32_t n_slots;
    Code code;
} Fixture;

static inline Fixture *fixture_create(uint32_t n_slots)
{
    Arena *arena = arena_create(NULL);
    Fixture *f = NEW(arena, Fixture);
    f->arena = arena;
    f->pool = pool_create(arena, names_create(arena));
    f->n_slots = n_slots;
    f->slot_names = NEW_ARRAY(arena, const char *, n_slots);
    return f;
}

static inline void fixture_destroy(Fixture *f)
{
    arena_destroy(f->arena);
}

static inline uint32_t add_kernel(Fixture *f, uint32_t n_outputs, const Expr *const *outputs, uint32_t n_leaves)
{
    const Expr **own = NEW_ARRAY(f->arena, const Expr *, n_outputs);
    memcpy(own, outputs, n_outputs * sizeof *own);
    vec_push(f->arena, &f->kernels,
             ((Kernel){ .n_outputs = n_outputs,
                        .n_leaves = n_leaves,
                        .width = n_outputs + n_leaves,
                        .outputs = own,
                        .is_shared = true }));
    return f->kernels.n - 1;
}

static inline void make_affine(Fixture *f, uint32_t kernel, const int32_t *strides)
{
    Kernel *k = &f->kernels.at[kernel];
    int32_t *own = NEW_ARRAY(f->arena, int32_t, k->width);
    memcpy(own, strides, k->width * sizeof *own);
    k->strides = own;
}

static inline uint32_t add_rows(Fixture *f, const uint32_t *row, uint32_t n_words)
{
    const uint32_t first = f->rows.n;
    for (uint32_t k = 0; k < n_words; k++)
        vec_push(f->arena, &f->rows, row[k]);
    return first;
}

static inline void begin_section(Fixture *f, const char *name)
{
    vec_push(f->arena, &f->sections, ((Section){ name, f->runs.n, 0 }));
}

static inline void add_run_at(Fixture *f, uint32_t kernel, uint32_t row, uint32_t n, const char *comment)
{
    vec_push(f->arena, &f->runs, ((Run){ kernel, row, n, comment }));
    f->sections.at[f->sections.n - 1].n_runs++;
}

static inline void add_run(Fixture *f, uint32_t kernel, const uint32_t *row, uint32_t n_words, uint32_t n,
                           const char *comment)
{
    add_run_at(f, kernel, add_rows(f, row, n_words), n, comment);
}

/* One equation: output slot and leaf slots. */
static inline void add_equation(Fixture *f, uint32_t output, const Expr *e, uint32_t n_leaves, const uint32_t *leaves,
                                const char *comment)
{
    const uint32_t kernel = add_kernel(f, 1, &e, n_leaves);
    const uint32_t row = add_rows(f, &output, 1);
    add_rows(f, leaves, n_leaves);
    add_run_at(f, kernel, row, 1, comment);
}

static inline const Code *fixture_code(Fixture *f, const char *model_name)
{
    f->code = (Code){ .pool = f->pool,
                      .model_name = model_name,
                      .n_kernels = f->kernels.n,
                      .n_runs = f->runs.n,
                      .n_sections = f->sections.n,
                      .n_rows = f->rows.n,
                      .n_slots = f->n_slots,
                      .kernels = f->kernels.at,
                      .runs = f->runs.at,
                      .sections = f->sections.at,
                      .rows = f->rows.at,
                      .slot_names = f->slot_names,
                      .derivatives_section = KOINE_NONE };
    return &f->code;
}

/* ---- shorthands ---- */
static inline const Expr *leaf(Fixture *f, uint32_t k)
{
    return expr_leaf(f->pool, k, REAL_TYPE);
}
static inline const Expr *real(Fixture *f, double value)
{
    return expr_real(f->pool, value);
}
static inline const Expr *op1(Fixture *f, Op op, const Expr *a)
{
    return expr_unary(f->pool, op, a);
}
static inline const Expr *op2(Fixture *f, Op op, const Expr *a, const Expr *b)
{
    return expr_binary(f->pool, op, a, b);
}

static inline void run_section(const KoineCode *code, uint32_t section, KoineSlot *m, const uint32_t *rows)
{
    if (code->sections)
        code->sections[section](m, rows);
    else
        code->run_section(code->context, section, m);
}
static inline void run_kernel(const KoineCode *code, uint32_t kernel, KoineSlot *m, const uint32_t *row, uint32_t n)
{
    if (code->kernels)
        code->kernels[kernel](m, row, n);
    else
        code->run_kernel(code->context, kernel, m, row, n);
}

/* ---- reference ---- */
static inline KoineSlot reference(const Expr *e, const KoineSlot *leaves, int64_t iterator);

static inline KoineSlot reference_call(const Expr *e, const KoineSlot *leaves, int64_t iterator)
{
    const KoineSlot x = reference(e->args[0], leaves, iterator);
    const KoineSlot y = e->n_args > 1 ? reference(e->args[1], leaves, iterator) : x;
    const bool is_real = e->args[0]->type.kind == TYPE_REAL;
#define R(value)                     ((KoineSlot){ .r = (value) })
#define I(value)                     ((KoineSlot){ .i = (value) })
#define S(real_value, integer_value) (is_real ? R(real_value) : I(integer_value))
    switch ((Op)e->op) {
    case OP_NEG: return S(-x.r, koine_ineg(x.i));
    case OP_ADD: return S(x.r + y.r, koine_iadd(x.i, y.i));
    case OP_SUB: return S(x.r - y.r, koine_isub(x.i, y.i));
    case OP_MUL: return S(x.r * y.r, koine_imul(x.i, y.i));
    case OP_DIV: return R(x.r / y.r);
    case OP_POW: return R(pow(x.r, y.r));
    case OP_MIX: return I(koine_mix(x.i, y.i));
    case OP_RANDOM: return R(koine_random(x.i, y.i));
    case OP_IDIV: return I(koine_idiv(x.i, y.i));
    case OP_IMOD: return I(koine_imod(x.i, y.i));
    case OP_AT_LEAST: return R(koine_at_least(x.r, y.r));
    case OP_NARROW: return I(koine_narrow(x.i));
    case OP_REAL: return R(koine_real(x.i));
    case OP_NUMBER: return x;
    case OP_NOT: return I(!x.i);
    case OP_AND: return I(x.i && y.i);
    case OP_OR: return I(x.i || y.i);
    case OP_LT: return I(is_real ? x.r < y.r : x.i < y.i);
    case OP_LE: return I(is_real ? x.r <= y.r : x.i <= y.i);
    case OP_GT: return I(is_real ? x.r > y.r : x.i > y.i);
    case OP_GE: return I(is_real ? x.r >= y.r : x.i >= y.i);
    case OP_EQ: return I(is_real ? x.r == y.r : x.i == y.i);
    case OP_NE: return I(is_real ? x.r != y.r : x.i != y.i);
    case OP_ABS: return S(fabs(x.r), koine_iabs(x.i));
    case OP_MIN: return S(koine_rmin(x.r, y.r), koine_imin(x.i, y.i));
    case OP_MAX: return S(koine_rmax(x.r, y.r), koine_imax(x.i, y.i));
    case OP_SIGN: return S(koine_rsign(x.r), koine_isign(x.i));
    case OP_FLOOR: return R(floor(x.r));
    case OP_CEIL: return R(ceil(x.r));
    case OP_TRUNC: return R(trunc(x.r));
    case OP_ROUND: return R(round(x.r));
    case OP_IFLOOR: return I(koine_integer(floor(x.r)));
    case OP_ICEIL: return I(koine_integer(ceil(x.r)));
    case OP_ITRUNC: return I(koine_integer(trunc(x.r)));
    case OP_IROUND: return I(koine_integer(round(x.r)));
    case OP_SQRT: return R(sqrt(x.r));
    case OP_EXP: return R(exp(x.r));
    case OP_LOG: return R(log(x.r));
    case OP_LOG10: return R(log10(x.r));
    case OP_SIN: return R(sin(x.r));
    case OP_COS: return R(cos(x.r));
    case OP_TAN: return R(tan(x.r));
    case OP_ASIN: return R(asin(x.r));
    case OP_ACOS: return R(acos(x.r));
    case OP_ATAN: return R(atan(x.r));
    case OP_ATAN2: return R(atan2(x.r, y.r));
    case OP_SINH: return R(sinh(x.r));
    case OP_COSH: return R(cosh(x.r));
    case OP_TANH: return R(tanh(x.r));
    case OP_HOMOTOPY: return x;
    case OP_ELEMENT:
    case OP_COUNT: break;
    }
#undef R
#undef I
#undef S
    BUG("no operation");
}

static inline KoineSlot reference(const Expr *e, const KoineSlot *leaves, int64_t iterator)
{
    switch ((ExprKind)e->kind) {
    case EXPR_REAL: return (KoineSlot){ .r = e->u.real };
    case EXPR_INTEGER:
    case EXPR_BOOLEAN:
    case EXPR_ENUM: return (KoineSlot){ .i = e->u.integer };
    case EXPR_STRING: return (KoineSlot){ .i = e->u.text.index };
    case EXPR_LEAF: return leaves[e->u.leaf];
    case EXPR_ITERATOR: return (KoineSlot){ .i = iterator };
    case EXPR_CALL: return reference_call(e, leaves, iterator);
    case EXPR_TABLE: {
        const int64_t interval = e->n_args > 1 ? reference(e->args[1], leaves, iterator).i : -1;
        return (KoineSlot){ .r = koine_lookup(e->u.table->data[e->op], interval,
                                              reference(e->args[0], leaves, iterator).r) };
    }
    case EXPR_IF: return reference(e->args[reference(e->args[0], leaves, iterator).i ? 1 : 2], leaves, iterator);
    case EXPR_REDUCE:
    case EXPR_RANGE:
    case EXPR_EACH:
    case EXPR_WHOLE:
    case EXPR_TEXT:
    case EXPR_ARRAY:
    case EXPR_FUNCTION: break;
    }
    BUG("not in a kernel");
}

/* Equal in every bit; NaN is NaN. */
static inline bool same(KoineSlot a, KoineSlot b, Type type)
{
    return a.i == b.i || (type.kind == TYPE_REAL && a.r != a.r && b.r != b.r);
}

#endif
