/* Why a system of equations is singular; see explain.h. */
#include "base/text.h"
#include "emit/program/explain.h"
#include "ir/dependence.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const Explainer *of;
    const KoineSlot *m;
} SlotValues;

static Value slot_value(void *context, Ref ref)
{
    const SlotValues *s = context;
    Value value = { .r = NAN };
    if (ref.kind == REF_NOW || ref.kind == REF_PRE || ref.kind == REF_DER || ref.kind == REF_TIME)
        memcpy(&value, &s->m[slot_of(s->of->slots, ref)], sizeof value);
    return value;
}

/* Parameters that are 0 in equations that depend on each other: most often they were forgotten. */
static void add_zeros(const Explainer *of, const KoineSlot *m, const SystemRow *rows, const Dependence *d, Text *to)
{
    enum { MOST = 4 };
    uint32_t shown = 0;
    for (uint32_t k = 0; k < d->n_equations && shown < MOST; k++) {
        const Term sides[] = { rows[d->equations[k]].lhs, rows[d->equations[k]].rhs };
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t j = 0; sides[side].shape && j < sides[side].shape->n_leaves && shown < MOST; j++) {
                const Ref ref = term_refs(of->model, sides[side])[j];
                const Variable *v = ref.kind == REF_NOW ? model_var(of->model, ref.var) : NULL;
                if (!v || v->definition != DEFINITION_BINDING || v->type.kind != TYPE_REAL || v->type.rank ||
                    m[slot_of(of->slots, ref)].r != 0)
                    continue;
                text_format(to, "%s%s = 0", shown++ ? ", " : "with ", variable_path(of->model, ref.var, to->arena));
            }
    }
    if (shown)
        text_add(to, " the equations do not determine their unknowns; ");
}

/* Whether equations that depend on each other have derivatives as unknowns and parameters beside them: with these
 * values they hide a constraint, which an analysis for any values cannot see. */
static bool hides_constraint(const Explainer *of, const SystemRow *rows, const Dependence *d)
{
    bool has_derivative = false, has_parameter = false;
    for (uint32_t k = 0; k < d->n_unknowns; k++)
        has_derivative |= rows[d->unknowns[k]].unknown.kind == REF_DER;
    for (uint32_t k = 0; k < d->n_equations; k++) {
        const Term sides[] = { rows[d->equations[k]].lhs, rows[d->equations[k]].rhs };
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t j = 0; sides[side].shape && j < sides[side].shape->n_leaves; j++) {
                const Ref ref = term_refs(of->model, sides[side])[j];
                has_parameter |= ref.kind == REF_NOW && model_var(of->model, ref.var)->definition == DEFINITION_BINDING;
            }
    }
    return has_derivative && has_parameter;
}

void blame_system(void *context, const KoineModel *model, uint32_t origin, char *to, size_t size)
{
    enum { MOST = 4 };
    const Explainer *of = context;
    const Schedule *schedule;
    const Block *b = origin_block(of, origin, &schedule);
    Arena *scratch = arena_create_like(of->arena);
    Text text = { .arena = scratch };
    SlotValues values = { of, (const KoineSlot *)(const void *)model->block };
    Dependence d;
    const bool is_solved = b && block_solved(b).n_rows; /* by formulas */
    const SystemRow *rows =
        b ? schedule->rows.at + (is_solved ? block_solved(b).first_row : block_rows(b).first_row) : NULL;
    const ValueSource source = { .model = b ? model_overlay(of->model, scratch) : NULL,
                                 .value = slot_value,
                                 .context = &values };
    if (b && find_dependence(&source, rows, is_solved ? block_solved(b).n_rows : block_rows(b).n_rows, scratch, &d)) {
        add_zeros(of, values.m, rows, &d, &text);
        for (uint32_t k = 0; k < d.n_unknowns && k < MOST; k++)
            text_format(&text, "%s%s", k ? ", " : "not determined: ",
                        variable_path(of->model, rows[d.unknowns[k]].unknown.var, scratch));
        if (d.n_unknowns > MOST)
            text_format(&text, " and %u more", d.n_unknowns - MOST);
        for (uint32_t k = 0; k < d.n_equations && k < MOST; k++) {
            text_add(&text, k ? ", " : "; depend on each other: the equations ");
            const Equation *e = &of->model->equations.at[rows[d.equations[k]].equation.index];
            const char *path = instance_path(of->model, e->owner, scratch);
            add_place(of, &text, e->origin.span);
            text_format(&text, "%s%s", path[0] ? " of " : "", path);
        }
        if (hides_constraint(of, rows, &d))
            text_add(&text, "; the values of the parameters may make it so: --evaluate-parameters analyses the model "
                            "with them");
        if (d.n_equations > MOST)
            text_format(&text, " and %u more", d.n_equations - MOST);
    }
    snprintf(to, size, "%s", text.at ? text.at : "");
    arena_destroy(scratch);
}
