/* V. Results: the native store on a heat line of 10,000 variables at 10,000 points, 0.8 GB of numbers, and on a result
 * of 2 GB. Only with --viewer: it needs disk space and a minute. Each file is deleted as soon as it is measured. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    double wall, cpu, bytes;
} Cost;

/* A run into `file`, which stays. */
static bool run_line(const Bench *bench, const char *file, const char *variables, double stop, Cost *cost)
{
    char path[PATH_SIZE], result[PATH_SIZE], until[32];
    model_path(bench, "heat10000.ir", path);
    snprintf(result, sizeof result, "%s/%s", bench->folder, file);
    snprintf(until, sizeof until, "%g", stop);
    char *const arguments[] = { (char *)(uintptr_t)koine_binary(),
                                "run",
                                path,
                                "--stop",
                                until,
                                "--interval",
                                "0.1",
                                "--no-catalogue",
                                "--output",
                                result,
                                "--variables",
                                (char *)(uintptr_t)variables,
                                NULL };
    struct stat state;
    unlink(result);
    if (!run_program(koine_binary(), arguments, &cost->wall, &cost->cpu) || stat(result, &state) != 0)
        return false;
    cost->bytes = (double)state.st_size;
    return true;
}

static void drop(const Bench *bench, const char *file)
{
    char result[PATH_SIZE];
    snprintf(result, sizeof result, "%s/%s", bench->folder, file);
    unlink(result);
}

static double points(const Bench *bench)
{
    return bench->is_quick ? 1000 : 10000;
}

static bool is_there(Figure *figure)
{
    if (access(koine_binary(), X_OK) == 0)
        return true;
    no_figure(figure, "%s is not there; KOINE_BINARY names another", koine_binary());
    return false;
}

static void take_best(Cost *best, const Cost *cost)
{
    best->wall = fmin(best->wall, cost->wall);
    best->cpu = fmin(best->cpu, cost->cpu);
    best->bytes = cost->bytes;
}

/* Without output: one variable of the ten thousand. */
static bool measure_costs(const Bench *bench, Cost *with, Cost *without, Figure *figure)
{
    const double stop = 0.1 * points(bench);
    const int rounds = bench->is_quick ? 1 : 3;
    if (!is_there(figure))
        return false;
    bool is_good = true;
    *with = *without = (Cost){ INFINITY, INFINITY, 0 };
    for (int round = 0; round < rounds && is_good; round++) { /* in turns: the machine may have slow minutes */
        Cost cost = { INFINITY, INFINITY, 0 };
        is_good = run_line(bench, "one.h5", "U[1]", stop, &cost);
        take_best(without, &cost);
        is_good = is_good && run_line(bench, "all.h5", "U", stop, &cost);
        take_best(with, &cost);
    }
    drop(bench, "one.h5");
    drop(bench, "all.h5");
    if (!is_good)
        no_figure(figure, "the heat line fails");
    return is_good;
}

static void measure_cpu(const Bench *bench, const Row *row, Figure *figure)
{
    (void)row;
    Cost with, without;
    if (!measure_costs(bench, &with, &without, figure))
        return;
    figure->value = (with.cpu - without.cpu) / (8e-9 * 1e4 * points(bench));
    figure->is_known = true;
    note(figure, "%.3g s with, %.3g s without output", with.cpu, without.cpu);
}

static void measure_wall(const Bench *bench, const Row *row, Figure *figure)
{
    (void)row;
    Cost with, without;
    if (!measure_costs(bench, &with, &without, figure))
        return;
    figure->value = with.wall / without.wall;
    figure->is_known = true;
    note(figure, "%.3g s with, %.3g s without output; the writer's thread needs a core of its own", with.wall,
         without.wall);
}

static void measure_size(const Bench *bench, const Row *row, Figure *figure)
{
    (void)row;
    Cost native, text;
    const double stop = 0.1 * points(bench);
    if (!is_there(figure))
        return;
    const bool is_good = run_line(bench, "all.h5", "U", stop, &native) && run_line(bench, "all.csv", "U", stop, &text);
    drop(bench, "all.h5");
    drop(bench, "all.csv");
    if (!is_good) {
        no_figure(figure, "the heat line fails");
        return;
    }
    figure->value = native.bytes / text.bytes;
    figure->is_known = true;
    note(figure, "%.0f MB, %.0f MB as CSV", 1e-6 * native.bytes, 1e-6 * text.bytes);
}

/* From process start to the curve of one variable. */
static void measure_open(const Bench *bench, const Row *row, Figure *figure)
{
    (void)row;
    Cost cost;
    char result[PATH_SIZE], picture[PATH_SIZE];
    const double stop = bench->is_quick ? 100 : 3900;
    snprintf(result, sizeof result, "%s/large.h5", bench->folder);
    snprintf(picture, sizeof picture, "%s/curve.svg", bench->folder);
    if (!is_there(figure))
        return;
    if (!run_line(bench, "large.h5", "U", stop, &cost)) {
        no_figure(figure, "the heat line fails");
        drop(bench, "large.h5");
        return;
    }
    char *const arguments[] = {
        (char *)(uintptr_t)koine_binary(), "plot", result, "--variables", "U[5000]", "--output", picture, NULL
    };
    double least = INFINITY;
    for (int round = 0; round < 3; round++) {
        double wall, cpu;
        if (!run_program(koine_binary(), arguments, &wall, &cpu)) {
            no_figure(figure, "koine plot fails");
            break;
        }
        least = fmin(least, wall);
    }
    drop(bench, "large.h5");
    drop(bench, "curve.svg");
    if (!isfinite(least))
        return;
    figure->value = least;
    figure->is_known = true;
    note(figure, "%.2f GB of %.0f points", 1e-9 * cost.bytes, 10 * stop);
}

static const Row rows[] = {
    { "results/writer", AT_MOST, 5, "s CPU/GB", measure_cpu, NULL, NULL },
    { "results/run", AT_MOST, 1.15, "x wall", measure_wall, NULL, NULL },
    { "results/size", AT_MOST, 0.35, "x CSV", measure_size, NULL, NULL },
    { "results/open-2GB", AT_MOST, 1, "s", measure_open, NULL, NULL },
};
const Group group_results = { "V. results", rows, sizeof rows / sizeof rows[0] };
