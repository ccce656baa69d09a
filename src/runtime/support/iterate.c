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

static void count_cycles(Machine *m, uint32_t cycles)
{
    m->work.statistics.iterations++;
    m->work.statistics.iteration_cycles += cycles;
    if (cycles > m->work.statistics.most_cycles)
        m->work.statistics.most_cycles = cycles;
}

/* The assignments in their order, again and again, from the last solution; the first time from the start values. */
KoineStatus koine_solve_by_iteration(Machine *m, const KoineSystem *s)
{
    const KoineHost *host = m->model->host;
    const uint32_t most = host && host->max_cycles ? host->max_cycles : ITERATION_CYCLES;
    const double tolerance = host && host->iteration_tolerance > 0 ? host->iteration_tolerance : ITERATION_TOLERANCE;
    double *largest = m->spaces.workspace->step;
    for (uint32_t j = 0; j < s->n; j++) {
        m->slots[s->unknowns[j]] = m->slots[s->guesses[j]];
        largest[j] = 0;
    }
    for (uint32_t cycle = 1; cycle <= most; cycle++) {
        bool all_settled = true;
        koine_count_system(m, s);
        for (uint32_t j = 0; j < s->n; j++) {
            const KoineSlot before = m->slots[s->unknowns[j]];
            run_kernel(m, s->u.iterate.kernels[j], s->u.iterate.rows[j], 1);
            const KoineSlot now = m->slots[s->residuals[j]];
            if (s->types[j] == KOINE_REAL ? !isfinite(now.r) : now.i == INT64_MIN)
                return koine_fault(m, KOINE_RETRY, s->origin, NULL);
            if (fabs(before.r) > largest[j])
                largest[j] = fabs(before.r);
            all_settled &= is_settled(s, j, tolerance, before, now, largest[j]);
            m->slots[s->unknowns[j]] = now;
        }
        if (all_settled) {
            count_cycles(m, cycle);
            return KOINE_OK;
        }
    }
    count_cycles(m, most);
    char text[120];
    snprintf(text, sizeof text, "the iteration does not settle within %u cycles (%s)", most,
             koine_control_names.max_cycles);
    return koine_because(m, KOINE_CAUSE_CYCLES, koine_report_system(m, s, text));
}
