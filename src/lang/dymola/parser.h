/* Recursive descent over the grammar; each function carries its rule. `[,]`: commas between items of a list may be
 * left out.
 *
 * A function that fails has reported and returns false or NULL; the parser is then in panic and stays silent until a
 * list finds the begin of its next item. */
#ifndef LANG_DYMOLA_PARSER_H
#define LANG_DYMOLA_PARSER_H

#include "lang/dymola/ast.h"
#include "lang/dymola/lex.h"

typedef struct {
    Lexer lexer;
    Arena *arena;
    Diag *diag;
    uint32_t *errors;
    Token token, ahead; /* the current one and the next */
    Span last;          /* of the token accepted last */
    bool is_panicking;
    uint32_t depth;
    Class *class; /* the one that is being read; the outermost holds all others */
} Parser;

enum { NESTED_MOST = 200, MOST_ELEMENTS_OF_ONE = 1000000 };

/* ---- parser.c ---- */
void dym_advance(Parser *parser);
bool dym_accept(Parser *parser, TokenKind kind);
bool dym_expect(Parser *parser, TokenKind kind);
bool dym_expect_name(Parser *parser, const char *what, Ident *name);
bool dym_syntax_error(Parser *parser, const char *what);  /* reports that `what` was expected; false */
bool dym_enter(Parser *parser);                           /* one level of nesting more; false: too deep, reported */
bool dym_is_word(const Parser *parser, const char *word); /* the current token is this name */
Span dym_span_since(const Parser *parser, Span begin);
void dym_know(Parser *parser, NameId name, uint32_t bits);
uint32_t dym_known(const Parser *parser, NameId name); /* NAME_ bits, of inherited names too */

/* ---- parse_text.c ---- */
Class *dym_parse(Lexer lexer, uint32_t source); /* the outermost, nameless class; NULL: there are syntax errors */

/* ---- parse_class.c ---- */
void dym_parse_model(Parser *parser);
bool dym_parse_equation(Parser *parser, EquationTexts *to);
Class *dym_new_class(Parser *parser); /* inside of the one that is being read */

/* ---- parse_declaration.c ---- */
void dym_parse_variables(Parser *parser, VarKind kind);
void dym_parse_cuts(Parser *parser, bool is_main, bool is_node);
void dym_parse_paths(Parser *parser, bool is_main);
void dym_parse_main(Parser *parser); /* a cut or a path */
void dym_parse_submodels(Parser *parser);
Class *dym_expect_class(Parser *parser, Ident name); /* NULL: there is none, which is reported */
/* '(' unsigned [ ',' unsigned ] ')', if there is one in this line */
bool dym_parse_size(Parser *parser, Size *size, Value *nominal);

/* ---- functions.c ---- */
bool dym_is_function_name(const char *name); /* one that the language knows, operators like der among them */

/* ---- parse_expression.c ---- */
Node *dym_parse_expression(Parser *parser);
Node *dym_parse_path(Parser *parser, NodeKind kind); /* the name of a variable, also of an object */

/* ---- hints.c ---- */
void dym_advise_on_class(const Parser *parser, NameId wanted); /* help for a class that is not there */

/* ---- parse_connection.c ---- */
Cut *dym_parse_cut(Parser *parser, bool allows_name);
void dym_parse_connect(Parser *parser);

#endif
