/* Expressions: spec 2.2 and 2.4. Comparisons bind weakest and do not chain. */
#include "lang/simplex/parser.h"

typedef struct {
    uint8_t level; /* 0: not an operator */
    uint8_t op;    /* Op */
} Operator;

enum { LEVEL_COMPARE = 1, LEVEL_ADD = 2, LEVEL_MULTIPLY = 3 };

static Operator operator_of(TokenKind kind)
{
    static const Operator operators[TOKEN_COUNT] = {
        [TOKEN_LESS] = { LEVEL_COMPARE, OP_LT },    [TOKEN_LESS_EQUAL] = { LEVEL_COMPARE, OP_LE },
        [TOKEN_GREATER] = { LEVEL_COMPARE, OP_GT }, [TOKEN_GREATER_EQUAL] = { LEVEL_COMPARE, OP_GE },
        [TOKEN_EQUAL] = { LEVEL_COMPARE, OP_EQ },   [TOKEN_UNEQUAL] = { LEVEL_COMPARE, OP_NE },
        [TOKEN_PLUS] = { LEVEL_ADD, OP_ADD },       [TOKEN_MINUS] = { LEVEL_ADD, OP_SUB },
        [TOKEN_OR] = { LEVEL_ADD, OP_OR },          [TOKEN_STAR] = { LEVEL_MULTIPLY, OP_MUL },
        [TOKEN_SLASH] = { LEVEL_MULTIPLY, OP_DIV }, [TOKEN_AND] = { LEVEL_MULTIPLY, OP_AND },
    };
    return operators[kind];
}

static Node *new_node(Parser *parser, NodeKind kind, uint32_t begin)
{
    Node *node = NEW(parser->arena, Node);
    node->kind = (uint8_t)kind;
    node->depth = 2; /* a leaf and its conversion to REAL */
    node->span = mdl_span_to_here(parser, begin);
    return node;
}

/* `above`: how much deeper than its operands the expression can become. */
static bool set_depth(Parser *parser, Node *node, const Node *operand, uint32_t above)
{
    if (operand->depth + above > NODE_DEPTH)
        return mdl_too_deep(parser, node->span);
    if (node->depth < operand->depth + above)
        node->depth = (uint16_t)(operand->depth + above);
    return true;
}

static Node *unary(Parser *parser, Op op, Node *operand, uint32_t begin)
{
    Node *node = new_node(parser, NODE_UNARY, begin);
    node->op = (uint8_t)op;
    node->u.operand[0] = operand;
    return set_depth(parser, node, operand, 1) ? node : NULL;
}

static Node *binary(Parser *parser, Op op, Node *left, Node *right)
{
    Node *node = new_node(parser, op_is_relation(op) ? NODE_COMPARE : NODE_BINARY, left->span.begin);
    node->op = (uint8_t)op;
    node->u.operand[0] = left;
    node->u.operand[1] = right;
    return set_depth(parser, node, left, 1) && set_depth(parser, node, right, 1) ? node : NULL;
}

/* function_execution ::= identifier '(' argument_list ')'
 * argument_list ::= expression { ',' expression } */
static Node *parse_call(Parser *parser, Ident name)
{
    enum { COMPOSED = 6 }; /* levels the deepest standard function is made of */
    VEC(Node *) args = { 0 };
    if (!mdl_expect(parser, TOKEN_OPEN))
        return NULL;
    if (mdl_is_at(parser, TOKEN_FOR))
        return mdl_parse_reduction(parser, name);
    do {
        Node *arg = mdl_parse_expression(parser);
        if (!arg)
            return NULL;
        vec_push(parser->arena, &args, arg);
    } while (mdl_accept(parser, TOKEN_COMMA));
    if (!mdl_expect(parser, TOKEN_CLOSE))
        return NULL;
    Node *node = new_node(parser, NODE_CALL, name.span.begin);
    node->u.call.name = name;
    node->u.call.n = args.n;
    node->u.call.args = args.at;
    for (uint32_t k = 0; k < args.n; k++)
        if (!set_depth(parser, node, args.at[k], COMPOSED))
            return NULL;
    return node;
}

/* What follows a name in an expression is an argument list or nothing. */
static Node *parse_named(Parser *parser)
{
    const Ident name = { parser->token.name, mdl_token_span(parser) };
    mdl_advance(parser);
    uint32_t n_index;
    Node **index = NULL;
    if (mdl_is_at(parser, TOKEN_OPEN))
        return parse_call(parser, name);
    if (!mdl_parse_index(parser, &n_index, &index))
        return NULL;
    if (mdl_is_at(parser, TOKEN_PRIME) || mdl_is_at(parser, TOKEN_HAT)) {
        const bool is_derivative = mdl_is_at(parser, TOKEN_PRIME);
        REPORT(parser, DIAG_MDL_DERIVATIVE_IN_EXPRESSION, mdl_token_span(parser), "%s cannot stand in an expression",
               is_derivative ? "a derivative" : "the next value of a state");
        diag_help(parser->diag, "%s",
                  is_derivative ? "give its right side to a dependent variable and use that"
                                : "expressions read the present values only");
        mdl_advance(parser);
    }
    Node *node = new_node(parser, NODE_NAME, name.span.begin);
    node->u.name.name = name.name;
    node->u.name.n = n_index;
    node->u.name.index = index;
    node->u.name.symbol = ID_NONE;
    return node;
}

/* factor ::= identifier | unsigned_number | logic_value | T | function_execution | '(' expression ')' | NOT factor */
static Node *parse_factor(Parser *parser)
{
    const Token token = parser->token;
    Node *node = NULL;
    switch (token.kind) {
    case TOKEN_NAME: return parse_named(parser);
    case TOKEN_NUMBER:
        mdl_advance(parser);
        node = new_node(parser, NODE_NUMBER, token.begin);
        node->u.number = token.number;
        return node;
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        mdl_advance(parser);
        node = new_node(parser, NODE_LOGICAL, token.begin);
        node->u.truth = token.kind == TOKEN_TRUE;
        return node;
    case TOKEN_TIME: mdl_advance(parser); return new_node(parser, NODE_TIME, token.begin);
    case TOKEN_OPEN:
        mdl_advance(parser);
        node = mdl_parse_expression(parser);
        if (!node || !mdl_expect(parser, TOKEN_CLOSE))
            return NULL;
        node->span = mdl_span_to_here(parser, token.begin);
        return node;
    default: mdl_syntax_error(parser, "an operand"); return NULL;
    }
}

/* NOT factor, without a call for each NOT. */
static Node *parse_negated(Parser *parser)
{
    VEC(uint32_t) begins = { 0 };
    for (; mdl_is_at(parser, TOKEN_NOT); mdl_advance(parser))
        vec_push(parser->arena, &begins, parser->token.begin);
    Node *node = parse_factor(parser);
    while (node && begins.n > 0)
        node = unary(parser, OP_NOT, node, vec_pop(&begins));
    return node;
}

/* term ::= factor { mul_op factor }  (level 3)
 * simple_expression ::= [sign] term { add_op term }  (level 2) */
static Node *parse_level(Parser *parser, uint32_t level)
{
    const uint32_t begin = parser->token.begin;
    const bool is_signed = level == LEVEL_ADD && (mdl_is_at(parser, TOKEN_PLUS) || mdl_is_at(parser, TOKEN_MINUS));
    const bool is_negative = is_signed && mdl_is_at(parser, TOKEN_MINUS);
    if (is_signed)
        mdl_advance(parser);
    Node *left = level == LEVEL_MULTIPLY ? parse_negated(parser) : parse_level(parser, level + 1);
    if (left && is_negative)
        left = unary(parser, OP_NEG, left, begin);
    while (left && operator_of(parser->token.kind).level == level) {
        const Op op = operator_of(parser->token.kind).op;
        mdl_advance(parser);
        if (mdl_is_at(parser, TOKEN_MINUS) || mdl_is_at(parser, TOKEN_PLUS)) {
            mdl_syntax_error_help(parser, "an operand", "an operand with a sign stands in parentheses: a * (-b)");
            return NULL;
        }
        Node *right = level == LEVEL_MULTIPLY ? parse_negated(parser) : parse_level(parser, level + 1);
        left = right ? binary(parser, op, left, right) : NULL;
    }
    return left;
}

/* comparison ::= simple_expression compare_op simple_expression */
static Node *parse_comparison(Parser *parser)
{
    Node *left = parse_level(parser, LEVEL_ADD);
    const Operator compare = operator_of(parser->token.kind);
    if (!left || compare.level != LEVEL_COMPARE)
        return left;
    mdl_advance(parser);
    Node *right = parse_level(parser, LEVEL_ADD);
    if (!right)
        return NULL;
    if (operator_of(parser->token.kind).level == LEVEL_COMPARE) {
        REPORT(parser, DIAG_MDL_CHAINED_COMPARISON, mdl_token_span(parser), "comparisons cannot be chained");
        diag_help(parser->diag, "write (a < b) AND (b < c)");
        mdl_advance(parser);
        return parse_level(parser, LEVEL_ADD) ? left : NULL;
    }
    return binary(parser, compare.op, left, right);
}

/* expression ::= simple_expression | comparison */
Node *mdl_parse_expression(Parser *parser)
{
    enum { PARENTHESES = 500 };
    if (parser->depth >= PARENTHESES) {
        mdl_too_deep(parser, mdl_token_span(parser));
        return NULL;
    }
    parser->depth++;
    Node *node = parse_comparison(parser);
    parser->depth--;
    return node;
}
