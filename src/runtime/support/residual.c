/* The residual form of a model: the unknowns of the algebraic systems behind the derivatives are given, as the states
 * are, and what their equations lack is the result. Iteration formulas are solved as ever. */
#include "machine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The system of this step whose unknowns are given; NULL: it has none. */
static const KoineSystem *given_system(const KoineProgram *p, const KoinePartStep *step)
{
    if (step->system == KOINE_NONE || p->systems.at[step->system].kind == KOINE_SYSTEM_ITERATE ||
        p->systems.at[step->system].kind == KOINE_SYSTEM_FOREIGN)
        return NULL;
    return &p->systems.at[step->system];
}

bool koine_list_unknowns(MachineKind *kind)
{
    const KoineProgram *p = kind->program;
    uint32_t n = 0;
    for (uint32_t j = 0; j < p->parts.derivatives.n; j++) {
        const KoineSystem *s = given_system(p, &p->parts.derivatives.steps[j]);
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
    for (uint32_t j = 0; j < p->parts.derivatives.n; j++) {
        const KoineSystem *s = given_system(p, &p->parts.derivatives.steps[j]);
        for (uint32_t i = 0; s && i < s->n; i++) {
            kind->w[kind->tables.unknowns.n] = s->unknowns[i] * sizeof(KoineSlot);
            kind->w_nominal[kind->tables.unknowns.n++] = s->nominals[i];
        }
    }
    kind->tables.unknowns.at = kind->w;
    kind->tables.unknowns.nominals = kind->w_nominal;
    return true;
}

KoineStatus koine_residual(Machine *m, const KoineEvaluation *at)
{
    const KoineProgram *p = m->program;
    const double *w = at->x + p->slots.n_x;
    double *out = at->residual + p->slots.n_x;
    m->work.evaluations++;
    for (uint32_t j = 0; j < p->parts.derivatives.n; j++) {
        const KoinePartStep *step = &p->parts.derivatives.steps[j];
        const KoineSystem *s = given_system(p, step);
        if (s) {
            for (uint32_t i = 0; i < s->n; i++)
                m->slots[s->unknowns[i]].r = *w++;
            koine_prepare_system(m, s);
            run_section(m, s->residual_section);
            for (uint32_t i = 0; i < s->n; i++)
                *out++ = m->slots[s->residuals[i]].r;
        } else if (step->system != KOINE_NONE) {
            const KoineStatus status = koine_solve_system(m, step->system);
            if (status != KOINE_OK)
                return status;
        } else {
            run_section(m, step->section);
        }
    }
    const KoineStatus status = koine_check_calls(m, KOINE_RETRY, KOINE_NONE);
    if (status != KOINE_OK)
        return status;
    for (uint32_t j = 0; j < p->slots.n_x; j++)
        at->residual[j] = m->slots[p->slots.dx + j].r - (at->dx ? at->dx[j] : 0);
    for (uint32_t j = 0; j < p->slots.n_x + m->kind->tables.unknowns.n; j++)
        if (!isfinite(at->residual[j]))
            return koine_fault(m, KOINE_RETRY, KOINE_NONE, NULL);
    return KOINE_OK;
}

/* ---- Jacobian ---- */
/* Tangents of all unknowns and of the residuals of a system, from those of the unknowns that are given. */
static void pass_tangents(Machine *m, const KoineSystem *s, const double *seed, double *out)
{
    run_section(m, s->tangent.section);
    for (uint32_t j = 0; j < s->n; j++) {
        m->slots[s->tangent.unknowns[j]].r = seed[j];
        out[j] = m->slots[s->tangent.residuals[j]].r;
    }
    for (uint32_t j = s->n; j < s->n + s->n_inner; j++)
        m->slots[s->tangent.unknowns[j]].r = m->slots[s->tangent.residuals[j]].r;
    for (uint32_t e = 0; e < s->jacobian.n_entries; e++) { /* explicit rows come first, in order */
        const double change = m->slots[s->jacobian.entry[e]].r * m->slots[s->tangent.unknowns[s->jacobian.column[e]]].r;
        if (s->jacobian.row[e] < s->n)
            out[s->jacobian.row[e]] += change;
        else
            m->slots[s->tangent.unknowns[s->jacobian.row[e]]].r += change;
    }
}

/* One direction: seeds of x stand in the block, those of w are given; the slopes' tangents are left in the block. */
static KoineStatus run_direction(Machine *m, const double *seed, double *out)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->parts.tangents.n; j++) {
        const KoinePartStep *step = &p->parts.tangents.steps[j];
        const KoineSystem *s = given_system(p, step);
        if (s) {
            pass_tangents(m, s, seed, out);
            seed += s->n;
            out += s->n;
        } else if (step->system == KOINE_NONE) {
            run_section(m, step->section);
        } else {
            const KoineStatus status = koine_solve_tangent(m, step->system);
            if (status != KOINE_OK)
                return status;
        }
    }
    return KOINE_OK;
}

/* At the point at->x, in the order of the pattern. */
KoineStatus koine_residual_jacobian(Machine *m, const KoineEvaluation *at, double *values)
{
    const KoineProgram *p = m->program;
    const Colours *colours = &m->kind->by_dae;
    const uint32_t n_x = p->slots.n_x, n_w = m->kind->tables.unknowns.n;
    double *seed = m->spaces.residual_work, *tangent = seed + n_w, *residual = tangent + n_w;
    KoineEvaluation here = *at;
    here.dx = NULL;
    here.residual = residual;
    KoineStatus status = koine_residual(m, &here);
    for (uint32_t j = 0; j < p->parts.derivatives.n && status == KOINE_OK; j++) {
        const KoineSystem *s = given_system(p, &p->parts.derivatives.steps[j]);
        if (s)
            run_section(m, s->jacobian.section);
    }
    if (status == KOINE_OK)
        status = koine_run_part(m, &p->parts.slopes);
    for (uint32_t c = 0; c < colours->n && status == KOINE_OK; c++) {
        memset(seed, 0, n_w * sizeof *seed);
        for (uint32_t j = colours->column_start[c]; j < colours->column_start[c + 1]; j++) {
            const uint32_t column = colours->column[j];
            *(column < n_x ? &m->slots[p->slots.seed_x + column].r : &seed[column - n_x]) = 1;
        }
        status = run_direction(m, seed, tangent);
        for (uint32_t j = colours->start[c]; j < colours->start[c + 1]; j++) {
            const uint32_t row = colours->row[j];
            values[colours->entry[j]] = row < n_x ? m->slots[p->slots.seed_dx + row].r : tangent[row - n_x];
        }
        for (uint32_t j = colours->column_start[c]; j < colours->column_start[c + 1]; j++)
            if (colours->column[j] < n_x)
                m->slots[p->slots.seed_x + colours->column[j]].r = 0;
    }
    return status;
}
