/* Expressions of the text form: operators by a table; see read_reader.h. */
#include "ir/read_reader.h"
#include <math.h>

static const Expr *parse_minus(Reader *r)
{
    const Span span = reader_token_span(r);
    reader_advance(r);
    if (r->token.kind == TOKEN_INTEGER)
        return reader_integer_literal(r, true);
    if (r->token.kind == TOKEN_REAL)
        return reader_real_literal(r, -r->token.u.real);
    if (reader_has_word(r, WORD_INF))
        return reader_real_literal(r, -(double)INFINITY);
    const Expr *e = reader_parse_expr(r, BINDS_PRODUCT);
    return e ? reader_build(r, OP_NEG, 1, &e, span) : NULL;
}

static const Expr *parse_if(Reader *r)
{
    const Span span = reader_token_span(r);
    const Expr *args[3];
    reader_advance(r);
    if (!(args[0] = reader_parse_expr(r, BINDS_IF)) || !reader_expect_word(r, WORD_THEN) ||
        !(args[1] = reader_parse_expr(r, BINDS_IF)) || !reader_expect_word(r, WORD_ELSE) ||
        !(args[2] = reader_parse_expr(r, BINDS_IF)))
        return NULL;
    if (!type_equal(args[0]->type, BOOLEAN_TYPE))
        return reader_type_error(r, span, "the condition of if", args[0]->type, "Boolean");
    reader_unify(r, &args[1], &args[2]);
    if (!type_equal(args[1]->type, args[2]->type))
        return reader_pair_error(r, span, "if", args[1]->type, args[2]->type);
    return reader_is_too_deep(r, 3, args, span) ? NULL : expr_if(r->pool, args[0], args[1], args[2]);
}

static const Expr *parse_prefix(Reader *r)
{
    if (r->token.kind == TOKEN_MINUS)
        return parse_minus(r);
    if (reader_has_word(r, WORD_IF))
        return parse_if(r);
    if (!reader_has_word(r, WORD_NOT))
        return reader_parse_operand(r);
    const Span span = reader_token_span(r);
    reader_advance(r);
    const Expr *e = reader_parse_expr(r, BINDS_NOT);
    return e ? reader_build(r, OP_NOT, 1, &e, span) : NULL;
}

typedef struct {
    uint8_t op, binds, right; /* right: what the right operand must bind at least */
    bool is_dotted;           /* element by element, whatever the operands are */
} Operator;

static bool operator_of(const Token *token, Operator *found)
{
    static const Operator signs[] = {
        [TOKEN_DOT_PLUS] = { OP_ADD, BINDS_SUM, BINDS_PRODUCT, true },
        [TOKEN_DOT_MINUS] = { OP_SUB, BINDS_SUM, BINDS_PRODUCT, true },
        [TOKEN_DOT_STAR] = { OP_MUL, BINDS_PRODUCT, BINDS_OPERAND, true },
        [TOKEN_DOT_SLASH] = { OP_DIV, BINDS_PRODUCT, BINDS_OPERAND, true },
        [TOKEN_EQ] = { OP_EQ, BINDS_RELATION, BINDS_SUM, false },
        [TOKEN_NE] = { OP_NE, BINDS_RELATION, BINDS_SUM, false },
        [TOKEN_LT] = { OP_LT, BINDS_RELATION, BINDS_SUM, false },
        [TOKEN_LE] = { OP_LE, BINDS_RELATION, BINDS_SUM, false },
        [TOKEN_GT] = { OP_GT, BINDS_RELATION, BINDS_SUM, false },
        [TOKEN_GE] = { OP_GE, BINDS_RELATION, BINDS_SUM, false },
        [TOKEN_PLUS] = { OP_ADD, BINDS_SUM, BINDS_PRODUCT, false },
        [TOKEN_MINUS] = { OP_SUB, BINDS_SUM, BINDS_PRODUCT, false },
        [TOKEN_STAR] = { OP_MUL, BINDS_PRODUCT, BINDS_OPERAND, false },
        [TOKEN_SLASH] = { OP_DIV, BINDS_PRODUCT, BINDS_OPERAND, false },
    };
    if (token->kind == TOKEN_NAME) {
        if (token->word == WORD_AND)
            *found = (Operator){ OP_AND, BINDS_AND, BINDS_NOT, false };
        else if (token->word == WORD_OR)
            *found = (Operator){ OP_OR, BINDS_OR, BINDS_AND, false };
        else
            return false;
        return true;
    }
    *found = signs[token->kind];
    return found->binds != 0;
}

/* A scalar is added to each element, and divided by each, with a dot only; a product of two arrays without one is that
 * of matrices and vectors. */
static const Expr *operation(Reader *r, const Operator *o, const Expr **args, Span span)
{
    const uint8_t a = args[0]->type.rank, b = args[1]->type.rank;
    if (o->is_dotted || (a == 0 && b == 0))
        return reader_build(r, (Op)o->op, 2, args, span);
    if (o->op == OP_MUL && a && b)
        return reader_build_product(r, args, span);
    if ((o->op == OP_DIV && b) || (a != b && o->op != OP_MUL && o->op != OP_DIV)) {
        reader_report(r, DIAG_IR_RANK, span, "the operands of %s have %u and %u dimensions", op_text((Op)o->op), a, b);
        HELP(r, o->op == OP_ADD || o->op == OP_SUB || o->op == OP_DIV
                    ? "with a dot before it the operation is done for each element: .+ .- .* ./"
                    : "the operands must be scalars, or arrays of one size");
        return NULL;
    }
    return reader_build(r, (Op)o->op, 2, args, span);
}

const Expr *reader_parse_expr(Reader *r, uint32_t least)
{
    if (!reader_enter(r, PARSE_DEPTH + BLOCK_DEPTH))
        return NULL;
    const Expr *args[2];
    Operator operator;
    args[0] = parse_prefix(r);
    bool was_relation = false;
    while (args[0] && operator_of(&r->token, &operator) && operator.binds >= least) {
        const Span span = reader_token_span(r);
        if (was_relation && operator.binds == BINDS_RELATION) {
            reader_report(r, DIAG_SYNTAX, span, "comparisons do not chain");
            HELP(r, "write a < b and b < c, or put parentheses");
            args[0] = NULL;
            break;
        }
        was_relation = operator.binds == BINDS_RELATION;
        reader_advance(r);
        args[1] = reader_parse_expr(r, operator.right);
        args[0] = args[1] ? operation(r, &operator, args, span) : NULL;
    }
    r->depth--;
    return args[0];
}
