/* What the terminal can show, and what it interrupts. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "experiment/progress.h"
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

/* The form in which progress can be shown on stderr: a bar needs a terminal. */
ProgressForm terminal_progress(ProgressForm wanted);

/* Ctrl-C, Ctrl-\, SIGTERM and the end of the terminal: the first one sets the flag, the second one ends the process at
 * once (status 130). */
volatile const int *interrupt_watch(void);
/* The first signal writes a byte to the descriptor; -1: to nobody. */
void interrupt_tell(int descriptor);
/* From now on the end of the standard input is a SIGTERM: whoever started the program is gone. False: no thread. */
bool interrupt_with_input(void);

#endif
