/* Functions and spans; see read_reader.h. */
#include "ir/external.h"
#include "ir/read_reader.h"
#include <math.h>

/* ---- functions ---- */
static bool parse_field_line(Reader *r, uint32_t begin)
{
    VarId var;
    return reader_parse_declared(r, &var) && reader_parse_variable_rest(r, begin, &var, 1);
}

/* external "c_drag" library "drag.c" library "m" directory "C" include "drag.h": behind the first word. */
static bool parse_external(Reader *r, Function *f)
{
    External *e = NEW(r->arena, External);
    *e = (External){ .destructor = names_text(r->names, ""), .result = ID_NONE, .source = r->source };
    f->external = e;
    if (!reader_parse_string(r, &e->symbol))
        return false;
    for (;;) {
        NameId text;
        if (reader_accept_word(r, WORD_LIBRARY)) {
            if (!reader_parse_string(r, &text))
                return false;
            vec_push(r->arena, &e->libraries, text);
        } else if (reader_accept_word(r, WORD_DIRECTORY)) {
            if (!reader_parse_string(r, &text))
                return false;
            vec_push(r->arena, &e->directories, text);
        } else if (reader_accept_word(r, WORD_DESTRUCTOR)) {
            if (!reader_parse_string(r, &e->destructor))
                return false;
        } else if (!reader_accept_word(r, WORD_INCLUDE)) {
            return true;
        } else if (!reader_parse_string(r, &e->include)) {
            return false;
        }
    }
}

/* Behind `arguments` and `returns`: the function must be external. */
static External *mapped_external(Reader *r, uint32_t index)
{
    External *e = r->top->model->functions.at[index]->external;
    if (e)
        e->is_mapped = true;
    else
        reader_report(r, DIAG_IR_MISPLACED, reader_token_span(r), "only external functions say how they are called");
    return e;
}

/* x, size(x, 1), 2, 0.5 */
static bool parse_argument(Reader *r, ExternalArgument *a)
{
    VarId var;
    int64_t dimension;
    double number;
    if (reader_accept_word(r, WORD_SIZE)) {
        if (!reader_expect(r, TOKEN_OPEN, "a '(' after size") || !reader_parse_variable_name(r, &var) ||
            !reader_expect(r, TOKEN_COMMA, "a ',' after the array") ||
            !reader_parse_integer(r, 1, LARGEST_RANK, &dimension) ||
            !reader_expect(r, TOKEN_CLOSE, "a ')' after the dimension"))
            return false;
        *a = (ExternalArgument){ .kind = EXTERNAL_SIZE, .field = var.index, .dimension = (uint32_t)dimension };
        return true;
    }
    if (r->token.kind == TOKEN_NAME || r->token.kind == TOKEN_QUOTED) {
        *a = (ExternalArgument){ .kind = EXTERNAL_FIELD };
        return reader_parse_variable_name(r, &var) && (a->field = var.index, true);
    }
    const uint32_t begin = r->token.begin;
    if (!reader_parse_number(r, &number))
        return false;
    const char *text = r->lexer.text + begin;
    const bool is_integer = strcspn(text, ".eE") >= r->last_end - begin && fabs(number) < 0x1p53;
    *a = (ExternalArgument){ .kind = is_integer ? EXTERNAL_INTEGER : EXTERNAL_REAL };
    if (is_integer)
        a->number.i = (int64_t)number;
    else
        a->number.r = number;
    return true;
}

static bool parse_arguments(Reader *r, uint32_t index)
{
    External *e = mapped_external(r, index);
    ExternalArgument argument;
    if (!e)
        return false;
    if (reader_is_element_end(r))
        return true;
    do {
        if (!parse_argument(r, &argument))
            return false;
        vec_push(r->arena, &e->arguments, argument);
    } while (reader_accept(r, TOKEN_COMMA));
    return reader_is_element_end(r) || reader_syntax_error(r, "the end of the line");
}

static bool parse_returns(Reader *r, uint32_t index)
{
    External *e = mapped_external(r, index);
    VarId var;
    if (!e || !reader_parse_variable_name(r, &var))
        return false;
    e->result = var.index;
    return reader_is_element_end(r) || reader_syntax_error(r, "the end of the line");
}

/* Fields and the body, up to the end. */
static bool parse_function_lines(Reader *r, uint32_t index)
{
    for (;;) {
        while (r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_SEMICOLON)
            reader_advance(r);
        const uint32_t begin = r->token.begin;
        if (reader_accept_word(r, WORD_BEGIN)) {
            uint32_t first;
            if (!reader_parse_statements(r, &first) || !reader_expect_word(r, WORD_END))
                return false;
            r->top->model->functions.at[index]->first = first;
        } else if (reader_accept_word(r, WORD_ARGUMENTS)) {
            if (!parse_arguments(r, index))
                reader_recover(r);
        } else if (reader_accept_word(r, WORD_RETURNS)) {
            if (!parse_returns(r, index))
                reader_recover(r);
        } else if (reader_accept_word(r, WORD_DERIVATIVE)) {
            if (!reader_parse_derivative(r, r->top->model->functions.at[index], begin))
                reader_recover(r);
        } else if (reader_accept_word(r, WORD_INVERSE)) {
            if (!reader_parse_inverse(r, r->top->model->functions.at[index], begin))
                reader_recover(r);
        } else if (reader_accept_word(r, WORD_INPUT) || reader_accept_word(r, WORD_OUTPUT) ||
                   reader_accept_word(r, WORD_LOCAL)) {
            if (!parse_field_line(r, begin))
                reader_recover(r);
        } else {
            return true;
        }
    }
}

bool reader_parse_function(Reader *r, uint32_t begin)
{
    Label label;
    uint32_t index;
    Span span;
    if (r->scope != r->top) {
        reader_report(r, DIAG_IR_MISPLACED, reader_span_from(r, begin), "a function cannot be declared in a class");
        HELP(r, "declare it in the model: classes may call it");
        return false;
    }
    if (!reader_parse_new_label(r, &label) || !map_get(&r->top->labels[LABEL_FUNCTION], key_of(0, label.name), &index))
        return !(r->mistakes.failed = true); /* reported when it was declared */
    Function *f = r->model->functions.at[index];
    f->is_pure = !reader_accept_word(r, WORD_IMPURE);
    if ((reader_accept_word(r, WORD_EXTERNAL) && !parse_external(r, f)) || !reader_parse_element_end(r, begin, &span))
        return false;
    f->span = span;
    reader_enter_function(r, index);
    const bool is_good = parse_function_lines(r, index);
    reader_leave_function(r);
    if (f->external)
        external_map(f);
    return is_good && reader_parse_block_end(r, &label, span);
}

/* ---- spans ---- */
typedef struct {
    uint32_t end;
    const Expr *node;
} Above;

/* The node of an occurrence, seen from the one above it. */
static bool parse_node(Reader *r, const Expr *above, const Expr *lhs, const Expr *rhs, const Expr **node)
{
    int64_t number;
    *node = NULL;
    if (r->token.kind == TOKEN_MINUS && r->token.end < r->lexer.end &&
        (r->lexer.text[r->token.end] == ' ' || r->lexer.text[r->token.end] == '\n'))
        return reader_accept(r, TOKEN_MINUS);
    if (r->token.kind == TOKEN_DOT) {
        reader_advance(r);
        *node = above;
        if (r->token.kind == TOKEN_INTEGER) {
            if (!reader_parse_integer(r, 1, UINT16_MAX, &number))
                return false;
            *node = above && number <= above->n_args ? above->args[number - 1] : NULL;
        }
    } else if (reader_accept_word(r, WORD_LHS)) {
        *node = lhs;
    } else if (reader_accept_word(r, WORD_RHS)) {
        *node = rhs;
    } else {
        return reader_parse_shape(r, node);
    }
    if (*node)
        return true;
    reader_report(r, DIAG_IR_SHAPE, reader_token_span(r), "there is nothing this span could stand for");
    HELP(r, ". is the node above, .2 its second argument, lhs and rhs are the sides of the equation");
    return false;
}

/* Lines `span BELOW NODE @place`, for one origin. */
static bool parse_span_lines(Reader *r, Origin *origin, const Expr *lhs, const Expr *rhs)
{
    VEC(Above) above = { 0 };
    origin->first_occurrence = r->model->occurrences.n;
    origin->n_occurrences = 0;
    for (;;) {
        while (r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_SEMICOLON)
            reader_advance(r);
        if (!reader_accept_word(r, WORD_SPAN))
            return true;
        const uint32_t k = origin->n_occurrences;
        int64_t n_below;
        Occurrence o = { .span = SPAN_NONE };
        while (above.n && above.at[above.n - 1].end <= k)
            above.n--;
        if (!reader_parse_integer(r, 0, UINT32_MAX / 2, &n_below) ||
            !parse_node(r, above.n ? above.at[above.n - 1].node : NULL, lhs, rhs, &o.node))
            return false;
        if (r->token.kind == TOKEN_PLACE) {
            const Token place = r->token;
            reader_advance(r);
            if (!reader_place_span(r, &place, &o.span))
                return false;
        }
        o.n_below = (uint32_t)n_below;
        vec_push(r->arena, &r->model->occurrences, o);
        const Above next = { k + 1 + o.n_below, o.node };
        vec_push(r->arena, &above, next);
        origin->n_occurrences++;
        if (!reader_is_element_end(r))
            return reader_syntax_error(r, "the end of the line");
    }
}

/* k1 or s1 or b1: by number, which relations, step functions and blocks of a Schedule have for a name. */
bool reader_parse_numbered(Reader *r, char letter, uint32_t n, uint32_t *index)
{
    const uint32_t begin = r->token.begin;
    NameId name;
    if (!reader_parse_name(r, &name))
        return false;
    const char *text = names_of(r->names, name);
    char dollar[16];
    snprintf(dollar, sizeof dollar, "$%.13s", text);
    *index = generated_number(dollar, strlen(dollar), letter) - 1;
    return *index < n || reader_unknown_name(r, begin,
                                             letter == 'k'   ? "relation"
                                             : letter == 's' ? "step function"
                                                             : "block");
}

static bool parse_span_head(Reader *r, Origin **origin, const Expr **lhs, const Expr **rhs)
{
    const Span span = reader_token_span(r);
    uint32_t index;
    *lhs = *rhs = NULL;
    if (reader_accept_word(r, WORD_EQ)) {
        if (!reader_parse_label(r, LABEL_EQUATION, &index))
            return false;
        if (index < r->model->equations.n) {
            Equation *e = &r->model->equations.at[index];
            *origin = &e->origin;
            *lhs = e->lhs.shape;
            *rhs = e->rhs.shape;
            return true;
        }
    } else if (reader_accept_word(r, WORD_TRANS)) {
        if (!reader_parse_label(r, LABEL_TRANSITION, &index))
            return false;
        if (index < r->model->transitions.n) {
            *origin = &r->model->transitions.at[index].origin;
            return true;
        }
    } else if (reader_accept_word(r, WORD_RELATION)) {
        if (!reader_parse_numbered(r, 'k', r->model->relations.n, &index))
            return false;
        *origin = &r->model->relations.at[index].origin;
        *lhs = r->model->relations.at[index].left.shape;
        *rhs = r->model->relations.at[index].right.shape;
        return true;
    } else {
        if (!reader_expect_word(r, WORD_STEPFN) || !reader_parse_numbered(r, 's', r->model->steps.n, &index))
            return false;
        *origin = &r->model->steps.at[index].origin;
        *lhs = r->model->steps.at[index].argument.shape;
        return true;
    }
    if (r->mistakes.failed)
        return false; /* an element that could not be read */
    reader_report(r, DIAG_IR_SHAPE, span, "the spans come before the element they belong to");
    HELP(r, "put the spans section at the end of the model");
    return false;
}

bool reader_parse_spans(Reader *r, uint32_t begin)
{
    const Span opened = { r->source, begin, begin + 5 };
    for (;;) {
        while (r->token.kind == TOKEN_LINE || r->token.kind == TOKEN_SEMICOLON)
            reader_advance(r);
        if (r->token.kind == TOKEN_END || reader_has_word(r, WORD_END))
            break;
        Origin *origin;
        const Expr *lhs, *rhs;
        if (reader_accept_word(r, WORD_SPAN)) {
            reader_recover(r); /* after a mistake above it */
            continue;
        }
        if (!reader_expect_word(r, WORD_OF) || !parse_span_head(r, &origin, &lhs, &rhs) ||
            !parse_span_lines(r, origin, lhs, rhs))
            reader_recover(r);
    }
    if (r->token.kind == TOKEN_END)
        return reader_wrong_end(r, NULL, reader_token_span(r), opened);
    return reader_expect_word(r, WORD_END) && reader_expect_word(r, WORD_SPANS);
}
