/* Interval code of functions of the time: every value and every difference quotient at points of an interval lies in
 * what the code says of the whole of it. Random code, compared with an evaluation in long double. */
#include "assertions.h"
#include "runtime/support/interval.h"
#include "koine/ops.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS = 24, FIRST = 6, POINTS = 12 };

static uint64_t seed = 1;
static double uniform(void) /* [0, 1) */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) * 0x1p-53;
}
static uint32_t below(uint32_t n)
{
    return (uint32_t)(uniform() * n);
}
static double some_number(void)
{
    static const double special[] = { 0, 1, -1, 2, 0.5, 3, -2, 10, 1e-3, 314.1592653589793 };
    return below(2) ? special[below(10)] : (uniform() - 0.5) * pow(10, 4 * uniform() - 1);
}

/* As koine_lookup: y = 1, 3, 2 at 0, 1, 2, held outside, linear between. */
static const double TABLE[] = { 3, 0, 0,      1, 2,  /**/ 0, 1, 0,      0, 0, /**/ 0, 1, 2,
                                0, 0, /**/ 1, 3, -1, 0,      0, /**/ 2, 2, 0, 0,      0 };
static const double *const TABLES[] = { TABLE };

static long double reference_table(long double a)
{
    return a <= 0 ? 1 : a <= 1 ? 1 + 2 * a : a <= 2 ? 3 - (a - 1) : 2;
}

/* The same instruction on exact numbers; NAN: no value. */
static long double reference(const KoineTimeCode *code, const KoineSlot *inputs, uint32_t k, long double time,
                             const long double *cells)
{
    const KoineTimeInstruction *i = &code->instructions[k];
    const bool is_leaf = i->op <= KOINE_TIME_INTEGER;
    const long double a = is_leaf ? 0 : cells[i->a], b = is_leaf || i->b == KOINE_NONE ? 0 : cells[i->b];
    if (!is_leaf && i->op != KOINE_TIME_IF && (i->op < KOINE_TIME_GREATER || i->op > KOINE_TIME_EQUAL) &&
        (isnan(a) || isnan(b)))
        return NAN;
    switch ((KoineTimeOp)i->op) {
    case KOINE_TIME_NUMBER: return code->numbers[i->a];
    case KOINE_TIME_NOW: return time;
    case KOINE_TIME_REAL: return inputs[i->a].r;
    case KOINE_TIME_INTEGER: return (long double)inputs[i->a].i;
    case KOINE_TIME_NEG: return -a;
    case KOINE_TIME_ADD: return a + b;
    case KOINE_TIME_SUB: return a - b;
    case KOINE_TIME_MUL: return a * b;
    case KOINE_TIME_DIV: return a / b;
    case KOINE_TIME_POW: return powl(a, b);
    case KOINE_TIME_ABS: return fabsl(a);
    case KOINE_TIME_MIN: return b < a ? b : a;
    case KOINE_TIME_MAX: return b > a ? b : a;
    case KOINE_TIME_SIGN: return (a > 0) - (a < 0);
    case KOINE_TIME_FLOOR: return floorl(a);
    case KOINE_TIME_CEIL: return ceill(a);
    case KOINE_TIME_TRUNC: return truncl(a);
    case KOINE_TIME_ROUND: return roundl(a);
    case KOINE_TIME_SQRT: return sqrtl(a);
    case KOINE_TIME_EXP: return expl(a);
    case KOINE_TIME_LOG: return logl(a);
    case KOINE_TIME_LOG10: return log10l(a);
    case KOINE_TIME_SIN: return sinl(a);
    case KOINE_TIME_COS: return cosl(a);
    case KOINE_TIME_TAN: return tanl(a);
    case KOINE_TIME_ASIN: return asinl(a);
    case KOINE_TIME_ACOS: return acosl(a);
    case KOINE_TIME_ATAN: return atanl(a);
    case KOINE_TIME_ATAN2: return atan2l(a, b);
    case KOINE_TIME_SINH: return sinhl(a);
    case KOINE_TIME_COSH: return coshl(a);
    case KOINE_TIME_TANH: return tanhl(a);
    case KOINE_TIME_NOT: return a > 0 ? 0 : 1;
    case KOINE_TIME_AND: return a > 0 && b > 0;
    case KOINE_TIME_OR: return a > 0 || b > 0;
    case KOINE_TIME_GREATER: return a > b;
    case KOINE_TIME_GREATER_EQUAL: return a >= b;
    case KOINE_TIME_EQUAL: return a == b;
    case KOINE_TIME_IF: return isnan(a) ? NAN : a > 0 ? b : cells[i->c];
    case KOINE_TIME_TABLE:
    case KOINE_TIME_BROKEN: return reference_table(a);
    case KOINE_TIME_OPS: break;
    }
    return NAN;
}

static bool is_truth(KoineTimeOp op)
{
    return op == KOINE_TIME_NOT || op == KOINE_TIME_AND || op == KOINE_TIME_OR;
}

static void make_code(KoineTimeInstruction *at)
{
    at[0] = (KoineTimeInstruction){ KOINE_TIME_NOW, 0, KOINE_NONE, 0 };
    at[1] = (KoineTimeInstruction){ KOINE_TIME_NUMBER, 0, KOINE_NONE, 0 };
    at[2] = (KoineTimeInstruction){ KOINE_TIME_NUMBER, 1, KOINE_NONE, 0 };
    at[3] = (KoineTimeInstruction){ KOINE_TIME_REAL, 0, KOINE_NONE, 0 };
    at[4] = (KoineTimeInstruction){ KOINE_TIME_INTEGER, 1, KOINE_NONE, 0 };
    at[5] = (KoineTimeInstruction){ KOINE_TIME_GREATER, 0, 1, 0 };
    for (uint32_t k = FIRST; k < CELLS; k++) {
        const uint32_t op = KOINE_TIME_NEG + below(KOINE_TIME_OPS - KOINE_TIME_NEG);
        const bool is_one = op == KOINE_TIME_NEG || op == KOINE_TIME_ABS ||
                            (op >= KOINE_TIME_SIGN && op <= KOINE_TIME_ATAN) ||
                            (op >= KOINE_TIME_SINH && op <= KOINE_TIME_NOT) || op >= KOINE_TIME_TABLE;
        at[k] = (KoineTimeInstruction){ op, below(3) ? below(k) : 0, is_one ? KOINE_NONE : below(k), below(k) };
        if (is_truth((KoineTimeOp)op) || op == KOINE_TIME_IF)
            at[k].a = 5;
        if (is_truth((KoineTimeOp)op) && !is_one)
            at[k].b = 5;
        if (op >= KOINE_TIME_TABLE)
            at[k].c = 0;
    }
}

/* Everything that is checked of one cell at two points of the interval; `largest` number it was computed from. */
static bool holds(const Cell *cell, long double a, long double b, double distance, long double largest)
{
    const long double values[2] = { a, b };
    for (int k = 0; k < 2; k++) {
        if (isnan(values[k])) {
            if (!cell->is_partial && !range_is_empty(cell->value) && isfinite(cell->value.lo + cell->value.hi))
                return false;
        } else if (!(values[k] >= cell->value.lo && values[k] <= cell->value.hi)) {
            return false;
        }
    }
    if (isnan(a) || isnan(b) || !isfinite((double)a) || !isfinite((double)b) || distance < 1e-7)
        return true;
    const long double quotient = (b - a) / distance, error = 1e-16L * largest / distance + 1e-9L * fabsl(quotient);
    return quotient >= cell->slope.lo - error && quotient <= cell->slope.hi + error;
}

/* Cells that are said to be the same have the same value, or one of them has none. */
static void check_same(const Cell *cells, const long double *values)
{
    for (uint32_t k = 0; k < CELLS; k++) {
        const int32_t same = cells[k].same;
        assert_true(same != 0 && abs(same) <= (int32_t)k + 1);
        const long double one = values[k], other = same < 0 ? -values[-same - 1] : values[same - 1];
        assert_true(isnan(one) || isnan(other) || one == other);
    }
}

static void check_code(const KoineTimeCode *code, const KoineSlot *inputs, Range time)
{
    Cell cells[CELLS];
    long double values[POINTS][CELLS];
    double points[POINTS];
    koine_time_evaluate(code, inputs, time, cells);
    for (int n = 0; n < POINTS; n++) {
        points[n] = n == 0 ? time.lo : n == 1 ? time.hi : fmin(time.hi, time.lo + uniform() * (time.hi - time.lo));
        for (uint32_t k = 0; k < CELLS; k++)
            values[n][k] = reference(code, inputs, k, points[n], values[n]);
        check_same(cells, values[n]);
    }
    long double largest = 1;
    for (uint32_t k = 0; k < CELLS; k++)
        for (int n = 1; n < POINTS; n++) {
            for (int j = n - 1; j <= n; j++)
                largest = fabsl(values[j][k]) > largest ? fabsl(values[j][k]) : largest;
            const bool rises = points[n] >= points[n - 1];
            const double distance = fabs(points[n] - points[n - 1]);
            assertion_made();
            if (!holds(&cells[k], values[rises ? n - 1 : n][k], values[rises ? n : n - 1][k], distance, largest)) {
                print_error("cell %u, operation %u, of [%.17g, %.17g]: value [%.17g, %.17g], slope [%g, %g]; %.20Lg at "
                            "%.17g, %.20Lg at %.17g\n",
                            (unsigned)k, (unsigned)code->instructions[k].op, time.lo, time.hi, cells[k].value.lo,
                            cells[k].value.hi, cells[k].slope.lo, cells[k].slope.hi, values[n - 1][k], points[n - 1],
                            values[n][k], points[n]);
                fail();
            }
        }
}

static void test_intervals_hold_all_values_and_slopes(void **state)
{
    (void)state;
    KoineTimeInstruction instructions[CELLS];
    double numbers[2];
    for (int round = 0; round < 20000; round++) {
        numbers[0] = some_number();
        numbers[1] = some_number();
        const KoineSlot inputs[2] = { { .r = some_number() }, { .i = (int64_t)below(7) - 3 } };
        make_code(instructions);
        const KoineTimeCode code = { CELLS, CELLS - 1, KOINE_NONE, instructions, numbers, TABLES };
        const double from = some_number();
        check_code(&code, inputs, (Range){ from, from + (below(8) ? pow(10, 14 * uniform() - 12) : 0) });
    }
}

/* ---- hostile operands ---- */
static Cell of(KoineTimeOp op, Range a, Range b)
{
    const KoineTimeInstruction instructions[] = { { KOINE_TIME_NOW, 0, KOINE_NONE, 0 },
                                                  { KOINE_TIME_NUMBER, 0, KOINE_NONE, 0 },
                                                  { op, 0, isnan(b.lo) ? KOINE_NONE : 1, 0 } };
    const double numbers[] = { b.lo };
    const KoineTimeCode code = { 3, 2, KOINE_NONE, instructions, numbers, TABLES };
    Cell cells[3];
    koine_time_evaluate(&code, NULL, a, cells);
    return cells[2];
}

static void test_division_by_an_interval_with_0_says_nothing(void **state)
{
    (void)state;
    const KoineTimeInstruction instructions[] = { { KOINE_TIME_NUMBER, 0, KOINE_NONE, 0 },
                                                  { KOINE_TIME_NOW, 0, KOINE_NONE, 0 },
                                                  { KOINE_TIME_DIV, 0, 1, 0 } };
    const double numbers[] = { 1 };
    const KoineTimeCode code = { 3, 2, KOINE_NONE, instructions, numbers, NULL };
    Cell cells[3];
    koine_time_evaluate(&code, NULL, (Range){ -1, 1 }, cells);
    assert_true(cells[2].value.lo == -INFINITY && cells[2].value.hi == INFINITY);
    assert_true(cells[2].slope.lo == -INFINITY && cells[2].slope.hi == INFINITY);
}

static void test_hostile_operands(void **state)
{
    (void)state;
    const Range none = { NAN, NAN };
    for (uint32_t op = KOINE_TIME_NEG; op < KOINE_TIME_OPS; op++) {
        static const Range ranges[] = { { -INFINITY, INFINITY }, { NAN, NAN },     { -DBL_MAX, DBL_MAX },
                                        { 1e300, INFINITY },     { 0, 0 },         { -0x1p-1074, 0 },
                                        { 1e15, 1e15 },          { -1e308, 1e308 } };
        static const double numbers[] = { 0, -1, 0.5, INFINITY, -INFINITY, 1e308, -3, 0x1p-1074 };
        for (uint32_t k = 0; k < 8; k++)
            for (uint32_t j = 0; j < 9; j++) {
                if (op == KOINE_TIME_IF || (op >= KOINE_TIME_GREATER && op <= KOINE_TIME_EQUAL && j == 8) ||
                    (j == 8) != (op == KOINE_TIME_NEG || op == KOINE_TIME_ABS ||
                                 (op >= KOINE_TIME_SIGN && op <= KOINE_TIME_ATAN) ||
                                 (op >= KOINE_TIME_SINH && op <= KOINE_TIME_NOT) || op >= KOINE_TIME_TABLE))
                    continue;
                const Cell c = of((KoineTimeOp)op, ranges[k], j == 8 ? none : (Range){ numbers[j], numbers[j] });
                assert_true(range_is_empty(c.value) || c.value.lo <= c.value.hi);
                assert_true(c.slope.lo <= c.slope.hi);
            }
    }
    const Cell large = of(KOINE_TIME_SIN, (Range){ 1e15, 1e15 }, none); /* an ulp is an eighth: nothing can be said */
    assert_true(large.value.lo == -1 && large.value.hi == 1);
    assert_true(range_is_empty(of(KOINE_TIME_SQRT, (Range){ -2, -1 }, none).value));
    const Cell half = of(KOINE_TIME_LOG, (Range){ -1, 1 }, none);
    assert_true(half.is_partial && half.slope.lo == -INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_intervals_hold_all_values_and_slopes),
                                        cmocka_unit_test(test_division_by_an_interval_with_0_says_nothing),
                                        cmocka_unit_test(test_hostile_operands) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
