/* The interval code of functions of the time: one executor for all tiers. See koine/support.h, interval.h.
 *
 * Rules for slopes hold for difference quotients, too: where a function bends, the hull of both slopes; where it may
 * jump or has no value, nothing is said. */
#include "interval.h"
#include "koine/ops.h"

static const double LIBM = 4;            /* ulps that a function of libm may be off */
static const double LARGEST = 1e14;      /* argument of sin and cos of which something is said */
static const double LARGEST_POWER = 1e9; /* exponents above are not looked at as whole numbers */
static const double PI = 3.141592653589793;

static const Cell NOWHERE = { { NAN, NAN }, { 0, 0 }, true, 0 };

static const Cell UNKNOWN = { { -INFINITY, INFINITY }, { -INFINITY, INFINITY }, true, 0 };

/* What is computed from an infinite value may have none. */
static Cell cell(Range value, Range slope, bool is_partial)
{
    if (range_is_empty(value))
        return NOWHERE;
    is_partial |= !(range_size(value) <= DBL_MAX);
    return (Cell){ value, range_is_empty(slope) || is_partial ? ALL_NUMBERS : slope, is_partial, 0 };
}

/* f rises between the ends of its argument; derivative: of f by it. */
static Cell rising(double (*f)(double), const Cell *a, Range derivative)
{
    return cell(range_wide(f(a->value.lo), f(a->value.hi), LIBM), range_mul(derivative, a->slope), a->is_partial);
}

/* ---- periodic functions ---- */
/* Whether offset + k*period lies in the range for some whole k; when in doubt, yes. */
static bool holds_multiple(Range x, double offset, double period)
{
    const double lo = (x.lo - offset) / period, hi = (x.hi - offset) / period;
    const double doubt = 4 * DBL_EPSILON * (fmax(fabs(lo), fabs(hi)) + fabs(offset / period) + 1);
    return floor(lo - doubt) != floor(hi + doubt);
}

/* sin (offset pi/2) or cos (offset 0): the place of a maximum. */
static Range wave(double (*f)(double), Range x, double offset)
{
    if (!(range_size(x) <= LARGEST) || x.hi - x.lo >= 2 * PI)
        return (Range){ -1, 1 };
    const double a = f(x.lo), b = x.hi == x.lo ? a : f(x.hi);
    const Range ends = range_wide(fmin(a, b), fmax(a, b), LIBM);
    return (Range){ holds_multiple(x, offset + PI, 2 * PI) || ends.lo < -1 ? -1 : ends.lo,
                    holds_multiple(x, offset, 2 * PI) || ends.hi > 1 ? 1 : ends.hi };
}

static Cell sine(const Cell *a)
{
    return cell(wave(sin, a->value, PI / 2), range_mul(wave(cos, a->value, 0), a->slope), a->is_partial);
}

static Cell cosine(const Cell *a)
{
    return cell(wave(cos, a->value, 0), range_mul(range_neg(wave(sin, a->value, PI / 2)), a->slope), a->is_partial);
}

static Cell tangent(const Cell *a)
{
    if (!(range_size(a->value) <= LARGEST) || a->value.hi - a->value.lo >= PI || holds_multiple(a->value, PI / 2, PI))
        return UNKNOWN;
    const Range value = range_wide(tan(a->value.lo), tan(a->value.hi), LIBM);
    return cell(value, range_mul(range_add(range_square(value), (Range){ 1, 1 }), a->slope), a->is_partial);
}

/* ---- functions with a limited domain ---- */
static Cell square_root(const Cell *a)
{
    if (a->value.hi < 0)
        return NOWHERE;
    const bool is_partial = a->is_partial || a->value.lo < 0;
    const Range value = range_wide(a->value.lo > 0 ? sqrt(a->value.lo) : 0, sqrt(a->value.hi), 1);
    return cell(value, range_div(a->slope, range_add(value, value)), is_partial);
}

static Cell logarithm(const Cell *a, double (*f)(double), double factor)
{
    if (a->value.hi < 0)
        return NOWHERE;
    const bool is_partial = a->is_partial || a->value.lo < 0;
    const double lo = a->value.lo > 0 ? f(a->value.lo) : -INFINITY;
    const Range by = range_mul(range_wide(factor, factor, 1), range_div(a->slope, a->value));
    return cell(range_wide(lo, f(a->value.hi), LIBM), a->value.lo > 0 ? by : ALL_NUMBERS, is_partial);
}

/* asin, or acos, which falls. */
static Cell arc(const Cell *a, double (*f)(double), bool falls)
{
    if (a->value.hi < -1 || a->value.lo > 1)
        return NOWHERE;
    const Range x = { fmax(a->value.lo, -1), fmin(a->value.hi, 1) };
    const Range value = falls ? range_wide(f(x.hi), f(x.lo), LIBM) : range_wide(f(x.lo), f(x.hi), LIBM);
    const Range under = range_sub((Range){ 1, 1 }, range_square(x));
    if (under.lo <= 0)
        return cell(value, ALL_NUMBERS, a->is_partial || x.lo != a->value.lo || x.hi != a->value.hi);
    const Range slope = range_div(a->slope, range_wide(sqrt(under.lo), sqrt(under.hi), 1));
    return cell(value, falls ? range_neg(slope) : slope, a->is_partial);
}

/* ---- powers ---- */
/* Of exp and pow: 0 may be a number too small to be written. */
static Range beside_0(Range a)
{
    return (Range){ a.lo == 0 ? -DBL_MIN : a.lo, a.hi == 0 ? DBL_MIN : a.hi };
}

static Range whole_power(Range a, double n)
{
    const double p = pow(a.lo, n), q = pow(a.hi, n);
    if (n < 0 && range_has(a, 0))
        return ALL_NUMBERS;
    const Range ends = beside_0(range_wide(fmin(p, q), fmax(p, q), LIBM));
    return fmod(n, 2) == 0 ? (Range){ range_has(a, 0) ? 0 : fmax(ends.lo, 0), ends.hi } : ends;
}

/* Of a base that is not negative: the largest and the least value are at corners. */
static Range corner_power(Range a, Range b)
{
    Range value = NO_NUMBER;
    for (int k = 0; k < 4; k++) {
        const double p = pow(k & 1 ? a.hi : a.lo, k & 2 ? b.hi : b.lo);
        value = range_hull(value, range_wide(p, p, LIBM));
    }
    return range_is_empty(value) ? value : (Range){ fmax(value.lo, 0), beside_0(value).hi };
}

static Cell power(const Cell *a, const Cell *b)
{
    const bool is_partial = a->is_partial || b->is_partial, is_fixed = b->value.lo == b->value.hi;
    const Range base = a->value, n = b->value;
    if (is_fixed && n.lo == floor(n.lo) && fabs(n.lo) < LARGEST_POWER) {
        if (n.lo == 0)
            return cell((Range){ 1, 1 }, (Range){ 0, 0 }, is_partial);
        if (n.lo < 0 && range_has(base, 0))
            return UNKNOWN;
        const Range by = n.lo == 1 ? (Range){ 1, 1 } : range_mul(n, whole_power(base, n.lo - 1));
        return cell(n.lo == 1 ? base : whole_power(base, n.lo), range_mul(by, a->slope), is_partial);
    }
    if (is_fixed && base.hi < 0 && base.lo >= -DBL_MAX && n.lo != floor(n.lo))
        return NOWHERE;
    if (base.lo < 0)
        return UNKNOWN;
    const Range value = corner_power(base, n);
    if (base.lo == 0 || range_is_empty(value))
        return cell(range_is_empty(value) ? ALL_NUMBERS : value, ALL_NUMBERS, is_partial);
    const Range by_base = range_mul(range_mul(n, corner_power(base, range_sub(n, (Range){ 1, 1 }))), a->slope);
    if (range_is(b->slope, 0))
        return cell(value, by_base, is_partial);
    const Range log_base = range_wide(log(base.lo), log(base.hi), LIBM);
    return cell(value, range_add(by_base, range_mul(range_mul(value, log_base), b->slope)), is_partial);
}

/* ---- arithmetic ---- */
static bool is_zero(const Cell *a)
{
    return range_is(a->value, 0) && range_is(a->slope, 0) && !a->is_partial;
}

static Cell negated(const Cell *a)
{
    return (Cell){ range_neg(a->value), range_neg(a->slope), a->is_partial, -a->same };
}

static Cell sum(const Cell *a, const Cell *b)
{
    const bool is_partial = a->is_partial || b->is_partial;
    if (is_zero(a) || is_zero(b))
        return is_zero(a) ? *b : *a;
    if (a->same == -b->same && a->same != 0)
        return cell((Range){ 0, 0 }, (Range){ 0, 0 }, is_partial);
    return cell(range_add(a->value, b->value), range_add(a->slope, b->slope), is_partial);
}

static Cell difference(const Cell *a, const Cell *b)
{
    const Cell minus = negated(b);
    return sum(a, &minus);
}

static Cell product(const Cell *a, const Cell *b)
{
    const bool is_partial = a->is_partial || b->is_partial;
    if (a == b) {
        const Range twice = range_mul((Range){ 2, 2 }, a->value);
        return cell(range_square(a->value), range_mul(twice, a->slope), is_partial);
    }
    return cell(range_mul(a->value, b->value), range_add(range_mul(a->value, b->slope), range_mul(a->slope, b->value)),
                is_partial);
}

static Cell quotient(const Cell *a, const Cell *b)
{
    const bool is_partial = a->is_partial || b->is_partial;
    if (range_is(a->value, 0) && range_is(b->value, 0))
        return NOWHERE;
    if (range_has(b->value, 0))
        return UNKNOWN;
    const Range value = range_div(a->value, b->value);
    return cell(value, range_div(range_sub(a->slope, range_mul(value, b->slope)), b->value), is_partial);
}

static Cell absolute(const Cell *a)
{
    if (a->value.lo >= 0)
        return *a;
    if (a->value.hi <= 0)
        return negated(a);
    return cell((Range){ 0, range_size(a->value) }, range_hull(a->slope, range_neg(a->slope)), a->is_partial);
}

static Cell least(const Cell *a, const Cell *b)
{
    const bool is_partial = a->is_partial || b->is_partial;
    if (a->value.hi < b->value.lo || b->value.hi < a->value.lo) {
        const Cell *one = a->value.hi < b->value.lo ? a : b;
        Cell out = cell(one->value, one->slope, is_partial);
        out.same = one->same;
        return out;
    }
    return cell((Range){ fmin(a->value.lo, b->value.lo), fmin(a->value.hi, b->value.hi) },
                range_hull(a->slope, b->slope), is_partial);
}

static Cell greatest(const Cell *a, const Cell *b)
{
    const Cell x = negated(a), y = negated(b), both = least(&x, &y);
    return negated(&both);
}

static Cell steps(double (*f)(double), const Cell *a)
{
    const double lo = f(a->value.lo), hi = f(a->value.hi);
    return cell((Range){ lo, hi }, lo == hi ? (Range){ 0, 0 } : ALL_NUMBERS, a->is_partial);
}

static double sign_of(double x)
{
    return (x > 0) - (x < 0);
}

static Cell quotient_angle(const Cell *y, const Cell *x) /* atan2(y, x) */
{
    const bool is_partial = x->is_partial || y->is_partial;
    if (x->value.lo <= 0 && range_has(y->value, 0))
        return cell((Range){ -4, 4 }, ALL_NUMBERS, is_partial);
    Range value = NO_NUMBER;
    for (int k = 0; k < 4; k++) {
        const double angle = atan2(k & 1 ? y->value.hi : y->value.lo, k & 2 ? x->value.hi : x->value.lo);
        value = range_hull(value, range_wide(angle, angle, LIBM));
    }
    const Range under = range_add(range_square(x->value), range_square(y->value));
    const Range over = range_sub(range_mul(x->value, y->slope), range_mul(y->value, x->slope));
    return cell(value, range_div(over, under), is_partial);
}

static Cell hyperbolic(const Cell *a, bool is_sinh)
{
    const double p = cosh(a->value.lo), q = cosh(a->value.hi);
    const Range ch = range_wide(range_has(a->value, 0) ? 1 : fmin(p, q), fmax(p, q), LIBM);
    const Range sh = range_wide(sinh(a->value.lo), sinh(a->value.hi), LIBM);
    return is_sinh ? cell(sh, range_mul(ch, a->slope), a->is_partial)
                   : cell(ch, range_mul(sh, a->slope), a->is_partial);
}

static Cell hyperbolic_tangent(const Cell *a)
{
    const Range value = range_wide(tanh(a->value.lo), tanh(a->value.hi), LIBM);
    const Range inside = { fmax(value.lo, -1), fmin(value.hi, 1) };
    const Range by = range_sub((Range){ 1, 1 }, range_square(inside));
    return cell(inside, range_mul((Range){ fmax(by.lo, 0), by.hi }, a->slope), a->is_partial);
}

static Cell exponential(const Cell *a)
{
    const Range value = beside_0(range_wide(exp(a->value.lo), exp(a->value.hi), LIBM));
    const Range at_least_0 = { fmax(value.lo, 0), value.hi };
    return cell(at_least_0, range_mul(at_least_0, a->slope), a->is_partial);
}

static Cell arc_tangent(const Cell *a)
{
    const Range under = range_add(range_square(a->value), (Range){ 1, 1 });
    return rising(atan, a, range_div((Range){ 1, 1 }, under));
}

/* ---- truth values and choices ---- */
static Cell truth(bool can_be_false, bool can_be_true)
{
    return (Cell){ { can_be_false ? 0 : 1, can_be_true ? 1 : 0 },
                   can_be_false && can_be_true ? ALL_NUMBERS : (Range){ 0, 0 },
                   false,
                   0 };
}

static Cell compared(const Cell *a, const Cell *b, KoineTimeOp op)
{
    const Range x = a->value, y = b->value;
    if (range_is_empty(x) || range_is_empty(y)) /* a comparison with what has no value does not hold */
        return truth(true, false);
    const bool can_fail = a->is_partial || b->is_partial;
    switch ((int)op) {
    case KOINE_TIME_GREATER: return truth(can_fail || !(x.lo > y.hi), x.hi > y.lo);
    case KOINE_TIME_GREATER_EQUAL: return truth(can_fail || !(x.lo >= y.hi), x.hi >= y.lo);
    default: return truth(can_fail || !(x.lo == x.hi && range_is(y, x.lo)), x.lo <= y.hi && y.lo <= x.hi);
    }
}

static Cell chosen(const Cell *condition, const Cell *then, const Cell *otherwise)
{
    if (range_is_empty(condition->value))
        return NOWHERE;
    if (condition->value.lo > 0)
        return *then;
    if (condition->value.hi <= 0)
        return *otherwise;
    const bool is_partial = then->is_partial || otherwise->is_partial;
    return cell(range_hull(then->value, otherwise->value), ALL_NUMBERS, is_partial);
}

/* ---- tables ---- */
/* The polynomial of one interval of the table, on a part of it. */
static Cell polynomial(const double *row, Range x)
{
    const Range u = range_sub(x, (Range){ row[0], row[0] });
    Range value = { row[4], row[4] }, slope = range_mul((Range){ 3, 3 }, value);
    for (int k = 3; k >= 1; k--)
        value = range_add(range_mul(value, u), (Range){ row[k], row[k] });
    slope = range_add(range_mul(slope, u), (Range){ 2 * row[3], 2 * row[3] });
    slope = range_add(range_mul(slope, u), (Range){ row[2], row[2] });
    return (Cell){ value, slope, false, 0 };
}

static Cell table_value(const double *table, Range interval, const Cell *a, bool is_broken)
{
    const int64_t n = (int64_t)table[0];
    const bool is_frozen = interval.lo >= 0;
    const int64_t first = is_frozen ? (int64_t)fmin(interval.lo, (double)n) : koine_interval(table, a->value.lo),
                  last = is_frozen ? (int64_t)fmin(interval.hi, (double)n) : koine_interval(table, a->value.hi);
    Cell all = { NO_NUMBER, NO_NUMBER, a->is_partial, 0 };
    for (int64_t k = first; k <= last; k++) {
        if (table[1] != 0 && (k == 0 || k == n)) {
            all.is_partial = true;
            continue;
        }
        const Range own = { k > first ? table[2 + k - 1] : a->value.lo, k < last ? table[2 + k] : a->value.hi };
        const Cell one = polynomial(table + 2 + n + 5 * k, is_frozen ? a->value : own);
        all.value = range_hull(all.value, one.value);
        all.slope = range_hull(all.slope, one.slope);
    }
    const bool jumps = last > first && (is_broken || is_frozen);
    return cell(all.value, jumps ? ALL_NUMBERS : range_mul(all.slope, a->slope), all.is_partial);
}

static Cell table_at(const KoineTimeCode *code, const KoineTimeInstruction *i, const Cell *cells)
{
    const Cell *a = &cells[i->a];
    const Range own = { -1, -1 };
    if (!(range_size(a->value) <= DBL_MAX))
        return UNKNOWN;
    if (i->b != KOINE_NONE && range_is_empty(cells[i->b].value))
        return NOWHERE;
    return table_value(code->tables[i->c], i->b == KOINE_NONE ? own : cells[i->b].value, a, i->op == KOINE_TIME_BROKEN);
}

/* ---- execution ---- */
static Cell one_operand(KoineTimeOp op, const Cell *a)
{
    switch ((int)op) {
    case KOINE_TIME_NEG: return negated(a);
    case KOINE_TIME_ABS: return absolute(a);
    case KOINE_TIME_SIGN: return steps(sign_of, a);
    case KOINE_TIME_FLOOR: return steps(floor, a);
    case KOINE_TIME_CEIL: return steps(ceil, a);
    case KOINE_TIME_TRUNC: return steps(trunc, a);
    case KOINE_TIME_ROUND: return steps(round, a);
    case KOINE_TIME_SQRT: return square_root(a);
    case KOINE_TIME_EXP: return exponential(a);
    case KOINE_TIME_LOG: return logarithm(a, log, 1);
    case KOINE_TIME_LOG10: return logarithm(a, log10, 0.43429448190325183);
    case KOINE_TIME_SIN: return sine(a);
    case KOINE_TIME_COS: return cosine(a);
    case KOINE_TIME_TAN: return tangent(a);
    case KOINE_TIME_ASIN: return arc(a, asin, false);
    case KOINE_TIME_ACOS: return arc(a, acos, true);
    case KOINE_TIME_ATAN: return arc_tangent(a);
    case KOINE_TIME_SINH: return hyperbolic(a, true);
    case KOINE_TIME_COSH: return hyperbolic(a, false);
    case KOINE_TIME_TANH: return hyperbolic_tangent(a);
    case KOINE_TIME_NOT: return truth(a->value.hi > 0, a->value.lo <= 0);
    default: return UNKNOWN;
    }
}

static Cell two_operands(KoineTimeOp op, const Cell *a, const Cell *b)
{
    switch ((int)op) {
    case KOINE_TIME_ADD: return sum(a, b);
    case KOINE_TIME_SUB: return difference(a, b);
    case KOINE_TIME_MUL: return product(a, b);
    case KOINE_TIME_DIV: return quotient(a, b);
    case KOINE_TIME_POW: return power(a, b);
    case KOINE_TIME_MIN: return least(a, b);
    case KOINE_TIME_MAX: return greatest(a, b);
    case KOINE_TIME_ATAN2: return quotient_angle(a, b);
    case KOINE_TIME_AND: return truth(a->value.lo <= 0 || b->value.lo <= 0, a->value.hi > 0 && b->value.hi > 0);
    case KOINE_TIME_OR: return truth(a->value.lo <= 0 && b->value.lo <= 0, a->value.hi > 0 || b->value.hi > 0);
    default: return UNKNOWN;
    }
}

static Cell number(double x)
{
    return isnan(x) ? NOWHERE : (Cell){ { x, x }, { 0, 0 }, false, 0 };
}

static Cell computed(const KoineTimeCode *code, const KoineTimeInstruction *i, const Cell *cells)
{
    if (i->op == KOINE_TIME_IF)
        return chosen(&cells[i->a], &cells[i->b], &cells[i->c]);
    if (i->op >= KOINE_TIME_GREATER && i->op <= KOINE_TIME_EQUAL)
        return compared(&cells[i->a], &cells[i->b], (KoineTimeOp)i->op);
    const bool is_table = i->op == KOINE_TIME_TABLE || i->op == KOINE_TIME_BROKEN;
    const bool is_one = i->b == KOINE_NONE;
    if (range_is_empty(cells[i->a].value) || (!is_one && range_is_empty(cells[i->b].value)))
        return NOWHERE;
    if (is_table)
        return table_at(code, i, cells);
    return is_one ? one_operand((KoineTimeOp)i->op, &cells[i->a])
                  : two_operands((KoineTimeOp)i->op, &cells[i->a], &cells[i->b]);
}

void koine_time_evaluate(const KoineTimeCode *code, const KoineSlot *inputs, Range time, Cell *cells)
{
    for (uint32_t k = 0; k < code->n; k++) {
        const KoineTimeInstruction *i = &code->instructions[k];
        switch (i->op) {
        case KOINE_TIME_NUMBER: cells[k] = number(code->numbers[i->a]); break;
        case KOINE_TIME_NOW: cells[k] = (Cell){ time, { 1, 1 }, false, 0 }; break;
        case KOINE_TIME_REAL: cells[k] = number(inputs[i->a].r); break;
        case KOINE_TIME_INTEGER: cells[k] = number((double)inputs[i->a].i); break;
        default: cells[k] = computed(code, i, cells); break;
        }
        if (cells[k].same == 0)
            cells[k].same = (int32_t)k + 1;
    }
}
