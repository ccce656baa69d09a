/* A solver advances the continuous states of one model between events.
 *
 * One row of the table in solvers.c a method; whoever drives a solver knows only this header. A solver
 * makes one internal step at a time and can interpolate inside the last one. It never looks at root
 * functions: events are located by roots.c on the interpolant, so that every method means the same.
 *
 * The state at the end of the last step is `x`, the step is [from, time]. Evaluations may be made in
 * place: afterwards the block holds some other time and state, and `placed` says which (NAN: unknown). */
#ifndef KOINE_RUNTIME_SOLVER_H
#define KOINE_RUNTIME_SOLVER_H

#include "koine/simulate.h"
#include "runtime/pieces.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* The only macro that returns: a status below 0 has been reported already. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const KoineStatus try_status = (call);                                                                         \
        if (try_status < 0)                                                                                            \
            return try_status;                                                                                         \
    } while (0)

/* The loop that follows writes to no array that it reads from by another name. */
#if defined(__clang__)
#define KOINE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define KOINE_INDEPENDENT _Pragma("GCC ivdep")
#else
#define KOINE_INDEPENDENT
#endif

/* Functions whose first argument is a number of states are written out for each of the small ones: their loops then
 * cost nothing beside the arithmetic. The bits are the same. */
#define KOINE_FOR_EACH_SIZE static inline __attribute__((always_inline))
#define KOINE_BY_SIZE(function, n, ...)                                                                                \
    ((n) == 1   ? function(1, __VA_ARGS__)                                                                             \
     : (n) == 2 ? function(2, __VA_ARGS__)                                                                             \
     : (n) == 3 ? function(3, __VA_ARGS__)                                                                             \
     : (n) == 4 ? function(4, __VA_ARGS__)                                                                             \
                : function(n, __VA_ARGS__))

/* What a solver is asked to solve; outlives it. */
typedef struct KoineProblem {
    KoineModel *model;
    const struct KoineTimeStrategy *strategy; /* the notion of time, see strategy.h */
    double start, stop;
    double tolerance;              /* relative */
    double step;                   /* of fixed-step methods */
    double max_step;               /* INFINITY: none */
    KoineTimeControl control;      /* with its defaults */
    const double *atol;            /* absolute tolerance of each state, which changes from step to step */
    volatile const int *interrupt; /* see koine_interrupted; NULL: never */
    char *text;                    /* where a solver says why it cannot go on */
    size_t text_size;
    int32_t *cause; /* ... and which KoineCause it is; 0: it gave up */
} KoineProblem;

/* The run shall end: whatever tries again and again gives up, with a status below 0 and its last good state. */
static inline bool koine_interrupted(const KoineProblem *problem)
{
    return problem->interrupt && *problem->interrupt;
}

typedef struct KoineSolver {
    const struct KoineSolverKind *kind;
    const KoineProblem *problem;
    double from, time; /* the last step; from == time after restart */
    const double *x;   /* state at `time` */
    double placed;     /* time whose state the block holds; NAN: none */
    double error;      /* of the last step, relative, as estimated; 0: not known */
    bool is_smooth;    /* its interpolants of two steps meet with equal values and slopes */
} KoineSolver;

enum { KOINE_MOST_DEGREE = 7 };

typedef struct KoineSolverKind {
    const char *name, *description;
    bool never_passes;    /* its steps end at the goal: it must not be driven past an event and back */
    bool stops_at_points; /* points of the output grid are goals, too */
    bool has_fixed_steps; /* it controls no error: tolerances mean nothing to it */
    KoineStatus (*create)(const KoineProblem *problem, KoineSolver **solver);
    void (*destroy)(KoineSolver *solver);
    /* Begin at (time, x), forgetting the past; also takes over from another solver. */
    KoineStatus (*restart)(KoineSolver *solver, double time, const double *x);
    /* One internal step, at most to `goal`, reached exactly. RETRY: no step succeeds from here because the
     * model cannot be evaluated beyond; time and x stay. Below 0: failed, problem->text or the fault says why. */
    KoineStatus (*advance)(KoineSolver *solver, double goal);
    /* State at a time inside the last step. `x` may be the block's own. */
    KoineStatus (*interpolate)(KoineSolver *solver, double time, double *x);
    /* values[0..d] := the Bernstein values of the interpolant of one state on [from, time], which is a polynomial of
     * degree d <= KOINE_MOST_DEGREE, the result. 0: it is none. May evaluate the model. May be NULL. */
    uint32_t (*polynomial)(KoineSolver *solver, size_t state, double *values);
    /* Repeat the last step so that it ends at `time` < solver->time; NULL: the interpolant is as good as a step.
     * Afterwards only the end of the step is of use. RETRY as for advance. */
    KoineStatus (*shorten)(KoineSolver *solver, double time);
    /* The next step is no longer than h and later ones grow from there. NULL: the stages of a step stand on its ends,
     * so that it need not be shortened for what lies there. */
    void (*limit)(KoineSolver *solver, double h);
    /* What it remembers, but for `base`. False: not all of it can be taken out: a restored run begins anew with it.
     * NULL: that is always so. */
    bool (*visit)(KoineSolver *solver, KoinePieces *pieces);
    /* Add what was done to `out`. */
    void (*statistics)(const KoineSolver *solver, KoineRunStatistics *out);
} KoineSolverKind;

extern const KoineSolverKind koine_solver_auto, koine_solver_dopri5, koine_solver_dop853, koine_solver_cvode_bdf,
    koine_solver_cvode_adams, koine_solver_ida, koine_solver_arkode_erk, koine_solver_arkode_dirk, koine_solver_euler,
    koine_solver_heun, koine_solver_rk4;

/* Not in the public table: models without states whose root functions move with time. */
extern const KoineSolverKind koine_solver_clock;

/* Row by name, or NULL. */
const KoineSolverKind *koine_find_solver(const char *name);

static inline double *koine_states(const KoineModel *model)
{
    return (double *)(void *)(model->block + model->kind->tables->x);
}

/* The text of the problem says that the step size vanished. */
static inline void koine_step_vanished(const KoineProblem *problem)
{
    if (problem->cause)
        *problem->cause = KOINE_CAUSE_STEP_SIZE;
}

static inline double *koine_slopes(const KoineModel *model)
{
    return (double *)(void *)(model->block + model->kind->tables->dx);
}

static inline double *koine_time(const KoineModel *model)
{
    return (double *)(void *)(model->block + model->kind->tables->time);
}

/* Derivatives of what stands in the block, left in the block. */
typedef KoineStatus (*KoineDerivatives)(KoineModel *model);
KoineDerivatives koine_derivatives_of(const KoineModelKind *kind);

/* Derivatives at (time, x) into `der`, by way of the block. RETRY also where a value is not finite. */
KoineStatus koine_derivatives_at(KoineModel *model, double time, const double *x, double *der);

/* f(x, w) - dx and what the equations of w lack, at y = (x, w), by way of the block; dx NULL: 0. RETRY as above. */
KoineStatus koine_residual_at(KoineModel *model, double time, const double *y, const double *dx, double *residual);

/* "file:line", or "" */
const char *koine_place_text(const KoineTables *tables, const KoinePlace *place, char *text, size_t size);

/* True if all values are finite. */
bool koine_is_finite(const double *values, size_t n);

/* Cubic through states and slopes at both ends of a step, at s in [0, 1]; slopes are times the step. */
void koine_hermite(size_t n, double s, double h, const double *const ends[2], const double *const slopes[2], double *x);

/* The library's fmin and fmax are calls, because of NaN; where one is NaN these return b. */
static inline double koine_min(double a, double b)
{
    return a < b ? a : b;
}

static inline double koine_max(double a, double b)
{
    return a > b ? a : b;
}

/* Distance from |t| to the next larger double. */
static inline double koine_ulp(double t)
{
    uint64_t bits;
    double power;
    memcpy(&bits, &t, sizeof bits);
    bits &= UINT64_C(0x7ff0000000000000);
    memcpy(&power, &bits, sizeof power);
    return power * DBL_EPSILON;
}

/* Times this close are one instant (S7); no step is shorter. Around 0, which has no ulp of its own, it is a distance
 * that solvers can still multiply with itself. */
static inline double koine_near(double t)
{
    return 16 * koine_ulp(t) + 1e-150;
}

/* h_cross of the semantics: below this step a failing evaluation is crossed by Euler steps. `usual` is the
 * largest step since the last restart: models that live on a far smaller scale than the run keep theirs. */
static inline double koine_crossing_step(const KoineProblem *problem, double time, double usual)
{
    const double span = koine_min(1e-12 * (problem->stop - problem->start), 1e-6 * usual);
    return koine_max(problem->control.resolution, koine_max(64 * koine_ulp(time), span));
}

#endif
