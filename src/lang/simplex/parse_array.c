/* Arrays, beyond the thesis: sizes, indices, FOR; docs/languages/simplex.md, "Arrays". The profile `simplex` does not
 * have them: their words are names there, their brackets unknown characters. */
#include "lang/simplex/parser.h"

/* index ::= '[' expression { ',' expression } ']' | '{' expression { ',' expression } '}' ; none: *n is 0 */
bool mdl_parse_index(Parser *parser, uint32_t *n, Node ***index)
{
    const bool is_brace = mdl_is_at(parser, TOKEN_OPEN_BRACE);
    VEC(Node *) list = { 0 };
    *n = 0;
    if (!is_brace && (!mdl_is_at(parser, TOKEN_OPEN_BRACKET) || parser->lexer.is_strict))
        return true;
    mdl_advance(parser);
    do {
        Node *node = mdl_parse_expression(parser);
        if (!node)
            return false;
        vec_push(parser->arena, &list, node);
    } while (mdl_accept(parser, TOKEN_COMMA));
    *n = list.n;
    *index = list.at;
    return mdl_expect(parser, is_brace ? TOKEN_CLOSE_BRACE : TOKEN_CLOSE_BRACKET);
}

/* sizes ::= ARRAY index ; none: n is 0 */
bool mdl_parse_sizes(Parser *parser, Sizes *sizes)
{
    *sizes = (Sizes){ .span = mdl_token_span(parser) };
    if (!mdl_accept(parser, TOKEN_ARRAY))
        return true;
    if (!mdl_parse_index(parser, &sizes->n, &sizes->nodes))
        return false;
    if (sizes->n == 0)
        return mdl_syntax_error_help(parser, "`[`", "the sizes of an array follow: ARRAY [N] x (REAL)");
    sizes->span = mdl_span_to_here(parser, sizes->span.begin);
    return true;
}

/* dimensions ::= DIMENSION[S] identifier ':=' expression { ',' identifier ':=' expression } */
bool mdl_parse_dimensions(Parser *parser, Component *component)
{
    mdl_advance(parser);
    do {
        DimensionDecl dimension = { 0 };
        if (!mdl_expect_name(parser, "the name of a dimension", &dimension.name) || !mdl_expect(parser, TOKEN_ASSIGN))
            return false;
        dimension.value = mdl_parse_expression(parser);
        if (!dimension.value)
            return false;
        vec_push(parser->arena, &component->dimensions, dimension);
    } while (mdl_accept(parser, TOKEN_COMMA));
    return true;
}

/* loop ::= FOR identifier FROM expression TO expression [ BY expression ] */
Loop *mdl_parse_loop(Parser *parser)
{
    Loop *loop = NEW(parser->arena, Loop);
    loop->span = mdl_token_span(parser);
    mdl_advance(parser);
    if (!mdl_expect_name(parser, "the name of a loop variable", &loop->name) || !mdl_expect(parser, TOKEN_FROM) ||
        !(loop->from = mdl_parse_expression(parser)) || !mdl_expect(parser, TOKEN_TO) ||
        !(loop->to = mdl_parse_expression(parser)) ||
        (mdl_accept(parser, TOKEN_BY) && !(loop->by = mdl_parse_expression(parser))))
        return NULL;
    loop->span = mdl_span_to_here(parser, loop->span.begin);
    return loop;
}

/* reduction ::= ( SUM | PROD | MIN | MAX | ALL | ANY ) '(' loop ':' expression ')' ; after the parenthesis */
Node *mdl_parse_reduction(Parser *parser, Ident name)
{
    static const struct {
        const char *text;
        uint8_t op;
    } rows[] = { { "SUM", OP_ADD }, { "PROD", OP_MUL }, { "MIN", OP_MIN },
                 { "MAX", OP_MAX }, { "ALL", OP_AND },  { "ANY", OP_OR } };
    const char *text = names_of(parser->lexer.names, name.name);
    uint32_t k = 0;
    while (k < sizeof rows / sizeof *rows && strcmp(rows[k].text, text) != 0)
        k++;
    if (k == sizeof rows / sizeof *rows) {
        REPORT(parser, DIAG_SYNTAX, name.span, "`%s` does not work over a range", text);
        diag_help(parser->diag, "before (FOR …: …) stands SUM, PROD, MIN, MAX, ALL or ANY");
        k = 0;
    }
    Node *node = NEW(parser->arena, Node);
    node->kind = NODE_REDUCE;
    node->op = rows[k].op;
    node->u.reduce.loop = mdl_parse_loop(parser);
    if (!node->u.reduce.loop || !mdl_expect(parser, TOKEN_COLON))
        return NULL;
    node->u.reduce.body = mdl_parse_expression(parser);
    if (!node->u.reduce.body || !mdl_expect(parser, TOKEN_CLOSE))
        return NULL;
    node->span = mdl_span_to_here(parser, name.span.begin);
    node->depth = (uint16_t)(node->u.reduce.body->depth + 1);
    if (node->depth > NODE_DEPTH) {
        mdl_too_deep(parser, node->span);
        return NULL;
    }
    return node;
}
