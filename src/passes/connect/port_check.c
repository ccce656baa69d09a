/* Objects that nothing can flow through; see connect.h. */
#include "graph/sets.h"
#include "passes/connect/connect.h"

static uint32_t flow_of(const Model *m, const Port *port, bool *is_negated)
{
    uint32_t flow = ID_NONE;
    for (uint32_t j = 0; j < port->n_members; j++) {
        const PortMember *member = &m->members.at[port->first_member + j];
        if (member->role != ROLE_FLOW || var_is_none(member->var))
            continue;
        if (flow != ID_NONE)
            return ID_NONE;
        flow = member->var.index;
        *is_negated = member->is_negated;
    }
    return flow;
}

static const char *port_name(const Connecting *k, uint32_t port)
{
    return names_of(pool_names(k->m->pool), k->m->ports.at[port].name);
}

/* Once for each place: objects of one class have their mistake in common. */
static bool is_told(Map *told, Span span)
{
    const uint64_t key = (uint64_t)span.source << 32 | span.begin;
    uint32_t before;
    if (span.source != SOURCE_NONE && map_get(told, key, &before))
        return true;
    map_put(told, key, 1);
    return false;
}

/* What flows into port `a` flows out of port `b`. */
static void check_pair(Connecting *k, uint32_t a, uint32_t b, Map *told)
{
    const Model *m = k->m;
    const Instance *object = &m->instances.at[m->ports.at[a].owner.index];
    const uint32_t x = k->first[a], y = k->first[b];
    const bool is_joined = k->at[x] && k->at[y] && sets_root(k->parent, x) == sets_root(k->parent, y);
    if ((k->at[x] != 0) == (k->at[y] != 0) && !is_joined)
        return;
    const uint32_t open = k->at[x] ? b : a;
    const Span span = is_joined ? m->connections.at[k->at[x] - 1].span : object->span;
    const char *path = instance_path(m, m->ports.at[a].owner, k->c->scratch);
    if (is_told(told, span))
        return;
    if (is_joined) {
        diag_warning(k->c->diag, DIAG_SHORTED, span, "both ends of '%s' are connected to one node", path);
        diag_note(k->c->diag, object->span, "'%s' with the cuts '%s' and '%s'", path, port_name(k, a), port_name(k, b));
        diag_help(k->c->diag, "connect one of them to another node, or leave the object out");
    } else {
        diag_warning(k->c->diag, DIAG_OPEN_END, span, "the cut '%s' of '%s' is not connected: nothing flows through it",
                     port_name(k, open), path);
        diag_note(k->c->diag, m->ports.at[open].span, "the cut is declared here");
        diag_help(k->c->diag, "connect it, or leave the object out");
    }
}

void connect_check(Connecting *k)
{
    const Model *m = k->m;
    Map told;
    map_init(&told, k->c->scratch, 16);
    uint32_t *first = NEW_ARRAY(k->c->scratch, uint32_t, m->variables.n + 1); /* 1 + the port a flow was met at */
    bool *is_out = NEW_ARRAY(k->c->scratch, bool, m->variables.n + 1);
    for (uint32_t p = 0; p < m->ports.n; p++) {
        bool is_negated = false;
        const uint32_t flow = flow_of(m, &m->ports.at[p], &is_negated);
        if (flow == ID_NONE || m->ports.at[p].owner.index == 0 || model_var(m, (VarId){ flow })->type.rank)
            continue;
        if (first[flow] && is_out[flow] != is_negated &&
            m->ports.at[first[flow] - 1].owner.index == m->ports.at[p].owner.index)
            check_pair(k, first[flow] - 1, p, &told);
        first[flow] = p + 1;
        is_out[flow] = is_negated;
    }
}
