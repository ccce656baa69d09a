/* What all rules use, and the rules of classes and declarations; see parser.h. */
#include "lang/dymola/parser.h"

/* ---- tokens ---- */
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

/* ---- values ---- */
/* 'nominal' '=' number, our own: the usual size of a variable */
static bool parse_nominal(Parser *parser, Value *nominal)
{
    const Span begin = parser->token.span;
    dym_advance(parser);
    if (!dym_expect(parser, TOKEN_EQUAL))
        return false;
    const bool is_negative = dym_accept(parser, TOKEN_MINUS);
    if (parser->token.kind != TOKEN_NUMBER)
        return dym_syntax_error(parser, "a number");
    *nominal = (Value){ .kind = VALUE_NUMBER, .number = is_negative ? -parser->token.number : parser->token.number };
    dym_advance(parser);
    nominal->span = dym_span_since(parser, begin);
    return true;
}

/* [ '(' number { ',' number } [ ',' 'nominal' '=' number ] ')' ]; nominal NULL: it has no place here */
bool dym_parse_size(Parser *parser, Size *size, Value *nominal)
{
    const Span begin = parser->token.span;
    if (parser->token.kind != TOKEN_OPEN || parser->token.begins_line)
        return true;
    dym_advance(parser);
    do {
        if (nominal && dym_is_word(parser, "nominal")) {
            if (!parse_nominal(parser, nominal))
                return false;
            break;
        }
        const double n = parser->token.number;
        if (parser->token.kind != TOKEN_NUMBER)
            return dym_syntax_error(parser, "a number of elements");
        if (size->n == DIMS_MOST || !(n >= 1 && n <= MOST_ELEMENTS_OF_ONE && n == (uint32_t)n)) {
            REPORT(parser, DIAG_DYM_DIMENSION, parser->token.span,
                   size->n == DIMS_MOST ? "more than two dimensions" : "this is no number of elements");
            diag_help(parser->diag, "a vector is x(3), a matrix x(3, 3): whole numbers from 1 to %d",
                      MOST_ELEMENTS_OF_ONE);
            parser->is_panicking = true;
            return false;
        }
        size->at[size->n++] = (uint32_t)n;
        dym_advance(parser);
    } while (dym_accept(parser, TOKEN_COMMA));
    if (!dym_expect(parser, TOKEN_CLOSE))
        return false;
    size->span = dym_span_since(parser, begin);
    if (size->n == 2 && (uint64_t)size->at[0] * size->at[1] > MOST_ELEMENTS_OF_ONE) {
        REPORT(parser, DIAG_DYM_DIMENSION, size->span, "a matrix of more than %d elements", MOST_ELEMENTS_OF_ONE);
        parser->is_panicking = true;
        return false;
    }
    return true;
}

/* number { ',' number } { ';' ... } ']' */
static bool parse_numbers(Parser *parser, Value *value)
{
    VEC(double) numbers = { 0 };
    uint32_t rows = 1, columns = 0, in_row = 0;
    value->kind = VALUE_MATRIX;
    for (;;) {
        const bool is_negative = dym_accept(parser, TOKEN_MINUS);
        if (parser->token.kind != TOKEN_NUMBER)
            return dym_syntax_error(parser, "a number");
        vec_push(parser->arena, &numbers, is_negative ? -parser->token.number : parser->token.number);
        dym_advance(parser);
        in_row++;
        const bool is_end = parser->token.kind == TOKEN_CLOSE_BRACKET;
        if (is_end || parser->token.kind == TOKEN_SEMICOLON) {
            if (columns && columns != in_row)
                return dym_syntax_error(parser, "rows of equal length");
            columns = in_row;
            in_row = 0;
            rows += !is_end;
            dym_advance(parser);
            if (is_end)
                break;
        } else if (!dym_expect(parser, TOKEN_COMMA)) {
            return false;
        }
    }
    value->size = (Size){ .n = 2, .at = { rows, columns } };
    value->numbers = numbers.at;
    return true;
}

/* [ '+' | '-' ] unsigned | Boolean | variable */
static bool parse_value(Parser *parser, bool allows_variable, Value *value)
{
    const Span begin = parser->token.span;
    *value = (Value){ .kind = VALUE_NUMBER };
    if (parser->token.kind == TOKEN_TRUE || parser->token.kind == TOKEN_FALSE) {
        value->kind = VALUE_BOOLEAN;
        value->number = parser->token.kind == TOKEN_TRUE;
        dym_advance(parser);
    } else if (dym_accept(parser, TOKEN_OPEN_BRACKET)) {
        if (!parse_numbers(parser, value))
            return false;
    } else if (allows_variable && parser->token.kind == TOKEN_NAME) {
        value->kind = VALUE_VARIABLE;
        dym_expect_name(parser, "a variable", &value->variable);
    } else {
        const bool is_negative = dym_accept(parser, TOKEN_MINUS);
        if (!is_negative)
            dym_accept(parser, TOKEN_PLUS);
        if (parser->token.kind != TOKEN_NUMBER)
            return dym_syntax_error(parser, allows_variable ? "a number or a variable" : "a number, True or False");
        value->number = is_negative ? -parser->token.number : parser->token.number;
        dym_advance(parser);
    }
    value->span = dym_span_since(parser, begin);
    return true;
}

/* ---- declarations ---- */
static bool is_function(const Parser *parser, NameId name)
{
    const Class *all = parser->class;
    uint32_t k;
    while (all->outer)
        all = all->outer;
    return dym_is_function_name(names_of(parser->lexer.names, name)) || map_get(&all->functions.names, name.index, &k);
}

/* A name that begins an equation, where a list without commas could go on. */
static bool begins_equation(const Parser *parser, bool takes_value)
{
    switch ((TokenKind)parser->ahead.kind) {
    case TOKEN_DOT:
    case TOKEN_COLONS:
    case TOKEN_STAR:
    case TOKEN_SLASH:
    case TOKEN_PLUS:
    case TOKEN_MINUS:
    case TOKEN_POWER: return true;
    case TOKEN_OPEN: /* x(3): an element if there is an x already */
        return (dym_known(parser, parser->token.name) & NAME_VARIABLE) || is_function(parser, parser->token.name);
    case TOKEN_TRANSPOSE: return true;
    case TOKEN_EQUAL: break;
    default: return false;
    }
    return !takes_value || (dym_known(parser, parser->token.name) & NAME_VARIABLE);
}

/* VarItem -> variable [ Size ] [ '=' ( number | Boolean ) ] */
static void parse_variables(Parser *parser, VarKind kind)
{
    const bool takes_value = kind <= KIND_LOCAL;
    bool is_certain = true, has_comma = false; /* after the keyword and after a comma */
    while (parser->token.kind == TOKEN_NAME && (is_certain || !begins_equation(parser, takes_value))) {
        VarDecl declared = { .kind = (uint8_t)kind };
        dym_expect_name(parser, "a variable", &declared.name);
        if (!dym_parse_size(parser, &declared.size, &declared.nominal))
            return;
        if (takes_value && dym_accept(parser, TOKEN_EQUAL) && !parse_value(parser, false, &declared.value))
            return;
        dym_know(parser, declared.name.name, declared.size.n ? NAME_VARIABLE | NAME_ARRAY : NAME_VARIABLE);
        vec_push(parser->arena, &parser->class->variables, declared);
        is_certain = has_comma = dym_accept(parser, TOKEN_COMMA);
    }
    /* `local` alone is no error, but `local end = 1` means a variable */
    const bool is_meant = !parser->token.begins_line && dym_is_keyword((TokenKind)parser->token.kind) &&
                          (parser->ahead.kind == TOKEN_EQUAL || parser->ahead.kind == TOKEN_COMMA ||
                           (parser->ahead.begins_line && parser->ahead.kind != TOKEN_EOF));
    Ident ignored;
    if (has_comma || (is_certain && is_meant))
        dym_expect_name(parser, "the name of a variable", &ignored);
}

/* cut_ident [Cut] { [,] cut_ident [Cut] }, also for nodes */
static void parse_cuts(Parser *parser, bool is_main, bool is_node)
{
    bool is_certain = true;
    while (parser->token.kind == TOKEN_NAME && (is_certain || !begins_equation(parser, false))) {
        CutDecl declared = { .is_main = is_main, .is_node = is_node };
        dym_expect_name(parser, "a cut", &declared.name);
        if (parser->token.kind == TOKEN_OPEN || parser->token.kind == TOKEN_OPEN_BRACKET) {
            declared.cut = dym_parse_cut(parser, false);
        } else {
            declared.cut = NEW(parser->arena, Cut);
            declared.cut->kind = CUT_BARE;
            declared.cut->span = declared.name.span;
        }
        if (!declared.cut)
            return;
        dym_know(parser, declared.name.name, NAME_CONNECTABLE);
        vec_push(parser->arena, &parser->class->cuts, declared);
        is_certain = dym_accept(parser, TOKEN_COMMA);
    }
}

/* PathItem -> [path_ident] '<' ( Cut | '.' ) '-' ( Cut | '.' ) '>' */
static void parse_paths(Parser *parser, bool is_main)
{
    while ((parser->token.kind == TOKEN_NAME && parser->ahead.kind == TOKEN_LESS) || parser->token.kind == TOKEN_LESS) {
        PathDecl declared = { .is_main = is_main, .name.span = parser->token.span };
        if (parser->token.kind == TOKEN_NAME) {
            dym_expect_name(parser, "a path", &declared.name);
            dym_know(parser, declared.name.name, NAME_CONNECTABLE);
        }
        if (!dym_expect(parser, TOKEN_LESS) || !(declared.from = dym_parse_cut(parser, true)) ||
            !dym_expect(parser, TOKEN_MINUS) || !(declared.to = dym_parse_cut(parser, true)) ||
            !dym_expect(parser, TOKEN_GREATER))
            return;
        vec_push(parser->arena, &parser->class->paths, declared);
        dym_accept(parser, TOKEN_COMMA);
    }
}

static void parse_main(Parser *parser)
{
    if (dym_accept(parser, TOKEN_CUT))
        parse_cuts(parser, true, false);
    else if (dym_accept(parser, TOKEN_PATH))
        parse_paths(parser, true);
    else
        dym_syntax_error(parser, "`cut` or `path`");
}

/* ---- submodels ---- */
static Class *find_class(const Parser *parser, NameId name)
{
    for (const Class *outer = parser->class; outer; outer = outer->outer)
        for (const Class *class = outer; class; class = class->super)
            for (uint32_t k = class->classes.n; k-- > 0;)
                if (name_equal(class->classes.at[k]->name.name, name))
                    return class->classes.at[k];
    return NULL;
}

static Class *expect_class(Parser *parser, Ident name)
{
    Class *class = find_class(parser, name.name);
    if (class)
        return class;
    REPORT(parser, DIAG_DYM_NO_CLASS, name.span, "there is no class `%s`", names_of(parser->lexer.names, name.name));
    dym_advise_on_class(parser, name.name);
    return NULL;
}

/* ParamItem -> ident '=' value | value */
static bool parse_params(Parser *parser, Submodel *submodel)
{
    while (!dym_accept(parser, TOKEN_CLOSE)) {
        ParamItem item = { .name.span = parser->token.span };
        if (parser->token.kind == TOKEN_NAME &&
            (!dym_expect_name(parser, "a parameter", &item.name) || !dym_expect(parser, TOKEN_EQUAL)))
            return false;
        if (!parse_value(parser, !name_is_empty(item.name.name), &item.value))
            return false;
        vec_push(parser->arena, &submodel->params, item);
        dym_accept(parser, TOKEN_COMMA);
    }
    return true;
}

/* Invocations -> submodel [ '(' class_ident ')' ] Invocation { [,] Invocation } */
static void parse_submodels(Parser *parser)
{
    Ident name;
    Class *class = NULL;
    const bool has_class = dym_accept(parser, TOKEN_OPEN);
    if (has_class) {
        if (!dym_expect_name(parser, "the name of a class", &name) || !dym_expect(parser, TOKEN_CLOSE))
            return;
        class = expect_class(parser, name);
    }
    if (parser->token.kind != TOKEN_NAME)
        dym_syntax_error(parser, "the name of an object");
    bool is_certain = true;
    while (parser->token.kind == TOKEN_NAME && (is_certain || !begins_equation(parser, false))) {
        Submodel submodel = { 0 };
        dym_expect_name(parser, "an object", &submodel.name);
        submodel.class = has_class ? class : expect_class(parser, submodel.name);
        if (dym_accept(parser, TOKEN_OPEN) && !parse_params(parser, &submodel))
            return;
        dym_know(parser, submodel.name.name, NAME_CONNECTABLE);
        if (submodel.class)
            vec_push(parser->arena, &parser->class->submodels, submodel);
        is_certain = dym_accept(parser, TOKEN_COMMA);
    }
}

/* ---- equations ---- */
static bool parse_equation(Parser *parser, EquationTexts *to)
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
        if (!parse_equation(parser, &when->equations))
            return;
    }
    vec_push(parser->arena, &parser->class->whens, when);
}

/* ---- classes ---- */
static void parse_model(Parser *parser);

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
    case TOKEN_MODEL: parse_model(parser); return;
    case TOKEN_SEMICOLON: dym_advance(parser); return;
    case TOKEN_SUBMODEL:
        dym_advance(parser);
        parse_submodels(parser);
        return;
    case TOKEN_PARAMETER:
    case TOKEN_CONSTANT:
    case TOKEN_LOCAL:
    case TOKEN_TERMINAL:
    case TOKEN_INPUT:
    case TOKEN_OUTPUT:
        dym_advance(parser);
        parse_variables(parser, kinds[kind]);
        return;
    case TOKEN_MAIN:
        dym_advance(parser);
        parse_main(parser);
        return;
    case TOKEN_CUT:
    case TOKEN_NODE:
        dym_advance(parser);
        parse_cuts(parser, false, kind == TOKEN_NODE);
        return;
    case TOKEN_PATH:
        dym_advance(parser);
        parse_paths(parser, false);
        return;
    case TOKEN_CONNECT:
        dym_advance(parser);
        dym_parse_connect(parser);
        return;
    case TOKEN_WHEN:
        dym_advance(parser);
        parse_when(parser, begin);
        return;
    default: parse_equation(parser, &parser->class->equations); return;
    }
}

static Class *new_class(Parser *parser)
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
static void parse_model(Parser *parser)
{
    if (!dym_enter(parser))
        return;
    dym_advance(parser);
    Class *class = new_class(parser);
    class->is_class = dym_is_word(parser, "class") || dym_is_word(parser, "type");
    if (class->is_class)
        dym_advance(parser);
    Ident super;
    if (dym_accept(parser, TOKEN_OPEN) && dym_expect_name(parser, "the name of a class", &super)) {
        class->super = expect_class(parser, super);
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
            parse_variables(parser, KIND_TERMINAL); /* without start values */
        else if (!parse_equation(parser, &class->equations))
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
    function->class = new_class(parser);
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

Class *dym_parse(Lexer lexer, uint32_t source)
{
    Parser parser = { .lexer = lexer, .arena = lexer.arena, .diag = lexer.diag, .errors = lexer.errors };
    dym_lex_begin(&parser.lexer, source);
    parser.class = new_class(&parser);
    Class *all = parser.class;
    map_init(&all->functions.names, parser.arena, 8);
    parser.token = dym_lex_next(&parser.lexer);
    parser.ahead = dym_lex_next(&parser.lexer);
    while (parser.token.kind != TOKEN_EOF && !parser.is_panicking) {
        if (parser.token.kind == TOKEN_MODEL)
            parse_model(&parser);
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
