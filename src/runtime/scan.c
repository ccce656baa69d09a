/* The search for crossings in a step: that some root function has crossed, and in which piece (S8). Where, says
 * roots.c.
 *
 * A piece of a step ends where the step ends, at an output point, or after twice the length that the fastest root
 * function is known to need. Value and slope at both ends make a cubic. It is compared with value and slope at a point
 * inside; how far these are off bounds the distance of the root function from the cubic, exactly so for polynomials of
 * degree 5. If the cubic less this bound stays positive nothing has crossed; else the piece is divided. The point lies
 * neither in the middle nor at a constant share of the piece, because steps fall in with periods.
 *
 * Slopes are differences on the solver's interpolant: so they belong to the curve that crossings are located on. */
#include "runtime/scan.h"
#include <stdlib.h>

enum { MOST_SKIPPED = 16 };            /* pieces in a row that are judged by values alone */
static const double SAFE_RATE = 8;     /* times as fast as ever seen lately, and still not at zero */
static const double FORGETTING = 0.9;  /* of rates, from piece to piece */
static const double WELL_INSIDE = 0.9; /* of a piece: events behind that leave no room before them */
static const double SHORTEST = 1e-7;   /* of a step: there values decide */

/* --- Memory --- */

KoineStatus koine_scan_create(KoineRun *run)
{
    const size_t n = run->roots.n;
    Scan *scan = calloc(1, sizeof *scan);
    double *memory = scan ? calloc(1, (N_SCAN_ROOTS + 2 * MOST_POINTS) * n * sizeof *memory + n) : NULL;
    if (!memory) {
        free(scan);
        return koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for %u root functions", (unsigned)n);
    }
    run->roots.scan = scan;
    scan->roots.span = memory;
    scan->roots.longest = memory + n;
    scan->roots.rate = memory + 2 * n;
    scan->roots.last = memory + 3 * n;
    scan->roots.least = memory + 4 * n;
    scan->roots.noise = memory + 5 * n;
    scan->roots.size = memory + 6 * n;
    scan->roots.second = memory + 7 * n;
    scan->roots.largest = memory + 8 * n;
    scan->roots.wide = memory + 9 * n;
    scan->roots.noise_size = memory + 10 * n;
    for (size_t k = 0; k < MOST_POINTS; k++) {
        scan->points[k].z = memory + (N_SCAN_ROOTS + 2 * k) * n;
        scan->points[k].slope = scan->points[k].z + n;
    }
    scan->roots.was_divided = (uint8_t *)(memory + (N_SCAN_ROOTS + 2 * MOST_POINTS) * n);
    for (size_t k = 0; k < n; k++) {
        scan->roots.span[k] = INFINITY;
        scan->roots.last[k] = -INFINITY;
        scan->roots.longest[k] = scan->roots.noise[k] = scan->roots.noise_size[k] = scan->roots.size[k] =
            scan->roots.largest[k] = 0;
    }
    koine_roots_forget(run);
    return KOINE_OK;
}

void koine_scan_destroy(KoineRun *run)
{
    Scan *scan = run->roots.scan;
    if (!scan)
        return;
    free(scan->roots.span);
    free(scan);
}

/* Between two steps only the place where the search stands is of use. */
void koine_scan_visit(KoineRun *run, KoinePieces *pieces)
{
    Scan *scan = run->roots.scan;
    const uint64_t n = run->roots.n;
    Point *here = &scan->points[0];
    koine_piece_numbers(pieces, scan->roots.span, N_SCAN_ROOTS * n);
    koine_piece_numbers(pieces, here->z, n);
    koine_piece_numbers(pieces, here->slope, n);
    KOINE_PIECE(pieces, here->time);
    KOINE_PIECE(pieces, here->offset);
    KOINE_PIECE(pieces, here->has_slope);
    KOINE_PIECE(pieces, scan->skipped);
}

void koine_scan_lose_slopes(KoineRun *run)
{
    run->roots.scan->points[0].has_slope = false;
}

void koine_scan_forget(KoineRun *run)
{
    Scan *scan = run->roots.scan;
    scan->points[0].has_slope = false;
    for (uint32_t k = 0; k < run->roots.n; k++)
        scan->roots.rate[k] = INFINITY;
}

/* --- Pieces of a step --- */

/* Nothing can have crossed, judging by how fast the roots moved and in what time they changed before. */
static bool is_far(KoineRun *run, double h)
{
    const KoineRoots *roots = &run->roots;
    Scan *scan = roots->scan;
    if (scan->skipped >= MOST_SKIPPED)
        return false;
    for (uint32_t k = 0; k < roots->n; k++) {
        const double a = roots->lo[k], b = roots->hi[k];
        if (a <= 0)
            continue;
        const double rate = koine_max(fabs(b - a) / h, FORGETTING * scan->roots.rate[k]);
        if (h > scan->roots.span[k] || h > GROWTH * scan->roots.longest[k] || koine_min(a, b) <= SAFE_RATE * h * rate)
            return false;
    }
    for (uint32_t k = 0; k < roots->n; k++)
        scan->roots.rate[k] = koine_max(fabs(roots->hi[k] - roots->lo[k]) / h, FORGETTING * scan->roots.rate[k]);
    return true;
}

static void swap_points(Point *a, Point *b)
{
    const Point c = *a;
    *a = *b;
    *b = c;
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

/* What the search has shown about the time scale of each root. */
static void learn(KoineRun *run, double h)
{
    Scan *scan = run->roots.scan;
    for (uint32_t k = 0; k < run->roots.n; k++)
        if (scan->roots.was_divided[k] && scan->roots.least[k] < INFINITY)
            scan->roots.span[k] = koine_max(scan->roots.least[k], DEEP * scan->step);
        else if (!scan->is_cut && h >= scan->roots.span[k])
            scan->roots.span[k] = h;
}

static void learn_from_event(KoineRun *run, double time)
{
    Scan *scan = run->roots.scan;
    for (uint32_t k = 0; k < run->roots.n; k++) {
        if (!run->roots.crossed[k])
            continue;
        if (run->roots.held[k] == 0 && time > scan->roots.last[k])
            scan->roots.span[k] = koine_min(scan->roots.span[k], time - scan->roots.last[k]);
        scan->roots.last[k] = time;
    }
}

static void begin_search(KoineRun *run, double from, double to)
{
    KoineRoots *roots = &run->roots;
    Scan *scan = roots->scan;
    Point *left = &scan->points[0], *right = &scan->points[1];
    memcpy(left->z, roots->lo, roots->n * sizeof *left->z);
    memcpy(right->z, roots->hi, roots->n * sizeof *right->z);
    if (left->time != from)
        left->has_slope = false;
    scan->is_inherited = left->has_slope && from == run->solver->from && !run->solver->is_smooth;
    left->time = from;
    right->time = to;
    right->has_slope = false;
    scan->top = 1;
    scan->skipped = scan->deep = scan->measured = 0;
    scan->is_repeated = false;
    scan->step = koine_max(run->solver->time - run->solver->from, to - from);
    scan->floor = koine_max(SHORTEST * scan->step + DBL_MIN,
                            koine_max(64 * koine_ulp(to), 1.5 * run->problem.control.resolution));
    memset(scan->roots.was_divided, 0, roots->n);
    for (uint32_t k = 0; k < roots->n; k++) {
        scan->roots.least[k] = INFINITY;
        scan->roots.largest[k] = koine_max(scan->roots.largest[k], fabs(roots->lo[k]));
    }
}

/* The values at points[0] and points[of] become lo and hi. */
static void hand_over(KoineRun *run, uint32_t of)
{
    KoineRoots *roots = &run->roots;
    const Point *left = &roots->scan->points[0], *right = &roots->scan->points[of];
    memcpy(roots->lo, left->z, roots->n * sizeof *roots->lo);
    memcpy(roots->hi, right->z, roots->n * sizeof *roots->hi);
    roots->time = left->time;
}

/* The point that was looked at has no value for some root. */
static KoineStatus stop_search(KoineRun *run, double *to, bool *is_event)
{
    Scan *scan = run->roots.scan;
    const double time = *koine_time(run->model);
    hand_over(run, scan->top);
    const KoineStatus status = koine_roots_evaluate_at(run, time, run->roots.hi);
    TRY(status);
    *is_event = koine_roots_crossed(&run->roots, run->roots.hi);
    *to = time;
    return koine_roots_locate(run, run->roots.time, to, !*is_event);
}

/* The run shall end: it ends where the search has come, and nothing behind it was seen. */
static KoineStatus leave_search(KoineRun *run, double *to)
{
    *to = run->roots.time = run->roots.scan->points[0].time;
    memcpy(run->roots.lo, run->roots.scan->points[0].z, run->roots.n * sizeof *run->roots.lo);
    return KOINE_OK;
}

/* The event in the piece up to points[top]. What was seen of the other roots holds for the piece: if the event lies
 * well inside, the part before it is a piece of its own, in which another root may have come and gone. */
static KoineStatus take_crossing(KoineRun *run, double *to, bool *is_event, bool *is_known)
{
    Scan *scan = run->roots.scan;
    const double from = scan->points[0].time, end = scan->points[scan->top].time;
    hand_over(run, scan->top);
    *to = end;
    const KoineStatus status = koine_roots_take(run, to, is_event);
    *is_known = status != KOINE_OK || !*is_event || !run->problem.strategy->looks_between || run->roots.n == 1 ||
                *to - from <= scan->floor || *to - from > WELL_INSIDE * (end - from);
    if (*is_known)
        return status;
    scan->is_repeated = true;
    scan->top = 1;
    scan->points[1].time = *to;
    scan->points[1].has_slope = false;
    memcpy(scan->points[1].z, run->roots.hi, run->roots.n * sizeof *run->roots.hi);
    return KOINE_OK;
}

/* lo and hi hold the root functions at both ends of a piece. */
static KoineStatus search(KoineRun *run, double *to, bool *is_event)
{
    KoineRoots *roots = &run->roots;
    Scan *scan = roots->scan;
    const double from = roots->time, end = *to;
    begin_search(run, from, end);
    while (scan->top > 0) {
        Verdict verdict = CLEAR;
        if (koine_interrupted(&run->problem))
            return leave_search(run, to);
        const KoineStatus status = koine_scan_examine(run, &verdict);
        TRY(status);
        if (status != KOINE_OK)
            return stop_search(run, to, is_event);
        if (verdict == CROSSED) {
            bool is_known;
            if (scan->is_repeated && scan->top == 1)
                return KOINE_OK;
            learn(run, end - from);
            const KoineStatus taken = take_crossing(run, to, is_event, &is_known);
            if (taken != KOINE_OK || is_known)
                return taken;
            continue;
        }
        if (verdict == UNCLEAR) {
            scan->top++;
            continue;
        }
        swap_points(&scan->points[0], &scan->points[scan->top--]);
        scan->is_inherited = false;
    }
    learn(run, end - from);
    for (uint32_t k = 0; k < roots->n; k++)
        scan->roots.largest[k] = koine_max(scan->roots.largest[k], scan->roots.size[k]);
    memcpy(roots->lo, scan->points[0].z, roots->n * sizeof *roots->lo);
    roots->time = end;
    return KOINE_OK;
}

/* The piece was proved to be free of crossings; roots.mid holds bounds of the rates. */
static void see_through(KoineRun *run, double h)
{
    Scan *scan = run->roots.scan;
    scan->skipped = 0;
    for (uint32_t k = 0; k < run->roots.n; k++) {
        scan->roots.rate[k] = run->roots.mid[k];
        scan->roots.longest[k] = koine_max(scan->roots.longest[k], h);
    }
}

static KoineStatus scan_piece(KoineRun *run, double *to, bool *is_event)
{
    KoineRoots *roots = &run->roots;
    const double from = roots->time, h = *to - from;
    roots->sizes = roots->scan->roots.size;
    const KoineStatus status = koine_roots_evaluate_at(run, *to, roots->hi);
    roots->sizes = NULL;
    TRY(status);
    const bool crossed = koine_roots_crossed(roots, roots->hi);
    if (status != KOINE_OK) {
        *is_event = crossed;
        return koine_roots_locate(run, from, to, !crossed);
    }
    if (crossed || !is_far(run, h)) {
        bool is_crossed;
        if (!koine_polynomials_judge(run, *to, &is_crossed))
            return search(run, to, is_event);
        if (is_crossed)
            return koine_roots_take(run, to, is_event);
        see_through(run, h);
    } else {
        roots->scan->skipped++;
    }
    swap(&roots->lo, &roots->hi);
    roots->time = *to;
    return KOINE_OK;
}

/* Where the next piece ends. */
static double next_end(KoineRun *run, double end)
{
    const KoineRoots *roots = &run->roots;
    Scan *scan = roots->scan;
    double span = INFINITY;
    for (uint32_t k = 0; k < roots->n; k++)
        span = koine_min(span, scan->roots.span[k]);
    span = koine_polynomials_reach(run, span);
    const double from = roots->time, point = koine_record_next(run, from);
    double next = koine_min(koine_max(from + GROWTH * span, from + koine_near(from)), point);
    scan->is_cut = next == point;
    next = koine_snap(run, next);
    if (!(next > from)) /* times of instants are further apart */
        next = koine_min(koine_snap_up(run, from + 0.5 * run->problem.control.resolution), end);
    if (!(next > from)) /* the run is shorter than its numbers can tell */
        next = end;
    if (next < end - koine_near(end))
        return next;
    scan->is_cut = true;
    return end;
}

KoineStatus koine_roots_scan(KoineRun *run, double *to, bool *is_event)
{
    const double end = *to;
    KoineRoots *roots = &run->roots;
    KoineStatus status = KOINE_OK;
    for (uint32_t k = 0; k < roots->n; k++)
        roots->reach[k] = koine_max(fabs(roots->lo[k]), roots->reach[k]);
    if (roots->n_held || run->watch.is_looking)
        koine_hold_watch(run);
    *is_event = false;
    while (status == KOINE_OK && !*is_event && roots->time < end) {
        if (koine_interrupted(&run->problem))
            return leave_search(run, to);
        *to = next_end(run, end);
        status = scan_piece(run, to, is_event);
    }
    if (*is_event && status == KOINE_OK)
        learn_from_event(run, *to);
    return status;
}
