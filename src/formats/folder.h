/* A folder that is written whole or not at all. */
#ifndef FORMATS_FOLDER_H
#define FORMATS_FOLDER_H

#include "base/text.h"
#include "base/vec.h"
#include <stdbool.h>

typedef struct {
    const char *path; /* in the folder, with / between its parts */
    Text text;
} FolderFile;

/* Whose folder it is tells the first line of one of its files, by how it begins and ends. */
typedef struct {
    const char *file; /* NULL: nobody's */
    const char *begin, *end;
} FolderMark;

typedef struct {
    Arena *arena;
    VEC(FolderFile) files;
    FolderMark mark;
} FolderFiles;

typedef enum {
    FOLDER_WRITTEN,
    FOLDER_OTHER, /* something else lies in it, and stays */
    FOLDER_FAILED
} FolderEnd;

/* The files are written beside the folder first and take their places when all of them are on the disk, over older ones
 * of the same names. A folder that is there already must be empty or have the mark. *why: in one line, where it was not
 * written. */
FolderEnd folder_write(const char *path, const FolderFiles *files, const char **why);

#endif
