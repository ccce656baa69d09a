/* Placing variables; see slots.h. */
#include "emit/program/slots.h"
#include "base/bug.h"
#include "emit/routines.h"
#include "emit/texts.h"
#include <string.h>

typedef struct {
    const Schedule *schedule;
    const Model *model;
    Slots slots;
} Placing;

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

bool *find_fixed_by_equations(const Model *model, Arena *arena)
{
    bool *is_fixed = NEW_ARRAY(arena, bool, model->variables.n + 1);
    for (uint32_t k = 0; k < model->equations.n; k++) {
        const Equation *e = &model->equations.at[k];
        if (e->origin.made_by && strcmp(e->origin.made_by, "fix-starts") == 0)
            is_fixed[term_refs(model, e->lhs)[0].var.index] = true;
    }
    return is_fixed;
}

static uint32_t take_slots(Placing *p, uint64_t n)
{
    const uint32_t first = p->slots.n;
    REQUIRE(n <= UINT32_MAX / 4 && first <= UINT32_MAX / 4);
    p->slots.n += (uint32_t)n;
    return first;
}

static void align_slots(Placing *p)
{
    p->slots.n = (p->slots.n + 7u) & ~7u; /* 64 bytes */
}

static void place_states(Placing *p)
{
    const Schedule *s = p->schedule;
    align_slots(p);
    p->slots.x = p->slots.n;
    for (uint32_t k = 0; k < s->states.n; k++)
        p->slots.now[s->states.at[k].index] = take_slots(p, variable_count(p->model, s->states.at[k]));
    p->slots.n_x = p->slots.n - p->slots.x;
    align_slots(p);
    p->slots.dx = p->slots.n;
    for (uint32_t k = 0; k < s->states.n; k++)
        p->slots.der[s->states.at[k].index] = take_slots(p, variable_count(p->model, s->states.at[k]));
    align_slots(p);
}

static void place_variables(Placing *p, Variability lo, Variability hi)
{
    const Model *m = p->model;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        if (var_is_none(v->alias) && p->slots.now[k] == KOINE_NONE && v->variability >= lo && v->variability <= hi)
            p->slots.now[k] = take_slots(p, variable_count(m, (VarId){ k }));
    }
}

/* The elements of a split array lie side by side before, too: if one is wanted, all are. */
static void want_pre(Placing *p, VarId v)
{
    const Model *m = p->model;
    const VarId array = variable_is_element(m, v) ? model_var(m, v)->origin : v;
    const Holders holders = ref_holders(m, ref_now(array));
    if (holders.n && p->slots.pre[holders.first] == 0) /* as are all of them */
        return;
    for (uint32_t k = 0; k < holders.n; k++)
        p->slots.pre[holders.first + k] = 0;
}

static void place_pre(Placing *p)
{
    const Model *m = p->model;
    for (uint32_t k = 0; k < m->refs.n; k++) {
        const Ref ref = m->refs.at[k];
        if (ref.kind == REF_PRE && (var_is_none(model_var(m, ref.var)->alias) || variable_is_split(m, ref.var)))
            want_pre(p, ref.var); /* placed below in canonical order */
    }
    for (uint32_t k = 0; k < m->transitions.n; k++) { /* edges compare with the value before */
        const Transition *t = &m->transitions.at[k];
        for (uint32_t j = 0; t->trigger == TRIGGER_EDGE && j < t->n_conditions; j++)
            p->slots.pre[term_refs(m, m->conditions.at[t->first_condition + j])[0].var.index] = 0;
    }
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (p->slots.pre[k] == 0)
            p->slots.pre[k] = take_slots(p, variable_count(m, (VarId){ k }));
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (variable_is_split(m, (VarId){ k }))
            p->slots.pre[k] = p->slots.pre[m->variables.at[k].alias.index];
}

static bool reads(const Model *m, RefKind kind)
{
    bool any = false;
    if (!model_may_have(m, kind))
        return false;
    for (uint32_t k = 0; k < m->refs.n && !any; k++)
        any = m->refs.at[k].kind == kind;
    return any;
}

static void place_all(Placing *p)
{
    const Model *m = p->model;
    for (uint32_t k = 0; k < m->variables.n; k++)
        p->slots.now[k] = p->slots.der[k] = p->slots.pre[k] = p->slots.seed[k] = p->slots.seed_der[k] = KOINE_NONE;
    p->slots.time = take_slots(p, 1);
    p->slots.phases.initial = take_slots(p, 1);
    p->slots.phases.has_initial = reads(m, REF_INITIAL);
    p->slots.phases.terminal = reads(m, REF_TERMINAL) ? take_slots(p, 1) : KOINE_NONE;
    p->slots.calls = m->functions.n || model_has_texts(m) ? take_slots(p, ROUTINE_CALL_SLOTS) : KOINE_NONE;
    place_states(p);
    place_variables(p, VARIABILITY_CONTINUOUS, VARIABILITY_CONTINUOUS);
    align_slots(p);
    place_variables(p, VARIABILITY_DISCRETE, VARIABILITY_DISCRETE);
    align_slots(p);
    p->slots.parameters.first = p->slots.n;
    place_variables(p, VARIABILITY_CONSTANT, VARIABILITY_PARAMETER);
    p->slots.parameters.n = p->slots.n - p->slots.parameters.first;
    align_slots(p);
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (variable_is_split(m, (VarId){ k })) { /* its elements follow each other */
            p->slots.now[k] = p->slots.now[m->variables.at[k].alias.index];
            p->slots.der[k] = p->slots.der[m->variables.at[k].alias.index];
        }
    place_pre(p);
}

/* Elements of a split array lie side by side here, too. */
static void place_seed(Placing *p, VarId v)
{
    const Model *m = p->model;
    if (p->slots.seed[v.index] != KOINE_NONE)
        return;
    const Holders holders =
        variable_is_element(m, v) ? ref_holders(m, ref_now(model_var(m, v)->origin)) : (Holders){ v.index, 1 };
    for (uint32_t k = 0; k < holders.n; k++)
        p->slots.seed[holders.first + k] = take_slots(p, variable_count(m, (VarId){ holders.first + k }));
}

static void place_block_seeds(Placing *p, uint32_t index, bool is_outer)
{
    const Schedule *s = p->schedule;
    const Block *b = &s->blocks.at[index];
    const uint32_t n = b->kind == BLOCK_ASSIGN ? 1 : block_rows(b).n_rows;
    for (uint32_t j = 0; j < n; j++) {
        const Ref ref = b->kind == BLOCK_ASSIGN ? term_refs(p->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf]
                                                : s->rows.at[block_rows(b).first_row + j].unknown;
        if (ref.kind != REF_NOW)
            continue;
        if (is_outer && p->slots.seed[ref.var.index] == KOINE_NONE)
            p->slots.ports.is_outer[ref.var.index] = true;
        place_seed(p, ref.var);
    }
}

/* Tangents of the Real inputs, side by side in their order. */
static void place_input_seeds(Placing *p)
{
    const Ports *ports = &p->schedule->ports;
    for (uint32_t k = 0; k < ports->inputs.n; k++) {
        const PortScalar port = ports->inputs.at[k];
        const VarId alias = model_var(p->model, port.var)->alias, holder = var_is_none(alias) ? port.var : alias;
        const uint32_t at = holder.index + (variable_is_split(p->model, port.var) ? port.element : 0);
        p->slots.ports.input[k] = KOINE_NONE;
        if (model_var(p->model, port.var)->type.kind != TYPE_REAL)
            continue;
        p->slots.ports.input[k] = take_slots(p, 1);
        p->slots.ports.is_outer[at] = true;
        if (p->slots.seed[at] == KOINE_NONE)
            p->slots.seed[at] = p->slots.ports.input[k];
    }
}

static void place_outer_seeds(Placing *p)
{
    const Ports *ports = &p->schedule->ports;
    for (uint32_t k = 0; k < ports->bindings.n; k++) {
        p->slots.ports.is_outer[ports->bindings.at[k].index] |=
            p->slots.seed[ports->bindings.at[k].index] == KOINE_NONE;
        place_seed(p, ports->bindings.at[k]);
    }
    for (uint32_t k = 0; k < ports->chain.n; k++)
        place_block_seeds(p, ports->chain.at[k], true);
    for (uint32_t k = 0; k < ports->blocks.n; k++)
        place_block_seeds(p, ports->blocks.at[k], true);
}

/* Tangents: of the states, of their derivatives, and of what lies between. */
static void place_seeds(Placing *p)
{
    const Schedule *s = p->schedule;
    p->slots.seed_x = p->slots.seed_dx = KOINE_NONE;
    if (!s->has_jacobian && !s->is_whole && !s->ports.is_there)
        return;
    align_slots(p);
    p->slots.seed_x = p->slots.n;
    for (uint32_t k = 0; k < s->states.n; k++)
        p->slots.seed[s->states.at[k].index] = take_slots(p, variable_count(p->model, s->states.at[k]));
    if (s->ports.is_there)
        place_input_seeds(p);
    p->slots.seed_dx = p->slots.n;
    for (uint32_t k = 0; k < s->states.n; k++)
        p->slots.seed_der[s->states.at[k].index] = take_slots(p, variable_count(p->model, s->states.at[k]));
    for (uint32_t k = 0; k < s->parts[PART_DERIVATIVES].n; k++)
        place_block_seeds(p, s->parts[PART_DERIVATIVES].at[k], false);
    if (s->ports.is_there)
        place_outer_seeds(p);
    p->slots.ports.seeds = (SlotRange){ p->slots.seed_x, p->slots.n - p->slots.seed_x };
    for (uint32_t k = 0; k < p->model->variables.n; k++)
        if (variable_is_split(p->model, (VarId){ k })) {
            p->slots.seed[k] = p->slots.seed[p->model->variables.at[k].alias.index];
            p->slots.seed_der[k] = p->slots.seed_der[p->model->variables.at[k].alias.index];
            p->slots.ports.is_outer[k] = p->slots.ports.is_outer[p->model->variables.at[k].alias.index];
        }
}

uint32_t slot_of(const Slots *slots, Ref ref)
{
    const uint32_t v = ref.var.index;
    switch ((RefKind)ref.kind) {
    case REF_NOW:
    case REF_START: return slots->now[v];
    case REF_PRE: return slots->pre[v];
    case REF_DER: return slots->der[v];
    case REF_TIME: return slots->time;
    case REF_INITIAL: return slots->phases.initial;
    case REF_TERMINAL: return slots->phases.terminal;
    case REF_SEED: return slots->seed[v];
    case REF_SEED_DER: return slots->seed_der[v];
    case REF_LAST:
    case REF_FIRED:
    case REF_TICK:
    case REF_INTERVAL:
    case REF_INFLOW:
    case REF_PASSING:
    case REF_IS_ROOT:
    case REF_ROOTED: break;
    }
    BUG("a reference without slot");
}

bool literal_value(const Expr *e, KoineSlot *value)
{
    if (!expr_is_constant(e) || e->kind == EXPR_STRING)
        return false;
    if (e->kind == EXPR_REAL)
        value->r = e->u.real;
    else
        value->i = e->u.integer;
    return true;
}

/* ---- rows in the tables ---- */
static void number_rows(Placing *p, Arena *arena)
{
    const Model *m = p->model;
    uint32_t *row_of = NEW_ARRAY(arena, uint32_t, m->variables.n + 1), n = 0;
    p->slots.variable_of = NEW_ARRAY(arena, uint32_t, m->variables.n + 1);
    for (uint32_t k = 0; k < m->variables.n; k++)
        row_of[k] = KOINE_NONE;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        const bool is_hidden_array = v->is_generated && variable_is_split(m, (VarId){ k });
        const uint32_t first = is_hidden_array ? v->alias.index : k;
        const uint64_t count = is_hidden_array ? variable_count(m, (VarId){ k }) : !v->is_generated;
        for (uint32_t j = first; j < first + count; j++) { /* variables that hold elements stand where the array does */
            if (row_of[j] != KOINE_NONE || (is_hidden_array && m->variables.at[j].is_generated))
                continue;
            row_of[j] = n;
            p->slots.variable_of[n++] = j;
        }
    }
    for (uint32_t k = 0; k < m->variables.n; k++)
        if (variable_is_element(m, (VarId){ k }))
            row_of[k] = row_of[m->variables.at[k].origin.index];
    p->slots.row_of = row_of;
    p->slots.n_rows = n;
}

/* Elements that are variables of their own stand behind each other. */
static bool is_literal(const Model *m, uint32_t index, uint64_t count)
{
    for (uint64_t k = 0; k < count && index < m->variables.n; k += variable_count(m, (VarId){ index++ })) {
        const Variable *v = &m->variables.at[index];
        const Term term = v->definition == DEFINITION_BINDING ? v->binding : v->start;
        if (term.shape && !expr_is_literal(term.shape))
            return false;
    }
    return true;
}

bool variable_is_settable(const Model *model, const bool *is_candidate, uint32_t index, uint64_t count)
{
    const Variable *holder = &model->variables.at[index];
    if (holder->is_free || holder->variability == VARIABILITY_STRUCTURAL || holder->variability == VARIABILITY_CONSTANT)
        return false;
    if ((holder->definition == DEFINITION_NOW && !is_candidate[index]) || holder->definition == DEFINITION_FOREIGN)
        return false;
    return is_literal(model, index, count);
}

/* A state whose start value is computed gets a place for one that is given instead. */
static void place_given_starts(Placing *p, Arena *arena)
{
    const Model *m = p->model;
    const bool *is_candidate = find_candidates(m, arena);
    for (uint32_t k = 0; k < p->slots.n_rows; k++) {
        const uint32_t own = p->slots.variable_of[k];
        const VarId alias = m->variables.at[own].alias;
        const uint32_t index = var_is_none(alias) ? own : alias.index;
        const Variable *v = &m->variables.at[index];
        const uint64_t count = variable_count(m, (VarId){ own });
        const bool is_computed = v->is_fixed && (v->definition == DEFINITION_DER || v->definition == DEFINITION_NEXT) &&
                                 v->type.kind != TYPE_STRING;
        if (is_computed && !p->slots.given[index] && !variable_is_settable(m, is_candidate, index, count))
            p->slots.given[index] = take_slots(p, count);
    }
}

Slots slots_place(const Schedule *schedule, Arena *arena)
{
    const uint32_t n = schedule->model->variables.n + 1;
    Placing p = { .schedule = schedule, .model = schedule->model };
    p.slots = (Slots){ .now = NEW_ARRAY(arena, uint32_t, n),
                       .der = NEW_ARRAY(arena, uint32_t, n),
                       .pre = NEW_ARRAY(arena, uint32_t, n),
                       .seed = NEW_ARRAY(arena, uint32_t, n),
                       .seed_der = NEW_ARRAY(arena, uint32_t, n),
                       .ports = { .input = NEW_ARRAY(arena, uint32_t, schedule->ports.inputs.n + 1),
                                  .is_outer = NEW_ARRAY(arena, bool, n) },
                       .given = NEW_ARRAY(arena, uint32_t, n) };
    place_all(&p);
    place_seeds(&p);
    number_rows(&p, arena);
    place_given_starts(&p, arena);
    return p.slots;
}
