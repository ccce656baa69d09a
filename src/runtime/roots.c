/* Location of roots on the solver's interpolant (S5, S8, S9).
 *
 * A root function is positive as long as its relation keeps its value. A step is scanned at its end, and where a
 * cubic through both ends dips to zero, at the minimum of the cubic. The first crossing is enclosed by Chandrupatla's
 * method on all root functions together: whichever crosses first decides. On a time grid only grid points are looked
 * at; grid.c searches there. */
#include "runtime/run.h"
#include <stdlib.h>

static const double SLOPE_SHARE = 1e-4; /* of the interval, for slopes by difference */
static const double NEAR_FACTOR = 2;    /* a root is near if its change over the interval, times this, could reach 0 */
static const double DIP_MARGIN = 0.1;   /* of the smaller end: how far above 0 a predicted minimum is looked at */
static const double SHORTEST_SPLIT = 1e-3; /* of a step: crossings closer than this are not told apart */
enum { MAX_DIPS = 8 };

KoineStatus koine_roots_create(KoineRun *run)
{
    KoineRoots *const roots = &run->roots;
    const size_t n = run->tables->n_roots;
    *roots = (KoineRoots){ .n = run->tables->n_roots, .time = NAN };
    if (n == 0)
        return KOINE_OK;
    double *const memory = malloc(7 * n * sizeof *memory + 3 * n);
    if (!memory)
        return koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for %u root functions", (unsigned)n);
    roots->memory = memory;
    roots->lo = memory;
    roots->hi = memory + n;
    roots->mid = memory + 2 * n;
    roots->slope_lo = memory + 3 * n;
    roots->slope_hi = memory + 4 * n;
    roots->rate = memory + 5 * n;
    roots->rest = memory + 6 * n;
    for (size_t k = 0; k < n; ++k)
        roots->rest[k] = -INFINITY;
    roots->crossed = (uint8_t *)(memory + 7 * n);
    roots->is_loud = roots->crossed + n;
    roots->is_named = roots->is_loud + n;
    memset(roots->crossed, 0, 3 * n);
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

/* Comparisons that chatter are not looked at for a while. */
static void hold_back(const KoineRoots *roots, double time, double *z)
{
    for (uint32_t k = 0; k < roots->n; ++k)
        if (time < roots->rest[k])
            z[k] = 1;
}

/* All that has crossed at hi was held back up to there: there is nothing to search. */
static bool was_held_back(const KoineRun *run, double to)
{
    const KoineRoots *const roots = &run->roots;
    for (uint32_t k = 0; k < roots->n; ++k)
        if (roots->hi[k] <= 0 && roots->lo[k] > 0 && roots->rest[k] != to)
            return false;
    return true;
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
    if (run->watch.rest_end < INFINITY && status == KOINE_OK)
        hold_back(&run->roots, at.time, z);
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
    double lo, hi;        /* no crossing up to lo; hi: one, or no value */
    double third;         /* time of roots->mid, the last end that was given up; NAN: none */
    bool is_hi_new;       /* the newest point is hi */
    bool is_blind;        /* at hi nothing has crossed, some root cannot be computed */
    bool is_third_usable; /* there are values at the third point */
} Bracket;

/* The root whose secant crosses first, or NO_ROOT. */
static uint32_t earliest(const KoineRoots *roots)
{
    double share = INFINITY;
    uint32_t first = NO_ROOT;
    for (uint32_t k = 0; k < roots->n; ++k) {
        const double a = roots->lo[k], b = roots->hi[k];
        if (b <= 0 && a > 0 && a / (a - b) < share) {
            share = a / (a - b);
            first = k;
        }
    }
    return first;
}

/* Where between lo (0) and hi (1) to look next: Chandrupatla's method. Inverse quadratic interpolation through both
 * ends and the third point where these three rise or fall together, else the middle. */
static double next_share(const KoineRoots *roots, const Bracket *bracket)
{
    const uint32_t root = bracket->is_blind ? NO_ROOT : earliest(roots);
    if (root == NO_ROOT)
        return 0.5;
    const double lo = roots->lo[root], hi = roots->hi[root], width = bracket->hi - bracket->lo;
    if (isnan(bracket->third))
        return koine_min(koine_max(lo / (lo - hi), 0.05), 0.95);
    if (!bracket->is_third_usable)
        return 0.5;
    const double a = bracket->is_hi_new ? hi : lo, b = bracket->is_hi_new ? lo : hi, c = roots->mid[root];
    const double ta = bracket->is_hi_new ? bracket->hi : bracket->lo;
    const double tb = bracket->is_hi_new ? bracket->lo : bracket->hi;
    const double xi = (ta - tb) / (bracket->third - tb), phi = (a - b) / (c - b);
    if (!(phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi)) /* also for NaN */
        return 0.5;
    const double share =
        a / (b - a) * (c / (b - c)) + (bracket->third - ta) / (tb - ta) * (a / (c - a)) * (b / (c - b));
    return (ta + share * (tb - ta) - bracket->lo) / width;
}

static void narrow(KoineRoots *roots, Bracket *bracket, double t, bool is_beyond, bool is_usable)
{
    if (is_beyond) {
        swap(&roots->hi, &roots->mid);
        bracket->third = bracket->hi;
        bracket->is_third_usable = !bracket->is_blind;
        bracket->is_blind = !is_usable;
        bracket->hi = t;
    } else {
        swap(&roots->lo, &roots->mid);
        bracket->third = bracket->lo;
        bracket->is_third_usable = true;
        bracket->lo = t;
    }
    bracket->is_hi_new = is_beyond;
}

/* lo and hi hold the root functions at both ends. */
static KoineStatus locate(KoineRun *run, double from, double *to, bool is_blind)
{
    if (koine_has_grid(run))
        return koine_grid_search(run, from, to, is_blind);
    KoineRoots *const roots = &run->roots;
    if (run->watch.rest_end < INFINITY && !is_blind && was_held_back(run, *to)) {
        roots->left = from;
        koine_roots_flag(run, roots->hi);
        return KOINE_OK;
    }
    Bracket bracket = { .lo = from, .hi = *to, .third = NAN, .is_blind = is_blind };
    const double tolerance = 4 * koine_ulp(koine_max(fabs(from), fabs(*to)));
    ++run->report->statistics.crossing_searches;
    while (bracket.hi - bracket.lo > tolerance) {
        ++run->report->statistics.crossing_search_steps;
        const double guess = bracket.lo + next_share(roots, &bracket) * (bracket.hi - bracket.lo);
        const double t = koine_min(koine_max(guess, bracket.lo + 0.5 * tolerance), bracket.hi - 0.5 * tolerance);
        const KoineStatus status = evaluate_at(run, t, roots->mid);
        TRY(status);
        const bool crossed = koine_roots_crossed(roots, roots->mid);
        narrow(roots, &bracket, t, crossed || status != KOINE_OK, crossed);
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
        const double near =
            koine_max(from + d, run->solver->from); /* on a time grid, steps may be shorter than cells */
        TRY(evaluate_at(run, near, roots->mid));
        for (uint32_t k = 0; k < roots->n; ++k)
            roots->slope_lo[k] = (roots->mid[k] - roots->lo[k]) / (near - from);
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
    double last = from;
    if (SLOPE_SHARE * h < koine_near(end))
        return KOINE_OK;
    TRY(find_slopes(run, from, end));
    for (int looked = 0; looked < MAX_DIPS && !*is_event; ++looked) { /* the earliest first */
        double t = end;
        for (uint32_t k = 0; k < roots->n; ++k) {
            const double dip = koine_snap_nearest(run, from + h * find_dip(roots, k, h));
            if (dip > last && dip < t)
                t = dip;
        }
        if (t >= end)
            break;
        last = t;
        TRY(evaluate_at(run, t, roots->mid));
        if (!koine_roots_crossed(roots, roots->mid))
            continue;
        swap(&roots->hi, &roots->mid);
        *to = t;
        *is_event = true;
    }
    if (*is_event)
        return KOINE_OK;
    swap(&roots->slope_lo, &roots->slope_hi);
    roots->has_slope_lo = true;
    return KOINE_OK;
}

/* The only root that crosses between lo and z, or NO_ROOT. */
static uint32_t only_crossing(const KoineRoots *roots, const double *z)
{
    uint32_t only = NO_ROOT;
    for (uint32_t k = 0; k < roots->n; ++k)
        if (z[k] <= 0 && roots->lo[k] > 0) {
            if (only != NO_ROOT)
                return NO_ROOT;
            only = k;
        }
    return only;
}

/* Several roots cross in the piece: shorten it to a point between the first two of their secants, so that they come
 * one after the other. */
static KoineStatus split_piece(KoineRun *run, double from, double *to)
{
    KoineRoots *const roots = &run->roots;
    const double shortest = SHORTEST_SPLIT * (run->solver->time - run->solver->from);
    while (*to - from > shortest) {
        double first = 1, second = 1;
        for (uint32_t k = 0; k < roots->n; ++k)
            if (roots->hi[k] <= 0 && roots->lo[k] > 0) {
                const double share = roots->lo[k] / (roots->lo[k] - roots->hi[k]);
                second = koine_min(second, koine_max(share, first));
                first = koine_min(first, share);
            }
        const double t = from + koine_max(0.5 * (first + second) * (*to - from), shortest); /* roots may begin at 0 */
        const KoineStatus status = evaluate_at(run, t, roots->mid);
        if (status != KOINE_OK || !(t > from && t < *to))
            return status;
        swap(&roots->hi, &roots->mid);
        *to = t;
        if (!koine_roots_crossed(roots, roots->hi) || only_crossing(roots, roots->hi) != NO_ROOT)
            break;
    }
    return KOINE_OK;
}

/* Some root that crosses may do so without an event, as far as is known. */
static bool may_be_quiet(const KoineRoots *roots)
{
    for (uint32_t k = 0; k < roots->n; ++k)
        if (roots->hi[k] <= 0 && roots->lo[k] > 0 && !roots->is_loud[k])
            return true;
    return false;
}

/* A comparison that decides nothing as things are, like the second of `a AND b` while a is false, changes its side
 * without an event and without being located, if nothing else happens in the same piece. */
static bool is_passed_quietly(KoineRun *run, double to)
{
    KoineRoots *const roots = &run->roots;
    const uint32_t root = only_crossing(roots, roots->hi);
    if (!run->kind->flip || root == NO_ROOT || roots->is_loud[root] || koine_place(run, to) != KOINE_OK)
        return false;
    const KoineStatus status = run->kind->flip(run->model, root);
    roots->is_loud[root] = status == KOINE_ABSENT;
    return status == KOINE_OK;
}

KoineStatus koine_roots_look(KoineRun *run, bool *is_event)
{
    KoineRoots *const roots = &run->roots;
    const KoineStatus status = koine_roots_evaluate(run, roots->hi);
    TRY(status);
    if (status != KOINE_OK || !koine_roots_crossed(roots, roots->hi) || may_be_quiet(roots))
        return KOINE_OK;
    roots->left = run->time;
    koine_roots_flag(run, roots->hi);
    *is_event = true;
    return KOINE_OK;
}

static KoineStatus scan_piece(KoineRun *run, double *to, bool *is_event)
{
    KoineRoots *const roots = &run->roots;
    const double from = roots->time;
    const KoineStatus status = evaluate_at(run, *to, roots->hi);
    TRY(status);
    bool crossed = koine_roots_crossed(roots, roots->hi), has_dip = false;
    if (status != KOINE_OK) {
        *is_event = crossed;
        return locate(run, from, to, !crossed);
    }
    if (crossed && run->kind->flip && !koine_has_grid(run) && may_be_quiet(roots) &&
        only_crossing(roots, roots->hi) == NO_ROOT) {
        TRY(split_piece(run, from, to));
        crossed = koine_roots_crossed(roots, roots->hi);
    }
    if (is_some_near(roots, *to - from)) /* also before a crossing: what dips earlier comes first */
        TRY(scan_dips(run, from, to, &has_dip));
    else
        roots->has_slope_lo = false;
    const bool is_quiet = crossed && !has_dip && is_passed_quietly(run, *to);
    *is_event = has_dip || (crossed && !is_quiet);
    if (*is_event)
        return locate(run, from, to, false);
    for (uint32_t k = 0; k < roots->n; ++k)
        roots->rate[k] = is_quiet ? INFINITY : fabs(roots->hi[k] - roots->lo[k]) / (*to - from);
    if (is_quiet) {
        TRY(evaluate_at(run, *to, roots->hi));
        roots->has_slope_lo = false;
    }
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
        double next = koine_snap(run, run->roots.time + piece);
        if (!(next > run->roots.time)) /* a cell of the time grid is longer than a piece */
            next = end;
        *to = next < end - near_end ? next : end;
        status = scan_piece(run, to, is_event);
    }
    return status;
}
