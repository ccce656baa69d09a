#include "experiment/process.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *host_name(Arena *arena)
{
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0)
        name[0] = 0;
    return arena_text(arena, name, strlen(name));
}

/* Where the system has /proc: field 22 of its state, behind the name in parentheses, which may hold anything. */
static int64_t begin_of(int64_t number)
{
    enum { FIELDS_AFTER_NAME = 20 };
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)number);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    const ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    text[n > 0 ? n : 0] = 0;
    char *at = strrchr(text, ')');
    for (int field = 0; at && field < FIELDS_AFTER_NAME; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at, NULL, 10) : 0;
}

ProcessMark process_self(Arena *arena)
{
    const int64_t number = getpid();
    return (ProcessMark){ host_name(arena), number, begin_of(number) };
}

ProcessState process_state(const ProcessMark *mark, Arena *arena)
{
    if (strcmp(mark->host, host_name(arena)) != 0)
        return PROCESS_ELSEWHERE;
    if (mark->number <= 0 || mark->number > INT32_MAX || (kill((pid_t)mark->number, 0) != 0 && errno == ESRCH))
        return PROCESS_GONE;
    return mark->begun == begin_of(mark->number) ? PROCESS_ALIVE : PROCESS_GONE;
}
