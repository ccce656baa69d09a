/* Tokens, expectations, recovery; see parser.h. */
#include "lang/simplex/parser.h"
#include <string.h>

Span mdl_token_span(const Parser *parser)
{
    return (Span){ parser->lexer.source, parser->token.begin, parser->token.end };
}

Span mdl_span_to_here(const Parser *parser, uint32_t begin)
{
    return (Span){ parser->lexer.source, begin, parser->last_end > begin ? parser->last_end : begin };
}

void mdl_advance(Parser *parser)
{
    parser->last_end = parser->token.end;
    parser->token = mdl_lex_next(&parser->lexer);
}

bool mdl_is_at(const Parser *parser, TokenKind kind)
{
    return parser->token.kind == kind;
}

bool mdl_accept(Parser *parser, TokenKind kind)
{
    if (parser->token.kind != kind)
        return false;
    mdl_advance(parser);
    return true;
}

static const char *token_shown(const Parser *parser)
{
    const Token *token = &parser->token;
    if (token->kind == TOKEN_NAME)
        return arena_format(parser->arena, "`%s`", names_of(parser->lexer.names, token->name));
    return mdl_token_text(token->kind);
}

bool mdl_is_like_keyword(const Parser *parser, NameId name)
{
    return mdl_would_be_keyword(names_of(parser->lexer.names, name), names_length(parser->lexer.names, name));
}

/* What other languages write here. */
static const char *foreign_help(const Parser *parser, const char *what)
{
    const bool wants_operand = strcmp(what, "an operand") == 0;
    if (wants_operand && mdl_is_at(parser, TOKEN_EQUAL))
        return "equality is written `=`";
    if (wants_operand && mdl_is_at(parser, TOKEN_STAR))
        return "a power is written POW (x, y)";
    if (strcmp(what, "`:=`") == 0 && mdl_is_at(parser, TOKEN_OPEN))
        return "an event is written WHENEVER condition DO ... END, a region IF condition DO ... END";
    if (strcmp(what, "`;`") == 0)
        return "the statement before it ends with `;`";
    return NULL;
}

bool mdl_syntax_error(Parser *parser, const char *what)
{
    if (!parser->is_panicking) {
        REPORT(parser, DIAG_SYNTAX, mdl_token_span(parser), "expected %s, found %s", what, token_shown(parser));
        if (mdl_is_at(parser, TOKEN_NAME) && mdl_is_like_keyword(parser, parser->token.name))
            diag_help(parser->diag, "keywords are written in capitals");
        else if (foreign_help(parser, what))
            diag_help(parser->diag, "%s", foreign_help(parser, what));
    }
    parser->is_panicking = true;
    return false;
}

bool mdl_syntax_error_help(Parser *parser, const char *what, const char *help)
{
    const bool is_first = !parser->is_panicking;
    mdl_syntax_error(parser, what);
    if (is_first)
        diag_help(parser->diag, "%s", help);
    return false;
}

bool mdl_expect(Parser *parser, TokenKind kind)
{
    return mdl_accept(parser, kind) || mdl_syntax_error(parser, mdl_token_text(kind));
}

bool mdl_expect_name(Parser *parser, const char *what, Ident *name)
{
    if (mdl_is_at(parser, TOKEN_NAME)) {
        *name = (Ident){ parser->token.name, mdl_token_span(parser) };
        mdl_advance(parser);
        return true;
    }
    const bool is_first = !parser->is_panicking;
    mdl_syntax_error(parser, what);
    if (is_first && token_is_keyword(parser->token.kind))
        diag_help(parser->diag, "%s is a keyword; written with a small letter it would be a name",
                  mdl_token_text(parser->token.kind));
    return false;
}

bool mdl_too_deep(Parser *parser, Span at)
{
    if (!parser->is_panicking) {
        REPORT(parser, DIAG_NESTED_TOO_DEEP, at, "this is nested too deep");
        diag_help(parser->diag, "give a part of it to a dependent variable of its own");
    }
    parser->is_panicking = true;
    mdl_lex_stop(&parser->lexer);
    parser->token = (Token){ .kind = TOKEN_EOF, .begin = parser->lexer.size, .end = parser->lexer.size };
    return false;
}

bool mdl_is_at_landmark(const Parser *parser)
{
    switch (parser->token.kind) {
    case TOKEN_EOF:
    case TOKEN_END:
    case TOKEN_IF:
    case TOKEN_FOR:
    case TOKEN_ELSIF:
    case TOKEN_ELSE:
    case TOKEN_WHENEVER:
    case TOKEN_DIFFERENTIAL:
    case TOKEN_DISPLAY:
    case TOKEN_DYNAMIC:
    case TOKEN_DECLARATION:
    case TOKEN_LOCAL:
    case TOKEN_STATE:
    case TOKEN_DEPENDENT:
    case TOKEN_SENSOR:
    case TOKEN_CONSTANT:
    case TOKEN_CONTINUOUS:
    case TOKEN_DISCRETE:
    case TOKEN_VALUE:
    case TOKEN_DIMENSION:
    case TOKEN_TABULAR:
    case TOKEN_INPUT:
    case TOKEN_OUTPUT:
    case TOKEN_COMPONENT:
    case TOKEN_INITIALIZE: return true;
    default: return false;
    }
}

void mdl_synchronise(Parser *parser)
{
    while (!mdl_is_at_landmark(parser) && !mdl_is_at(parser, TOKEN_SEMICOLON))
        mdl_advance(parser);
    mdl_accept(parser, TOKEN_SEMICOLON);
    if (!mdl_is_at(parser, TOKEN_EOF))
        parser->is_panicking = false;
}

/* number ::= [sign] unsigned_number */
bool mdl_parse_signed_number(Parser *parser, double *number)
{
    const bool is_negative = mdl_is_at(parser, TOKEN_MINUS);
    if (is_negative || mdl_is_at(parser, TOKEN_PLUS))
        mdl_advance(parser);
    *number = is_negative ? -parser->token.number : parser->token.number;
    return mdl_expect(parser, TOKEN_NUMBER);
}

/* value ::= number | logic_value | identifier */
static bool goes_on(const Parser *parser)
{
    const uint8_t kind = parser->token.kind;
    return kind == TOKEN_STAR || kind == TOKEN_SLASH || kind == TOKEN_PLUS || kind == TOKEN_MINUS || kind == TOKEN_OPEN;
}

static bool parse_literal(Parser *parser, Value *value);

/* value ::= literal; beyond the thesis also an expression */
bool mdl_parse_value(Parser *parser, Value *value)
{
    const Parser before = *parser;
    const bool begins_open = mdl_is_at(parser, TOKEN_OPEN) || mdl_is_at(parser, TOKEN_MINUS);
    if (parser->lexer.is_strict || (!begins_open && !parse_literal(parser, value)))
        return parser->lexer.is_strict && parse_literal(parser, value);
    if (!begins_open && !goes_on(parser) && value->kind != VALUE_NAME)
        return true;
    *parser = before;
    if (begins_open) { /* a negative number, or more */
        mdl_advance(parser);
        if (mdl_is_at(parser, TOKEN_NUMBER) && before.token.kind == TOKEN_MINUS) {
            mdl_advance(parser);
            const bool is_number = !goes_on(parser);
            *parser = before;
            if (is_number)
                return parse_literal(parser, value);
        }
        *parser = before;
    }
    *value = (Value){ .kind = VALUE_EXPRESSION, .node = mdl_parse_expression(parser) };
    value->span = mdl_span_to_here(parser, before.token.begin);
    if (value->node && value->node->kind == NODE_NAME && value->node->u.name.n == 0) {
        value->kind = VALUE_NAME;
        value->name = value->node->u.name.name;
    }
    return value->node != NULL;
}

static bool parse_literal(Parser *parser, Value *value)
{
    const uint32_t begin = parser->token.begin;
    bool is_good = true;
    *value = (Value){ 0 };
    switch (parser->token.kind) {
    case TOKEN_NAME:
        value->kind = VALUE_NAME;
        value->name = parser->token.name;
        mdl_advance(parser);
        break;
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        value->kind = VALUE_LOGICAL;
        value->truth = mdl_is_at(parser, TOKEN_TRUE);
        mdl_advance(parser);
        break;
    case TOKEN_PLUS:
    case TOKEN_MINUS:
    case TOKEN_NUMBER:
        value->kind = VALUE_NUMBER;
        is_good = mdl_parse_signed_number(parser, &value->number);
        break;
    default:
        is_good =
            mdl_syntax_error_help(parser, "a value", "a value is a number, TRUE, FALSE or a value of a VALUE SET");
        break;
    }
    value->span = mdl_span_to_here(parser, begin);
    return is_good;
}

/* A unit is no SIMPLEX: its text is read as a whole. */
bool mdl_parse_unit(Parser *parser, Ident *unit)
{
    parser->token = mdl_lex_to_bracket(&parser->lexer);
    *unit = (Ident){ parser->token.name, mdl_token_span(parser) };
    mdl_advance(parser);
    if (!mdl_expect(parser, TOKEN_CLOSE_BRACKET))
        return false;
    if (parser->lexer.is_strict) {
        REPORT(parser, DIAG_MDL_UNIT_IN_PROFILE, unit->span, "the original has no units");
        diag_help(parser->diag, "write it into a comment, or leave the profile `simplex`");
    }
    return true;
}
