/* All tiers give the same bits: each operation on special values, and random expressions in every
 * form of execution (straight-line, single kernel call, run by table, affine run, iterator). */
#include "assertions.h"
#include "emit/tiers.h"
#include "fixture.h"
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static Executable *load(const Tier *tier, const Code *code, Arena *arena)
{
    const char *why = NULL;
    Executable *executable = tier->load(code, NULL, &why, arena);
    if (!executable)
        fail_msg("%s: %s", tier->name, why);
    return executable;
}

/* It takes some tenths of a second for each text. */
static bool needs_compiler(const Tier *tier)
{
    return tier->load == cc_load_until;
}

/* ---- values ---- */
static const double reals[] = { 0.0,       -0.0,     1.0,      -1.0,    0.5,    -0.5,
                                1.5,       2.5,      -2.5,     3.14159, -7.25,  1e300,
                                1e-300,    -1e-300,  4.9e-324, 1e19,    -1e19,  9007199254740993.0,
                                1e308,     -1.7e308, 0.1,      710.0,   -745.2, 2.0,
                                123456.789 };
static const double odd_reals[] = { INFINITY, -INFINITY, NAN };
static const int64_t integers[] = {
    0, 1, -1, 2, -2, 7, -7, 63, 1000003, INT64_MAX, INT64_MIN, INT64_MIN + 1, 1ll << 53, (1ll << 53) + 1
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t state;
static uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state * 0x2545f4914f6cdd1du) >> 33) % n;
}

/* leaves 0..3 Real, 4..6 Integer, 7..8 Boolean */
enum { N_LEAVES = 9, FIRST_INTEGER = 4, FIRST_BOOLEAN = 7 };
static KoineSlot random_leaf(uint32_t k)
{
    KoineSlot value;
    if (k < FIRST_INTEGER) {
        const uint32_t which = random_below(10);
        if (which == 0)
            value.r = odd_reals[random_below(COUNT(odd_reals))];
        else if (which < 4)
            value.r = reals[random_below(COUNT(reals))];
        else
            value.r = ((double)random_below(2000001) - 1e6) / (1u << random_below(24));
    } else if (k < FIRST_BOOLEAN)
        value.i = random_below(3) ? (int64_t)random_below(21) - 10 : integers[random_below(COUNT(integers))];
    else
        value.i = random_below(2);
    return value;
}

/* ---- random expressions ---- */
typedef struct {
    Fixture *f;
    bool has_iterator;
    const Expr *made[3][32]; /* by type: what may be shared */
    uint32_t n_made[3];
} Maker;

static const Expr *make(Maker *mk, TypeKind type, int depth);

static const Expr *make_leaf(Maker *mk, TypeKind type)
{
    Pool *pool = mk->f->pool;
    const bool is_literal = random_below(4) == 0;
    switch (type) {
    case TYPE_REAL:
        return is_literal ? expr_real(pool, reals[random_below(COUNT(reals))])
                          : expr_leaf(pool, random_below(FIRST_INTEGER), REAL_TYPE);
    case TYPE_INTEGER:
        if (mk->has_iterator && random_below(3) == 0)
            return expr_iterator(pool, 0);
        return is_literal ? expr_integer(pool, integers[random_below(COUNT(integers))])
                          : expr_leaf(pool, FIRST_INTEGER + random_below(FIRST_BOOLEAN - FIRST_INTEGER), INTEGER_TYPE);
    default:
        return is_literal ? expr_boolean(pool, random_below(2))
                          : expr_leaf(pool, FIRST_BOOLEAN + random_below(N_LEAVES - FIRST_BOOLEAN), BOOLEAN_TYPE);
    }
}

static const Expr *make_call(Maker *mk, TypeKind type, int depth)
{
    static const Op real_ops[] = { OP_NEG,   OP_ADD,  OP_SUB,   OP_MUL,   OP_DIV,     OP_ADD,  OP_SUB,
                                   OP_MUL,   OP_POW,  OP_REAL,  OP_ABS,   OP_MIN,     OP_MAX,  OP_SIGN,
                                   OP_FLOOR, OP_CEIL, OP_TRUNC, OP_ROUND, OP_SQRT,    OP_EXP,  OP_LOG,
                                   OP_LOG10, OP_SIN,  OP_COS,   OP_TAN,   OP_ASIN,    OP_ACOS, OP_ATAN,
                                   OP_ATAN2, OP_SINH, OP_COSH,  OP_TANH,  OP_HOMOTOPY };
    static const Op integer_ops[] = { OP_NEG, OP_ADD, OP_SUB,  OP_MUL,    OP_IDIV,  OP_IMOD,   OP_NUMBER, OP_ABS,
                                      OP_MIN, OP_MAX, OP_SIGN, OP_IFLOOR, OP_ICEIL, OP_ITRUNC, OP_IROUND };
    static const Op boolean_ops[] = { OP_NOT, OP_AND, OP_OR, OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE };
    const Op op = type == TYPE_REAL      ? real_ops[random_below(COUNT(real_ops))]
                  : type == TYPE_INTEGER ? integer_ops[random_below(COUNT(integer_ops))]
                                         : boolean_ops[random_below(COUNT(boolean_ops))];
    TypeKind from = type;
    if (op == OP_REAL)
        from = TYPE_INTEGER;
    else if (op == OP_NUMBER)
        from = TYPE_BOOLEAN;
    else if (op >= OP_IFLOOR && op <= OP_IROUND)
        from = TYPE_REAL;
    else if (op_is_relation(op))
        from = random_below(3) ? TYPE_REAL : random_below(2) ? TYPE_INTEGER : TYPE_BOOLEAN;
    const Expr *args[2];
    for (uint32_t k = 0; k < op_arity(op); k++)
        args[k] = make(mk, from, depth - 1);
    return expr_call(mk->f->pool, op, op_arity(op), args);
}

/* Tables take their argument anywhere, and frozen intervals of any number. */
static const Expr *make_table(Maker *mk, int depth)
{
    static const double x[] = { -3, -0.5, 0, 1, 20 }, y[] = { 2, 1.5, -1, 0.25, 3 };
    const Table points = {
        .method = (uint8_t)random_below(5), .outside = (uint8_t)random_below(3), .n = 5, .x = x, .y = y
    };
    const Table *table = pool_table(mk->f->pool, &points);
    const Expr *argument = make(mk, TYPE_REAL, depth - 1);
    const Expr *interval = random_below(2) ? make(mk, TYPE_INTEGER, depth - 1) : NULL;
    return expr_table(mk->f->pool, table, random_below(TABLE_ORDERS), argument, interval);
}

static const Expr *make(Maker *mk, TypeKind type, int depth)
{
    if (mk->n_made[type] && random_below(5) == 0)
        return mk->made[type][random_below(mk->n_made[type])];
    if (depth <= 0 || random_below(8) == 0)
        return make_leaf(mk, type);
    const Expr *e;
    if (type == TYPE_REAL && random_below(12) == 0) {
        e = make_table(mk, depth);
    } else if (random_below(6) == 0) {
        const Expr *condition = make(mk, TYPE_BOOLEAN, depth - 1), *then = make(mk, type, depth - 1);
        e = expr_if(mk->f->pool, condition, then, make(mk, type, depth - 1));
    } else
        e = make_call(mk, type, depth);
    if (mk->n_made[type] < 32)
        mk->made[type][mk->n_made[type]++] = e;
    return e;
}

/* ---- a model of random kernels ---- */
typedef struct {
    uint32_t kernel, row, n;
    bool is_affine;
} Use;
enum { KERNELS = 60, MOST_OUTPUTS = 3 };
static const uint32_t sizes[] = { 1, 2, 3, 5, 130 };

/* Slots: leaves of all elements first, outputs after. Each kernel is run once with each size. */
typedef struct {
    Fixture *f;
    VEC(Use) uses;
    uint32_t first_output;
    KoineSlot *m;
} Model;

static void add_use(Model *model, uint32_t kernel, uint32_t n, uint32_t *next_output)
{
    Fixture *f = model->f;
    const Kernel *k = &f->kernels.at[kernel];
    uint32_t row[MOST_OUTPUTS + N_LEAVES + 1];
    const uint32_t first = f->rows.n;
    for (uint32_t i = 0; i < (k->strides ? 1 : n); i++) {
        for (uint32_t o = 0; o < k->n_outputs; o++)
            row[o] = k->strides ? *next_output + o * n * 2 : (*next_output)++;
        for (uint32_t l = 0; l < N_LEAVES;
             l++) /* slot j*N_LEAVES + l has the type of leaf l; some columns do not move */
            row[k->n_outputs + l] = (k->strides ? 3 : (l % 3 == 0 ? 5 : random_below(200))) * N_LEAVES + l;
        row[k->width] = (uint32_t)(int32_t)(random_below(100) - 50);
        add_rows(f, row, k->width + k->has_iterator);
    }
    if (k->strides)
        *next_output += k->n_outputs * n * 2;
    add_run_at(f, kernel, first, n, "Random.mdl:1");
    vec_push(f->arena, &model->uses, ((Use){ kernel, first, n, k->strides != NULL }));
}

static Model *random_model(uint64_t seed)
{
    state = seed * 0x9e3779b97f4a7c15u + 1;
    Fixture *f = fixture_create(100000);
    Model *model = NEW(f->arena, Model);
    model->f = f;
    model->first_output = 200 * N_LEAVES;
    uint32_t next_output = model->first_output;
    begin_section(f, "everything");
    for (uint32_t k = 0; k < KERNELS; k++) {
        Maker mk = { .f = f, .has_iterator = random_below(4) == 0 };
        const Expr *outputs[MOST_OUTPUTS];
        const uint32_t n_outputs = 1 + random_below(MOST_OUTPUTS);
        for (uint32_t o = 0; o < n_outputs; o++)
            outputs[o] = make(&mk, (TypeKind)random_below(3), 1 + (int)random_below(6));
        const uint32_t kernel = add_kernel(f, n_outputs, outputs, N_LEAVES);
        f->kernels.at[kernel].has_iterator = mk.has_iterator;
        if (random_below(2)) {
            int32_t strides[MOST_OUTPUTS + N_LEAVES];
            for (uint32_t o = 0; o < n_outputs; o++)
                strides[o] = 1 + (int32_t)random_below(2);
            for (uint32_t l = 0; l < N_LEAVES; l++)
                strides[n_outputs + l] = l % 4 == 3 ? 0 : N_LEAVES;
            make_affine(f, kernel, strides);
            f->kernels.at[kernel].iterator_stride = (int32_t)random_below(5) - 2;
        }
        for (uint32_t s = 0; s < COUNT(sizes); s++)
            add_use(model, kernel, sizes[s], &next_output);
    }
    assert_true(next_output < f->n_slots);
    model->m = NEW_ARRAY(f->arena, KoineSlot, f->n_slots);
    for (uint32_t k = 0; k < model->first_output; k++)
        model->m[k] = random_leaf(k % N_LEAVES);
    return model;
}

static void check_use(const Model *model, const Use *use, const KoineSlot *m, const char *tier, const char *how)
{
    const Kernel *k = &model->f->kernels.at[use->kernel];
    const uint32_t *rows = model->f->rows.at + use->row;
    for (uint32_t i = 0; i < use->n; i++) {
        KoineSlot leaves[N_LEAVES];
        const uint32_t *row = use->is_affine ? rows : rows + i * (k->width + k->has_iterator);
        int64_t iterator = 0;
        if (k->has_iterator)
            iterator = (int32_t)row[k->width] + (use->is_affine ? (int64_t)i * k->iterator_stride : 0);
        for (uint32_t l = 0; l < N_LEAVES; l++)
            leaves[l] = m[row[k->n_outputs + l] + (use->is_affine ? i * (uint32_t)k->strides[k->n_outputs + l] : 0)];
        for (uint32_t o = 0; o < k->n_outputs; o++) {
            const KoineSlot wanted = reference(k->outputs[o], leaves, iterator);
            const KoineSlot got = m[row[o] + (use->is_affine ? i * (uint32_t)k->strides[o] : 0)];
            if (!same(wanted, got, k->outputs[o]->type))
                fail_msg("%s, %s: kernel %u, n %u, element %u, output %u: %.17g %lld instead of %.17g %lld", tier, how,
                         use->kernel, use->n, i, o, got.r, (long long)got.i, wanted.r, (long long)wanted.i);
        }
    }
}

static void clear_outputs(const Model *model, KoineSlot *m)
{
    for (uint32_t k = model->first_output; k < model->f->n_slots; k++)
        m[k].i = 0x7ff8dead;
}

static void check_model(const Model *model, const Tier *tier)
{
    const Code *code = fixture_code(model->f, "random");
    Executable *executable = load(tier, code, model->f->arena);
    const KoineCode *loaded = executable_code(executable);
    KoineSlot *m = NEW_ARRAY(model->f->arena, KoineSlot, model->f->n_slots);
    memcpy(m, model->m, model->f->n_slots * sizeof *m);
    clear_outputs(model, m);
    run_section(loaded, 0, m, code->rows);
    for (uint32_t u = 0; u < model->uses.n; u++)
        check_use(model, &model->uses.at[u], m, tier->name, "section");
    clear_outputs(model, m);
    for (uint32_t u = 0; u < model->uses.n; u++) {
        const Use *use = &model->uses.at[u];
        run_kernel(loaded, use->kernel, m, code->rows + use->row, use->n);
        check_use(model, use, m, tier->name, "kernel");
    }
    executable_destroy(executable);
}

static void random_expressions(void **unused)
{
    (void)unused;
    const char *more = getenv("KOINE_SEEDS"); /* a longer search: KOINE_SEEDS=2000 */
    const uint64_t last = more ? strtoull(more, NULL, 10) : 40;
    for (uint64_t seed = 1; seed <= last; seed++) {
        Model *model = random_model(seed);
        for (uint32_t t = 0; tier_at(t); t++)
            if (!needs_compiler(tier_at(t)) || seed <= 2)
                check_model(model, tier_at(t));
        fixture_destroy(model->f);
    }
}

/* ---- each operation ---- */
static void add_operation(Fixture *f, Op op, TypeKind type)
{
    const Type of = { (uint8_t)type, 0, 0 };
    const Expr *args[] = { expr_leaf(f->pool, 0, of), expr_leaf(f->pool, 1, of) };
    const Expr *e = expr_call(f->pool, op, op_arity(op), args);
    add_kernel(f, 1, &e, 2);
}

static bool takes(Op op, TypeKind type)
{
    switch (op) {
    case OP_NEG:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_ABS:
    case OP_MIN:
    case OP_MAX:
    case OP_SIGN: return type == TYPE_REAL || type == TYPE_INTEGER;
    case OP_IDIV:
    case OP_IMOD:
    case OP_NARROW:
    case OP_REAL: return type == TYPE_INTEGER;
    case OP_MIX:
    case OP_RANDOM: return type == TYPE_INTEGER;
    case OP_ELEMENT: return false; /* its second argument has a type of its own */
    case OP_NUMBER:
    case OP_NOT:
    case OP_AND:
    case OP_OR: return type == TYPE_BOOLEAN;
    default: return op_is_relation(op) || type == TYPE_REAL;
    }
}

static KoineSlot special(TypeKind type, uint32_t k)
{
    if (type == TYPE_REAL)
        return (KoineSlot){ .r = k < COUNT(reals) ? reals[k] : odd_reals[k - COUNT(reals)] };
    return (KoineSlot){ .i = type == TYPE_INTEGER ? integers[k] : (int64_t)k };
}

static void each_operation(void **unused)
{
    (void)unused;
    static const uint32_t n_special[] = { COUNT(reals) + COUNT(odd_reals), COUNT(integers), 2 };
    Fixture *f = fixture_create(3);
    TypeKind types[3 * OP_COUNT];
    for (uint32_t op = 0; op < OP_COUNT; op++)
        for (TypeKind type = TYPE_REAL; type <= TYPE_BOOLEAN; type++)
            if (takes((Op)op, type)) {
                types[f->kernels.n] = type;
                add_operation(f, (Op)op, type);
            }
    const Code *code = fixture_code(f, "operations");
    const uint32_t row[] = { 2, 0, 1 };
    for (uint32_t t = 0; tier_at(t); t++) {
        Executable *executable = load(tier_at(t), code, f->arena);
        for (uint32_t k = 0; k < f->kernels.n; k++) {
            const Expr *e = f->kernels.at[k].outputs[0];
            for (uint32_t a = 0; a < n_special[types[k]]; a++)
                for (uint32_t b = 0; b < (e->n_args > 1 ? n_special[types[k]] : 1); b++) {
                    KoineSlot m[3] = { special(types[k], a), special(types[k], b), { .i = 0 } };
                    run_kernel(executable_code(executable), k, m, row, 1);
                    const KoineSlot wanted = reference(e, m, 0);
                    fail_if(!same(m[2], wanted, e->type),
                            "%s: %s(%.17g %lld, %.17g %lld) is %.17g %lld instead of %.17g %lld", tier_at(t)->name,
                            op_text((Op)e->op), m[0].r, (long long)m[0].i, m[1].r, (long long)m[1].i, m[2].r,
                            (long long)m[2].i, wanted.r, (long long)wanted.i);
                }
        }
        executable_destroy(executable);
    }
    fixture_destroy(f);
}

/* ---- runs whose elements depend on each other go in order ---- */
static void recurrences(void **unused)
{
    (void)unused;
    enum { N = 300 };
    for (int by_table = 0; by_table < 2; by_table++) {
        Fixture *f = fixture_create(N + 1);
        const Expr *e = op2(f, OP_ADD, leaf(f, 0), real(f, 1.0));
        const uint32_t kernel = add_kernel(f, 1, &e, 1);
        begin_section(f, "chain");
        if (by_table) {
            const uint32_t first = f->rows.n;
            for (uint32_t i = 0; i < N; i++)
                add_rows(f, (uint32_t[]){ i + 1, i }, 2);
            add_run_at(f, kernel, first, N, NULL);
        } else {
            make_affine(f, kernel, (int32_t[]){ 1, 1 });
            add_run(f, kernel, (uint32_t[]){ 1, 0 }, 2, N, NULL);
        }
        const Code *code = fixture_code(f, "chain");
        for (uint32_t t = 0; tier_at(t); t++) {
            KoineSlot m[N + 1] = { { .r = 0.0 } };
            Executable *executable = load(tier_at(t), code, f->arena);
            run_section(executable_code(executable), 0, m, code->rows);
            assert_true(m[N].r == N);
            executable_destroy(executable);
        }
        fixture_destroy(f);
    }
}

/* x[i+1] = x[i] + x[5]: a leaf that does not move is changed on the way. */
static void recurrence_with_fixed_leaf(void **unused)
{
    (void)unused;
    enum { N = 20 };
    Fixture *f = fixture_create(N + 1);
    const Expr *e = op2(f, OP_ADD, leaf(f, 0), leaf(f, 1));
    const uint32_t kernel = add_kernel(f, 1, &e, 2);
    make_affine(f, kernel, (int32_t[]){ 1, 1, 0 });
    begin_section(f, "chain");
    add_run(f, kernel, (uint32_t[]){ 1, 0, 5 }, 3, N, NULL);
    const Code *code = fixture_code(f, "chain");
    double x[N + 1] = { 1.0, 0, 0, 0, 0, 100.0 };
    for (int i = 0; i < N; i++)
        x[i + 1] = x[i] + x[5];
    for (uint32_t t = 0; tier_at(t); t++) {
        KoineSlot m[N + 1] = { { .r = 1.0 } };
        m[5].r = 100.0;
        Executable *executable = load(tier_at(t), code, f->arena);
        run_section(executable_code(executable), 0, m, code->rows);
        for (int i = 0; i <= N; i++)
            assert_true(m[i].r == x[i]);
        executable_destroy(executable);
    }
    fixture_destroy(f);
}

/* ---- IF evaluates the chosen side only: seen by the flag of a division by zero ---- */
static void if_is_lazy(void **unused)
{
    (void)unused;
    Fixture *f = fixture_create(3);
    const Expr *divided = op2(f, OP_DIV, real(f, 1.0), leaf(f, 1));
    const Expr *e = expr_if(f->pool, expr_leaf(f->pool, 0, BOOLEAN_TYPE), op2(f, OP_ADD, divided, divided), leaf(f, 1));
    begin_section(f, "lazy");
    add_equation(f, 2, e, 2, (uint32_t[]){ 0, 1 }, "Lazy.mdl:1");
    const Code *code = fixture_code(f, "lazy");
    for (uint32_t t = 0; tier_at(t); t++) {
        Executable *executable = load(tier_at(t), code, f->arena);
        for (int condition = 0; condition < 2; condition++)
            for (int how = 0; how < 2; how++) {
                KoineSlot m[3] = { { .i = condition }, { .r = 0.0 }, { .r = -1.0 } };
                feclearexcept(FE_ALL_EXCEPT);
                if (how)
                    run_kernel(executable_code(executable), 0, m, code->rows, 1);
                else
                    run_section(executable_code(executable), 0, m, code->rows);
                assert_int_equal(fetestexcept(FE_DIVBYZERO) != 0, condition);
                assert_true(m[2].r == (condition ? INFINITY : 0.0));
            }
        executable_destroy(executable);
    }
    fixture_destroy(f);
}

/* ---- the whole derivatives part in one call ---- */
static void derivatives_in_one_call(void **unused)
{
    (void)unused;
    Fixture *f = fixture_create(40);
    const Expr *e = op2(f, OP_MUL, leaf(f, 0), real(f, 3.0));
    const uint32_t kernel = add_kernel(f, 1, &e, 1);
    begin_section(f, "roots");
    begin_section(f, "derivatives");
    add_run(f, kernel, (uint32_t[]){ 20, 0, 25, 1, 22, 2, 29, 3 }, 8, 4, "One.mdl:1"); /* needs the rows */
    Code code = *fixture_code(f, "one");
    code.derivatives_section = 1;
    const struct {
        const uint32_t *rows;
    } handles = { code.rows };
    for (uint32_t t = 1; tier_at(t); t++) {
        KoineSlot m[40] = { { .r = 1.0 }, { .r = 2.0 }, { .r = 3.0 }, { .r = 4.0 } };
        KoineModel model = { .block = (unsigned char *)m, .size = sizeof m, .handles = (void *)&handles };
        Executable *executable = load(tier_at(t), &code, f->arena);
        assert_non_null(executable_code(executable)->derivatives);
        assert_int_equal(executable_code(executable)->derivatives(&model), KOINE_OK);
        assert_true(m[20].r == 3.0 && m[25].r == 6.0 && m[22].r == 9.0 && m[29].r == 12.0);
        executable_destroy(executable);
    }
    fixture_destroy(f);
}

/* ---- threads: one executable, many blocks; many loads at once ---- */
typedef struct {
    const Model *model;
    const KoineCode *loaded;
    bool is_same;
} Worker;

static void *work(void *at)
{
    Worker *worker = at;
    const Model *model = worker->model;
    const Code *code = &model->f->code;
    const size_t bytes = model->f->n_slots * sizeof(KoineSlot);
    KoineSlot *m = malloc(bytes), *again = malloc(bytes);
    worker->is_same = true;
    memcpy(m, model->m, bytes);
    run_section(worker->loaded, 0, m, code->rows);
    for (int k = 0; k < 20 && worker->is_same; k++) {
        Arena *arena = arena_create(NULL);
        Executable *own = load(tier_at(1), code, arena); /* tcc */
        memcpy(again, model->m, bytes);
        run_section(k % 2 ? worker->loaded : executable_code(own), 0, again, code->rows);
        for (uint32_t s = 0; s < model->f->n_slots; s++)
            worker->is_same &= same(m[s], again[s], REAL_TYPE);
        executable_destroy(own);
        arena_destroy(arena);
    }
    free(m);
    free(again);
    return NULL;
}

static void threads(void **unused)
{
    (void)unused;
    enum { N = 4 };
    Model *model = random_model(77);
    Executable *executable = load(tier_at(0), fixture_code(model->f, "random"), model->f->arena);
    pthread_t ids[N];
    Worker workers[N];
    for (int k = 0; k < N; k++) {
        workers[k] = (Worker){ model, executable_code(executable), false };
        assert_int_equal(pthread_create(&ids[k], NULL, work, &workers[k]), 0);
    }
    for (int k = 0; k < N; k++) {
        pthread_join(ids[k], NULL);
        assert_true(workers[k].is_same);
    }
    executable_destroy(executable);
    fixture_destroy(model->f);
}

/* ---- sharing ---- */
/* s(k+1) = if c(k) then s(k)*s(k) + 1 else s(k) - s(k)*0.5: without sharing 3^60 operations. */
static void sharing_is_kept(void **unused)
{
    (void)unused;
    enum { LEVELS = 60 };
    Fixture *f = fixture_create(3);
    const Expr *s = leaf(f, 0);
    for (int k = 0; k < LEVELS; k++) {
        const Expr *condition = op2(f, OP_LT, s, op2(f, OP_ADD, leaf(f, 1), real(f, k * 0.01)));
        const Expr *then = op2(f, OP_ADD, op2(f, OP_MUL, s, s), real(f, 0.25));
        s = expr_if(f->pool, condition, then, op2(f, OP_SUB, s, op2(f, OP_MUL, s, real(f, 0.5))));
    }
    begin_section(f, "shared");
    add_equation(f, 2, s, 2, (uint32_t[]){ 0, 1 }, "Shared.mdl:1");
    const Code *code = fixture_code(f, "shared");
    double x = 0.3;
    for (int k = 0; k < LEVELS; k++)
        x = x < 0.7 + k * 0.01 ? x * x + 0.25 : x - x * 0.5;
    for (uint32_t t = 0; tier_at(t); t++) {
        KoineSlot m[3] = { { .r = 0.3 }, { .r = 0.7 }, { .r = 0 } };
        Executable *executable = load(tier_at(t), code, f->arena);
        run_section(executable_code(executable), 0, m, code->rows);
        assert_true(m[2].r == x);
        m[2].r = 0;
        run_kernel(executable_code(executable), 0, m, code->rows, 1);
        assert_true(m[2].r == x);
        executable_destroy(executable);
    }
    fixture_destroy(f);
}

/* ---- size ---- */
/* Thousands of values alive at once, a deep sum, many outputs: more than fits a frame. */
static void large_equations(void **unused)
{
    (void)unused;
    enum { TERMS = 12000, DEEP = 3000 };
    Fixture *f = fixture_create(4);
    const Expr **terms = NEW_ARRAY(f->arena, const Expr *, TERMS);
    for (uint32_t k = 0; k < TERMS; k++)
        terms[k] = op2(f, OP_MUL, leaf(f, 0), real(f, 1.0 + k));
    /* a balanced sum, and then the product of it and a second sum in reverse order: all terms are used twice */
    const Expr **level = NEW_ARRAY(f->arena, const Expr *, TERMS);
    const Expr *sums[2];
    for (int which = 0; which < 2; which++) {
        uint32_t n = TERMS;
        for (uint32_t k = 0; k < n; k++)
            level[k] = which ? op2(f, OP_SUB, terms[k], terms[(k * 7919u) % TERMS]) : terms[TERMS - 1 - k];
        for (; n > 1; n = (n + 1) / 2)
            for (uint32_t k = 0; k < n / 2 + n % 2; k++)
                level[k] = 2 * k + 1 < n ? op2(f, OP_ADD, level[2 * k], level[2 * k + 1]) : level[2 * k];
        sums[which] = level[0];
    }
    const Expr *deep = leaf(f, 1);
    for (uint32_t k = 0; k < DEEP; k++)
        deep = op2(f, k % 3 ? OP_ADD : OP_MUL, real(f, 0.5 + k), deep);
    const Expr *const outputs[] = { op2(f, OP_DIV, sums[0], op2(f, OP_ADD, sums[1], real(f, 1.0))), deep };
    const uint32_t kernel = add_kernel(f, 2, outputs, 2);
    begin_section(f, "large");
    add_run(f, kernel, (uint32_t[]){ 2, 3, 0, 1 }, 4, 1, "Large.mdl:1");
    const Code *code = fixture_code(f, "large");
    const KoineSlot leaves[] = { { .r = 0.7 }, { .r = 1e-3 } };
    const KoineSlot wanted[] = { reference(outputs[0], leaves, 0), reference(outputs[1], leaves, 0) };
    for (uint32_t t = 0; tier_at(t); t++) {
        if (needs_compiler(tier_at(t)))
            continue; /* gcc needs minutes for thousands of values alive at once */
        Executable *executable = load(tier_at(t), code, f->arena);
        for (int how = 0; how < 2; how++) {
            KoineSlot m[4] = { leaves[0], leaves[1], { .r = 0 }, { .r = 0 } };
            if (how)
                run_kernel(executable_code(executable), 0, m, code->rows, 1);
            else
                run_section(executable_code(executable), 0, m, code->rows);
            assert_true(same(m[2], wanted[0], REAL_TYPE) && same(m[3], wanted[1], REAL_TYPE));
        }
        executable_destroy(executable);
    }
    fixture_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation),  cmocka_unit_test(random_expressions),
        cmocka_unit_test(recurrences),     cmocka_unit_test(recurrence_with_fixed_leaf),
        cmocka_unit_test(if_is_lazy),      cmocka_unit_test(derivatives_in_one_call),
        cmocka_unit_test(threads),         cmocka_unit_test(sharing_is_kept),
        cmocka_unit_test(large_equations),
    };
    /* a cache of our own: the user's is none of a test's business */
    char cache[] = "/tmp/koine-test-XXXXXX";
    if (!mkdtemp(cache))
        return 1;
    setenv("XDG_CACHE_HOME", cache, 1);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return system(command) == 0 ? failed : 1;
}
