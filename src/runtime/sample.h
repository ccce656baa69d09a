/* Time of a part of the run, estimated from one call in many: the clock is too slow to be read at each.
 * Only statistics see these times; nothing is decided by them. */
#ifndef KOINE_RUNTIME_SAMPLE_H
#define KOINE_RUNTIME_SAMPLE_H

#include "runtime/run.h"
#include <time.h>

static inline double koine_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The time if this call is one to be sampled, else a negative number. */
static inline double koine_sample_begin(KoineSample *sample, uint64_t one_in)
{
    return ++sample->calls % one_in == 0 ? koine_clock(CLOCK_MONOTONIC) : -1;
}

static inline void koine_sample_end(KoineSample *sample, double begun)
{
    if (begun < 0)
        return;
    sample->seconds += koine_clock(CLOCK_MONOTONIC) - begun;
    ++sample->sampled;
}

static inline double koine_sample_total(const KoineSample *sample)
{
    return sample->sampled ? sample->seconds * (double)sample->calls / (double)sample->sampled : 0;
}

#endif
