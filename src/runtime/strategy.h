/* Time: what the kernel asks the notion of time of a run.
 *
 * Time is continuous (continuous.c) unless the options of the run ask for another strategy. A strategy says where
 * instants, steps and points may lie, how a crossing is found and how a run gets over what cannot be evaluated. The
 * kernel knows no strategy by name; a function that is NULL is one that the strategy does not need. */
#ifndef KOINE_RUNTIME_STRATEGY_H
#define KOINE_RUNTIME_STRATEGY_H

#include "runtime/solver.h"

struct KoineRun;

typedef enum {
    KOINE_SNAP_UNTIL,  /* to the last time of instants not behind it */
    KOINE_SNAP_FROM,   /* to the first one not before it */
    KOINE_SNAP_NEAREST /* to the nearest one */
} KoineSnap;

typedef struct { /* what a strategy remembers: run->strategy_state */
    KoineStatus (*create)(struct KoineRun *run);
    void (*destroy)(struct KoineRun *run);
    void (*visit)(struct KoineRun *run, KoinePieces *pieces); /* for a run that is saved */
} KoineStrategyMemory;

typedef struct KoineTimeStrategy {
    bool looks_between; /* points inside a step are as good as its ends: it is divided and looked into where that helps,
                           and a run that is interrupted may end there */
    bool learns_from_trials; /* sizes of states are learnt at the end of every step, also of one that is cut then */
    bool keeps_left;   /* behind a step across a discontinuity the last point before it stands for the left limits,
                           even where these can be computed */
    bool meets_points; /* points of the output grid matter to the steps, whether or not anyone records them */

    /* The time of instants that `time` becomes. NULL: `time` itself */
    double (*snap)(const KoineProblem *problem, double time, KoineSnap to);
    /* The share of [from, to] nearest to `share` where root functions may be looked at. NULL: `share` itself */
    double (*share)(const KoineProblem *problem, double from, double to, double share);
    /* Where a step of fixed size from `time` ends. */
    double (*step_end)(const KoineProblem *problem, double time, double step);
    /* Steps of such a solver end at points of the output grid; every instant restarts it. */
    bool (*ends_at_points)(const KoineSolverKind *kind);
    bool (*restarts)(const KoineSolverKind *kind);

    KoineStrategyMemory memory;
    /* The block holds the state at run->time. */
    void (*keep)(struct KoineRun *run);
    /* The solver is about to step from run->time towards `goal`. An event found just behind run->time sets *cause. */
    KoineStatus (*begin_step)(struct KoineRun *run, double goal, unsigned *cause);
    /* Finds a crossing in (from, *to]: see koine_roots_locate. */
    KoineStatus (*locate)(struct KoineRun *run, double from, double *to, bool is_blind);
    /* An event was found at `to`. *is_undone: the model contradicts it, the step is made again. */
    KoineStatus (*doubt)(struct KoineRun *run, double to, bool *is_undone);
    /* The event found is a discontinuity that the run steps across: *is_crossed. */
    KoineStatus (*cross_region)(struct KoineRun *run, double goal, unsigned *cause, bool *is_crossed);
    /* The step was made again and ends at the event: whether it has happened there, or earlier (*to). */
    KoineStatus (*confirm)(struct KoineRun *run, double *to, bool *is_event);
    /* Nothing can be evaluated just behind the solver's time: steps over that, not beyond `goal`. */
    KoineStatus (*cross)(struct KoineRun *run, double goal, unsigned *cause);
    /* An instant has ended: below 0 if it is one of a chain that will not end. */
    KoineStatus (*watch)(struct KoineRun *run, unsigned cause);
    /* The run has ended well: the block gets the state at run->time. */
    void (*settle)(struct KoineRun *run);
} KoineTimeStrategy;

extern const KoineTimeStrategy koine_time_continuous, koine_time_on_grid;

/* The strategy of a run with this resolution; 0: time is continuous. */
const KoineTimeStrategy *koine_time_strategy(double resolution);

/* Checks what the options say of time and chooses the strategy of the run; problem.control is as given. */
KoineStatus koine_time_choose(struct KoineRun *run);

/* Fills in the defaults of problem->control, the rest of the problem being known. */
void koine_time_complete(KoineProblem *problem);

#endif
