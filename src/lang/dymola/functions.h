/* Functions: those that the language knows, and those of the text. */
#ifndef LANG_DYMOLA_FUNCTIONS_H
#define LANG_DYMOLA_FUNCTIONS_H

#include "lang/dymola/translation.h"

typedef struct {
    const char *name;
    uint8_t op, arity;
} FunctionRow;
const FunctionRow *dym_find_function(Translation *translation, const Node *node); /* NULL: already reported */
bool dym_check_call(Translation *translation, const Node *node);                  /* also of functions of the text */
/* noEvent(e), smooth(p, e): comparisons in e are no events. */
bool dym_is_literal(const Translation *translation, const Node *node);

/* A function of the text: its declarations, then the types of its arguments, then each of its statements. */
void dym_check_function(Translation *translation, const FunctionText *function);
void dym_check_function_types(Translation *translation, const FunctionText *function);
bool dym_check_statement(Translation *translation, const FunctionText *function, const EquationText *text);

void dym_lower_functions(Load *load);                                           /* those of the text */
const FunctionText *dym_find_user_function(const Load *load, const Node *node); /* NULL: none */
const Expr *dym_lower_user_call(Translation *translation, TermBuilder *builder, const Node *node,
                                const FunctionText *function);

#endif
