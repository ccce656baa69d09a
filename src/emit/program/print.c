/* A program in words: every table that the machine and the tiers read, with the names that slots have. */
#include "emit/program.h"

typedef struct {
    const KoineProgram *p;
    const Code *code;
    const Model *model;
    Text *to;
} Printing;

static void put_slot(const Printing *x, uint32_t slot)
{
    const char *name = slot < x->code->n_slots ? x->code->slot_names[slot] : NULL;
    if (slot == KOINE_NONE)
        text_add(x->to, "none");
    else if (name)
        text_format(x->to, "%s", name);
    else
        text_format(x->to, "m%u", slot);
}

static void put_slots(const Printing *x, const char *word, uint32_t n, const uint32_t *slots)
{
    text_add(x->to, word);
    for (uint32_t k = 0; k < n; k++) {
        text_add(x->to, k ? ", " : " ");
        put_slot(x, slots[k]);
    }
}

/* " word name", or nothing where there is none. */
static void put_where(const Printing *x, const char *word, uint32_t slot)
{
    if (slot != KOINE_NONE)
        put_slots(x, word, 1, &slot);
}

static void put_number(const Printing *x, const char *word, uint32_t number)
{
    if (number != KOINE_NONE)
        text_format(x->to, "%s %u", word, number);
}

static void put_count(const Printing *x, uint32_t n)
{
    if (n > 1)
        text_format(x->to, ", %u elements", n);
}

static void put_kernel(const Printing *x, uint32_t kernel, uint32_t row)
{
    const Kernel *k = &x->code->kernels[kernel];
    text_format(x->to, " k%u(", kernel);
    for (uint32_t j = 0; j < k->n_leaves; j++) {
        text_add(x->to, j ? ", " : "");
        put_slot(x, x->code->rows[row + k->n_outputs + j]);
    }
    text_char(x->to, ')');
}

/* ---- slots ---- */
/* Slots beside variables have no type: what is no small number is Real. */
static void put_value(const Printing *x, KoineSlot value)
{
    enum { SMALL = 1 << 20 };
    if (value.i == KOINE_NOT_GIVEN)
        text_add(x->to, "not given");
    else if (value.i > -SMALL && value.i < SMALL)
        text_integer(x->to, value.i);
    else
        text_real(x->to, value.r);
}

static void print_slots(const Printing *x)
{
    const KoineProgram *p = x->p;
    text_format(x->to, "\nslots %u\n", p->slots.n);
    text_format(x->to, "  states %u from %u, derivatives from %u", p->slots.n_x, p->slots.x, p->slots.dx);
    put_number(x, ", seeds of states from", p->slots.seed_x);
    put_number(x, ", of derivatives from", p->slots.seed_dx);
    put_where(x, ", random seed", p->slots.seed);
    put_where(x, ", homotopy", p->slots.homotopy);
    put_number(x, ", failed calls noted in", p->slots.calls);
    text_char(x->to, '\n');
    for (uint32_t k = 0; k < p->slots.n; k++)
        if (x->code->slot_names[k])
            text_format(x->to, "  m%u %s\n", k, x->code->slot_names[k]);
    for (uint32_t k = 0; k < p->slots.n_constants; k++) {
        const KoineConstant *c = &p->slots.constants[k];
        text_add(x->to, "  begin ");
        put_slot(x, c->slot);
        text_format(x->to, c->n > 1 ? " and %u more = " : " = ", c->n - 1);
        put_value(x, c->value);
        text_char(x->to, '\n');
    }
}

/* ---- kernels ---- */
static void print_kernels(const Printing *x)
{
    text_format(x->to, "\nkernels %u\n", x->code->n_kernels);
    for (uint32_t k = 0; k < x->code->n_kernels; k++) {
        const Kernel *kernel = &x->code->kernels[k];
        text_format(x->to, "  k%u", k);
        for (uint32_t j = 0; j < kernel->n_outputs; j++)
            text_format(x->to, "%s%s", j ? "; " : " ", expr_text(x->model, kernel->outputs[j], NULL, x->to->arena));
        for (uint32_t j = 0; kernel->strides && j < kernel->width; j++)
            text_format(x->to, "%s%d", j ? ", " : ", strides ", (int)kernel->strides[j]);
        text_format(x->to, "%s%s\n", kernel->is_shared ? ", a function" : "", kernel->has_calls ? ", calls" : "");
        if (kernel->comment)
            text_format(x->to, "    %s\n", kernel->comment);
    }
}

static void print_sections(const Printing *x)
{
    text_format(x->to, "\nsections %u\n", x->code->n_sections);
    for (uint32_t k = 0; k < x->code->n_sections; k++) {
        const Section *s = &x->code->sections[k];
        text_format(x->to, "  %s\n", s->name);
        for (uint32_t j = 0; j < s->n_runs; j++) {
            const Run *run = &x->code->runs[s->first_run + j];
            put_slots(x, "   ", x->code->kernels[run->kernel].n_outputs, x->code->rows + run->row);
            text_add(x->to, " :=");
            put_kernel(x, run->kernel, run->row);
            put_count(x, run->n);
            text_format(x->to, "%s%s\n", run->comment ? " at " : "", run->comment ? run->comment : "");
        }
    }
}

/* ---- parts and systems ---- */
static void print_part(const Printing *x, const char *name, const KoinePart *part)
{
    text_format(x->to, "  %s:", name);
    for (uint32_t k = 0; k < part->n; k++) {
        const KoinePartStep *step = &part->steps[k];
        if (step->section != KOINE_NONE)
            text_format(x->to, " %s", x->code->sections[step->section].name);
        else
            text_format(x->to, " system %u", step->system);
    }
    text_add(x->to, part->n ? "\n" : " nothing\n");
}

static void print_parts(const Printing *x)
{
    const KoineProgram *p = x->p;
    text_add(x->to, "\nparts\n");
    print_part(x, "parameters", &p->parts.parameters);
    print_part(x, "starts", &p->parts.starts);
    print_part(x, "initial", &p->parts.initial);
    print_part(x, "derivatives", &p->parts.derivatives);
    print_part(x, "roots", &p->parts.roots);
    print_part(x, "outputs", &p->parts.outputs);
    print_part(x, "slopes", &p->parts.slopes);
    print_part(x, "tangents", &p->parts.tangents);
    if (p->parts.whole.section != KOINE_NONE)
        text_format(x->to, "  whole Jacobian: %s\n", x->code->sections[p->parts.whole.section].name);
}

static void put_section(const Printing *x, const char *word, uint32_t section)
{
    if (section != KOINE_NONE)
        text_format(x->to, ", %s %s", word, x->code->sections[section].name);
}

static void print_systems(const Printing *x)
{
    static const char *const kinds[] = { [KOINE_SYSTEM_LINEAR] = "linear",
                                         [KOINE_SYSTEM_NEWTON] = "Newton",
                                         [KOINE_SYSTEM_ITERATE] = "iterated",
                                         [KOINE_SYSTEM_FOREIGN] = "foreign" };
    text_format(x->to, "\nsystems %u, of the run %u\n", x->p->systems.n, x->p->systems.n_run);
    for (uint32_t k = 0; k < x->p->systems.n; k++) {
        const KoineSystem *s = &x->p->systems.at[k];
        text_format(x->to, "  system %u %s", k, kinds[s->kind]);
        put_slots(x, ", solved for", s->n, s->unknowns);
        if (s->n_inner)
            put_slots(x, ", explicit", s->n_inner, s->unknowns + s->n);
        put_section(x, "prepared by", s->prepared_section);
        if (s->kind == KOINE_SYSTEM_FOREIGN) {
            text_add(x->to, "\n");
            continue;
        }
        put_section(x, "residuals by", s->residual_section);
        put_section(x, "Jacobian by", s->jacobian.section);
        put_section(x, "tangents by", s->tangent.section);
        put_section(x, "exact values by", s->exact_section);
        text_format(x->to, ", %u entries\n", s->jacobian.n_entries);
    }
}

/* ---- events ---- */
static void print_nodes(const Printing *x)
{
    const KoineProgram *p = x->p;
    text_format(x->to, "\nnodes %u, cells %u\n", p->events.graph.n_nodes, p->events.graph.n_cells);
    for (uint32_t k = 0; k < p->events.graph.n_nodes; k++) {
        const KoineNode *node = &p->events.graph.nodes[k];
        text_format(x->to, "  node %u ", k);
        switch ((KoineNodeKind)node->kind) {
        case KOINE_NODE_GUARD:
        case KOINE_NODE_ASSIGN:
        case KOINE_NODE_CALL:
            put_slot(x, node->output);
            text_add(x->to, " :=");
            put_kernel(x, node->kernel, node->row);
            put_count(x, node->n);
            if (node->kind == KOINE_NODE_GUARD)
                text_format(x->to, ", enables transition %u", node->object);
            break;
        case KOINE_NODE_SYSTEM: text_format(x->to, "system %u", node->object); break;
        case KOINE_NODE_RELATION: text_format(x->to, "relation %u", node->object); break;
        case KOINE_NODE_STEP: text_format(x->to, "step function %u", node->object); break;
        case KOINE_NODE_TRANSITION: text_format(x->to, "transition %u", node->object); break;
        }
        for (uint32_t j = node->cell == KOINE_NONE ? 0 : p->events.graph.readers_start[node->cell],
                      end = node->cell == KOINE_NONE ? 0 : p->events.graph.readers_start[node->cell + 1], first = j;
             j < end; j++)
            text_format(x->to, "%s%u", j == first ? ", wakes " : ", ", p->events.graph.readers[j]);
        text_char(x->to, '\n');
    }
    for (uint32_t k = 0; k < p->events.graph.n_moving; k++)
        text_format(x->to, "%s%u%s", k ? ", " : "  moving: ", p->events.graph.moving[k],
                    k + 1 < p->events.graph.n_moving ? "" : "\n");
}

static void put_decision(const Printing *x, const KoineDecision *d)
{
    text_add(x->to, ", by");
    put_kernel(x, d->kernel, d->row);
    put_number(x, ", root function", d->root);
    put_number(x, ", entry of the calendar", d->calendar);
    put_number(x, ", function of the time", d->timed);
    put_where(x, ", selected by", d->selector);
    text_format(x->to, ", node %u", d->node);
}

static void print_decisions(const Printing *x)
{
    const KoineProgram *p = x->p;
    text_format(x->to, "\nrelations %u\n", p->events.decisions.n_relations);
    for (uint32_t k = 0; k < p->events.decisions.n_relations; k++) {
        const KoineRelation *r = &p->events.decisions.relations[k];
        text_format(x->to, "  relation %u", k);
        put_slots(x, " decides", 1, &r->bit);
        text_format(x->to, ", %s",
                    r->decision.is_time ? "affine in the time"
                    : r->is_strict      ? "left > right"
                                        : "left >= right");
        put_decision(x, &r->decision);
        text_format(x->to, "%s%s\n", r->decision.is_guarded ? ", may have no value" : "",
                    r->may_be_quiet ? ", may be quiet" : "");
    }
    text_format(x->to, "\nstep functions %u\n", p->events.decisions.n_steps);
    for (uint32_t k = 0; k < p->events.decisions.n_steps; k++) {
        const KoineStep *s = &p->events.decisions.steps[k];
        text_format(x->to, "  step function %u", k);
        put_slots(x, " decides", 1, &s->value);
        put_decision(x, &s->decision);
        text_add(x->to, "\n");
    }
    text_format(x->to, "\nfunctions of the time %u, codes %u, sources %u\n", p->events.timed.n_functions,
                p->events.timed.n_codes, p->events.timed.n_sources);
    for (uint32_t k = 0; k < p->events.decisions.n_mixed; k++)
        text_format(x->to, "  decided together: nodes %u to %u\n", p->events.decisions.mixed[k].first_node,
                    p->events.decisions.mixed[k].first_node + p->events.decisions.mixed[k].n_nodes - 1);
}

static void print_transition(const Printing *x, uint32_t number)
{
    static const char *const triggers[] = { [KOINE_TRIGGER_LEVEL] = "while",
                                            [KOINE_TRIGGER_EDGE] = "when one becomes true of",
                                            [KOINE_TRIGGER_INITIAL] = "at the start",
                                            [KOINE_TRIGGER_STEP] = "after steps, while" };
    static const char *const kinds[] = { [KOINE_ACTION_DISPLAY] = "displays",
                                         [KOINE_ACTION_TERMINATE] = "ends the run with",
                                         [KOINE_ACTION_WARNING] = "warns with",
                                         [KOINE_ACTION_FAIL] = "fails with" };
    const KoineTransition *t = &x->p->events.firings.transitions[number];
    text_format(x->to, "  transition %u ", number);
    put_slots(x, triggers[t->trigger], t->n_conditions, t->conditions);
    text_char(x->to, '\n');
    for (uint32_t k = 0; k < t->n_shared; k++) {
        text_add(x->to, "    first");
        put_kernel(x, t->shared[k].kernel, t->shared[k].row);
        text_char(x->to, '\n');
    }
    for (uint32_t k = t->first_next; k < t->first_next + t->n_next; k++) {
        const KoineNext *next = &x->p->events.firings.nexts[k];
        put_slots(x, "    next", 1, &next->target);
        text_add(x->to, " :=");
        if (next->kernel == KOINE_NONE)
            put_where(x, "", next->buffer);
        else
            put_kernel(x, next->kernel, next->row);
        put_where(x, ", if", next->guard);
        text_format(x->to, "%s%s\n", next->is_state ? ", a state" : "", next->feeds_dynamics ? ", restarts" : "");
    }
    for (uint32_t k = t->first_action; k < t->first_action + t->n_actions; k++) {
        const KoineAction *action = &x->p->events.firings.actions[k];
        text_format(x->to, "    %s", kinds[action->kind]);
        put_kernel(x, action->kernel, action->row);
        text_char(x->to, '\n');
    }
}

static void print_events(const Printing *x)
{
    const KoineProgram *p = x->p;
    print_nodes(x);
    print_decisions(x);
    text_format(x->to, "\ntransitions %u\n", p->events.firings.n_transitions);
    for (uint32_t k = 0; k < p->events.firings.n_transitions; k++)
        print_transition(x, k);
    for (uint32_t k = 0; k < p->systems.n_sets; k++)
        text_format(x->to, "\nstate set %u: %u rows, %u columns, by %s\n", k, p->systems.sets[k].n_rows,
                    p->systems.sets[k].n_columns, x->code->sections[p->systems.sets[k].section].name);
    for (uint32_t k = 0; k < p->systems.jumps.n; k++) {
        text_format(x->to, "\njump %u of %s, by", k, p->systems.jumps.at[k].name);
        put_kernel(x, p->systems.jumps.at[k].kernel, p->systems.jumps.at[k].row);
        text_char(x->to, '\n');
    }
    for (uint32_t k = 0; k < p->events.delays.n; k++)
        text_format(x->to, "\ndelay %u: %s\n", k, p->events.delays.at[k].name);
    for (uint32_t k = 0; k < p->slots.n_streams; k++)
        text_format(x->to, "\nstream %u: %s\n", k, p->slots.streams[k].name);
}

void program_print(const Program *program, const Model *model, Text *to)
{
    const Printing x = { program_data(program), program_code(program), model, to };
    text_format(to, "program %s\n", x.code->model_name);
    print_slots(&x);
    print_kernels(&x);
    print_sections(&x);
    print_parts(&x);
    print_systems(&x);
    print_events(&x);
}
