/* What the rows built on SUNDIALS share: context, vectors, evaluation of the model, messages. */
#ifndef KOINE_RUNTIME_SUNDIALS_H
#define KOINE_RUNTIME_SUNDIALS_H

#include "runtime/linear.h"
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sundials/sundials_nonlinearsolver.h>

/* Counters of an integrator since it was begun. */
typedef struct {
    long int rejected, failed, setups, iterations;
} KoineSundialsCounts;

/* CVODE interpolates a step of order 1 linearly: a ball that has just bounced falls from the first moment while its
 * speed still points upwards. A cubic through states and slopes at both ends has both right. */
typedef struct {
    double *values;   /* n_x each: state and slope at `from`, slope at `time`, room for a point; NULL: not in use */
    bool is_possible; /* the last step had order 1 */
    bool is_known, is_used; /* the slopes were looked at; the cubic agrees with what the integrator says */
} KoineCubic;

/* Where the time of the integrator begins: 0, so that it is that of the run, unless numbers of that size cannot hold
 * its steps. Then it counts from the last restart, exactly, whatever the time of the run rounds. */
typedef struct {
    double at;            /* of the run: there the integrator's time is 0 */
    double from, reached; /* by the integrator's time: the ends of the last step */
} KoineEpoch;

typedef struct {         /* why the integrator does not get on */
    bool is_stuck;       /* an evaluation failed close to the present point */
    bool is_lost;        /* the integrator asked for a time that is no number */
    double failed_time;  /* of the last evaluation that failed; NAN: none since the last step */
    uint32_t tiny;       /* steps in a row too short to be told from none */
    KoineStatus failure; /* of the model, below 0 */
} KoineSundialsTrouble;

typedef struct { /* counters over all restarts */
    uint64_t steps, rejected, evaluations, factorisations, iterations;
} KoineSundialsSums;

typedef struct KoineSundials {
    KoineSolver base;
    void *memory; /* of CVODE, IDA or ARKODE */
    SUNContext context;
    N_Vector y;     /* state at time */
    N_Vector slope; /* IDA: its derivative; ARKODE: state at from */
    N_Vector view;  /* looks at somebody else's numbers */
    N_Vector whole; /* with unknowns w: room for all unknowns; else NULL */
    N_Vector atol;
    KoineLinear linear;
    SUNNonlinearSolver nonlinear; /* of the Adams methods */
    KoineCubic cubic;             /* CVODE */
    KoineEpoch origin;
    double goal;       /* stop time in force */
    double largest;    /* step since the last restart */
    double strictness; /* divides the tolerance */
    uint32_t n_begun;  /* multistep methods: steps since the last restart, while they are strict */
    bool is_fresh;     /* restarted and not advanced yet */
    KoineSundialsTrouble trouble;
    KoineSundialsCounts (*read_counts)(void *memory);
    KoineSundialsSums sums;
} KoineSundials;

/* Head, context and vectors of the states and the first n_w unknowns of the model; on failure nothing is left. */
KoineStatus koine_sundials_create(const KoineSolverKind *kind, const KoineProblem *problem, uint32_t n_w,
                                  KoineSundials **out);
void koine_sundials_destroy(KoineSundials *solver); /* all but `memory` */

/* At the begin of an evaluation: false when there is none to make, because the run shall end or the time is no
 * number. */
bool koine_sundials_goes_on(KoineSundials *solver, double time);

/* CVRhsFn, ARKRhsFn: 0, 1 try a smaller step, -1 give up. */
int koine_sundials_slope(double time, N_Vector y, N_Vector slope, void *solver);

/* CVLsJacFn, ARKLsJacFn: df/dx. */
int koine_sundials_jacobian(double time, N_Vector y, N_Vector slope, SUNMatrix matrix, void *solver, N_Vector work1,
                            N_Vector work2, N_Vector work3);

/* CVEwtFn and its sisters: 1/(tolerance*|y| + the absolute tolerance in force). */
int koine_sundials_weights(N_Vector y, N_Vector weights, void *solver);

/* Status of a model inside a call-back, told to SUNDIALS. */
int koine_sundials_tell(KoineSundials *solver, KoineStatus status, double time);

/* CVErrHandlerFn and its sisters: the text of the last error goes to the problem, nothing is printed. */
void koine_sundials_message(int code, const char *module, const char *function, char *text, void *solver);

/* Beginning again makes the integrator forget its counters: they are added up before. */
void koine_sundials_keep_counts(KoineSundials *solver);
void koine_sundials_statistics(const KoineSolver *base, KoineRunStatistics *out);

/* The point to begin from; the integrator itself is not told yet. `x` NULL: the state stays. */
void koine_sundials_place(KoineSundials *solver, double time, const double *x);

/* Multistep methods begin with steps of low order, whose errors have one sign: they would add up over many restarts. So
 * these steps are stricter than the others, until the order or their number is high enough. */
void koine_sundials_begin_strictly(KoineSundials *solver);
void koine_sundials_ease(KoineSundials *solver, int order); /* after each step */

/* What a negative flag of the integrator means to the driver. */
KoineStatus koine_sundials_failed(KoineSundials *solver);

/* The integrator has reached a time, or the goal: the step is recorded. Below 0 if it does not get on any more. */
KoineStatus koine_sundials_stepped(KoineSundials *solver, double reached, bool is_at_goal);

/* A time of the last step, as the integrator counts it. */
double koine_sundials_inside(const KoineSundials *solver, double time);

static inline KoineSundials *koine_sundials_of(KoineSolver *solver)
{
    return (KoineSundials *)(void *)solver;
}

#endif
