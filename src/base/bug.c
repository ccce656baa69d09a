#include "base/bug.h"
#include <stdio.h>
#include <stdlib.h>

_Noreturn void bug_at(const char *file, int line, const char *what)
{
    fprintf(stderr, "koine: internal error at %s:%d: %s\nThis is a mistake in Koine, not in your model.\n", file, line,
            what);
    abort();
}
