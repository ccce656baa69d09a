/* Whether a function of C meddles with what belongs to the whole process: its locale, what it does with signals. */
#ifndef EMIT_EXTERNAL_WATCH_H
#define EMIT_EXTERNAL_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { WATCHED_SIGNALS = 12 };
typedef struct {
    char locale[512]; /* "": it is too long to be watched */
    struct sigaction actions[WATCHED_SIGNALS];
} Watch;

void watch_begin(Watch *watch);
/* RoutineFaultKind: what has changed since then; it is put back. */
uint32_t watch_end(const Watch *watch);

#endif
