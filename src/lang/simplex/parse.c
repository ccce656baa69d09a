/* The start of the grammar; see parser.h. */
#include "lang/simplex/parser.h"
#include "lang/simplex/procedure.h"

/* model ::= high_level_component | basic_component, up to the name; beyond the thesis also a function. Without a head
 * nothing can be read. */
static bool parse_head(Parser *parser, Component *component)
{
    const uint32_t begin = parser->token.begin;
    component->is_high_level = mdl_is_at(parser, TOKEN_HIGH);
    if (component->is_high_level) {
        mdl_advance(parser);
        if (!mdl_expect(parser, TOKEN_LEVEL))
            return false;
    } else if (!mdl_accept(parser, TOKEN_BASIC)) {
        return mdl_syntax_error_help(parser, "BASIC COMPONENT or HIGH LEVEL COMPONENT",
                                     "a file holds one component, from its head to END OF and its name");
    }
    if (!mdl_expect(parser, TOKEN_COMPONENT) || !mdl_expect_name(parser, "the name of the component", &component->name))
        return false;
    component->span = mdl_span_to_here(parser, begin);
    return true;
}

/* END OF identifier */
static bool parse_tail(Parser *parser, const Component *component)
{
    Ident name;
    if (!mdl_expect(parser, TOKEN_END))
        return false;
    if (!mdl_is_at(parser, TOKEN_OF))
        return mdl_syntax_error_help(parser, "OF",
                                     "either there is an END too many or `OF` and the component's name are missing");
    mdl_advance(parser);
    if (!mdl_expect_name(parser, "the name of the component", &name))
        return false;
    if (!name_equal(name.name, component->name.name)) {
        const char *head = names_of(parser->lexer.names, component->name.name);
        REPORT(parser, DIAG_MDL_END_NAME, name.span, "the component is `%s`, but this is the end of `%s`", head,
               names_of(parser->lexer.names, name.name));
        diag_note(parser->diag, component->name.span, "its head");
        diag_help(parser->diag, "write END OF %s", head);
    }
    if (!mdl_is_at(parser, TOKEN_EOF)) {
        REPORT(parser, DIAG_MDL_TEXT_AFTER_END, mdl_token_span(parser),
               "a file holds one component and nothing after it");
        diag_help(parser->diag, "give each component a file of its own, named after it");
    }
    return true;
}

Component *mdl_parse_component(Lexer lexer)
{
    Component *component = NEW(lexer.arena, Component);
    Parser parser = { .lexer = lexer, .arena = lexer.arena, .diag = lexer.diag, .errors = lexer.errors };
    parser.token = mdl_lex_next(&parser.lexer);
    if (!lexer.is_strict && mdl_is_at(&parser, TOKEN_FUNCTION)) {
        if (mdl_parse_function_file(&parser, component))
            parse_tail(&parser, component);
    } else if (parse_head(&parser, component)) {
        if (component->is_high_level)
            mdl_parse_high(&parser, component);
        else
            mdl_parse_basic(&parser, component);
        parse_tail(&parser, component);
    }
    return *lexer.errors == 0 ? component : NULL;
}
