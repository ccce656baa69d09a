/* State sets of the Model as the machine wants them; see event_layout.h. */
#include "emit/program/event_layout.h"

static const double FIXED_WEIGHT = 1e-3; /* a fixed start is kept if it can be */

static const uint32_t *slots_of(Kernels *ks, const VarId *variables, uint32_t n)
{
    uint32_t *slots = NEW_ARRAY(ks->arena, uint32_t, n + 1);
    for (uint32_t k = 0; k < n; k++)
        slots[k] = variables[k].index == ID_NONE ? KOINE_NONE : ks->slots->now[variables[k].index];
    return slots;
}

static const uint32_t *cells_of(Kernels *ks, const VarId *variables, uint32_t n)
{
    uint32_t *cells = NEW_ARRAY(ks->arena, uint32_t, n + 1);
    for (uint32_t k = 0; k < n; k++)
        cells[k] = variables[k].index;
    return cells;
}

static uint32_t lay_entries(Systems *ss, const StateSet *s, uint32_t number, uint32_t *entry)
{
    Kernels *ks = ss->ks;
    Entries list = { 0 }, shared = { 0 };
    for (uint32_t k = 0; k < s->n_entries; k++) {
        entry[k] = take_slots(ks, 1);
        add_entry(ks, &list, lay_terms(ks, 1, &s->entry[k], &entry[k]), KOINE_NONE, s->span);
    }
    share_survey(ss->share, 1, (const Entries *const[]){ &list });
    share_entries(ss->share, &(ShareRequest){ .repeats = 0 }, &list, &shared, NULL);
    return lay_section(ks, arena_format(ks->arena, "state_set_%u", number), &shared);
}

/* Per column: its candidate on the lowest level. */
static const char *const *column_names(Kernels *ks, const StateSet *s)
{
    const char **names = NEW_ARRAY(ks->arena, const char *, s->n_columns + 1);
    for (uint32_t k = 0; k < s->n_columns; k++)
        names[k] = variable_path(ks->model, s->candidate[(s->height[k] - 1) * s->n_columns + k], ks->arena);
    return names;
}

static KoineStateSet lay_set(Systems *ss, const StateSet *s, uint32_t number)
{
    Kernels *ks = ss->ks;
    uint32_t n_states = 0, *entry = NEW_ARRAY(ks->arena, uint32_t, s->n_entries + 1);
    double *start_weight = NEW_ARRAY(ks->arena, double, s->n_columns + 1);
    for (uint32_t level = 0; level < s->n_levels; level++)
        n_states += s->n_states[level];
    for (uint32_t k = 0; k < s->n_columns; k++) {
        start_weight[k] = s->weight[k];
        for (uint32_t level = 0; level < s->height[k]; level++)
            if (model_var(ks->model, s->candidate[level * s->n_columns + k])->is_fixed)
                start_weight[k] = s->weight[k] * FIXED_WEIGHT;
    }
    const uint32_t section = lay_entries(ss, s, number, entry);
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
                            .candidate = slots_of(ks, s->candidate, s->n_levels * s->n_columns),
                            .n_states = s->n_states,
                            .state = slots_of(ks, s->state, n_states),
                            .choice = slots_of(ks, s->choice, n_states),
                            .state_cell = cells_of(ks, s->state, n_states),
                            .choice_cell = cells_of(ks, s->choice, n_states),
                            .names = column_names(ks, s) };
}

StateSets lay_state_sets(const Schedule *schedule, Systems *ss)
{
    Kernels *ks = ss->ks;
    const Model *m = ks->model;
    VEC(KoineGivenStart) given = { 0 };
    KoineStateSet *sets = NEW_ARRAY(ks->arena, KoineStateSet, m->state_sets.n + 1);
    for (uint32_t k = 0; k < m->state_sets.n; k++)
        sets[k] = lay_set(ss, &m->state_sets.at[k], k + 1);
    for (uint32_t k = 0; schedule->figures.index && k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        const KoineGivenStart row = { ks->slots->now[k], ks->slots->row_of[k], v->is_fixed };
        if (v->definition == DEFINITION_NOW && (v->is_fixed || ss->is_candidate[k]) &&
            v->variability == VARIABILITY_CONTINUOUS && var_is_none(v->alias) && v->type.rank == 0 &&
            row.variable != KOINE_NONE)
            vec_push(ks->arena, &given, row);
    }
    return (StateSets){ sets, given.at, given.n };
}
