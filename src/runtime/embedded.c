/* Step control of the pair explicit methods; see pair.h. */
#include "runtime/embedded.h"
#include <stdio.h>
#include <stdlib.h>

static const double SAFETY = 0.9;
static const double RETREAT = 0.25;      /* after an evaluation that failed */
static const double ERROR_FLOOR = 1e-20; /* square of the smallest error that step control sees */
static const double LOG_FLOOR = -13.3;   /* log2 of the smallest error that it remembers: 1e-4 */
static const double HELD = 1e-9;         /* of a step: rounding of the time that does not count */
static const double FIRST_GROWTH = 100;  /* of the step after the first one, whose size was a guess */

enum { ALIGNMENT = 64 };
static const double NEAR = 1e-4;       /* share of a step, for a difference quotient */
static const double SUSPICIOUS = 0.15; /* of what is stable: a step so long is looked at */
static const double COARSE = 10;       /* defect of an interpolant, over the tolerance */

static KoineEmbedded *embedded_of(KoineSolver *solver)
{
    return (KoineEmbedded *)(void *)solver;
}

static const KoineEmbedded *embedded_of_const(const KoineSolver *solver)
{
    return (const KoineEmbedded *)(const void *)solver;
}

/* One allocation holds the head and all vectors; vectors are not touched before they are used. */
KoineStatus koine_embedded_create_of(const KoineEmbeddedMethod *method, const KoineProblem *problem,
                                     KoineSolver **solver)
{
    const size_t n = problem->model->kind->tables->n_x;
    const size_t stride = (n + 7) / 8 * 8;
    const size_t vectors = 4 + method->n_slopes + method->n_dense;
    const size_t head = (sizeof(KoineEmbedded) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    KoineEmbedded *pair = aligned_alloc(ALIGNMENT, head + vectors * stride * sizeof(double));
    if (!pair)
        return KOINE_FAILED;
    *pair = (KoineEmbedded){ .base = { .kind = method->kind, .problem = problem, .placed = NAN, .is_smooth = true },
                             .method = method,
                             .derivatives = koine_derivatives_of(problem->model->kind),
                             .n = n };
    double *vector = (double *)(void *)((unsigned char *)pair + head);
    pair->y = vector;
    pair->y_old = vector += stride;
    for (uint32_t k = 0; k < method->n_slopes; k++)
        pair->k[k] = vector += stride;
    pair->interpolant.coefficients = vector + stride;
    pair->spare = pair->interpolant.coefficients + method->n_dense * stride;
    pair->base.x = pair->y;
    *solver = &pair->base;
    return KOINE_OK;
}

static void destroy(KoineSolver *solver)
{
    free(embedded_of(solver)->interpolant.inner);
    free(embedded_of(solver)->interpolant.parts);
    free(solver);
}

/* Weighted root mean square of a vector. */
static double norm(const KoineEmbedded *pair, const double *vector)
{
    const double *atol = pair->base.problem->atol, *y = pair->y;
    const double tolerance = pair->base.problem->tolerance;
    double sum = 0;
    for (size_t i = 0; i < pair->n; i++) {
        const double w = vector[i] / (atol[i] + tolerance * fabs(y[i]));
        sum += w * w;
    }
    return sqrt(sum / (double)pair->n);
}

static KoineStatus evaluate(KoineEmbedded *pair, double time, double *slope)
{
    KoineModel *model = pair->base.problem->model;
    *koine_time(model) = time;
    pair->evaluations++;
    const KoineStatus status = pair->derivatives(model);
    memcpy(slope, koine_slopes(model), pair->n * sizeof *slope);
    return status == KOINE_OK && !koine_is_finite(slope, pair->n) ? KOINE_RETRY : status;
}

/* Slope at the present point, which is the first stage of the next step. */
static KoineStatus first_slope(KoineEmbedded *pair)
{
    double *slope = pair->k[pair->method->last];
    memcpy(koine_states(pair->base.problem->model), pair->y, pair->n * sizeof *pair->y);
    const KoineStatus status = evaluate(pair, pair->base.time, slope);
    pair->has_slope = status == KOINE_OK;
    pair->base.placed = pair->base.time;
    return status;
}

/* First step from the size of the slope and of its change over an explicit Euler step: book, II.4. Its bound of 100 h0
 * is far too careful where a state passes through zero, as at most events: steps taken before count more. */
static double initial_step(KoineEmbedded *pair, double distance)
{
    const double limit = koine_min(pair->base.problem->max_step, distance);
    const double *slope = pair->k[pair->method->last];
    double *x = koine_states(pair->base.problem->model), *change = pair->k[0];
    const double d0 = norm(pair, pair->y), d1 = norm(pair, slope);
    const double h0 = koine_min(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 * distance : 0.01 * d0 / d1, limit);
    for (size_t i = 0; i < pair->n; i++)
        x[i] = pair->y[i] + h0 * slope[i];
    pair->base.placed = NAN;
    if (evaluate(pair, pair->base.time + h0, change) != KOINE_OK)
        return 0.1 * h0; /* the step control retreats further if need be */
    for (size_t i = 0; i < pair->n; i++)
        change[i] -= slope[i];
    const double d2 = norm(pair, change) / h0, d = koine_max(d1, d2);
    const double h1 = d <= 1e-15 ? koine_max(1e-6 * distance, 1e-3 * h0)
                                 : koine_rough_exp2(pair->method->exponent * koine_rough_log2(0.01 / d));
    return koine_min(koine_min(koine_max(100 * h0, pair->usual), h1), limit);
}

static KoineStatus restart(KoineSolver *solver, double time, const double *x)
{
    KoineEmbedded *pair = embedded_of(solver);
    memcpy(pair->y, x, pair->n * sizeof *x);
    solver->from = solver->time = time;
    pair->h = 0;
    pair->usual = koine_max(pair->largest, 0.1 * pair->usual);
    pair->last = pair->largest = 0;
    pair->log_old = LOG_FLOOR;
    pair->growth = FIRST_GROWTH;
    pair->interpolant.is_ready = pair->has_slope = false;
    return KOINE_OK;
}

static inline KoineStatus begin(KoineEmbedded *pair, double goal)
{
    if (!pair->has_slope) {
        const KoineStatus status = first_slope(pair);
        if (status != KOINE_OK)
            return status;
    }
    if (pair->h == 0)
        pair->h = pair->largest = initial_step(pair, goal - pair->base.time);
    double *slope = pair->k[0], *y = pair->y_old;
    pair->k[0] = pair->k[pair->method->last];
    pair->k[pair->method->last] = slope;
    pair->y_old = pair->y;
    pair->y = y;
    return KOINE_OK;
}

/* The present point is again the end of the last step. */
static KoineStatus undo_begin(KoineEmbedded *pair, KoineStatus status)
{
    double *slope = pair->k[0], *y = pair->y_old;
    pair->k[0] = pair->k[pair->method->last];
    pair->k[pair->method->last] = slope;
    pair->y_old = pair->y;
    pair->y = y;
    pair->base.x = y;
    pair->base.from = pair->base.time;
    return status;
}

static KoineStatus step_vanished(KoineEmbedded *pair, double h)
{
    const KoineProblem *problem = pair->base.problem;
    koine_step_vanished(problem);
    snprintf(problem->text, problem->text_size,
             "%s: the step size fell to %.3g and the error is still above the tolerance: the solution may end here, "
             "or the tolerance %.3g is too small",
             pair->base.kind->name, h, problem->tolerance);
    return undo_begin(pair, KOINE_FAILED);
}

/* The step to try: not past the goal, and not leaving a crumb before it. */
static double fit(double h, double distance, double near_goal)
{
    if (h >= distance - near_goal)
        return distance;
    return h > 0.5 * distance ? 0.5 * distance : h;
}

static void accept_step(KoineEmbedded *pair, double t_new, double h, double factor)
{
    const bool was_cut = h < pair->h;
    double next = h * factor;
    if (was_cut)
        next = koine_max(next, pair->h); /* only the goal made it short */
    pair->h = koine_min(next, pair->base.problem->max_step);
    pair->last = h;
    pair->largest = koine_max(pair->largest, h);
    pair->growth = pair->method->max_factor;
    pair->base.from = pair->base.time;
    pair->base.time = pair->base.placed = t_new;
    pair->base.x = pair->y;
    pair->has_slope = true;
    pair->interpolant.is_ready = false;
    pair->steps++;
}

/* Late in time, as at 1e9, the end of a short step is rounded by a part of it that counts: the step is what the time
 * can hold. */
static double held(double time, double h)
{
    const double step = (time + h) - time;
    return fabs(step - h) > HELD * h ? koine_max(step, koine_ulp(time)) : h;
}

static KoineStatus advance(KoineSolver *solver, double goal)
{
    KoineEmbedded *pair = embedded_of(solver);
    const KoineEmbeddedMethod *method = pair->method;
    const double near_goal = koine_near(goal), distance = goal - solver->time;
    KoineStatus status = begin(pair, goal);
    if (status != KOINE_OK)
        return status;
    for (;;) {
        const double wanted = fit(pair->h, distance, near_goal),
                     h = wanted < distance ? held(solver->time, wanted) : wanted;
        double error2 = NAN;
        pair->evaluations += method->stages;
        solver->placed = NAN;
        status = method->trial(pair, h, &error2);
        if (status < 0)
            return undo_begin(pair, status);
        if (status != KOINE_OK || !(error2 < DBL_MAX)) {
            pair->rejected++;
            pair->growth = 1;
            pair->h = RETREAT * h;
            if (koine_interrupted(solver->problem))
                return undo_begin(pair, KOINE_FAILED);
            if (!(pair->h > 0) && status == KOINE_OK)
                return step_vanished(pair, pair->h);
            if (!(pair->h > 0) || pair->h < koine_crossing_step(solver->problem, solver->time, pair->largest))
                return undo_begin(pair, KOINE_RETRY);
            continue;
        }
        if (pair->last == 0 && error2 <= 1 && method->has_cusp && method->has_cusp(pair, h)) {
            pair->rejected++;
            pair->h = RETREAT * h;
            continue;
        }
        const double log_error = 0.5 * koine_rough_log2(koine_max(error2, ERROR_FLOOR));
        if (error2 <= 1) {
            const double p = -(method->exponent - 0.75 * method->beta) * log_error + method->beta * pair->log_old;
            const double factor = koine_min(SAFETY * koine_rough_exp2(p), pair->growth);
            pair->log_old = koine_max(log_error, LOG_FLOOR);
            accept_step(pair, h == distance ? goal : solver->time + h, h, koine_max(factor, method->min_factor));
            return KOINE_OK;
        }
        pair->rejected++;
        pair->growth = 1;
        pair->h = h * koine_max(SAFETY * koine_rough_exp2(-method->exponent * log_error), method->min_factor);
        if (koine_interrupted(solver->problem))
            return undo_begin(pair, KOINE_FAILED);
        if (!(pair->h >= koine_near(solver->time)) || pair->h < DBL_MIN)
            return step_vanished(pair, pair->h);
    }
}

/* --- Between the ends of a step --- */

/* Its derivative at a share of the step, compared with that of the model. */
static KoineStatus find_defect(KoineEmbedded *pair, double s, double *size)
{
    const double h = pair->last;
    double *defect = pair->spare, *after = pair->spare + pair->n;
    pair->method->interpolate(pair, s - NEAR, defect);
    pair->method->interpolate(pair, s + NEAR, after);
    for (size_t i = 0; i < pair->n; i++)
        defect[i] = (after[i] - defect[i]) / (2 * NEAR);
    pair->method->interpolate(pair, s, koine_states(pair->base.problem->model));
    pair->base.placed = NAN;
    const KoineStatus status = evaluate(pair, pair->base.from + s * h, after);
    TRY(status);
    for (size_t i = 0; i < pair->n; i++)
        defect[i] -= h * after[i];
    *size = status == KOINE_OK ? norm(pair, defect) : 0;
    return KOINE_OK;
}

/* Where steps are as long as stability allows, the interpolant of high order magnifies what has died out long ago. */
static KoineStatus check_dense(KoineEmbedded *pair)
{
    double size;
    if (!(pair->method->stiffness(pair) > SUSPICIOUS * pair->method->stable))
        return KOINE_OK;
    TRY(find_defect(pair, 0.35, &size));
    pair->interpolant.is_coarse = size > COARSE;
    if (pair->interpolant.is_coarse)
        return KOINE_OK;
    TRY(find_defect(pair, 0.65, &size));
    pair->interpolant.is_coarse = size > COARSE;
    return KOINE_OK;
}

static size_t part_size(const KoineEmbedded *pair)
{
    return (pair->method->n_dense + (size_t)1) * pair->n;
}

static bool make_inner(KoineEmbedded *pair)
{
    KoineInterpolant *inside = &pair->interpolant;
    KoineSolver *made;
    if (inside->inner)
        return true;
    inside->parts = malloc(EMBEDDED_PARTS * part_size(pair) * sizeof *inside->parts + 1);
    if (!inside->parts || koine_embedded_create_of(pair->method, pair->base.problem, &made) != KOINE_OK) {
        free(inside->parts);
        inside->parts = NULL;
        return false;
    }
    inside->inner = embedded_of(made);
    return true;
}

/* The inner solver stands where this step begins. */
static KoineStatus begin_inside(KoineEmbedded *pair)
{
    KoineInterpolant *inside = &pair->interpolant;
    if (!make_inner(pair))
        return KOINE_FAILED;
    KoineEmbedded *inner = inside->inner;
    restart(&inner->base, pair->base.from, pair->y_old);
    memcpy(inner->k[pair->method->last], pair->k[0], pair->n * sizeof *pair->k[0]);
    inner->has_slope = true;
    inside->inner_step = pair->steps;
    inside->n_parts = 0;
    inside->ends[0] = pair->base.from;
    return KOINE_OK;
}

/* One part more. Each is made once: where it would be made again the search for solutions might begin elsewhere. */
static KoineStatus make_inside(KoineEmbedded *pair)
{
    KoineInterpolant *inside = &pair->interpolant;
    KoineEmbedded *inner = inside->inner;
    const double h = pair->last / EMBEDDED_PARTS;
    double error2, *part = inside->parts + inside->n_parts * part_size(pair);
    inner->h = h;
    pair->base.placed = NAN;
    const KoineStatus begun = begin(inner, pair->base.time);
    const KoineStatus status = begun == KOINE_OK ? inner->method->trial(inner, h, &error2) : begun;
    if (status != KOINE_OK)
        return status;
    pair->evaluations += pair->method->stages;
    accept_step(inner, inner->base.time + h, h, 1);
    TRY(inner->method->prepare(inner));
    memcpy(part, inner->y_old, pair->n * sizeof *part);
    memcpy(part + pair->n, inner->interpolant.coefficients, (part_size(pair) - pair->n) * sizeof *part);
    inside->ends[++inside->n_parts] = inner->base.time;
    return KOINE_OK;
}

/* The value at `time` from a step of a quarter of the length; RETRY: it cannot be made. */
static KoineStatus interpolate_inside(KoineEmbedded *pair, double time, double *x)
{
    KoineInterpolant *inside = &pair->interpolant;
    if (!inside->inner || inside->inner_step != pair->steps)
        TRY(begin_inside(pair));
    while (inside->n_parts == 0 || (inside->n_parts < EMBEDDED_PARTS && inside->ends[inside->n_parts] < time)) {
        const KoineStatus status = make_inside(pair);
        if (status != KOINE_OK) {
            inside->inner_step = UINT64_MAX;
            return status;
        }
    }
    uint32_t k = 0;
    while (k + 1 < inside->n_parts && inside->ends[k + 1] < time)
        k++;
    KoineEmbedded part = *inside->inner;
    part.y_old = inside->parts + k * part_size(pair);
    part.interpolant.coefficients = part.y_old + pair->n;
    pair->method->interpolate(&part, (time - inside->ends[k]) / part.last, x);
    return KOINE_OK;
}

static KoineStatus need_dense(KoineEmbedded *pair)
{
    if (pair->interpolant.is_ready)
        return KOINE_OK;
    TRY(pair->method->prepare(pair));
    pair->interpolant.is_ready = true;
    pair->interpolant.is_coarse = false;
    return pair->method->checks_dense ? check_dense(pair) : KOINE_OK;
}

static KoineStatus interpolate(KoineSolver *solver, double time, double *x)
{
    KoineEmbedded *pair = embedded_of(solver);
    TRY(need_dense(pair));
    if (pair->interpolant.is_coarse && time > solver->from) {
        const KoineStatus status = interpolate_inside(pair, time, x);
        TRY(status);
        if (status == KOINE_OK)
            return KOINE_OK;
    }
    pair->method->interpolate(pair, (time - solver->from) / pair->last, x);
    return KOINE_OK;
}

static uint32_t polynomial(KoineSolver *solver, size_t state, double *values)
{
    KoineEmbedded *pair = embedded_of(solver);
    if (!(pair->last > 0) || need_dense(pair) != KOINE_OK || pair->interpolant.is_coarse)
        return 0;
    pair->method->polynomial(pair, state, values);
    return pair->method->n_dense;
}

/* The parts of a step that its interpolant is too coarse for. */
static bool visit_parts(KoineEmbedded *pair, KoinePieces *pieces)
{
    KoineInterpolant *inside = &pair->interpolant;
    uint32_t n = inside->inner && inside->inner_step == pair->steps ? inside->n_parts : 0;
    KOINE_PIECE(pieces, n);
    if (pieces->visit == KOINE_PIECES_PUT)
        inside->inner_step = UINT64_MAX;
    if (n == 0 || pieces->is_short)
        return true;
    if (n > EMBEDDED_PARTS || !make_inner(pair))
        return false;
    KoineEmbedded *inner = inside->inner;
    KOINE_PIECE(pieces, inside->ends);
    KOINE_PIECE(pieces, inner->last);
    KOINE_PIECE(pieces, inner->base.time);
    koine_piece_numbers(pieces, inside->parts, n * part_size(pair));
    koine_piece_numbers(pieces, inner->y, pair->n);
    koine_piece_numbers(pieces, inner->k[pair->method->last], pair->n);
    inside->n_parts = n;
    inside->inner_step = pair->steps;
    inner->has_slope = true;
    return true;
}

static bool visit(KoineSolver *solver, KoinePieces *pieces)
{
    KoineEmbedded *pair = embedded_of(solver);
    double *const numbers[] = { &pair->h, &pair->last, &pair->largest, &pair->usual, &pair->log_old, &pair->growth };
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        KOINE_PIECE(pieces, *numbers[k]);
    KOINE_PIECE(pieces, pair->has_slope);
    KOINE_PIECE(pieces, pair->interpolant.is_ready);
    KOINE_PIECE(pieces, pair->interpolant.is_coarse);
    KOINE_PIECE(pieces, pair->steps);
    KOINE_PIECE(pieces, pair->rejected);
    KOINE_PIECE(pieces, pair->evaluations);
    koine_piece_numbers(pieces, pair->y, pair->n);
    if (pair->has_slope)
        koine_piece_numbers(pieces, pair->k[pair->method->last], pair->n);
    if (pair->last > 0)
        koine_piece_numbers(pieces, pair->y_old, pair->n);
    for (uint32_t k = 0; k < pair->method->last && pair->last > 0; k++)
        koine_piece_numbers(pieces, pair->k[k], pair->n);
    if (pair->interpolant.is_ready)
        koine_piece_numbers(pieces, pair->interpolant.coefficients, pair->method->n_dense * pair->n);
    solver->x = pair->y;
    return visit_parts(pair, pieces);
}

static void statistics(const KoineSolver *solver, KoineRunStatistics *out)
{
    const KoineEmbedded *pair = embedded_of_const(solver);
    out->integration.steps += pair->steps;
    out->integration.rejected_steps += pair->rejected;
    out->integration.evaluations += pair->evaluations;
}

double koine_embedded_stiffness(const KoineSolver *solver)
{
    const KoineEmbedded *pair = embedded_of_const(solver);
    return pair->method->stiffness(pair) / pair->method->stable;
}

double koine_embedded_next_step(const KoineSolver *solver)
{
    return embedded_of_const(solver)->h;
}

static KoineStatus create_dopri5(const KoineProblem *problem, KoineSolver **solver)
{
    return koine_embedded_create_of(&koine_dopri5, problem, solver);
}

static KoineStatus create_dop853(const KoineProblem *problem, KoineSolver **solver)
{
    return koine_embedded_create_of(&koine_dop853, problem, solver);
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
    .visit = visit,
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
    .visit = visit,
    .statistics = statistics,
};
