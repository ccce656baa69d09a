/* Folders whose foreign code may be executed: the user's word, kept in the user's own configuration.
 *
 * Models are data whoever wrote them. C functions that a model names are code: they are compiled or loaded only where
 * the user says so, by `koine trust FOLDER`, which this file keeps, or on the command line. No model, experiment or
 * bank can say it. The list is $XDG_CONFIG_HOME/koine/trusted, else ~/.config/koine/trusted: a path a line. It counts
 * only if it is the user's alone. */
#ifndef TRUST_TRUST_H
#define TRUST_TRUST_H

#include "base/arena.h"
#include <stdbool.h>

/* Where the list is, whether it exists or not; NULL: neither XDG_CONFIG_HOME nor HOME is set. */
const char *trust_path(Arena *arena);

typedef struct {
    const char *const *folders; /* as they were when they were registered, without links */
    uint32_t n;
} TrustedFolders;

/* False: there is a list that does not count; *why. No list: none are trusted. */
bool trust_read(TrustedFolders *trusted, Arena *arena, const char **why);
/* False: *why. The folder must be there, and nobody else may be able to write into it. *whole: its full path. */
bool trust_add(const char *folder, Arena *arena, const char **whole, const char **why);
/* The folder need not be there any more. False: *why. */
bool trust_remove(const char *folder, Arena *arena, const char **whole, const char **why);
/* The trusted folder that a file lies in, at any depth, links followed; NULL: none. */
const char *trust_folder_of(const TrustedFolders *trusted, const char *file, Arena *arena);

#endif
