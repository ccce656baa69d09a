/* How far the simulated time has come, as text. As a bar: nothing for a moment, so that short runs stay quiet, and then
 * not too often. As lines: one for each tenth of the run. */
#ifndef EXPERIMENT_PROGRESS_H
#define EXPERIMENT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { PROGRESS_NONE, PROGRESS_BAR, PROGRESS_LINES } ProgressForm;
typedef struct {
    double start, stop;
    int64_t begun, shown; /* milliseconds of the monotonic clock */
    ProgressForm form;
    int tenth; /* the last one told */
    bool is_visible;
    char text[160]; /* the last one given */
} Progress;

Progress progress_begin(double start, double stop, ProgressForm form);
/* What is to be shown now, "" for nothing; it stays until the next call. */
const char *progress_at(Progress *progress, double time);
/* What removes the bar before anything else is shown; "" where there is none. */
const char *progress_removed(Progress *progress);

#endif
