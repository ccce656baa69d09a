/* The time grid (S1; crossings and regions of SIMPLEX): where something changes is looked for at grid points only.
 *
 * A crossing that a transition depends on is the first grid point where the comparison has its new value; it is
 * found by the modified regula falsi. A relation that only selects what is integrated is a discontinuity; the last grid
 * point before it is found by halving. A method of higher order that mixes slopes of both sides of a discontinuity has
 * an error that nobody can foretell, and slopes of the branch that ends may not exist behind it. So the last grid point
 * before it is reached with the method, and the cell with the discontinuity by one explicit Euler step. */
#include "runtime/simplex/grid.h"

void koine_grid_keep(KoineRun *run)
{
    KoineGridState *state = koine_grid_state(run);
    if (run->tables->n_x)
        memcpy(state->here, koine_states(run->model), run->tables->n_x * sizeof *state->here);
}

/* --- The search --- */

typedef struct {
    double lo, hi;               /* grid points: nothing has crossed at lo; at hi something has, or has no value */
    double weight_lo, weight_hi; /* regula falsi: of the end that stays */
    int stayed;                  /* which end: -1 hi, 1 lo */
    bool is_blind;               /* at hi nothing has crossed, some root cannot be computed */
    bool has_region;             /* at hi some root has crossed that only selects what is integrated */
} Bracket;

static bool has_crossed(const KoineRoots *roots, uint32_t root)
{
    return roots->hi[root] <= 0 && roots->lo[root] > 0;
}

static bool some_region_crossed(const KoineRun *run)
{
    const uint8_t *is_region = run->tables->roots.regions;
    for (uint32_t k = 0; is_region && k < run->roots.n; k++)
        if (is_region[k] && has_crossed(&run->roots, k))
            return true;
    return false;
}

static KoineStatus takes_too_long(KoineRun *run, const Bracket *bracket)
{
    const double resolution = run->problem.control.resolution;
    uint32_t root = 0;
    char text[512];
    while (root + 1 < run->roots.n && !has_crossed(&run->roots, root))
        root++;
    return koine_fail_by(
        run, KOINE_CAUSE_CROSSING,
        "the search for the %s of %s takes more than %u steps (MaxCro); it lies between %.15g and %.15g",
        bracket->has_region ? "change" : "crossing", koine_root_text(run, root, text, sizeof text),
        (unsigned)run->problem.control.max_crossing, koine_grid_time(resolution, bracket->lo),
        koine_grid_time(resolution, bracket->hi));
}

/* The grid point to look at next, strictly between lo and hi: where the first of the secants of all roots that cross
 * is down at zero, the end that stayed twice counting half; the middle while regions are searched. */
static double choose(const KoineRoots *roots, const Bracket *bracket)
{
    const double width = bracket->hi - bracket->lo;
    double share = 1;
    if (bracket->is_blind || bracket->has_region)
        return bracket->lo + floor(0.5 * width);
    for (uint32_t k = 0; k < roots->n; k++) {
        const double a = bracket->weight_lo * roots->lo[k], b = bracket->weight_hi * roots->hi[k];
        if (has_crossed(roots, k))
            share = koine_min(share, a / (a - b));
    }
    return bracket->lo + koine_min(koine_max(ceil(share * width), 1), width - 1);
}

static void swap(double **a, double **b)
{
    double *c = *a;
    *a = *b;
    *b = c;
}

static void narrow(KoineRoots *roots, Bracket *bracket, double point, bool is_beyond)
{
    if (is_beyond) {
        swap(&roots->hi, &roots->mid);
        bracket->hi = point;
        bracket->weight_hi = 1;
        bracket->weight_lo *= bracket->stayed > 0 ? 0.5 : 1;
        bracket->stayed = 1;
    } else {
        swap(&roots->lo, &roots->mid);
        bracket->lo = point;
        bracket->weight_lo = 1;
        bracket->weight_hi *= bracket->stayed < 0 ? 0.5 : 1;
        bracket->stayed = -1;
    }
}

static void count_search(KoineRunStatistics *statistics, bool has_region, uint32_t steps)
{
    *(has_region ? &statistics->control.region_searches : &statistics->events.crossing_searches) += 1;
    *(has_region ? &statistics->control.region_search_steps : &statistics->events.crossing_search_steps) += steps;
}

KoineStatus koine_grid_search(KoineRun *run, double from, double *to, bool is_blind)
{
    KoineRoots *roots = &run->roots;
    const double resolution = run->problem.control.resolution;
    Bracket bracket = { .lo = koine_grid_nearest(resolution, from),
                        .hi = koine_grid_nearest(resolution, *to),
                        .weight_lo = 1,
                        .weight_hi = 1,
                        .is_blind = is_blind,
                        .has_region = some_region_crossed(run) };
    uint32_t steps = 0;
    while (bracket.hi - bracket.lo > 1) {
        if (steps++ >= run->problem.control.max_crossing)
            return takes_too_long(run, &bracket);
        const double point = choose(roots, &bracket);
        TRY(koine_place(run, koine_grid_time(resolution, point)));
        const KoineStatus status = koine_roots_evaluate(run, roots->mid);
        TRY(status);
        const bool crossed = koine_roots_crossed(roots, roots->mid), is_beyond = crossed || status != KOINE_OK;
        if (is_beyond)
            bracket.is_blind = !crossed;
        narrow(roots, &bracket, point, is_beyond);
        bracket.has_region = some_region_crossed(run);
    }
    count_search(&run->report->statistics, bracket.has_region, steps);
    roots->left = koine_grid_time(resolution, bracket.lo);
    if (bracket.is_blind)
        return KOINE_RETRY;
    koine_grid_state(run)->has_region = bracket.has_region;
    koine_roots_flag(run, roots->hi);
    *to = koine_grid_time(resolution, bracket.hi);
    return KOINE_OK;
}

/* --- The step across --- */

/* The block and the solver take the state run->crossing.x at `time`. */
static KoineStatus go_on_from(KoineRun *run, double time)
{
    KoineSolver *solver = run->solver;
    if (solver->kind->restart(solver, time, run->crossing.x) < 0)
        return koine_solver_failed(run);
    run->time = time;
    TRY(koine_place(run, time));
    koine_grid_keep(run);
    return KOINE_OK;
}

static KoineStatus slope_at(KoineRun *run, double time, const double *x, double *slope)
{
    return run->tables->n_x ? koine_derivatives_at(run->model, time, x, slope) : KOINE_OK;
}

/* One cell further. *is_done: some relation has changed there, or the branch can be computed again. */
static KoineStatus cross_cell(KoineRun *run, double time, double goal, unsigned *cause, bool *is_done)
{
    const size_t n = run->tables->n_x;
    double *x = run->crossing.x, *trial = run->crossing.x + n, *slope = run->crossing.before + n;
    for (size_t i = 0; i < n; i++)
        x[i] += run->problem.control.resolution * slope[i];
    if (n)
        memcpy(koine_states(run->model), x, n * sizeof *x);
    *koine_time(run->model) = time;
    if (run->roots.n) {
        TRY(koine_roots_evaluate(run, run->roots.hi));
        if (koine_roots_crossed(&run->roots, run->roots.hi)) {
            koine_roots_flag(run, run->roots.hi);
            run->roots.left = run->crossing.before_time;
            *cause |= KOINE_AT_ROOTS;
            *is_done = true;
            return go_on_from(run, time);
        }
    }
    const KoineStatus status = slope_at(run, time, x, trial);
    if (status < 0)
        return koine_solver_failed(run);
    if (status != KOINE_OK &&
        !(time == goal && time >= run->instant.next_time && run->crossing.before_time == run->time))
        return KOINE_OK;
    *is_done = true;
    koine_roots_forget(run);
    run->roots.left = run->crossing.before_time;
    TRY(go_on_from(run, time));
    if (status != KOINE_OK) /* what happens there, a cell behind the last good point, may select another branch */
        return KOINE_OK;
    run->crossing.before_time = NAN;
    TRY(koine_record_grid(run, time, time >= goal));
    run->instant.is_fresh = false;
    TRY(koine_place(run, time));
    return koine_accept(run, cause);
}

/* Evaluate one step h beyond the last good point by the checked way, so that the fault names what failed. */
static KoineStatus name_fault(KoineRun *run, double time, double h)
{
    const size_t n = run->tables->n_x;
    for (size_t i = 0; i < n; i++)
        run->crossing.x[i] = run->crossing.before[i] + (h > 0 ? h * run->crossing.before[n + i] : 0);
    const KoineEvaluation at = {
        .time = time, .x = run->crossing.x, .want = KOINE_WANT_DER, .der = run->crossing.x + n
    };
    if (n)
        run->kind->evaluate(run->model, &at);
    return koine_true_fault(run);
}

KoineStatus koine_grid_cross(KoineRun *run, double goal, unsigned *cause)
{
    const double resolution = run->problem.control.resolution;
    const double from = koine_grid_nearest(resolution, run->time);
    const double *here = koine_grid_state(run)->here;
    uint32_t cells = 0;
    const size_t n = run->tables->n_x;
    bool is_done = false;
    if (n) {
        memcpy(run->crossing.x, here, n * sizeof *here);
        memcpy(run->crossing.before, here, n * sizeof *here);
    }
    run->crossing.before_time = run->time;
    if (run->solver)
        run->solver->placed = NAN;
    const KoineStatus status = slope_at(run, run->time, run->crossing.before, run->crossing.before + n);
    if (status < 0)
        return koine_solver_failed(run);
    while (status == KOINE_OK && cells < run->problem.control.max_crossing && !is_done &&
           koine_grid_time(resolution, from + cells) < goal)
        TRY(cross_cell(run, koine_grid_time(resolution, from + ++cells), goal, cause, &is_done));
    if (is_done)
        return KOINE_OK;
    return status == KOINE_OK ? name_fault(run, koine_grid_time(resolution, from + 1), resolution)
                              : name_fault(run, run->time, 0);
}

/* The discontinuity lies in the cell that begins at roots.left. */
KoineStatus koine_grid_cross_region(KoineRun *run, double goal, unsigned *cause, bool *is_crossed)
{
    const double left = run->roots.left;
    *is_crossed = koine_grid_state(run)->has_region;
    if (!*is_crossed)
        return KOINE_OK;
    run->report->statistics.control.steps_cut_at_regions++;
    if (left > run->time) {
        TRY(koine_record_grid(run, left, false));
        bool is_event = false;
        double end = left;
        TRY(koine_shorten(run, &end, &is_event));
        TRY(koine_place(run, left));
        run->time = left;
        run->instant.is_fresh = false;
        TRY(koine_accept(run, cause));
        koine_grid_keep(run);
    }
    return koine_grid_cross(run, goal, cause);
}
