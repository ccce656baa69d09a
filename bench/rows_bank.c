/* G: many classes and many components. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- adders ---- */
static const double PERIOD[] = { 100 + 25 * 4, 100 + 25 * 1000 };
static const uint32_t BITS[] = { 4, 1000 };

static bool run_ripple(const Subject *subject, double stop, SubjectRun *run, double *seconds)
{
    *run = (SubjectRun){ .stop = stop, .max_steps = 10000 };
    const double begun = cpu_seconds();
    const bool is_good = subject_run(subject, run);
    *seconds = cpu_seconds() - begun;
    return is_good;
}

/* Seconds a committed event step: of what a longer run does more, so that the start does not count. */
static double step_seconds(const Bench *bench, uint32_t k, const char *tier, double *nodes, Figure *figure)
{
    char path[PATH_SIZE];
    Subject subject;
    generate_adder(bench, BITS[k], "Delay", path);
    if (!subject_open(&subject, path, tier, figure))
        return NAN;
    const double periods = (bench->is_quick ? 5000.0 : 20000.0) / BITS[k];
    SubjectRun few, many;
    double short_best = INFINITY, long_best = INFINITY;
    bool is_good = true;
    for (int round = 0; is_good && round < (bench->is_quick ? 3 : 7); round++) {
        double a = 0, b = 0;
        is_good = run_ripple(&subject, 2.5 * PERIOD[k], &few, &a) &&
                  run_ripple(&subject, (2.5 + ceil(periods)) * PERIOD[k], &many, &b);
        short_best = fmin(short_best, a);
        long_best = fmin(long_best, b);
    }
    subject_close(&subject);
    if (!is_good) {
        no_figure(figure, "failed: %s", few.text[0] ? few.text : many.text);
        return NAN;
    }
    const double steps = (double)(many.counts.events.event_steps - few.counts.events.event_steps);
    *nodes = (double)(many.counts.model.node_evaluations - few.counts.model.node_evaluations) / steps;
    return (long_best - short_best) / steps;
}

static void measure_steps(const Bench *bench, const Row *row, Figure *figure)
{
    double nodes[2];
    const double small = step_seconds(bench, 0, row->tier, &nodes[0], figure);
    const double large = isnan(small) ? NAN : step_seconds(bench, 1, row->tier, &nodes[1], figure);
    if (isnan(large))
        return;
    figure->value = large / small;
    figure->is_known = true;
    note(figure, "%.4g ns and %.3g nodes a step with 1000 bits, %.4g ns and %.3g nodes with 4", 1e9 * large, nodes[1],
         1e9 * small, nodes[0]);
}

/* Text to settled: 1000 bits load, are checked, and the sum is right after one period. */
static void measure_settling(const Bench *bench, const Row *row, Figure *figure)
{
    char path[PATH_SIZE];
    Subject subject;
    SubjectRun run;
    generate_adder(bench, 1000, row->subject, path);
    double best = INFINITY, seconds = 0;
    for (int round = 0; round < (bench->is_quick ? 1 : 3); round++) {
        const double begun = cpu_seconds();
        if (!subject_open(&subject, path, row->tier, figure))
            return;
        const bool is_good = run_ripple(&subject, 1.9 * PERIOD[1], &run, &seconds);
        best = fmin(best, cpu_seconds() - begun);
        subject_close(&subject);
        if (!is_good) {
            no_figure(figure, "failed: %s", run.text);
            return;
        }
    }
    figure->value = best;
    figure->is_known = true;
    note(figure, "%.3g s of it running, %llu event steps", seconds, (unsigned long long)run.counts.events.event_steps);
}

/* ---- checking a bank ---- */
static void measure_check(const Bench *bench, const Row *row, Figure *figure)
{
    const bool is_changed = row->subject != NULL;
    char path[PATH_SIZE], file[PATH_SIZE + 32], cache[PATH_SIZE];
    generate_bank(bench, path);
    snprintf(cache, sizeof cache, "%s/cache", bench->folder);
    setenv("XDG_CACHE_HOME", cache, 1);
    snprintf(file, sizeof file, "%s/Leaf77.mdl", path);
    char *const arguments[] = { (char *)(uintptr_t)koine_binary(), "bank", "check", path, NULL };
    double best = INFINITY, wall, cpu, best_cpu = INFINITY;
    if (access(koine_binary(), X_OK) != 0 || !run_program(koine_binary(), arguments, &wall, &cpu)) {
        no_figure(figure, "%s bank check %s fails", koine_binary(), path);
        return;
    }
    for (int round = 0; round < (bench->is_quick ? 5 : 20); round++) {
        FILE *f = is_changed ? fopen(file, "a") : NULL;
        if (f) {
            fprintf(f, "# %d\n", round);
            fclose(f);
        }
        if (!run_program(koine_binary(), arguments, &wall, &cpu)) {
            no_figure(figure, "%s bank check %s fails", koine_binary(), path);
            return;
        }
        best = fmin(best, wall);
        best_cpu = fmin(best_cpu, cpu);
    }
    figure->value = best;
    figure->is_known = true;
    note(figure, "%.3g s of CPU time, 10000 classes", best_cpu);
}

static const Row rows[] = {
    { "bank/adder-step/cc", AT_MOST, 1.5, "1000/4", measure_steps, NULL, "cc" },
    { "bank/adder-step/interp", AT_MOST, 1.5, "1000/4", measure_steps, NULL, "interp" },
    { "bank/adder1000-settles/logic", AT_MOST, 2, "s", measure_settling, "Logic", "interp" },
    { "bank/adder1000-settles/delay", AT_MOST, 2, "s", measure_settling, "Delay", "interp" },
    { "bank/check-unchanged", AT_MOST, 0.3, "s", measure_check, NULL, NULL },
    { "bank/check-one-changed", AT_MOST, 0.4, "s", measure_check, "changed", NULL },
};
const Group group_bank = { "G. banks and adders", rows, sizeof rows / sizeof rows[0] };
