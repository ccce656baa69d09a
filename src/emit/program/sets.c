/* State sets of the Model as the machine wants them; see layout.h. */
#include "emit/program/share.h"

static const double FIXED_WEIGHT = 1e-3; /* a fixed start is kept if it can be */

static const uint32_t *slots_of(Layout *l, const VarId *variables, uint32_t n)
{
    uint32_t *slots = NEW_ARRAY(l->arena, uint32_t, n + 1);
    for (uint32_t k = 0; k < n; k++)
        slots[k] = variables[k].index == ID_NONE ? KOINE_NONE : l->now[variables[k].index];
    return slots;
}

static const uint32_t *cells_of(Layout *l, const VarId *variables, uint32_t n)
{
    uint32_t *cells = NEW_ARRAY(l->arena, uint32_t, n + 1);
    for (uint32_t k = 0; k < n; k++)
        cells[k] = variables[k].index;
    return cells;
}

static uint32_t lay_entries(Layout *l, const StateSet *s, uint32_t number, uint32_t *entry)
{
    Entries list = { 0 }, shared = { 0 };
    for (uint32_t k = 0; k < s->n_entries; k++) {
        entry[k] = take_slots(l, 1);
        add_entry(l, &list, lay_terms(l, 1, &s->entry[k], &entry[k]), KOINE_NONE, s->span);
    }
    share_survey(l, 1, (const Entries *const[]){ &list });
    share_entries(l, &(ShareRequest){ .repeats = 0 }, &list, &shared, NULL);
    return lay_section(l, arena_format(l->arena, "state_set_%u", number), &shared);
}

/* Per column: its candidate on the lowest level. */
static const char *const *column_names(Layout *l, const StateSet *s)
{
    const char **names = NEW_ARRAY(l->arena, const char *, s->n_columns + 1);
    for (uint32_t k = 0; k < s->n_columns; k++)
        names[k] = variable_path(l->model, s->candidate[(s->height[k] - 1) * s->n_columns + k], l->arena);
    return names;
}

static KoineStateSet lay_set(Layout *l, const StateSet *s, uint32_t number)
{
    uint32_t n_states = 0, *entry = NEW_ARRAY(l->arena, uint32_t, s->n_entries + 1);
    double *start_weight = NEW_ARRAY(l->arena, double, s->n_columns + 1);
    for (uint32_t level = 0; level < s->n_levels; level++)
        n_states += s->n_states[level];
    for (uint32_t k = 0; k < s->n_columns; k++) {
        start_weight[k] = s->weight[k];
        for (uint32_t level = 0; level < s->height[k]; level++)
            if (model_var(l->model, s->candidate[level * s->n_columns + k])->is_fixed)
                start_weight[k] = s->weight[k] * FIXED_WEIGHT;
    }
    const uint32_t section = lay_entries(l, s, number, entry);
    return (KoineStateSet){ .n_rows = s->n_rows,
                            .n_columns = s->n_columns,
                            .n_entries = s->n_entries,
                            .n_levels = s->n_levels,
                            .depth = s->depth,
                            .height = s->height,
                            .weight = s->weight,
                            .start_weight = start_weight,
                            .row = s->row,
                            .column = s->column,
                            .entry = entry,
                            .section = section,
                            .candidate = slots_of(l, s->candidate, s->n_levels * s->n_columns),
                            .n_states = s->n_states,
                            .state = slots_of(l, s->state, n_states),
                            .choice = slots_of(l, s->choice, n_states),
                            .state_cell = cells_of(l, s->state, n_states),
                            .choice_cell = cells_of(l, s->choice, n_states),
                            .names = column_names(l, s) };
}

void lay_state_sets(Layout *l)
{
    const Model *m = l->model;
    const Schedule *s = l->schedule;
    VEC(KoineGivenStart) given = { 0 };
    KoineStateSet *sets = NEW_ARRAY(l->arena, KoineStateSet, m->state_sets.n + 1);
    for (uint32_t k = 0; k < m->state_sets.n; k++)
        sets[k] = lay_set(l, &m->state_sets.at[k], k + 1);
    const bool *is_candidate = s->index ? find_candidates(m, l->arena) : NULL;
    for (uint32_t k = 0; s->index && k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        const KoineGivenStart row = { l->now[k], l->row_of[k], v->is_fixed };
        if (v->definition == DEFINITION_NOW && (v->is_fixed || is_candidate[k]) &&
            v->variability == VARIABILITY_CONTINUOUS && var_is_none(v->alias) && v->type.rank == 0 &&
            row.variable != KOINE_NONE)
            vec_push(l->arena, &given, row);
    }
    l->data.state_sets = sets;
    l->data.n_state_sets = m->state_sets.n;
    l->data.given_starts = given.at;
    l->data.n_given_starts = given.n;
    if (m->state_sets.n)
        l->tables.capabilities |= KOINE_NEEDS_STEP_EVENTS;
}

bool *find_candidates(const Model *model, Arena *arena)
{
    bool *is_candidate = NEW_ARRAY(arena, bool, model->variables.n + 1);
    for (uint32_t k = 0; k < model->state_sets.n; k++) {
        const StateSet *s = &model->state_sets.at[k];
        for (uint32_t j = 0; j < s->n_levels * s->n_columns; j++)
            if (!var_is_none(s->candidate[j]))
                is_candidate[s->candidate[j].index] = true;
    }
    return is_candidate;
}
