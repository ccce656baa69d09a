/* Who starts the runs of a viewer: a small process of ours outside of the walls that the server stands behind.
 *
 * It starts one program, `koine run` of the one model, one run at a time, and decides itself where the run writes: the
 * result under a free name in the current folder, preview, profile and messages in the folder of the viewer. A request
 * has no place for a path, only for settings out of a list, so a server that somebody else has taken over can start
 * what the page can, and nothing more. It ends with the server, however that happens: it sees the end of the socket
 * between the two, ends the run in order, and removes what was temporary. */
#ifndef WEB_STARTER_H
#define WEB_STARTER_H

#include "base/arena.h"

typedef struct {
    const char *program, *target;
    const char *const *arguments; /* of the user's own, ended by NULL; may be NULL */
    const char *folder;    /* for previews, profiles, messages; removed in the end; NULL: no run can be started */
    const char *forwarder; /* a file that is removed in the end; NULL: none */
} StarterOptions;

typedef struct Starter Starter;

/* The settings that a run may have: start, stop, set ... */
bool starter_knows(const char *name);

Starter *starter_create(const StarterOptions *options, Arena *arena); /* NULL: errno says why */

typedef struct {
    uint32_t number; /* of the run: names of its files in the folder, see starter_file */
    char path[512];  /* of its result */
} StartedRun;
typedef struct {
    const char *const *settings; /* NAME=VALUE */
    uint32_t n;
    bool wants_profile;
} StartRequest;
/* False: *error says why. */
bool starter_start(Starter *starter, const StartRequest *request, StartedRun *run, Arena *scratch, const char **error);
void starter_stop(Starter *starter, uint32_t number);
/* True: that run has ended, with this status of waitpid; once. */
bool starter_has_ended(Starter *starter, uint32_t number, int *status);
/* Ends the run and the process; waits for both. */
void starter_end(Starter *starter);

typedef enum { STARTER_LIVE, STARTER_PROFILE, STARTER_MESSAGES } StarterFile;
const char *starter_file(const char *folder, uint32_t number, StarterFile file, Arena *arena);

#endif
