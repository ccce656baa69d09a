/* The standard functions: what they take and give, and what they are made of. */
#ifndef LANG_SIMPLEX_FUNCTION_H
#define LANG_SIMPLEX_FUNCTION_H

#include "ir/expr.h"

typedef enum {
#define FUNCTION(name, arity, from, to, course, op) FUNCTION_##name,
#include "lang/simplex/function.def"
#undef FUNCTION
    FUNCTION_COUNT
} FunctionId;

typedef struct {
    const char *name;
    uint8_t arity, from, to; /* from, to: TypeKind */
    bool is_step;            /* discrete whatever the arguments */
    uint8_t op;              /* Op, or OP_COUNT if composed */
} FunctionRow;

const FunctionRow *mdl_function_row(FunctionId function);
bool mdl_function_find(const char *name, FunctionId *function); /* without regard to capitals */
/* The function of arguments that have its argument type. `is_literal`: relations in it make no events. */
const Expr *mdl_function_build(Pool *pool, FunctionId function, const Expr *const *args, bool is_literal);

double mdl_real_operation(Op op, double a, double b); /* of numbers that are known */

#endif
