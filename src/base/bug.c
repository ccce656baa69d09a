/* What is printed before the process ends, because of a mistake of ours or for lack of memory; see bug.h. */
#include "base/bug.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void bug_at(const char *file, int line, const char *what)
{
    fprintf(stderr, "koine: internal error at %s:%d: %s\nThis is a mistake in Koine, not in your model.\n", file, line,
            what);
    abort();
}

_Noreturn void bug_no_memory(unsigned long wanted)
{
    enum { STATUS_ENVIRONMENT = 4 };
    fprintf(stderr, "koine: out of memory (%lu bytes more were needed)\n", wanted);
    _exit(STATUS_ENVIRONMENT);
}
