/* Comparisons of states with constants, where the interpolant of the solver is a polynomial: the root functions are
 * that polynomial, but for a constant and their sign. Its Bernstein values enclose it, so their signs prove that
 * nothing crosses, or that something crosses once, without a look inside the step. */
#include "runtime/run.h"

static const double NOISE = 64 * DBL_EPSILON; /* of the largest number involved */
static const double SAME = 1e-6;              /* of the swing: the root function moves as the state does */
static const double SIGN_SHOWS = 1e-5;        /* of the swing: a smaller change does not tell the sign */

static const double CLOSE = 1e-9; /* Newton's next step leaves only rounding */
enum { MOST_ROUNDS = 40 };        /* of Newton's method */

typedef enum { NOTHING, ONE_CROSSING, UNDECIDED } Finding;

/* Bernstein values on the part [u, v] of [0, 1], by de Casteljau's rule. */
static void restrict_to(double *values, uint32_t degree, double u, double v)
{
    for (uint32_t round = 1; round <= degree && v < 1; round++)
        for (uint32_t k = degree; k >= round; --k)
            values[k] = (1 - v) * values[k - 1] + v * values[k];
    const double w = u / v;
    for (uint32_t round = 1; round <= degree && w > 0; round++)
        for (uint32_t k = 0; k <= degree - round; k++)
            values[k] = (1 - w) * values[k] + w * values[k + 1];
}

/* From positive once to negative and there to stay, or the whole time positive. `values` ends with that at the end. */
static Finding judge_falling(const double *values, uint32_t degree, double blur)
{
    bool is_below = false;
    for (uint32_t k = 1; k < degree; k++) {
        if (!(fabs(values[k]) > blur) || (is_below && values[k] > 0))
            return UNDECIDED;
        is_below |= values[k] < 0;
    }
    if (values[degree] <= 0)
        return ONE_CROSSING;
    return is_below ? UNDECIDED : NOTHING;
}

/* What begins below zero has no side to leave, unless it rises and comes back. */
static Finding judge_rising(const double *values, uint32_t degree, double blur)
{
    bool is_above = false;
    for (uint32_t k = 1; k <= degree; k++) {
        if (!(fabs(values[k]) > blur) || (is_above && values[k] < 0))
            return UNDECIDED;
        is_above |= values[k] > 0;
    }
    return NOTHING;
}

/* `values` are those of the state, with which the root goes from `lo` to `hi`; they become those of the root. */
static Finding judge(double *values, uint32_t degree, double lo, double hi, double *swing)
{
    const double first = values[0], change = values[degree] - first;
    double largest = fabs(lo) + fabs(hi) + fabs(first);
    *swing = 0;
    for (uint32_t k = 1; k <= degree; k++) {
        largest = koine_max(largest, fabs(values[k]));
        *swing = koine_max(*swing, fabs(values[k] - first));
    }
    const double sign = (hi < lo) == (change < 0) ? 1 : -1, other = fabs(hi - lo - sign * change);
    const double blur = other + NOISE * largest;
    if (lo == hi && fabs(change) > NOISE * largest) { /* its region is not in force */
        *swing = 0;
        return NOTHING;
    }
    if (!(other <= SAME * *swing) || fabs(change) < SIGN_SHOWS * *swing)
        return UNDECIDED;
    values[0] = lo;
    for (uint32_t k = 1; k < degree; k++)
        values[k] = lo + sign * (values[k] - first);
    values[degree] = hi;
    return lo > 0 ? judge_falling(values, degree, blur) : judge_rising(values, degree, blur);
}

static bool is_possible(const KoineRun *run)
{
    return run->roots.are_states && run->solver->kind->polynomial && run->roots.n_held == 0;
}

bool koine_polynomials_allow(const KoineRun *run)
{
    const uint32_t *states = run->tables->roots.states;
    bool are_states = run->tables->roots.n > 0 && states && run->problem.strategy->looks_between;
    for (uint32_t k = 0; are_states && k < run->tables->roots.n; k++)
        are_states = states[k] > 0;
    return are_states;
}

double koine_polynomials_reach(const KoineRun *run, double otherwise)
{
    return is_possible(run) ? INFINITY : otherwise;
}

/* One root between `from` and `to`, where its values are lo and hi. */
typedef struct {
    double values[KOINE_MOST_DEGREE + 1];
    double swing;
    uint32_t degree;
} Part;

static Finding judge_root(KoineRun *run, uint32_t root, double from, double to, Part *part)
{
    KoineSolver *solver = run->solver;
    const double step = solver->time - solver->from;
    const double u = (from - solver->from) / step, v = (to - solver->from) / step;
    if (!(u >= 0 && u < v && v <= 1))
        return UNDECIDED;
    part->degree = solver->kind->polynomial(solver, run->tables->roots.states[root] - 1, part->values);
    if (part->degree == 0)
        return UNDECIDED;
    restrict_to(part->values, part->degree, u, v);
    return judge(part->values, part->degree, run->roots.lo[root], run->roots.hi[root], &part->swing);
}

bool koine_polynomials_judge(KoineRun *run, double to, bool *is_crossed)
{
    const KoineRoots *roots = &run->roots;
    Part part;
    *is_crossed = false;
    for (uint32_t k = 0; k < roots->n; k++) {
        const Finding finding = is_possible(run) ? judge_root(run, k, roots->time, to, &part) : UNDECIDED;
        if (finding == UNDECIDED)
            return false;
        *is_crossed |= finding == ONE_CROSSING;
        roots->mid[k] = part.degree * part.swing / (to - roots->time);
    }
    return true;
}

/* --- Where --- */

/* Value and slope at s in [0, 1]. */
static double value_at(const Part *part, double s, double *slope)
{
    double c[KOINE_MOST_DEGREE + 1];
    memcpy(c, part->values, sizeof c);
    for (uint32_t left = part->degree; left > 1; --left)
        for (uint32_t k = 0; k < left; k++)
            c[k] += s * (c[k + 1] - c[k]);
    *slope = part->degree * (c[1] - c[0]);
    return c[0] + s * (c[1] - c[0]);
}

/* Where in [0, 1] the only crossing is: Newton's method, kept between its ends. */
static double solve(const Part *part)
{
    const double first = part->values[0], last = part->values[part->degree];
    double lo = 0, hi = 1, s = first / (first - last);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double slope;
        const double value = value_at(part, s, &slope);
        *(value > 0 ? &lo : &hi) = s;
        const double next = s - value / slope;
        if (fabs(next - s) <= CLOSE)
            return next;
        s = next > lo && next < hi ? next : 0.5 * (lo + hi);
    }
    return s;
}

double koine_polynomials_root(KoineRun *run, double from, double to)
{
    const KoineRoots *roots = &run->roots;
    double first = INFINITY;
    Part part;
    for (uint32_t k = 0; k < roots->n; k++) {
        if (!(roots->hi[k] <= 0 && roots->lo[k] > 0))
            continue;
        if (!is_possible(run) || judge_root(run, k, from, to, &part) != ONE_CROSSING)
            return NAN;
        first = koine_min(first, from + solve(&part) * (to - from));
    }
    return first < to ? first : NAN;
}
