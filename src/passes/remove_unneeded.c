/* remove-unneeded: on demand, blocks that neither the derivatives of the states, nor events, nor the outputs of the
 * model, nor variables that are asked for need are taken out of the Schedule; their equations are dropped and what they
 * define is hidden: it has no value. */
#include "ir/walk.h"
#include "passes/pipeline.h"

typedef struct {
    Compile *c;
    const Model *m;
    Schedule *s;
    uint32_t *defines_now, *defines_der; /* per variable: 1 + the first entry of its chain of blocks */
    VEC(uint32_t) chain_block, chain_next;
    bool *needed;     /* per block */
    bool *is_removed; /* per variable */
} Remover;

static void add_definition(Remover *r, Ref ref, uint32_t block)
{
    uint32_t *head = &(ref.kind == REF_DER ? r->defines_der : r->defines_now)[ref.var.index];
    vec_push(r->c->scratch, &r->chain_block, block);
    vec_push(r->c->scratch, &r->chain_next, *head);
    *head = r->chain_block.n;
}

/* What the block defines; `each` for a system. */
static Ref defined(const Remover *r, const Block *b, uint32_t row)
{
    return block_has_rows(b) ? r->s->rows.at[b->u.system.first_row + row].unknown
                             : term_refs(r->m, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf];
}

static uint32_t n_defined(const Block *b)
{
    return block_has_rows(b) ? b->u.system.n_rows : b->kind == BLOCK_ASSIGN;
}

static void need_ref(Remover *r, Ref ref)
{
    if (var_is_none(ref.var) || (ref.kind != REF_NOW && ref.kind != REF_DER && ref.kind != REF_PRE))
        return;
    /* elements that lie side by side are shown as one array */
    const VarId whole = variable_is_element(r->m, ref.var) ? model_var(r->m, ref.var)->origin : ref.var;
    const Holders holders = ref_holders(r->m, (Ref){ whole, ref.kind == REF_DER ? REF_DER : REF_NOW });
    for (uint32_t k = 0; k < holders.n; k++)
        for (uint32_t j = (ref.kind == REF_DER ? r->defines_der : r->defines_now)[holders.first + k]; j;
             j = r->chain_next.at[j - 1])
            r->needed[r->chain_block.at[j - 1]] = true;
}

static void need_term(Remover *r, Term term)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++)
        need_ref(r, term_refs(r->m, term)[k]);
}

/* Blocks read what lies before them, or, through pre and in bodies of events, any other: those are needed from the
 * start. */
static void need_reads(Remover *r, const Block *b)
{
    if (b->kind == BLOCK_ASSIGN)
        need_term(r, b->u.assign.rhs);
    for (uint32_t k = 0; block_has_rows(b) && k < b->u.system.n_rows; k++) {
        need_term(r, r->s->rows.at[b->u.system.first_row + k].lhs);
        need_term(r, r->s->rows.at[b->u.system.first_row + k].rhs);
    }
}

static void need_value(void *context, Term term, const TermPlace *place)
{
    if (place->role != TERM_TARGET)
        need_term(context, term);
}

/* Blocks stand for equations, and what variables are given is computed before the run. */
static void need_events(Remover *r)
{
    const Model *m = r->m;
    model_visit_terms(m, ELEMENTS_ALL & ~ELEMENTS(LIST_EQUATIONS) & ~ELEMENTS(LIST_VARIABLES), need_value, r);
    for (uint32_t k = 0; k < m->refs.n; k++)
        if (m->refs.at[k].kind == REF_PRE || m->refs.at[k].kind == REF_LAST)
            need_ref(r, (Ref){ m->refs.at[k].var, REF_PRE });
}

static bool is_wanted(const Compile *c, const Variable *v, VarId var)
{
    return v->causality == CAUSALITY_OUTPUT ||
           (c->wants && !v->is_generated && c->wants(c->wants_context, c->model, var));
}

static void need_wanted(Remover *r)
{
    const Model *m = r->m;
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        if (is_wanted(r->c, v, (VarId){ k }))
            need_ref(r, ref_now(var_is_none(v->alias) || variable_is_split(m, (VarId){ k }) ? (VarId){ k } : v->alias));
        if (v->definition == DEFINITION_DER)
            need_ref(r, ref_der((VarId){ k }));
    }
}

/* A variable without value: no unknown any more. */
static void hide(Remover *r, Ref ref)
{
    Variable *v = model_var(r->c->model, ref.var);
    r->is_removed[ref.var.index] = true;
    v->definition = DEFINITION_BINDING;
    v->is_protected = v->is_generated = true;
}

static void remove_blocks(Remover *r)
{
    Model *m = r->c->model;
    uint32_t n = 0;
    r->s->figures.largest_block = 0;
    for (uint32_t k = 0; k < r->s->blocks.n; k++) {
        const Block *b = &r->s->blocks.at[k];
        const uint32_t size = block_has_rows(b) ? b->u.system.n_rows : 1;
        if (r->needed[k]) {
            if (size > r->s->figures.largest_block)
                r->s->figures.largest_block = size;
            r->s->blocks.at[n++] = *b;
            continue;
        }
        for (uint32_t j = 0; j < n_defined(b); j++) {
            hide(r, defined(r, b, j));
            r->s->figures.n_unknowns--;
            const EqId e = block_has_rows(b) ? r->s->rows.at[b->u.system.first_row + j].equation : b->equation;
            m->equations.at[e.index].kind = EQUATION_DROPPED;
        }
    }
    r->s->blocks.n = n;
    for (uint32_t k = 0; k < m->variables.n; k++) { /* what shared the place of a hidden variable */
        Variable *v = &m->variables.at[k];
        if (!var_is_none(v->alias) && r->is_removed[v->alias.index] &&
            (v->type.rank == 0 || model_var(m, v->alias)->origin.index == k || model_var(m, v->alias)->type.rank))
            v->is_protected = v->is_generated = true;
    }
}

bool remove_unneeded(Compile *c)
{
    if (!c->removes_unneeded)
        return true;
    const Model *m = c->model;
    Remover r = { .c = c,
                  .m = m,
                  .s = c->schedule,
                  .defines_now = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1),
                  .defines_der = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1),
                  .needed = NEW_ARRAY(c->scratch, bool, c->schedule->blocks.n + 1),
                  .is_removed = NEW_ARRAY(c->scratch, bool, m->variables.n + 1) };
    for (uint32_t k = 0; k < r.s->blocks.n; k++) {
        const Block *b = &r.s->blocks.at[k];
        /* relations, step functions, transitions, and what hangs on them; components */
        r.needed[k] = n_defined(b) == 0 || b->mixed || b->kind == BLOCK_FOREIGN;
        for (uint32_t j = 0; j < n_defined(b); j++)
            add_definition(&r, defined(&r, b, j), k);
    }
    need_events(&r);
    need_wanted(&r);
    for (uint32_t k = r.s->blocks.n; k-- > 0;) /* blocks stand behind what they read */
        if (r.needed[k])
            need_reads(&r, &r.s->blocks.at[k]);
    remove_blocks(&r);
    return true;
}
