/* Jumps of constrained states.
 *
 * The voltages of two capacitors and a source in a ring add up to zero; that equation was differentiated, so that both
 * derivatives can be computed. When the source jumps, so do the voltages, by what the differentiated equations say
 * about the instant: C1 der(u1) = C2 der(u2) keeps the charge between the two. So the jump of the equation takes the
 * place of its rate of change, and what the derivatives of the states differ by then is what the states jump by. All
 * equations being linear in derivatives and in what can be infinite (currents here), everything finite drops out of the
 * difference. */
#include "machine.h"
#include <math.h>
#include <stdlib.h>

struct JumpSpace {
    bool is_armed;         /* `held` and `before` are those of this instant */
    uint32_t n_done;       /* jumps in this instant */
    double *held, *saved;  /* n_held each */
    double *before, *rate; /* per jump: lhs - rhs when the instant began, and by how much it has jumped since */
    double *slope[3];      /* n_x each: with the whole jump, half of it, none */
};

enum { MOST_JUMPS = 100 };             /* in one instant */
static const double ROUNDING = 1e-10;  /* of the sides of an equation */
static const double NOT_LINEAR = 1e-6; /* of the jump of a state */
static const double USUAL_TOLERANCE = 1e-6;

JumpSpace *koine_jumps_create(const KoineProgram *p)
{
    const size_t n = 2 * (size_t)p->systems.jumps.n_held + 2 * (size_t)p->systems.jumps.n + 3 * (size_t)p->slots.n_x;
    JumpSpace *space = calloc(1, sizeof *space + (n + 1) * sizeof(double));
    if (!space)
        return NULL;
    space->held = (double *)(void *)(space + 1);
    space->saved = space->held + p->systems.jumps.n_held;
    space->before = space->saved + p->systems.jumps.n_held;
    space->rate = space->before + p->systems.jumps.n;
    for (int k = 0; k < 3; k++)
        space->slope[k] = space->rate + p->systems.jumps.n + (size_t)k * p->slots.n_x;
    return space;
}

/* lhs - rhs; false: it has no value. `size` is that of the sides. */
static bool difference_of(Machine *k, const KoineJump *jump, double *difference, double *size)
{
    run_kernel(k, jump->kernel, jump->row, 1);
    const double left = k->m[jump->left].r, right = k->m[jump->right].r;
    *difference = left - right;
    *size = fabs(left) + fabs(right);
    return isfinite(*difference);
}

/* What the equations give at this point, with the discrete values as they are, is where jumps are counted from. */
static bool arm(Machine *k)
{
    const KoineProgram *p = k->program;
    JumpSpace *space = k->spaces.jump_space;
    double size;
    if (koine_run_part(k, &p->parts.derivatives) != KOINE_OK || koine_run_part(k, &p->parts.outputs) != KOINE_OK)
        return false;
    for (uint32_t j = 0; j < p->systems.jumps.n_held; j++)
        space->held[j] = k->m[p->systems.jumps.held[j]].r;
    for (uint32_t j = 0; j < p->systems.jumps.n; j++)
        if (!difference_of(k, &p->systems.jumps.at[j], &space->before[j], &size))
            return false;
    return true;
}

void koine_begin_jumps(Machine *k, bool is_wanted)
{
    if (!k->spaces.jump_space)
        return;
    k->spaces.jump_space->n_done = 0;
    k->spaces.jump_space->is_armed = is_wanted && arm(k);
}

static KoineStatus refuse(Machine *k, const KoineJump *jump, const char *why)
{
    char room[512];
    KoineText text = koine_text_in(room, sizeof room);
    koine_text_add(&text, "the equation of '%.100s' jumps here, and with it quantities under a derivative: %s",
                   jump->name, why);
    return koine_because(k, KOINE_CAUSE_JUMP, koine_fault(k, KOINE_FAILED, KOINE_NONE, room));
}

/* By how much each equation has jumped while what cannot jump by itself keeps its values. */
static KoineStatus measure(Machine *k, const KoineJump **first)
{
    const KoineProgram *p = k->program;
    JumpSpace *space = k->spaces.jump_space;
    const double given = k->model->host ? k->model->host->tolerance : 0;
    const double tolerance = given > 0 ? given : USUAL_TOLERANCE;
    const KoineJump *bad = NULL;
    *first = NULL;
    for (uint32_t j = 0; j < p->systems.jumps.n_held; j++) {
        space->saved[j] = k->m[p->systems.jumps.held[j]].r;
        k->m[p->systems.jumps.held[j]].r = space->held[j];
    }
    for (uint32_t j = 0; j < p->systems.jumps.n; j++) {
        double now, size;
        space->rate[j] = 0;
        if (!difference_of(k, &p->systems.jumps.at[j], &now, &size))
            continue; /* whatever reads it will say so */
        const double jump = now - space->before[j];
        if (p->systems.jumps.at[j].rate == KOINE_NONE) {
            bad = fabs(jump) > tolerance * (1 + size) && !bad ? &p->systems.jumps.at[j] : bad;
        } else if (fabs(jump) > ROUNDING * size) {
            space->rate[j] = jump;
            *first = *first ? *first : &p->systems.jumps.at[j];
        }
    }
    for (uint32_t j = 0; j < p->systems.jumps.n_held; j++)
        k->m[p->systems.jumps.held[j]].r = space->saved[j];
    return bad ? refuse(k, bad,
                        "it was differentiated more than once, so that a place would have to jump, which no speed can "
                        "do")
               : KOINE_OK;
}

/* Derivatives of the states with this share of the jump. */
static bool slopes_with(Machine *k, double share, double *slope)
{
    const KoineProgram *p = k->program;
    for (uint32_t j = 0; j < p->systems.jumps.n; j++)
        if (p->systems.jumps.at[j].rate != KOINE_NONE)
            k->m[p->systems.jumps.at[j].rate].r = share * k->spaces.jump_space->rate[j];
    bool is_good = koine_run_part(k, &p->parts.derivatives) == KOINE_OK;
    for (uint32_t j = 0; j < p->slots.n_x; j++) {
        slope[j] = k->m[p->slots.dx + j].r;
        is_good &= isfinite(slope[j]) != 0;
    }
    return is_good;
}

static KoineStatus apply(Machine *k, const KoineJump *first)
{
    const KoineProgram *p = k->program;
    double *const *slope = k->spaces.jump_space->slope;
    const bool is_good = slopes_with(k, 1, slope[0]) && slopes_with(k, 0.5, slope[1]);
    if (!slopes_with(k, 0, slope[2]) || !is_good)
        return refuse(k, first, "what that makes of the states cannot be computed");
    for (uint32_t j = 0; j < p->slots.n_x; j++) {
        const double whole = slope[0][j] - slope[2][j], half = slope[1][j] - slope[2][j];
        if (fabs(whole - 2 * half) > NOT_LINEAR * fabs(whole) + 1e-9 * (fabs(slope[0][j]) + fabs(slope[2][j])))
            return refuse(k, first, "the equations are not linear in the derivatives, so that it has no unique answer");
    }
    for (uint32_t j = 0; j < p->slots.n_x; j++)
        k->m[p->slots.x + j].r += slope[0][j] - slope[2][j];
    return KOINE_OK;
}

KoineStatus koine_jump(Machine *k, bool *has_jumped)
{
    const KoineProgram *p = k->program;
    JumpSpace *space = k->spaces.jump_space;
    Instant *now = k->instant;
    const KoineJump *first;
    *has_jumped = false;
    if (!space || !space->is_armed)
        return KOINE_OK;
    KoineStatus status = measure(k, &first);
    if (status != KOINE_OK || !first)
        return status;
    if (space->n_done++ == MOST_JUMPS)
        return refuse(k, first, "and again at the same time, without end");
    status = apply(k, first);
    if (status != KOINE_OK)
        return status;
    *has_jumped = true;
    now->has_states = now->is_restart = now->is_changed = 1;
    for (uint32_t j = 0; j < p->events.graph.n_moving; j++)
        bitset_add(&k->wake.dirty, p->events.graph.moving[j]);
    space->is_armed = arm(k);
    return KOINE_OK;
}

void koine_disarm_jumps(Machine *k)
{
    if (k->spaces.jump_space)
        k->spaces.jump_space->is_armed = false;
}
