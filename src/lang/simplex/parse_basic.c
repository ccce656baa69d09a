/* Basic components: spec 2.2, 2.3 and 2.6 to 2.9. */
#include "lang/simplex/parser.h"
#include <string.h>
#include "lang/simplex/procedure.h"

/* Items of a declaration list are separated by commas. The original's own listings have one after the last item. */
static bool another_item(Parser *parser)
{
    const Span comma = mdl_token_span(parser);
    if (mdl_accept(parser, TOKEN_COMMA)) {
        if (!mdl_is_at_landmark(parser) || mdl_is_at(parser, TOKEN_EOF))
            return true;
        if (parser->lexer.is_strict) {
            REPORT(parser, DIAG_MDL_TRAILING_COMMA, comma, "nothing follows this comma");
            diag_help(parser->diag, "remove it, or leave the profile `simplex`");
        }
        return false;
    }
    if (!mdl_is_at(parser, TOKEN_NAME) && !mdl_is_at(parser, TOKEN_ARRAY))
        return false;
    if (!parser->is_panicking) {
        REPORT(parser, DIAG_SYNTAX, mdl_token_span(parser), "expected `,` before the next item of the list");
        diag_help(parser->diag, "separate the items by commas");
    }
    return true;
}

/* ---- local definitions ---- */
/* enumeration_set ::= VALUE SET identifier ':' '(' enum_value_list ')'
 * enum_value_list ::= identifier ',' identifier { ',' identifier } | identifier '<' identifier { '<' identifier } */
static bool parse_value_set(Parser *parser, Component *component)
{
    ValueSet set = { 0 };
    mdl_advance(parser);
    if (!mdl_expect(parser, TOKEN_SET) || !mdl_expect_name(parser, "the name of the value set", &set.name) ||
        !mdl_expect(parser, TOKEN_COLON) || !mdl_expect(parser, TOKEN_OPEN))
        return false;
    TokenKind separator = TOKEN_COMMA;
    do {
        Ident value;
        if (!mdl_expect_name(parser, "a value of the set", &value))
            return false;
        vec_push(parser->arena, &set.values, value);
        if (set.values.n == 1 && mdl_is_at(parser, TOKEN_LESS))
            separator = TOKEN_LESS;
    } while (mdl_accept(parser, separator));
    if (mdl_is_at(parser, TOKEN_COMMA) || mdl_is_at(parser, TOKEN_LESS))
        return mdl_syntax_error_help(parser, "`)`",
                                     "a set is unordered with `,` or ordered with `<` between all its values");
    set.is_ordered = separator == TOKEN_LESS;
    vec_push(parser->arena, &component->sets, set);
    return mdl_expect(parser, TOKEN_CLOSE);
}

/* interpolation_method ::= LINEAR | CUBIC BESSEL | CUBIC SPLINE */
static bool parse_method(Parser *parser, uint8_t *method)
{
    if (mdl_accept(parser, TOKEN_LINEAR)) {
        *method = TABLE_LINEAR;
        return true;
    }
    if (!mdl_accept(parser, TOKEN_CUBIC))
        return mdl_syntax_error(parser, "LINEAR, CUBIC BESSEL or CUBIC SPLINE");
    *method = mdl_is_at(parser, TOKEN_BESSEL) ? TABLE_BESSEL : TABLE_SPLINE;
    return mdl_accept(parser, TOKEN_BESSEL) || mdl_accept(parser, TOKEN_SPLINE) ||
           mdl_syntax_error(parser, "BESSEL or SPLINE");
}

/* '(' number_list ')',  number_list ::= number ',' number { ',' number } */
static bool parse_points(Parser *parser, TableDecl *table, bool is_x)
{
    if (!mdl_expect(parser, TOKEN_OPEN))
        return false;
    do {
        const uint32_t begin = parser->token.begin;
        TablePoint point;
        if (!mdl_parse_signed_number(parser, &point.value))
            return false;
        point.span = mdl_span_to_here(parser, begin);
        if (is_x)
            vec_push(parser->arena, &table->x, point);
        else
            vec_push(parser->arena, &table->y, point);
    } while (mdl_accept(parser, TOKEN_COMMA));
    return mdl_expect(parser, TOKEN_CLOSE);
}

/* REAL [ unit ] */
static bool parse_real(Parser *parser, Ident *unit)
{
    return mdl_expect(parser, TOKEN_REAL) && (!mdl_is_at(parser, TOKEN_OPEN_BRACKET) || mdl_parse_unit(parser, unit));
}

/* tabular_function ::= TABULAR FUNCTION identifier '(' REAL [ unit ] '-->' REAL [ unit ] ')' CONTINUOUS
 *                      BY interpolation_method INTERPOLATION ON '(' number_list ')' '-->' '(' number_list ')' */
static bool parse_table(Parser *parser, Component *component)
{
    TableDecl table = { 0 };
    mdl_advance(parser);
    const bool is_good =
        mdl_expect(parser, TOKEN_FUNCTION) && mdl_expect_name(parser, "the name of the function", &table.name) &&
        mdl_expect(parser, TOKEN_OPEN) && parse_real(parser, &table.unit_x) && mdl_expect(parser, TOKEN_ARROW) &&
        parse_real(parser, &table.unit_y) && mdl_expect(parser, TOKEN_CLOSE) && mdl_expect(parser, TOKEN_CONTINUOUS) &&
        mdl_expect(parser, TOKEN_BY) && parse_method(parser, &table.method) &&
        mdl_expect(parser, TOKEN_INTERPOLATION) && mdl_expect(parser, TOKEN_ON) && parse_points(parser, &table, true) &&
        mdl_expect(parser, TOKEN_ARROW) && parse_points(parser, &table, false);
    vec_push(parser->arena, &component->tables, table);
    return is_good;
}

/* local_definitions ::= LOCAL DEFINITION[S] [ T unit ] { enumeration_set } { tabular_function } */
void mdl_parse_local_definitions(Parser *parser, Component *component)
{
    mdl_advance(parser);
    if (!mdl_expect(parser, TOKEN_DEFINITION))
        mdl_synchronise(parser);
    if (mdl_accept(parser, TOKEN_TIME) &&
        !(mdl_is_at(parser, TOKEN_OPEN_BRACKET) ? mdl_parse_unit(parser, &component->time_unit)
                                                : mdl_syntax_error(parser, "the unit of the time, as in T [h]")))
        mdl_synchronise(parser);
    while (mdl_is_at(parser, TOKEN_VALUE) || mdl_is_at(parser, TOKEN_TABULAR) || mdl_is_at(parser, TOKEN_DIMENSION) ||
           mdl_is_at(parser, TOKEN_FUNCTION)) {
        const bool is_good = mdl_is_at(parser, TOKEN_VALUE)      ? parse_value_set(parser, component)
                             : mdl_is_at(parser, TOKEN_TABULAR)  ? parse_table(parser, component)
                             : mdl_is_at(parser, TOKEN_FUNCTION) ? mdl_parse_procedure(parser, component)
                                                                 : mdl_parse_dimensions(parser, component);
        if (is_good)
            continue;
        while (!mdl_is_at(parser, TOKEN_VALUE) && !mdl_is_at(parser, TOKEN_TABULAR) &&
               !mdl_is_at(parser, TOKEN_FUNCTION) && !mdl_is_at(parser, TOKEN_DIMENSION) &&
               !mdl_is_at(parser, TOKEN_SUBCOMPONENT) && !mdl_is_at(parser, TOKEN_DECLARATION) &&
               !mdl_is_at(parser, TOKEN_DYNAMIC) && !mdl_is_at(parser, TOKEN_EOF))
            mdl_advance(parser);
        parser->is_panicking = mdl_is_at(parser, TOKEN_EOF);
    }
}

/* ---- declaration of elements ---- */
/* range ::= INT [ unit ] | INTEGER [ unit ] | REAL [ unit ] | LOGICAL | identifier,  unit ::= '[' text ']' */
static bool parse_range(Parser *parser, Quantity *quantity)
{
    const bool is_number = mdl_is_at(parser, TOKEN_INT) || mdl_is_at(parser, TOKEN_REAL);
    switch (parser->token.kind) {
    case TOKEN_INT: quantity->range = TYPE_INTEGER; break;
    case TOKEN_REAL: quantity->range = TYPE_REAL; break;
    case TOKEN_LOGICAL: quantity->range = TYPE_BOOLEAN; break;
    case TOKEN_NAME:
        quantity->range = TYPE_ENUM;
        quantity->set = (Ident){ parser->token.name, mdl_token_span(parser) };
        break;
    default:
        return mdl_syntax_error_help(parser, "a value set",
                                     "there are INTEGER, REAL, LOGICAL and the VALUE SETs defined above");
    }
    mdl_advance(parser);
    if (!mdl_is_at(parser, TOKEN_OPEN_BRACKET))
        return true;
    return is_number ? mdl_parse_unit(parser, &quantity->unit)
                     : mdl_syntax_error_help(parser, "`)`", "only INTEGER and REAL quantities have units");
}

/* '(' value { ',' value } ')' of an array, in the order of rows */
static bool parse_values(Parser *parser, Quantity *quantity)
{
    mdl_advance(parser);
    do {
        Value value;
        if (!mdl_parse_value(parser, &value))
            return false;
        vec_push(parser->arena, &quantity->initials, value);
    } while (mdl_accept(parser, TOKEN_COMMA));
    return mdl_expect(parser, TOKEN_CLOSE);
}

/* [ NOMINAL number ], beyond the thesis; NOMINAL is no keyword: no other item of a list is a name behind a value. */
static bool parse_nominal(Parser *parser, Value *nominal)
{
    const uint32_t begin = parser->token.begin;
    if (parser->lexer.is_strict || !mdl_is_at(parser, TOKEN_NAME) ||
        strcmp(names_of(parser->lexer.names, parser->token.name), "NOMINAL") != 0)
        return true;
    mdl_advance(parser);
    nominal->kind = VALUE_NUMBER;
    if (!mdl_parse_signed_number(parser, &nominal->number))
        return false;
    nominal->span = mdl_span_to_here(parser, begin);
    return true;
}

/* quantity ::= [ sizes ] identifier '(' range ')' [ ':=' value ] [ NOMINAL number ] */
static bool parse_quantity(Parser *parser, Component *component, Use use, bool is_continuous)
{
    Quantity quantity = { .use = (uint8_t)use, .is_continuous = is_continuous };
    if (!mdl_parse_sizes(parser, &quantity.sizes) ||
        !mdl_expect_name(parser, "the name of a quantity", &quantity.name) || !mdl_expect(parser, TOKEN_OPEN) ||
        !parse_range(parser, &quantity) || !mdl_expect(parser, TOKEN_CLOSE))
        return false;
    if (mdl_is_at(parser, TOKEN_EQUAL))
        return mdl_syntax_error_help(parser, "`:=`", "an initial value follows `:=`");
    if (mdl_accept(parser, TOKEN_ASSIGN) &&
        !(quantity.sizes.n && mdl_is_at(parser, TOKEN_OPEN) ? parse_values(parser, &quantity)
                                                            : mdl_parse_value(parser, &quantity.initial)))
        return false;
    if (!parse_nominal(parser, &quantity.nominal))
        return false;
    vec_push(parser->arena, &component->quantities, quantity);
    return true;
}

/* quantity { ',' quantity } */
static void parse_quantities(Parser *parser, Component *component, Use use, bool is_continuous)
{
    do {
        if (!parse_quantity(parser, component, use, is_continuous)) {
            while (!mdl_is_at(parser, TOKEN_COMMA) && !mdl_is_at_landmark(parser))
                mdl_advance(parser);
            parser->is_panicking = mdl_is_at(parser, TOKEN_EOF);
        }
    } while (another_item(parser));
}

/* var_lists ::= [ [DISCRETE] quantity { ',' quantity } ] [ CONTINUOUS quantity { ',' quantity } ] */
static void parse_variable_lists(Parser *parser, Component *component, Use use)
{
    if (!mdl_expect(parser, TOKEN_VARIABLE)) {
        mdl_synchronise(parser);
        return;
    }
    if (mdl_accept(parser, TOKEN_DISCRETE) || !mdl_is_at_landmark(parser))
        parse_quantities(parser, component, use, false);
    if (mdl_accept(parser, TOKEN_CONTINUOUS))
        parse_quantities(parser, component, use, true);
    if (mdl_is_at(parser, TOKEN_DISCRETE) || mdl_is_at(parser, TOKEN_CONTINUOUS)) {
        REPORT(parser, DIAG_MDL_SECTION_ORDER, mdl_token_span(parser), "%s cannot follow here",
               mdl_token_text(parser->token.kind));
        diag_help(parser->diag, "a list has its DISCRETE quantities first, then the CONTINUOUS ones, each group once");
        while (mdl_accept(parser, TOKEN_DISCRETE) || mdl_accept(parser, TOKEN_CONTINUOUS))
            parse_quantities(parser, component, use, true);
    }
}

static bool section_use(TokenKind kind, Use *use)
{
    switch (kind) {
    case TOKEN_CONSTANT: *use = USE_CONSTANT; return true;
    case TOKEN_STATE: *use = USE_STATE; return true;
    case TOKEN_DEPENDENT: *use = USE_DEPENDENT; return true;
    case TOKEN_SENSOR: *use = USE_SENSOR; return true;
    default: return false;
    }
}

/* declaration_of_elements ::= DECLARATION OF ELEMENTS [ list_of_constants ] [ list_of_state_variables ]
 *                             [ list_of_dependent_variables ] [ list_of_sensor_variables ] */
static void parse_declarations(Parser *parser, Component *component)
{
    if (!mdl_expect(parser, TOKEN_DECLARATION) || !mdl_expect(parser, TOKEN_OF) || !mdl_expect(parser, TOKEN_ELEMENTS))
        mdl_synchronise(parser);
    Use use, last = USE_CONSTANT;
    for (bool is_first = true; section_use(parser->token.kind, &use); is_first = false) {
        const Span head = mdl_token_span(parser);
        if (!is_first && use <= last) {
            REPORT(parser, DIAG_MDL_SECTION_ORDER, head, "the list of %s stands in the wrong place",
                   mdl_token_text(parser->token.kind));
            diag_help(parser->diag, "the order is CONSTANTS, STATE, DEPENDENT, SENSOR VARIABLES, each at most once");
        } else {
            last = use;
        }
        mdl_advance(parser);
        if (use == USE_CONSTANT)
            parse_quantities(parser, component, use, false);
        else
            parse_variable_lists(parser, component, use);
    }
}

/* ---- dynamic behaviour ---- */
typedef enum { IN_DYNAMICS, IN_EVENT } Place;
static Stmt *parse_statements(Parser *parser, Place place);

static Stmt *new_statement(Parser *parser, StmtKind kind)
{
    Stmt *statement = NEW(parser->arena, Stmt);
    statement->kind = (uint8_t)kind;
    statement->span = mdl_token_span(parser);
    return statement;
}

/* ':=' expression ';' */
static bool parse_right_side(Parser *parser, Stmt *statement)
{
    if (mdl_is_at(parser, TOKEN_EQUAL))
        return mdl_syntax_error_help(parser, "`:=`", "`:=` defines a quantity, `=` compares");
    if (!mdl_expect(parser, TOKEN_ASSIGN))
        return false;
    statement->u.define.value = mdl_parse_expression(parser);
    if (!statement->u.define.value || !mdl_expect(parser, TOKEN_SEMICOLON))
        return false;
    statement->span = mdl_span_to_here(parser, statement->span.begin);
    return true;
}

/* algebraic_equation ::= identifier ':=' expression ';'
 * state_variable_assignment ::= identifier '^' ':=' expression ';'  (in events) */
static Stmt *parse_definition(Parser *parser, Place place)
{
    Stmt *statement = new_statement(parser, place == IN_EVENT ? STMT_NEXT : STMT_ALGEBRAIC);
    statement->u.define.symbol = ID_NONE;
    if (!mdl_expect_name(parser, "a statement", &statement->u.define.target) ||
        !mdl_parse_index(parser, &statement->u.define.n, &statement->u.define.index))
        return NULL;
    if (mdl_is_at(parser, TOKEN_NAME) && mdl_is_like_keyword(parser, statement->u.define.target.name)) {
        mdl_syntax_error_help(parser, "`:=`", "keywords are written in capitals: IF, DO, END");
        return NULL;
    }
    if (mdl_is_at(parser, TOKEN_PRIME)) {
        mdl_syntax_error_help(parser, "`:=`", "derivatives stand between DIFFERENTIAL EQUATIONS and END");
        return NULL;
    }
    if (place == IN_EVENT && mdl_is_at(parser, TOKEN_ASSIGN)) {
        mdl_syntax_error_help(parser, "`^`", "an event gives a state its next value: x^ := expression;");
        return NULL;
    }
    if (place == IN_DYNAMICS && mdl_is_at(parser, TOKEN_HAT)) {
        mdl_syntax_error_help(parser, "`:=`", "next values are assigned inside of WHENEVER condition DO … END");
        return NULL;
    }
    if (place == IN_EVENT && !mdl_expect(parser, TOKEN_HAT))
        return NULL;
    return parse_right_side(parser, statement) ? statement : NULL;
}

/* derivative_assignment ::= identifier "'" ':=' expression ';' */
static Stmt *parse_derivative(Parser *parser)
{
    Stmt *statement = new_statement(parser, STMT_DERIVATIVE);
    statement->u.define.symbol = ID_NONE;
    if (!mdl_expect_name(parser, "a derivative", &statement->u.define.target) ||
        !mdl_parse_index(parser, &statement->u.define.n, &statement->u.define.index))
        return NULL;
    if (!mdl_accept(parser, TOKEN_PRIME)) {
        mdl_syntax_error_help(parser, "`'`",
                              "between DIFFERENTIAL EQUATIONS and END stand equations x' := expression;");
        return NULL;
    }
    return parse_right_side(parser, statement) ? statement : NULL;
}

/* derivative_assignment { derivative_assignment } END ; between them loops: FOR … DO derivatives END */
static Stmt *parse_derivatives(Parser *parser)
{
    Stmt *first = NULL, **end = &first;
    if (parser->depth >= STATEMENT_DEPTH) {
        mdl_too_deep(parser, mdl_token_span(parser));
        return NULL;
    }
    parser->depth++;
    do {
        if (mdl_is_at(parser, TOKEN_FOR)) {
            Stmt *statement = new_statement(parser, STMT_FOR);
            statement->u.repeat.loop = mdl_parse_loop(parser);
            if (statement->u.repeat.loop && mdl_expect(parser, TOKEN_DO))
                statement->u.repeat.body = parse_derivatives(parser);
            *end = statement->u.repeat.body ? statement : NULL;
        } else {
            *end = parse_derivative(parser);
        }
        if (*end)
            end = &(*end)->next;
        else
            mdl_synchronise(parser);
    } while (mdl_is_at(parser, TOKEN_NAME) || mdl_is_at(parser, TOKEN_FOR));
    parser->depth--;
    return mdl_expect(parser, TOKEN_END) ? first : NULL;
}

/* differential_equations ::= DIFFERENTIAL EQUATION[S] derivatives */
static Stmt *parse_differential(Parser *parser)
{
    mdl_advance(parser);
    return mdl_expect(parser, TOKEN_EQUATION) ? parse_derivatives(parser) : NULL;
}

/* expression DO statement_sequence END; ELSE has no expression. A mistake in the condition or a missing DO does
 * not hide what is wrong in the body. */
static bool parse_block(Parser *parser, Place place, bool has_condition, Node **condition, Stmt **body)
{
    if (has_condition && !(*condition = mdl_parse_expression(parser)))
        while (!mdl_is_at(parser, TOKEN_DO) && !mdl_is_at(parser, TOKEN_SEMICOLON) && !mdl_is_at_landmark(parser))
            mdl_advance(parser);
    if (!mdl_expect(parser, TOKEN_DO) && mdl_is_at(parser, TOKEN_EOF))
        return false;
    parser->is_panicking = false;
    *body = parse_statements(parser, place);
    return mdl_expect(parser, TOKEN_END);
}

/* region_defining_statement ::= IF expression DO statement_sequence END
 *                               { ELSIF expression DO statement_sequence END } [ ELSE DO statement_sequence END ]
 * event_region_defining_statement: the same of transition statements. */
static Stmt *parse_if(Parser *parser, Place place)
{
    Stmt *statement = new_statement(parser, STMT_IF);
    VEC(Branch) branches = { 0 };
    bool has_else = false;
    do {
        Branch branch = { .span = mdl_token_span(parser) };
        has_else = mdl_is_at(parser, TOKEN_ELSE);
        mdl_advance(parser);
        if (!parse_block(parser, place, !has_else, &branch.condition, &branch.body))
            return NULL;
        branch.span = mdl_span_to_here(parser, branch.span.begin);
        vec_push(parser->arena, &branches, branch);
    } while (!has_else && (mdl_is_at(parser, TOKEN_ELSIF) || mdl_is_at(parser, TOKEN_ELSE)));
    if (branches.n > UINT16_MAX) {
        REPORT(parser, DIAG_MDL_TOO_MANY, statement->span, "an IF can have at most %u branches", UINT16_MAX);
        diag_help(parser->diag, "nest several IF in each other");
        branches.n = 1;
    }
    statement->u.choice.n = branches.n;
    statement->u.choice.branches = branches.at;
    statement->span = mdl_span_to_here(parser, statement->span.begin);
    return statement;
}

/* repetition ::= loop DO statement_sequence END */
static Stmt *parse_for(Parser *parser, Place place)
{
    Stmt *statement = new_statement(parser, STMT_FOR);
    statement->u.repeat.loop = mdl_parse_loop(parser);
    if (!statement->u.repeat.loop)
        while (!mdl_is_at(parser, TOKEN_DO) && !mdl_is_at(parser, TOKEN_SEMICOLON) && !mdl_is_at_landmark(parser))
            mdl_advance(parser);
    if (!mdl_expect(parser, TOKEN_DO) && mdl_is_at(parser, TOKEN_EOF))
        return NULL;
    parser->is_panicking = false;
    statement->u.repeat.body = parse_statements(parser, place);
    if (!mdl_expect(parser, TOKEN_END))
        return NULL;
    statement->span = mdl_span_to_here(parser, statement->span.begin);
    return statement;
}

/* event_defining_statement ::= WHENEVER expression DO transition_statement_sequence END */
static Stmt *parse_whenever(Parser *parser)
{
    Stmt *statement = new_statement(parser, STMT_WHENEVER);
    mdl_advance(parser);
    if (!parse_block(parser, IN_EVENT, true, &statement->u.event.condition, &statement->u.event.body))
        return NULL;
    statement->span = mdl_span_to_here(parser, statement->span.begin);
    return statement;
}

/* display_statement ::= DISPLAY '(' string { ',' expression } ')' ';' */
static Stmt *parse_display(Parser *parser)
{
    Stmt *statement = new_statement(parser, STMT_DISPLAY);
    mdl_advance(parser);
    if (!mdl_expect(parser, TOKEN_OPEN))
        return NULL;
    statement->u.display.format = parser->token.name;
    statement->u.display.format_span = mdl_token_span(parser);
    if (!mdl_expect(parser, TOKEN_STRING))
        return NULL;
    VEC(Node *) args = { 0 };
    while (mdl_accept(parser, TOKEN_COMMA)) {
        Node *arg = mdl_parse_expression(parser);
        if (!arg)
            return NULL;
        vec_push(parser->arena, &args, arg);
    }
    statement->u.display.n = args.n;
    statement->u.display.args = args.at;
    if (!mdl_expect(parser, TOKEN_CLOSE) || !mdl_expect(parser, TOKEN_SEMICOLON))
        return NULL;
    statement->span = mdl_span_to_here(parser, statement->span.begin);
    return statement;
}

/* T := …  is a statement nobody may write. */
static Stmt *parse_time_assignment(Parser *parser)
{
    if (!parser->is_panicking) {
        REPORT(parser, DIAG_MDL_ASSIGN_TIME, mdl_token_span(parser), "the time T cannot be assigned");
        diag_help(parser->diag, "T is given; a clock of your own is a state variable");
    }
    parser->is_panicking = true;
    return NULL;
}

/* Reported, and then read all the same. */
static void misplaced(Parser *parser, const char *expected, const char *help)
{
    mdl_syntax_error_help(parser, expected, help);
    parser->is_panicking = false;
}

/* stop_statement ::= STOP ';' ; STOP is no keyword: no other statement of an event is a name alone. */
static Stmt *parse_stop(Parser *parser)
{
    const Parser before = *parser;
    if (parser->lexer.is_strict || !mdl_is_at(parser, TOKEN_NAME) ||
        strcmp(names_of(parser->lexer.names, parser->token.name), "STOP") != 0)
        return NULL;
    Stmt *statement = new_statement(parser, STMT_STOP);
    mdl_advance(parser);
    if (mdl_is_at(parser, TOKEN_SEMICOLON)) {
        mdl_advance(parser);
        statement->span = mdl_span_to_here(parser, statement->span.begin);
        return statement;
    }
    *parser = before;
    return NULL;
}

/* statement ::= algebraic_equation | differential_equations | region_defining_statement | event_defining_statement
 * transition_statement ::= state_variable_assignment | event_region_defining_statement | display_statement */
static Stmt *parse_statement(Parser *parser, Place place)
{
    Stmt *stop = place == IN_EVENT ? parse_stop(parser) : NULL;
    if (stop)
        return stop;
    switch (parser->token.kind) {
    case TOKEN_IF: return parse_if(parser, place);
    case TOKEN_FOR: return parse_for(parser, place);
    case TOKEN_TIME: return parse_time_assignment(parser);
    case TOKEN_DIFFERENTIAL:
        if (place == IN_EVENT)
            misplaced(parser, "an assignment", "differential equations stand outside of WHENEVER");
        return parse_differential(parser);
    case TOKEN_WHENEVER:
        if (place == IN_EVENT)
            misplaced(parser, "an assignment", "events do not contain events; use IF inside of WHENEVER");
        return parse_whenever(parser);
    case TOKEN_DISPLAY:
        if (place == IN_DYNAMICS)
            misplaced(parser, "an equation", "DISPLAY stands inside of WHENEVER");
        return parse_display(parser);
    default: return parse_definition(parser, place);
    }
}

static bool ends_statements(TokenKind kind)
{
    switch (kind) {
    case TOKEN_END:
    case TOKEN_EOF:
    case TOKEN_ELSE:
    case TOKEN_ELSIF: return true;
    default: return false;
    }
}

/* statement_sequence ::= statement { statement } */
static Stmt *parse_statements(Parser *parser, Place place)
{
    if (parser->depth >= STATEMENT_DEPTH) {
        mdl_too_deep(parser, mdl_token_span(parser));
        return NULL;
    }
    parser->depth++;
    Stmt *first = NULL, **end = &first;
    if (ends_statements(parser->token.kind)) {
        mdl_syntax_error(parser, "a statement");
        parser->is_panicking = !mdl_is_at(parser, TOKEN_END);
    }
    while (!ends_statements(parser->token.kind)) {
        const uint32_t at = parser->token.begin;
        *end = parse_statement(parser, place);
        while (*end)
            end = &(*end)->next;
        if (parser->is_panicking) {
            mdl_synchronise(parser);
            if (parser->token.begin == at && !ends_statements(parser->token.kind)) {
                mdl_advance(parser);
                mdl_synchronise(parser);
            }
        }
    }
    parser->depth--;
    return first;
}

/* basic_component ::= BASIC COMPONENT identifier [ local_definitions ] declaration_of_elements
 *                     [ dynamic_behaviour ] END OF identifier
 * dynamic_behaviour ::= DYNAMIC BEHAVIOUR statement_sequence */
void mdl_parse_basic(Parser *parser, Component *component)
{
    if (mdl_is_at(parser, TOKEN_LOCAL))
        mdl_parse_local_definitions(parser, component);
    parse_declarations(parser, component);
    if (mdl_accept(parser, TOKEN_DYNAMIC)) {
        if (!mdl_expect(parser, TOKEN_BEHAVIOUR))
            mdl_synchronise(parser);
        component->statements = parse_statements(parser, IN_DYNAMICS);
    }
}
