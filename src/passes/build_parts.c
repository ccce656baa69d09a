/* build-parts: which blocks each purpose needs, as increasing lists of block numbers.
 *
 * A block moves if it depends on time, a state or a continuous input, directly or through moving blocks; bits and
 * selectors do not move between events. What does not move is evaluated in event steps only. A discrete Real, and what
 * a when equation defines, do not move whatever they read: they take a value in event steps. */
#include "base/bug.h"
#include "graph/topological.h"
#include "passes/pipeline.h"

typedef struct {
    Compile *c;
    Model *model;
    Schedule *schedule;
    bool *moves;           /* per variable: its NOW value moves between events */
    uint32_t *defines_now; /* per variable: chain of blocks that define it (arrays have several) */
    uint32_t *defines_der;
    VEC(uint32_t) chain_block, chain_next;
} Parts;

typedef void (*VisitTerm)(Parts *p, Term term, void *context);

/* Calls `visit` for every term that the block reads. */
static void visit_reads(Parts *p, const Block *b, VisitTerm visit, void *context)
{
    const Model *m = p->model;
    switch ((BlockKind)b->kind) {
    case BLOCK_ASSIGN: visit(p, b->u.assign.rhs, context); break;
    case BLOCK_LINEAR:
    case BLOCK_NEWTON:
    case BLOCK_ITERATE:
    case BLOCK_FOREIGN:
        for (uint32_t k = 0; k < b->u.system.n_rows; k++) {
            visit(p, p->schedule->rows.at[b->u.system.first_row + k].lhs, context);
            visit(p, p->schedule->rows.at[b->u.system.first_row + k].rhs, context);
        }
        break;
    case BLOCK_RELATION: {
        const Relation *r = &m->relations.at[b->u.object];
        visit(p, r->kind == RELATION_TIME ? r->slope : r->left, context);
        visit(p, r->kind == RELATION_TIME ? r->flip : r->right, context);
        break;
    }
    case BLOCK_STEP: {
        const StepFunction *f = &m->steps.at[b->u.object];
        visit(p, f->kind == RELATION_TIME ? f->slope : f->argument, context);
        visit(p, f->kind == RELATION_TIME ? f->offset : TERM_NONE, context);
        break;
    }
    case BLOCK_TRANSITION: {
        const Transition *t = &m->transitions.at[b->u.object];
        for (uint32_t k = 0; k < t->n_conditions; k++)
            visit(p, m->conditions.at[t->first_condition + k], context);
        break;
    }
    }
}

static void add_definition(Parts *p, Ref ref, uint32_t block)
{
    uint32_t *head = &(ref.kind == REF_DER ? p->defines_der : p->defines_now)[ref.var.index];
    vec_push(p->c->scratch, &p->chain_block, block);
    vec_push(p->c->scratch, &p->chain_next, *head);
    *head = p->chain_block.n;
}

static void note_moving(Parts *p, Term term, void *context)
{
    bool *moves = context;
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(p->model, term)[k];
        if (ref.kind == REF_TIME)
            *moves = true;
        else if (ref.kind == REF_NOW) {
            const Holders holders = ref_holders(p->model, ref);
            for (uint32_t j = 0; j < holders.n; j++)
                *moves |= p->moves[holders.first + j];
        } else if (ref.kind == REF_DER)
            *moves = true;
    }
}

static bool is_held(const Parts *p, EqId equation, Ref ref)
{
    const Variable *v = model_var(p->model, ref.var);
    const char *made_by = p->model->equations.at[equation.index].origin.made_by;
    return ref.kind == REF_NOW && v->variability == VARIABILITY_DISCRETE &&
           (v->type.kind == TYPE_REAL || term_foreign(p->model->equations.at[equation.index].rhs) ||
            (made_by && strcmp(made_by, "lower-whens") == 0));
}

static void define_blocks(Parts *p)
{
    Schedule *s = p->schedule;
    for (uint32_t k = 0; k < s->blocks.n; k++) {
        Block *b = &s->blocks.at[k];
        if (b->kind == BLOCK_ASSIGN) {
            const Ref ref = term_refs(p->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf];
            if (!is_held(p, b->equation, ref))
                visit_reads(p, b, note_moving, &b->is_moving);
            if (ref.kind == REF_NOW)
                p->moves[ref.var.index] |= b->is_moving;
            add_definition(p, ref, k);
        } else if (block_has_rows(b)) {
            bool all_held = true;
            for (uint32_t j = 0; j < b->u.system.n_rows; j++)
                all_held &= is_held(p, s->rows.at[b->u.system.first_row + j].equation,
                                    s->rows.at[b->u.system.first_row + j].unknown);
            if (!all_held)
                visit_reads(p, b, note_moving, &b->is_moving);
            for (uint32_t j = 0; j < b->u.system.n_rows; j++) {
                const Ref ref = s->rows.at[b->u.system.first_row + j].unknown;
                if (ref.kind == REF_NOW)
                    p->moves[ref.var.index] |= b->is_moving;
                add_definition(p, ref, k);
            }
        } else if (b->kind == BLOCK_RELATION) {
            add_definition(p, ref_now(p->model->relations.at[b->u.object].bit), k);
        } else if (b->kind == BLOCK_STEP) {
            add_definition(p, ref_now(p->model->steps.at[b->u.object].value), k);
        }
    }
}

/* ---- closures: everything moving that the marked blocks need ---- */
static void need_term(Parts *p, Term term, void *context)
{
    bool *needed = context;
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(p->model, term)[k];
        if (ref.kind != REF_NOW && ref.kind != REF_DER)
            continue;
        const Holders holders = ref_holders(p->model, ref);
        for (uint32_t i = 0; i < holders.n; i++)
            for (uint32_t j = (ref.kind == REF_DER ? p->defines_der : p->defines_now)[holders.first + i]; j;
                 j = p->chain_next.at[j - 1])
                if (p->schedule->blocks.at[p->chain_block.at[j - 1]].is_moving)
                    needed[p->chain_block.at[j - 1]] = true;
    }
}

static void close(Parts *p, bool *needed)
{
    for (uint32_t k = p->schedule->blocks.n; k-- > 0;)
        if (needed[k])
            visit_reads(p, &p->schedule->blocks.at[k], need_term, needed);
}

static void fill(Parts *p, PartKind part, const bool *needed)
{
    for (uint32_t k = 0; k < p->schedule->blocks.n; k++)
        if (needed[k] && p->schedule->blocks.at[k].is_moving)
            vec_push(p->c->arena, &p->schedule->parts[part], k);
}

static bool *none_needed(Parts *p)
{
    return NEW_ARRAY(p->c->scratch, bool, p->schedule->blocks.n + 1);
}

static void build_derivatives(Parts *p)
{
    Schedule *s = p->schedule;
    bool *needed = none_needed(p), *rest = none_needed(p);
    for (uint32_t k = 0; k < s->states.n; k++)
        for (uint32_t j = p->defines_der[s->states.at[k].index]; j; j = p->chain_next.at[j - 1])
            needed[p->chain_block.at[j - 1]] = true;
    close(p, needed);
    fill(p, PART_DERIVATIVES, needed);
    for (uint32_t k = 0; k < s->blocks.n; k++)
        rest[k] = !needed[k];
    fill(p, PART_OUTPUTS, rest);
}

/* Root functions of a component may depend on all its inputs. */
static void need_input(Parts *p, const ForeignPort *port, bool *needed)
{
    if (port->role == FOREIGN_IN)
        need_term(p, term_ref(p->model, ref_now(port->var)), needed);
}

static void build_roots(Parts *p)
{
    Schedule *s = p->schedule;
    Model *m = p->model;
    bool *needed = none_needed(p);
    for (uint32_t k = 0; k < m->relations.n; k++) {
        const Relation *r = &m->relations.at[k];
        if (r->kind == RELATION_TIME) {
            s->figures.n_calendar += (uint32_t)domain_count(m, r->domain);
            continue;
        }
        s->figures.n_roots += (uint32_t)domain_count(m, r->domain);
        need_term(p, r->left, needed);
        need_term(p, r->right, needed);
    }
    for (uint32_t k = 0; k < m->steps.n; k++) {
        if (m->steps.at[k].kind == RELATION_TIME) {
            s->figures.n_calendar++;
            continue;
        }
        s->figures.n_roots += 2;
        need_term(p, m->steps.at[k].argument, needed);
    }
    for (uint32_t k = 0; k < m->foreigns.n; k++) {
        s->figures.n_roots += m->foreigns.at[k].n_roots;
        for (uint32_t j = 0; j < m->foreigns.at[k].n_ports && m->foreigns.at[k].n_roots; j++)
            need_input(p, &m->foreign_ports.at[m->foreigns.at[k].first_port + j], needed);
    }
    close(p, needed);
    fill(p, PART_ROOTS, needed);
}

/* Event nodes: all that does not move, components, all relations, steps and transitions, and what these and the bodies
 * of transitions read. */
static void build_event(Parts *p)
{
    Schedule *s = p->schedule;
    const Model *m = p->model;
    bool *needed = none_needed(p);
    for (uint32_t k = 0; k < s->blocks.n; k++)
        needed[k] = !s->blocks.at[k].is_moving || s->blocks.at[k].kind == BLOCK_FOREIGN;
    for (uint32_t k = 0; k < m->transitions.n; k++) {
        const Transition *t = &m->transitions.at[k];
        for (uint32_t j = 0; j < t->n_assignments; j++) {
            need_term(p, m->assignments.at[t->first_assignment + j].guard, needed);
            need_term(p, m->assignments.at[t->first_assignment + j].value, needed);
        }
        for (uint32_t j = 0; j < t->n_actions; j++) {
            const Action *a = &m->actions.at[t->first_action + j];
            need_term(p, a->guard, needed);
            need_term(p, a->message, needed);
            for (uint32_t i = 0; i < a->n_args; i++)
                need_term(p, m->conditions.at[a->first_arg + i], needed);
        }
    }
    /* pre(v) of a continuous v is its value at arrival: v is computed in the instant. */
    for (uint32_t k = 0; k < m->refs.n; k++)
        if (m->refs.at[k].kind == REF_PRE) {
            const Term term = term_ref(p->model, ref_now(m->refs.at[k].var));
            need_term(p, term, needed);
        }
    close(p, needed);
    for (uint32_t k = 0; k < s->blocks.n; k++)
        if (needed[k]) {
            s->blocks.at[k].is_eager = true;
            vec_push(p->c->arena, &s->parts[PART_EVENT], k);
        }
}

/* ---- parameters and start values in the order of their dependence ---- */
static bool order_bindings(Parts *p, bool starts)
{
    Model *m = p->model;
    Compile *c = p->c;
    VEC(Edge) edges = { 0 };
    bool *listed = NEW_ARRAY(c->scratch, bool, m->variables.n + 1);
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        const Term term = starts ? v->start : v->binding;
        if (!term.shape || expr_is_literal(term.shape) || !var_is_none(v->alias) ||
            (!starts && v->definition != DEFINITION_BINDING))
            continue;
        listed[k] = true;
        for (uint32_t j = 0; j < term.shape->n_leaves; j++) {
            const Ref ref = term_refs(m, term)[j];
            const Edge edge = { k, ref.var.index };
            if ((!starts && ref.kind == REF_NOW) || (starts && ref.kind == REF_START))
                vec_push(c->scratch, &edges, edge);
        }
    }
    const Incidence g = incidence_build(m->variables.n, m->variables.n, edges.at, edges.n, c->scratch);
    Topological order;
    if (!topological_order(&g, NULL, c->scratch, &order, NULL)) {
        const VarId first = { order.cycle[0] };
        diag_error(c->diag, DIAG_PARAMETER_RING, model_var(m, first)->span, "the value of '%s' depends on itself",
                   variable_path(m, first, c->scratch));
        for (uint32_t k = 1; k < order.n_cycle && k < 12; k++)
            diag_note(c->diag, m->variables.at[order.cycle[k]].span, "through '%s'",
                      variable_path(m, (VarId){ order.cycle[k] }, c->scratch));
        return false;
    }
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const VarId v = { order.order[k] };
        if (!listed[v.index])
            continue;
        if (starts)
            vec_push(c->arena, &p->schedule->starts, v);
        else
            vec_push(c->arena, &p->schedule->parameters, v);
    }
    return true;
}

bool build_parts(Compile *c)
{
    Model *m = c->model;
    Schedule *s = c->schedule;
    Parts p = { .c = c,
                .model = m,
                .schedule = s,
                .moves = NEW_ARRAY(c->scratch, bool, m->variables.n + 1),
                .defines_now = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1),
                .defines_der = NEW_ARRAY(c->scratch, uint32_t, m->variables.n + 1) };
    for (uint32_t k = 0; k < m->variables.n; k++) {
        const Variable *v = &m->variables.at[k];
        s->figures.n_aliases += !var_is_none(v->alias) && !variable_is_split(m, (VarId){ k });
        if ((v->definition == DEFINITION_INPUT || v->definition == DEFINITION_FOREIGN) &&
            v->variability == VARIABILITY_CONTINUOUS)
            p.moves[k] = true; /* a signal may drive it; it is the output of a delay */
        if (v->definition == DEFINITION_DER && var_is_none(v->alias)) {
            p.moves[k] = true;
            const VarId state = { k };
            vec_push(c->arena, &s->states, state);
        }
    }
    for (uint32_t k = 0; k < m->equations.n; k++)
        s->figures.n_equations += m->equations.at[k].kind != EQUATION_DROPPED;
    s->figures.index = c->reduced.index;
    s->figures.n_differentiated = c->reduced.n_differentiated;
    define_blocks(&p);
    build_derivatives(&p);
    build_roots(&p);
    build_event(&p);
    const bool parameters = order_bindings(&p, false), starts = order_bindings(&p, true);
    return parameters && starts;
}
