/* Opening files that are written: the one place where it is decided what may be.
 *
 * What the user names on the command line is written as told. What a model or an experiment names (WRITING_CONFINED)
 * may come from a stranger: it stays below the current folder, goes through no link, has a name that no other program
 * reads by itself, and replaces nothing but what Koine wrote. A file on a disk is locked: it has one writer. */
#ifndef FORMATS_WRITING_H
#define FORMATS_WRITING_H

#include "base/text.h"

enum { WRITING_CONFINED = 1, WRITING_READS = 2 /* the file is read as well */ };

/* A descriptor; nothing of an older file is touched yet. -1: *refusal ends the sentence "cannot write X: ...", or is
 * NULL and errno tells. */
int writing_open(const char *path, unsigned flags, const char **refusal);

/* A refusal that is no fault of the name: the list of what Koine wrote cannot be read. */
extern const char writing_unknown[];

/* Whether writing_open would refuse a confined path: why, else NULL. Touches nothing. */
const char *writing_refusal(const char *path);

/* Why a file may not be deleted because somebody's list names it, else NULL: it lies below the folder, is no link, and
 * Koine wrote it. */
const char *writing_deletion_refusal(const char *path, const char *folder);

/* A name of a model as the name of a file in the current folder, without its ending. */
char *writing_name(const char *name, Arena *arena);

#endif
