/* Ports, connections and what is said of their graph; see read_reader.h. */
#include "ir/read_reader.h"

static bool check_connector(Reader *r, Span span, const Port *port)
{
    uint32_t index;
    if (!map_get(&r->head.connectors.names, port->connector.index, &index))
        return true;
    const Connector *connector = &r->head.connectors.all.at[index];
    bool is_good = connector->n == port->n_members;
    for (uint32_t k = 0; is_good && k < port->n_members; k++) {
        const ConnectorMember *wanted = &r->head.connectors.members.at[connector->first + k];
        const PortMember *member = &r->model->members.at[port->first_member + k];
        if (var_is_none(member->var)) {
            is_good = wanted->role == member->role;
            continue;
        }
        const Type type = model_var(r->model, member->var)->type;
        is_good = wanted->role == member->role && wanted->type.kind == type.kind &&
                  wanted->type.enumeration == type.enumeration;
    }
    if (is_good)
        return true;
    reader_report(r, DIAG_IR_CONNECTOR, span, "the port does not have the members of connector %s",
                  names_of(r->names, port->connector));
    HELP(r, "members have the roles and types of the connector, in its order");
    return false;
}

static bool parse_member(Reader *r, PortMember *member)
{
    if (member->role == ROLE_PORT)
        return reader_parse_label(r, LABEL_PORT, &member->port) && ++member->port;
    member->is_negated = reader_accept(r, TOKEN_MINUS);
    const bool has_dot = reader_accept(r, TOKEN_DOT);
    return (has_dot && r->token.kind != TOKEN_NAME) || reader_parse_variable_name(r, &member->var);
}

/* (Va / -i): potentials before the stroke, flows behind it; or a role before each name. */
static bool parse_members(Reader *r, Port *port)
{
    uint8_t role = ROLE_POTENTIAL;
    port->first_member = r->model->members.n;
    if (!reader_expect(r, TOKEN_OPEN, "'(' before the members") || reader_accept(r, TOKEN_CLOSE))
        return !r->mistakes.failed || r->token.kind != TOKEN_BAD;
    for (;;) {
        PortMember member = { .var = VAR_NONE, .role = role };
        if (r->token.kind == TOKEN_NAME && reader_list_has(&role_words, r->token.word) &&
            !reader_choose(r, &role_words, "a role", &member.role))
            return false;
        if (!parse_member(r, &member))
            return false;
        vec_push(r->arena, &r->model->members, member);
        port->n_members++;
        if (reader_accept(r, TOKEN_CLOSE))
            return true;
        if (reader_accept(r, TOKEN_SLASH))
            role = ROLE_FLOW;
        else if (!reader_expect(r, TOKEN_COMMA, "',', '/' or ')' after a member"))
            return false;
    }
}

/* [:, :] behind the connector: an array of ports. */
static bool parse_rank(Reader *r, Port *port)
{
    if (!reader_accept(r, TOKEN_OPEN_INDEX))
        return true;
    do {
        port->rank++;
        if (!reader_expect(r, TOKEN_COLON, "':', one for each dimension of the array of ports"))
            return false;
    } while (reader_accept(r, TOKEN_COMMA));
    return reader_expect(r, TOKEN_CLOSE_INDEX, "',' or ']'");
}

static bool parse_equality(Reader *r, Port *port)
{
    uint32_t function;
    if (!reader_accept_word(r, WORD_EQUALITY))
        return true;
    if (!reader_parse_label(r, LABEL_FUNCTION, &function))
        return false;
    port->equality = r->top->model->functions.at[function];
    return true;
}

bool reader_parse_port(Reader *r, uint32_t begin)
{
    Port port = { .n_members = 0 };
    Label label;
    if (!reader_parse_new_label(r, &label) || !reader_parse_name(r, &port.connector) || !parse_rank(r, &port))
        return false;
    const Span members = reader_token_span(r);
    if (!parse_members(r, &port) || !parse_equality(r, &port) || !reader_parse_element_end(r, begin, &port.span) ||
        !check_connector(r, members, &port))
        return false;
    port.owner = label.owner;
    port.name = reader_stored_name(r, LABEL_PORT, label.name);
    vec_push(r->arena, &r->model->ports, port);
    return true;
}

/* A port or a variable. */
static bool parse_end_point(Reader *r, bool is_causal, uint32_t *port, VarId *var)
{
    const uint32_t begin = r->token.begin;
    *port = ID_NONE;
    *var = VAR_NONE;
    reader_accept(r, TOKEN_DOT);
    if (!reader_parse_path(r) || !reader_path_to_element(r))
        return false;
    uint32_t owner = 0;
    bool is_found = r->name.path.at[r->name.path.n - 1].index != ID_NONE;
    for (uint32_t k = 0; is_found && k + 1 < r->name.path.n; k++)
        is_found = r->name.path.at[k].index != ID_NONE &&
                   map_get(&r->scope->instances, key_of(owner, r->name.path.at[k]), &owner);
    if (is_found && !is_causal &&
        !map_get(&r->scope->labels[LABEL_PORT], key_of(owner, r->name.path.at[r->name.path.n - 1]), port))
        *port = ID_NONE;
    const bool is_variable = reader_find_variable(r, var);
    return is_variable || *port != ID_NONE || reader_unknown_name(r, begin, "port or variable");
}

/* [i, 2] behind an array of ports. */
static bool parse_index(Reader *r, uint32_t port, PortIndex *index)
{
    Term terms[UINT8_MAX];
    uint32_t n = 0;
    if (port == ID_NONE || !reader_accept(r, TOKEN_OPEN_INDEX))
        return true;
    do {
        if (n == UINT8_MAX || !reader_parse_term(r, INTEGER_TYPE, &terms[n++]))
            return false;
    } while (reader_accept(r, TOKEN_COMMA));
    *index = (PortIndex){ model_add_terms(r->model, n, terms), n };
    return reader_expect(r, TOKEN_CLOSE_INDEX, "',' or ']' after an index");
}

static bool parse_connected(Reader *r, Connection *c, VarId *from, VarId *to)
{
    const bool is_causal = reader_accept_word(r, WORD_CAUSAL);
    if (reader_accept_word(r, WORD_FOR) &&
        (!reader_parse_domain(r, &c->domain) || !reader_expect(r, TOKEN_COLON, "':' after the ranges")))
        return false;
    return parse_end_point(r, is_causal, &c->port_a, from) && parse_index(r, c->port_a, &c->index_a) &&
           parse_end_point(r, is_causal, &c->port_b, to) && parse_index(r, c->port_b, &c->index_b);
}

bool reader_parse_connect(Reader *r, uint32_t begin)
{
    VarId from, to;
    Connection connection = { .from = VAR_NONE, .to = VAR_NONE };
    Span span;
    const uint32_t n_loops = r->term.loops.n;
    const bool is_good = parse_connected(r, &connection, &from, &to);
    reader_leave_loops(r, n_loops);
    if (!is_good)
        return false;
    const bool is_converting = reader_accept_word(r, WORD_CONVERTING);
    connection.is_inside = reader_accept_word(r, WORD_INSIDE);
    if (!reader_parse_element_end(r, begin, &span))
        return false;
    if (connection.port_a != ID_NONE && connection.port_b != ID_NONE) {
        connection.is_acausal = true;
        connection.span = span;
        vec_push(r->arena, &r->model->connections, connection);
        return true;
    }
    if (var_is_none(from) || var_is_none(to)) {
        reader_report(r, DIAG_IR_CONNECTOR, reader_span_from(r, begin), "a port cannot be connected to a variable");
        HELP(r, "connect a port to a port, or a variable to a variable");
        return false;
    }
    model_connect(r->model, from, to, span);
    r->model->connections.at[r->model->connections.n - 1].is_converting = is_converting;
    return true;
}

/* anchor root a.R ; anchor potential a.R 3 ; anchor branch a.R b.R */
bool reader_parse_anchor(Reader *r, uint32_t begin)
{
    Anchor anchor = { .port_b = ID_NONE };
    if (!reader_choose(r, &anchor_words, "root, potential or branch", &anchor.kind) ||
        !reader_parse_label(r, LABEL_PORT, &anchor.port_a) ||
        (anchor.kind == ANCHOR_BRANCH && !reader_parse_label(r, LABEL_PORT, &anchor.port_b)))
        return false;
    if (anchor.kind == ANCHOR_POTENTIAL && r->token.kind == TOKEN_INTEGER &&
        !reader_parse_integer(r, 0, INT64_MAX, &anchor.priority))
        return false;
    if (!reader_parse_element_end(r, begin, &anchor.span))
        return false;
    vec_push(r->arena, &r->model->anchors, anchor);
    return true;
}
