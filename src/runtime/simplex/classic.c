/* Step control of the classic methods; see classic.h.
 *
 * Above high_error a step is repeated with half the size; below low_error the next one is twice as large, or one and
 * a half times after a halving, because twice would fail again. A goal may cut a step: the regular size stays. On a
 * time grid steps are whole multiples of its unit. */
#include "runtime/simplex/classic.h"
#include <stdio.h>
#include <stdlib.h>

static const double CAREFUL_GROWTH = 1.5; /* after a halving */
static const double LEFT_OVER = 10;       /* what a slope says of a step over what the step was */
static const double DAMPING = 1e-6;       /* of the regular step */
static const double UP = 1 + 1e-12;       /* a quotient that is so little less than a whole number is that one */

static KoineClassic *classic_of(KoineSolver *solver)
{
    return (KoineClassic *)(void *)solver;
}

static const KoineClassic *classic_of_const(const KoineSolver *solver)
{
    return (const KoineClassic *)(const void *)solver;
}

KoineStatus koine_classic_create(const KoineClassicMethod *method, const KoineProblem *problem, KoineSolver **solver)
{
    const size_t n = problem->model->kind->tables->n_x;
    KoineClassic *classic = malloc(sizeof *classic + (6 + method->n_work) * n * sizeof(double));
    if (!classic)
        return KOINE_FAILED;
    double *vectors = (double *)(void *)(classic + 1);
    *classic = (KoineClassic){
        .base = { .kind = method->kind, .problem = problem, .placed = NAN, .x = vectors },
        .method = method,
        .n = n,
        .y = vectors,
        .y_old = vectors + n,
        .slope = vectors + 2 * n,
        .slope_old = vectors + 3 * n,
        .better = vectors + 4 * n,
        .middle = vectors + 5 * n,
        .wants_error = problem->control.error_mode != KOINE_ERROR_NONE,
    };
    for (uint32_t k = 0; k < method->n_work; k++)
        classic->work[k] = vectors + (6 + k) * n;
    if (method->create && method->create(classic) < 0) {
        koine_classic_destroy(&classic->base);
        return KOINE_FAILED;
    }
    *solver = &classic->base;
    return KOINE_OK;
}

void koine_classic_destroy(KoineSolver *solver)
{
    KoineClassic *classic = classic_of(solver);
    if (classic->method->destroy)
        classic->method->destroy(classic);
    free(classic);
}

KoineStatus koine_classic_restart(KoineSolver *solver, double time, const double *x)
{
    KoineClassic *classic = classic_of(solver);
    memcpy(classic->y, x, classic->n * sizeof *x);
    solver->from = solver->time = time;
    solver->x = classic->y;
    classic->has_slope = false;
    classic->regular = koine_min(solver->problem->control.first_step, solver->problem->max_step);
    classic->usual = 0;
    classic->is_restless = false;
    if (classic->method->forget)
        classic->method->forget(classic);
    return KOINE_OK;
}

void koine_classic_limit(KoineSolver *solver, double h)
{
    KoineClassic *classic = classic_of(solver);
    classic->regular = koine_min(classic->regular, h);
}

KoineStatus koine_classic_slope(KoineClassic *classic, double time, const double *x, double *slope)
{
    classic->counts.evaluations++;
    classic->base.placed = NAN;
    return koine_derivatives_at(classic->base.problem->model, time, x, slope);
}

/* --- One trial --- */

/* Two steps of half the size, as the better value. */
static KoineStatus halves(KoineClassic *classic, double from, double h)
{
    const KoineClassicMethod *method = classic->method;
    double *slope = classic->slope; /* not in use inside a step */
    const KoineClassicStep first = {
        .time = from, .h = 0.5 * h, .x = classic->y_old, .slope = classic->slope_old, .end = classic->middle
    };
    const KoineClassicStep second = {
        .time = from + 0.5 * h, .h = 0.5 * h, .x = classic->middle, .slope = slope, .end = classic->better
    };
    KoineStatus status = method->step(classic, &first);
    if (status == KOINE_OK)
        status = koine_classic_slope(classic, second.time, classic->middle, slope);
    return status == KOINE_OK ? method->step(classic, &second) : status;
}

static void find_error(KoineClassic *classic)
{
    const KoineProblem *problem = classic->base.problem;
    classic->errors.last = 0;
    classic->errors.worst = 0;
    for (size_t i = 0; i < classic->n; i++) {
        const double z = classic->y[i], better = classic->better[i];
        const double size = koine_max(koine_max(fabs(better), fabs(z)),
                                      koine_max(fabs(classic->y_old[i]), koine_classic_floor(problem, i)));
        const double error = fabs(z - better) / size;
        if (error > classic->errors.last) {
            classic->errors.last = error;
            classic->errors.worst = (uint32_t)i;
        }
    }
}

static bool is_adaptive(const KoineClassic *classic)
{
    return classic->base.problem->control.error_mode == KOINE_ERROR_ADAPT;
}

static KoineStatus try_step(KoineClassic *classic, double from, double h)
{
    const KoineClassicMethod *method = classic->method;
    const bool is_embedded = classic->wants_error && method->has_estimate;
    const KoineClassicStep step = { .time = from,
                                    .h = h,
                                    .x = classic->y_old,
                                    .slope = classic->slope_old,
                                    .end = classic->y,
                                    .better = is_embedded ? classic->better : NULL };
    classic->is_unsolved = false;
    KoineStatus status = method->step(classic, &step);
    if (status == KOINE_OK && classic->wants_error && !method->has_estimate)
        status = halves(classic, from, h);
    if (status == KOINE_RETRY && classic->is_unsolved && is_adaptive(classic)) {
        classic->errors.last = INFINITY; /* not a point that cannot be evaluated, but a step that is too large */
        return KOINE_OK;
    }
    if (status != KOINE_OK)
        return status;
    if (!koine_is_finite(classic->y, classic->n))
        return KOINE_RETRY;
    if (!classic->wants_error)
        return KOINE_OK;
    if (!koine_is_finite(classic->better, classic->n))
        return KOINE_RETRY;
    find_error(classic);
    return KOINE_OK;
}

/* --- Step control --- */

static void swap(KoineClassic *classic)
{
    double *y = classic->y, *slope = classic->slope;
    classic->y = classic->y_old;
    classic->slope = classic->slope_old;
    classic->y_old = y;
    classic->slope_old = slope;
}

static KoineStatus slope_at_end(KoineClassic *classic)
{
    if (classic->has_slope)
        return KOINE_OK;
    const KoineStatus status = koine_classic_slope(classic, classic->base.time, classic->y, classic->slope);
    classic->has_slope = status == KOINE_OK;
    return status;
}

/* Where a step of about `h` from `from` ends: on the time grid, and not beyond the goal. */
static double end_of(const KoineProblem *problem, double from, double h, double goal)
{
    const double unit = problem->control.resolution;
    double end = from + h;
    if (unit > 0)
        end = koine_grid_time(unit, koine_grid_nearest(unit, from) + koine_max(1, floor(h / unit * UP)));
    return end > goal - koine_near(goal) ? goal : end;
}

/* Half of a step; 0 if that is less than the time can tell. */
static double half_of(const KoineProblem *problem, double from, double h)
{
    const double unit = problem->control.resolution;
    const double half = unit > 0 ? unit * floor(0.5 * h / unit * UP) : 0.5 * h;
    return half < koine_near(from) ? 0 : half;
}

static KoineStatus too_small(const KoineClassic *classic, double h)
{
    const KoineProblem *problem = classic->base.problem;
    const KoineTables *tables = problem->model->kind->tables;
    const KoineVariable *const state =
        tables->state_variable ? &tables->variables[tables->state_variable[classic->errors.worst]] : NULL;
    char where[256] = "", limit[64] = "the resolution of the time",
         why[128] = "the equations of the step have no solution";
    if (state)
        koine_place_text(tables, &state->place, where, sizeof where);
    if (problem->control.resolution > 0)
        snprintf(limit, sizeof limit, "the time grid %.6g", problem->control.resolution);
    if (isfinite(classic->errors.last))
        snprintf(why, sizeof why, "the relative error is %.3g, above %.3g", classic->errors.last,
                 problem->control.high_error);
    koine_step_vanished(problem);
    snprintf(
        problem->text, problem->text_size,
        "%s needs a step below %s because of %s%s%s%s: with a step of %.3g %s; allow a larger error%s, or choose a "
        "method for stiff models such as %s%s",
        classic->base.kind->name, limit, state ? state->name : "a state", where[0] ? " (" : "", where,
        where[0] ? ")" : "", h, why, problem->control.resolution > 0 ? ", a finer time grid" : "",
        classic->base.kind == &koine_solver_simplex_rosenbrock ? "cvode-bdf" : "simplex-rosenbrock",
        problem->control.resolution > 0 ? "" : ", unless the solution ends here");
    return KOINE_FAILED;
}

/* Steps from (from, y_old), smaller and smaller, until one is good; it ends at *end. */
static KoineStatus find_step(KoineClassic *classic, double goal, double *end, bool *was_halved)
{
    const KoineProblem *problem = classic->base.problem;
    const double from = classic->base.from;
    for (double h = koine_max(classic->regular, koine_near(from));;) {
        *end = end_of(problem, from, h, goal);
        h = *end - from;
        const KoineStatus status = try_step(classic, from, h);
        if (status < 0)
            return status;
        if (status == KOINE_OK && (!is_adaptive(classic) || classic->errors.last <= problem->control.high_error))
            return KOINE_OK;
        classic->counts.rejected++;
        *was_halved = true;
        if (koine_interrupted(problem))
            return KOINE_FAILED;
        const double half = half_of(problem, from, h);
        if (status == KOINE_OK) {
            classic->counts.halvings++;
            if (half == 0)
                return too_small(classic, h);
        } else if (!(half > 0) || half < koine_crossing_step(problem, from, koine_max(classic->usual, h))) {
            return KOINE_RETRY; /* it cannot be evaluated there, however small the step */
        }
        h = half;
    }
}

/* The size of the next step, after one of size h. */
static void adapt(KoineClassic *classic, double h, bool was_halved)
{
    const KoineProblem *problem = classic->base.problem;
    const bool is_small = classic->errors.last < problem->control.low_error;
    double next = classic->regular;
    if (was_halved)
        next = is_small ? CAREFUL_GROWTH * h : h;
    else if (is_small)
        next = koine_max(next, 2 * h); /* what a goal has cut says nothing against the regular size */
    next = koine_min(next, problem->max_step);
    classic->counts.doublings += !was_halved && next > classic->regular;
    classic->regular = next;
}

/* --- Damping --- */

/* What is fast has long come to rest, but the implicit methods turn what is left of it to and fro, and hardly damp it:
 * its slope promises far more than the step made of it, and it alone keeps the step from growing. */
static bool is_left_over(const KoineClassic *classic, double h)
{
    const uint32_t i = classic->errors.worst;
    return classic->method->damp && is_adaptive(classic) &&
           classic->errors.last >= classic->base.problem->control.low_error &&
           classic->base.problem->control.resolution == 0 &&
           h * fabs(classic->slope_old[i]) > LEFT_OVER * fabs(classic->y[i] - classic->y_old[i]);
}

/* A tiny step of the implicit Euler method, which leaves nothing of what is fast and has no error in what is slow.
 * RETRY: it cannot be made. */
static KoineStatus damp(KoineClassic *classic, double goal)
{
    KoineSolver *solver = &classic->base;
    const double start = solver->time, h = DAMPING * classic->regular;
    classic->is_restless = false;
    if (h < koine_near(start) || start + h > goal - koine_near(goal))
        return KOINE_RETRY;
    swap(classic);
    const KoineClassicStep step = {
        .time = start, .h = h, .x = classic->y_old, .slope = classic->slope_old, .end = classic->y
    };
    const KoineStatus status = classic->method->damp(classic, &step);
    if (status != KOINE_OK || !koine_is_finite(classic->y, classic->n)) {
        swap(classic);
        return status < 0 ? status : KOINE_RETRY;
    }
    solver->from = start;
    solver->time = start + h;
    solver->x = classic->y;
    solver->error = 0;
    classic->has_slope = false;
    classic->counts.steps++;
    return KOINE_OK;
}

KoineStatus koine_classic_advance(KoineSolver *solver, double goal)
{
    KoineClassic *classic = classic_of(solver);
    const double start = solver->time;
    double end = goal;
    bool was_halved = false;
    KoineStatus status = slope_at_end(classic);
    if (status != KOINE_OK)
        return status;
    if (classic->is_restless) {
        status = damp(classic, goal);
        if (status != KOINE_RETRY)
            return status;
    }
    swap(classic);
    solver->from = start;
    status = find_step(classic, goal, &end, &was_halved);
    if (status != KOINE_OK) {
        swap(classic);
        solver->x = classic->y;
        return status;
    }
    solver->time = end;
    solver->x = classic->y;
    classic->has_slope = false;
    classic->usual = koine_max(classic->usual, end - start);
    classic->is_restless = is_left_over(classic, end - start);
    classic->counts.steps++;
    solver->error = classic->wants_error ? classic->errors.last : 0;
    if (classic->wants_error && classic->errors.last > classic->errors.largest) {
        classic->errors.largest = classic->errors.last;
        classic->errors.largest_worst = classic->errors.worst;
    }
    if (is_adaptive(classic))
        adapt(classic, end - start, was_halved);
    return KOINE_OK;
}

KoineStatus koine_classic_interpolate(KoineSolver *solver, double time, double *x)
{
    KoineClassic *classic = classic_of(solver);
    const double whole = solver->time - solver->from, h = time - solver->from;
    const KoineClassicStep step = {
        .time = solver->from, .h = h, .x = classic->y_old, .slope = classic->slope_old, .end = classic->middle
    };
    if (h == 0) {
        memcpy(x, classic->y_old, classic->n * sizeof *x);
        return KOINE_OK;
    }
    const KoineStatus status = classic->method->step(classic, &step);
    TRY(status);
    if (status == KOINE_OK && koine_is_finite(classic->middle, classic->n)) {
        memcpy(x, classic->middle, classic->n * sizeof *x);
        return KOINE_OK;
    }
    const double s = h / whole; /* the parabola through what is known */
    for (size_t i = 0; i < classic->n; i++) {
        const double line = h * classic->slope_old[i], change = classic->y[i] - classic->y_old[i];
        x[i] = classic->y_old[i] + line + s * s * (change - whole * classic->slope_old[i]);
    }
    return KOINE_OK;
}

bool koine_classic_visit(KoineSolver *solver, KoinePieces *pieces)
{
    KoineClassic *classic = classic_of(solver);
    KOINE_PIECE(pieces, classic->regular);
    KOINE_PIECE(pieces, classic->usual);
    KOINE_PIECE(pieces, classic->has_slope);
    KOINE_PIECE(pieces, classic->is_restless);
    KOINE_PIECE(pieces, classic->errors);
    KOINE_PIECE(pieces, classic->counts);
    koine_piece_numbers(pieces, classic->y, classic->n);
    if (classic->has_slope)
        koine_piece_numbers(pieces, classic->slope, classic->n);
    if (solver->time > solver->from) {
        koine_piece_numbers(pieces, classic->y_old, classic->n);
        koine_piece_numbers(pieces, classic->slope_old, classic->n);
    }
    if (classic->errors.largest_worst >= classic->n)
        classic->errors.largest_worst = 0;
    solver->x = classic->y;
    return !classic->method->visit || classic->method->visit(classic, pieces);
}

void koine_classic_statistics(const KoineSolver *solver, KoineRunStatistics *out)
{
    const KoineClassic *classic = classic_of_const(solver);
    const KoineTables *tables = solver->problem->model->kind->tables;
    out->integration.steps += classic->counts.steps;
    out->integration.rejected_steps += classic->counts.rejected;
    out->integration.evaluations += classic->counts.evaluations;
    out->control.step_halvings += classic->counts.halvings;
    out->control.step_doublings += classic->counts.doublings;
    out->control.largest_error = classic->errors.largest;
    if (classic->errors.largest > 0 && tables->state_variable)
        snprintf(out->control.largest_error_state, sizeof out->control.largest_error_state, "%s",
                 tables->variables[tables->state_variable[classic->errors.largest_worst]].name);
    if (classic->method->statistics)
        classic->method->statistics(classic, out);
}
