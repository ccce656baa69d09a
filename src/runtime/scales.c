/* See scales.h. */
#include "runtime/run.h"
#include <stdlib.h>

static const double SHARE = 1e-3;      /* of tolerance*size: the absolute tolerance */
static const double FORGET = 0.95;     /* what a size keeps from step to step, at least ... */
static const double KEPT = 1e-6;       /* ... but not less than this share of the peak ... */
static const double HAS_DIGITS = 1000; /* ... and all of it while the value is less than so many absolute tolerances */
static const double AMONG_ALL = 1e-12; /* of the largest state of the model: a size is not smaller */
static const double SMALLEST = 1e-60;  /* size of a state that has never moved */
static const double NEGLIGIBLE = 1e-6; /* share of what its slope makes of a state in the run: its value says nothing */

enum { ROWS = 12, FLOOR_OFTEN = 32, FLOOR_EVERY = 16, POINTS = 4, MOST_PILOT_STEPS = 30, PILOT_AFTER = 6 };
enum { TIMES = 8, TURNS = 3 };          /* how many times rounding is looked at; rows that their slopes take turns in */
static const double PILOT_FIRST = 1e-9; /* of the distance to the next event: the first step */
static const double PILOT_REACH = 0.1;  /* of that distance: as far as it looks */
static const double PILOT_ERROR = 0.6;  /* coarse: what matters is the power of ten */
static const double PILOT_GROWTH = 10;
static const double MOST_SEEN_AHEAD = 1; /* a larger size is believed when it is reached */
static const uint64_t FIRST_LOOK = 16;   /* steps until rounding is measured; then twice as many, and so on */
static const double DISPLACEMENT =
    0x1p-43; /* relative, of the states: the derivatives change linearly, but for rounding */
static const double ABOVE_ROUNDING = 100;    /* absolute tolerance over the rounding error of a step */
static const double BETWEEN_TIMES = 0x1p-20; /* of a step: the derivatives change linearly, but for rounding */
static const double TINY = 1e-9;             /* a state that was larger has a size of its own */
static const double IS_ROUNDING = 10;        /* so many times the rounding error: a derivative below is nothing else */

/* --- What is known --- */

static double given_nominal(const KoineRun *run, uint32_t i)
{
    const KoineTables *tables = run->tables;
    if (run->options->nominals && run->options->nominals[i] != 0)
        return fabs(run->options->nominals[i]);
    return tables->state_variable && tables->variables ? fabs(tables->variables[tables->state_variable[i]].nominal) : 0;
}

static void set_state(KoineRun *run, uint32_t i)
{
    KoineScales *scales = &run->scales;
    const double tolerance = run->problem.tolerance, nominal = given_nominal(run, i);
    const double given = nominal > 0 ? tolerance * nominal : run->options->absolute_tolerance;
    const bool is_learnt = !(given > 0);
    scales->base[i] = is_learnt ? tolerance * SHARE * SMALLEST : given;
    scales->share[i] = is_learnt ? tolerance * SHARE : 0;
    scales->n_learnt += is_learnt;
    scales->peak[i] = run->options->scales ? run->options->scales[i] : 0;
    scales->size[i] = run->options->scales ? run->options->scales[run->tables->n_x + i] : 0;
}

/* Room for the block of the model, which may have grown. */
static KoineStatus make_copy(KoineRun *run)
{
    if (run->model->size <= run->scales.copy_size)
        return KOINE_OK;
    free(run->scales.copy);
    run->scales.copy = malloc(run->model->size);
    run->scales.copy_size = run->scales.copy ? run->model->size : 0;
    return run->scales.copy ? KOINE_OK : koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for a copy of the model");
}

void koine_scales_visit(KoineRun *run, KoinePieces *pieces)
{
    KoineScales *scales = &run->scales;
    double *const vectors[] = {
        scales->base, scales->peak, scales->size, scales->floor, scales->rounding, scales->atol
    };
    if (!scales->base)
        return;
    KOINE_PIECE(pieces, scales->steps);
    KOINE_PIECE(pieces, scales->next_look);
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
        koine_piece_numbers(pieces, vectors[k], run->tables->n_x);
}

/* What was learnt stays with whoever owns the instance. */
void koine_scales_destroy(KoineRun *run)
{
    const size_t bytes = run->tables->n_x * sizeof *run->scales.peak;
    if (run->options->scales && run->scales.base) {
        memcpy(run->options->scales, run->scales.peak, bytes);
        memcpy(run->options->scales + run->tables->n_x, run->scales.size, bytes);
    }
    free(run->scales.group);
    free(run->scales.copy);
    free(run->scales.base);
}

/* Of the name of a state without what stands in brackets: cell[1].T and cell[2].T are of one kind. */
static uint64_t kind_of(const char *name)
{
    uint64_t hash = 14695981039346656037u;
    int depth = 0;
    for (const char *c = name; *c; c++) {
        depth -= *c == ']' && depth > 0;
        if (depth == 0)
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        depth += *c == '[';
    }
    return hash | 1;
}

/* group[i] := the number of the kind of state i; `table` has room for 2^bits kinds, all 0. */
static uint32_t number_kinds(const KoineTables *tables, uint32_t *group, uint64_t *table, uint32_t *number,
                             unsigned bits)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tables->n_x; i++) {
        const uint64_t kind = kind_of(tables->variables[tables->state_variable[i]].name);
        size_t at = (size_t)(kind >> (64 - bits));
        while (table[at] != 0 && table[at] != kind)
            at = (at + 1) & (((size_t)1 << bits) - 1);
        if (table[at] == 0) {
            table[at] = kind;
            number[at] = n++;
        }
        group[i] = number[at];
    }
    return n;
}

/* Which states are of one kind. Where all are different, or no names are known, there are no groups. */
static KoineStatus find_groups(KoineRun *run)
{
    const KoineTables *tables = run->tables;
    KoineScales *scales = &run->scales;
    unsigned bits = 4;
    if (!tables->state_variable || !tables->variables)
        return KOINE_OK;
    while (bits < 34 && ((size_t)1 << bits) < 2 * (size_t)tables->n_x)
        bits++;
    uint64_t *table = calloc((size_t)1 << bits, sizeof *table);
    uint32_t *number = malloc(((size_t)1 << bits) * sizeof *number);
    scales->group = malloc(tables->n_x * sizeof *scales->group);
    if (table && number && scales->group)
        scales->n_groups = number_kinds(tables, scales->group, table, number, bits);
    const bool is_good = table && number && scales->group;
    free(table);
    free(number);
    if (scales->n_groups == tables->n_x)
        scales->n_groups = 0;
    return is_good ? KOINE_OK
                   : koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for %u states", (unsigned)tables->n_x);
}

KoineStatus koine_scales_create(KoineRun *run, const KoineSolverKind *kind)
{
    const size_t n = run->tables->n_x;
    KoineScales *scales = &run->scales;
    double *memory = malloc(ROWS * n * sizeof *memory);
    if (!memory)
        return koine_fail_by(run, KOINE_CAUSE_MEMORY, "no memory for %zu states", n);
    *scales = (KoineScales){ .base = memory,
                             .share = memory + n,
                             .peak = memory + 2 * n,
                             .size = memory + 3 * n,
                             .floor = memory + 4 * n,
                             .rounding = memory + 5 * n,
                             .work = memory + 6 * n,
                             .atol = memory + 11 * n,
                             .next_look = FIRST_LOOK };
    run->problem.atol = scales->atol;
    for (uint32_t i = 0; i < n; i++)
        set_state(run, i);
    memset(scales->floor, 0, 2 * n * sizeof *scales->floor); /* and no rounding was measured */
    memset(scales->atol, 0, n * sizeof *scales->atol);
    scales->is_idle = kind->has_fixed_steps || scales->n_learnt == 0;
    if (scales->is_idle)
        return KOINE_OK;
    TRY(find_groups(run));
    return make_copy(run);
}

/* No state is so small beside the others that it needs all digits: the cells of a line into which heat comes begin with
 * 1e-60. States of one kind have one size. */
static void find_floor(KoineRun *run, const double *x)
{
    const size_t n = run->tables->n_x, n_groups = run->scales.n_groups;
    const uint32_t *group = run->scales.group;
    double *floor = run->scales.floor, *largest = run->scales.work; /* of each group */
    double all = 0;
    memset(largest, 0, n_groups * sizeof *largest);
    for (size_t i = 0; i < n; i++) {
        const double value = fabs(x[i]);
        all = koine_max(value, all);
        if (n_groups)
            largest[group[i]] = koine_max(value, largest[group[i]]);
    }
    for (size_t i = 0; i < n; i++)
        floor[i] = koine_max(n_groups ? largest[group[i]] : 0, AMONG_ALL * all);
}

KOINE_FOR_EACH_SIZE void see_of(size_t n, KoineRun *run, const double *x, double forget)
{
    double *peak = run->scales.peak, *size = run->scales.size, *atol = run->scales.atol;
    const double *base = run->scales.base, *share = run->scales.share, *floor = run->scales.floor;
    KOINE_INDEPENDENT
    for (size_t i = 0; i < n; i++) {
        const double value = fabs(x[i]);
        const double most = koine_max(value, peak[i]);                  /* where the value is not a number: the peak */
        const double keeps = value > HAS_DIGITS * atol[i] ? forget : 1; /* at rest in its tolerance it tells no size */
        const double kept = koine_max(keeps * size[i], KEPT * most);
        const double now = koine_max(koine_max(value, floor[i]), kept);
        peak[i] = most;
        size[i] = now;
        atol[i] = base[i] + share[i] * now;
    }
}

static void see(KoineRun *run, const double *x, double forget)
{
    KOINE_BY_SIZE(see_of, run->tables->n_x, run, x, forget);
}

static KoineStatus slope_at(KoineRun *run, double time, const double *x, double *slope)
{
    run->report->statistics.integration.evaluations++;
    return koine_derivatives_at(run->model, time, x, slope);
}

/* --- Rounding --- */

/* The rounding error of the derivatives at (time, x), from derivatives at points close to each other on a line: what is
 * left of their second differences. RETRY: not all of them can be evaluated. */
static KoineStatus find_rounding(KoineRun *run, double time, const double *x)
{
    const size_t n = run->tables->n_x;
    double *slopes = run->scales.work, *point = run->scales.work + POINTS * n;
    for (int k = 0; k < POINTS; k++) {
        for (size_t i = 0; i < n; i++) {
            const double side = i * 2654435761u & 64 ? -1 : 1; /* no order of the states may cancel */
            point[i] = x[i] * (1 + (k - 1) * side * DISPLACEMENT);
        }
        const KoineStatus status = slope_at(run, time, point, slopes + (size_t)k * n);
        if (status != KOINE_OK)
            return status;
    }
    for (size_t i = 0; i < n; i++) {
        const double *f = slopes + i;
        const double first = fabs(f[0] - 2 * f[n] + f[2 * n]), second = fabs(f[n] - 2 * f[2 * n] + f[3 * n]);
        run->scales.rounding[i] = 0.5 * koine_max(first, second);
    }
    return KOINE_OK;
}

/* Absolute tolerances stay above what rounding does in a step of size h; never above that of a state of size 1. */
static void stay_above_rounding(KoineRun *run, double h)
{
    KoineScales *scales = &run->scales;
    for (size_t i = 0; i < run->tables->n_x; i++) {
        const double most = run->problem.tolerance * SHARE * koine_max(1, scales->peak[i]);
        const double wanted = koine_min(ABOVE_ROUNDING * h * scales->rounding[i], most);
        if (scales->share[i] > 0 && wanted > scales->base[i])
            scales->base[i] = wanted;
    }
}

/* The rounding error of the derivatives along the time that ends at `time`, from times close to each other: `noise`;
 * and the largest of these derivatives: `most`. RETRY: not all of them can be evaluated. */
static KoineStatus find_noise(KoineRun *run, double time, double h, double *noise, double *most)
{
    const size_t n = run->tables->n_x;
    const double distance = koine_max(BETWEEN_TIMES * h, koine_near(time));
    const double *row[TURNS] = { NULL };
    memset(noise, 0, n * sizeof *noise);
    memset(most, 0, n * sizeof *most);
    for (int k = 0; k < TIMES; k++) {
        double *slope = run->scales.work + (size_t)(k % TURNS) * n;
        const KoineStatus status = slope_at(run, time - k * distance, run->solver->x, slope);
        if (status != KOINE_OK)
            return status;
        row[0] = row[1];
        row[1] = row[2];
        row[2] = slope;
        for (size_t i = 0; i < n; i++) {
            most[i] = koine_max(fabs(slope[i]), most[i]);
            noise[i] = row[0] ? koine_max(0.5 * fabs(row[0][i] - 2 * row[1][i] + slope[i]), noise[i]) : 0;
        }
    }
    return KOINE_OK;
}

/* A state that nothing but rounding has moved so far, as the charge behind a valve that is closed, has no size: its
 * absolute tolerance stays above what rounding makes of it in the whole run. True: there is one. */
static bool leave_noise(KoineRun *run, double time, const double *noise, const double *most)
{
    KoineScales *scales = &run->scales;
    const double start = run->problem.start, span = run->problem.stop - start;
    bool is_found = false;
    for (size_t i = 0; i < run->tables->n_x; i++) {
        const bool is_noise =
            most[i] <= IS_ROUNDING * noise[i] && scales->peak[i] <= IS_ROUNDING * noise[i] * (time - start);
        const double wanted = koine_min(ABOVE_ROUNDING * span * noise[i], run->problem.tolerance * SHARE);
        if (scales->share[i] > 0 && is_noise && wanted > scales->base[i]) {
            scales->base[i] = wanted;
            is_found = true;
        }
    }
    return is_found;
}

/* --- Coarse steps ahead --- */

typedef struct {
    double *y, *end, *slope, *slope_end;
    double time, h, limit;
} Pilot;

/* The step is too long for state i: it moves it to and fro by more than its size. From nothing a state may grow by any
 * factor, as long as it goes one way. */
static bool is_too_long(const KoineRun *run, const Pilot *pilot, size_t i)
{
    const double a = pilot->slope[i], b = pilot->slope_end[i], size = run->scales.size[i];
    const double off = 0.5 * pilot->h * fabs(b - a);
    const bool is_rounding = koine_max(fabs(a), fabs(b)) <= 10 * run->scales.rounding[i];
    return off > PILOT_ERROR * size && (a < 0) != (b < 0) && a != 0 && b != 0 && !is_rounding;
}

/* One step of Heun's method. */
static KoineStatus pilot_try(KoineRun *run, const Pilot *pilot)
{
    const size_t n = run->tables->n_x;
    const double h = pilot->h;
    for (size_t i = 0; i < n; i++)
        pilot->end[i] = pilot->y[i] + h * pilot->slope[i];
    const KoineStatus status = slope_at(run, pilot->time + h, pilot->end, pilot->slope_end);
    if (status != KOINE_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        if (is_too_long(run, pilot, i))
            return KOINE_RETRY;
        pilot->end[i] = pilot->y[i] + 0.5 * h * (pilot->slope[i] + pilot->slope_end[i]);
    }
    return koine_is_finite(pilot->end, n) ? KOINE_OK : KOINE_RETRY;
}

/* Steps grow until one is too long: that is how fast the model moves. A few of that size follow. */
static void pilot_steps(KoineRun *run, Pilot *pilot)
{
    const size_t n = run->tables->n_x;
    int left = MOST_PILOT_STEPS;
    bool is_limited = false, has_moved = false;
    while (left-- > 0 && pilot->time < pilot->limit && pilot->h > koine_near(pilot->time)) {
        const KoineStatus status = pilot_try(run, pilot);
        if (status < 0)
            return;
        if (status != KOINE_OK) {
            pilot->h *= has_moved ? 0.25 : 0.1;
            is_limited = true;
            continue;
        }
        if (!has_moved || is_limited)
            left = is_limited && left > PILOT_AFTER ? PILOT_AFTER : left;
        has_moved = true;
        memcpy(pilot->y, pilot->end, n * sizeof *pilot->y);
        pilot->time += pilot->h;
        for (size_t i = 0; i < n; i++)
            run->scales.size[i] = koine_max(koine_min(fabs(pilot->y[i]), MOST_SEEN_AHEAD), run->scales.size[i]);
        if (!is_limited)
            pilot->h *= PILOT_GROWTH;
        if (slope_at(run, pilot->time, pilot->y, pilot->slope) != KOINE_OK)
            return;
    }
}

/* Some state is zero, or so small that its value says nothing about its size, and moves. */
static bool is_size_wanted(const KoineRun *run, const double *slope, bool is_first)
{
    const double span = run->problem.stop - run->time;
    bool is_wanted = false;
    for (size_t i = 0; i < run->tables->n_x && !is_wanted; i++) {
        const bool is_known = run->scales.peak[i] > NEGLIGIBLE * span * fabs(slope[i]) && run->scales.peak[i] > 0;
        is_wanted = run->scales.share[i] > 0 && (is_first ? !is_known : run->scales.size[i] == 0 && slope[i] != 0);
    }
    return is_wanted;
}

static void look_from_here(KoineRun *run, bool is_first)
{
    const size_t n = run->tables->n_x;
    const double distance = koine_min(run->instant.next_time, run->problem.stop) - run->time;
    Pilot pilot = { .y = run->scales.work,
                    .end = run->scales.work + n,
                    .slope = run->scales.work + 2 * n,
                    .slope_end = run->scales.work + 3 * n,
                    .time = run->time,
                    .h = koine_max(PILOT_FIRST * distance, 4 * koine_near(run->time)), /* the next event may be close */
                    .limit = run->time + PILOT_REACH * distance };
    double *start = run->crossing.x;
    memcpy(start, koine_states(run->model), n * sizeof *start);
    if (slope_at(run, run->time, start, pilot.slope) != KOINE_OK || !is_size_wanted(run, pilot.slope, is_first) ||
        find_rounding(run, run->time, start) != KOINE_OK || slope_at(run, run->time, start, pilot.slope) != KOINE_OK)
        return;
    memcpy(pilot.y, start, n * sizeof *start);
    pilot_steps(run, &pilot);
    stay_above_rounding(run, pilot.h);
}

/* The model is asked for derivatives ahead of time; the block is as before afterwards. */
static KoineStatus look_ahead(KoineRun *run, bool is_first)
{
    KoineModel *model = run->model;
    const KoineFault fault = model->fault;
    TRY(make_copy(run));
    memcpy(run->scales.copy, model->block, model->size);
    look_from_here(run, is_first);
    memcpy(model->block, run->scales.copy, model->size);
    model->fault = fault;
    return KOINE_OK;
}

static bool has_unknown(const KoineRun *run)
{
    for (size_t i = 0; i < run->tables->n_x; i++)
        if (run->scales.size[i] == 0 && run->scales.share[i] > 0)
            return true;
    return false;
}

static bool has_negligible(const KoineRun *run)
{
    for (size_t i = 0; i < run->tables->n_x; i++)
        if (run->scales.peak[i] < NEGLIGIBLE && run->scales.share[i] > 0)
            return true;
    return false;
}

KoineStatus koine_scales_restart(KoineRun *run)
{
    if (run->tables->n_x == 0 || !run->scales.base)
        return KOINE_OK;
    const bool is_first = run->scales.steps == 0;
    find_floor(run, koine_states(run->model));
    see(run, koine_states(run->model), 1);
    if (run->scales.is_idle || !(is_first ? has_negligible(run) : has_unknown(run)))
        return KOINE_OK;
    TRY(look_ahead(run, is_first));
    see(run, koine_states(run->model), 1);
    return KOINE_OK;
}

/* What a size keeps in the last step: as much as the time was younger. Stiff models have states that fall through many
 * powers of ten while the time grows by as many, and matter. What comes to rest within the run keeps the tolerance it
 * came with, and does not ask for ever shorter steps. */
static double forgetting(const KoineRun *run)
{
    const KoineSolver *solver = run->solver;
    const double start = run->problem.start;
    return koine_max(FORGET, (solver->from - start) / (solver->time - start));
}

double koine_scale_of(const KoineRun *run, uint32_t i)
{
    const KoineScales *scales = &run->scales;
    return scales->share[i] > 0 ? koine_max(scales->peak[i], scales->size[i])
                                : scales->base[i] / run->problem.tolerance;
}

/* Some state is so small that rounding alone may have made it. */
static bool has_tiny(const KoineRun *run)
{
    for (size_t i = 0; i < run->tables->n_x; i++)
        if (run->scales.share[i] > 0 && run->scales.peak[i] < TINY)
            return true;
    return false;
}

/* True: the tolerance of a state that is but rounding has been raised. */
static KoineStatus look_at_noise(KoineRun *run, bool *is_raised)
{
    const double time = run->solver->time;
    double *noise = run->scales.work + TURNS * (size_t)run->tables->n_x, *most = noise + run->tables->n_x;
    *is_raised = false;
    if (!has_tiny(run))
        return KOINE_OK;
    const KoineStatus status = find_noise(run, time, time - run->solver->from, noise, most);
    *is_raised = status == KOINE_OK && leave_noise(run, time, noise, most);
    return status;
}

/* The solver may have what it interpolates with in the block, which is as before afterwards. */
static KoineStatus look_at_rounding(KoineRun *run, bool *is_raised)
{
    KoineModel *model = run->model;
    memcpy(run->scales.copy, model->block, model->size);
    KoineStatus status = find_rounding(run, run->solver->time, run->solver->x);
    if (status == KOINE_OK) {
        stay_above_rounding(run, run->solver->time - run->solver->from);
        status = look_at_noise(run, is_raised);
    }
    memcpy(model->block, run->scales.copy, model->size);
    return status;
}

/* --- Steps --- */

KoineStatus koine_scales_step(KoineRun *run)
{
    KoineScales *scales = &run->scales;
    if (scales->is_idle || run->tables->n_x == 0)
        return KOINE_OK;
    if (++scales->steps != scales->next_look)
        return KOINE_OK;
    scales->next_look *= 2;
    bool is_raised = false;
    TRY(make_copy(run));
    return look_at_rounding(run, &is_raised) < 0 ? koine_solver_failed(run) : KOINE_OK;
}

void koine_scales_accept(KoineRun *run, const double *x)
{
    const KoineScales *scales = &run->scales;
    if (scales->is_idle || run->tables->n_x == 0)
        return;
    if (scales->steps < FLOOR_OFTEN || scales->steps % FLOOR_EVERY == 0)
        find_floor(run, x);
    see(run, x, forgetting(run));
}

/* A state that has never moved and begins to, without an event: no step is short enough for its relative error. It
 * counts as one of size 1 from here on. Nor is one short enough for a state that only rounding moves. */
bool koine_scales_mend(KoineRun *run)
{
    KoineScales *scales = &run->scales;
    bool has_mended = false;
    if (scales->is_idle)
        return false;
    const KoineFault fault = run->model->fault;
    if (make_copy(run) == KOINE_OK)
        look_at_rounding(run, &has_mended);
    run->model->fault = fault;
    for (size_t i = 0; i < run->tables->n_x; i++)
        if (scales->peak[i] == 0 && scales->share[i] > 0 && scales->base[i] < scales->share[i]) {
            scales->base[i] = scales->share[i];
            has_mended = true;
        }
    if (has_mended)
        see(run, run->solver->x, 1);
    return has_mended;
}
