/* Algebraic systems: the choice of the method, linear ones, tangents, messages. */
#include "systems.h"
#include <math.h>

/* ---- messages ---- */
KoineStatus koine_report_system(Machine *m, const KoineSystem *s, const char *what)
{
    char room[800];
    KoineText text = koine_text_in(room, sizeof room);
    if (m->spaces.workspace->is_out_of_memory)
        what = "there is not enough memory to factor the matrix of the equations";
    koine_text_add(&text, "%s", what);
    for (uint32_t j = 0; j < s->n_choices && text.n < 400; j++) {
        const KoineChoice *choice = &s->choices[j];
        koine_text_add(&text, "%s %.80s = ", j ? "," : " with", choice->name);
        koine_put_value(&text, choice->is_boolean ? KOINE_BOOLEAN : KOINE_INTEGER, m->slots[choice->slot]);
    }
    koine_text_add(&text, ";");
    for (uint32_t j = 0; j < s->n && j < 6 && text.n < 700; j++) {
        koine_text_add(&text, "%s %.60s = ", j ? "," : " last values:", s->names[j]);
        koine_put_value(&text, s->types[j], m->slots[s->unknowns[j]]);
    }
    koine_fault(m, KOINE_RETRY, s->origin, room);
    return koine_because(m, m->spaces.workspace->is_out_of_memory ? KOINE_CAUSE_MEMORY : KOINE_CAUSE_SINGULAR,
                         KOINE_RETRY);
}

static void add_to_fault(KoineFault *fault, const char *format, ...)
{
    KoineText text = koine_text_behind(fault->text, sizeof fault->text);
    va_list list;
    va_start(list, format);
    koine_text_list(&text, format, list);
    va_end(list);
}

static void add_blame(Machine *m, uint32_t origin)
{
    char text[500] = "";
    if (m->program->explain.blame)
        m->program->explain.blame(m->program->explain.context, m->model, origin, text, sizeof text);
    if (text[0])
        add_to_fault(&m->model->fault, "; %s", text);
}

static KoineStatus report_singular(Machine *m, const KoineSystem *s)
{
    koine_report_system(m, s, "the linear equations have no unique solution");
    add_blame(m, s->origin);
    return KOINE_RETRY;
}

KoineStatus koine_check_formulas(Machine *m)
{
    static const double ROUNDING = 1e-14;
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->systems.regular.n; j++) {
        const double value = m->slots[p->systems.regular.at[2 * j]].r;
        const uint32_t origin = p->systems.regular.at[2 * j + 1];
        if (fabs(value) > ROUNDING && isfinite(value))
            continue;
        if (!isfinite(value))
            return koine_because(m, KOINE_CAUSE_DIVISION,
                                 koine_fault(m, KOINE_FAILED, origin,
                                             "these linear equations are solved by formulas that divide by parameters; "
                                             "with these values it is a division by 0: --systems whole does without"));
        koine_fault(m, KOINE_FAILED, origin, "with these parameters the linear equations have no unique solution");
        add_blame(m, origin);
        return koine_because(m, KOINE_CAUSE_SINGULAR, KOINE_FAILED);
    }
    return KOINE_OK;
}

/* What still moves, and what is not fulfilled. */
KoineStatus koine_report_newton(Machine *m, const KoineSystem *s, NewtonEnd end)
{
    static const char *const ends[] = {
        [NEWTON_CONVERGED] = "",
        [NEWTON_NO_VALUE] = "the nonlinear equations have no value where the iteration begins",
        [NEWTON_SINGULAR] = "the nonlinear equations are singular at the last iterate",
        [NEWTON_VAGUE] = "the nonlinear equations hardly determine their unknowns",
        [NEWTON_STUCK] = "the iteration for the nonlinear equations does not get on",
        [NEWTON_SLOW] = "the iteration for the nonlinear equations did not converge",
    };
    KoineFault *fault = &m->model->fault;
    if (end == NEWTON_NO_VALUE) {
        koine_fault(m, KOINE_RETRY, s->origin, NULL);
        add_to_fault(fault, "; the iteration of %u nonlinear equation%s begins there: another start value may help",
                     s->n, s->n == 1 ? "" : "s");
        return KOINE_RETRY;
    }
    koine_report_system(m, s, ends[end]);
    const Newton *w = m->spaces.workspace->newton;
    if (end == NEWTON_VAGUE) {
        add_to_fault(fault, "; rounding alone moves %.60s by %.3g: something in it is as good as open",
                     s->names[w->vague], w->vague_by);
        return koine_because(m, KOINE_CAUSE_SINGULAR, KOINE_RETRY);
    }
    uint32_t mover = 0, worst = 0;
    for (uint32_t j = 1; j < s->n; j++) {
        if (fabs(w->step[j]) * w->scale[mover] > fabs(w->step[mover]) * w->scale[j])
            mover = j;
        if (fabs(m->slots[s->residuals[j]].r) > fabs(m->slots[s->residuals[worst]].r))
            worst = j;
    }
    if (end != NEWTON_SINGULAR)
        add_to_fault(fault, "; %s%.60s moves most, the next step would be %.3g", s->n > 1 ? "of them " : "",
                     s->names[mover], w->step[mover]);
    else
        add_blame(m, s->origin);
    char row[320] = "";
    if (m->program->explain.describe)
        m->program->explain.describe(m->program->explain.context, m->model, s->origin, worst, row, sizeof row);
    add_to_fault(fault, "; the sides of %s differ by %.3g; %s", row[0] ? row : "an equation",
                 m->slots[s->residuals[worst]].r,
                 m->spaces.is_searching ? "start values nearer to a solution may help, if there is one"
                                        : "the solution that was followed may end here");
    return koine_because(m, KOINE_CAUSE_NO_CONVERGENCE, KOINE_RETRY);
}

/* ---- solving ---- */
static KoineStatus solve_linear(Machine *m, const KoineSystem *s)
{
    Workspace *w = m->spaces.workspace;
    for (uint32_t j = 0; j < s->n; j++)
        m->slots[s->unknowns[j]].r = 0;
    koine_count_system(m, s);
    run_section(m, s->residual_section);
    m->work.statistics.linear_solves++;
    if (!koine_factor(m, s))
        return report_singular(m, s);
    for (uint32_t j = 0; j < s->n; j++)
        w->step[j] = -m->slots[s->residuals[j]].r;
    koine_solve_factored(m, s, w->step);
    for (uint32_t j = 0; j < s->n; j++) {
        if (!isfinite(w->step[j]))
            return koine_report_system(m, s, "the linear equations have no finite solution");
        m->slots[s->unknowns[j]].r = w->step[j];
    }
    if (s->n_inner) { /* what follows from them */
        koine_count_system(m, s);
        run_section(m, s->residual_section);
    }
    return KOINE_OK;
}

KoineStatus koine_solve_system(Machine *m, uint32_t system)
{
    const KoineSystem *s = &m->program->systems.at[system];
    KoineModelStatistics *done = &m->work.statistics;
    if (s->kind == KOINE_SYSTEM_FOREIGN)
        return koine_evaluate_component(m, s);
    const uint64_t before = done->newton_iterations + done->iteration_cycles;
    koine_prepare_system(m, s);
    const KoineStatus status = s->kind == KOINE_SYSTEM_LINEAR    ? solve_linear(m, s)
                               : s->kind == KOINE_SYSTEM_ITERATE ? koine_solve_by_iteration(m, s)
                                                                 : koine_solve_newton(m, s);
    if (status == KOINE_OK && s->exact_section != KOINE_NONE)
        run_section(m, s->exact_section);
    if (s->kind != KOINE_SYSTEM_LINEAR)
        done->by_cycles[koine_bucket(done->newton_iterations + done->iteration_cycles - before)]++;
    return status;
}

/* Jacobian * tangent of the unknowns = - tangent of the residuals; explicit rows follow their right sides. */
KoineStatus koine_solve_tangent(Machine *m, uint32_t system)
{
    const KoineSystem *s = &m->program->systems.at[system];
    if (s->kind == KOINE_SYSTEM_FOREIGN)
        return koine_component_tangent(m, s);
    run_section(m, s->tangent.section);
    return koine_solve_rows(m, system);
}

KoineStatus koine_solve_rows(Machine *m, uint32_t system)
{
    const KoineSystem *s = &m->program->systems.at[system];
    Workspace *w = m->spaces.workspace;
    if (!koine_factor(m, s))
        return KOINE_RETRY;
    for (uint32_t j = 0; j < s->n + s->n_inner; j++)
        w->all[j] = j < s->n ? -m->slots[s->tangent.residuals[j]].r : m->slots[s->tangent.residuals[j]].r;
    koine_solve_all_factored(m, s, w->all);
    for (uint32_t j = 0; j < s->n + s->n_inner; j++)
        m->slots[s->tangent.unknowns[j]].r = w->all[j];
    return KOINE_OK;
}

void koine_begin_guesses(Machine *m)
{
    for (uint32_t n = 0; n < m->program->systems.n; n++) {
        const KoineSystem *s = &m->program->systems.at[n];
        for (uint32_t j = 0; s->kind == KOINE_SYSTEM_NEWTON && j < s->n; j++) {
            if (s->u.newton.is_given[j])
                m->slots[s->u.newton.starts[j]] = m->slots[s->unknowns[j]];
            m->slots[s->guesses[j]] = m->slots[s->u.newton.starts[j]];
        }
    }
    koine_forget_solutions(m);
}

void koine_forget_solutions(Machine *m)
{
    memset(m->spaces.is_solved, 0, m->program->systems.n_run);
}

void koine_keep_guesses(Machine *m)
{
    for (uint32_t n = 0; n < m->program->systems.n_run; n++) {
        const KoineSystem *s = &m->program->systems.at[n];
        for (uint32_t j = 0; s->kind != KOINE_SYSTEM_FOREIGN && j < s->n; j++)
            if (s->types[j] != KOINE_REAL || isfinite(m->slots[s->unknowns[j]].r))
                m->slots[s->guesses[j]] = m->slots[s->unknowns[j]];
    }
}
