/* Nanoseconds an evaluation of small right-hand sides takes in each tier, and the ratio to hand-written C. */
#include "bench_emit.h"
#include "fixture.h"
#include <stdio.h>
#include <time.h>

typedef struct {
    const char *name;
    Fixture *fixture;
    void (*by_hand)(double *m, const unsigned *rows);
    uint32_t n; /* of work, for the number of repetitions */
} Case;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Fixture *lorenz(void)
{
    Fixture *f = fixture_create(9); /* s r b x y z dx dy dz */
    static const char *const names[] = { "s", "r", "b", "x", "y", "z", "der(x)", "der(y)", "der(z)" };
    memcpy(f->slot_names, names, sizeof names);
    begin_section(f, "derivatives");
    const Expr *l0 = leaf(f, 0), *l1 = leaf(f, 1), *l2 = leaf(f, 2), *l3 = leaf(f, 3);
    add_equation(f, 6, op2(f, OP_MUL, l0, op2(f, OP_SUB, l1, l2)), 3, (uint32_t[]){ 0, 4, 3 }, "Lorenz.mdl:5");
    add_equation(f, 7, op2(f, OP_SUB, op2(f, OP_MUL, l0, op2(f, OP_SUB, l1, l2)), l3), 4, (uint32_t[]){ 3, 1, 5, 4 },
                 "Lorenz.mdl:6");
    add_equation(f, 8, op2(f, OP_SUB, op2(f, OP_MUL, l0, l1), op2(f, OP_MUL, l2, l3)), 4, (uint32_t[]){ 3, 4, 2, 5 },
                 "Lorenz.mdl:7");
    return f;
}

static Fixture *van_der_pol(void)
{
    Fixture *f = fixture_create(5); /* mu x y dx dy */
    begin_section(f, "derivatives");
    const Expr *l0 = leaf(f, 0), *l1 = leaf(f, 1), *l2 = leaf(f, 2);
    add_equation(f, 3, l0, 1, (uint32_t[]){ 2 }, "VdP.mdl:5");
    const Expr *e = op2(f, OP_SUB, real(f, 1.0), op2(f, OP_MUL, l1, l1));
    add_equation(f, 4, op2(f, OP_SUB, op2(f, OP_MUL, op2(f, OP_MUL, l0, e), l2), l1), 3, (uint32_t[]){ 0, 1, 2 },
                 "VdP.mdl:6");
    return f;
}

/* a, then T (n + 2 with the ends), then der T; kernel: a*(T[i-1] - 2*T[i] + T[i+1]) */
typedef enum { AFFINE, TABLE, SHUFFLED } Rows;
static Fixture *heat(uint32_t n, Rows rows)
{
    Fixture *f = fixture_create(1 + n + 2 + n);
    begin_section(f, "derivatives");
    const Expr *sum = op2(f, OP_ADD, op2(f, OP_SUB, leaf(f, 1), op2(f, OP_MUL, real(f, 2.0), leaf(f, 2))), leaf(f, 3));
    const Expr *e = op2(f, OP_MUL, leaf(f, 0), sum);
    const uint32_t kernel = add_kernel(f, 1, &e, 4);
    uint32_t row[] = { 1 + n + 2, 0, 1, 2, 3 };
    if (rows == AFFINE) {
        make_affine(f, kernel, (int32_t[]){ 1, 0, 1, 1, 1 });
        add_run(f, kernel, row, 5, n, "Heat.mdl:9");
        return f;
    }
    const uint32_t first = f->rows.n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t cell = rows == SHUFFLED ? (uint32_t)((uint64_t)i * 37 % n) : i;
        add_rows(f, (uint32_t[]){ 1 + n + 2 + cell, 0, 1 + cell, 2 + cell, 3 + cell }, 5);
    }
    add_run_at(f, kernel, first, n, "Heat.mdl:9");
    return f;
}

enum { N_TIERS = 3, ROUNDS = 400 };

/* Seconds one evaluation takes, over a slice of about 100 microseconds. */
static double slice(const Case *test, const KoineCode *code, KoineSlot *m, const uint32_t *rows)
{
    const uint32_t repeat = 20000 / test->n + 1;
    const double start = seconds();
    for (uint32_t i = 0; i < repeat; i++) {
        if (code)
            run_section(code, 0, m, rows);
        else
            test->by_hand(&m[0].r, rows);
    }
    return (seconds() - start) / repeat;
}

/* Slices of all tiers take turns and the best of each counts, so that other work on the machine hits all alike. */
static void measure(const Case *test)
{
    static Executable *(*const load[])(const Code *, const char **, Arena *) = { interp_load, tcc_load, cc_load };
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    Fixture *f = test->fixture;
    const Code *code = fixture_code(f, "bench");
    KoineSlot *m = NEW_ARRAY(f->arena, KoineSlot, f->n_slots);
    for (uint32_t k = 0; k < f->n_slots; k++)
        m[k].r = 1.0 + (double)k / f->n_slots;
    Executable *executables[N_TIERS];
    double best[N_TIERS + 1] = { 1, 1, 1, 1 }, loaded[N_TIERS];
    for (int t = 0; t < N_TIERS; t++) {
        const char *why = "";
        const double start = seconds();
        executables[t] = load[t](code, &why, f->arena);
        loaded[t] = seconds() - start;
        if (!executables[t])
            printf("%s: %s\n", tiers[t], why);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int t = 0; t <= N_TIERS; t++) {
            if (t < N_TIERS && !executables[t])
                continue;
            const double s = slice(test, t < N_TIERS ? executable_code(executables[t]) : NULL, m, code->rows);
            best[t] = s < best[t] ? s : best[t];
        }
    printf("%-20s C %9.2f ns", test->name, best[N_TIERS] * 1e9);
    for (int t = 0; t < N_TIERS; t++) {
        printf("  %s %9.2f (%5.2f; load %.2f ms)", tiers[t], best[t] * 1e9, best[t] / best[N_TIERS], loaded[t] * 1e3);
        executable_destroy(executables[t]);
    }
    printf("\n");
    fixture_destroy(f);
}

/* One event node: a kernel called for a single row. */
static void measure_kernel(void)
{
    Fixture *f = lorenz();
    const Code *code = fixture_code(f, "bench");
    const char *why;
    KoineSlot m[9];
    for (int k = 0; k < 9; k++)
        m[k].r = 1.0 + k;
    Executable *executable = interp_load(code, &why, f->arena);
    double best = 1;
    for (int round = 0; round < ROUNDS; round++) {
        enum { REPEAT = 10000 };
        const double start = seconds();
        for (int i = 0; i < REPEAT; i++)
            run_kernel(executable_code(executable), 1, m, code->rows + 4, 1);
        const double s = (seconds() - start) / REPEAT;
        best = s < best ? s : best;
    }
    printf("interp, kernel x*(r - z) - y called for one row: %.2f ns\n", best * 1e9);
    executable_destroy(executable);
    fixture_destroy(f);
}

int main(void)
{
    measure_kernel();
    const Case cases[] = { { "lorenz", lorenz(), hand_lorenz, 1 },
                           { "van der pol", van_der_pol(), hand_van_der_pol, 1 },
                           { "heat 100 affine", heat(100, AFFINE), hand_heat_100, 100 },
                           { "heat 100 table", heat(100, TABLE), hand_heat_100, 100 },
                           { "heat 100 shuffled", heat(100, SHUFFLED), hand_shuffled_100, 100 },
                           { "heat 10000 affine", heat(10000, AFFINE), hand_heat_10000, 10000 },
                           { "heat 10000 table", heat(10000, TABLE), hand_heat_10000, 10000 },
                           { "heat 10000 shuffled", heat(10000, SHUFFLED), hand_shuffled_10000, 10000 } };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        measure(&cases[c]);
    return 0;
}
