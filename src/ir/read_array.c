/* Lists, ranges, loops inside expressions, arrays in braces and operations on arrays; see read_reader.h. */
#include "ir/read_reader.h"

/* ---- lists ---- */
static void list_add(Reader *r, ExprList *list, const Expr *e)
{
    if (!list->at) {
        list->at = list->few;
        list->capacity = 8;
    }
    if (list->n == list->capacity) {
        const Expr **larger = NEW_ARRAY(r->arena, const Expr *, 2 * (size_t)list->capacity);
        memcpy(larger, list->at, list->n * sizeof *larger);
        list->at = larger;
        list->capacity *= 2;
    }
    list->at[list->n++] = e;
}

static bool parse_range_rest(Reader *r, uint32_t begin, const Expr *range[3]);

const Expr *reader_parse_item(Reader *r, bool is_index)
{
    const uint32_t begin = r->token.begin;
    const Expr *range[3];
    if (is_index && reader_accept(r, TOKEN_COLON))
        return expr_all(r->pool);
    range[0] = reader_parse_expr(r, BINDS_IF);
    if (!range[0] || !reader_accept(r, TOKEN_COLON))
        return range[0];
    if (!parse_range_rest(r, begin, range) || reader_is_too_deep(r, 3, range, reader_span_from(r, begin)))
        return NULL;
    return expr_range(r->pool, range[0], range[1], range[2]);
}

/* Expressions with commas up to the closing sign, which is taken. */
bool reader_parse_list(Reader *r, ExprList *list, TokenKind close, const char *close_text)
{
    if (reader_accept(r, close))
        return true;
    do {
        r->depth++; /* the frames of a call are twice those of parentheses */
        const Expr *e = reader_parse_item(r, close == TOKEN_CLOSE_INDEX);
        r->depth--;
        if (!e)
            return false;
        if (list->n >= LARGEST_LIST)
            return reader_report(r, DIAG_IR_ARGUMENTS, reader_token_span(r), "more than %d items in one list",
                                 LARGEST_LIST);
        list_add(r, list, e);
    } while (reader_accept(r, TOKEN_COMMA));
    return reader_expect(r, close, close_text);
}

/* ---- ranges and loops ---- */
/* lo:hi or lo:hi step s, all Integer, behind the colon; range[1] is the step, 1 if there is none. */
static bool parse_range_rest(Reader *r, uint32_t begin, const Expr *range[3])
{
    range[1] = expr_integer(r->pool, 1);
    if (!(range[2] = reader_parse_expr(r, BINDS_OR)) ||
        (reader_accept_word(r, WORD_STEP) && !(range[1] = reader_parse_expr(r, BINDS_OR))))
        return false;
    for (uint32_t k = 0; k < 3; k++)
        if (!type_equal(range[k]->type, INTEGER_TYPE))
            return reader_type_error(r, reader_span_from(r, begin), "a part of a range", range[k]->type, "Integer") !=
                   NULL;
    return true;
}

static bool parse_range(Reader *r, const Expr *range[3])
{
    const uint32_t begin = r->token.begin;
    return (range[0] = reader_parse_expr(r, BINDS_OR)) && reader_expect(r, TOKEN_COLON, "':' in a range lo:hi") &&
           parse_range_rest(r, begin, range);
}

/* The name of a loop variable; $i3 stands for level 2 and is no name. */
bool reader_parse_loop_name(Reader *r, NameId *name, uint32_t *level)
{
    const uint32_t begin = r->token.begin;
    if (!reader_parse_name(r, name))
        return false;
    const uint32_t number = generated_number(r->lexer.text + begin, r->last_end - begin, 'i');
    *level = number ? number - 1 : ID_NONE;
    return true;
}

uint32_t reader_next_level(const Reader *r)
{
    return r->term.loops.n ? r->term.loops.at[r->term.loops.n - 1].level + 1 : 0;
}

static bool has_too_many_dimensions(Reader *r, uint32_t inner, uint32_t begin)
{
    if (inner < LARGEST_RANK)
        return false;
    reader_report(r, DIAG_IR_RANK, reader_span_from(r, begin), "an array has at most %d dimensions", LARGEST_RANK);
    return true;
}

static bool suits_reduction(Op op, Type type)
{
    return type.rank == 0 &&
           (op == OP_AND || op == OP_OR ? type.kind == TYPE_BOOLEAN : reader_suits(type, TAKES_NUMBERS));
}

/* for i in 1:N: body, behind the "for": level, lo, step, hi and body. */
static const Expr *parse_loop(Reader *r, uint32_t *level, const Expr *range[3])
{
    LoopName loop;
    if (!reader_parse_loop_name(r, &loop.name, &loop.level) || !reader_expect_word(r, WORD_IN) ||
        !parse_range(r, range) || !reader_expect(r, TOKEN_COLON, "':' before what the loop is about"))
        return NULL;
    if (loop.level == ID_NONE)
        loop.level = reader_next_level(r);
    *level = loop.level;
    vec_push(r->arena, &r->term.loops, loop);
    const Expr *body = reader_parse_expr(r, BINDS_IF);
    r->term.loops.n--;
    return body;
}

/* sum(for i in 1:N: body): behind the "for". */
static const Expr *parse_reduce(Reader *r, Op op, Span span)
{
    uint32_t level;
    const Expr *range[3], *body = parse_loop(r, &level, range);
    if (!body || !reader_expect(r, TOKEN_CLOSE, "')'"))
        return NULL;
    if (!suits_reduction(op, body->type))
        return reader_type_error(r, span, "what is reduced", body->type,
                                 op == OP_AND || op == OP_OR ? "Boolean" : "Real or Integer");
    const Expr *const args[] = { body, range[0], range[1], range[2] };
    if (reader_is_too_deep(r, 4, args, span))
        return NULL;
    return expr_reduce(r->pool, op, level, body, range[0], range[1], range[2]);
}

/* {for i in 1:N: body}: behind the "for". */
static const Expr *parse_each(Reader *r, uint32_t begin)
{
    uint32_t level;
    const Expr *range[3], *body = parse_loop(r, &level, range);
    if (!body || !reader_expect(r, TOKEN_CLOSE_SET, "'}'"))
        return NULL;
    const Expr *const args[] = { body, range[0], range[1], range[2] };
    if (has_too_many_dimensions(r, body->type.rank, begin) ||
        reader_is_too_deep(r, 4, args, reader_span_from(r, begin)))
        return NULL;
    return expr_each(r->pool, level, body, range[0], range[1], range[2]);
}

/* ---- operations ---- */
static const Expr *whole_error(Reader *r, WholeOp op, const ExprList *args, Span span)
{
    static const char *const forms[WHOLE_COUNT] = {
        [WHOLE_TRANSPOSE] = "transpose(A) of a matrix",
        [WHOLE_SYMMETRIC] = "symmetric(A) of a matrix",
        [WHOLE_CROSS] = "cross(a, b) of two vectors",
        [WHOLE_SKEW] = "skew(a) of a vector",
        [WHOLE_DIAGONAL] = "diagonal(a) of a vector",
        [WHOLE_OUTER] = "outer(a, b) of two vectors",
        [WHOLE_IDENTITY] = "identity(n) with an Integer",
        [WHOLE_ZEROS] = "zeros(n, m) with Integers",
        [WHOLE_ONES] = "ones(n, m) with Integers",
        [WHOLE_FILL] = "fill(s, n, m) with a scalar and Integers",
        [WHOLE_LINSPACE] = "linspace(first, last, n) with two Reals and an Integer",
        [WHOLE_SUM] = "sum(a) of an array of numbers, or sum(for i in 1:N: ...)",
        [WHOLE_PROD] = "prod(a) of an array of numbers, or prod(for i in 1:N: ...)",
        [WHOLE_LEAST] = "min(a) of an array of numbers, min(x, y), or min(for i in 1:N: ...)",
        [WHOLE_LARGEST] = "max(a) of an array of numbers, max(x, y), or max(for i in 1:N: ...)",
        [WHOLE_ALL] = "all(a) of an array of Booleans, or all(for i in 1:N: ...)",
        [WHOLE_ANY] = "any(a) of an array of Booleans, or any(for i in 1:N: ...)",
        [WHOLE_SIZE] = "size(a, 1) or size(a) of an array",
        [WHOLE_VECTOR] = "vector(a)",
        [WHOLE_MATRIX] = "matrix(a)",
        [WHOLE_SCALAR] = "scalar(a)",
        [WHOLE_CAT] = "cat(1, a, b) with the number of a dimension and arrays of one type",
    };
    if (args->n == 0 || !whole_takes(op, args->n))
        reader_report(r, DIAG_IR_ARGUMENTS, span, "%s cannot have %u argument%s", whole_text(op), args->n,
                      args->n == 1 ? "" : "s");
    else
        reader_report(r, DIAG_IR_TYPE, span, "the arguments of %s do not suit it: the first is %s", whole_text(op),
                      reader_type_text(r, args->at[0]->type));
    HELP(r, "write %s", forms[op]);
    return NULL;
}

/* Integer literals become Reals where another argument is Real, or the operation wants one. */
static void unify_args(Reader *r, WholeOp op, const ExprList *args)
{
    const uint32_t first = op == WHOLE_CAT,
                   end = op == WHOLE_CAT || op == WHOLE_PRODUCT || op == WHOLE_OUTER || op == WHOLE_CROSS ? args->n
                         : op == WHOLE_LINSPACE                                                           ? 2
                                                                                                          : 0;
    bool has_real = op == WHOLE_LINSPACE;
    for (uint32_t k = first; k < end; k++)
        has_real |= args->at[k]->type.kind == TYPE_REAL;
    for (uint32_t k = first; k < end && has_real && k < args->n; k++) {
        Type type = REAL_TYPE;
        type.rank = args->at[k]->type.rank;
        args->at[k] = reader_convert(r, args->at[k], type);
    }
}

static const Expr *build_whole(Reader *r, WholeOp op, const ExprList *args, uint32_t begin)
{
    Type type;
    const Span span = reader_span_from(r, begin);
    if (args->n == 0 || !whole_takes(op, args->n))
        return whole_error(r, op, args, span);
    unify_args(r, op, args);
    if (!whole_type(op, args->n, args->at, &type))
        return whole_error(r, op, args, span);
    return reader_is_too_deep(r, args->n, args->at, span) ? NULL : expr_whole(r->pool, op, args->n, args->at);
}

const Expr *reader_build_product(Reader *r, const Expr **args, Span span)
{
    ExprList list = { .at = args, .n = 2 };
    Type type;
    unify_args(r, WHOLE_PRODUCT, &list);
    if (args[0]->type.kind != args[1]->type.kind)
        return reader_pair_error(r, span, "*", args[0]->type, args[1]->type);
    if (!whole_type(WHOLE_PRODUCT, 2, args, &type)) {
        reader_report(r, DIAG_IR_RANK, span, "the operands of * have %u and %u dimensions", args[0]->type.rank,
                      args[1]->type.rank);
        HELP(r, "* is the product of matrices and vectors; .* goes element by element");
        return NULL;
    }
    return reader_is_too_deep(r, 2, args, span) ? NULL : expr_whole(r->pool, WHOLE_PRODUCT, 2, args);
}

const Expr *reader_parse_whole(Reader *r, WholeOp op, uint32_t begin)
{
    ExprList args = { .n = 0 };
    reader_advance(r);
    return reader_parse_list(r, &args, TOKEN_CLOSE, "',' or ')' after an argument") ? build_whole(r, op, &args, begin)
                                                                                    : NULL;
}

const Expr *reader_parse_reduction(Reader *r, Op op, WholeOp whole)
{
    const uint32_t begin = r->token.begin;
    const Span span = reader_token_span(r);
    reader_advance(r);
    if (r->token.kind != TOKEN_OPEN) {
        reader_syntax_error(r, "'('");
        return NULL;
    }
    const Lexer before = r->lexer;
    const Token open = r->token;
    reader_advance(r);
    if (reader_accept_word(r, WORD_FOR))
        return parse_reduce(r, op, span);
    r->lexer = before;
    r->token = open;
    ExprList args = { .n = 0 };
    reader_advance(r);
    if (!reader_parse_list(r, &args, TOKEN_CLOSE, "',' or ')' after an argument"))
        return NULL;
    if ((op == OP_MIN || op == OP_MAX) && args.n == 2)
        return reader_build(r, op, 2, args.at, span);
    return build_whole(r, whole, &args, begin);
}

const Expr *reader_parse_array(Reader *r)
{
    const uint32_t begin = r->token.begin;
    ExprList items = { .n = 0 };
    reader_advance(r);
    if (reader_accept_word(r, WORD_FOR))
        return parse_each(r, begin);
    if (!reader_parse_list(r, &items, TOKEN_CLOSE_SET, "',' or '}' after an element"))
        return NULL;
    const Span span = reader_span_from(r, begin);
    if (items.n == 0) {
        reader_report(r, DIAG_IR_RANK, span, "an array without elements has no type");
        HELP(r, "write at least one element");
        return NULL;
    }
    bool has_real = false;
    for (uint32_t k = 0; k < items.n; k++)
        has_real |= items.at[k]->type.kind == TYPE_REAL;
    Type type = items.at[0]->type;
    if (has_real)
        type.kind = TYPE_REAL;
    for (uint32_t k = 0; k < items.n; k++) {
        items.at[k] = reader_convert(r, items.at[k], type);
        if (!type_equal(items.at[k]->type, type))
            return reader_pair_error(r, span, "{...}", type, items.at[k]->type);
    }
    if (has_too_many_dimensions(r, type.rank, begin))
        return NULL;
    return reader_is_too_deep(r, items.n, items.at, span) ? NULL : expr_array(r->pool, items.n, items.at);
}
