/* Delays: the text form. */
#include "ir/read_reader.h"

/* Behind `along`: x back w when c from points values. */
static bool parse_along(Reader *r, Delay *d)
{
    return reader_parse_term(r, REAL_TYPE, &d->position) &&
           (!reader_accept_word(r, WORD_BACK) ||
            (reader_parse_term(r, REAL_TYPE, &d->back) && reader_expect_word(r, WORD_WHEN) &&
             reader_parse_term(r, BOOLEAN_TYPE, &d->forward))) &&
           (!reader_accept_word(r, WORD_FROM) ||
            (reader_parse_variable_name(r, &d->points) && reader_parse_variable_name(r, &d->values)));
}

bool reader_parse_delay(Reader *r, uint32_t begin)
{
    Delay delay = { .max = TERM_NONE,
                    .since = VAR_NONE,
                    .until = VAR_NONE,
                    .position = TERM_NONE,
                    .back = TERM_NONE,
                    .forward = TERM_NONE,
                    .points = VAR_NONE,
                    .values = VAR_NONE };
    Label label;
    if (!reader_parse_new_label(r, &label) || !reader_parse_variable_name(r, &delay.output) ||
        !reader_expect_word(r, WORD_OF) ||
        !reader_parse_term(r, model_var(r->model, delay.output)->type, &delay.input) ||
        !reader_expect_word(r, WORD_BY) || !reader_parse_term(r, REAL_TYPE, &delay.amount) ||
        (reader_accept_word(r, WORD_MAX) && !reader_parse_term(r, REAL_TYPE, &delay.max)) ||
        (reader_accept_word(r, WORD_ALONG) && !parse_along(r, &delay)) ||
        !reader_parse_element_end(r, begin, &delay.span))
        return false;
    delay.owner = label.owner;
    delay.name = reader_stored_name(r, LABEL_DELAY, label.name);
    vec_push(r->arena, &r->model->delays, delay);
    return true;
}
