/* Algebraic systems: the choice of the method, linear ones, tangents, messages. */
#include "systems.h"
#include <math.h>
#include <stdio.h>

/* ---- messages ---- */
KoineStatus koine_report_system(Machine *k, const KoineSystem *s, const char *what)
{
    char text[800];
    int n = snprintf(text, sizeof text, "%s", what);
    for (uint32_t j = 0; j < s->n_choices && n < 400; j++) {
        const KoineChoice *choice = &s->choices[j];
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %.80s = ", j ? "," : " with", choice->name);
        n += choice->is_boolean
                 ? snprintf(text + n, sizeof text - (size_t)n, "%s", k->m[choice->slot].i ? "true" : "false")
                 : snprintf(text + n, sizeof text - (size_t)n, "%lld", (long long)k->m[choice->slot].i);
    }
    n += snprintf(text + n, sizeof text - (size_t)n, ";");
    for (uint32_t j = 0; j < s->n && j < 6 && n < 700; j++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %.60s = ", j ? "," : " last values:", s->names[j]);
        n += s->types[j] == KOINE_REAL
                 ? snprintf(text + n, sizeof text - (size_t)n, "%.9g", k->m[s->unknowns[j]].r)
                 : snprintf(text + n, sizeof text - (size_t)n, "%lld", (long long)k->m[s->unknowns[j]].i);
    }
    koine_fault(k, KOINE_RETRY, s->origin, text);
    return KOINE_RETRY;
}

/* ---- solving ---- */
static KoineStatus solve_linear(Machine *k, const KoineSystem *s)
{
    Workspace *w = k->workspace;
    for (uint32_t j = 0; j < s->n; j++)
        k->m[s->unknowns[j]].r = 0;
    koine_count_system(k, s);
    run_section(k, s->residual_section);
    k->statistics.linear_solves++;
    if (!koine_factor(k, s))
        return koine_report_system(k, s, "the linear equations have no unique solution");
    for (uint32_t j = 0; j < s->n; j++)
        w->step[j] = -k->m[s->residuals[j]].r;
    koine_solve_factored(k, s, w->step);
    for (uint32_t j = 0; j < s->n; j++) {
        if (!isfinite(w->step[j]))
            return koine_report_system(k, s, "the linear equations have no finite solution");
        k->m[s->unknowns[j]].r = w->step[j];
    }
    return KOINE_OK;
}

KoineStatus koine_solve_system(Machine *k, uint32_t system)
{
    const KoineSystem *s = &k->program->systems[system];
    KoineModelStatistics *done = &k->statistics;
    const uint64_t before = done->newton_iterations + done->cycles;
    const KoineStatus status = s->kind == KOINE_SYSTEM_LINEAR    ? solve_linear(k, s)
                               : s->kind == KOINE_SYSTEM_ITERATE ? koine_solve_by_iteration(k, s)
                                                                 : koine_solve_newton(k, s);
    if (status == KOINE_OK && s->exact_section != KOINE_NONE)
        run_section(k, s->exact_section);
    if (s->kind != KOINE_SYSTEM_LINEAR)
        done->by_cycles[koine_bucket(done->newton_iterations + done->cycles - before)]++;
    return status;
}

/* Jacobian * tangent of the unknowns = - tangent of the residuals. */
KoineStatus koine_solve_tangent(Machine *k, uint32_t system)
{
    const KoineSystem *s = &k->program->systems[system];
    Workspace *w = k->workspace;
    run_section(k, s->tangent_section);
    if (!koine_factor(k, s))
        return KOINE_RETRY;
    for (uint32_t j = 0; j < s->n; j++)
        w->step[j] = -k->m[s->tangent_residuals[j]].r;
    koine_solve_factored(k, s, w->step);
    for (uint32_t j = 0; j < s->n; j++)
        k->m[s->tangent_unknowns[j]].r = w->step[j];
    return KOINE_OK;
}

void koine_keep_guesses(Machine *k)
{
    for (uint32_t n = 0; n < k->program->n_run_systems; n++) {
        const KoineSystem *s = &k->program->systems[n];
        for (uint32_t j = 0; j < s->n; j++)
            if (s->types[j] != KOINE_REAL || isfinite(k->m[s->unknowns[j]].r))
                k->m[s->guesses[j]] = k->m[s->unknowns[j]];
    }
}
