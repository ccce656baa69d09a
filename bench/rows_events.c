/* E: event steps. Rates are marginal: of what a longer run does more, so that the start does not count. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double rate;      /* event steps a second */
    double per_event; /* seconds an instant */
    double nodes;     /* evaluated a step */
} Rate;

static bool run_until(const Subject *subject, double stop, SubjectRun *run, double *seconds)
{
    *run = (SubjectRun){ .stop = stop };
    const double begun = cpu_seconds();
    const bool is_good = subject_run(subject, run);
    *seconds = cpu_seconds() - begun;
    return is_good;
}

static bool measure_rate(const Bench *bench, const char *path, const char *tier, Rate *rate, Figure *figure)
{
    Subject subject;
    if (!subject_open(&subject, path, tier, figure))
        return false;
    const double span = bench->is_quick ? 100000 : 400000; /* instants */
    SubjectRun few, many;
    double short_best = INFINITY, long_best = INFINITY;
    bool is_good = true;
    for (int round = 0; is_good && round < (bench->is_quick ? 3 : 7); round++) {
        double short_seconds, long_seconds;
        is_good =
            run_until(&subject, 100.5, &few, &short_seconds) && run_until(&subject, 100.5 + span, &many, &long_seconds);
        short_best = fmin(short_best, short_seconds);
        long_best = fmin(long_best, long_seconds);
    }
    if (is_good) {
        const double steps = (double)(many.counts.events.event_steps - few.counts.events.event_steps);
        rate->rate = steps / (long_best - short_best);
        rate->per_event = (long_best - short_best) / (double)(many.counts.events.instants - few.counts.events.instants);
        rate->nodes = (double)(many.counts.model.node_evaluations - few.counts.model.node_evaluations) / steps;
    } else {
        no_figure(figure, "failed: %s", few.text[0] ? few.text : many.text);
    }
    subject_close(&subject);
    return is_good;
}

static const uint32_t gates[] = { 5, 101, 100001 };
enum { N_RINGS = sizeof gates / sizeof gates[0] };

static const Rate *ring_rate(const Bench *bench, uint32_t ring, const char *tier, Figure *figure)
{
    static Rate kept[N_RINGS][2];
    Rate *rate = &kept[ring][strcmp(tier, "cc") == 0];
    char path[PATH_SIZE];
    generate_ring(bench, gates[ring], path);
    if (rate->rate == 0 && !measure_rate(bench, path, tier, rate, figure))
        return NULL;
    return rate;
}

static void measure_ring(const Bench *bench, const Row *row, Figure *figure)
{
    const uint32_t ring = (uint32_t)((const uint32_t *)row->subject - gates);
    const Rate *rate = ring_rate(bench, ring, row->tier, figure);
    if (!rate)
        return;
    figure->value = rate->rate / 1e6;
    figure->is_known = true;
    note(figure, "%.3g ns a step, %.3g nodes a step", 1e9 / rate->rate, rate->nodes);
}

static void measure_spread(const Bench *bench, const Row *row, Figure *figure)
{
    double least = INFINITY, most = 0;
    for (uint32_t k = 0; k < N_RINGS; k++) {
        const Rate *rate = ring_rate(bench, k, row->tier, figure);
        if (!rate)
            return;
        least = fmin(least, rate->rate);
        most = fmax(most, rate->rate);
    }
    figure->value = most / least;
    figure->is_known = true;
}

static void measure_idle(const Bench *bench, const Row *row, Figure *figure)
{
    static const uint32_t idle[] = { 1000, 100000 };
    Rate rates[2];
    for (int k = 0; k < 2; k++) {
        char path[PATH_SIZE];
        generate_ticks(bench, idle[k], path);
        if (!measure_rate(bench, path, row->tier, &rates[k], figure))
            return;
    }
    figure->value = rates[1].per_event / rates[0].per_event;
    figure->is_known = true;
    note(figure, "%.4g ns a tick beside %u, %.4g ns beside %u", 1e9 * rates[0].per_event, idle[0],
         1e9 * rates[1].per_event, idle[1]);
}

/* A procedure of 20 statements at each tick of a clock; one that can be written as expressions, one with a loop. */
static void measure_procedure(const Bench *bench, const Row *row, Figure *figure)
{
    char path[PATH_SIZE];
    Rate rate;
    model_path(bench, row->subject, path);
    if (!measure_rate(bench, path, row->tier, &rate, figure))
        return;
    figure->value = 1e-6 / rate.per_event;
    figure->is_known = true;
    note(figure, "%.4g ns a tick, %.3g nodes a step", 1e9 * rate.per_event, rate.nodes);
}

/* Messages a second: ten requests at each tick of a clock, each of which is answered by another message. */
static void measure_messages(const Bench *bench, const Row *row, Figure *figure)
{
    static const double MESSAGES = 20; /* a tick */
    char path[PATH_SIZE];
    Rate rate;
    model_path(bench, row->subject, path);
    if (!measure_rate(bench, path, row->tier, &rate, figure))
        return;
    figure->value = 1e-6 * MESSAGES / rate.per_event;
    figure->is_known = true;
    note(figure, "%.4g ns a message, %.3g nodes a step", 1e9 * rate.per_event / MESSAGES, rate.nodes);
}

/* Seconds a tick of 100,000 periodic clocks with so many different rates. */
static bool measure_ticks(const Bench *bench, const Row *row, uint32_t rates, double *seconds, Figure *figure)
{
    enum { CLOCKS = 100000 };
    static const double FEW = 10, MANY = 60;
    Subject subject;
    char path[PATH_SIZE];
    generate_clocks(bench, CLOCKS, rates, path);
    if (!subject_open(&subject, path, row->tier, figure))
        return false;
    SubjectRun few = { 0 }, many = { 0 };
    double short_best = INFINITY, long_best = INFINITY;
    bool is_good = true;
    for (int round = 0; is_good && round < (bench->is_quick ? 3 : 7); round++) {
        double short_seconds, long_seconds;
        is_good = run_until(&subject, FEW, &few, &short_seconds) && run_until(&subject, MANY, &many, &long_seconds);
        short_best = fmin(short_best, short_seconds);
        long_best = fmin(long_best, long_seconds);
    }
    if (is_good)
        *seconds = (long_best - short_best) /
                   (double)(many.counts.model.transitions_fired - few.counts.model.transitions_fired);
    else
        no_figure(figure, "failed: %s", few.text[0] ? few.text : many.text);
    subject_close(&subject);
    return is_good;
}

static void measure_rates(const Bench *bench, const Row *row, Figure *figure)
{
    double one, hundred;
    if (!measure_ticks(bench, row, 1, &one, figure) || !measure_ticks(bench, row, 100, &hundred, figure))
        return;
    figure->value = hundred / one;
    figure->is_known = true;
    note(figure, "%.4g ns a tick of 100 rates, %.4g ns of one", 1e9 * hundred, 1e9 * one);
}

static const Row rows[] = {
    { "events/ring5/cc", AT_LEAST, 8, "M/s", measure_ring, &gates[0], "cc" },
    { "events/ring101/cc", AT_LEAST, 8, "M/s", measure_ring, &gates[1], "cc" },
    { "events/ring100001/cc", AT_LEAST, 8, "M/s", measure_ring, &gates[2], "cc" },
    { "events/spread/cc", AT_MOST, 1.5, "max/min", measure_spread, NULL, "cc" },
    { "events/ring5/interp", AT_LEAST, 2, "M/s", measure_ring, &gates[0], "interp" },
    { "events/ring101/interp", AT_LEAST, 2, "M/s", measure_ring, &gates[1], "interp" },
    { "events/ring100001/interp", AT_LEAST, 2, "M/s", measure_ring, &gates[2], "interp" },
    { "events/spread/interp", AT_MOST, 1.5, "max/min", measure_spread, NULL, "interp" },
    { "events/idle/cc", AT_MOST, 2, "100k/1k", measure_idle, NULL, "cc" },
    { "events/idle/interp", AT_MOST, 2, "100k/1k", measure_idle, NULL, "interp" },
    { "events/messages/cc", AT_LEAST, 2, "M/s", measure_messages, "messages.ir", "cc" },
    { "events/messages/interp", AT_LEAST, 1, "M/s", measure_messages, "messages.ir", "interp" },
    { "events/rates/cc", AT_MOST, 2, "100/1", measure_rates, NULL, "cc" },
    { "events/rates/interp", AT_MOST, 2, "100/1", measure_rates, NULL, "interp" },
    { "events/procedure/cc", AT_LEAST, 5, "M/s", measure_procedure, "procedure.ir", "cc" },
    { "events/procedure/interp", AT_LEAST, 1, "M/s", measure_procedure, "procedure.ir", "interp" },
    { "events/procedure-loop/cc", AT_LEAST, 5, "M/s", measure_procedure, "procedure_loop.ir", "cc" },
    { "events/procedure-loop/interp", AT_LEAST, 1, "M/s", measure_procedure, "procedure_loop.ir", "interp" },
};
const Group group_events = { "E. event steps", rows, sizeof rows / sizeof rows[0] };
