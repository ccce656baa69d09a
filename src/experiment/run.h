/* A run of an experiment: a compiled model and settings become results, and a record of what happened.
 *
 * experiment_run does all of it: it checks the settings against the model, makes an instance, gives it its values, runs
 * its phases into the results, observers, protocol and catalogue, and closes them. It prints nothing: problems are
 * diagnostics, and whoever asks for the run hears of the rest through RunCaller. */
#ifndef EXPERIMENT_RUN_H
#define EXPERIMENT_RUN_H

#include "experiment/control.h"
#include "experiment/start.h"
#include "experiment/statistics.h"

typedef struct {
    Experiment *experiment;  /* its observers get the names of their files, its settings are those of the first phase */
    const StartState *start; /* the state of `start-from`; NULL: none */
    Sources *sources;        /* of the model */
    const KoineModelKind *kind;
    RunRecord about; /* what is known before the run: model, files, tier, time of the compiler; output NULL: the results
                        go to no file */
    const char *tags;         /* the run is noted under these, separated by commas; NULL: it is not noted */
    const char *live;         /* the file a preview is kept in; NULL: none */
    bool may_write_anywhere;  /* files that the experiment names may lie anywhere and replace any file */
    bool wants_work;          /* executions are counted (hot.h) */
    bool stops_at_chattering; /* comparisons that chatter end the run */
} RunRequest;

typedef struct ExperimentRun ExperimentRun;

typedef struct { /* whoever asks for the run */
    void *context;
    volatile const int *interrupt; /* not 0: the run ends in order */
    /* The settings are good. A sink that is returned gets the points beside the results; NULL: none. */
    KoineSink *(*ready)(void *context, const ExperimentRun *run);
    void (*computed)(void *context, ExperimentRun *run);                       /* its results will be closed */
    void (*ended)(void *context, const ExperimentRun *run, KoineModel *model); /* it has its last state */
    void (*message)(void *context, int level, const char *text); /* the model says something: KOINE_MESSAGE_... */
    void (*notice)(void *context, const char *text);             /* something beside the run goes wrong */
    void (*progress)(void *context, double time);
    /* A run that does not notice that it is interrupted is left where it computes (leave.h). `tell` is given the place
     * where the first signal is to be told. `left` is called by another thread once the results are closed, with the
     * record of an interrupted run, and ends the process. NULL: the run is never left. */
    void (*tell)(int descriptor);
    void (*left)(void *context, const RunRecord *record, Arena *arena);
} RunCaller;

typedef enum {
    RUN_MADE,      /* its record says how it ended */
    RUN_REFUSED,   /* the settings do not fit the model: diagnostics say why */
    RUN_NO_MEMORY, /* there is none for an instance */
} RunMade;

/* Seconds of a clock that only goes forward. */
double run_clock(void);

/* Where the results go: RunRequest.about.output is chosen from the experiment, its file and the name of the model.
 * False: the name of the file tells no form. */
bool run_choose_output(RunRequest *request, Arena *arena);

RunMade experiment_run(const RunRequest *request, const RunCaller *caller, Arena *arena, Diag *diag);

/* The same in pieces: request, caller and arena must live until the run is closed. Only if RUN_MADE is returned there
 * is a run to close. experiment_advance: see koine_run_advance; false: it has ended, and its record says how.
 * experiment_set changes parameters, inputs and states where the run stands, as a phase does; false: reported. */
RunMade experiment_open_run(const RunRequest *request, const RunCaller *caller, Arena *arena, Diag *diag,
                            ExperimentRun **opened);
bool experiment_advance(ExperimentRun *run, double to);
bool experiment_set(ExperimentRun *run, const Setting *settings, uint32_t n);
/* An entry of the model is called where the run stands. */
bool experiment_enter(ExperimentRun *run, const char *entry, KoineReason *why);
/* See koine_run_save and koine_run_restore; sinks keep what they got. */
KoineSavedRun *experiment_save(ExperimentRun *run, KoineSavedRun *again, KoineReason *why);
bool experiment_restore(ExperimentRun *run, const KoineSavedRun *saved, KoineReason *why);
const KoineModel *run_model(const ExperimentRun *run); /* with the values of the time it has come to */
void experiment_close(ExperimentRun *run);

/* What a caller may ask while the run stands. */
const RunRecord *run_record(const ExperimentRun *run);
void run_say_tier(ExperimentRun *run, const char *note); /* what the caller knows of the tier when it has run */
const Controls *run_controls(const ExperimentRun *run);

#endif
