/* The reader of the text form: what stands before the model, and a connector anywhere. */
#include "ir/read_reader.h"
#include <math.h>

/* ---- enumerations and types of objects ---- */
static bool declare_enumeration(Reader *r, Span span, NameId label, const Enumeration *e, uint32_t *index)
{
    uint32_t earlier;
    if (map_get(&r->head.labels.places, label.index, &earlier))
        return reader_declared_twice(r, span, e->is_object ? "object" : "enumeration", names_of(r->names, label),
                                     (Span){ r->source, earlier, earlier + 1 });
    if (pool_n_enumerations(r->pool) >= UINT16_MAX - 1)
        return reader_report(r, DIAG_NUMBER_RANGE, span, "more than %d enumerations", UINT16_MAX - 1);
    *index = pool_enumeration(r->pool, e);
    map_put(&r->head.labels.places, label.index, span.begin);
    map_put(&r->head.labels.enumerations, label.index, *index);
    return true;
}

/* object Table: behind the keyword. */
bool reader_parse_object(Reader *r)
{
    const Span span = reader_token_span(r);
    NameId label;
    uint32_t index;
    if (!reader_parse_name(r, &label))
        return false;
    Enumeration e = { .name = label, .is_object = true };
    if (reader_accept_word(r, WORD_NAMED) && !reader_parse_name(r, &e.name))
        return false;
    return declare_enumeration(r, span, label, &e, &index);
}

/* enum Mode ordered (off, on): behind the keyword. */
bool reader_parse_enum(Reader *r)
{
    const Span span = reader_token_span(r);
    VEC(NameId) values = { 0 };
    NameId label, value;
    uint32_t earlier, index;
    if (!reader_parse_name(r, &label))
        return false;
    Enumeration e = { .name = label };
    if (reader_accept_word(r, WORD_NAMED) && !reader_parse_name(r, &e.name))
        return false;
    e.is_ordered = reader_accept_word(r, WORD_ORDERED);
    if (!reader_expect(r, TOKEN_OPEN, "'(' before the values"))
        return false;
    do {
        if (!reader_parse_name(r, &value))
            return false;
        vec_push(r->arena, &values, value);
    } while (reader_accept(r, TOKEN_COMMA));
    if (!reader_expect(r, TOKEN_CLOSE, "',' or ')' after a value"))
        return false;
    e.n = values.n;
    e.values = values.at;
    if (!declare_enumeration(r, span, label, &e, &index))
        return false;
    for (uint32_t k = 0; k < values.n; k++) {
        if (map_get(&r->head.labels.values, key_of(index, values.at[k]), &earlier) && earlier != k + 1)
            return reader_declared_twice(r, span, "value", names_of(r->names, values.at[k]), span);
        map_put(&r->head.labels.values, key_of(index, values.at[k]), k + 1);
    }
    return true;
}

static bool check_points(Reader *r, const Table *t, Span span)
{
    const uint32_t least = table_least((TableMethod)t->method);
    bool ascends = true;
    for (uint32_t k = 0; k < t->n; k++)
        ascends &= isfinite(t->x[k]) && isfinite(t->y[k]) && (k == 0 || t->x[k] > t->x[k - 1]);
    if (t->n < least)
        reader_report(r, DIAG_IR_TABLE_POINTS, span, "this table needs at least %u points, here are %u", least, t->n);
    else if (!ascends)
        reader_report(r, DIAG_IR_TABLE_POINTS, span, "the points of a table are finite and ascend");
    else
        return true;
    HELP(r, "a point is (argument, value), as in (0.0, 1.0) (2.5, 3.0)");
    return false;
}

/* table tb1 linear error (0.0, 0.0) (1.0, 2.0): behind the keyword. */
bool reader_parse_table(Reader *r)
{
    const Span span = reader_token_span(r);
    Table table = { .n = 0 };
    VEC(double) x = { 0 }, y = { 0 };
    NameId label;
    uint32_t earlier;
    if (!reader_parse_name(r, &label))
        return false;
    table.name = label;
    if (reader_accept_word(r, WORD_NAMED) && !reader_parse_name(r, &table.name))
        return false;
    if (!reader_choose(r, &table_words, "the method of the table", &table.method) ||
        !reader_choose(r, &outside_words, "what holds outside the table", &table.outside))
        return false;
    while (reader_accept(r, TOKEN_OPEN)) {
        double a, b;
        if (!reader_parse_number(r, &a) || !reader_expect(r, TOKEN_COMMA, "','") || !reader_parse_number(r, &b) ||
            !reader_expect(r, TOKEN_CLOSE, "')'"))
            return false;
        vec_push(r->arena, &x, a);
        vec_push(r->arena, &y, b);
    }
    table.n = x.n;
    table.x = x.at;
    table.y = y.at;
    if (!check_points(r, &table, span))
        return false;
    if (map_get(&r->head.labels.tables, label.index, &earlier))
        return reader_declared_twice(r, span, "table", names_of(r->names, label), SPAN_NONE);
    map_put(&r->head.labels.tables, label.index, pool_table(r->pool, &table)->index);
    return true;
}

/* The label of a table. */
bool reader_parse_table_name(Reader *r, const Table **table)
{
    const uint32_t begin = r->token.begin;
    uint32_t index;
    if (!reader_parse_path(r))
        return false;
    if (r->name.path.n != 1 || r->name.path.at[0].index == ID_NONE ||
        !map_get(&r->head.labels.tables, r->name.path.at[0].index, &index)) {
        reader_unknown_name(r, begin, "table");
        return false;
    }
    *table = pool_get_table(r->pool, index);
    return true;
}

static bool parse_connector_member(Reader *r, bool is_new)
{
    ConnectorMember member;
    if (!reader_choose(r, &role_words, "the role of a member", &member.role) || !reader_parse_name(r, &member.name) ||
        !reader_parse_type(r, &member.type))
        return false;
    if (is_new)
        vec_push(r->arena, &r->head.connectors.members, member);
    return true;
}

static bool has_role(const Reader *r)
{
    for (uint32_t k = 0; k < role_words.n; k++)
        if (reader_has_word(r, role_words.words[k]) && role_words.words[k] != WORD_STREAM)
            return true;
    return false;
}

/* connector Pin potential V Real, flow i Real: behind the keyword. Members may also be separated by ; or line ends
 * (not stream: that word begins an element there); the reader is at the end of the last one afterwards. */
bool reader_parse_connector(Reader *r, bool is_new)
{
    const Span span = reader_token_span(r);
    NameId name;
    uint32_t earlier;
    Connector connector = { .first = r->head.connectors.members.n };
    if (!reader_parse_name(r, &name) || !parse_connector_member(r, is_new))
        return false;
    for (;;) {
        const Lexer lexer = r->lexer;
        const Token token = r->token;
        const uint32_t last_end = r->last_end;
        if (reader_accept(r, TOKEN_COMMA)) {
            if (!parse_connector_member(r, is_new))
                return false;
            continue;
        }
        while (r->token.kind == TOKEN_SEMICOLON || r->token.kind == TOKEN_LINE)
            reader_advance(r);
        if (!has_role(r)) {
            r->lexer = lexer;
            r->token = token;
            r->last_end = last_end;
            break;
        }
        if (!parse_connector_member(r, is_new))
            return false;
    }
    if (!is_new)
        return true;
    connector.n = r->head.connectors.members.n - connector.first;
    if (map_get(&r->head.connectors.names, name.index, &earlier))
        return reader_declared_twice(r, span, "connector", names_of(r->names, name), SPAN_NONE);
    map_put(&r->head.connectors.names, name.index, r->head.connectors.all.n);
    vec_push(r->arena, &r->head.connectors.all, connector);
    return true;
}
