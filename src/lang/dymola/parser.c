/* What all rules use; see parser.h. */
#include "lang/dymola/parser.h"

void dym_advance(Parser *parser)
{
    parser->last = parser->token.span;
    parser->token = parser->ahead;
    parser->ahead = dym_lex_next(&parser->lexer);
}

bool dym_accept(Parser *parser, TokenKind kind)
{
    if (parser->token.kind != kind)
        return false;
    dym_advance(parser);
    return true;
}

bool dym_is_word(const Parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_NAME && strcmp(names_of(parser->lexer.names, parser->token.name), word) == 0;
}

Span dym_span_since(const Parser *parser, Span begin)
{
    return parser->last.source == begin.source && parser->last.end > begin.begin ? span_join(begin, parser->last)
                                                                                 : begin;
}

bool dym_syntax_error(Parser *parser, const char *what)
{
    const Token *token = &parser->token;
    if (!parser->is_panicking)
        REPORT(parser, DIAG_SYNTAX, token->span, "expected %s, found %s", what,
               token->kind == TOKEN_NAME
                   ? arena_format(parser->arena, "`%s`", names_of(parser->lexer.names, token->name))
                   : dym_token_text((TokenKind)token->kind));
    parser->is_panicking = true;
    return false;
}

bool dym_expect(Parser *parser, TokenKind kind)
{
    return dym_accept(parser, kind) || dym_syntax_error(parser, dym_token_text(kind));
}

bool dym_expect_name(Parser *parser, const char *what, Ident *name)
{
    if (parser->token.kind != TOKEN_NAME) {
        const bool is_first = !parser->is_panicking;
        dym_syntax_error(parser, what);
        if (is_first && dym_is_keyword((TokenKind)parser->token.kind))
            diag_help(parser->diag, "%s is a word of the language and cannot be a name",
                      dym_token_text((TokenKind)parser->token.kind));
        return false;
    }
    *name = (Ident){ parser->token.name, parser->token.span };
    dym_advance(parser);
    return true;
}

bool dym_enter(Parser *parser)
{
    if (parser->depth++ < NESTED_MOST)
        return true;
    if (!parser->is_panicking) {
        REPORT(parser, DIAG_NESTED_TOO_DEEP, parser->token.span, "this is nested too deep");
        diag_help(parser->diag, "give a part of it a name of its own");
    }
    parser->is_panicking = true;
    dym_lex_stop(&parser->lexer);
    parser->token = parser->ahead = dym_lex_next(&parser->lexer);
    return false;
}

void dym_know(Parser *parser, NameId name, uint32_t bits)
{
    uint32_t before = 0;
    map_get(&parser->class->known, name.index, &before);
    map_put(&parser->class->known, name.index, before | bits);
}

uint32_t dym_known(const Parser *parser, NameId name)
{
    uint32_t bits = 0;
    for (const Class *class = parser->class; class && !bits; class = class->super)
        map_get(&class->known, name.index, &bits);
    return bits;
}
