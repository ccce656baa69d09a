/* What the terminal can show, and the one line of progress on it. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "formats/plot.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool terminal_is(FILE *stream);
/* Whether colours are wanted there: `when` is auto, always, never or NULL. */
bool terminal_has_colour(FILE *stream, const char *when);
bool terminal_has_unicode(void);
uint32_t terminal_width(FILE *stream); /* 80 where unknown */

/* Draws panes on `to` with what its terminal can show; `size` gives width and height where they are not 0. */
void draw_panes(const PlotPane *panes, uint32_t n_panes, const PlotOptions *size, FILE *to, bool colour, Arena *arena);

/* How far the simulated time has come, on stderr. As a bar: silent where stderr is no terminal, and for a moment, so
 * that short runs stay quiet. As lines: one for each tenth of the run, anywhere. */
typedef enum { PROGRESS_NONE, PROGRESS_BAR, PROGRESS_LINES } ProgressForm;
typedef struct {
    double start, stop;
    int64_t begun, shown; /* milliseconds of the monotonic clock */
    ProgressForm form;
    int tenth; /* the last one told */
    bool is_visible;
} Progress;

Progress progress_begin(double start, double stop, ProgressForm form);
void progress_show(Progress *progress, double time);
void progress_clear(Progress *progress); /* before anything else is printed */

/* Ctrl-C, Ctrl-\, SIGTERM and the end of the terminal: the first one sets the flag, the second one ends the process at
 * once (status 130). */
volatile const int *interrupt_watch(void);
/* The first signal writes a byte to the descriptor; -1: to nobody. */
void interrupt_tell(int descriptor);
/* From now on the end of the standard input is a SIGTERM: whoever started the program is gone. False: no thread. */
bool interrupt_with_input(void);

#endif
