/* Derivatives by inputs and of outputs: tangents as those of the states, but along all that may be given from outside,
 * and on to the outputs. They are a part of their own, so that directions in the states alone cost what they did. */
#include "emit/program/parts.h"

static const VarId *holder_of(const Model *m, const VarId *var)
{
    const VarId *alias = &model_var(m, *var)->alias;
    return var_is_none(*alias) ? var : alias;
}

/* Parameters that follow from others: one value, or one an element. */
static void add_binding(Systems *ss, Entries *list, VarId var)
{
    Model *m = ss->ks->model;
    const Variable *v = model_var(m, var);
    for (uint32_t k = 0; k < variable_count(m, var); k++) {
        const bool is_array = v->binding.shape->kind == EXPR_ARRAY;
        const Term value =
            is_array ? term_make(m, expr_array_element(v->binding.shape, k), term_refs(m, v->binding)) : v->binding;
        const Term tangent = tangent_of(&ss->tangents, value, NULL);
        const uint32_t slot = ss->ks->slots->seed[var.index] + k;
        add_entry(ss->ks, list, lay_terms(ss->ks, 1, &tangent, &slot), KOINE_NONE, v->span);
    }
}

static void add_block(Systems *ss, const Blocks *blocks, Entries *list, uint32_t index)
{
    const uint32_t system = blocks->system_of[index], first = ss->ks->pieces.n;
    if (system == KOINE_NONE) {
        lay_tangent(ss, index);
        add_pieces(ss->ks, list, first, ss->ks->pieces.n, index, span_of_block(ss, &ss->schedule->blocks.at[index]));
        return;
    }
    for (uint32_t j = 0; j < ss->port_entries.at[system].n; j++) {
        Entry entry = ss->port_entries.at[system].at[j];
        entry.within = system;
        push_entry(ss->ks, list, entry);
    }
    push_system(ss, list, system, true);
}

/* What is computed once for all directions reads no tangent, whoever computes that. */
static void share(Systems *ss, const Entries *list, Shared after, uint32_t repeats, Entries *out, Entries *base)
{
    const Slots *slots = ss->ks->slots;
    const ShareRequest request = {
        .after = after, .repeats = repeats, .range = slots->ports.seeds.first, .n_range = slots->ports.seeds.n
    };
    if (list->n)
        share_entries(ss->share, &request, list, out, base);
}

static const KoinePortSlot *input_slots(const Systems *ss)
{
    const Ports *ports = &ss->schedule->ports;
    KoinePortSlot *rows = NEW_ARRAY(ss->ks->arena, KoinePortSlot, ports->inputs.n + 1);
    for (uint32_t k = 0; k < ports->inputs.n; k++)
        rows[k] = (KoinePortSlot){ ss->ks->slots->ports.input[k],
                                   model_var(ss->ks->model, ports->inputs.at[k].var)->is_negated };
    return rows;
}

static const KoinePortSlot *output_slots(const Systems *ss)
{
    const Ports *ports = &ss->schedule->ports;
    const Model *m = ss->ks->model;
    KoinePortSlot *rows = NEW_ARRAY(ss->ks->arena, KoinePortSlot, ports->outputs.n + 1);
    for (uint32_t k = 0; k < ports->outputs.n; k++) {
        const PortScalar port = ports->outputs.at[k];
        const bool is_number = model_var(m, port.var)->type.kind == TYPE_REAL;
        const uint32_t seed = is_number ? ss->ks->slots->seed[holder_of(m, &port.var)->index] : KOINE_NONE;
        rows[k] = (KoinePortSlot){ seed == KOINE_NONE ? KOINE_NONE : seed + port.element,
                                   model_var(m, port.var)->is_negated };
    }
    return rows;
}

KoinePorts lay_ports(Systems *ss, const Blocks *blocks, Shared derivatives, Shared outputs)
{
    const Schedule *s = ss->schedule;
    const Ports *ports = &s->ports;
    if (!ports->is_there)
        return (KoinePorts){ 0 };
    Entries along = { 0 }, further = { 0 }, tangents = { 0 }, slopes = { 0 }, out_tangents = { 0 }, out_slopes = { 0 };
    ss->tangents.has_all = true;
    for (uint32_t k = 0; k < ports->bindings.n; k++)
        add_binding(ss, &along, ports->bindings.at[k]);
    for (uint32_t k = 0; k < ports->chain.n; k++)
        add_block(ss, blocks, &along, ports->chain.at[k]);
    for (uint32_t k = 0; k < s->parts[PART_DERIVATIVES].n; k++)
        add_block(ss, blocks, &along, s->parts[PART_DERIVATIVES].at[k]);
    for (uint32_t k = 0; k < ports->blocks.n; k++)
        add_block(ss, blocks, &further, ports->blocks.at[k]);
    ss->tangents.has_all = false;
    share_survey(ss->share, 2, (const Entries *const[]){ &along, &further });
    share(ss, &along, derivatives, ports->by_input.n_colours + ports->out_state.n_colours, &tangents, &slopes);
    share(ss, &further, outputs, ports->out_state.n_colours + ports->out_input.n_colours, &out_tangents, &out_slopes);
    return (KoinePorts){ .n_inputs = ports->inputs.n,
                         .n_outputs = ports->outputs.n,
                         .inputs = input_slots(ss),
                         .outputs = output_slots(ss),
                         .slopes = lay_part(ss->ks, NULL, "port_slopes", &slopes),
                         .tangents = lay_part(ss->ks, NULL, "port_tangents", &tangents),
                         .output_slopes = lay_part(ss->ks, NULL, "output_slopes", &out_slopes),
                         .output_tangents = lay_part(ss->ks, NULL, "output_tangents", &out_tangents) };
}
