/* Location of roots on the solver's interpolant (S5, S8, S9).
 *
 * A root function is positive as long as its relation keeps its value. A step is scanned at its end, and where a
 * cubic through both ends dips to zero, at the minimum of the cubic. The first crossing is enclosed by the Illinois
 * method on all root functions together: whichever crosses first decides. */
#include "runtime/run.h"
#include <stdlib.h>

static const double SLOPE_SHARE = 1e-4; /* of the interval, for slopes by difference */
static const double NEAR_FACTOR = 2;    /* a root is near if its change over the interval, times this, could reach 0 */
static const double DIP_MARGIN = 0.1;   /* of the smaller end: how far above 0 a predicted minimum is looked at */
enum { MAX_DIPS = 8, MAX_SLOW = 3 };

KoineStatus koine_roots_create(KoineRun *run)
{
    KoineRoots *const roots = &run->roots;
    const size_t n = run->tables->n_roots;
    *roots = (KoineRoots){ .n = run->tables->n_roots, .time = NAN };
    if (n == 0)
        return KOINE_OK;
    double *const memory = malloc(6 * n * sizeof *memory + n);
    if (!memory)
        return koine_fail(run, KOINE_RUN_FAILED, "no memory for %u root functions", (unsigned)n);
    roots->memory = memory;
    roots->lo = memory;
    roots->hi = memory + n;
    roots->mid = memory + 2 * n;
    roots->slope_lo = memory + 3 * n;
    roots->slope_hi = memory + 4 * n;
    roots->rate = memory + 5 * n;
    roots->crossed = (uint8_t *)(memory + 6 * n);
    memset(roots->crossed, 0, n);
    koine_roots_forget(run);
    return KOINE_OK;
}

void koine_roots_destroy(KoineRun *run)
{
    free(run->roots.memory);
    run->roots = (KoineRoots){ 0 };
}

void koine_roots_forget(KoineRun *run)
{
    KoineRoots *const roots = &run->roots;
    roots->time = NAN;
    roots->has_slope_lo = false;
    for (uint32_t k = 0; k < roots->n; ++k)
        roots->rate[k] = INFINITY;
}

KoineStatus koine_roots_evaluate(KoineRun *run, double *z)
{
    KoineModel *const model = run->model;
    const KoineEvaluation at = {
        .time = *koine_time(model),
        .x = run->tables->n_x ? koine_states(model) : NULL,
        .want = KOINE_WANT_ROOTS,
        .roots = z,
    };
    for (uint32_t k = 0; k < run->roots.n; ++k) /* where the model fails half-way the rest must not look like values */
        z[k] = NAN;
    ++run->roots.evaluations;
    const KoineStatus status = run->kind->evaluate(model, &at);
    return status < 0 ? koine_model_failed(run, status, "root functions") : status;
}

static KoineStatus evaluate_at(KoineRun *run, double time, double *z)
{
    TRY(koine_place(run, time));
    return koine_roots_evaluate(run, z);
}

void koine_roots_flag(KoineRun *run, const double *z)
{
    for (uint32_t k = 0; k < run->roots.n; ++k)
        run->roots.crossed[k] = z[k] <= 0;
}

KoineStatus koine_roots_refresh(KoineRun *run)
{
    KoineRoots *const roots = &run->roots;
    if (roots->n == 0 || roots->time == run->time)
        return KOINE_OK;
    TRY(evaluate_at(run, run->time, roots->lo));
    roots->time = run->time;
    roots->has_slope_lo = false;
    return KOINE_OK;
}

static void swap(double **a, double **b)
{
    double *const c = *a;
    *a = *b;
    *b = c;
}

bool koine_roots_crossed(const KoineRoots *roots, const double *z)
{
    for (uint32_t k = 0; k < roots->n; ++k)
        if (z[k] <= 0 && roots->lo[k] > 0)
            return true;
    return false;
}

/* --- Enclosing the first crossing --- */

typedef struct {
    double lo, hi;               /* no crossing up to lo; hi: one, or no value */
    double weight_lo, weight_hi; /* Illinois: of the end that stays */
    int stayed;                  /* which end: -1 hi, 1 lo */
    int slow;                    /* steps in a row that did not halve the interval */
    bool is_blind;               /* at hi nothing has crossed, some root cannot be computed */
} Bracket;

/* The earliest of the secants of all roots that cross. */
static double estimate(const KoineRoots *roots, const Bracket *bracket)
{
    double share = 1;
    if (bracket->is_blind || bracket->slow >= MAX_SLOW)
        return 0.5 * (bracket->lo + bracket->hi);
    for (uint32_t k = 0; k < roots->n; ++k) {
        if (!(roots->hi[k] <= 0 && roots->lo[k] > 0))
            continue;
        const double a = bracket->weight_lo * roots->lo[k], b = bracket->weight_hi * roots->hi[k];
        share = koine_min(share, a / (a - b));
    }
    return bracket->lo + share * (bracket->hi - bracket->lo);
}

static void narrow(KoineRoots *roots, Bracket *bracket, double t, bool is_beyond)
{
    const double width = bracket->hi - bracket->lo;
    if (is_beyond) {
        swap(&roots->hi, &roots->mid);
        bracket->hi = t;
        bracket->weight_hi = 1;
        bracket->weight_lo *= bracket->stayed > 0 ? 0.5 : 1;
        bracket->stayed = 1;
    } else {
        swap(&roots->lo, &roots->mid);
        bracket->lo = t;
        bracket->weight_lo = 1;
        bracket->weight_hi *= bracket->stayed < 0 ? 0.5 : 1;
        bracket->stayed = -1;
    }
    bracket->slow = bracket->slow < MAX_SLOW && bracket->hi - bracket->lo > 0.5 * width ? bracket->slow + 1 : 0;
}

/* lo and hi hold the root functions at both ends. */
static KoineStatus locate(KoineRun *run, double from, double *to, bool is_blind)
{
    KoineRoots *const roots = &run->roots;
    Bracket bracket = { .lo = from, .hi = *to, .weight_lo = 1, .weight_hi = 1, .is_blind = is_blind };
    const double tolerance = koine_max(4 * koine_ulp(koine_max(fabs(from), fabs(*to))), run->problem.resolution);
    while (bracket.hi - bracket.lo > tolerance) {
        const double t =
            koine_min(koine_max(estimate(roots, &bracket), bracket.lo + 0.5 * tolerance), bracket.hi - 0.5 * tolerance);
        const KoineStatus status = evaluate_at(run, t, roots->mid);
        TRY(status);
        const bool crossed = koine_roots_crossed(roots, roots->mid), is_beyond = crossed || status != KOINE_OK;
        if (is_beyond)
            bracket.is_blind = !crossed;
        narrow(roots, &bracket, t, is_beyond);
    }
    roots->left = bracket.lo;
    if (bracket.is_blind)
        return KOINE_RETRY;
    koine_roots_flag(run, roots->hi);
    *to = bracket.hi;
    return KOINE_OK;
}

/* --- Dips: truths shorter than a step --- */

/* Could some root have been at zero inside, judging by how fast they move? */
static bool is_some_near(const KoineRoots *roots, double h)
{
    for (uint32_t k = 0; k < roots->n; ++k) {
        const double a = roots->lo[k], b = roots->hi[k], change = koine_max(fabs(b - a), h * roots->rate[k]);
        if (a > 0 && b > 0 && koine_min(a, b) <= NEAR_FACTOR * change)
            return true;
    }
    return false;
}

static KoineStatus find_slopes(KoineRun *run, double from, double to)
{
    KoineRoots *const roots = &run->roots;
    const double d = SLOPE_SHARE * (to - from);
    if (!roots->has_slope_lo) {
        TRY(evaluate_at(run, from + d, roots->mid));
        for (uint32_t k = 0; k < roots->n; ++k)
            roots->slope_lo[k] = (roots->mid[k] - roots->lo[k]) / d;
    }
    TRY(evaluate_at(run, to - d, roots->mid));
    for (uint32_t k = 0; k < roots->n; ++k)
        roots->slope_hi[k] = (roots->hi[k] - roots->mid[k]) / d;
    return KOINE_OK;
}

/* Where in (0, 1) the cubic of root k has a minimum close to or below zero; NAN: nowhere. */
static double find_dip(const KoineRoots *roots, uint32_t k, double h)
{
    const double a = roots->lo[k], b = roots->hi[k], m = h * roots->slope_lo[k], n = h * roots->slope_hi[k];
    const double c2 = 3 * (b - a) - 2 * m - n, c3 = m + n - 2 * (b - a), d = c2 * c2 - 3 * m * c3;
    if (!(a > 0 && b > 0 && d > 0))
        return NAN;
    const double s = -m / (c2 + sqrt(d));
    const double minimum = a + s * (m + s * (c2 + s * c3));
    return s > 0 && s < 1 && minimum <= DIP_MARGIN * koine_min(a, b) ? s : NAN;
}

/* *to moves to the first point found where some root has crossed; then hi holds the root functions there. */
static KoineStatus scan_dips(KoineRun *run, double from, double *to, bool *is_event)
{
    KoineRoots *const roots = &run->roots;
    const double end = *to, h = end - from;
    uint32_t looked = 0;
    if (SLOPE_SHARE * h < koine_near(end))
        return KOINE_OK;
    TRY(find_slopes(run, from, end));
    for (uint32_t k = 0; k < roots->n && looked < MAX_DIPS; ++k) {
        const double t = from + h * find_dip(roots, k, h);
        if (!(t > from && t < *to))
            continue;
        ++looked;
        TRY(evaluate_at(run, t, roots->mid));
        if (!koine_roots_crossed(roots, roots->mid))
            continue;
        swap(&roots->hi, &roots->mid);
        *to = t;
        *is_event = true;
        break; /* what crosses still earlier is found by the enclosure or after the event */
    }
    if (*is_event)
        return KOINE_OK;
    swap(&roots->slope_lo, &roots->slope_hi);
    roots->has_slope_lo = true;
    return KOINE_OK;
}

static KoineStatus scan_piece(KoineRun *run, double *to, bool *is_event)
{
    KoineRoots *const roots = &run->roots;
    const double from = roots->time, h = *to - from;
    const KoineStatus status = evaluate_at(run, *to, roots->hi);
    TRY(status);
    *is_event = koine_roots_crossed(roots, roots->hi);
    const bool is_blind = status != KOINE_OK && !*is_event;
    if (!*is_event && !is_blind) {
        if (is_some_near(roots, h))
            TRY(scan_dips(run, from, to, is_event));
        else
            roots->has_slope_lo = false;
    }
    if (*is_event || is_blind)
        return locate(run, from, to, is_blind);
    for (uint32_t k = 0; k < roots->n; ++k)
        roots->rate[k] = fabs(roots->hi[k] - roots->lo[k]) / h;
    swap(&roots->lo, &roots->hi);
    roots->time = *to;
    return KOINE_OK;
}

KoineStatus koine_roots_scan(KoineRun *run, double *to, bool *is_event)
{
    const KoineSolver *const solver = run->solver;
    const double end = *to, near_end = koine_near(end);
    const double piece = (solver->time - solver->from) / (solver->pieces ? solver->pieces : 1);
    KoineStatus status = KOINE_OK;
    *is_event = false;
    while (status == KOINE_OK && !*is_event && run->roots.time < end) {
        const double next = run->roots.time + piece;
        *to = next < end - near_end ? next : end;
        status = scan_piece(run, to, is_event);
    }
    return status;
}
