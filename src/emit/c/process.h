/* The compiler's process: started without a shell, ended with its run, and walled in where the system allows it.
 *
 * Between Koine and the compiler stands a small process of ours. It ends the compiler and all that this has started
 * when it is told to or when Koine dies, and removes the work folder then. The compiler inherits no descriptor but its
 * standard ones, has limits, no network, and writes to its work folder only (base/walls.h). Private to emit/c. */
#ifndef EMIT_C_PROCESS_H
#define EMIT_C_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    const char *const *args; /* the first is the full path; ends with NULL */
    const char *folder;      /* the work folder; its temporary files go there */
    int messages;            /* descriptor for what it says */
    bool is_walled;          /* Landlock and seccomp, as far as there are any */
} CompilerProcess;

/* 0, or errno. *pid: of our process, to be waited for; its exit status is the compiler's, 128 + n for signal n. */
int process_start(const CompilerProcess *process, pid_t *pid);
void process_end(pid_t pid); /* waits until all are gone */

/* Signals that end a process wait from here on: a work folder without a compiler has nobody else to remove it. */
void process_hold_signals(sigset_t *before);
void process_let_signals(const sigset_t *before);

/* Removes a work folder and the files in it. */
void process_remove_folder(const char *folder);

#endif
