/* Jumps of constrained states.
 *
 * The voltages of two capacitors and a source in a ring add up to zero; that equation was differentiated, so that both
 * derivatives can be computed. When the source jumps, so do the voltages, by what the differentiated equations say
 * about the instant: C1 der(u1) = C2 der(u2) keeps the charge between the two. So the jump of the equation takes the
 * place of its rate of change, and what the derivatives of the states differ by then is what the states jump by. All
 * equations being linear in derivatives and in what can be infinite (currents here), everything finite drops out of the
 * difference. */
#include "modes.h"
#include <math.h>
#include <stdlib.h>

struct JumpSpace {
    bool is_armed;         /* `held` and `before` are those of this instant */
    bool any_is_set;       /* events have set something since then: */
    bool *is_set;          /* n_held */
    bool *is_state_set;    /* n_x */
    uint32_t n_done;       /* jumps in this instant */
    double *held, *saved;  /* n_held each */
    double *before, *rate; /* per jump: lhs - rhs when the instant began, and by how much it has jumped since */
    double *slope[3];      /* n_x each: with the whole jump, half of it, none */
    uint32_t n_moving;     /* elements of rows that move */
    double *moving[4];     /* n_moving each: with the whole jump and without, before it and behind it */
};

enum { MOST_JUMPS = 100 };              /* in one instant */
static const double ROUNDING = 1e-10;   /* of the sides of an equation */
static const double NOT_LINEAR = 1e-6;  /* of the jump of a state */
static const double SLOPE_NOISE = 1e-9; /* of the slopes that the jump is the difference of */
static const double USUAL_TOLERANCE = 1e-6;

static bool is_moving(const KoineVariable *v)
{
    return v->type == KOINE_REAL && v->variability == KOINE_VARIABILITY_CONTINUOUS && v->state < 0 &&
           !(v->flags & (KOINE_VARIABLE_ALIAS | KOINE_VARIABLE_DERIVATIVE)) && v->causality != KOINE_CAUSALITY_INPUT;
}

JumpSpace *koine_jumps_create(const KoineProgram *p)
{
    size_t n_moving = 0;
    for (uint32_t k = 0; k < p->tables->n_variables; k++)
        n_moving += is_moving(&p->tables->variables[k]) ? p->tables->variables[k].count : 0;
    const size_t n =
        2 * (size_t)p->systems.jumps.n_held + 2 * (size_t)p->systems.jumps.n + 3 * (size_t)p->slots.n_x + 4 * n_moving;
    const size_t n_flags = (size_t)p->systems.jumps.n_held + p->slots.n_x;
    JumpSpace *space = calloc(1, sizeof *space + (n + 1) * sizeof(double) + n_flags * sizeof(bool));
    if (!space)
        return NULL;
    space->held = (double *)(void *)(space + 1);
    space->saved = space->held + p->systems.jumps.n_held;
    space->before = space->saved + p->systems.jumps.n_held;
    space->rate = space->before + p->systems.jumps.n;
    for (int k = 0; k < 3; k++)
        space->slope[k] = space->rate + p->systems.jumps.n + (size_t)k * p->slots.n_x;
    for (size_t k = 0; k < 4; k++)
        space->moving[k] = space->slope[2] + p->slots.n_x + k * n_moving;
    space->n_moving = (uint32_t)n_moving;
    space->is_set = (bool *)(space->moving[3] + n_moving);
    space->is_state_set = space->is_set + p->systems.jumps.n_held;
    return space;
}

/* lhs - rhs; false: it has no value. `size` is that of the sides. */
static bool difference_of(Machine *m, const KoineJump *jump, double *difference, double *size)
{
    run_kernel(m, jump->kernel, jump->row, 1);
    const double left = m->slots[jump->left].r, right = m->slots[jump->right].r;
    *difference = left - right;
    *size = fabs(left) + fabs(right);
    return isfinite(*difference);
}

static void hold(const Machine *m, JumpSpace *space)
{
    const KoineJumps *jumps = &m->program->systems.jumps;
    for (uint32_t j = 0; j < jumps->n_held; j++)
        space->held[j] = m->slots[jumps->held[j]].r;
    memset(space->is_set, 0, (jumps->n_held + (size_t)m->program->slots.n_x) * sizeof *space->is_set);
    space->any_is_set = false;
}

/* What the equations give at this point, with the discrete values as they are, is where jumps are counted from. */
static bool arm(Machine *m)
{
    const KoineProgram *p = m->program;
    JumpSpace *space = m->spaces.jump_space;
    double size;
    if (koine_run_part(m, &p->parts.derivatives) != KOINE_OK || koine_run_part(m, &p->parts.outputs) != KOINE_OK)
        return false;
    hold(m, space);
    for (uint32_t j = 0; j < p->systems.jumps.n; j++)
        if (!difference_of(m, &p->systems.jumps.at[j], &space->before[j], &size))
            return false;
    return true;
}

void koine_begin_jumps(Machine *m, bool is_wanted)
{
    if (!m->spaces.jump_space)
        return;
    m->spaces.jump_space->n_done = 0;
    m->spaces.jump_space->is_armed = is_wanted && arm(m);
}

static KoineStatus refuse(Machine *m, const KoineJump *jump, const char *why)
{
    char room[512];
    KoineText text = koine_text_in(room, sizeof room);
    koine_text_add(&text, "the equation of '%.100s' jumps here, and with it quantities under a derivative: %s",
                   jump->name, why);
    return koine_because(m, KOINE_CAUSE_JUMP, koine_fault(m, KOINE_FAILED, KOINE_NONE, room));
}

/* What events have set has its new value, all else that does not jump by itself its old one. */
static void evaluate_as_set(Machine *m, double *differences)
{
    const KoineJumps *jumps = &m->program->systems.jumps;
    const JumpSpace *space = m->spaces.jump_space;
    double size;
    for (uint32_t j = 0; j < jumps->n_held; j++)
        m->slots[jumps->held[j]].r = space->is_set[j] ? space->saved[j] : space->held[j];
    for (uint32_t j = 0; j < jumps->n; j++)
        if (!difference_of(m, &jumps->at[j], &differences[j], &size))
            differences[j] = NAN;
}

/* By how much each equation has jumped while what cannot jump by itself keeps its values. */
static KoineStatus measure(Machine *m, const KoineJump **first)
{
    const KoineProgram *p = m->program;
    JumpSpace *space = m->spaces.jump_space;
    const double given = m->model->host ? m->model->host->tolerance : 0;
    const double tolerance = given > 0 ? given : USUAL_TOLERANCE;
    const KoineJump *bad = NULL;
    *first = NULL;
    for (uint32_t j = 0; j < p->systems.jumps.n_held; j++)
        space->saved[j] = m->slots[p->systems.jumps.held[j]].r;
    if (space->any_is_set)
        evaluate_as_set(m, space->rate);
    for (uint32_t j = 0; j < p->systems.jumps.n_held; j++)
        m->slots[p->systems.jumps.held[j]].r = space->held[j];
    for (uint32_t j = 0; j < p->systems.jumps.n; j++) {
        double now, size;
        const double as_set = space->rate[j];
        space->rate[j] = 0;
        if (!difference_of(m, &p->systems.jumps.at[j], &now, &size))
            continue; /* whatever reads it will say so */
        const double jump = now - space->before[j];
        const bool is_said = space->any_is_set && !(fabs(as_set - now) <= 0); /* where places are, an event has set */
        if (p->systems.jumps.at[j].rate == KOINE_NONE) {
            bad = fabs(jump) > tolerance * (1 + size) && !is_said && !bad ? &p->systems.jumps.at[j] : bad;
        } else if (fabs(jump) > ROUNDING * size) {
            space->rate[j] = jump;
            *first = *first ? *first : &p->systems.jumps.at[j];
        }
    }
    for (uint32_t j = 0; j < p->systems.jumps.n_held; j++)
        m->slots[p->systems.jumps.held[j]].r = space->saved[j];
    return bad ? refuse(m, bad,
                        "it was differentiated more than once, so that a place would have to jump, which no speed can "
                        "do")
               : KOINE_OK;
}

/* Derivatives of the states with this share of the jump. */
static bool slopes_with(Machine *m, double share, double *slope)
{
    const KoineProgram *p = m->program;
    for (uint32_t j = 0; j < p->systems.jumps.n; j++)
        if (p->systems.jumps.at[j].rate != KOINE_NONE)
            m->slots[p->systems.jumps.at[j].rate].r = share * m->spaces.jump_space->rate[j];
    bool is_good = koine_run_part(m, &p->parts.derivatives) == KOINE_OK;
    for (uint32_t j = 0; j < p->slots.n_x; j++) {
        slope[j] = m->slots[p->slots.dx + j].r;
        is_good &= isfinite(slope[j]) != 0;
    }
    return is_good;
}

static void note_moving(const Machine *m, double *to)
{
    const KoineTables *tables = m->program->tables;
    for (uint32_t k = 0; k < tables->n_variables; k++)
        if (is_moving(&tables->variables[k])) {
            memcpy(to, m->model->block + tables->variables[k].now, tables->variables[k].count * sizeof *to);
            to += tables->variables[k].count;
        }
}

/* The same jump where it has led to. If something that is infinite in it, as a current, is another one there, factors
 * of derivatives have jumped with the states: then what is no state has not jumped by what its derivative says. */
static KoineStatus check_path(Machine *m, const KoineJump *first)
{
    const JumpSpace *space = m->spaces.jump_space;
    double *const *moving = space->moving;
    bool is_good = slopes_with(m, 1, space->slope[0]);
    note_moving(m, moving[2]);
    is_good &= slopes_with(m, 0, space->slope[2]);
    note_moving(m, moving[3]);
    if (!is_good)
        return refuse(m, first, "what that makes of the states cannot be computed behind it");
    for (uint32_t k = 0; k < space->n_moving; k++) {
        const double before = moving[0][k] - moving[1][k], behind = moving[2][k] - moving[3][k];
        const double size = fabs(moving[0][k]) + fabs(moving[1][k]) + fabs(moving[2][k]) + fabs(moving[3][k]);
        if (fabs(before - behind) > NOT_LINEAR * fabs(before) + SLOPE_NOISE * size)
            return refuse(m, first, "factors of the derivatives jump with them, which is not followed");
    }
    return KOINE_OK;
}

static KoineStatus apply(Machine *m, const KoineJump *first)
{
    const KoineProgram *p = m->program;
    double *const *slope = m->spaces.jump_space->slope;
    bool is_good = slopes_with(m, 1, slope[0]);
    note_moving(m, m->spaces.jump_space->moving[0]);
    is_good &= slopes_with(m, 0.5, slope[1]) && slopes_with(m, 0, slope[2]);
    note_moving(m, m->spaces.jump_space->moving[1]);
    if (!is_good)
        return refuse(m, first, "what that makes of the states cannot be computed");
    for (uint32_t j = 0; j < p->slots.n_x; j++) {
        const double whole = slope[0][j] - slope[2][j], half = slope[1][j] - slope[2][j];
        if (fabs(whole - 2 * half) > NOT_LINEAR * fabs(whole) + SLOPE_NOISE * (fabs(slope[0][j]) + fabs(slope[2][j])))
            return refuse(m, first, "the equations are not linear in the derivatives, so that it has no unique answer");
    }
    for (uint32_t j = 0; j < p->slots.n_x; j++)
        if (!m->spaces.jump_space->is_state_set[j]) /* else an event has said what it is behind the jump */
            m->slots[p->slots.x + j].r += slope[0][j] - slope[2][j];
    return KOINE_OK;
}

KoineStatus koine_jump(Machine *m, bool *has_jumped)
{
    const KoineProgram *p = m->program;
    JumpSpace *space = m->spaces.jump_space;
    Instant *now = m->instant;
    const KoineJump *first;
    *has_jumped = false;
    if (!space || !space->is_armed)
        return KOINE_OK;
    KoineStatus status = measure(m, &first);
    if (status != KOINE_OK || !first)
        return status;
    if (space->n_done++ == MOST_JUMPS)
        return refuse(m, first, "and again at the same time, without end");
    status = apply(m, first);
    if (status != KOINE_OK)
        return status;
    *has_jumped = true;
    now->result.has_states = now->result.is_restart = now->result.is_changed = 1;
    for (uint32_t j = 0; j < p->events.graph.n_moving; j++)
        bitset_add(&m->wake.dirty, p->events.graph.moving[j]);
    space->is_armed = arm(m);
    return space->is_armed ? check_path(m, first) : KOINE_OK;
}

void koine_enter_jumps(Machine *m)
{
    const KoineProgram *p = m->program;
    JumpSpace *space = m->spaces.jump_space;
    m->spaces.is_entering = true;
    if (!space)
        return;
    space->n_done = 0;
    space->is_armed = true;
    hold(m, space);
    memset(space->before, 0, p->systems.jumps.n * sizeof *space->before);
}

void koine_note_set(Machine *m, uint32_t slot)
{
    const KoineProgram *p = m->program;
    JumpSpace *space = m->spaces.jump_space;
    if (!space)
        return;
    space->any_is_set = true;
    if (slot - p->slots.x < p->slots.n_x)
        space->is_state_set[slot - p->slots.x] = true;
    for (uint32_t j = 0; j < p->systems.jumps.n_held; j++)
        space->is_set[j] |= p->systems.jumps.held[j] == slot;
}
