/* High level components: spec 2.2 and 2.10. */
#include "lang/simplex/parser.h"

/* subcomponent ::= [ sizes ] ( identifier | identifier OF CLASS identifier ) */
static bool parse_subcomponent(Parser *parser, Component *component)
{
    SubDecl sub;
    if (!mdl_parse_sizes(parser, &sub.sizes) || !mdl_expect_name(parser, "the name of a subcomponent", &sub.name))
        return false;
    sub.class_name = sub.name;
    if (mdl_accept(parser, TOKEN_OF) &&
        (!mdl_expect(parser, TOKEN_CLASS) || !mdl_expect_name(parser, "the name of a class", &sub.class_name)))
        return false;
    vec_push(parser->arena, &component->subs, sub);
    return true;
}

/* subcomponent_declaration ::= SUBCOMPONENT[S] subcomponent { ',' subcomponent } */
static void parse_subcomponents(Parser *parser, Component *component)
{
    if (!mdl_expect(parser, TOKEN_SUBCOMPONENT)) {
        mdl_synchronise(parser);
        return;
    }
    do {
        if (!parse_subcomponent(parser, component)) {
            while (!mdl_is_at(parser, TOKEN_COMMA) && !mdl_is_at_landmark(parser))
                mdl_advance(parser);
            parser->is_panicking = mdl_is_at(parser, TOKEN_EOF);
        }
    } while (mdl_accept(parser, TOKEN_COMMA));
}

/* input_element ::= identifier '.' identifier
 * output_element ::= identifier | identifier '.' identifier */
static bool parse_path(Parser *parser, bool may_be_bare, Path *path)
{
    const uint32_t begin = parser->token.begin;
    *path = (Path){ 0 };
    if (!mdl_expect_name(parser, may_be_bare ? "a name" : "subcomponent.quantity", &path->quantity) ||
        !mdl_parse_index(parser, &path->n, &path->index))
        return false;
    if (mdl_is_at(parser, TOKEN_DOT) || !may_be_bare || path->n) {
        path->sub = path->quantity;
        if (!mdl_is_at(parser, TOKEN_DOT))
            return mdl_syntax_error_help(parser, "`.`",
                                         "quantities of subcomponents are written subcomponent.quantity");
        mdl_advance(parser);
        if (!mdl_expect_name(parser, "the name of a quantity", &path->quantity) ||
            !mdl_parse_index(parser, &path->n_elements, &path->element))
            return false;
    }
    path->span = mdl_span_to_here(parser, begin);
    return true;
}

/* The loops around what is read now. */
static Loops loops_here(Parser *parser)
{
    Loops loops = { 0 };
    for (uint32_t k = 0; k < parser->loops.n; k++)
        vec_push(parser->arena, &loops, parser->loops.at[k]);
    return loops;
}

/* The right side of an arrow: input_element ';' | '(' input_element { ',' input_element } ')' ';' */
static bool parse_targets(Parser *parser, Path from, bool is_input, Component *component)
{
    const bool is_list = mdl_accept(parser, TOKEN_OPEN);
    Link link = { .from = from, .loops = loops_here(parser) };
    do {
        if (!parse_path(parser, false, &link.to))
            return false;
        if (is_input)
            vec_push(parser->arena, &component->inputs, link);
        else
            vec_push(parser->arena, &component->connections, link);
        link.is_repeated = true;
    } while (is_list && mdl_accept(parser, TOKEN_COMMA));
    return (!is_list || mdl_expect(parser, TOKEN_CLOSE)) && mdl_expect(parser, TOKEN_SEMICOLON);
}

/* input_connection ::= identifier '-->' input_ident ';' | identifier '-->' '(' input_ident { ',' input_ident } ')'
 * ';' */
static bool parse_input(Parser *parser, Component *component)
{
    Path from = { 0 };
    if (!mdl_expect_name(parser, "the name of an input", &from.quantity))
        return false;
    from.span = from.quantity.span;
    if (mdl_is_at(parser, TOKEN_DOT))
        return mdl_syntax_error_help(parser, "`-->`",
                                     "connections between subcomponents stand under COMPONENT CONNECTIONS");
    return mdl_expect(parser, TOKEN_ARROW) && parse_targets(parser, from, true, component);
}

/* output_equivalence ::= identifier ':=' identifier '.' identifier ';' */
static bool parse_equivalence(Parser *parser, Component *component)
{
    Equivalence equivalence;
    if (!mdl_expect_name(parser, "the name of an output", &equivalence.name) || !mdl_expect(parser, TOKEN_ASSIGN) ||
        !parse_path(parser, false, &equivalence.source))
        return false;
    vec_push(parser->arena, &component->equivalences, equivalence);
    return mdl_expect(parser, TOKEN_SEMICOLON);
}

/* comp_connection ::= output_element '-->' input_element ';'
 *                   | output_element '-->' '(' input_element { ',' input_element } ')' ';' */
static bool parse_connection(Parser *parser, Component *component)
{
    Path from;
    return parse_path(parser, true, &from) && mdl_expect(parser, TOKEN_ARROW) &&
           parse_targets(parser, from, false, component);
}

/* initialization ::= output_element ':=' value ';' */
static bool parse_initial(Parser *parser, Component *component)
{
    Initial initial = { .loops = loops_here(parser) };
    if (!parse_path(parser, true, &initial.target) || !mdl_expect(parser, TOKEN_ASSIGN) ||
        !mdl_parse_value(parser, &initial.value))
        return false;
    vec_push(parser->arena, &component->initials, initial);
    return mdl_expect(parser, TOKEN_SEMICOLON);
}

typedef struct {
    uint8_t first, second; /* tokens of the head; second TOKEN_EOF: none */
    bool (*parse)(Parser *parser, Component *component);
} Part;

static void parse_items(Parser *parser, const Part *part, Component *component);

/* loop DO item { item } END */
static bool parse_repeated(Parser *parser, const Part *part, Component *component)
{
    enum { DEEPEST = 8 };
    Loop *loop = mdl_parse_loop(parser);
    if (!loop || !mdl_expect(parser, TOKEN_DO))
        return false;
    if (parser->loops.n == DEEPEST)
        return mdl_too_deep(parser, loop->span);
    vec_push(parser->arena, &parser->loops, loop);
    parse_items(parser, part, component);
    parser->loops.n--;
    return mdl_expect(parser, TOKEN_END);
}

static void parse_items(Parser *parser, const Part *part, Component *component)
{
    do {
        const bool is_good =
            mdl_is_at(parser, TOKEN_FOR) ? parse_repeated(parser, part, component) : part->parse(parser, component);
        if (!is_good)
            mdl_synchronise(parser);
    } while (!mdl_is_at_landmark(parser) || mdl_is_at(parser, TOKEN_FOR));
}

/* item { item } */
static void parse_part(Parser *parser, const Part *part, Component *component)
{
    mdl_advance(parser);
    if (part->second != TOKEN_EOF && !mdl_expect(parser, part->second))
        mdl_synchronise(parser);
    parse_items(parser, part, component);
}

/* high_level_component ::= HIGH LEVEL COMPONENT identifier subcomponent_declaration [ input_connection_part ]
 *                          [ output_equivalence_part ] [ component_connection_part ] [ initialization_part ]
 *                          END OF identifier */
void mdl_parse_high(Parser *parser, Component *component)
{
    static const Part parts[] = {
        { TOKEN_INPUT, TOKEN_CONNECTION, parse_input },
        { TOKEN_OUTPUT, TOKEN_EQUIVALENCE, parse_equivalence },
        { TOKEN_COMPONENT, TOKEN_CONNECTION, parse_connection },
        { TOKEN_INITIALIZE, TOKEN_EOF, parse_initial },
    };
    enum { N_PARTS = sizeof parts / sizeof *parts };
    if (mdl_is_at(parser, TOKEN_LOCAL))
        mdl_parse_local_definitions(parser, component);
    parse_subcomponents(parser, component);
    for (uint32_t last = 0;;) {
        uint32_t k = 0;
        while (k < N_PARTS && !mdl_is_at(parser, parts[k].first))
            k++;
        if (k == N_PARTS)
            return;
        if (k < last) {
            REPORT(parser, DIAG_MDL_SECTION_ORDER, mdl_token_span(parser), "this part stands in the wrong place");
            diag_help(parser->diag, "the order is SUBCOMPONENTS, INPUT CONNECTIONS, OUTPUT EQUIVALENCES, COMPONENT "
                                    "CONNECTIONS, INITIALIZE, each at most once");
        }
        last = k + 1 > last ? k + 1 : last;
        parse_part(parser, &parts[k], component);
    }
}
