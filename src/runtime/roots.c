/* Location of roots on the solver's interpolant (S5, S8, S9).
 *
 * A root function is positive as long as its relation keeps its value. scan.c finds pieces of steps in which some have
 * crossed. The first crossing is enclosed by Chandrupatla's method on all root functions together: whichever crosses
 * first decides. On a time grid only grid points are looked at; grid.c searches there. */
#include "runtime/run.h"
#include <stdlib.h>

enum { MOST_AIMED = 4 };                   /* looks next to a place that is known */
enum { MOST_SECANTS = 8 };                 /* before a piece is halved */
static const double SHORTEST_SPLIT = 1e-3; /* of a step: crossings closer than this are not told apart */

KoineStatus koine_roots_create(KoineRun *run)
{
    KoineRoots *roots = &run->roots;
    const size_t n = run->tables->roots.n;
    *roots = (KoineRoots){ .n = run->tables->roots.n, .time = NAN };
    if (n == 0)
        return KOINE_OK;
    double *memory = calloc(1, 5 * n * sizeof *memory + 2 * n);
    if (!memory)
        return koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for %u root functions", (unsigned)n);
    roots->memory = memory;
    roots->lo = memory;
    roots->hi = memory + n;
    roots->mid = memory + 2 * n;
    roots->held = memory + 3 * n;
    roots->reach = memory + 4 * n;
    roots->crossed = (uint8_t *)(memory + 5 * n);
    roots->is_loud = roots->crossed + n;
    roots->are_states = koine_polynomials_allow(run);
    return koine_scan_create(run);
}

void koine_roots_destroy(KoineRun *run)
{
    koine_scan_destroy(run);
    free(run->roots.holding);
    free(run->roots.memory);
    run->roots = (KoineRoots){ 0 };
}

void koine_roots_forget(KoineRun *run)
{
    run->roots.time = NAN;
    run->roots.is_between = false;
    if (run->roots.n)
        koine_scan_forget(run);
}

/* Only what has chattered has something to be held with. */
static void visit_holding(KoineRoots *roots, KoinePieces *pieces)
{
    bool has_holding = roots->holding != NULL;
    KOINE_PIECE(pieces, has_holding);
    if (has_holding && !roots->holding)
        roots->holding = calloc(roots->n, sizeof *roots->holding);
    if (!has_holding) {
        free(roots->holding);
        roots->holding = NULL;
    }
    pieces->is_short |= has_holding && !roots->holding;
    if (!pieces->is_short && has_holding)
        koine_piece(pieces, roots->holding, roots->n * sizeof *roots->holding);
}

void koine_roots_visit(KoineRun *run, KoinePieces *pieces)
{
    KoineRoots *roots = &run->roots;
    double *const vectors[] = { roots->lo, roots->hi, roots->mid, roots->held, roots->reach };
    if (roots->n == 0)
        return;
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
        koine_piece_numbers(pieces, vectors[k], roots->n);
    koine_piece(pieces, roots->crossed, roots->n);
    koine_piece(pieces, roots->is_loud, roots->n);
    KOINE_PIECE(pieces, roots->n_held);
    KOINE_PIECE(pieces, roots->time);
    KOINE_PIECE(pieces, roots->left);
    KOINE_PIECE(pieces, roots->is_between);
    KOINE_PIECE(pieces, roots->evaluations);
    visit_holding(roots, pieces);
    koine_scan_visit(run, pieces);
}

/* Comparisons that chatter change only when they are well beyond their border. */
static void hold_back(const KoineRoots *roots, double *z)
{
    for (uint32_t k = 0; k < roots->n; k++)
        z[k] += roots->held[k];
}

KoineStatus koine_roots_evaluate(KoineRun *run, double *z)
{
    KoineModel *model = run->model;
    const KoineEvaluation at = {
        .time = *koine_time(model),
        .x = run->tables->n_x ? koine_states(model) : NULL,
        .want = KOINE_WANT_ROOTS,
        .roots = z,
        .root_sizes = run->roots.sizes,
    };
    for (uint32_t k = 0; k < run->roots.n; k++) /* where the model fails half-way the rest must not look like values */
        z[k] = NAN;
    run->roots.evaluations++;
    const KoineStatus status = run->kind->evaluate(model, &at);
    if (run->roots.n_held)
        hold_back(&run->roots, z);
    return status < 0 ? koine_model_failed(run, status, "root functions") : status;
}

KoineStatus koine_roots_evaluate_at(KoineRun *run, double time, double *z)
{
    TRY(koine_place(run, time));
    return koine_roots_evaluate(run, z);
}

void koine_roots_flag(KoineRun *run, const double *z)
{
    for (uint32_t k = 0; k < run->roots.n; k++)
        run->roots.crossed[k] = z[k] <= 0;
}

KoineStatus koine_roots_refresh(KoineRun *run)
{
    KoineRoots *roots = &run->roots;
    if (roots->n == 0 || roots->time == run->time)
        return KOINE_OK;
    TRY(koine_roots_evaluate_at(run, run->time, roots->mid));
    for (uint32_t k = 0; k < roots->n; k++) /* between two events what rounding put below zero has still to cross */
        roots->lo[k] = roots->is_between && roots->mid[k] <= 0 && roots->lo[k] > 0 ? DBL_MIN : roots->mid[k];
    roots->is_between = false;
    roots->time = run->time;
    koine_scan_lose_slopes(run);
    return KOINE_OK;
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

bool koine_roots_crossed(const KoineRoots *roots, const double *z)
{
    for (uint32_t k = 0; k < roots->n; k++)
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
    double aim;           /* where the crossing is, but for rounding; NAN: not known */
    uint32_t aimed;       /* looks at it and next to it */
} Bracket;

/* The root whose secant crosses first, or NO_ROOT. */
static uint32_t earliest(const KoineRoots *roots)
{
    double share = INFINITY;
    uint32_t first = NO_ROOT;
    for (uint32_t k = 0; k < roots->n; k++) {
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

/* At the place that is known, then so close to it on the other side that the bracket is short enough; rounding may ask
 * for more distance. */
static double next_guess(const KoineRoots *roots, Bracket *bracket, double tolerance)
{
    if (isnan(bracket->aim) || bracket->aimed > MOST_AIMED)
        return bracket->lo + next_share(roots, bracket) * (bracket->hi - bracket->lo);
    const double distance = bracket->aimed ? 0.5 * tolerance * (double)(1u << 3 * (bracket->aimed - 1)) : 0;
    bracket->aimed++;
    return bracket->is_hi_new ? bracket->aim - distance : bracket->aim + distance;
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

KoineStatus koine_roots_narrow(KoineRun *run, double from, double *to, bool is_blind)
{
    KoineRoots *roots = &run->roots;
    Bracket bracket = { .lo = from, .hi = *to, .third = NAN, .is_blind = is_blind };
    bracket.aim = is_blind ? NAN : koine_polynomials_root(run, from, *to);
    const double tolerance = 4 * koine_ulp(koine_max(fabs(from), fabs(*to)));
    run->report->statistics.events.crossing_searches++;
    while (bracket.hi - bracket.lo > tolerance) {
        run->report->statistics.events.crossing_search_steps++;
        const double guess = next_guess(roots, &bracket, tolerance);
        const double t = koine_min(koine_max(guess, bracket.lo + 0.5 * tolerance), bracket.hi - 0.5 * tolerance);
        const KoineStatus status = koine_roots_evaluate_at(run, t, roots->mid);
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

/* --- Crossings without consequences --- */

/* The only root that crosses between lo and z, or NO_ROOT. */
static uint32_t only_crossing(const KoineRoots *roots, const double *z)
{
    uint32_t only = NO_ROOT;
    for (uint32_t k = 0; k < roots->n; k++)
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
    KoineRoots *roots = &run->roots;
    const double shortest = SHORTEST_SPLIT * (run->solver->time - run->solver->from);
    for (int round = 0; *to - from > shortest; round++) {
        double first = 1, second = 1;
        for (uint32_t k = 0; k < roots->n; k++)
            if (roots->hi[k] <= 0 && roots->lo[k] > 0) {
                const double share = roots->lo[k] / (roots->lo[k] - roots->hi[k]);
                second = koine_min(second, koine_max(share, first));
                first = koine_min(first, share);
            }
        double share = 0.5 * (first + second);
        if (round >= MOST_SECANTS) /* functions that are flat where they cross: their secants lead nowhere */
            share = koine_min(share, 0.5);
        const double t = from + koine_max(share * (*to - from), shortest); /* roots may begin at 0 */
        const KoineStatus status = koine_roots_evaluate_at(run, t, roots->mid);
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
    for (uint32_t k = 0; k < roots->n; k++)
        if (roots->hi[k] <= 0 && roots->lo[k] > 0 && !roots->is_loud[k])
            return true;
    return false;
}

/* A comparison that decides nothing as things are, like the second of `a AND b` while a is false, changes its side
 * without an event and without being located, if nothing else happens in the same piece. */
static bool is_passed_quietly(KoineRun *run, double to)
{
    KoineRoots *roots = &run->roots;
    const uint32_t root = only_crossing(roots, roots->hi);
    if (!run->kind->crossings.flip || root == NO_ROOT || roots->is_loud[root] || koine_place(run, to) != KOINE_OK)
        return false;
    const KoineStatus status = run->kind->crossings.flip(run->model, root);
    roots->is_loud[root] = status == KOINE_ABSENT;
    return status == KOINE_OK;
}

KoineStatus koine_roots_look(KoineRun *run, bool *is_event)
{
    KoineRoots *roots = &run->roots;
    const KoineStatus status = koine_roots_evaluate(run, roots->hi);
    TRY(status);
    if (status != KOINE_OK || !koine_roots_crossed(roots, roots->hi) || may_be_quiet(roots))
        return KOINE_OK;
    roots->left = run->time;
    koine_roots_flag(run, roots->hi);
    *is_event = true;
    return KOINE_OK;
}

KoineStatus koine_roots_take(KoineRun *run, double *to, bool *is_event)
{
    KoineRoots *roots = &run->roots;
    const double from = roots->time;
    if (run->kind->crossings.flip && run->problem.strategy->looks_between && may_be_quiet(roots) &&
        only_crossing(roots, roots->hi) == NO_ROOT)
        TRY(split_piece(run, from, to));
    const bool crossed = koine_roots_crossed(roots, roots->hi), is_quiet = crossed && is_passed_quietly(run, *to);
    *is_event = crossed && !is_quiet;
    if (*is_event)
        return koine_roots_locate(run, from, to, false);
    if (is_quiet)
        TRY(koine_roots_evaluate_at(run, *to, roots->hi));
    swap(&roots->lo, &roots->hi);
    roots->time = *to;
    koine_scan_lose_slopes(run);
    return KOINE_OK;
}
