/* Nodes of expressions are made with their types checked; see read_reader.h. */
#include "base/bug.h"
#include "ir/read_reader.h"
#include "koine/text_format.h"

/* An array of Integers that are literals, as identity(3), is one of Reals where Reals are wanted. */
static bool is_like_literal(const Expr *e)
{
    return e->kind == EXPR_WHOLE && (e->op == WHOLE_IDENTITY || e->op == WHOLE_ZEROS || e->op == WHOLE_ONES);
}

const Expr *reader_convert(Reader *r, const Expr *e, Type type)
{
    if (type.kind != TYPE_REAL || e->type.kind != TYPE_INTEGER || e->type.rank != type.rank)
        return e;
    if (e->kind == EXPR_INTEGER || is_like_literal(e))
        return expr_to_real(r->pool, e);
    if (e->kind != EXPR_ARRAY)
        return e;
    const Expr **items = NEW_ARRAY(r->arena, const Expr *, e->n_args);
    Type item = type;
    item.rank--;
    for (uint32_t k = 0; k < e->n_args; k++) {
        items[k] = reader_convert(r, e->args[k], item);
        if (items[k]->type.kind != TYPE_REAL)
            return e;
    }
    return expr_array(r->pool, e->n_args, items);
}

const Expr *reader_type_error(Reader *r, Span span, const char *what, Type is, const char *wanted)
{
    reader_report(r, DIAG_IR_TYPE, span, "%s is %s, but must be %s", what, reader_type_text(r, is), wanted);
    if (is.kind == TYPE_INTEGER && is.rank == 0 && strcmp(wanted, "Real") == 0)
        HELP(r, "convert it: real(...)");
    else if (is.kind == TYPE_REAL && is.rank == 0 && strcmp(wanted, "Integer") == 0)
        HELP(r, "convert it: ifloor(...), itrunc(...), iround(...)");
    else if ((is.kind == TYPE_BOOLEAN || is.kind == TYPE_ENUM) && strcmp(wanted, "Boolean") != 0)
        HELP(r, "number(...) gives the Integer of a Boolean or an enumeration");
    else
        HELP(r, "there are no silent conversions: the types must agree");
    return NULL;
}

const Expr *reader_pair_error(Reader *r, Span span, const char *op, Type a, Type b)
{
    reader_report(r, DIAG_IR_TYPE, span, "the operands of %s are %s and %s", op, reader_type_text(r, a),
                  reader_type_text(r, b));
    if ((a.kind == TYPE_INTEGER && b.kind == TYPE_REAL) || (a.kind == TYPE_REAL && b.kind == TYPE_INTEGER))
        HELP(r, "Integer and Real do not mix: write real(...) around the Integer");
    else
        HELP(r, "the operands must have one type");
    return NULL;
}

static const Expr *convert_kind(Reader *r, const Expr *e, Type type)
{
    type.rank = e->type.rank;
    return reader_convert(r, e, type);
}

void reader_unify(Reader *r, const Expr **a, const Expr **b)
{
    *a = convert_kind(r, *a, (*b)->type);
    *b = convert_kind(r, *b, (*a)->type);
}

bool reader_suits(Type type, OpTakes wanted)
{
    switch (wanted) {
    case TAKES_NUMBERS: return type.kind == TYPE_REAL || type.kind == TYPE_INTEGER;
    case TAKES_REALS: return type.kind == TYPE_REAL;
    case TAKES_INTEGERS: return type.kind == TYPE_INTEGER;
    case TAKES_BOOLEANS: return type.kind == TYPE_BOOLEAN;
    case TAKES_VALUE: return type.kind == TYPE_BOOLEAN || type.kind == TYPE_ENUM;
    case TAKES_ORDERED: return type.rank == 0 && type.kind <= TYPE_ENUM && type.kind != TYPE_BOOLEAN;
    case TAKES_EQUAL: return type.rank == 0 && type.kind != TYPE_OBJECT;
    case TAKES_ELEMENT: return false; /* not in the text form */
    }
    BUG("unknown OpTakes");
}

/* Of one type, or an array and a scalar. */
static bool can_pair(Type a, Type b)
{
    return a.kind == b.kind && a.enumeration == b.enumeration && (a.rank == b.rank || !a.rank || !b.rank);
}

/* ---- texts ---- */
/* A literal format is looked at here; others when they are used. */
static bool suits_format(Reader *r, const Expr *const *args, Span span)
{
    const Type type = args[0]->type;
    if (args[1]->kind != EXPR_STRING)
        return true;
    const char *format = names_of(r->names, args[1]->u.text);
    const char *letters = type.kind == TYPE_REAL      ? KOINE_FORMAT_REALS
                          : type.kind == TYPE_INTEGER ? KOINE_FORMAT_INTEGERS
                                                      : KOINE_FORMAT_TEXTS;
    KoineTextFormat ignored;
    if (koine_read_format(format, strlen(format), letters, &ignored))
        return true;
    reader_report(r, DIAG_IR_FORMAT, span, "'%s' is no format for %s", format, reader_type_text(r, type));
    HELP(r, "flags (-+ #0), width, precision and one of the letters %s, as \"8.3f\", \"-4d\", \"10s\"", letters);
    return false;
}

const Expr *reader_build_text(Reader *r, TextOp op, uint32_t n, const Expr **args, Span span)
{
    static const char *const wanted[] = { [TEXT_CONCAT] = "two Strings",
                                          [TEXT_COMPARE] = "two Strings",
                                          [TEXT_LENGTH] = "a String",
                                          [TEXT_SUBSTRING] = "a String and two Integers",
                                          [TEXT_FORMAT] = "a value, and a String with its format" };
    if (reader_is_too_deep(r, n, args, span))
        return NULL;
    if (op == TEXT_FORMAT && n == 1 && args[0]->type.rank == 0 && args[0]->type.kind != TYPE_OBJECT)
        return expr_to_text(r->pool, args[0]);
    if (op == TEXT_FORMAT && n == 2 && (args[0]->type.kind == TYPE_BOOLEAN || args[0]->type.kind == TYPE_ENUM) &&
        args[0]->type.rank == 0)
        args[0] = expr_to_text(r->pool, args[0]);
    if (!text_op_fits(op, n, args)) {
        reader_report(r, DIAG_IR_TYPE, span, "String%s%s takes %s", op == TEXT_FORMAT ? "" : ".",
                      op == TEXT_FORMAT ? "" : text_op_name(op), wanted[op]);
        HELP(r, "String(x) makes a text of a number, a Boolean or a value of an enumeration");
        return NULL;
    }
    return op == TEXT_FORMAT && !suits_format(r, args, span) ? NULL : expr_text_op(r->pool, op, n, args);
}

/* a + b, and comparisons by order. */
static const Expr *build_of_strings(Reader *r, Op op, const Expr **args, Span span)
{
    if (op == OP_ADD)
        return reader_build_text(r, TEXT_CONCAT, 2, args, span);
    const Expr *order = reader_build_text(r, TEXT_COMPARE, 2, args, span), *zero = expr_integer(r->pool, 0);
    return !order            ? NULL
           : r->term.literal ? expr_literal_relation(r->pool, op, order, zero)
                             : expr_binary(r->pool, op, order, zero);
}

const Expr *reader_build(Reader *r, Op op, uint32_t n, const Expr **args, Span span)
{
    static const char *const wanted_texts[] = { "Real or Integer",
                                                "Real",
                                                "Integer",
                                                "Boolean",
                                                "Boolean or an enumeration",
                                                "a scalar number or enumeration",
                                                "a scalar",
                                                "an element" };
    const OpTakes wanted = op_takes(op);
    const bool is_ordered = op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE;
    if (n == 2 && (is_ordered || op == OP_ADD) && type_equal(args[0]->type, STRING_TYPE) &&
        type_equal(args[1]->type, STRING_TYPE))
        return build_of_strings(r, op, args, span);
    if (n == 2)
        reader_unify(r, &args[0], &args[1]);
    for (uint32_t k = 0; k < n; k++) {
        if (wanted == TAKES_REALS)
            args[k] = convert_kind(r, args[k], REAL_TYPE);
        if (!reader_suits(args[k]->type, wanted)) {
            char what[48];
            snprintf(what, sizeof what, n == 1 ? "the operand of %s" : "an operand of %s", op_text(op));
            return reader_type_error(r, span, what, args[k]->type, wanted_texts[wanted]);
        }
    }
    if (n == 2 && !can_pair(args[0]->type, args[1]->type))
        return reader_pair_error(r, span, op_text(op), args[0]->type, args[1]->type);
    if (expr_too_deep(args[0], n == 2 ? args[1] : NULL)) {
        reader_report(r, DIAG_NESTED_TOO_DEEP, span, "the expression is nested deeper than %d levels", EXPR_DEPTH);
        HELP(r, "split it: a long sum into partial sums with variables of their own");
        return NULL;
    }
    if (r->term.literal && op_is_relation(op))
        return expr_literal_relation(r->pool, op, args[0], args[1]);
    return expr_call(r->pool, op, n, args);
}

bool reader_is_too_deep(Reader *r, uint32_t n, const Expr *const *args, Span span)
{
    for (uint32_t k = 0; k < n; k++)
        if (expr_too_deep(args[k], NULL)) {
            reader_report(r, DIAG_NESTED_TOO_DEEP, span, "the expression is nested deeper than %d levels", EXPR_DEPTH);
            HELP(r, "split it: give parts of it variables of their own");
            return true;
        }
    return false;
}
