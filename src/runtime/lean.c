/* Step control of the lean explicit methods; see lean.h. */
#include "runtime/lean.h"
#include <stdio.h>
#include <stdlib.h>

static const double SAFETY = 0.9;
static const double RETREAT = 0.25;      /* after an evaluation that failed */
static const double ERROR_FLOOR = 1e-20; /* square of the smallest error that step control sees */
static const double LOG_FLOOR = -13.3;   /* log2 of the smallest error that it remembers: 1e-4 */
static const double HELD = 1e-9;         /* of a step: rounding of the time that does not count */
static const double FIRST_GROWTH = 100;  /* of the step after the first one, whose size was a guess */

enum { ALIGNMENT = 64, PARTS = 4 };
static const double NEAR = 1e-4;       /* share of a step, for a difference quotient */
static const double SUSPICIOUS = 0.15; /* of what is stable: a step so long is looked at */
static const double COARSE = 10;       /* defect of an interpolant, over the tolerance */

static KoineLean *lean_of(KoineSolver *solver)
{
    return (KoineLean *)(void *)solver;
}

static const KoineLean *lean_of_const(const KoineSolver *solver)
{
    return (const KoineLean *)(const void *)solver;
}

/* One allocation holds the head and all vectors; vectors are not touched before they are used. */
KoineStatus koine_lean_create_of(const KoineLeanMethod *method, const KoineProblem *problem, KoineSolver **solver)
{
    const size_t n = problem->model->kind->tables->n_x;
    const size_t stride = (n + 7) / 8 * 8;
    const size_t vectors = 4 + method->n_slopes + method->n_dense;
    const size_t head = (sizeof(KoineLean) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    KoineLean *const lean = aligned_alloc(ALIGNMENT, head + vectors * stride * sizeof(double));
    if (!lean)
        return KOINE_FAILED;
    *lean = (KoineLean){ .base = { .kind = method->kind, .problem = problem, .placed = NAN, .is_smooth = true },
                         .method = method,
                         .derivatives = koine_derivatives_of(problem->model->kind),
                         .n = n };
    double *vector = (double *)(void *)((unsigned char *)lean + head);
    lean->y = vector;
    lean->y_old = vector += stride;
    for (uint32_t k = 0; k < method->n_slopes; ++k)
        lean->k[k] = vector += stride;
    lean->dense = vector + stride;
    lean->spare = lean->dense + method->n_dense * stride;
    lean->base.x = lean->y;
    *solver = &lean->base;
    return KOINE_OK;
}

static void destroy(KoineSolver *solver)
{
    free(lean_of(solver)->inner);
    free(solver);
}

/* Weighted root mean square of a vector. */
static double norm(const KoineLean *lean, const double *vector)
{
    const double *const atol = lean->base.problem->atol, *const y = lean->y;
    const double tolerance = lean->base.problem->tolerance;
    double sum = 0;
    for (size_t i = 0; i < lean->n; ++i) {
        const double w = vector[i] / (atol[i] + tolerance * fabs(y[i]));
        sum += w * w;
    }
    return sqrt(sum / (double)lean->n);
}

static KoineStatus evaluate(KoineLean *lean, double time, double *slope)
{
    KoineModel *const model = lean->base.problem->model;
    *koine_time(model) = time;
    ++lean->evaluations;
    const KoineStatus status = lean->derivatives(model);
    memcpy(slope, koine_slopes(model), lean->n * sizeof *slope);
    return status == KOINE_OK && !koine_is_finite(slope, lean->n) ? KOINE_RETRY : status;
}

/* Slope at the present point, which is the first stage of the next step. */
static KoineStatus first_slope(KoineLean *lean)
{
    double *const slope = lean->k[lean->method->last];
    memcpy(koine_states(lean->base.problem->model), lean->y, lean->n * sizeof *lean->y);
    const KoineStatus status = evaluate(lean, lean->base.time, slope);
    lean->has_slope = status == KOINE_OK;
    lean->base.placed = lean->base.time;
    return status;
}

/* First step from the size of the slope and of its change over an explicit Euler step: book, II.4. Its bound of 100 h0
 * is far too careful where a state passes through zero, as at most events: steps taken before count more. */
static double initial_step(KoineLean *lean, double distance)
{
    const double limit = koine_min(lean->base.problem->max_step, distance);
    const double *const slope = lean->k[lean->method->last];
    double *const x = koine_states(lean->base.problem->model), *const change = lean->k[0];
    const double d0 = norm(lean, lean->y), d1 = norm(lean, slope);
    const double h0 = koine_min(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 * distance : 0.01 * d0 / d1, limit);
    for (size_t i = 0; i < lean->n; ++i)
        x[i] = lean->y[i] + h0 * slope[i];
    lean->base.placed = NAN;
    if (evaluate(lean, lean->base.time + h0, change) != KOINE_OK)
        return 0.1 * h0; /* the step control retreats further if need be */
    for (size_t i = 0; i < lean->n; ++i)
        change[i] -= slope[i];
    const double d2 = norm(lean, change) / h0, d = koine_max(d1, d2);
    const double h1 = d <= 1e-15 ? koine_max(1e-6 * distance, 1e-3 * h0)
                                 : koine_rough_exp2(lean->method->exponent * koine_rough_log2(0.01 / d));
    return koine_min(koine_min(koine_max(100 * h0, lean->usual), h1), limit);
}

static KoineStatus restart(KoineSolver *solver, double time, const double *x)
{
    KoineLean *const lean = lean_of(solver);
    memcpy(lean->y, x, lean->n * sizeof *x);
    solver->from = solver->time = time;
    lean->h = 0;
    lean->usual = koine_max(lean->largest, 0.1 * lean->usual);
    lean->last = lean->largest = 0;
    lean->log_old = LOG_FLOOR;
    lean->growth = FIRST_GROWTH;
    lean->has_dense = lean->has_slope = false;
    return KOINE_OK;
}

static inline KoineStatus begin(KoineLean *lean, double goal)
{
    if (!lean->has_slope) {
        const KoineStatus status = first_slope(lean);
        if (status != KOINE_OK)
            return status;
    }
    if (lean->h == 0)
        lean->h = lean->largest = initial_step(lean, goal - lean->base.time);
    double *const slope = lean->k[0], *const y = lean->y_old;
    lean->k[0] = lean->k[lean->method->last];
    lean->k[lean->method->last] = slope;
    lean->y_old = lean->y;
    lean->y = y;
    return KOINE_OK;
}

/* The present point is again the end of the last step. */
static KoineStatus undo_begin(KoineLean *lean, KoineStatus status)
{
    double *const slope = lean->k[0], *const y = lean->y_old;
    lean->k[0] = lean->k[lean->method->last];
    lean->k[lean->method->last] = slope;
    lean->y_old = lean->y;
    lean->y = y;
    lean->base.x = y;
    lean->base.from = lean->base.time;
    return status;
}

static KoineStatus step_vanished(KoineLean *lean, double h)
{
    const KoineProblem *const problem = lean->base.problem;
    koine_step_vanished(problem);
    snprintf(problem->text, problem->text_size,
             "%s: the step size fell to %.3g and the error is still above the tolerance: the solution may end here, "
             "or the tolerance %.3g is too small",
             lean->base.kind->name, h, problem->tolerance);
    return undo_begin(lean, KOINE_FAILED);
}

/* The step to try: not past the goal, and not leaving a crumb before it. */
static double fit(double h, double distance, double near_goal)
{
    if (h >= distance - near_goal)
        return distance;
    return h > 0.5 * distance ? 0.5 * distance : h;
}

/* Late in time, as at 1e9, the end of a short step is rounded by a part of it that counts: the step is what the time
 * can hold. */
static double held(double time, double h)
{
    const double step = (time + h) - time;
    return fabs(step - h) > HELD * h ? koine_max(step, koine_ulp(time)) : h;
}

static void accept_step(KoineLean *lean, double t_new, double h, double factor)
{
    const bool was_cut = h < lean->h;
    double next = h * factor;
    if (was_cut)
        next = koine_max(next, lean->h); /* only the goal made it short */
    lean->h = koine_min(next, lean->base.problem->max_step);
    lean->last = h;
    lean->largest = koine_max(lean->largest, h);
    lean->growth = lean->method->max_factor;
    lean->base.from = lean->base.time;
    lean->base.time = lean->base.placed = t_new;
    lean->base.x = lean->y;
    lean->has_slope = true;
    lean->has_dense = false;
    ++lean->steps;
}

static KoineStatus advance(KoineSolver *solver, double goal)
{
    KoineLean *const lean = lean_of(solver);
    const KoineLeanMethod *const method = lean->method;
    const double near_goal = koine_near(goal), distance = goal - solver->time;
    KoineStatus status = begin(lean, goal);
    if (status != KOINE_OK)
        return status;
    for (;;) {
        const double wanted = fit(lean->h, distance, near_goal),
                     h = wanted < distance ? held(solver->time, wanted) : wanted;
        double error2 = NAN;
        lean->evaluations += method->stages;
        solver->placed = NAN;
        status = method->trial(lean, h, &error2);
        if (status < 0)
            return undo_begin(lean, status);
        if (status != KOINE_OK || !(error2 < DBL_MAX)) {
            ++lean->rejected;
            lean->growth = 1;
            lean->h = RETREAT * h;
            if (koine_interrupted(solver->problem))
                return undo_begin(lean, KOINE_FAILED);
            if (!(lean->h > 0) && status == KOINE_OK)
                return step_vanished(lean, lean->h);
            if (!(lean->h > 0) || lean->h < koine_crossing_step(solver->problem, solver->time, lean->largest))
                return undo_begin(lean, KOINE_RETRY);
            continue;
        }
        if (lean->last == 0 && error2 <= 1 && method->has_cusp && method->has_cusp(lean, h)) {
            ++lean->rejected;
            lean->h = RETREAT * h;
            continue;
        }
        const double log_error = 0.5 * koine_rough_log2(koine_max(error2, ERROR_FLOOR));
        if (error2 <= 1) {
            const double p = -(method->exponent - 0.75 * method->beta) * log_error + method->beta * lean->log_old;
            const double factor = koine_min(SAFETY * koine_rough_exp2(p), lean->growth);
            lean->log_old = koine_max(log_error, LOG_FLOOR);
            accept_step(lean, h == distance ? goal : solver->time + h, h, koine_max(factor, method->min_factor));
            return KOINE_OK;
        }
        ++lean->rejected;
        lean->growth = 1;
        lean->h = h * koine_max(SAFETY * koine_rough_exp2(-method->exponent * log_error), method->min_factor);
        if (koine_interrupted(solver->problem))
            return undo_begin(lean, KOINE_FAILED);
        if (!(lean->h >= koine_near(solver->time)) || lean->h < DBL_MIN)
            return step_vanished(lean, lean->h);
    }
}

/* --- Between the ends of a step --- */

/* Its derivative at a share of the step, compared with that of the model. */
static KoineStatus find_defect(KoineLean *lean, double s, double *size)
{
    const double h = lean->last;
    double *const defect = lean->spare, *const after = lean->spare + lean->n;
    lean->method->interpolate(lean, s - NEAR, defect);
    lean->method->interpolate(lean, s + NEAR, after);
    for (size_t i = 0; i < lean->n; ++i)
        defect[i] = (after[i] - defect[i]) / (2 * NEAR);
    lean->method->interpolate(lean, s, koine_states(lean->base.problem->model));
    lean->base.placed = NAN;
    const KoineStatus status = evaluate(lean, lean->base.from + s * h, after);
    TRY(status);
    for (size_t i = 0; i < lean->n; ++i)
        defect[i] -= h * after[i];
    *size = status == KOINE_OK ? norm(lean, defect) : 0;
    return KOINE_OK;
}

/* Where steps are as long as stability allows, the interpolant of high order magnifies what has died out long ago. */
static KoineStatus check_dense(KoineLean *lean)
{
    double size;
    if (!(lean->method->stiffness(lean) > SUSPICIOUS * lean->method->stable))
        return KOINE_OK;
    TRY(find_defect(lean, 0.35, &size));
    lean->is_coarse = size > COARSE;
    if (lean->is_coarse)
        return KOINE_OK;
    TRY(find_defect(lean, 0.65, &size));
    lean->is_coarse = size > COARSE;
    return KOINE_OK;
}

/* The inner solver stands where this step begins. */
static KoineStatus begin_inside(KoineLean *lean)
{
    KoineSolver *made;
    if (!lean->inner) {
        TRY(koine_lean_create_of(lean->method, lean->base.problem, &made));
        lean->inner = lean_of(made);
    }
    KoineLean *const inner = lean->inner;
    restart(&inner->base, lean->base.from, lean->y_old);
    memcpy(inner->k[lean->method->last], lean->k[0], lean->n * sizeof *lean->k[0]);
    inner->has_slope = true;
    inner->h = lean->last / PARTS;
    return KOINE_OK;
}

/* The value at `time` from a step of a quarter of the length; RETRY: it cannot be made. */
static KoineStatus interpolate_inside(KoineLean *lean, double time, double *x)
{
    if (!lean->inner || lean->inner->base.time > lean->base.time || lean->inner->base.from < lean->base.from ||
        time < lean->inner->base.from || lean->inner_step != lean->steps)
        TRY(begin_inside(lean));
    KoineLean *const inner = lean->inner;
    lean->inner_step = lean->steps;
    lean->base.placed = NAN;
    while (inner->base.time < time) {
        const double h = lean->last / PARTS;
        double error2;
        inner->h = h;
        const KoineStatus begun = begin(inner, lean->base.time);
        const KoineStatus status = begun == KOINE_OK ? inner->method->trial(inner, h, &error2) : begun;
        if (status != KOINE_OK) {
            lean->inner_step = UINT64_MAX;
            return status;
        }
        lean->evaluations += lean->method->stages;
        accept_step(inner, inner->base.time + h, h, 1);
    }
    if (!inner->has_dense) {
        TRY(inner->method->prepare(inner));
        inner->has_dense = true;
    }
    const double s = (time - inner->base.from) / inner->last;
    inner->method->interpolate(inner, s, x);
    return KOINE_OK;
}

static KoineStatus need_dense(KoineLean *lean)
{
    if (lean->has_dense)
        return KOINE_OK;
    TRY(lean->method->prepare(lean));
    lean->has_dense = true;
    lean->is_coarse = false;
    return lean->method->checks_dense ? check_dense(lean) : KOINE_OK;
}

static KoineStatus interpolate(KoineSolver *solver, double time, double *x)
{
    KoineLean *const lean = lean_of(solver);
    TRY(need_dense(lean));
    if (lean->is_coarse && time > solver->from) {
        const KoineStatus status = interpolate_inside(lean, time, x);
        TRY(status);
        if (status == KOINE_OK)
            return KOINE_OK;
    }
    lean->method->interpolate(lean, (time - solver->from) / lean->last, x);
    return KOINE_OK;
}

static uint32_t polynomial(KoineSolver *solver, size_t state, double *values)
{
    KoineLean *const lean = lean_of(solver);
    if (!(lean->last > 0) || need_dense(lean) != KOINE_OK || lean->is_coarse)
        return 0;
    lean->method->polynomial(lean, state, values);
    return lean->method->n_dense;
}

static void statistics(const KoineSolver *solver, KoineRunStatistics *out)
{
    const KoineLean *const lean = lean_of_const(solver);
    out->integration.steps += lean->steps;
    out->integration.rejected_steps += lean->rejected;
    out->integration.evaluations += lean->evaluations;
}

double koine_lean_stiffness(const KoineSolver *solver)
{
    const KoineLean *const lean = lean_of_const(solver);
    return lean->method->stiffness(lean) / lean->method->stable;
}

double koine_lean_next_step(const KoineSolver *solver)
{
    return lean_of_const(solver)->h;
}

static KoineStatus create_dopri5(const KoineProblem *problem, KoineSolver **solver)
{
    return koine_lean_create_of(&koine_dopri5, problem, solver);
}

static KoineStatus create_dop853(const KoineProblem *problem, KoineSolver **solver)
{
    return koine_lean_create_of(&koine_dop853, problem, solver);
}

const KoineSolverKind koine_solver_dopri5 = {
    .name = "dopri5",
    .description = "lean explicit Runge-Kutta 5(4), Dormand and Prince; for non-stiff models at usual tolerances",
    .create = create_dopri5,
    .destroy = destroy,
    .restart = restart,
    .advance = advance,
    .interpolate = interpolate,
    .polynomial = polynomial,
    .statistics = statistics,
};

const KoineSolverKind koine_solver_dop853 = {
    .name = "dop853",
    .description = "lean explicit Runge-Kutta 8(5,3), Dormand and Prince; for non-stiff models at small tolerances",
    .create = create_dop853,
    .destroy = destroy,
    .restart = restart,
    .advance = advance,
    .interpolate = interpolate,
    .polynomial = polynomial,
    .statistics = statistics,
};
