/* What is declared of functions; see read_reader.h and declared.h. */
#include "ir/declared.h"
#include "ir/read_reader.h"

static bool parse_function_name(Reader *r, Function **function)
{
    uint32_t index;
    if (!reader_parse_label(r, LABEL_FUNCTION, &index))
        return false;
    *function = r->top->model->functions.at[index];
    return true;
}

static bool parse_input(Reader *r, const Function *f, uint32_t *input)
{
    VarId var;
    const uint32_t begin = r->token.begin;
    if (!reader_parse_variable_name(r, &var))
        return false;
    *input = var.index;
    return var.index < f->n_inputs || reader_report(r, DIAG_FUNCTION_DECLARED, reader_span_from(r, begin),
                                                    "only inputs are given by inverses or taken out of derivatives");
}

bool reader_parse_derivative(Reader *r, Function *f, uint32_t begin)
{
    DeclaredDerivative d = { .order = 1 };
    uint8_t *inputs = NEW_ARRAY(r->arena, uint8_t, f->n_inputs + 1u);
    int64_t order;
    uint32_t input;
    if (!parse_function_name(r, &d.by))
        return false;
    if (reader_accept_word(r, WORD_ORDER)) {
        if (!reader_parse_integer(r, 1, 100, &order))
            return false;
        d.order = (uint32_t)order;
    }
    for (;;) {
        const bool is_zero = reader_accept_word(r, WORD_ZERO);
        if (!is_zero && !reader_accept_word(r, WORD_NONE))
            break;
        if (!parse_input(r, f, &input))
            return false;
        inputs[input] = is_zero ? INPUT_ZERO : INPUT_NONE;
    }
    d.inputs = inputs;
    if (!reader_parse_element_end(r, begin, &d.span))
        return false;
    declare_derivative(f, &d);
    return true;
}

bool reader_parse_inverse(Reader *r, Function *f, uint32_t begin)
{
    DeclaredInverse i = { .by = NULL };
    VarId var;
    VEC(uint32_t) args = { .n = 0 };
    if (!parse_input(r, f, &i.input) || !parse_function_name(r, &i.by) || !reader_expect(r, TOKEN_OPEN, "a '('"))
        return false;
    do {
        if (!reader_parse_variable_name(r, &var))
            return false;
        vec_push(r->arena, &args, var.index);
    } while (reader_accept(r, TOKEN_COMMA));
    if (!reader_expect(r, TOKEN_CLOSE, "',' or ')' behind an input") || !reader_parse_element_end(r, begin, &i.span))
        return false;
    for (uint32_t k = 0; k < args.n; k++)
        if (args.at[k] > f->n_inputs || args.n != i.by->n_inputs)
            return reader_report(r, DIAG_FUNCTION_DECLARED, i.span,
                                 "the inverse has %u inputs, which are the output of the function and its other inputs",
                                 i.by->n_inputs);
    i.args = args.at;
    declare_inverse(f, &i);
    return true;
}
