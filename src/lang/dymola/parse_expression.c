/* Expressions; see parser.h. */
#include "lang/dymola/parser.h"

static Node *new_node(Parser *parser, NodeKind kind, Span span)
{
    Node *node = NEW(parser->arena, Node);
    node->kind = (uint8_t)kind;
    node->span = span;
    return node;
}

static Node *new_call(Parser *parser, NodeKind kind, Op op, uint32_t n, Node *const *args, Span begin)
{
    Node *node = new_node(parser, kind, dym_span_since(parser, begin));
    Node **copy = NEW_ARRAY(parser->arena, Node *, n);
    for (uint32_t k = 0; k < n; k++) {
        if (!args[k])
            return NULL;
        copy[k] = args[k];
        node->depth = copy[k]->depth >= node->depth ? (uint16_t)(copy[k]->depth + 1) : node->depth;
    }
    if (node->depth > EXPR_DEPTH / 2) { /* a chain of operators nests to the left */
        parser->depth = NESTED_MOST;
        dym_enter(parser);
        return NULL;
    }
    node->op = (uint8_t)op;
    node->args = copy;
    node->n_args = n;
    return node;
}

/* index -> Expression [ ':' Expression ] | ':' */
static Node *parse_index(Parser *parser)
{
    const Span begin = parser->token.span;
    Node *ends[2];
    if (dym_accept(parser, TOKEN_COLON))
        return new_call(parser, NODE_RANGE, OP_COUNT, 0, ends, begin);
    ends[0] = dym_parse_expression(parser);
    if (!ends[0] || !dym_accept(parser, TOKEN_COLON))
        return ends[0];
    ends[1] = dym_parse_expression(parser);
    return new_call(parser, NODE_RANGE, OP_COUNT, 2, ends, begin);
}

/* variable | model_ident { '::' model_ident } '.' variable, with indices in this line */
Node *dym_parse_path(Parser *parser, NodeKind kind)
{
    const Span begin = parser->token.span;
    VEC(Ident) path = { 0 };
    do {
        Ident name;
        if (!dym_expect_name(parser, "the name of a variable", &name))
            return NULL;
        vec_push(parser->arena, &path, name);
    } while (dym_accept(parser, TOKEN_DOT) || dym_accept(parser, TOKEN_COLONS));
    Node *node = new_node(parser, kind, dym_span_since(parser, begin));
    if (parser->token.kind == TOKEN_OPEN && !parser->token.begins_line) {
        VEC(Node *) indices = { 0 };
        dym_advance(parser);
        do {
            Node *index = parse_index(parser);
            if (!index)
                return NULL;
            vec_push(parser->arena, &indices, index);
        } while (dym_accept(parser, TOKEN_COMMA));
        if (!dym_expect(parser, TOKEN_CLOSE) ||
            !(node = new_call(parser, kind, OP_COUNT, indices.n, indices.at, begin)))
            return NULL;
    }
    node->path = path.at;
    node->n_path = path.n;
    return node;
}

/* function_ident '(' Expression { ',' Expression } ')' */
static Node *parse_function(Parser *parser)
{
    const Span begin = parser->token.span;
    Ident *name = NEW(parser->arena, Ident);
    VEC(Node *) args = { 0 };
    dym_expect_name(parser, "the name of a function", name);
    dym_expect(parser, TOKEN_OPEN);
    do {
        Node *argument = dym_parse_expression(parser);
        if (!argument)
            return NULL;
        vec_push(parser->arena, &args, argument);
    } while (dym_accept(parser, TOKEN_COMMA));
    if (!dym_expect(parser, TOKEN_CLOSE))
        return NULL;
    Node *node = new_call(parser, NODE_FUNCTION, OP_COUNT, args.n, args.at, begin);
    if (node) {
        node->path = name;
        node->n_path = 1;
    }
    return node;
}

/* der '(' variable ')' and the like; `word` is followed by a parenthesis. */
static Node *parse_operator(Parser *parser, NodeKind kind)
{
    const Span begin = parser->token.span;
    dym_advance(parser);
    dym_advance(parser);
    Node *node = dym_parse_path(parser, kind);
    if (!node || !dym_expect(parser, TOKEN_CLOSE))
        return NULL;
    node->span = dym_span_since(parser, begin);
    return node;
}

static Node *parse_named(Parser *parser)
{
    /* On a new line a parenthesis begins the next equation. */
    if (parser->ahead.kind != TOKEN_OPEN || parser->ahead.begins_line ||
        (dym_known(parser, parser->token.name) & NAME_ARRAY))
        return dym_parse_path(parser, NODE_VARIABLE);
    if (dym_is_word(parser, "der"))
        return parse_operator(parser, NODE_DER);
    if (dym_is_word(parser, "new"))
        return parse_operator(parser, NODE_NEW);
    if (dym_is_word(parser, "init"))
        return parse_operator(parser, NODE_INIT);
    return parse_function(parser);
}

/* '[' row { ';' row } ']', row -> Expression { ',' Expression } */
static Node *parse_matrix(Parser *parser)
{
    const Span begin = parser->token.span;
    VEC(Node *) rows = { 0 };
    dym_advance(parser);
    do {
        const Span row_begin = parser->token.span;
        VEC(Node *) row = { 0 };
        do {
            Node *part = dym_parse_expression(parser);
            if (!part)
                return NULL;
            vec_push(parser->arena, &row, part);
        } while (dym_accept(parser, TOKEN_COMMA));
        Node *node = new_call(parser, NODE_ROW, OP_COUNT, row.n, row.at, row_begin);
        if (!node)
            return NULL;
        vec_push(parser->arena, &rows, node);
    } while (dym_accept(parser, TOKEN_SEMICOLON));
    if (!dym_expect(parser, TOKEN_CLOSE_BRACKET))
        return NULL;
    return new_call(parser, NODE_MATRIX, OP_COUNT, rows.n, rows.at, begin);
}

/* primary -> '(' Expression ')' | unsigned | Boolean | variable | matrix | ... */
static Node *parse_primary(Parser *parser)
{
    const Token token = parser->token;
    Node *node = NULL;
    switch ((TokenKind)token.kind) {
    case TOKEN_NUMBER:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        dym_advance(parser);
        node = new_node(parser, token.kind == TOKEN_NUMBER ? NODE_NUMBER : NODE_BOOLEAN, token.span);
        node->number = token.kind == TOKEN_NUMBER ? token.number : token.kind == TOKEN_TRUE;
        return node;
    case TOKEN_NAME: return parse_named(parser);
    case TOKEN_OPEN_BRACKET: return parse_matrix(parser);
    case TOKEN_OPEN:
        dym_advance(parser);
        node = dym_parse_expression(parser);
        return node && dym_expect(parser, TOKEN_CLOSE) ? node : NULL;
    default: dym_syntax_error(parser, "an expression"); return NULL;
    }
}

/* operand -> primary { "'" } */
static Node *parse_operand(Parser *parser)
{
    const Span begin = parser->token.span;
    Node *node = parse_primary(parser);
    while (node && dym_accept(parser, TOKEN_TRANSPOSE))
        node = new_call(parser, NODE_TRANSPOSE, OP_COUNT, 1, &node, begin);
    return node;
}

/* factor -> operand [ '**' operand ] */
static Node *parse_factor(Parser *parser)
{
    const Span begin = parser->token.span;
    Node *node = parse_operand(parser);
    if (!node || !dym_accept(parser, TOKEN_POWER))
        return node;
    Node *args[] = { node, parse_operand(parser) };
    return new_call(parser, NODE_CALL, OP_POW, 2, args, begin);
}

/* term -> factor { ( '*' | '/' ) factor } */
static Node *parse_term(Parser *parser)
{
    const Span begin = parser->token.span;
    Node *node = parse_factor(parser);
    while (node && (parser->token.kind == TOKEN_STAR || parser->token.kind == TOKEN_SLASH)) {
        const Op op = parser->token.kind == TOKEN_STAR ? OP_MUL : OP_DIV;
        dym_advance(parser);
        Node *args[] = { node, parse_factor(parser) };
        node = new_call(parser, NODE_CALL, op, 2, args, begin);
    }
    return node;
}

/* ArithmeticExpr -> [ '+' | '-' ] term { ( '+' | '-' ) term } */
static Node *parse_sum(Parser *parser)
{
    const Span begin = parser->token.span;
    const bool is_negative = dym_accept(parser, TOKEN_MINUS);
    if (!is_negative)
        dym_accept(parser, TOKEN_PLUS);
    Node *node = parse_term(parser);
    if (node && is_negative && node->kind == NODE_NUMBER)
        node->number = -node->number;
    else if (node && is_negative)
        node = new_call(parser, NODE_CALL, OP_NEG, 1, &node, begin);
    while (node && (parser->token.kind == TOKEN_PLUS || parser->token.kind == TOKEN_MINUS)) {
        const Op op = parser->token.kind == TOKEN_PLUS ? OP_ADD : OP_SUB;
        dym_advance(parser);
        Node *args[] = { node, parse_term(parser) };
        node = new_call(parser, NODE_CALL, op, 2, args, begin);
    }
    return node;
}

/* Relation -> ArithmeticExpr [ ( '<' | '<=' | '>' | '>=' ) ArithmeticExpr ] */
static Node *parse_relation(Parser *parser)
{
    const Span begin = parser->token.span;
    Node *node = parse_sum(parser);
    Op op;
    switch ((TokenKind)parser->token.kind) {
    case TOKEN_LESS: op = OP_LT; break;
    case TOKEN_LESS_EQUAL: op = OP_LE; break;
    case TOKEN_GREATER: op = OP_GT; break;
    case TOKEN_GREATER_EQUAL: op = OP_GE; break;
    default: return node;
    }
    if (!node)
        return NULL;
    dym_advance(parser);
    Node *args[] = { node, parse_sum(parser) };
    return new_call(parser, NODE_CALL, op, 2, args, begin);
}

/* LogicalFactor -> [ not ] Relation */
static Node *parse_not(Parser *parser)
{
    const Span begin = parser->token.span;
    const bool is_not = dym_accept(parser, TOKEN_NOT);
    Node *node = parse_relation(parser);
    return node && is_not ? new_call(parser, NODE_CALL, OP_NOT, 1, &node, begin) : node;
}

/* LogicalTerm -> LogicalFactor { and LogicalFactor } */
static Node *parse_and(Parser *parser)
{
    const Span begin = parser->token.span;
    Node *node = parse_not(parser);
    while (node && dym_accept(parser, TOKEN_AND)) {
        Node *args[] = { node, parse_not(parser) };
        node = new_call(parser, NODE_CALL, OP_AND, 2, args, begin);
    }
    return node;
}

/* SimpleExpr -> LogicalTerm { or LogicalTerm } */
static Node *parse_simple(Parser *parser)
{
    const Span begin = parser->token.span;
    Node *node = parse_and(parser);
    while (node && dym_accept(parser, TOKEN_OR)) {
        Node *args[] = { node, parse_and(parser) };
        node = new_call(parser, NODE_CALL, OP_OR, 2, args, begin);
    }
    return node;
}

/* Expression -> SimpleExpr | if Expression then SimpleExpr else Expression */
Node *dym_parse_expression(Parser *parser)
{
    const Span begin = parser->token.span;
    if (!dym_enter(parser))
        return NULL;
    Node *node = NULL;
    if (!dym_accept(parser, TOKEN_IF)) {
        node = parse_simple(parser);
    } else {
        Node *args[3] = { NULL, NULL, NULL };
        if ((args[0] = dym_parse_expression(parser)) && dym_expect(parser, TOKEN_THEN) &&
            (args[1] = parse_simple(parser)) && dym_expect(parser, TOKEN_ELSE) &&
            (args[2] = dym_parse_expression(parser)))
            node = new_call(parser, NODE_IF, OP_COUNT, 3, args, begin);
    }
    parser->depth--;
    return node;
}
