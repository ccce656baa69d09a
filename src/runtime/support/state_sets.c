/* State sets: which of the candidates are states, by pivoting the constraint Jacobian; see koine/support.h.
 *
 * The candidates that are no states follow from the constraints; that works as long as their columns of the Jacobian
 * are far from singular. After each step the best columns are looked for by elimination with full pivoting, those of
 * the deepest constraints first, so that the choices of all levels go together. They replace the present ones if those
 * have a determinant smaller than SWITCH times theirs: a choice stays long enough to be worth the restart of the
 * solver.
 *
 * A candidate that shall always be a state has no choice and a small weight. Where it would have to be taken all the
 * same the others do not follow from it: an integrator stands still there, or goes on along another solution. The run
 * ends. */
#include "machine.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double SWITCH = 0.7;
static const double LEAST = 0.01;
static const double GIVEN_TOLERANCE = 1e-6; /* of a start value that was given, relative to it or to 1 */

struct SetSpace {
    double *matrix;  /* rows */
    double *largest; /* per row */
    uint32_t *taken; /* per column: depth of the constraint it follows from; 0: a state on all levels */
    uint32_t *present;
    uint8_t *is_done;
    double *given; /* start values */
    double *kept;  /* values of the candidates of all sets */
};

SetSpace *koine_set_space_create(const KoineProgram *program)
{
    SetSpace *w = calloc(1, sizeof *w);
    size_t cells = 1, rows = 1, columns = 1, candidates = 1;
    if (!w)
        return NULL;
    for (uint32_t k = 0; k < program->systems.n_sets; k++) {
        const KoineStateSet *s = &program->systems.sets[k];
        const size_t own = (size_t)s->n_rows * s->n_columns;
        cells = own > cells ? own : cells;
        rows = s->n_rows > rows ? s->n_rows : rows;
        columns = s->n_columns > columns ? s->n_columns : columns;
        candidates += (size_t)s->n_levels * s->n_columns;
    }
    w->kept = malloc(candidates * sizeof *w->kept);
    w->matrix = malloc(cells * sizeof *w->matrix);
    w->taken = malloc(columns * sizeof *w->taken);
    w->present = malloc(columns * sizeof *w->present);
    w->is_done = malloc(rows);
    w->largest = malloc(rows * sizeof *w->largest);
    w->given = malloc((program->slots.n_given_starts + 1u) * sizeof *w->given);
    if (!w->matrix || !w->taken || !w->present || !w->is_done || !w->largest || !w->given || !w->kept) {
        koine_set_space_destroy(w);
        return NULL;
    }
    return w;
}

void koine_set_space_destroy(SetSpace *w)
{
    if (!w)
        return;
    free(w->matrix);
    free(w->taken);
    free(w->present);
    free(w->is_done);
    free(w->largest);
    free(w->given);
    free(w->kept);
    free(w);
}

/* ---- choosing ---- */
/* Rows scaled to 1. What has no value counts as zero. At the start an entry is at least LEAST: it is computed from what
 * was only guessed. */
static void fill_matrix(const Machine *m, const KoineStateSet *s, bool at_start)
{
    SetSpace *w = m->spaces.set_space;
    const double *weight = at_start ? s->start_weight : s->weight;
    memset(w->matrix, 0, (size_t)s->n_rows * s->n_columns * sizeof *w->matrix);
    memset(w->largest, 0, s->n_rows * sizeof *w->largest);
    for (uint32_t j = 0; j < s->n_entries; j++) {
        const double value = m->slots[s->entry[j]].r;
        if (isfinite(value))
            w->largest[s->row[j]] = fmax(w->largest[s->row[j]], fabs(value));
    }
    for (uint32_t j = 0; j < s->n_entries; j++) {
        const double largest = w->largest[s->row[j]];
        double value = largest > 0 ? m->slots[s->entry[j]].r / largest : at_start;
        if (!isfinite(value))
            value = 0;
        if (at_start && fabs(value) < LEAST)
            value = value < 0 ? -LEAST : LEAST;
        w->matrix[(size_t)s->row[j] * s->n_columns + s->column[j]] = value * weight[s->column[j]];
    }
}

/* The largest entry in rows of this depth, in columns that may be taken for them. */
static double find_pivot(const SetSpace *w, const KoineStateSet *s, uint32_t depth, const uint32_t *only,
                         const uint32_t *taken, uint32_t *row, uint32_t *column)
{
    double best = 0;
    for (uint32_t i = 0; i < s->n_rows; i++) {
        if (w->is_done[i] || s->depth[i] != depth)
            continue;
        for (uint32_t j = 0; j < s->n_columns; j++) {
            const double size = fabs(w->matrix[(size_t)i * s->n_columns + j]);
            if (size > best && !taken[j] && s->height[j] >= depth && (!only || only[j] == depth)) {
                best = size;
                *row = i;
                *column = j;
            }
        }
    }
    return best;
}

/* Takes a column for each row: from all, or where it has `only` so. Gives the logarithm of the determinant. */
static double eliminate(const Machine *m, const KoineStateSet *s, bool at_start, const uint32_t *only, uint32_t *taken)
{
    SetSpace *w = m->spaces.set_space;
    double sum = 0;
    fill_matrix(m, s, at_start);
    memset(taken, 0, s->n_columns * sizeof *taken);
    memset(w->is_done, 0, s->n_rows);
    for (uint32_t n = 0; n < s->n_rows; n++) {
        uint32_t row = 0, column = 0;
        const double pivot = find_pivot(w, s, s->depth[n], only, taken, &row, &column);
        if (!(pivot > 0))
            return -INFINITY;
        sum += log(pivot);
        taken[column] = s->depth[n];
        w->is_done[row] = 1;
        const double *from = w->matrix + (size_t)row * s->n_columns;
        for (uint32_t i = 0; i < s->n_rows; i++) {
            double *to = w->matrix + (size_t)i * s->n_columns;
            if (w->is_done[i] || to[column] == 0)
                continue;
            const double factor = to[column] / from[column];
            for (uint32_t j = 0; j < s->n_columns; j++)
                to[j] -= factor * from[j];
        }
    }
    return sum;
}

/* The column that is state `at`, which belongs to this level. */
static uint32_t column_of_state(const Machine *m, const KoineStateSet *s, uint32_t level, uint32_t at)
{
    if (s->choice[at] != KOINE_NONE)
        return (uint32_t)m->slots[s->choice[at]].i - 1;
    uint32_t column = 0;
    while (s->candidate[level * s->n_columns + column] != s->state[at])
        column++;
    return column;
}

/* Per column: on how many levels it is no state now. */
static void read_choices(const Machine *m, const KoineStateSet *s, uint32_t *taken)
{
    memcpy(taken, s->height, s->n_columns * sizeof *taken);
    for (uint32_t level = 0, at = 0; level < s->n_levels; level++)
        for (uint32_t j = 0; j < s->n_states[level]; j++, at++)
            taken[column_of_state(m, s, level, at)]--;
}

static bool is_better(const Machine *m, const KoineStateSet *s)
{
    SetSpace *w = m->spaces.set_space;
    run_section(m, s->section);
    read_choices(m, s, w->present);
    const double now = eliminate(m, s, false, w->present, w->taken);
    const double best = eliminate(m, s, false, NULL, w->taken);
    return best > -INFINITY && !(now >= best + log(SWITCH));
}

/* A column that shall be a state on all levels but is taken in the best choice; n_columns: there is none. */
static uint32_t lost_column(const Machine *m, const KoineStateSet *s)
{
    for (uint32_t level = 0, at = 0; level < s->n_levels; level++)
        for (uint32_t j = 0; j < s->n_states[level]; j++, at++)
            if (s->choice[at] == KOINE_NONE && m->spaces.set_space->taken[column_of_state(m, s, level, at)] > level)
                return column_of_state(m, s, level, at);
    return s->n_columns;
}

static KoineStatus refuse_states(Machine *m, const KoineStateSet *s, uint32_t lost)
{
    char room[512];
    uint32_t other = 0; /* a state in its place */
    KoineText text = koine_text_in(room, sizeof room);
    while (other < s->n_columns && (m->spaces.set_space->taken[other] || !m->spaces.set_space->present[other]))
        other++;
    koine_text_add(&text, "'%.100s' shall be a state, but near this position ", s->names[lost]);
    if (other < s->n_columns)
        koine_text_add(&text, "'%.100s' does not follow from it", s->names[other]);
    else
        koine_text_add(&text, "the other quantities in its constraints do not follow from it");
    return koine_because(m, KOINE_CAUSE_STATES, koine_fault(m, KOINE_FAILED, KOINE_NONE, room));
}

KoineStatus koine_look_at_sets(Machine *m, bool *wants_switch)
{
    *wants_switch = false;
    for (uint32_t n = 0; n < m->program->systems.n_sets; n++) {
        const KoineStateSet *s = &m->program->systems.sets[n];
        if (!is_better(m, s))
            continue;
        const uint32_t lost = lost_column(m, s);
        if (lost < s->n_columns)
            return refuse_states(m, s, lost);
        *wants_switch = true;
    }
    return KOINE_OK;
}

/* ---- switching ---- */
static bool is_chosen(const KoineStateSet *s, const uint32_t *taken, uint32_t level, uint32_t column)
{
    return s->height[column] > level && taken[column] <= level;
}

/* States whose candidate stays chosen keep it; the others take the new ones in order, with their present values. */
static void take_choices(Machine *m, const KoineStateSet *s, bool all)
{
    uint32_t *is_used = m->spaces.set_space->present, *taken = m->spaces.set_space->taken;
    for (uint32_t level = 0, at = 0; level < s->n_levels; at += s->n_states[level++]) {
        memset(is_used, 0, s->n_columns * sizeof *is_used);
        for (uint32_t j = 0; j < s->n_states[level]; j++) {
            const uint32_t column = column_of_state(m, s, level, at + j);
            if (s->choice[at + j] == KOINE_NONE || (!all && is_chosen(s, taken, level, column)))
                is_used[column] = j + 1;
        }
        for (uint32_t j = 0, next = 0; j < s->n_states[level]; j++) {
            const uint32_t column = column_of_state(m, s, level, at + j);
            if (is_used[column] == j + 1)
                continue;
            while (next < s->n_columns && (is_used[next] || !is_chosen(s, taken, level, next)))
                next++;
            if (next == s->n_columns) /* a set that was written by hand, with starts that do not fit together */
                break;
            is_used[next] = j + 1;
            m->slots[s->choice[at + j]].i = (int64_t)next + 1;
            m->slots[s->state[at + j]].r = m->slots[s->candidate[level * s->n_columns + next]].r;
            koine_wake_readers(m, s->choice_cell[at + j]);
            koine_wake_readers(m, s->state_cell[at + j]);
            m->instant->result.has_states = m->instant->result.is_restart = 1;
        }
    }
}

void koine_switch_sets(Machine *m)
{
    if (koine_run_part(m, &m->program->parts.derivatives) != KOINE_OK)
        return; /* it cannot be computed here: nothing to choose by */
    for (uint32_t n = 0; n < m->program->systems.n_sets; n++)
        if (is_better(m, &m->program->systems.sets[n]))
            take_choices(m, &m->program->systems.sets[n], false);
}

/* ---- the start ---- */
/* The coefficients of the constraints may depend on what is computed from time and start values: that is computed once
 * before the first choice. Systems keep their guesses, candidates the start values that they have. */
static void compute_coefficients(Machine *m)
{
    const KoineProgram *p = m->program;
    double *kept = m->spaces.set_space->kept;
    for (int round = 0; round < 2; round++) {
        size_t at = 0;
        for (uint32_t n = 0; n < p->systems.n_sets; n++) {
            const KoineStateSet *s = &p->systems.sets[n];
            for (uint32_t j = 0; j < s->n_levels * s->n_columns; j++, at++) {
                if (s->candidate[j] == KOINE_NONE)
                    continue;
                if (round == 0)
                    kept[at] = m->slots[s->candidate[j]].r;
                else if (kept[at] != 0)
                    m->slots[s->candidate[j]].r = kept[at];
            }
        }
        for (uint32_t j = 0; round == 0 && j < p->parts.derivatives.n; j++)
            if (p->parts.derivatives.steps[j].system == KOINE_NONE)
                run_section(m, p->parts.derivatives.steps[j].section);
    }
    if (p->slots.calls != KOINE_NONE)
        m->slots[p->slots.calls].i = 0;
}

void koine_begin_sets(Machine *m)
{
    const KoineProgram *p = m->program;
    SetSpace *w = m->spaces.set_space;
    if (p->systems.n_sets)
        compute_coefficients(m);
    for (uint32_t n = 0; n < p->systems.n_sets; n++) {
        const KoineStateSet *s = &p->systems.sets[n];
        run_section(m, s->section);
        if (eliminate(m, s, true, NULL, w->taken) == -INFINITY)
            read_choices(m, s, w->taken);
        take_choices(m, s, true);
    }
    for (uint32_t n = 0; n < p->slots.n_given_starts; n++)
        w->given[n] = m->slots[p->slots.given_starts[n].slot].r;
}

static void warn_of_starts(Machine *m)
{
    const KoineProgram *p = m->program;
    const KoineHost *host = m->model->host;
    for (uint32_t n = 0; host && host->message && n < p->slots.n_given_starts; n++) {
        const KoineGivenStart *g = &p->slots.given_starts[n];
        const double given = m->spaces.set_space->given[n], is = m->slots[g->slot].r;
        char text[400];
        if (fabs(is - given) <= GIVEN_TOLERANCE * fmax(1, fabs(given)) || !isfinite(is) ||
            (given == 0 && !g->is_declared))
            continue;
        snprintf(text, sizeof text,
                 "the start value %.9g given for '%.200s' contradicts the constraints and the other start values: it "
                 "begins at %.9g",
                 given, p->tables->variables[g->variable].name, is + 0.0); /* no -0 */
        host->message(host->context, m->model, KOINE_MESSAGE_WARNING, text);
    }
}

KoineStatus koine_settle_sets(Machine *m)
{
    const bool was_searching = m->spaces.is_searching;
    m->spaces.is_searching = true;
    const KoineStatus status = koine_run_part(m, &m->program->parts.derivatives);
    m->spaces.is_searching = was_searching;
    if (status != KOINE_OK)
        return KOINE_FAILED;
    koine_keep_guesses(m);
    koine_run_part(m, &m->program->parts.outputs);
    warn_of_starts(m);
    koine_switch_sets(m);
    m->instant->result.has_states = m->instant->result.is_restart = 0; /* nobody has seen others */
    return KOINE_OK;
}

/* The variable that holds the slot; KOINE_NONE: none that the tables know. */
static KoinePort find_row(const KoineTables *tables, uint32_t slot)
{
    for (uint32_t row = 0; row < tables->n_variables; row++) {
        const KoineVariable *v = &tables->variables[row];
        const uint64_t first = v->now / sizeof(KoineSlot);
        if (v->now != KOINE_NO_OFFSET && slot >= first && slot - first < v->count && !(v->flags & KOINE_VARIABLE_ALIAS))
            return (KoinePort){ row, slot - (uint32_t)first };
    }
    return (KoinePort){ KOINE_NONE, 0 };
}

KoinePort koine_machine_state(const KoineModel *model, uint32_t k)
{
    const Machine *m = model->handles;
    const KoineProgram *p = m->program;
    uint32_t slot = p->slots.x + k;
    for (uint32_t n = 0; n < p->systems.n_sets; n++) {
        const KoineStateSet *s = &p->systems.sets[n];
        for (uint32_t level = 0, at = 0; level < s->n_levels; level++)
            for (uint32_t j = 0; j < s->n_states[level]; j++, at++)
                if (s->state[at] == p->slots.x + k)
                    slot = s->candidate[level * s->n_columns + column_of_state(m, s, level, at)];
    }
    const KoinePort port = find_row(p->tables, slot);
    return port.variable == KOINE_NONE ? find_row(p->tables, p->slots.x + k) : port;
}
