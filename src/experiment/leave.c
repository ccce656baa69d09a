#include "experiment/leave.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

/* Milliseconds: what a run has to notice, and the time between two looks when it closes its results itself. */
enum { PATIENCE = 30, LOOK = 10 };

void leave_hold(Leave *leave)
{
    pthread_mutex_lock(&leave->held);
}

void leave_release(Leave *leave)
{
    pthread_mutex_unlock(&leave->held);
}

void leave_recording(void *context, KoineRecording what, double time)
{
    Leave *leave = context;
    if (what == KOINE_RECORDING_REST) {
        leave_release(leave);
        return;
    }
    leave_hold(leave);
    leave->is_ending = what == KOINE_RECORDING_END;
    if (what == KOINE_RECORDING_POINT) {
        leave->time = time;
        leave->points++;
    }
}

/* Waits for the signal or for the end of the run; milliseconds, -1: without end. */
static void await(const Leave *leave, int milliseconds)
{
    struct pollfd told = { .fd = leave->ends[0], .events = POLLIN };
    char byte;
    while (poll(&told, 1, milliseconds) < 0 && errno == EINTR)
        continue;
    if (told.revents & POLLIN)
        (void)!read(leave->ends[0], &byte, 1);
}

static void *watch(void *context)
{
    Leave *leave = context;
    await(leave, -1);
    leave_hold(leave);
    for (int patience = PATIENCE; !leave->is_over; patience = LOOK) {
        leave_release(leave);
        await(leave, patience);
        leave_hold(leave);
        if (leave->is_over || leave->is_ending)
            continue;
        leave->caller.close(leave->caller.context); /* the run computes, or waits for the results, until then */
    }
    leave_release(leave);
    return NULL;
}

void leave_begin(Leave *leave, const LeaveCaller *caller)
{
    *leave = (Leave){ .caller = *caller };
    pthread_mutex_init(&leave->held, NULL);
    if (pipe(leave->ends) != 0)
        return;
    for (int k = 0; k < 2; k++)
        fcntl(leave->ends[k], F_SETFD, FD_CLOEXEC);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the run's */
    leave->has_thread = pthread_create(&leave->thread, NULL, watch, leave) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (leave->has_thread)
        leave->caller.tell(leave->ends[1]);
}

/* The end of the pipe tells the thread. No signal writes to it any more: only this thread takes signals. */
void leave_end(Leave *leave)
{
    leave_hold(leave);
    leave->is_over = true;
    leave_release(leave);
    if (!leave->has_thread)
        return;
    leave->caller.tell(-1);
    close(leave->ends[1]);
    pthread_join(leave->thread, NULL);
    close(leave->ends[0]);
}
