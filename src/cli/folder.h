/* A folder that is written whole or not at all. */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include "driver/build.h"

/* The files are written beside the folder first and take their places when all of them are on the disk, over older ones
 * of the same names. A folder that is there already must be empty or have been written by this: its `model.c` says so.
 * The exit status; what is wrong was said. */
int write_folder(const char *path, const BuildFiles *files);

#endif
