/* State sets: where it depends on values which of some quantities can be states, generated variables are integrated;
 * each equals the candidate that its choice names, an Integer that changes at instants only. Quantities that shall be
 * states are integrated themselves and have no choice. See docs/semantics.md. */
#include "passes/reduce_index.h"

static VarId add_variable(Reduction *r, const char *prefix, uint32_t number, Type type, Span span)
{
    Model *m = r->model;
    const VarId made = model_add_generated(m, prefix, number, type, span);
    model_var(m, made)->is_generated = false; /* hidden, but there for those who ask */
    return made;
}

/* if choice == 1 then first else if choice == 2 then second ... else last */
static Term chosen(Reduction *r, VarId choice, const Ref *refs, const uint32_t *numbers, uint32_t n)
{
    Model *m = r->model;
    TermBuilder builder = term_builder(m);
    const Expr *number = term_leaf(&builder, ref_now(choice)), *result = term_leaf(&builder, refs[n - 1]);
    for (uint32_t k = n - 1; k-- > 0;)
        result = expr_if(m->pool, expr_literal_relation(m->pool, OP_EQ, number, expr_integer(m->pool, numbers[k] + 1)),
                         term_leaf(&builder, refs[k]), result);
    return term_finish(&builder, result);
}

static void add_equation(Reduction *r, EquationKind kind, Ref left, Term right, const SetPlan *plan)
{
    Model *m = r->model;
    const uint32_t of = r->rows.equation[plan->rows[0].row];
    const EqId made = model_add_equation(m, kind, term_ref(m, left), right, m->equations.at[of].origin.span);
    Equation *e = &m->equations.at[made.index];
    e->owner = m->equations.at[of].owner;
    e->origin.made_by = "reduce-index";
}

/* States and choices of one level; the variables, and equations for values and derivatives. */
static uint32_t write_level(Reduction *r, const SetPlan *plan, uint32_t level, StateSet *set, uint32_t at)
{
    Model *m = r->model;
    Arena *scratch = r->c->scratch;
    Ref *values = NEW_ARRAY(scratch, Ref, plan->n_columns + 1), *slopes = NEW_ARRAY(scratch, Ref, plan->n_columns + 1);
    uint32_t *numbers = NEW_ARRAY(scratch, uint32_t, plan->n_columns + 1), n = 0, rows = 0;
    const uint32_t before = at;
    VarId *candidate = set->candidate + level * plan->n_columns;
    for (uint32_t k = 0; k < plan->n_columns; k++) {
        const uint32_t highest = r->p.highest[plan->columns[k]];
        candidate[k] = VAR_NONE;
        if (set->height[k] <= level)
            continue;
        values[n] = ref_of_order(r, plan->columns[k], highest - level - 1);
        slopes[n] = ref_of_order(r, plan->columns[k], highest - level);
        candidate[k] = values[n].var;
        if (plan->is_given[k]) {
            set->state[at] = candidate[k];
            set->choice[at++] = VAR_NONE;
        } else {
            numbers[n++] = k;
        }
    }
    for (uint32_t k = 0; k < plan->n_rows; k++)
        rows += plan->rows[k].depth > level;
    ((uint32_t *)set->n_states)[level] = at - before + n - rows;
    for (uint32_t k = 0; k < n - rows; k++, at++) {
        const VarId state = add_variable(r, "x", ++r->n_set_states, REAL_TYPE, set->span);
        const VarId choice = add_variable(r, "choice", r->n_set_states, INTEGER_TYPE, set->span);
        Variable *v = model_var(m, state);
        v->definition = DEFINITION_DER;
        v->variability = VARIABILITY_CONTINUOUS;
        v = model_var(m, choice);
        v->definition = DEFINITION_FOREIGN;
        const Term first = term_integer(m, numbers[k] + 1);
        model_var(m, choice)->start = first;
        add_equation(r, EQUATION_RESIDUAL, ref_now(state), chosen(r, choice, values, numbers, n), plan);
        add_equation(r, EQUATION_EXPLICIT, ref_der(state), chosen(r, choice, slopes, numbers, n), plan);
        set->state[at] = state;
        set->choice[at] = choice;
    }
    return at;
}

static void write_set(Reduction *r, const SetPlan *plan)
{
    Model *m = r->model;
    const uint32_t n_columns = plan->n_columns, n_levels = plan->n_levels;
    uint32_t *depth = NEW_ARRAY(m->arena, uint32_t, plan->n_rows + 1),
             *height = NEW_ARRAY(m->arena, uint32_t, n_columns + 1),
             *row = NEW_ARRAY(m->arena, uint32_t, plan->entries.n + 1),
             *column = NEW_ARRAY(m->arena, uint32_t, plan->entries.n + 1);
    double *weight = NEW_ARRAY(m->arena, double, n_columns + 1);
    Term *entry = NEW_ARRAY(m->arena, Term, plan->entries.n + 1);
    for (uint32_t k = 0; k < plan->n_rows; k++)
        depth[k] = plan->rows[k].depth;
    for (uint32_t k = 0; k < n_columns; k++) {
        height[k] = r->quantities.demoted[plan->columns[k]];
        if (plan->is_given[k]) {
            const uint32_t highest = r->p.highest[plan->columns[k]];
            height[k] = highest < n_levels ? highest : n_levels;
        }
        weight[k] = plan->weights[k];
    }
    for (uint32_t k = 0; k < plan->entries.n; k++) {
        row[k] = plan->entries.at[k].row;
        column[k] = plan->entries.at[k].column;
        entry[k] = plan->entries.at[k].term;
    }
    StateSet set = { .n_rows = plan->n_rows,
                     .n_columns = n_columns,
                     .n_entries = plan->entries.n,
                     .n_levels = n_levels,
                     .depth = depth,
                     .height = height,
                     .weight = weight,
                     .row = row,
                     .column = column,
                     .entry = entry,
                     .candidate = NEW_ARRAY(m->arena, VarId, (size_t)n_levels * n_columns + 1),
                     .n_states = NEW_ARRAY(m->arena, uint32_t, n_levels + 1),
                     .state = NEW_ARRAY(m->arena, VarId, (size_t)n_levels * n_columns + 1),
                     .choice = NEW_ARRAY(m->arena, VarId, (size_t)n_levels * n_columns + 1),
                     .span = m->equations.at[r->rows.equation[plan->rows[0].row]].origin.span };
    for (uint32_t level = 0, at = 0; level < n_levels; level++)
        at = write_level(r, plan, level, &set, at);
    vec_push(m->arena, &m->state_sets, set);
}

void write_state_sets(Reduction *r)
{
    for (uint32_t k = 0; k < r->plans.n; k++)
        write_set(r, &r->plans.at[k]);
}
