/* Which instruction of the register machine does an operation of a term; the operations are those of ir/op.def. */
#include "emit/interp/opcode.h"
#include "base/bug.h"

static Opcode by_type(const Expr *e, Opcode real, Opcode integer)
{
    return e->args[0]->type.kind == TYPE_REAL ? real : integer;
}

/* The instruction of a function of op.def; OPCODE_COUNT: it is no function. */
static Opcode function_opcode(Op op, bool is_real)
{
#define CODE_PREFIX(name) OPCODE_COUNT
#define CODE_INFIX(name)  OPCODE_COUNT
#define CODE_FIRST(name)  OPCODE_COUNT
#define CODE_NONE(name)   OPCODE_COUNT
#define CODE_LIBM(name)   OPCODE_##name
#define CODE_CALL(name)   OPCODE_##name
#define CODE_WHOLE(name)  OPCODE_##name
    static const uint16_t rows[OP_COUNT][2] = {
#define OP(name, text, arity, result, takes, course, cost, on_reals, by_real, on_integers, by_integer)                 \
    { CODE_##on_integers(INTEGER_##name), CODE_##on_reals(REAL_##name) },
#include "ir/op.def"
#undef OP
    };
    return (Opcode)rows[op][is_real];
}

Opcode opcode_of(const Expr *e)
{
    const Opcode function = function_opcode((Op)e->op, e->args[0]->type.kind == TYPE_REAL);
    if (function != OPCODE_COUNT)
        return function;
    switch ((Op)e->op) {
    case OP_NEG: return OPCODE_RNEG;
    case OP_ADD: return OPCODE_RADD;
    case OP_SUB: return OPCODE_RSUB;
    case OP_MUL: return OPCODE_RMUL;
    case OP_DIV: return OPCODE_RDIV;
    case OP_NOT: return OPCODE_NOT;
    case OP_AND: return OPCODE_AND;
    case OP_OR: return OPCODE_OR;
    case OP_LT:
    case OP_GT: return by_type(e, OPCODE_RLT, OPCODE_ILT); /* a > b is b < a, see compute_call */
    case OP_LE:
    case OP_GE: return by_type(e, OPCODE_RLE, OPCODE_ILE);
    case OP_EQ: return by_type(e, OPCODE_REQ, OPCODE_IEQ);
    case OP_NE: return by_type(e, OPCODE_RNE, OPCODE_INE);
    case OP_ELEMENT: return OPCODE_ELEMENT;
    default: break;
    }
    BUG("not an operation of the machine");
}
