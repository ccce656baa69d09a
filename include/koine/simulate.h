/* Running a model: the hybrid kernel, its options, its sinks and its statistics.
 *
 * koine_simulate runs one instance from start to stop: initialisation, integration with event
 * location, event steps, recording. koine_run_open, koine_run_advance and koine_run_close do the same in pieces. It
 * prints nothing and never exits; messages go to the host of the model, results to the sinks, the end of the run to
 * KoineRunReport. */
#ifndef KOINE_SIMULATE_H
#define KOINE_SIMULATE_H

#include "koine/api.h"
#include "koine/control.h"
#include "koine/model.h"

#define KOINE_USUAL_TOLERANCE 1e-6
#define KOINE_LEAST_TOLERANCE 1e-14 /* numbers have 16 digits */
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why a point is recorded. START and STOP are the left sides of the first and the last instant; RIGHT follows a left
 * side only if the instant changed something. A grid time at an instant gives no point of its own. An interrupted run
 * ends with STOP where it was. */
enum {
    KOINE_POINT_START,
    KOINE_POINT_GRID,
    KOINE_POINT_LEFT,  /* before an instant, frozen values */
    KOINE_POINT_STEP,  /* an event step before its commit, its number is event_step; only for sinks that ask for event
                          steps */
    KOINE_POINT_RIGHT, /* after an instant */
    KOINE_POINT_STOP,
    KOINE_POINT_REGION /* after an instant in which only regions changed: no transition fired */
};

typedef struct {
    double time;
    uint32_t event_step;
    int kind; /* KOINE_POINT_... */
} KoinePoint;

/* A sink receives points in order. At each one every variable's slot in model->block is valid.
 * A status below 0 from a sink ends the run with KOINE_RUN_SINK; the sink says why in `error`. */
typedef struct KoineSink {
    void *context;
    bool wants_event_steps; /* KOINE_POINT_STEP as well */
    bool skips_events;      /* instants only where they lie on the output grid, at the start or at the stop */
    bool has_own_grid;      /* KOINE_POINT_GRID at next_time instead of at the times of the output grid */
    double next_time;       /* above the time of the last point, or INFINITY: `begin` sets it, `point` moves it on */
    KoineStatus (*begin)(struct KoineSink *sink, const KoineModel *model);
    KoineStatus (*point)(struct KoineSink *sink, const KoineModel *model, const KoinePoint *point);
    KoineStatus (*end)(struct KoineSink *sink,
                       const KoineModel *model); /* flush and close; called once after begin, also after failures */
    char error[256];
} KoineSink;

typedef struct {
    double from, to;
    double error; /* relative, as estimated; 0: not known */
} KoineIntegrationStep;

/* What is done with the sinks of a run: they begin, take a point or end; then nothing is done with them for a while. */
typedef enum { KOINE_RECORDING_BEGIN, KOINE_RECORDING_POINT, KOINE_RECORDING_END, KOINE_RECORDING_REST } KoineRecording;

typedef struct { /* what is told while a run goes on; every function may be NULL: nobody asks */
    void *context;
    volatile const int *interrupt; /* becomes non-zero: finish the step, close the sinks, return; may be NULL */
    void (*progress)(void *context, double time); /* called at accepted steps now and then */
    /* a step was accepted; the block holds its end */
    void (*stepped)(void *context, const KoineModel *model, const KoineIntegrationStep *step);
    /* called before sinks are called and after that (REST), with the time of the run */
    void (*recording)(void *context, KoineRecording what, double time);
} KoineRunListener;

typedef struct {
    double start, stop;
    double interval;  /* output grid; 0: (stop - start)/500 */
    double tolerance; /* relative; 0: 1e-6; not below KOINE_LEAST_TOLERANCE. Absolute: tolerance*nominal, where none
                           is given absolute_tolerance, where that is 0 tolerance*1e-3*the size of the state, which is
                           learnt: docs/accuracy.md */
    double absolute_tolerance; /* of states without nominal value; 0: none */
    const double *nominals;    /* n_x, 0: what the table of variables says; NULL: that for all */
    double *scales;     /* 2*n_x, what is learnt of the sizes of states, to go on with in a continued run: read at the
                       begin, written at the end; zeros where nothing is known; NULL: it is forgotten */
    double step;        /* fixed-step solvers: step size, steps end at start + k*step; 0: interval. Models without
                           states look at their root functions in these steps (or max_step, if smaller) */
    double max_step;    /* 0: none */
    const char *solver; /* name from koine_solver_name; NULL: "auto" */
    uint32_t max_steps; /* event steps per instant; 0: what the host of the model says, or 1000 */
    KoineTimeControl control;
    bool stop_at_chattering; /* a run that chatters fails; else it is warned of and goes on, see docs/semantics.md */
    bool is_continued;       /* go on from where an earlier run of this instance ended; see koine_simulate */
    bool goes_on;            /* another run will continue this one: its stop is not the end that a model is told of */
    KoineSink *const *sinks;
    uint32_t n_sinks;
    KoineRunListener listener;
} KoineRunOptions;

/* A comparison that was held back because it chattered: it changed when its sides were `width` beyond their border. */
enum { KOINE_MOST_HELD = 8, KOINE_HELD_TEXT = 256 };
typedef struct {
    char text[KOINE_HELD_TEXT]; /* the comparison, its component and place */
    double from, to;            /* begin of the first time, end of the last one */
    double width;               /* the largest */
    uint64_t times, crossings;  /* how often it was held back; how often it changed meanwhile */
} KoineHeldBack;

typedef struct {
#define KOINE_EVENT_COUNTER(name, ...) uint64_t name;
#include "koine/statistics.def"
    uint64_t by_event_steps[KOINE_BUCKETS]; /* instants by their event steps */
} KoineEventStatistics;

typedef struct {
#define KOINE_INTEGRATION_COUNTER(name, ...) uint64_t name;
#include "koine/statistics.def"
} KoineIntegrationStatistics;

/* statistics.def lists the counters. */
typedef struct {
    KoineEventStatistics events; /* instants, and the points that were recorded */
    KoineIntegrationStatistics integration;
    KoineModelStatistics model;
    KoineControlStatistics control;
    uint32_t n_held; /* comparisons that were held back; the first of them: */
    KoineHeldBack held[KOINE_MOST_HELD];
    double total_seconds;                 /* CPU of the thread */
    double model_seconds, solver_seconds; /* estimates: derivatives timed after the run, one instant in 1024 */
    char solver[32];                      /* the one in use at the end */
    char choice[256];                     /* what `auto` chose and why */
} KoineRunStatistics;

typedef enum {
    KOINE_RUN_DONE,
    KOINE_RUN_TERMINATED, /* the model asked for it: fault.place says where, if it is known */
    KOINE_RUN_INTERRUPTED,
    KOINE_RUN_FAILED, /* model or solver: text says what, where, at what time */
    KOINE_RUN_SINK,   /* a sink could not write */
    KOINE_RUN_OPTIONS /* the options make no sense */
} KoineRunEnd;

typedef struct {
    KoineRunEnd end;
    double time;     /* how far it came */
    char text[2048]; /* for people, one sentence; empty when DONE */
    KoineFault fault;
    KoineRunStatistics statistics;
} KoineRunReport;

/* `model` is created and its parameters are set, it is not initialised yet.
 *
 * A continued run (is_continued) begins at the time in the block of an instance whose last run ended with DONE,
 * TERMINATED or INTERRUPTED. Parameters, inputs and states may have been written in the block since then. `start` stays
 * the begin of the first run: output points and fixed steps go on counting from there. The first instant evaluates
 * everything again, and serves what happens just behind the time where the last run stopped; what was not changed
 * from outside keeps its value. Its first point, of kind START, holds the values after that instant. Two runs, the
 * second one continued, give the states that one run gives: the same bits for models without continuous states, and
 * for fixed steps if the first run stops where a step ends; else within the tolerance, as the solver starts anew. */
KOINE_API KoineRunEnd koine_simulate(KoineModel *model, const KoineRunOptions *options, KoineRunReport *report);

/* A run in pieces. Any division of a run into advances gives the points and values of one koine_simulate, bit by bit.
 *
 * koine_run_open initialises the model and serves the first instant. `options`, `report` and what they point to must
 * live until the run is closed. NULL: there is no memory, the report says so. A run that cannot begin is a run that has
 * ended.
 *
 * koine_run_advance goes on to the time `to` and serves and records all that happens up to it, events at that time
 * included. True: the run has not ended, and the block holds the values at report->time, which is `to`. No step of the
 * solver ends there because of that: a step that leads beyond is made whole, and the values are those of its
 * interpolant. What happens behind `to` is served when the run gets there. report->time lies a little behind `to` where
 * an event within 16 units in the last place is taken for the same time, or where the run steps over a point that
 * cannot be evaluated. A time that the run has reached already changes nothing. False: the run has ended, by its stop
 * or by one of the reasons of KoineRunEnd, and the block holds its last state.
 *
 * The block is for reading while the run is open: what is written there is lost with the next advance. Inputs and
 * states are changed by koine_run_change. To change a parameter, close the run, write, and open a continued one.
 *
 * koine_run_close ends the sinks, completes the report and frees the run. A run that is closed before its end is one
 * that is interrupted at report->time; it can be continued from there. */
typedef struct KoineRun KoineRun;
KOINE_API KoineRun *koine_run_open(KoineModel *model, const KoineRunOptions *options, KoineRunReport *report);
KOINE_API bool koine_run_advance(KoineRun *run, double to);
KOINE_API KoineRunEnd koine_run_close(KoineRun *run);

/* --- Changing a run from outside, between two advances --- */

/* Why something was not done: a sentence for people. */
typedef struct {
    char text[256];
} KoineReason;

/* Inputs and states get other values at report->time, all at once: there is an instant then, as at any event, and the
 * solver begins anew only if what changes is a state, or enters the derivatives. An input keeps its value until it is
 * changed again. What has that value already changes nothing, and if all have, there is no instant. False: nothing was
 * changed, and the run stands where it stood, if `why` says so; or the instant has ended the run, and then the report
 * says how. */
KOINE_API bool koine_run_change(KoineRun *run, const KoineChange *changes, uint32_t n, KoineReason *why);

/* Entry number k of tables->callables.entries is called at report->time: the instant of its transitions. */
KOINE_API bool koine_run_enter(KoineRun *run, uint32_t k, KoineReason *why);

/* --- Saving a run --- */

/* A run as it stands between two advances: the block of the model, the solver, what was learnt of sizes and of time
 * scales, the calendar, histories of dead times, random streams, where root functions stand, and the next output point.
 * It belongs to nobody: the run may be closed, and another run of the same model take it up.
 *
 * Taken up EXACTLY the run gives from here on the bytes that it gave when it went on after it was saved. A solver whose
 * history cannot be taken out of it (those of SUNDIALS, and one-step methods with a sparse matrix) begins
 * ANEW where the run was saved: the same solution within the tolerance. */
typedef struct KoineSavedRun KoineSavedRun;
typedef enum { KOINE_RESTORED_NOT, KOINE_RESTORED_EXACTLY, KOINE_RESTORED_ANEW } KoineRestored;

/* `again`: a saved run whose memory is used again; NULL: it is made. NULL is returned if it cannot be saved (the run
 * has ended, the model keeps something that cannot be copied, there is no memory): `again` is still there then. */
KOINE_API KoineSavedRun *koine_run_save(KoineRun *run, KoineSavedRun *again, KoineReason *why);
KOINE_API void koine_saved_free(KoineSavedRun *saved);

/* The run goes back, or ahead, to where it was saved, and the block shows the values of that time; it may have ended,
 * but not because of its options, and is not closed yet. It must be a run of the same model with the same options, but
 * for its stop, its sinks and its listener. NOT: the run stays where it is, but ends (KOINE_RUN_FAILED) where the bytes
 * were forged so that nobody could tell before. Sinks are not told: they get the points behind that time, whatever they
 * have got already. */
KOINE_API KoineRestored koine_run_restore(KoineRun *run, const KoineSavedRun *saved, KoineReason *why);

/* koine_run_open for a run that begins where another one was saved: the model is created, nothing is initialised, and
 * sinks get the points behind that time. The report says why not, and *restored whether it is exact. */
KOINE_API KoineRun *koine_run_reopen(KoineModel *model, const KoineRunOptions *options, KoineRunReport *report,
                                     const KoineSavedRun *saved, KoineRestored *restored);

KOINE_API double koine_saved_time(const KoineSavedRun *saved);
KOINE_API bool koine_saved_is_exact(const KoineSavedRun *saved);
/* A number of the caller's own that goes with it, 0 at first. */
KOINE_API void koine_saved_note(KoineSavedRun *saved, uint64_t note);
KOINE_API uint64_t koine_saved_noted(const KoineSavedRun *saved);

/* As bytes, for a file or another process on a machine of the same kind: with a version, the guid of the model and a
 * checksum. They belong to `saved` and hold until it is written to again. */
KOINE_API const void *koine_saved_bytes(KoineSavedRun *saved, uint64_t *size);
/* NULL: these are no such bytes, or not all of them, or not as they were written. */
KOINE_API KoineSavedRun *koine_saved_read(const void *bytes, uint64_t size, KoineReason *why);

/* The solvers, in the order of their table; NULL after the last. */
KOINE_API const char *koine_solver_name(uint32_t k);
KOINE_API const char *koine_solver_description(uint32_t k);

#ifdef __cplusplus
}
#endif

#endif
