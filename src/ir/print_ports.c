/* Ports, connections and what is said of their graph; see print_model.h. */
#include "ir/print_model.h"
#include "ir/words.h"

/* Potentials, then flows: (Va, Vb / i, -j). */
static bool is_physical(const Printer *p, const Port *port, uint32_t *n_potentials)
{
    uint32_t k = 0;
    while (k < port->n_members && p->model->members.at[port->first_member + k].role == ROLE_POTENTIAL)
        k++;
    *n_potentials = k;
    while (k < port->n_members && p->model->members.at[port->first_member + k].role == ROLE_FLOW)
        k++;
    return k == port->n_members && *n_potentials > 0 && *n_potentials < k;
}

static void put_equality(Printer *p, const Function *f)
{
    printer_put_word(p, WORD_EQUALITY);
    printer_put_space(p);
    for (uint32_t k = 0; k < p->model->functions.n; k++)
        if (p->model->functions.at[k] == f)
            printer_put_label(p, LABEL_FUNCTION, k);
}

void printer_put_ports(Printer *p)
{
    for (uint32_t k = 0; k < p->model->ports.n; k++) {
        const Port *port = &p->model->ports.at[k];
        uint32_t n_potentials;
        const bool physical = is_physical(p, port, &n_potentials);
        printer_begin_line(p, WORD_PORT);
        printer_put_space(p);
        printer_put_label(p, LABEL_PORT, k);
        printer_put_space(p);
        printer_put_name(p, port->connector);
        for (uint32_t i = 0; i < port->rank; i++)
            printer_put(p, i ? ", :" : "[:");
        printer_put(p, port->rank ? "] (" : " (");
        for (uint32_t i = 0; i < port->n_members; i++) {
            const PortMember *member = &p->model->members.at[port->first_member + i];
            if (i)
                printer_put(p, physical && i == n_potentials ? " / " : ", ");
            if (!physical) {
                printer_put(p, word_text(role_words.words[member->role]));
                printer_put_space(p);
            }
            if (member->is_negated)
                text_char(p->to, '-');
            if (member->port)
                printer_put_label(p, LABEL_PORT, member->port - 1);
            else if (var_is_none(member->var))
                text_char(p->to, '.');
            else
                printer_put_variable(p, member->var);
        }
        text_char(p->to, ')');
        if (port->equality)
            put_equality(p, port->equality);
        printer_end_line(p, port->span);
    }
}

static void put_index(Printer *p, PortIndex index)
{
    for (uint32_t k = 0; k < index.n; k++) {
        printer_put(p, k ? ", " : "[");
        printer_put_term(p, p->model->conditions.at[index.first + k], BINDS_IF);
    }
    if (index.n)
        text_char(p->to, ']');
}

static void put_connections(Printer *p)
{
    Map ports;
    map_init(&ports, p->arena, p->model->ports.n);
    for (uint32_t k = 0; k < p->model->ports.n; k++) {
        const Port *port = &p->model->ports.at[k];
        map_put(&ports, (uint64_t)port->owner.index << 32 | port->name.index, k);
    }
    for (uint32_t k = 0; k < p->model->connections.n; k++) {
        const Connection *c = &p->model->connections.at[k];
        printer_begin_line(p, WORD_CONNECT);
        if (c->is_acausal) {
            printer_put_space(p);
            printer_put_domain(p, c->domain);
            printer_put_label(p, LABEL_PORT, c->port_a);
            put_index(p, c->index_a);
            printer_put_space(p);
            printer_put_label(p, LABEL_PORT, c->port_b);
            put_index(p, c->index_b);
            printer_leave_domain(p, c->domain);
            if (c->is_inside)
                printer_put_word(p, WORD_INSIDE);
        } else {
            const Variable *from = model_var(p->model, c->from), *to = model_var(p->model, c->to);
            uint32_t ignored;
            if (map_get(&ports, (uint64_t)from->owner.index << 32 | from->name.index, &ignored) &&
                map_get(&ports, (uint64_t)to->owner.index << 32 | to->name.index, &ignored))
                printer_put_word(p, WORD_CAUSAL); /* both could be ports */
            printer_put_space(p);
            printer_put_variable(p, c->from);
            printer_put_space(p);
            printer_put_variable(p, c->to);
            if (c->is_converting)
                printer_put_word(p, WORD_CONVERTING);
        }
        printer_end_line(p, c->span);
    }
}

static void put_anchors(Printer *p)
{
    for (uint32_t k = 0; k < p->model->anchors.n; k++) {
        const Anchor *a = &p->model->anchors.at[k];
        printer_begin_line(p, WORD_ANCHOR);
        printer_put_word(p, anchor_words.words[a->kind]);
        printer_put_space(p);
        printer_put_label(p, LABEL_PORT, a->port_a);
        if (a->kind == ANCHOR_POTENTIAL)
            text_format(p->to, " %lld", (long long)a->priority);
        if (a->kind == ANCHOR_BRANCH) {
            printer_put_space(p);
            printer_put_label(p, LABEL_PORT, a->port_b);
        }
        printer_end_line(p, a->span);
    }
}

void printer_put_connections(Printer *p)
{
    put_connections(p);
    put_anchors(p);
}
