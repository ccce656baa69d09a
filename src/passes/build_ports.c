/* build-ports: the inputs by which, and the outputs of which derivatives are taken, and what depends on what.
 *
 * Inputs are those of the top, open ones of components, and parameters that somebody asks for; outputs those of the top
 * and what somebody asks for. Of what does not move between events only that counts which follows from an input at
 * once: what an event has set keeps its value. Sets of states and inputs are carried as for the Jacobian (carry.h). */
#include "graph/colouring.h"
#include "passes/carry.h"
#include <string.h>

static const uint64_t MOST_ENTRIES = 24u << 20;

typedef struct {
    Compile *c;
    Model *model;
    Schedule *schedule;
    Ports *ports;
    bool *is_used; /* per variable: it is an input already */
    bool *follows; /* per variable: it follows from an input and does not move */
} Choice;

static VarId holder_of(const Model *m, VarId var)
{
    const VarId alias = model_var(m, var)->alias;
    return var_is_none(alias) ? var : alias;
}

/* ---- which ones ---- */
static void add_ports(Choice *p, VarId var, bool is_input)
{
    const VarId holder = holder_of(p->model, var);
    if (is_input && p->is_used[holder.index])
        return;
    for (uint32_t k = 0; k < variable_count(p->model, var); k++) {
        const PortScalar port = { var, k };
        if (is_input && variable_is_split(p->model, var))
            p->is_used[holder.index + k] = true;
        if (is_input)
            vec_push(p->c->arena, &p->ports->inputs, port);
        else
            vec_push(p->c->arena, &p->ports->outputs, port);
    }
    p->is_used[holder.index] |= is_input;
}

static bool is_at_top(const Choice *p, VarId var)
{
    const Variable *v = model_var(p->model, var);
    return v->owner.index == 0 && !v->is_generated && !variable_is_element(p->model, var);
}

static bool is_open(const Choice *p, VarId var)
{
    const Variable *v = model_var(p->model, holder_of(p->model, var));
    return v->definition == DEFINITION_INPUT && v->type.kind != TYPE_STRING;
}

static bool is_number(const Choice *p, VarId var)
{
    return model_var(p->model, var)->type.kind == TYPE_REAL;
}

static void choose_inputs(Choice *p)
{
    const PortWish *wish = &p->c->ports;
    const uint32_t n = p->model->variables.n;
    for (uint32_t k = 0; k < n; k++)
        if (is_at_top(p, (VarId){ k }) && is_open(p, (VarId){ k }) &&
            model_var(p->model, (VarId){ k })->causality == CAUSALITY_INPUT)
            add_ports(p, (VarId){ k }, true);
    for (uint32_t k = 0; k < n; k++) {
        const Variable *v = &p->model->variables.at[k];
        if (is_open(p, (VarId){ k }) && !v->is_generated && !variable_is_element(p->model, (VarId){ k }))
            add_ports(p, (VarId){ k }, true);
    }
    for (uint32_t k = 0; wish->is_input && k < n; k++) {
        const Variable *v = &p->model->variables.at[holder_of(p->model, (VarId){ k }).index];
        if (v->definition == DEFINITION_BINDING && v->variability == VARIABILITY_PARAMETER &&
            v->type.kind == TYPE_REAL && wish->is_input(wish->context, p->model, (VarId){ k }))
            add_ports(p, (VarId){ k }, true);
    }
}

static void choose_outputs(Choice *p)
{
    const PortWish *wish = &p->c->ports;
    for (uint32_t k = 0; k < p->model->variables.n; k++) {
        const VarId var = { k };
        const bool is_asked = wish->is_output && !model_var(p->model, var)->is_generated &&
                              !variable_is_element(p->model, var) && wish->is_output(wish->context, p->model, var);
        const bool is_output = is_at_top(p, var) && model_var(p->model, var)->causality == CAUSALITY_OUTPUT &&
                               model_var(p->model, var)->type.kind != TYPE_STRING;
        if (is_output || (is_asked && is_number(p, var)))
            add_ports(p, var, false);
    }
}

/* ---- what follows from inputs without moving ---- */
static bool reads_followers(const Choice *p, Term term)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(p->model, term)[k];
        const Holders holders = ref_holders(p->model, ref);
        for (uint32_t j = 0; ref.kind == REF_NOW && j < holders.n; j++)
            if (p->follows[holders.first + j])
                return true;
    }
    return false;
}

static bool is_set_by_event(const Choice *p, EqId equation)
{
    const char *made_by = p->model->equations.at[equation.index].origin.made_by;
    return made_by && strcmp(made_by, "lower-whens") == 0;
}

static void mark(Choice *p, Ref ref)
{
    if (ref.kind == REF_NOW)
        p->follows[ref.var.index] = true;
}

static void look_at_block(Choice *p, uint32_t index)
{
    const Schedule *s = p->schedule;
    const Block *b = &s->blocks.at[index];
    if (b->is_moving || !b->is_real || is_set_by_event(p, b->equation))
        return;
    if (b->kind == BLOCK_ASSIGN && reads_followers(p, b->u.assign.rhs)) {
        vec_push(p->c->arena, &p->ports->chain, index);
        mark(p, term_refs(p->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf]);
    }
    bool any = false;
    for (uint32_t k = 0; k < block_rows(b).n_rows; k++) {
        const SystemRow *row = &s->rows.at[block_rows(b).first_row + k];
        any |= reads_followers(p, row->lhs) || reads_followers(p, row->rhs);
    }
    for (uint32_t k = 0; any && k < block_rows(b).n_rows; k++)
        mark(p, s->rows.at[block_rows(b).first_row + k].unknown);
    if (any)
        vec_push(p->c->arena, &p->ports->chain, index);
}

static void find_chain(Choice *p)
{
    const Schedule *s = p->schedule;
    bool any = false;
    for (uint32_t k = 0; k < p->ports->inputs.n; k++) {
        const PortScalar port = p->ports->inputs.at[k];
        const VarId holder = holder_of(p->model, port.var);
        const uint32_t at = holder.index + (variable_is_split(p->model, port.var) ? port.element : 0);
        p->follows[at] = is_number(p, port.var) && p->model->variables.at[at].variability != VARIABILITY_CONTINUOUS;
        any |= p->follows[at];
    }
    for (uint32_t k = 0; any && k < s->parameters.n; k++)
        if (is_number(p, s->parameters.at[k]) && !p->follows[s->parameters.at[k].index] &&
            reads_followers(p, model_var(p->model, s->parameters.at[k])->binding)) {
            vec_push(p->c->arena, &p->ports->bindings, s->parameters.at[k]);
            p->follows[s->parameters.at[k].index] = true;
        }
    for (uint32_t k = 0; any && k < s->blocks.n; k++)
        look_at_block(p, k);
}

/* ---- what outputs need ---- */
static void need(Choice *p, bool *needed, Term term)
{
    for (uint32_t k = 0; term.shape && k < term.shape->n_leaves; k++) {
        const Ref ref = term_refs(p->model, term)[k];
        const Holders holders = ref_holders(p->model, ref);
        for (uint32_t j = 0; ref.kind == REF_NOW && j < holders.n; j++)
            needed[holders.first + j] = true;
    }
}

static bool defines_needed(const Choice *p, const Block *b, const bool *needed)
{
    if (b->kind == BLOCK_ASSIGN) {
        const Ref ref = term_refs(p->model, b->u.assign.lhs)[b->u.assign.lhs.shape->u.leaf];
        return ref.kind == REF_NOW && needed[ref.var.index];
    }
    for (uint32_t k = 0; k < block_rows(b).n_rows; k++) {
        const Ref ref = p->schedule->rows.at[block_rows(b).first_row + k].unknown;
        if (ref.kind == REF_NOW && needed[ref.var.index])
            return true;
    }
    return false;
}

static void find_output_blocks(Choice *p)
{
    const Schedule *s = p->schedule;
    const uint32_t n = s->parts[PART_OUTPUTS].n;
    bool *needed = NEW_ARRAY(p->c->scratch, bool, p->model->variables.n + 1),
         *is_chosen = NEW_ARRAY(p->c->scratch, bool, n + 1);
    for (uint32_t k = 0; k < p->ports->outputs.n; k++) {
        const Holders holders = ref_holders(p->model, ref_now(holder_of(p->model, p->ports->outputs.at[k].var)));
        const PortScalar port = p->ports->outputs.at[k];
        needed[variable_is_split(p->model, port.var) ? holder_of(p->model, port.var).index + port.element
                                                     : holders.first] = true;
    }
    for (uint32_t k = n; k-- > 0;) {
        const Block *b = &s->blocks.at[s->parts[PART_OUTPUTS].at[k]];
        is_chosen[k] = b->is_real && (b->kind == BLOCK_ASSIGN || block_is_system(b)) && defines_needed(p, b, needed);
        if (!is_chosen[k])
            continue;
        if (b->kind == BLOCK_ASSIGN)
            need(p, needed, b->u.assign.rhs);
        for (uint32_t j = 0; j < block_rows(b).n_rows; j++) {
            need(p, needed, s->rows.at[block_rows(b).first_row + j].lhs);
            need(p, needed, s->rows.at[block_rows(b).first_row + j].rhs);
        }
    }
    for (uint32_t k = 0; k < n; k++)
        if (is_chosen[k])
            vec_push(p->c->arena, &p->ports->blocks, s->parts[PART_OUTPUTS].at[k]);
}

/* ---- patterns ---- */
static void number_inputs(Choice *p, Carry *b, uint32_t n_states)
{
    b->first_input = NEW_ARRAY(p->c->scratch, uint32_t, p->model->variables.n + 1);
    memset(b->first_input, 0xff, p->model->variables.n * sizeof *b->first_input);
    for (uint32_t k = 0; k < p->ports->inputs.n; k++) {
        const PortScalar port = p->ports->inputs.at[k];
        const bool is_split = variable_is_split(p->model, port.var);
        if (is_number(p, port.var) && (is_split || port.element == 0))
            b->first_input[holder_of(p->model, port.var).index + (is_split ? port.element : 0)] = n_states + k;
    }
}

static void carry_block(Carry *b, uint32_t index)
{
    const Block *block = &b->schedule->blocks.at[index];
    if (block->kind == BLOCK_ASSIGN)
        carry_assignment(b, block);
    else if (block_is_system(block))
        carry_system(b, block);
}

static void carry_binding(Carry *b, VarId var, uint32_t *n_elements)
{
    const int64_t j[ELEMENT_LEVELS] = { 0 };
    const Term term = model_var(b->model, var)->binding;
    b->first_element[var.index] = *n_elements;
    *n_elements += (uint32_t)variable_count(b->model, var);
    carry_begin(b);
    carry_leaves(b, term.shape, term, (DomainId){ 0 }, j);
    const ColumnSet set = carry_end(b);
    for (uint32_t k = 0; k < variable_count(b->model, var); k++)
        carry_put(b, ref_now(var), k, set);
}

/* The columns from `first` on, `n` of them. */
static PortPattern pattern_of(const Carry *b, const ColumnSet *rows, uint32_t n_rows, uint32_t first, uint32_t n)
{
    Arena *arena = b->c->arena;
    uint32_t *start = NEW_ARRAY(arena, uint32_t, n_rows + 1), entries = 0;
    VEC(uint32_t) index = { 0 };
    for (uint32_t k = 0; k < n_rows; k++) {
        for (uint32_t j = 0; j < rows[k].n; j++) {
            const uint32_t column = b->pool[rows[k].begin + j];
            if (column < first || column - first >= n)
                continue;
            vec_push(arena, &index, column - first);
            entries++;
        }
        start[k + 1] = entries;
    }
    if (entries == 0)
        vec_push(arena, &index, 0);
    uint32_t *colour = NEW_ARRAY(arena, uint32_t, n + 1);
    const Incidence g = { n_rows, n, start, index.at };
    const uint32_t n_colours = n ? colour_columns(&g, COLOUR_NATURAL, b->c->scratch, colour, NULL) : 0;
    return (PortPattern){ n_rows, n, n_colours, start, index.at, colour };
}

static bool fill_patterns(Choice *p)
{
    Ports *ports = p->ports;
    const Schedule *s = p->schedule;
    Carry b = carry_create(p->c);
    uint32_t n_states, n_elements, n_room;
    b.most = MOST_ENTRIES;
    if (!carry_number(&b, &n_states, &n_elements))
        return false;
    number_inputs(p, &b, n_states);
    n_room = n_elements;
    for (uint32_t k = 0; k < ports->bindings.n; k++)
        n_room += (uint32_t)variable_count(p->model, ports->bindings.at[k]);
    carry_room(&b, n_states, n_states + ports->inputs.n, n_room);
    for (uint32_t k = 0; k < ports->bindings.n; k++)
        carry_binding(&b, ports->bindings.at[k], &n_elements);
    for (uint32_t k = 0; k < ports->chain.n; k++)
        carry_block(&b, ports->chain.at[k]);
    for (uint32_t k = 0; k < s->parts[PART_DERIVATIVES].n && !b.is_too_large; k++)
        carry_block(&b, s->parts[PART_DERIVATIVES].at[k]);
    for (uint32_t k = 0; k < ports->blocks.n && !b.is_too_large; k++)
        carry_block(&b, ports->blocks.at[k]);
    ColumnSet *outputs = NEW_ARRAY(p->c->scratch, ColumnSet, ports->outputs.n + 1);
    for (uint32_t k = 0; k < ports->outputs.n; k++) {
        carry_begin(&b);
        carry_element(&b,
                      ref_now(variable_is_split(p->model, ports->outputs.at[k].var)
                                  ? ports->outputs.at[k].var
                                  : holder_of(p->model, ports->outputs.at[k].var)),
                      ports->outputs.at[k].element);
        outputs[k] = carry_end(&b);
    }
    if (b.is_too_large)
        return false;
    ports->by_input = pattern_of(&b, b.rows, n_states, n_states, ports->inputs.n);
    ports->out_state = pattern_of(&b, outputs, ports->outputs.n, 0, n_states);
    ports->out_input = pattern_of(&b, outputs, ports->outputs.n, n_states, ports->inputs.n);
    return true;
}

/* Whoever wants derivatives is told where they are not exact. */
static void warn_of_differences(Compile *c)
{
    for (uint32_t k = 0; k < c->model->functions.n; k++) {
        const Function *f = c->model->functions.at[k];
        if (!f->external || !f->is_pure)
            continue;
        diag_warning(c->diag, DIAG_DIFFERENCES, f->span, "derivatives through function %s of C are differences",
                     names_of(pool_names(c->model->pool), f->name));
        diag_help(c->diag, "about ten digits of them are right; write it as statements if that is not enough");
    }
}

bool build_ports(Compile *c)
{
    const uint32_t n = c->model->variables.n + 1;
    Choice p = { .c = c,
                 .model = c->model,
                 .schedule = c->schedule,
                 .ports = &c->schedule->ports,
                 .is_used = NEW_ARRAY(c->scratch, bool, n),
                 .follows = NEW_ARRAY(c->scratch, bool, n) };
    bool any = c->ports.is_wanted;
    for (uint32_t k = 0; k < c->model->variables.n && !any; k++)
        any = is_number(&p, (VarId){ k }) && is_open(&p, (VarId){ k });
    if (c->ports.is_wanted && c->model->foreigns.n) {
        const Foreign *f = &c->model->foreigns.at[0];
        diag_error(c->diag, DIAG_NOT_DIFFERENTIABLE, f->span,
                   "exact derivatives are wanted, and what the foreign component %s gives has none",
                   names_of(pool_names(c->model->pool), f->name));
        return false;
    }
    if (!any || c->model->foreigns.n)
        return true;
    if (c->ports.is_wanted)
        warn_of_differences(c);
    choose_inputs(&p);
    choose_outputs(&p);
    find_chain(&p);
    find_output_blocks(&p);
    p.ports->is_there = fill_patterns(&p);
    return true;
}
