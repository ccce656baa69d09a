/* Recursive descent over the grammar of spec 2.2; each function carries its rule.
 *
 * A function that fails has reported and returns false or NULL; the parser is then in panic and
 * stays silent until a list (statements, declarations, ...) finds the begin of its next item. */
#ifndef LANG_SIMPLEX_PARSER_H
#define LANG_SIMPLEX_PARSER_H

#include "lang/simplex/ast.h"
#include "lang/simplex/lex.h"

typedef struct {
    Lexer lexer;
    Arena *arena;
    Diag *diag;
    uint32_t *errors;
    Token token; /* the current one */
    uint32_t last_end;
    bool is_panicking;
    uint32_t depth; /* of nested calls */
    Loops loops;    /* around the connection that is read */
} Parser;

/* ---- parse.c ---- */
Component *mdl_parse_component(Lexer lexer); /* NULL: there are syntax errors */

/* ---- parser.c: what all rules use ---- */
void mdl_advance(Parser *parser);
bool mdl_is_at(const Parser *parser, TokenKind kind);
bool mdl_accept(Parser *parser, TokenKind kind);
bool mdl_expect(Parser *parser, TokenKind kind);
bool mdl_expect_name(Parser *parser, const char *what, Ident *name);
bool mdl_is_like_keyword(const Parser *parser, NameId name); /* a keyword in small letters */
/* Reports that `what` was expected; false. */
bool mdl_syntax_error(Parser *parser, const char *what);
bool mdl_syntax_error_help(Parser *parser, const char *what, const char *help);
/* Skips to the begin of something known: the next `;` (which is skipped), END or any keyword that begins a
 * statement or a section. */
void mdl_synchronise(Parser *parser);
bool mdl_is_at_landmark(const Parser *parser); /* END, or a keyword that begins a statement or a section, or the end */
bool mdl_too_deep(Parser *parser, Span at);    /* reports, ends the parsing; false */
Span mdl_token_span(const Parser *parser);
Span mdl_span_to_here(const Parser *parser, uint32_t begin); /* up to the last token accepted */
bool mdl_parse_value(Parser *parser, Value *value);
bool mdl_parse_unit(Parser *parser, Ident *unit); /* '[' text ']', at the bracket */
bool mdl_parse_signed_number(Parser *parser, double *number);

/* ---- parse_expression.c ---- */
Node *mdl_parse_expression(Parser *parser);

/* ---- parse_array.c ---- */
bool mdl_parse_index(Parser *parser, uint32_t *n, Node ***index);
bool mdl_parse_sizes(Parser *parser, Sizes *sizes);
bool mdl_parse_dimensions(Parser *parser, Component *component);
Loop *mdl_parse_loop(Parser *parser);                  /* at FOR; NULL: reported */
Node *mdl_parse_reduction(Parser *parser, Ident name); /* at FOR, after the parenthesis */

/* ---- parse_basic.c, parse_high.c: after the head up to END OF ---- */
void mdl_parse_basic(Parser *parser, Component *component);
void mdl_parse_local_definitions(Parser *parser, Component *component);
void mdl_parse_high(Parser *parser, Component *component);

#endif
