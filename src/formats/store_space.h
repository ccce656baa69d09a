/* Disk space for bytes beyond the end of a file, without a change of its size. Private to formats. */
#ifndef FORMATS_STORE_SPACE_H
#define FORMATS_STORE_SPACE_H

#include <stdint.h>

/* 0, or errno: EOPNOTSUPP and others where the file system cannot do this. */
int space_reserve(int file, uint64_t from, uint64_t length);

#endif
