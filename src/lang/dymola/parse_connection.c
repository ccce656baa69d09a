/* Cuts and connections; see parser.h. */
#include "lang/dymola/parser.h"

/* ---- cuts ---- */
/* CutList -> CutItem { [,] CutItem } [ '/' CutItem { [,] CutItem } ], up to the parenthesis */
static bool parse_items(Parser *parser, Cut *cut)
{
    bool is_through = false;
    while (!dym_accept(parser, TOKEN_CLOSE)) {
        CutItem item = { .is_through = is_through };
        if (dym_accept(parser, TOKEN_SLASH)) {
            if (is_through)
                return dym_syntax_error(parser, "`)`: a cut has one list of through variables");
            is_through = true;
            continue;
        }
        item.name.span = parser->token.span;
        item.is_negated = dym_accept(parser, TOKEN_MINUS);
        if (item.is_negated || !dym_accept(parser, TOKEN_DOT)) {
            if (!dym_expect_name(parser, "a variable of the cut", &item.name))
                return false;
            if (!dym_parse_size(parser, &item.size, NULL))
                return false;
            dym_know(parser, item.name.name, item.size.n ? NAME_VARIABLE | NAME_ARRAY : NAME_VARIABLE);
        }
        vec_push(parser->arena, &cut->items, item);
        dym_accept(parser, TOKEN_COMMA);
    }
    return true;
}

/* Cut -> '(' [ CutList ] ')' | '[' { Cut | cut_ident } ']' */
Cut *dym_parse_cut(Parser *parser, bool allows_name)
{
    Cut *cut = NEW(parser->arena, Cut);
    cut->span = parser->token.span;
    bool is_good = dym_enter(parser);
    if (!is_good)
        return NULL;
    if (allows_name && parser->token.kind == TOKEN_NAME) {
        cut->kind = CUT_NAMED;
        is_good = dym_expect_name(parser, "a cut", &cut->name);
    } else if (allows_name && dym_accept(parser, TOKEN_DOT)) {
        cut->kind = CUT_EMPTY;
    } else if (dym_accept(parser, TOKEN_OPEN)) {
        cut->kind = CUT_FLAT;
        is_good = parse_items(parser, cut);
    } else if (dym_accept(parser, TOKEN_OPEN_BRACKET)) {
        cut->kind = CUT_LIST;
        while (is_good && !dym_accept(parser, TOKEN_CLOSE_BRACKET)) {
            Cut *part = dym_parse_cut(parser, true);
            is_good = part != NULL;
            vec_push(parser->arena, &cut->parts, part);
            dym_accept(parser, TOKEN_COMMA);
        }
    } else {
        is_good = dym_syntax_error(parser, "a cut: `(` before variables or `[` before cuts");
    }
    cut->span = dym_span_since(parser, cut->span);
    parser->depth--;
    return is_good ? cut : NULL;
}

/* ---- connections ---- */
static Wire *parse_join(Parser *parser);

/* ConnectionOperand -> name { '::' name } [ ':' cut_ident | '..' path_ident ] */
static bool parse_operand(Parser *parser, Wire *wire)
{
    VEC(Ident) path = { 0 };
    Ident name;
    do {
        if (!dym_expect_name(parser, "an object, a cut, a path or a node", &name))
            return false;
        vec_push(parser->arena, &path, name);
    } while (dym_accept(parser, TOKEN_COLONS));
    wire->kind = WIRE_NAME;
    const bool is_cut = dym_accept(parser, TOKEN_COLON);
    if (is_cut || dym_accept(parser, TOKEN_DOTS)) {
        wire->kind = is_cut ? WIRE_CUT : WIRE_PATH;
        if (!dym_expect_name(parser, is_cut ? "the name of a cut" : "the name of a path", &name))
            return false;
        vec_push(parser->arena, &path, name);
    }
    wire->path = path.at;
    wire->n_path = path.n;
    return true;
}

/* ConnectionPrimary -> ConnectionOperand | '(' { ConnectionExpr | '.' } ')' */
static Wire *parse_secondary(Parser *parser)
{
    Wire *wire = NEW(parser->arena, Wire);
    const Span begin = parser->token.span;
    if (!dym_enter(parser))
        return NULL;
    const bool is_reversed = dym_accept(parser, TOKEN_REVERSED) || dym_accept(parser, TOKEN_BACKSLASH);
    bool is_good = true;
    if (dym_accept(parser, TOKEN_OPEN)) {
        wire->kind = WIRE_LIST;
        while (is_good && !dym_accept(parser, TOKEN_CLOSE)) {
            Wire *part = NEW(parser->arena, Wire);
            part->kind = WIRE_EMPTY;
            part->span = parser->token.span;
            if (!dym_accept(parser, TOKEN_DOT))
                part = parse_join(parser);
            is_good = part != NULL;
            vec_push(parser->arena, &wire->parts, part);
            dym_accept(parser, TOKEN_COMMA);
        }
        if (is_good && wire->parts.n == 1)
            wire = wire->parts.at[0]; /* parentheses around one thing only group */
    } else {
        is_good = parse_operand(parser, wire);
    }
    wire->span = dym_span_since(parser, begin);
    wire->is_reversed ^= is_reversed;
    parser->depth--;
    return is_good ? wire : NULL;
}

static bool join_of(TokenKind kind, Join *join)
{
    switch (kind) {
    case TOKEN_AT:
    case TOKEN_EQUAL: *join = JOIN_AT; return true;
    case TOKEN_TO:
    case TOKEN_MINUS: *join = JOIN_TO; return true;
    case TOKEN_FROM: *join = JOIN_FROM; return true;
    case TOKEN_PAR:
    case TOKEN_PARALLEL: *join = JOIN_PAR; return true;
    case TOKEN_LOOP: *join = JOIN_LOOP; return true;
    default: return false;
    }
}

/* ConnectionExpr -> ConnectionSecondary { operator ConnectionSecondary } */
static Wire *parse_join(Parser *parser)
{
    const Span begin = parser->token.span;
    Wire *left = parse_secondary(parser);
    Join join;
    while (left && join_of((TokenKind)parser->token.kind, &join)) {
        dym_advance(parser);
        Wire *wire = NEW(parser->arena, Wire);
        wire->kind = WIRE_JOIN;
        wire->join = (uint8_t)join;
        wire->left = left;
        wire->right = parse_secondary(parser);
        wire->span = dym_span_since(parser, begin);
        wire->depth = (uint16_t)(left->depth + 1);
        if (wire->depth > EXPR_DEPTH) {
            parser->depth = NESTED_MOST;
            dym_enter(parser);
            return NULL;
        }
        left = wire->right ? wire : NULL;
    }
    return left;
}

/* Without a comma the next thing is a connection if it is the name of something that can be connected; else an
 * equation begins. */
static bool continues(const Parser *parser)
{
    if (parser->token.kind != TOKEN_NAME || parser->ahead.kind == TOKEN_DOT)
        return false;
    for (const Class *class = parser->class; class; class = class->super) {
        uint32_t bits;
        if (map_get(&class->known, parser->token.name.index, &bits))
            return (bits & NAME_CONNECTABLE) && !((bits & NAME_VARIABLE) && parser->ahead.kind == TOKEN_EQUAL);
    }
    return false;
}

/* Connection -> connect [ '<' ident '>' ] [ ConnectionExpr { [,] ConnectionExpr } ] */
void dym_parse_connect(Parser *parser)
{
    Ident ignored;
    if (dym_accept(parser, TOKEN_LESS) &&
        (!dym_expect_name(parser, "the name of the connection", &ignored) || !dym_expect(parser, TOKEN_GREATER)))
        return;
    if (parser->token.kind != TOKEN_NAME && parser->token.kind != TOKEN_OPEN && parser->token.kind != TOKEN_REVERSED &&
        parser->token.kind != TOKEN_BACKSLASH)
        return;
    do {
        Wire *wire = parse_join(parser);
        if (!wire)
            return;
        vec_push(parser->arena, &parser->class->wires, wire);
    } while (dym_accept(parser, TOKEN_COMMA) || continues(parser));
}
