/* Declarations: variables with their sizes and values, cuts, nodes, paths and objects; see parser.h. */
#include "lang/dymola/parser.h"

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

/* ---- variables, cuts and paths ---- */
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
void dym_parse_variables(Parser *parser, VarKind kind)
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
void dym_parse_cuts(Parser *parser, bool is_main, bool is_node)
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
void dym_parse_paths(Parser *parser, bool is_main)
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

void dym_parse_main(Parser *parser)
{
    if (dym_accept(parser, TOKEN_CUT))
        dym_parse_cuts(parser, true, false);
    else if (dym_accept(parser, TOKEN_PATH))
        dym_parse_paths(parser, true);
    else
        dym_syntax_error(parser, "`cut` or `path`");
}

/* ---- objects ---- */
static Class *find_class(const Parser *parser, NameId name)
{
    for (const Class *outer = parser->class; outer; outer = outer->outer)
        for (const Class *class = outer; class; class = class->super)
            for (uint32_t k = class->classes.n; k-- > 0;)
                if (name_equal(class->classes.at[k]->name.name, name))
                    return class->classes.at[k];
    return NULL;
}

Class *dym_expect_class(Parser *parser, Ident name)
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
void dym_parse_submodels(Parser *parser)
{
    Ident name;
    Class *class = NULL;
    const bool has_class = dym_accept(parser, TOKEN_OPEN);
    if (has_class) {
        if (!dym_expect_name(parser, "the name of a class", &name) || !dym_expect(parser, TOKEN_CLOSE))
            return;
        class = dym_expect_class(parser, name);
    }
    if (parser->token.kind != TOKEN_NAME)
        dym_syntax_error(parser, "the name of an object");
    bool is_certain = true;
    while (parser->token.kind == TOKEN_NAME && (is_certain || !begins_equation(parser, false))) {
        Submodel submodel = { 0 };
        dym_expect_name(parser, "an object", &submodel.name);
        submodel.class = has_class ? class : dym_expect_class(parser, submodel.name);
        if (dym_accept(parser, TOKEN_OPEN) && !parse_params(parser, &submodel))
            return;
        dym_know(parser, submodel.name.name, NAME_CONNECTABLE);
        if (submodel.class)
            vec_push(parser->arena, &parser->class->submodels, submodel);
        is_certain = dym_accept(parser, TOKEN_COMMA);
    }
}
