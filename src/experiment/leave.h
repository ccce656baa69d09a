/* Ends a run that does not notice in time that it was told to end.
 *
 * A signal sets a flag that the loops of the runtime look at. Where none looks for a while (a compilation inside the
 * process, one evaluation of a very large model, the factors of a large system) a thread of its own has the results
 * closed and the process ended; the computation is left where it is. Whoever works on what the thread would close holds
 * it meanwhile, so that results are closed between two rows and never within one. */
#ifndef EXPERIMENT_LEAVE_H
#define EXPERIMENT_LEAVE_H

#include "koine/simulate.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct { /* whoever has the run */
    void *context;
    void (*close)(void *context); /* closes the results and ends the process: it does not return */
    void (*tell)(int descriptor); /* the first signal from now on writes a byte there; -1: nowhere */
} LeaveCaller;

typedef struct {
    LeaveCaller caller;
    pthread_t thread;
    int ends[2]; /* of a pipe: a signal or the end of the run is told through it */
    pthread_mutex_t held;
    double time;     /* of the last point that was recorded */
    uint64_t points; /* how many there are */
    bool has_thread;
    bool is_ending; /* the run closes its results itself */
    bool is_over;
} Leave;

/* Watches from now on. Without a thread (there is none to be had) a run ends when it notices. */
void leave_begin(Leave *leave, const LeaveCaller *caller);
/* What lies between these two is not disturbed. */
void leave_hold(Leave *leave);
void leave_release(Leave *leave);
/* The run has ended by itself. */
void leave_end(Leave *leave);

/* A KoineRunListener.recording. */
void leave_recording(void *context, KoineRecording what, double time);

#endif
