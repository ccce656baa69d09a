/* Several results of a call at once: (a, ., b) = f(x); see read_reader.h. */
#include "ir/read_reader.h"

bool reader_begins_results(const Reader *r)
{
    Lexer lexer = r->lexer;
    uint32_t depth = 1;
    bool has_comma = false;
    if (r->token.kind != TOKEN_OPEN)
        return false;
    for (;;) {
        const Token token = lexer_next(&lexer);
        switch (token.kind) {
        case TOKEN_OPEN:
        case TOKEN_OPEN_SET:
        case TOKEN_OPEN_INDEX: depth++; break;
        case TOKEN_CLOSE:
        case TOKEN_CLOSE_SET:
        case TOKEN_CLOSE_INDEX:
            if (--depth == 0) {
                const Token sign = has_comma ? lexer_next(&lexer) : token;
                return sign.kind == TOKEN_IS || sign.kind == TOKEN_ASSIGN;
            }
            break;
        case TOKEN_COMMA: has_comma |= depth == 1; break;
        case TOKEN_LINE:
        case TOKEN_SEMICOLON:
        case TOKEN_BAD:
        case TOKEN_END: return false;
        default: break;
        }
    }
}

/* A dot stands for a result that nobody takes. */
static bool accept_gap(Reader *r)
{
    if (r->token.kind != TOKEN_DOT)
        return false;
    Lexer lexer = r->lexer;
    const Token next = lexer_next(&lexer);
    if (next.kind != TOKEN_COMMA && next.kind != TOKEN_CLOSE)
        return false;
    reader_advance(r);
    return true;
}

/* (a, ., b): behind it; absent terms are gaps. */
static bool parse_places(Reader *r, bool are_targets, Results *places)
{
    reader_advance(r);
    do {
        const Expr *shape;
        const uint32_t begin = r->token.begin;
        Term place = TERM_NONE;
        if (!accept_gap(r)) {
            if (!reader_parse_any_term(r, &shape) ||
                (are_targets && !reader_check_target(r, shape, reader_span_from(r, begin))))
                return false;
            place = reader_finish_term(r, shape);
        }
        vec_push(r->arena, &places->places, place);
    } while (reader_accept(r, TOKEN_COMMA));
    return reader_expect(r, TOKEN_CLOSE, "',' or ')' after a result");
}

bool reader_parse_results(Reader *r, bool are_targets, TokenKind *sign, Results *results)
{
    const uint32_t begin = r->token.begin;
    Results all = { 0 };
    const Expr *call;
    if (!parse_places(r, are_targets, &all))
        return false;
    *sign = (TokenKind)r->token.kind;
    if (!reader_accept(r, TOKEN_IS) && !reader_expect(r, TOKEN_ASSIGN, "'=' or ':=' after the results"))
        return false;
    if (!reader_parse_any_term(r, &call))
        return false;
    const Span span = reader_span_from(r, begin);
    const Function *f = call->kind == EXPR_FUNCTION ? call->u.function : NULL;
    if (!f || call->result || all.places.n > f->n_outputs) {
        reader_report(r, DIAG_IR_ARGUMENTS, span, "%u results are wanted of what does not give so many", all.places.n);
        HELP(r, "several results are those of a call: (a, b) = f(x)");
        return false;
    }
    for (uint32_t k = 0; k < all.places.n; k++) {
        const Type type = f->body->variables.at[f->n_inputs + k].type;
        const Expr *value = expr_function(r->pool, f, k, type, call->n_args, call->args);
        if (term_is_absent(all.places.at[k]))
            continue;
        if (!type_equal(all.places.at[k].shape->type, type))
            return reader_type_error(r, span, "a result", type, reader_type_text(r, all.places.at[k].shape->type)) !=
                   NULL;
        vec_push(r->arena, &results->places, all.places.at[k]);
        vec_push(r->arena, &results->values, term_make(r->model, value, r->term.refs.at));
    }
    r->term.refs.n = 0;
    if (results->places.n)
        return true;
    reader_report(r, DIAG_IR_ARGUMENTS, span, "none of the results is taken");
    HELP(r, "put a variable in the place of a dot");
    return false;
}
