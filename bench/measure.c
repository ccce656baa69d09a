#include "bench.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double SAMPLE = 0.02, QUICK_SAMPLE = 0.005; /* seconds: shorter ones are noise */
enum { ROUNDS = 11, QUICK_ROUNDS = 5 };

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double cpu_seconds(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

double wall_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

static bool sample(const Work *work, uint32_t n, double *seconds)
{
    const double begun = cpu_seconds();
    for (uint32_t k = 0; k < n; k++)
        if (!work->run(work->context))
            return false;
    *seconds = (cpu_seconds() - begun) / n;
    return true;
}

/* Runs that fill one sample; the first ones also warm up. */
static bool calibrate(const Work *work, double wanted, uint32_t *n)
{
    double each = 0;
    *n = 1;
    while (sample(work, *n, &each)) {
        if (each * *n >= 0.5 * wanted || *n >= 1u << 28) {
            *n = each > 0 ? (uint32_t)fmin(fmax(wanted / each, 1), 1u << 28) : *n;
            return true;
        }
        *n *= 2;
    }
    return false;
}

bool measure_both(const Bench *bench, const Work *ours, const Work *theirs, double seconds[2])
{
    const double wanted = bench->is_quick ? QUICK_SAMPLE : SAMPLE;
    const int rounds = bench->is_quick ? QUICK_ROUNDS : ROUNDS;
    const Work *const works[2] = { ours, theirs };
    uint32_t n[2];
    for (int k = 0; k < 2; k++) {
        seconds[k] = INFINITY;
        if (!calibrate(works[k], wanted, &n[k]))
            return false;
    }
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < 2; k++) {
            double each;
            if (!sample(works[k], n[k], &each))
                return false;
            seconds[k] = fmin(seconds[k], each);
        }
    return true;
}

void no_figure(Figure *figure, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(figure->note, sizeof figure->note, format, list);
    va_end(list);
    figure->is_known = false;
}

void note(Figure *figure, const char *format, ...)
{
    const size_t used = strlen(figure->note);
    va_list list;
    va_start(list, format);
    vsnprintf(figure->note + used, sizeof figure->note - used, format, list);
    va_end(list);
}

/* ---- a process of its own: peak memory is that of one task, and of nothing else ---- */
bool child_numbers(const Bench *bench, const char *const *arguments, double *numbers, uint32_t n)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        const char *argv[16] = { bench->self, "--child" };
        for (int k = 0; arguments[k] && k < 13; k++)
            argv[k + 2] = arguments[k];
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(bench->self, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    uint32_t got = 0;
    while (output && got < n && fscanf(output, "%lf", &numbers[got]) == 1)
        got++;
    if (output)
        fclose(output);
    int status = 0;
    waitpid(child, &status, 0);
    return got == n && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const char *koine_binary(void)
{
    const char *named = getenv("KOINE_BINARY");
    return named ? named : KOINE_BUILD_DIR "/koine";
}

bool run_program(const char *program, char *const *arguments, double *wall, double *cpu)
{
    const double begun = wall_seconds();
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execv(program, arguments);
        _exit(127);
    }
    int status;
    struct rusage usage;
    wait4(child, &status, 0, &usage);
    *wall = wall_seconds() - begun;
    *cpu = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_sec +
           1e-6 * (double)usage.ru_stime.tv_usec;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
