/* Walls around a process of ours: what it may read and write (Landlock), and that it makes no sockets (seccomp).
 *
 * They hold for the calling thread and for all threads and processes that it starts from then on, and can never be
 * taken away again. Where the system has none nothing happens: the process goes on, `koine doctor --security` says it.
 * Only system calls are made, so that a process may put them up between fork and exec. */
#ifndef BASE_WALLS_H
#define BASE_WALLS_H

#include <stdbool.h>

typedef enum {
    WALL_WRITE = 1, /* files: write, make, remove */
    WALL_READ = 2,  /* files and lists of folders */
    WALL_START = 4, /* programs */
    WALL_LIST = 8,  /* lists of folders only; for walls_let */
} WallAccess;

bool walls_have_landlock(void);
bool walls_have_seccomp(void);

/* A set of rules under which nothing of `walled` (WALL_WRITE, WALL_READ, WALL_START) is allowed; -1: there is no
 * Landlock, which the calls below take. */
int walls_begin(unsigned walled);
/* Allows it for a file, or for a folder and all that is beneath it. What does not exist is left out. */
void walls_let(int rules, const char *path, unsigned access);
/* From here on the rules hold, also no signals to processes outside where the kernel knows of that. The set is
 * closed. */
bool walls_stand(int rules);

/* From here on no sockets can be made, no rings of requests that could make one, and nobody is traced. */
bool walls_without_network(void);

#endif
