/* What is declared of a function: which other functions are its derivatives and inverses.
 *
 * A derivative of order 1 has the inputs of the function and behind them the derivative of each Real input that is not
 * taken out; its outputs are the derivatives of the Real outputs. One of order n + 1 is declared at one of order n; it
 * has the inputs of that one and behind them the derivatives of what that one had last. An inverse gives one input,
 * from the others and the output. */
#ifndef IR_DECLARED_H
#define IR_DECLARED_H

#include "ir/model.h"

typedef enum {
    INPUT_MOVES,
    INPUT_ZERO, /* taken out: its derivative is 0, else this is no derivative */
    INPUT_NONE  /* taken out: nothing depends on its derivative */
} DerivativeInput;

typedef struct {
    Function *by;
    uint32_t order;        /* from 1 */
    const uint8_t *inputs; /* DerivativeInput, for each input of the function */
    Span span;
} DeclaredDerivative;

typedef struct {
    Function *by;
    uint32_t input;       /* that it gives */
    const uint32_t *args; /* for each input of `by`: an input of the function; n_inputs: its output */
    Span span;
} DeclaredInverse;

typedef struct Declared {
    VEC(DeclaredDerivative) derivatives;
    VEC(DeclaredInverse) inverses;
    const Function *base; /* the function of which this one is a derivative, NULL: none, */
    uint32_t in_base;     /* ... by this entry in it */
} Declared;

void declare_derivative(Function *function, const DeclaredDerivative *derivative);
void declare_inverse(Function *function, const DeclaredInverse *inverse);
/* The inputs of the function whose derivatives the other one has behind them; how many. `inputs` has room for all. */
uint32_t declared_moving(const Function *function, const DeclaredDerivative *derivative, uint32_t *inputs);
/* What is wrong with what is declared, and what to do; NULL: nothing. */
const char *declared_mistake(const Function *function, Span *where, const char **help);

/* The function that is declared to be the derivative of the call along these tangents, and its arguments; NULL: none.
 * tangents: for each argument, NULL where it is not Real. args has room for those of the call and all tangents. */
const Function *declared_derivative(Arena *arena, const Expr *call, const Expr *const *tangents, const Expr **args,
                                    uint32_t *n);
/* The argument that makes the call, which depends on the leaf in that one only, be `value`; NULL: none is declared. */
const Expr *declared_inverse(Pool *pool, const Expr *call, uint32_t argument, const Expr *value);

#endif
