/* What the terminal can show, and the one line of progress on it. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool terminal_is(FILE *stream);
/* Whether colours are wanted there: `when` is auto, always, never or NULL. */
bool terminal_has_colour(FILE *stream, const char *when);
bool terminal_has_unicode(void);
uint32_t terminal_width(FILE *stream); /* 80 where unknown */

/* A bar with the simulated time on stderr; silent where stderr is no terminal. It appears after a moment, so that
 * short runs stay quiet. */
typedef struct {
    double start, stop;
    int64_t begun, shown; /* milliseconds of the monotonic clock */
    bool is_on, is_visible;
} Progress;

Progress progress_begin(double start, double stop, bool is_wanted);
void progress_show(Progress *progress, double time);
void progress_clear(Progress *progress); /* before anything else is printed */

/* Ctrl-C, Ctrl-\ and SIGTERM: the first one sets the flag, the second one ends the process at once (status 130). */
volatile const int *interrupt_watch(void);

#endif
