/* Which process a run is, so that others can tell later whether it still goes on. */
#ifndef EXPERIMENT_PROCESS_H
#define EXPERIMENT_PROCESS_H

#include "base/arena.h"
#include <stdbool.h>

typedef struct {
    const char *host; /* "": not known */
    int64_t number;   /* 0: none */
    int64_t begun;    /* in units of the system; tells processes of the same number apart; 0: not known */
} ProcessMark;

typedef enum { PROCESS_ALIVE, PROCESS_GONE, PROCESS_ELSEWHERE /* on another machine: nobody knows */ } ProcessState;

ProcessMark process_self(Arena *arena);
ProcessState process_state(const ProcessMark *mark, Arena *arena);

#endif
