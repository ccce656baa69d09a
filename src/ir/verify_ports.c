/* Connections and ports: V12; see verify_checks.h. */
#include "ir/verify_checks.h"

static const Variable *var_of(const Verifier *v, uint32_t index)
{
    return &v->model->variables.at[index];
}

static void mismatch(Verifier *v, const Connection *c, const char *what)
{
    REPORT(v, DIAG_MODEL_CONNECTION_MISMATCH, c->span, "what is connected differs in %s", what);
    diag_help(v->diag, "connect variables of one type and size, ports of one connector");
}

/* Behind the dimensions of an array of ports. */
static bool same_extents(const Model *model, const Variable *a, uint32_t rank_a, const Variable *b, uint32_t rank_b)
{
    for (uint32_t k = 0; k + rank_a < a->type.rank; k++) {
        const int64_t x = model->dims.at[a->first_dim + rank_a + k].extent;
        const int64_t y = model->dims.at[b->first_dim + rank_b + k].extent;
        if (x >= 0 && y >= 0 && x != y)
            return false;
    }
    return true;
}

static void verify_pair(Verifier *v, const Connection *c, VarId a, uint32_t rank_a, VarId b, uint32_t rank_b)
{
    const Variable *x = var_of(v, a.index), *y = var_of(v, b.index);
    Type of_x = x->type, of_y = y->type;
    of_x.rank -= (uint8_t)rank_a;
    of_y.rank -= (uint8_t)rank_b;
    if (!type_equal(of_x, of_y))
        mismatch(v, c, "type");
    else if (!same_extents(v->model, x, rank_a, y, rank_b))
        mismatch(v, c, "size");
    else
        return;
    diag_note(v->diag, x->span, "%s is declared here", verify_variable_text(v, a));
    diag_note(v->diag, y->span, "%s is declared here", verify_variable_text(v, b));
}

static bool roles_fit(uint8_t a, uint8_t b)
{
    return a == b || (a == ROLE_IN && b == ROLE_OUT) || (a == ROLE_OUT && b == ROLE_IN);
}

static void verify_joined(Verifier *v, const Connection *c, uint32_t port_a, uint32_t port_b, uint32_t depth)
{
    const Model *model = v->model;
    const Port *a = &model->ports.at[port_a], *b = &model->ports.at[port_b];
    if (a->n_members != b->n_members) {
        mismatch(v, c, "the number of members");
        return;
    }
    if (a->equality != b->equality)
        mismatch(v, c, "the function that says when they are equal");
    for (uint32_t k = 0; k < a->n_members; k++) {
        const PortMember *x = &model->members.at[a->first_member + k], *y = &model->members.at[b->first_member + k];
        if (!roles_fit(x->role, y->role)) {
            mismatch(v, c, "the roles of members");
            return;
        }
        if (x->port && y->port && depth < model->ports.n)
            verify_joined(v, c, x->port - 1, y->port - 1, depth + 1);
        else if (!var_is_none(x->var) && !var_is_none(y->var))
            verify_pair(v, c, x->var, a->rank, y->var, b->rank);
    }
}

void verify_connections(Verifier *v)
{
    const Model *model = v->model;
    Map sinks;
    map_init(&sinks, v->arena, model->connections.n);
    for (uint32_t k = 0; k < model->connections.n; k++) {
        const Connection *c = &model->connections.at[k];
        uint32_t earlier;
        if (c->is_acausal) {
            verify_joined(v, c, c->port_a, c->port_b, 0);
            continue;
        }
        verify_pair(v, c, c->from, 0, c->to, 0);
        if (!map_get(&sinks, c->to.index, &earlier)) {
            map_put(&sinks, c->to.index, k);
            continue;
        }
        REPORT(v, DIAG_MODEL_INPUT_CONNECTED_TWICE, c->span, "%s has two sources", verify_variable_text(v, c->to));
        diag_note(v->diag, model->connections.at[earlier].span, "the other connection is here");
        diag_help(v->diag, "an input takes its value from one place: remove a connection");
    }
}

/* ---- ports ---- */
static void refuse_port(Verifier *v, DiagCode code, const Port *port, const char *what, const char *help)
{
    REPORT(v, code, port->span, "port '%s' %s", names_of(pool_names(v->model->pool), port->name), what);
    diag_help(v->diag, "%s", help);
}

/* A port in itself has no end. */
static bool has_end(const Model *model, const Port *port, uint32_t depth)
{
    bool has = depth <= model->ports.n;
    for (uint32_t k = 0; k < port->n_members && has; k++) {
        const uint32_t inner = model->members.at[port->first_member + k].port;
        has = !inner || has_end(model, &model->ports.at[inner - 1], depth + 1);
    }
    return has;
}

static void verify_streams(Verifier *v, const Port *port)
{
    uint32_t n_flows = 0, n_streams = 0;
    bool fits = true;
    for (uint32_t k = 0; k < port->n_members; k++) {
        const PortMember *member = &v->model->members.at[port->first_member + k];
        n_flows += member->role == ROLE_FLOW;
        n_streams += member->role == ROLE_STREAM;
        if (member->role == ROLE_FLOW || member->role == ROLE_STREAM)
            fits = fits && !var_is_none(member->var);
        if (fits && member->role == ROLE_FLOW)
            fits = var_of(v, member->var.index)->type.rank == port->rank;
        if (fits && member->role == ROLE_STREAM)
            fits = var_of(v, member->var.index)->type.kind == TYPE_REAL;
    }
    if (n_streams && (n_flows != 1 || !fits))
        refuse_port(v, DIAG_STREAM, port,
                    n_flows == 1 ? "has a stream or a flow of another kind" : "has streams, but not one flow",
                    "what streams carry is carried by one scalar flow of the same port; streams are Real");
}

static bool is_equality(Verifier *v, const Port *port)
{
    const Function *f = port->equality;
    const Variable *fields = f->body->variables.at;
    if (f->n_inputs != 2 * port->n_members || f->n_outputs != 1 || port->rank)
        return false;
    const Type result = fields[f->n_inputs].type;
    if (result.kind != TYPE_REAL || result.rank > 1 ||
        (result.rank && f->body->dims.at[fields[f->n_inputs].first_dim].term.shape->kind != EXPR_INTEGER))
        return false;
    for (uint32_t k = 0; k < 2 * port->n_members; k++) {
        const PortMember *member = &v->model->members.at[port->first_member + k % port->n_members];
        if (member->role != ROLE_POTENTIAL || var_is_none(member->var) ||
            !type_equal(var_of(v, member->var.index)->type, fields[k].type))
            return false;
    }
    return true;
}

static void verify_members(Verifier *v, const Port *port)
{
    for (uint32_t k = 0; k < port->n_members; k++) {
        const PortMember *member = &v->model->members.at[port->first_member + k];
        if ((member->role == ROLE_PORT) != (member->port != 0) || (member->port && !var_is_none(member->var)))
            verify_broken(v, port->span, "a member of a port is a port and has another role");
        if (member->port) {
            const Port *inner = &v->model->ports.at[member->port - 1];
            if (inner->owner.index != port->owner.index || inner->rank != port->rank)
                refuse_port(v, DIAG_PORT_SIZES, port, "contains a port of another object or size",
                            "a port in a port belongs to the same object and has as many dimensions");
        } else if (!var_is_none(member->var)) {
            const Variable *var = var_of(v, member->var.index);
            if (var->type.rank < port->rank)
                refuse_port(v, DIAG_PORT_SIZES, port, "has more dimensions than one of its members",
                            "each member of an array of ports begins with the dimensions of this");
            if (member->role == ROLE_FLOW && var->type.kind != TYPE_REAL) {
                REPORT(v, DIAG_MODEL_FLOW_NOT_REAL, var->span, "the flow %s is not Real",
                       verify_variable_text(v, member->var));
                diag_help(v->diag, "flows are added up at connections: they must be Real");
            }
        }
    }
}

void verify_ports(Verifier *v)
{
    const Model *model = v->model;
    for (uint32_t k = 0; k < model->ports.n; k++) {
        const Port *port = &model->ports.at[k];
        if (!has_end(model, port, 0)) {
            refuse_port(v, DIAG_PORT_SIZES, port, "contains itself", "leave it out of its own members");
            continue;
        }
        verify_members(v, port);
        verify_streams(v, port);
        if (port->equality && !is_equality(v, port))
            refuse_port(v, DIAG_ROOTS, port, "and its function of equality do not fit each other",
                        "the function takes the members of two such ports, which are potentials, in their order, and "
                        "gives a Real or an array of Reals of fixed size");
    }
    for (uint32_t k = 0; k < model->anchors.n; k++) {
        const Anchor *a = &model->anchors.at[k];
        if (model->ports.at[a->port_a].equality && (a->kind != ANCHOR_BRANCH || model->ports.at[a->port_b].equality))
            continue;
        REPORT(v, DIAG_ROOTS, a->span, "roots and branches are said of ports that are overdetermined");
        diag_help(v->diag, "end the port with `equality f`, or leave this line out");
    }
}
