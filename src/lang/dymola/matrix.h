/* Vectors and matrices in expressions and equations whose sizes fit. */
#ifndef LANG_DYMOLA_MATRIX_H
#define LANG_DYMOLA_MATRIX_H

#include "ir/model.h"
#include "lang/dymola/ast.h"

/* Do the elements of the node have a common formula? */
bool dym_is_regular(const Translation *translation, const Node *node);
/* Is the node a scalar that is made of vectors, or an element of one? */
bool dym_is_from_matrix(Translation *translation, const Node *node);
const Expr *dym_lower_from_matrix(Translation *translation, TermBuilder *builder, const Node *node);
void dym_lower_matrix_equation(Translation *translation, const EquationText *text);

#endif
