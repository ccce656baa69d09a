/* A folder of this process alone, for targets that must read files; it goes when the process ends in order. */
#ifndef TESTS_FUZZ_PLACE_H
#define TESTS_FUZZ_PLACE_H

#include <stddef.h>

const char *place_folder(void);
/* folder/name; the text holds until the next four calls. */
const char *place_path(const char *name);
void place_write(const char *path, const void *bytes, size_t size);
void place_remove(const char *path);

#endif
