/* `auto`: begins with a pair explicit method, moves to cvode-bdf where the model is stiff, and back where it is not.
 *
 * Stiff means: the explicit method steps at the edge of its stability, again and again, and many steps remain. Back
 * means: over a window of steps of the BDF the explicit method would have been stable with few steps of its own.
 * All by counts, so that a run is the same on every machine. A change happens between two steps. */
#include "runtime/cvode.h"
#include "runtime/embedded.h"
#include <stdio.h>
#include <stdlib.h>

static const double HIGH_ORDER_BELOW = 3e-7; /* tolerance: from here on dop853 needs less work than dopri5 */
static const uint32_t LOOK_EVERY = 4;        /* steps, while nothing is suspicious */
static const uint32_t STIFF_AFTER = 15;      /* steps at the edge of stability ... */
static const uint32_t CALM_AFTER = 6;        /* ... not interrupted by so many others */
static const double WORTH_STEPS = 100;       /* explicit steps to the end, below which a change does not pay */
static const uint32_t WINDOW = 100;          /* steps of the BDF that are judged together; doubles with every return */
static const double LEAST_SHARE = 0.3;       /* explicit steps per BDF step that accuracy alone asks for */
static const double RETURN_SHARE = 0.8;      /* explicit steps per BDF step that are cheaper than it */

typedef struct {
    KoineSolver base;
    KoineSolver *active, *pair, *stiff; /* stiff: NULL until it is needed */
    KoineSolver *next;                  /* takes over before the next step; NULL: nobody */
    double stable;                      /* stability limit of `pair` */
    double stiff_since, last_stiffness; /* first change: when and at which h*lambda over the limit */
    double needed;                      /* explicit steps for those of the present window */
    uint32_t look, edge, calm;
    uint32_t in_window, window;
    uint64_t changes;
    bool is_stiff_possible;
} AutoSolver;

static AutoSolver *auto_of(KoineSolver *solver)
{
    return (AutoSolver *)(void *)solver;
}

static const KoineEmbeddedMethod *method_for(const KoineProblem *problem)
{
    return problem->tolerance < HIGH_ORDER_BELOW ? &koine_dop853 : &koine_dopri5;
}

static KoineStatus create(const KoineProblem *problem, KoineSolver **solver)
{
    AutoSolver *self = malloc(sizeof *self);
    if (!self)
        return KOINE_FAILED;
    *self = (AutoSolver){ .base = { .kind = &koine_solver_auto, .problem = problem, .placed = NAN },
                          .stable = method_for(problem)->stable,
                          .look = LOOK_EVERY,
                          .window = WINDOW,
                          .is_stiff_possible = true };
    if (koine_embedded_create_of(method_for(problem), problem, &self->pair) < 0) {
        free(self);
        return KOINE_FAILED;
    }
    self->active = self->pair;
    *solver = &self->base;
    return KOINE_OK;
}

static void destroy(KoineSolver *solver)
{
    AutoSolver *self = auto_of(solver);
    self->pair->kind->destroy(self->pair);
    if (self->stiff)
        self->stiff->kind->destroy(self->stiff);
    free(self);
}

static void follow(AutoSolver *self)
{
    self->base.from = self->active->from;
    self->base.time = self->active->time;
    self->base.x = self->active->x;
    self->base.placed = self->active->placed;
    self->base.is_smooth = self->active->is_smooth;
}

static KoineStatus restart(KoineSolver *solver, double time, const double *x)
{
    AutoSolver *self = auto_of(solver);
    const KoineStatus status = self->active->kind->restart(self->active, time, x);
    follow(self);
    return status;
}

/* --- Explicit: is it stiff? --- */

/* Small steps will do what another method would do faster: that is no fault, but nothing to be silent about. */
static void tell_stiff(const AutoSolver *self)
{
    const KoineProblem *problem = self->base.problem;
    const KoineHost *host = problem->model->host;
    char text[512];
    snprintf(text, sizeof text,
             "the model is stiff at time %.6g, and cvode-bdf cannot be used: %s; %s goes on in small steps",
             self->pair->time, problem->text[0] ? problem->text : "no memory", self->pair->kind->name);
    if (host && host->message)
        host->message(host->context, problem->model, KOINE_MESSAGE_WARNING, text);
}

static void plan_stiff(AutoSolver *self)
{
    const KoineProblem *problem = self->base.problem;
    const double steps_left = (problem->stop - self->pair->time) / koine_embedded_next_step(self->pair);
    self->edge = 0;
    if (steps_left < WORTH_STEPS || !self->is_stiff_possible)
        return;
    if (!self->stiff && koine_solver_cvode_bdf.create(problem, &self->stiff) < 0) {
        self->is_stiff_possible = false; /* the explicit method goes on */
        tell_stiff(self);
        problem->text[0] = '\0';
        return;
    }
    if (self->changes == 0)
        self->stiff_since = self->pair->time;
    self->next = self->stiff;
}

static void watch_explicit(AutoSolver *self)
{
    if (--self->look > 0)
        return;
    const double stiffness = koine_embedded_stiffness(self->pair);
    if (stiffness > 1) {
        self->calm = 0;
        self->look = 1;
        self->last_stiffness = self->changes == 0 ? stiffness : self->last_stiffness;
        if (++self->edge >= STIFF_AFTER)
            plan_stiff(self);
        return;
    }
    if (self->edge > 0 && ++self->calm < CALM_AFTER) {
        self->look = 1;
        return;
    }
    self->edge = self->calm = 0;
    self->look = LOOK_EVERY;
}

/* --- BDF: would the explicit method do? --- */

static void watch_stiff(AutoSolver *self)
{
    const double h = self->stiff->time - self->stiff->from;
    const double steps = h * koine_cvode_norm(self->stiff) / self->stable;
    self->needed += steps > LEAST_SHARE ? steps : LEAST_SHARE;
    if (++self->in_window < self->window)
        return;
    if (self->needed < RETURN_SHARE * self->window) {
        self->next = self->pair;
        self->window *= 2;
    }
    self->in_window = 0;
    self->needed = 0;
}

static KoineStatus take_over(AutoSolver *self)
{
    KoineSolver *from = self->active, *to = self->next;
    self->next = NULL;
    self->active = to;
    self->edge = self->calm = 0;
    self->look = LOOK_EVERY;
    self->in_window = 0;
    self->needed = 0;
    self->changes++;
    return to->kind->restart(to, from->time, from->x);
}

static KoineStatus advance(KoineSolver *solver, double goal)
{
    AutoSolver *self = auto_of(solver);
    if (self->next)
        TRY(take_over(self));
    const KoineStatus status = self->active->kind->advance(self->active, goal);
    follow(self);
    if (status != KOINE_OK)
        return status;
    if (self->active == self->pair)
        watch_explicit(self);
    else
        watch_stiff(self);
    return KOINE_OK;
}

static KoineStatus interpolate(KoineSolver *solver, double time, double *x)
{
    KoineSolver *active = auto_of(solver)->active;
    return active->kind->interpolate(active, time, x);
}

static uint32_t polynomial(KoineSolver *solver, size_t state, double *values)
{
    KoineSolver *active = auto_of(solver)->active;
    if (!active->kind->polynomial)
        return 0;
    active->placed = solver->placed;
    const uint32_t degree = active->kind->polynomial(active, state, values);
    solver->placed = active->placed; /* it may have evaluated something */
    return degree;
}

/* The stiff solver is needed where the run was saved with it: then it begins anew, for it cannot be taken apart. */
static bool provide_stiff(AutoSolver *self, bool is_wanted)
{
    if (is_wanted && !self->stiff && koine_solver_cvode_bdf.create(self->base.problem, &self->stiff) < 0)
        return false;
    return true;
}

static void visit_counts(AutoSolver *self, KoinePieces *pieces)
{
    KOINE_PIECE(pieces, self->stiff_since);
    KOINE_PIECE(pieces, self->last_stiffness);
    KOINE_PIECE(pieces, self->needed);
    KOINE_PIECE(pieces, self->look);
    KOINE_PIECE(pieces, self->edge);
    KOINE_PIECE(pieces, self->calm);
    KOINE_PIECE(pieces, self->in_window);
    KOINE_PIECE(pieces, self->window);
    KOINE_PIECE(pieces, self->changes);
    KOINE_PIECE(pieces, self->is_stiff_possible);
}

static void visit_base(KoineSolver *solver, KoinePieces *pieces)
{
    KOINE_PIECE(pieces, solver->from);
    KOINE_PIECE(pieces, solver->time);
    KOINE_PIECE(pieces, solver->error);
}

static bool visit(KoineSolver *solver, KoinePieces *pieces)
{
    AutoSolver *self = auto_of(solver);
    bool is_stiff = self->active != self->pair, goes_stiff = self->next && self->next == self->stiff;
    bool goes_back = self->next && self->next == self->pair;
    visit_counts(self, pieces);
    KOINE_PIECE(pieces, is_stiff);
    KOINE_PIECE(pieces, goes_stiff);
    KOINE_PIECE(pieces, goes_back);
    if (!provide_stiff(self, is_stiff || goes_stiff))
        pieces->is_short = true;
    if (pieces->is_short)
        return false;
    visit_base(self->pair, pieces);
    self->pair->kind->visit(self->pair, pieces);
    self->active = is_stiff ? self->stiff : self->pair;
    self->next = goes_stiff ? self->stiff : goes_back ? self->pair : NULL;
    if (pieces->visit == KOINE_PIECES_PUT) {
        self->active->placed = NAN;
        follow(self);
    }
    return !is_stiff;
}

static void statistics(const KoineSolver *solver, KoineRunStatistics *out)
{
    const AutoSolver *self = (const AutoSolver *)(const void *)solver;
    const char *pair = self->pair->kind->name;
    self->pair->kind->statistics(self->pair, out);
    if (self->stiff)
        self->stiff->kind->statistics(self->stiff, out);
    out->integration.solver_changes += self->changes;
    snprintf(out->solver, sizeof out->solver, "%s", self->active->kind->name);
    if (self->changes == 0)
        snprintf(out->choice, sizeof out->choice, "%s for tolerance %g; the model was not stiff", pair,
                 solver->problem->tolerance);
    else
        snprintf(
            out->choice, sizeof out->choice,
            "began with %s; stiff at time %.6g, where its steps were %.3g of what is stable; %llu change%s, now %s",
            pair, self->stiff_since, self->last_stiffness, (unsigned long long)self->changes,
            self->changes == 1 ? "" : "s", self->active->kind->name);
}

const KoineSolverKind koine_solver_auto = {
    .name = "auto",
    .description = "lean explicit method, and cvode-bdf where the model is stiff (default)",
    .create = create,
    .destroy = destroy,
    .restart = restart,
    .advance = advance,
    .interpolate = interpolate,
    .polynomial = polynomial,
    .visit = visit,
    .statistics = statistics,
};
