/* --against: a row of this build and of another one in turns, each in a process of its own, and their ratio. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool find_other_bench(const char *folder, char *path, size_t size)
{
    static const char *const places[] = { "%s/bench/koine-bench", "%s/build/release/bench/koine-bench" };
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
        const int n = snprintf(path, size, places[k], folder);
        if (n > 0 && (size_t)n < size && !strchr(path, '\'') && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* The value of the only row in a file of --json. */
static bool read_value(const char *file, double *value)
{
    static const char KEY[] = "\"value\": ";
    char text[2048];
    FILE *const f = fopen(file, "r");
    if (!f)
        return false;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    const char *const at = strstr(text, KEY);
    char *end;
    if (!at)
        return false;
    *value = strtod(at + sizeof KEY - 1, &end);
    return end != at + sizeof KEY - 1;
}

static bool measure_once(const Bench *bench, const char *program, const Row *row, double *value)
{
    char file[PATH_SIZE], command[4 * PATH_SIZE];
    snprintf(file, sizeof file, "%s/row.json", bench->folder);
    snprintf(command, sizeof command, "'%s' --row '%s' --json '%s'%s >/dev/null 2>&1", program, row->name, file,
             bench->is_quick ? " --quick" : "");
    unlink(file);
    const int status = system(command); /* 1: beyond its target, which is not asked here */
    return WIFEXITED(status) && WEXITSTATUS(status) <= 1 && read_value(file, value);
}

static double better(const Row *row, double a, double b)
{
    return (row->direction == AT_MOST) == (a < b) ? a : b;
}

bool measure_against(const Bench *bench, const char *other, const Row *row, double values[2])
{
    const char *const programs[] = { bench->self, other };
    const int rounds = bench->is_quick ? 2 : 3;
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < 2; k++) {
            double value;
            if (!measure_once(bench, programs[k], row, &value))
                return false;
            values[k] = round ? better(row, value, values[k]) : value;
        }
    return true;
}
