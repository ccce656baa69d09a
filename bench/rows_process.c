/* F: the built program, from process start to results on disk. Wall clock: waiting for the disk counts. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void measure(const Bench *bench, const Row *row, Figure *figure)
{
    char path[PATH_SIZE], results[PATH_SIZE];
    double least_wall = INFINITY, least_cpu = INFINITY;
    model_path(bench, row->subject, path);
    snprintf(results, sizeof results, "%s/results.csv", bench->folder);
    char *const arguments[] = { (char *)(uintptr_t)koine_binary(), "run",      path,    "--stop", "10", "--tier",
                                (char *)(uintptr_t)row->tier,      "--output", results, NULL };
    if (access(koine_binary(), X_OK) != 0) {
        no_figure(figure, "%s is not there; KOINE_BINARY names another", koine_binary());
        return;
    }
    for (int round = 0; round < (bench->is_quick ? 10 : 40); round++) {
        double wall, cpu;
        unlink(results);
        if (!run_program(koine_binary(), arguments, &wall, &cpu) || access(results, R_OK) != 0) {
            no_figure(figure, "%s run %s fails or leaves no results", koine_binary(), path);
            return;
        }
        least_wall = fmin(least_wall, wall);
        least_cpu = fmin(least_cpu, cpu);
    }
    figure->value = 1e3 * least_wall;
    figure->is_known = true;
    note(figure, "%.3g ms of CPU", 1e3 * least_cpu);
}

static const Row rows[] = {
    { "process/lorenz/interp", AT_MOST, 20, "ms", measure, "Lorenz.mdl", "interp" },
};
const Group group_process = { "F. process start to results on disk", rows, sizeof rows / sizeof rows[0] };
