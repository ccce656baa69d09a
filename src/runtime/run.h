/* One run of one model: the data shared by the files of the hybrid kernel.
 *
 * simulate.c is the run (2.2 of the semantics), advance.c the integration (2.3), scan.c the search for crossings,
 * roots.c their location, instant.c the instant (2.4), record.c what sinks receive, unending.c chains of instants that
 * do not end, hold.c comparisons that chatter, scales.c the sizes of states, pause.c where a run waits, report.c the
 * texts. strategy.h says what time is. Functions return a status; below 0 the run is over and run->report says why. */
#ifndef KOINE_RUNTIME_RUN_H
#define KOINE_RUNTIME_RUN_H

#include "runtime/scales.h"
#include "runtime/strategy.h"
#include "runtime/support/text.h"

enum { WATCH_RING = 128 }; /* instants remembered; a power of two */
#define NO_ROOT UINT32_MAX

typedef struct {
    double time;
    uint32_t root;   /* the first that crossed, or NO_ROOT */
    unsigned effect; /* 0: nothing fired; else tells apart what instants of one root did */
} KoineWatched;

typedef struct { /* what the run had done when its progress was looked at last */
    double time;
    uint64_t tries, rejected; /* steps of the solver, with and without success */
} KoineTries;

typedef struct {
    KoineWatched ring[WATCH_RING];
    uint64_t n;      /* instants so far; the last is ring[(n - 1) % WATCH_RING] */
    double critical; /* smaller gaps are looked at */
    uint64_t still;  /* instants in a row that did not move the time */
    uint64_t streak; /* state events in a row with gaps below `dense` */
    double streak_start, dense;
    KoineTries tries;
    bool has_warned; /* of a streak */
    bool is_looking; /* what happens in a streak, see koine_hold_look */
} KoineWatch;

/* A comparison that chatters, or did: see hold.c. */
typedef struct {
    double width, most; /* half of its hysteresis, and how far that may grow; kept for the next time */
    double usual;       /* what it grows to at once if it slides */
    double scale;       /* of its sides */
    double swing;       /* while others are held back: its largest distance from zero since it changed last */
    double near_since;
    uint32_t n_near;    /* changes since then, always near its border */
    double farthest;    /* in a streak: its largest distance from zero ... */
    double overshoot;   /* ... and that where the first step behind one of its changes begins */
    uint64_t crossings; /* while it was held back ... */
    uint64_t begun;     /* ... before the last time */
    uint64_t next;      /* of these, where it becomes wider */
    uint32_t place;     /* in the statistics, from 1; 0: none yet */
    bool is_named;      /* in a warning */
    bool has_changed;   /* in a streak: no step was made since */
} KoineHolding;

typedef struct {
    uint32_t n;
    double *lo, *hi, *mid; /* root functions at three times */
    uint8_t *crossed;      /* of the event found */
    uint8_t *is_loud;      /* roots that never cross without an event, as far as is known */
    double *held;          /* roots that chatter cross when they are so far below zero; 0: the others */
    uint32_t n_held;       /* of those */
    double *reach;         /* largest distance from zero so far, where steps began */
    KoineHolding *holding; /* n; NULL: none has chattered yet */
    double *sizes;         /* where those of the operands go; NULL: nobody asks */
    double time;           /* of lo; NAN: to be evaluated anew */
    double left;           /* last time before the event found where no root had crossed */
    bool are_states;       /* all are states but for constants, see polynomials.c */
    bool is_between;       /* lo holds values of a point a little before, with the same bits */
    void *memory;
    struct KoineScan *scan; /* of scan.c */
    uint64_t evaluations;
} KoineRoots;

typedef struct {
    uint64_t calls, sampled;
    double seconds; /* of the sampled calls */
} KoineSample;

/* Explicit Euler steps over a point that cannot be evaluated; the vectors serve others between these. */
typedef struct {
    double *x;          /* 2*n_x: the state of the crossing, and a trial */
    double *before;     /* 2*n_x: the last state with computable values, and its slopes */
    double before_time; /* of `before`; NAN: the event was not found by crossing */
} KoineCrossing;

/* What others are told: points, steps, progress. */
typedef struct {
    double next_time; /* of the next point between instants: the output grid's or a sink's; INFINITY: none */
    double grid_time; /* of the next point of the output grid */
    double interval;
    uint64_t number;       /* of grid_time */
    double evaluated_time; /* of the last point that was recorded */
    double skipped_time;   /* of the last event that some sink skipped */
    uint32_t n_begun;      /* sinks to be ended */
    bool wants_event_steps, has_own_grids;
    KoineSample sample;  /* of the time that points take */
    double stepped_time; /* end of the last step that was told */
    uint32_t countdown;  /* steps to the next call of progress */
} KoineOutput;

/* Signals with dead time: see signals.c. */
typedef struct {
    double sampled_time; /* up to which the model remembers its signals */
    double *values;      /* of tables->n_signals at the points of a piece of a step */
} KoineSignals;

/* Steps that are made again. */
typedef struct {
    double pulse;        /* where a step has to end: an extreme of a source; -INFINITY: nowhere */
    double renewed_time; /* where a solver that gave up began anew; NAN: nowhere */
    uint32_t n_doubts;   /* times that the last step was made again, see doubt.c */
    uint32_t n_delays;   /* times in a row that an event had not happened yet where its step was made to end */
    bool has_sources;    /* some may have pulses, see pulses.c */
} KoineRepeats;

/* What the last instant was and left behind. */
typedef struct {
    KoineOutcome outcome;
    double next_time;   /* head of the calendar */
    uint32_t max_steps; /* event steps at one instant */
    uint32_t quiet;     /* time events in a row that did not restart the solver */
    bool is_fresh;      /* no step was accepted since the last instant */
    bool was_crossing;  /* the last instant was a state event */
    KoineSample sample; /* of the time that instants take */
} KoineInstant;

/* What comes from outside while the run waits, for the instant at hand: see change.c. */
typedef struct {
    const KoineChange *changes;
    uint32_t n_changes, entry;
} KoineOutside;

typedef struct {
    char text[512]; /* why the solver cannot go on */
    int32_t cause;  /* KoineCause of it, or 0 */
} KoineSolverFault;

/* Where the run waits between two calls of koine_run_advance; see pause.c. */
typedef struct {
    double until;        /* the run goes on up to here */
    double goal;         /* of the integration that is under way */
    double part_end;     /* how far the solver's step is looked at: nothing happens before this time */
    bool is_integrating; /* an integration towards `goal` is under way */
    bool has_part;       /* the run waits before part_end */
    bool is_event;       /* something happens at part_end */
    unsigned cause;      /* what else an instant is for, with which the run goes on; 0: there is none */
    bool was_short;      /* the last advance was: see count_seconds() of simulate.c */
    bool is_shown;       /* the block holds the values that the caller sees; the run goes on with these: */
    unsigned char *block;
    uint64_t size, capacity; /* of `block`: what is used, what there is */
    double placed;           /* see KoineSolver */
    KoineFault fault;
    KoineOutside outside;
} KoinePause;

struct KoineRun {
    KoineModel *model;
    const KoineModelKind *kind;
    const KoineTables *tables;
    const KoineRunOptions *options;
    KoineRunReport *report;
    KoineProblem problem;
    KoineSolver *solver; /* NULL: nothing moves between events */
    KoineSolverFault solver_fault;
    void *strategy_state; /* of the time strategy, or NULL */
    double time;          /* how far the run is */
    bool is_over;
    KoineRoots roots;
    KoineWatch watch;
    KoineScales scales;
    KoineInstant instant;
    KoineOutput output;
    KoineCrossing crossing;
    KoineRepeats repeats;
    KoineSignals signals;
    KoinePause pause;
};

/* --- simulate.c --- */

/* The instant at run->time with all that is due there; the solver begins anew if it has to. */
KoineStatus koine_serve(KoineRun *run, unsigned cause);

/* The run has come to its end, whichever that is. */
void koine_finish(KoineRun *run, KoineStatus status);

/* The solver begins anew at run->time with the states in the block. */
KoineStatus koine_restart(KoineRun *run);

/* What the model has done so far is added to the statistics of the run, or taken off. */
void koine_count_model(KoineRun *run, int sign);

/* --- advance.c --- */

/* A signal has come: the run ends, in order. */
bool koine_run_interrupted(KoineRun *run);

/* Integrate to pause.goal or to the first event before it; run->time is where. If pause.is_integrating is left set, the
 * run waits on the way there. */
KoineStatus koine_advance(KoineRun *run, unsigned *cause);

/* The block holds time and states of `time`, which lies in the solver's last step. */
KoineStatus koine_place(KoineRun *run, double time);

/* The same for run->roots.left, the last point before a state event. */
KoineStatus koine_place_left(KoineRun *run);

/* The step is made again and ends at the event at `to` with the accuracy of the method, not of the interpolant. */
KoineStatus koine_shorten(KoineRun *run, double *to, bool *is_event);
KoineStatus koine_begin_at_event(KoineRun *run, double to); /* at the state that run->crossing holds */

/* --- strategy.h --- */

/* The last time of instants not behind `time`, the first one not before it, the nearest one. */
static inline double koine_snap(const KoineRun *run, double time)
{
    const KoineTimeStrategy *const strategy = run->problem.strategy;
    return strategy->snap ? strategy->snap(&run->problem, time, KOINE_SNAP_UNTIL) : time;
}

static inline double koine_snap_up(const KoineRun *run, double time)
{
    const KoineTimeStrategy *const strategy = run->problem.strategy;
    return strategy->snap ? strategy->snap(&run->problem, time, KOINE_SNAP_FROM) : time;
}

static inline double koine_snap_nearest(const KoineRun *run, double time)
{
    const KoineTimeStrategy *const strategy = run->problem.strategy;
    return strategy->snap ? strategy->snap(&run->problem, time, KOINE_SNAP_NEAREST) : time;
}

/* The block holds the state at run->time. */
static inline void koine_keep(KoineRun *run)
{
    if (run->problem.strategy->keep)
        run->problem.strategy->keep(run);
}

/* lo and hi hold the root functions at `from` and *to, where one has crossed or, if is_blind, cannot be computed: *to
 * becomes the first crossing, and `crossed` says of what. RETRY: none has crossed before a point behind roots.left
 * where one cannot be computed. */
static inline KoineStatus koine_roots_locate(KoineRun *run, double from, double *to, bool is_blind)
{
    return run->problem.strategy->locate(run, from, to, is_blind);
}

/* --- roots.c --- */

KoineStatus koine_roots_create(KoineRun *run);
void koine_roots_destroy(KoineRun *run);

/* Root functions at run->time, if they are not known. */
KoineStatus koine_roots_refresh(KoineRun *run);

/* The model was restarted: what was seen before says nothing about what comes. */
void koine_roots_forget(KoineRun *run);

void koine_roots_visit(KoineRun *run, KoinePieces *pieces); /* for a run that is saved */

/* koine_roots_locate in continuous time: to rounding. */
KoineStatus koine_roots_narrow(KoineRun *run, double from, double *to, bool is_blind);

/* One or more roots have crossed in (roots.time, *to], whose values stand in lo and hi, each once. Those that decide
 * nothing are passed without an event, if nothing else happens; else as for locate. */
KoineStatus koine_roots_take(KoineRun *run, double *to, bool *is_event);

/* Root functions at `time` of the last step. RETRY as below. */
KoineStatus koine_roots_evaluate_at(KoineRun *run, double time, double *z);

/* Look for crossings at the point in the block, a little behind run->time; roots.lo holds the root functions there. */
KoineStatus koine_roots_look(KoineRun *run, bool *is_event);

/* Root functions at the point in the block. RETRY if some cannot be computed: those are NAN. */
KoineStatus koine_roots_evaluate(KoineRun *run, double *z);

/* Some root is positive in roots->lo and not in z. One that starts below zero has no side to leave. */
bool koine_roots_crossed(const KoineRoots *roots, const double *z);

/* crossed := all roots that are not positive in z. */
void koine_roots_flag(KoineRun *run, const double *z);

/* --- scan.c --- */

KoineStatus koine_scan_create(KoineRun *run);
void koine_scan_destroy(KoineRun *run);

/* The model was restarted: slopes seen before say nothing about what comes. */
void koine_scan_forget(KoineRun *run);

void koine_scan_visit(KoineRun *run, KoinePieces *pieces);

/* The slopes at roots.time are not known any more. */
void koine_scan_lose_slopes(KoineRun *run);

/* Look for crossings in (run->time, *to]. An event moves *to to it and sets run->roots.crossed. RETRY: a root
 * function cannot be evaluated beyond run->roots.left, and none has crossed before. */
KoineStatus koine_roots_scan(KoineRun *run, double *to, bool *is_event);

/* --- polynomials.c --- */

/* All root functions are comparisons of states with constants. */
bool koine_polynomials_allow(const KoineRun *run);

/* How long a piece of a step may be that is judged by polynomials; `otherwise` where that cannot be done. */
double koine_polynomials_reach(const KoineRun *run, double otherwise);

/* Root functions at roots.time and `to` stand in lo and hi. True: the interpolant says whether some cross between
 * these, each of them once, and mid := bounds of their rates. */
bool koine_polynomials_judge(KoineRun *run, double to, bool *is_crossed);

/* Where the first of those that cross between `from` and `to` does, but for rounding; NAN: not known. */
double koine_polynomials_root(KoineRun *run, double from, double to);

/* --- instant.c --- */

/* All that happens at run->time. With KOINE_AT_ROOTS, run->roots.crossed says which. */
KoineStatus koine_instant(KoineRun *run, unsigned cause);

/* Enlarge the block, whose content stays. */
KoineStatus koine_grow(KoineRun *run);

/* A completed step ends at run->time, which the block holds. Adds KOINE_AT_STEP to *cause if the model asks. */
KoineStatus koine_accept(KoineRun *run, unsigned *cause);
KoineStatus koine_accept_quietly(KoineRun *run, unsigned *cause); /* nobody is told */

/* --- doubt.c --- */

/* An event was found at `to` in the solver's last step. Where the model contradicts it the step is undone and made to
 * end earlier (run->repeats.pulse). */
KoineStatus koine_doubt(KoineRun *run, double to, bool *is_undone);

/* --- pulses.c --- */

/* After the solver was made: run->repeats.has_sources says whether steps have to be checked. */
void koine_pulses_begin(KoineRun *run);

/* A step was made: where sources are extreme, the interpolant is compared with the right-hand side. *is_undone: they
 * differ, the solver is back where the step began, and run->repeats.pulse is where steps have to end first. */
KoineStatus koine_pulses_check(KoineRun *run, bool *is_undone);

/* --- signals.c --- */

/* The longest step and the memory of a model with dead time; nothing for others. */
KoineStatus koine_signals_create(KoineRun *run);

/* A step has led to run->time: the model remembers its signals since run->signals.sampled_time. */
KoineStatus koine_signals_sample(KoineRun *run);

/* --- record.c --- */

KoineStatus koine_record_begin(KoineRun *run);
KoineStatus koine_record_end(KoineRun *run);

/* One point with the values in the block at run time `time`; RETRY if they cannot be computed. */
KoineStatus koine_record(KoineRun *run, double time, uint32_t event_step, int kind);

/* The points of the output grid up to `to`; those that an instant at `to` stands for are left out. */
KoineStatus koine_record_grid(KoineRun *run, double to, bool instant_follows);

/* The first point between instants lies behind run->time. */
void koine_record_from_here(KoineRun *run);

/* The run was taken up: the next point is that behind report->time. */
void koine_record_restored(KoineRun *run);

/* The first point between instants behind `time`, as far as is known; INFINITY: there is none. */
double koine_record_next(const KoineRun *run, double time);

/* A row of the output grid, of the start or of the stop lies here. */
bool koine_is_on_grid(const KoineRun *run, double time);

/* The grid goes on after `time`. */
void koine_record_skip(KoineRun *run, double time);

/* The values at `time` with the time and states in the block, also where these are followed from the last point. RETRY
 * if they cannot be computed. */
KoineStatus koine_evaluate_here(KoineRun *run, double time);

/* --- pause.c --- */

/* The run waits before `to`, up to which nothing happens; instant_follows: at `to` something does. */
bool koine_pauses_before(const KoineRun *run, double to, bool instant_follows);

/* The run waits at pause.until, inside a part of a step that ends at `to`, and has recorded what lies before. */
KoineStatus koine_pause_in_part(KoineRun *run, double to, bool is_event);

/* The block shows the values of the time that the run has come to, which report->time says. */
KoineStatus koine_pause_show(KoineRun *run);

/* The block is again what it was before it was shown. */
void koine_pause_resume(KoineRun *run);

/* The run ends where it waits: run->time is the time that is shown. */
KoineStatus koine_pause_stay(KoineRun *run);

/* For a moment the run stands at the time that is shown as if its step ended there; then it waits as before. */
typedef struct {
    double time, sampled_time;
    bool is_event;
    KoineRunReport report;
} KoineAside;
KoineStatus koine_pause_take_part(KoineRun *run, KoineAside *aside);
void koine_pause_leave_part(KoineRun *run, const KoineAside *aside);

/* --- unending.c --- */

/* An instant has ended: below 0 if it is one of a chain that will not end. */
KoineStatus koine_watch(KoineRun *run, unsigned cause);
KoineStatus koine_watch_tries(KoineRun *run); /* steps that lead nowhere; asked from time to time */
void koine_watch_begin(KoineRun *run, double span);

/* --- hold.c --- */

/* `n_events` state events since `from` have hardly moved the time. Those that crossed in them are held back from here
 * on. */
KoineStatus koine_hold(KoineRun *run, const uint32_t *roots, uint32_t n_roots, uint32_t n_events, double from);

/* An instant has ended in which comparisons that are held back have crossed: below 0 if that happens too often. */
KoineStatus koine_hold_crossed(KoineRun *run);

/* A step was made, roots.lo holds the root functions where it begins. */
void koine_hold_watch(KoineRun *run);

/* How far comparisons go from their borders is looked at from here on (koine_hold_watch). */
KoineStatus koine_hold_look(KoineRun *run);

/* roots.crossed has changed. */
void koine_hold_note(KoineRun *run);

/* Those of `list` that have stayed at their borders since koine_hold_look and are not held back yet. */
KoineStatus koine_hold_sliding(KoineRun *run, const uint32_t *list, uint32_t n, uint32_t *sliding, uint32_t *n_sliding);

/* A step was accepted, roots.lo holds the root functions: comparisons that have left their border are let go. */
void koine_hold_release(KoineRun *run);

/* The run is over: what is still held back was so until now. */
void koine_hold_end(KoineRun *run);

/* Nothing happens at this instant but that comparisons change which are held back. */
bool koine_is_chatter(const KoineRun *run, unsigned cause);

/* --- report.c --- */

/* The run is over: `format` says what happened; time and place are added. Returns KOINE_FAILED. */
KoineStatus koine_fail(KoineRun *run, KoineRunEnd end, const char *format, ...);

/* The same for a failed run of which the cause is known, a KoineCause. */
KoineStatus koine_fail_by(KoineRun *run, int32_t cause, const char *format, ...);

/* The same for a call of the model that returned `status`: the fault says what. */
KoineStatus koine_model_failed(KoineRun *run, KoineStatus status, const char *doing);

/* `"text" of component (file:line)`; the model itself for the top. */
const char *koine_origin_text(const KoineRun *run, const KoineOrigin *origin, char *text, size_t size);

/* The same of a root function. */
const char *koine_root_text(const KoineRun *run, uint32_t root, char *text, size_t size);

/* The fault of the model, or what the solver says. */
KoineStatus koine_solver_failed(KoineRun *run);

/* Nothing can be computed beyond this point, and no relation changes there. */
KoineStatus koine_true_fault(KoineRun *run);

#endif
