/* check-systems: systems that are singular whatever the parameters are.
 *
 * Every unknown has an equation, and still the equations say too little: a circuit without ground determines only
 * differences of its potentials. Whether that is so is found with random values: a matrix that is singular for them is
 * singular for all. Systems with branches are left to check-branches, those that take too long to the run. */
#include "ir/dependence.h"
#include "passes/pipeline.h"
#include "passes/roles.h"

enum { MOST_NOTES = 8, MOST_ROWS = 20000 };

typedef struct {
    const Model *model;
    uint64_t salt;
} Draw;

static Value draw(void *context, Ref ref)
{
    const Draw *d = context;
    const uint64_t key = ((uint64_t)ref.kind << 32 | ref.var.index) + d->salt;
    uint64_t h = (key + 1) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 32;
    const bool is_real = ref_type(d->model, ref).kind == TYPE_REAL;
    return is_real ? (Value){ .r = 0.5 + (double)(h >> 11) * 0x1p-53 } : (Value){ .i = 1 };
}

static const char *unknown_text(const Compile *c, Ref ref)
{
    const char *path = variable_path(c->model, ref.var, c->scratch);
    return ref.kind == REF_DER ? arena_format(c->scratch, "der(%s)", path) : path;
}

static void report(const Compile *c, const SystemRow *rows, uint32_t n, const Dependence *d)
{
    const Model *m = c->model;
    const uint32_t first = d->equations[0];
    diag_error(c->diag, DIAG_DEPENDENT_EQUATIONS, m->equations.at[rows[first].equation.index].origin.span,
               "%u equations do not determine their %u unknowns: one of these %u equations follows from the other%s", n,
               n, d->n_equations, d->n_equations == 2 ? "" : "s");
    for (uint32_t k = 0; k < d->n_equations; k++)
        blame_equation(c, rows[d->equations[k]].equation.index);
    for (uint32_t k = 0; k < d->n_unknowns; k++)
        blame_unknown(c, rows[d->unknowns[k]].unknown);
    for (uint32_t k = 1; k < d->n_equations && k < MOST_NOTES; k++)
        note_equation(c, rows[d->equations[k]].equation.index, "belongs to them");
    Ref *unknowns = NEW_ARRAY(c->scratch, Ref, d->n_unknowns + 1);
    for (uint32_t k = 0; k < d->n_unknowns; k++) {
        unknowns[k] = rows[d->unknowns[k]].unknown;
        if (k < MOST_NOTES)
            diag_note(c->diag, model_var(m, unknowns[k].var)->span,
                      k ? "... together with '%s'" : "nothing determines '%s'", unknown_text(c, unknowns[k]));
    }
    if (d->n_unknowns > MOST_NOTES)
        diag_note(c->diag, SPAN_NONE, "and %u more unknowns", d->n_unknowns - MOST_NOTES);
    diag_help(c->diag, "%s", advice_for_undetermined(c, unknowns, d->n_unknowns));
}

bool check_systems(Compile *c)
{
    const Schedule *s = c->schedule;
    uint32_t looked_at = 0;
    for (uint32_t k = 0; k < s->blocks.n && looked_at < MOST_ROWS; k++) {
        const Block *b = &s->blocks.at[k];
        if ((b->kind != BLOCK_LINEAR && b->kind != BLOCK_NEWTON) || b->u.system.n_rows < 2 || b->mixed)
            continue;
        const SystemRow *rows = s->rows.at + b->u.system.first_row;
        Draw one = { c->model, 0 }, another = { c->model, 0x5bd1e995 };
        const ValueSource values = { c->model, draw, &one, true }, others = { c->model, draw, &another, true };
        Dependence d;
        looked_at += b->u.system.n_rows;
        Arena *scratch = arena_create_like(c->arena);
        if (find_dependence(&values, rows, b->u.system.n_rows, scratch, &d) &&
            find_dependence(&others, rows, b->u.system.n_rows, scratch, &d))
            report(c, rows, b->u.system.n_rows, &d);
        arena_destroy(scratch);
    }
    return diag_errors(c->diag) == 0;
}
