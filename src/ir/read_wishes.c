/* fixed {true, false} and select {prefer, default}: what is said of each element of an array; see read_reader.h. */
#include "ir/read_reader.h"

bool reader_parse_fixed(Reader *r, Variable *row)
{
    const Type type = { TYPE_BOOLEAN, row->type.rank, 0 };
    if (r->token.kind == TOKEN_OPEN_SET || reader_has_word(r, WORD_ROW))
        return reader_parse_value(r, type, &row->fixed);
    row->is_fixed = true;
    return true;
}

static const Expr *parse_braces(Reader *r, uint32_t rank, const WordList *words)
{
    VEC(const Expr *) elements = { 0 };
    uint8_t value;
    if (rank == 0)
        return reader_choose(r, words, "a wish for state selection", &value) ? expr_integer(r->model->pool, value)
                                                                             : NULL;
    if (!reader_expect(r, TOKEN_OPEN_SET, "a '{' for each dimension"))
        return NULL;
    do {
        const Expr *e = parse_braces(r, rank - 1, words);
        if (!e)
            return NULL;
        vec_push(r->scratch, &elements, e);
    } while (reader_accept(r, TOKEN_COMMA));
    if (!reader_expect(r, TOKEN_CLOSE_SET, "',' or '}' after an element"))
        return NULL;
    return expr_array(r->model->pool, elements.n, elements.at);
}

bool reader_parse_wishes(Reader *r, Variable *row, const WordList *words)
{
    const Expr *e = row->type.rank ? parse_braces(r, row->type.rank, words) : NULL;
    if (e)
        row->wishes = term_expr(r->model, e);
    return e || (row->type.rank == 0 && reader_syntax_error(r, "a wish for state selection"));
}

/* What the start determines keeps its value afterwards by itself. */
bool reader_may_be_free(Reader *r, uint32_t begin, VarId var)
{
    const Variable *v = model_var(r->model, var);
    const bool has_memory =
        v->variability == VARIABILITY_PARAMETER || (v->definition == DEFINITION_NEXT && !v->is_fixed);
    if (!v->is_free || (has_memory && v->type.kind < TYPE_STRING))
        return true;
    return reader_report(r, DIAG_SYNTAX, reader_span_from(r, begin),
                         "only parameters and discrete variables with `next` can be free, and no Strings or objects");
}
