/* Operations on texts: their arguments, and values as texts; see expr.h. */
#include "base/bug.h"
#include "ir/expr.h"

static const struct {
    const char *name, *args; /* S a String, I an Integer, * what a format is for */
    bool is_integer;
} text_rows[TEXT_OPS] = {
    [TEXT_CONCAT] = { "concat", "SS", false }, [TEXT_COMPARE] = { "compare", "SS", true },
    [TEXT_LENGTH] = { "length", "S", true },   [TEXT_SUBSTRING] = { "substring", "SII", false },
    [TEXT_FORMAT] = { "format", "*S", false },
};

const char *text_op_name(TextOp op)
{
    return text_rows[op].name;
}

uint32_t text_op_arity(TextOp op)
{
    return (uint32_t)strlen(text_rows[op].args);
}

bool text_op_fits(TextOp op, uint32_t n, const Expr *const *args)
{
    bool fits = n == text_op_arity(op);
    for (uint32_t k = 0; k < n && fits; k++) {
        const Type type = args[k]->type;
        fits = text_rows[op].args[k] == 'S' ? type_equal(type, STRING_TYPE)
               : text_rows[op].args[k] == 'I'
                   ? type_equal(type, INTEGER_TYPE)
                   : type.rank == 0 && type.kind != TYPE_BOOLEAN && type.kind != TYPE_ENUM && type.kind != TYPE_OBJECT;
    }
    return fits;
}

Type text_op_type(TextOp op)
{
    return text_rows[op].is_integer ? INTEGER_TYPE : STRING_TYPE;
}

static const Expr *string_literal(Pool *pool, const char *text)
{
    return expr_string(pool, names_text(pool_names(pool), text));
}

static const Expr *enum_to_text(Pool *pool, const Expr *e)
{
    const Enumeration *enumeration = pool_get_enumeration(pool, e->type.enumeration);
    const Expr *text = expr_string(pool, enumeration->values[enumeration->n - 1]);
    for (uint32_t k = enumeration->n - 1; k-- > 0;) {
        const Expr *value = expr_enum(pool, e->type.enumeration, k + 1);
        text = expr_if(pool, expr_literal_relation(pool, OP_EQ, e, value), expr_string(pool, enumeration->values[k]),
                       text);
    }
    return text;
}

const Expr *expr_to_text(Pool *pool, const Expr *e)
{
    const Expr *args[] = { e, NULL };
    switch ((TypeKind)e->type.kind) {
    case TYPE_STRING: return e;
    case TYPE_BOOLEAN: return expr_if(pool, e, string_literal(pool, "true"), string_literal(pool, "false"));
    case TYPE_ENUM: return enum_to_text(pool, e);
    case TYPE_REAL:
    case TYPE_INTEGER:
    case TYPE_OBJECT: break;
    }
    args[1] = string_literal(pool, e->type.kind == TYPE_REAL ? "g" : "d");
    return expr_text_op(pool, TEXT_FORMAT, 2, args);
}
