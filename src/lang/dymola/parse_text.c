/* A whole text: classes, functions, and directives about the model before; see parser.h. */
#include "lang/dymola/parser.h"

/* ---- directives ---- */
static bool directive_goes_on(const Parser *parser)
{
    return parser->token.kind == TOKEN_NAME &&
           !(parser->token.begins_line && (dym_is_word(parser, "variable") || dym_is_word(parser, "set")));
}

/* The model before a directive; NULL: there is none, which is reported. */
static Class *class_before(Parser *parser, const char *directive)
{
    const Class *all = parser->class;
    if (all->classes.n)
        return all->classes.at[all->classes.n - 1];
    dym_syntax_error(parser, directive);
    return NULL;
}

static void parse_names(Parser *parser, Nodes *names)
{
    dym_advance(parser);
    do {
        Node *name = dym_parse_path(parser, NODE_VARIABLE);
        if (!name)
            return;
        vec_push(parser->arena, names, name);
    } while (dym_accept(parser, TOKEN_COMMA) || directive_goes_on(parser));
}

/* variable tear variable [ '[' variable ']' ] {[,] variable ...}: of the model before. */
static void parse_tears(Parser *parser)
{
    Class *class = class_before(parser, "`model` before `variable tear`");
    if (!class)
        return;
    dym_advance(parser);
    do {
        Tear tear = { .name = dym_parse_path(parser, NODE_VARIABLE) };
        if (!tear.name)
            return;
        if (tear.name->n_args) {
            REPORT(parser, DIAG_NOT_YET, tear.name->span, "elements of a vector cannot be torn alone yet");
            diag_help(parser->diag, "name the vector: all its elements are torn");
        }
        if (dym_accept(parser, TOKEN_OPEN_BRACKET)) {
            tear.residual = dym_parse_path(parser, NODE_VARIABLE);
            if (!tear.residual || !dym_expect(parser, TOKEN_CLOSE_BRACKET))
                return;
        }
        vec_push(parser->arena, &class->directives.tears, tear);
    } while (dym_accept(parser, TOKEN_COMMA) || directive_goes_on(parser));
}

/* Directives after the model. */
static void parse_directive(Parser *parser)
{
    dym_advance(parser);
    if (dym_is_word(parser, "tear")) {
        parse_tears(parser);
        return;
    }
    if (dym_is_word(parser, "state")) {
        Class *class = class_before(parser, "`model` before `variable state`");
        if (class)
            parse_names(parser, &class->directives.states);
        return;
    }
    if (dym_is_word(parser, "unknown")) {
        Class *class = class_before(parser, "`model` before `variable unknown`");
        if (class)
            parse_names(parser, &class->directives.unknowns);
        return;
    }
    if (dym_accept(parser, TOKEN_NOT)) {
        Class *class = class_before(parser, "`model` before `variable not evaluate`");
        if (class && !dym_is_word(parser, "evaluate"))
            dym_syntax_error(parser, "`evaluate`");
        else if (class)
            parse_names(parser, &class->directives.kept);
        return;
    }
    dym_syntax_error(parser, "`not evaluate`, `state`, `tear` or `unknown`");
}

/* set Events ( on | off ) */
static void parse_set(Parser *parser)
{
    Ident option, value;
    dym_advance(parser);
    if (!dym_expect_name(parser, "the name of an option: Events", &option) ||
        !dym_expect_name(parser, "`on` or `off`", &value))
        return;
    const char *name = names_of(parser->lexer.names, option.name), *text = names_of(parser->lexer.names, value.name);
    const bool is_on = strcmp(text, "on") == 0;
    if (strcmp(name, "Events") != 0) {
        REPORT(parser, DIAG_DYM_SET, option.span, "there is no option `%s`", name);
        diag_help(parser->diag, "`set Events on` or `set Events off`");
    } else if (!is_on && strcmp(text, "off") != 0) {
        REPORT(parser, DIAG_DYM_SET, value.span, "Events cannot be `%s`", text);
        diag_help(parser->diag, "`set Events on` or `set Events off`");
    }
    parser->class->events = is_on ? EVENTS_ON : EVENTS_OFF;
}

/* ---- functions ---- */
/* function ident '(' ident { ',' ident } ')' { local ... | ident '=' Expression } end */
static void parse_function_body(Parser *parser, FunctionText *function)
{
    Class *class = function->class;
    Ident name = { 0 };
    if (!dym_expect(parser, TOKEN_OPEN))
        return;
    do {
        if (!dym_expect_name(parser, "the name of an argument", &name))
            return;
        const VarDecl argument = { .kind = KIND_LOCAL, .name = name };
        vec_push(parser->arena, &class->variables, argument);
        dym_know(parser, name.name, NAME_VARIABLE);
    } while (dym_accept(parser, TOKEN_COMMA));
    function->n_inputs = class->variables.n;
    const VarDecl value = { .kind = KIND_LOCAL, .name = class->name };
    vec_push(parser->arena, &class->variables, value);
    dym_know(parser, class->name.name, NAME_VARIABLE);
    if (!dym_expect(parser, TOKEN_CLOSE))
        return;
    while (parser->token.kind != TOKEN_END && !parser->is_panicking) {
        if (dym_accept(parser, TOKEN_LOCAL))
            dym_parse_variables(parser, KIND_TERMINAL); /* without start values */
        else if (!dym_parse_equation(parser, &class->equations))
            return;
    }
    dym_expect(parser, TOKEN_END);
}

static void parse_function(Parser *parser)
{
    FunctionText *function = NEW(parser->arena, FunctionText);
    Class *all = parser->class;
    uint32_t k;
    dym_advance(parser);
    function->class = dym_new_class(parser);
    if (!dym_expect_name(parser, "the name of a function", &function->class->name))
        return;
    const Ident name = function->class->name;
    const bool is_second = map_get(&all->functions.names, name.name.index, &k);
    const Span first = is_second ? all->functions.all.at[k]->class->name.span : SPAN_NONE;
    const bool is_again = first.source == name.span.source && first.begin == name.span.begin; /* file included twice */
    if (dym_is_function_name(names_of(parser->lexer.names, name.name)) || (is_second && !is_again)) {
        REPORT(parser, DIAG_DYM_TWICE, name.span, "there are two functions `%s`",
               names_of(parser->lexer.names, name.name));
        diag_help(parser->diag, "give it another name");
    }
    parser->class = function->class;
    parse_function_body(parser, function);
    parser->class = all;
    if (is_again)
        return;
    map_put(&all->functions.names, name.name.index, all->functions.all.n);
    vec_push(parser->arena, &all->functions.all, function);
}

/* ---- the text ---- */
Class *dym_parse(Lexer lexer, uint32_t source)
{
    Parser parser = { .lexer = lexer, .arena = lexer.arena, .diag = lexer.diag, .errors = lexer.errors };
    dym_lex_begin(&parser.lexer, source);
    parser.class = dym_new_class(&parser);
    Class *all = parser.class;
    map_init(&all->functions.names, parser.arena, 8);
    parser.token = dym_lex_next(&parser.lexer);
    parser.ahead = dym_lex_next(&parser.lexer);
    while (parser.token.kind != TOKEN_EOF && !parser.is_panicking) {
        if (parser.token.kind == TOKEN_MODEL)
            dym_parse_model(&parser);
        else if (dym_is_word(&parser, "function"))
            parse_function(&parser);
        else if (dym_is_word(&parser, "variable"))
            parse_directive(&parser);
        else if (dym_is_word(&parser, "set"))
            parse_set(&parser);
        else if (!dym_accept(&parser, TOKEN_SEMICOLON))
            dym_syntax_error(&parser, "`model`");
    }
    return *lexer.errors == 0 ? all : NULL;
}
