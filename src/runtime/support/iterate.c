/* Iteration formulas: the assignments in their order, again and again, until nothing changes. */
#include "systems.h"
#include <math.h>
#include <stdio.h>

static const double ITERATION_TOLERANCE = 1e-10;
static const double ITERATION_FLOOR = 1e-4; /* of the tolerance: for values that tend to zero */
static const uint32_t ITERATION_CYCLES = 50;

static bool is_settled(const KoineSystem *s, uint32_t j, double tolerance, KoineSlot before, KoineSlot now,
                       double largest)
{
    if (s->types[j] != KOINE_REAL)
        return before.i == now.i;
    const double scale = largest < s->nominals[j] ? largest : s->nominals[j];
    return fabs(now.r - before.r) <= tolerance * (fabs(now.r) + ITERATION_FLOOR * scale);
}

static void count_cycles(Machine *k, uint32_t cycles)
{
    k->work.statistics.iterations++;
    k->work.statistics.iteration_cycles += cycles;
    if (cycles > k->work.statistics.most_cycles)
        k->work.statistics.most_cycles = cycles;
}

/* The assignments in their order, again and again, from the last solution; the first time from the start values. */
KoineStatus koine_solve_by_iteration(Machine *k, const KoineSystem *s)
{
    const KoineHost *host = k->model->host;
    const uint32_t most = host && host->max_cycles ? host->max_cycles : ITERATION_CYCLES;
    const double tolerance = host && host->iteration_tolerance > 0 ? host->iteration_tolerance : ITERATION_TOLERANCE;
    double *largest = k->spaces.workspace->step;
    for (uint32_t j = 0; j < s->n; j++) {
        k->m[s->unknowns[j]] = k->m[s->guesses[j]];
        largest[j] = 0;
    }
    for (uint32_t cycle = 1; cycle <= most; cycle++) {
        bool all_settled = true;
        koine_count_system(k, s);
        for (uint32_t j = 0; j < s->n; j++) {
            const KoineSlot before = k->m[s->unknowns[j]];
            run_kernel(k, s->kernels[j], s->rows[j], 1);
            const KoineSlot now = k->m[s->residuals[j]];
            if (s->types[j] == KOINE_REAL ? !isfinite(now.r) : now.i == INT64_MIN)
                return koine_fault(k, KOINE_RETRY, s->origin, NULL);
            if (fabs(before.r) > largest[j])
                largest[j] = fabs(before.r);
            all_settled &= is_settled(s, j, tolerance, before, now, largest[j]);
            k->m[s->unknowns[j]] = now;
        }
        if (all_settled) {
            count_cycles(k, cycle);
            return KOINE_OK;
        }
    }
    count_cycles(k, most);
    char text[120];
    snprintf(text, sizeof text, "the iteration does not settle within %u cycles (%s)", most,
             koine_control_names.max_cycles);
    return koine_because(k, KOINE_CAUSE_CYCLES, koine_report_system(k, s, text));
}
