/* The residual form of a model: the unknowns of the algebraic systems behind the derivatives are given, as the states
 * are, and what their equations lack is the result. Iteration formulas are solved as ever. */
#include "machine.h"
#include <math.h>
#include <stdlib.h>

/* The system of this step whose unknowns are given; NULL: it has none. */
static const KoineSystem *given_system(const KoineProgram *p, const KoinePartStep *step)
{
    if (step->system == KOINE_NONE || p->systems[step->system].kind == KOINE_SYSTEM_ITERATE)
        return NULL;
    return &p->systems[step->system];
}

bool koine_list_unknowns(MachineKind *kind)
{
    const KoineProgram *p = kind->program;
    uint32_t n = 0;
    for (uint32_t j = 0; j < p->derivatives.n; j++) {
        const KoineSystem *s = given_system(p, &p->derivatives.steps[j]);
        n += s ? s->n : 0;
    }
    if (n == 0)
        return true;
    kind->w = malloc(n * sizeof *kind->w);
    kind->w_nominal = malloc(n * sizeof *kind->w_nominal);
    if (!kind->w || !kind->w_nominal) {
        free(kind->w);
        free(kind->w_nominal);
        return false;
    }
    for (uint32_t j = 0; j < p->derivatives.n; j++) {
        const KoineSystem *s = given_system(p, &p->derivatives.steps[j]);
        for (uint32_t i = 0; s && i < s->n; i++) {
            kind->w[kind->tables.n_w] = s->unknowns[i] * sizeof(KoineSlot);
            kind->w_nominal[kind->tables.n_w++] = s->nominals[i];
        }
    }
    kind->tables.w = kind->w;
    kind->tables.w_nominal = kind->w_nominal;
    return true;
}

KoineStatus koine_residual(Machine *k, const KoineEvaluation *at)
{
    const KoineProgram *p = k->program;
    const double *w = at->x + p->n_x;
    double *out = at->residual + p->n_x;
    k->evaluations++;
    for (uint32_t j = 0; j < p->derivatives.n; j++) {
        const KoinePartStep *step = &p->derivatives.steps[j];
        const KoineSystem *s = given_system(p, step);
        if (s) {
            for (uint32_t i = 0; i < s->n; i++)
                k->m[s->unknowns[i]].r = *w++;
            run_section(k, s->residual_section);
            for (uint32_t i = 0; i < s->n; i++)
                *out++ = k->m[s->residuals[i]].r;
        } else if (step->system != KOINE_NONE) {
            const KoineStatus status = koine_solve_system(k, step->system);
            if (status != KOINE_OK)
                return status;
        } else {
            run_section(k, step->section);
        }
    }
    const KoineStatus status = koine_check_calls(k, KOINE_RETRY, KOINE_NONE);
    if (status != KOINE_OK)
        return status;
    for (uint32_t j = 0; j < p->n_x; j++)
        at->residual[j] = k->m[p->dx + j].r - (at->dx ? at->dx[j] : 0);
    for (uint32_t j = 0; j < p->n_x + k->kind->tables.n_w; j++)
        if (!isfinite(at->residual[j]))
            return koine_fault(k, KOINE_RETRY, KOINE_NONE, NULL);
    return KOINE_OK;
}
