#include "experiment/progress.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

enum { BAR = 30, FIRST_AFTER = 300, AGAIN_AFTER = 100 }; /* characters; milliseconds */
#define LINE_REMOVED "\r\033[K"

static int64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

Progress progress_begin(double start, double stop, ProgressForm form)
{
    const int64_t now = milliseconds();
    return (Progress){ .start = start, .stop = stop, .begun = now, .shown = now, .form = form };
}

static const char *line(Progress *progress, double part, double time)
{
    const int tenth = (int)(10 * part);
    if (tenth <= progress->tenth)
        return "";
    progress->tenth = tenth;
    snprintf(progress->text, sizeof progress->text, "t = %g of %g, %d%%\n", time, progress->stop, (int)(100 * part));
    return progress->text;
}

static const char *bar(Progress *progress, double part, double time)
{
    const int64_t now = milliseconds();
    if (now - progress->begun < FIRST_AFTER || now - progress->shown < AGAIN_AFTER)
        return "";
    progress->shown = now;
    char marks[BAR + 1];
    for (int k = 0; k < BAR; k++)
        marks[k] = k < part * BAR ? '#' : '.';
    marks[BAR] = 0;
    snprintf(progress->text, sizeof progress->text, LINE_REMOVED "[%s] %3d%%  t = %g of %g", marks, (int)(100 * part),
             time, progress->stop);
    progress->is_visible = true;
    return progress->text;
}

const char *progress_at(Progress *progress, double time)
{
    const double span = progress->stop - progress->start;
    const double part = span > 0 ? fmin(fmax((time - progress->start) / span, 0), 1) : 1;
    switch (progress->form) {
    case PROGRESS_NONE: break;
    case PROGRESS_BAR: return bar(progress, part, time);
    case PROGRESS_LINES: return line(progress, part, time);
    }
    return "";
}

const char *progress_removed(Progress *progress)
{
    const char *text = progress->is_visible ? LINE_REMOVED : "";
    progress->is_visible = false;
    return text;
}
