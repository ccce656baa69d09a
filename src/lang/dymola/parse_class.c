/* Classes and what stands in them; see parser.h. */
#include "lang/dymola/parser.h"

/* Skips to a keyword that begins a declaration, a connection or a class. */
static void synchronise(Parser *parser)
{
    for (;; dym_advance(parser)) {
        switch ((TokenKind)parser->token.kind) {
        case TOKEN_EOF: return;
        case TOKEN_MODEL:
        case TOKEN_END:
        case TOKEN_SUBMODEL:
        case TOKEN_PARAMETER:
        case TOKEN_CONSTANT:
        case TOKEN_LOCAL:
        case TOKEN_TERMINAL:
        case TOKEN_INPUT:
        case TOKEN_OUTPUT:
        case TOKEN_CUT:
        case TOKEN_MAIN:
        case TOKEN_NODE:
        case TOKEN_PATH:
        case TOKEN_CONNECT:
        case TOKEN_WHEN: parser->is_panicking = false; return;
        default: break;
        }
    }
}

/* ---- equations ---- */
bool dym_parse_equation(Parser *parser, EquationTexts *to)
{
    const Span begin = parser->token.span;
    EquationText equation = { 0 };
    if (!(equation.left = dym_parse_expression(parser)) || !dym_expect(parser, TOKEN_EQUAL) ||
        !(equation.right = dym_parse_expression(parser)))
        return false;
    equation.span = dym_span_since(parser, begin);
    vec_push(parser->arena, to, equation);
    dym_accept(parser, TOKEN_SEMICOLON);
    return true;
}

/* when Expression then { Expression '=' Expression } endwhen */
static void parse_when(Parser *parser, Span begin)
{
    When *when = NEW(parser->arena, When);
    if (!(when->condition = dym_parse_expression(parser)) || !dym_expect(parser, TOKEN_THEN))
        return;
    when->span = dym_span_since(parser, begin);
    while (!dym_accept(parser, TOKEN_ENDWHEN)) {
        if (parser->token.kind == TOKEN_END && parser->ahead.kind == TOKEN_WHEN) {
            dym_advance(parser);
            dym_advance(parser);
            break;
        }
        if (parser->token.kind == TOKEN_END || parser->token.kind == TOKEN_EOF) {
            dym_syntax_error(parser, "`endwhen`");
            return;
        }
        if (!dym_parse_equation(parser, &when->equations))
            return;
    }
    vec_push(parser->arena, &parser->class->whens, when);
}

/* ---- classes ---- */
/* One declaration, connection or equation. */
static void parse_item(Parser *parser)
{
    const Span begin = parser->token.span;
    const TokenKind kind = (TokenKind)parser->token.kind;
    static const uint8_t kinds[TOKEN_COUNT] = {
        [TOKEN_PARAMETER] = KIND_PARAMETER, [TOKEN_CONSTANT] = KIND_CONSTANT, [TOKEN_LOCAL] = KIND_LOCAL,
        [TOKEN_TERMINAL] = KIND_TERMINAL,   [TOKEN_INPUT] = KIND_INPUT,       [TOKEN_OUTPUT] = KIND_OUTPUT
    };
    switch (kind) {
    case TOKEN_MODEL: dym_parse_model(parser); return;
    case TOKEN_SEMICOLON: dym_advance(parser); return;
    case TOKEN_SUBMODEL:
        dym_advance(parser);
        dym_parse_submodels(parser);
        return;
    case TOKEN_PARAMETER:
    case TOKEN_CONSTANT:
    case TOKEN_LOCAL:
    case TOKEN_TERMINAL:
    case TOKEN_INPUT:
    case TOKEN_OUTPUT:
        dym_advance(parser);
        dym_parse_variables(parser, kinds[kind]);
        return;
    case TOKEN_MAIN:
        dym_advance(parser);
        dym_parse_main(parser);
        return;
    case TOKEN_CUT:
    case TOKEN_NODE:
        dym_advance(parser);
        dym_parse_cuts(parser, false, kind == TOKEN_NODE);
        return;
    case TOKEN_PATH:
        dym_advance(parser);
        dym_parse_paths(parser, false);
        return;
    case TOKEN_CONNECT:
        dym_advance(parser);
        dym_parse_connect(parser);
        return;
    case TOKEN_WHEN:
        dym_advance(parser);
        parse_when(parser, begin);
        return;
    default: dym_parse_equation(parser, &parser->class->equations); return;
    }
}

Class *dym_new_class(Parser *parser)
{
    Class *class = NEW(parser->arena, Class);
    class->outer = parser->class;
    map_init(&class->known, parser->arena, 16);
    return class;
}

/* A file may be included twice: then its classes come from the same place. */
static void add_class(Parser *parser, Class *class)
{
    Class *outer = parser->class;
    for (uint32_t k = 0; k < outer->classes.n; k++) {
        const Ident *other = &outer->classes.at[k]->name;
        if (!name_equal(other->name, class->name.name))
            continue;
        if (other->span.source == class->name.span.source && other->span.begin == class->name.span.begin)
            return;
        REPORT(parser, DIAG_DYM_TWICE, class->name.span, "there are two classes `%s`",
               names_of(parser->lexer.names, other->name));
        diag_note(parser->diag, other->span, "the first is here");
        return;
    }
    vec_push(parser->arena, &outer->classes, class);
    if (outer->outer && !class->is_class) { /* inside of a body: an object at once */
        const Submodel object = { .name = class->name, .class = class };
        vec_push(parser->arena, &outer->submodels, object);
        dym_know(parser, class->name.name, NAME_CONNECTABLE);
    }
}

/* ModelDeclaration -> ( model [InheritClause] ident | model (type | class) [InheritClause] ident ) body end */
void dym_parse_model(Parser *parser)
{
    if (!dym_enter(parser))
        return;
    dym_advance(parser);
    Class *class = dym_new_class(parser);
    class->is_class = dym_is_word(parser, "class") || dym_is_word(parser, "type");
    if (class->is_class)
        dym_advance(parser);
    Ident super;
    if (dym_accept(parser, TOKEN_OPEN) && dym_expect_name(parser, "the name of a class", &super)) {
        class->super = dym_expect_class(parser, super);
        dym_expect(parser, TOKEN_CLOSE);
    }
    dym_expect_name(parser, "the name of the class", &class->name);
    parser->class = class;
    for (;;) {
        if (parser->is_panicking)
            synchronise(parser);
        if (parser->token.kind == TOKEN_EOF || parser->token.kind == TOKEN_END)
            break;
        parse_item(parser);
    }
    const bool is_good = !parser->is_panicking;
    if (!dym_expect(parser, TOKEN_END) && is_good)
        diag_note(parser->diag, class->name.span, "of the model that begins here");
    parser->class = class->outer;
    if (!name_is_empty(class->name.name))
        add_class(parser, class);
    parser->depth--;
}
