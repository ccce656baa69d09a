#define _GNU_SOURCE /* fallocate; a file of its own because strerror_r is another one with it */
#include "formats/store_space.h"
#include <errno.h>
#include <fcntl.h>

int space_reserve(int file, uint64_t from, uint64_t length)
{
    return fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)length) == 0 ? 0 : errno;
}
