/* Equations and the expressions in them become equations and terms of the Model. */
#ifndef LANG_DYMOLA_EQUATIONS_H
#define LANG_DYMOLA_EQUATIONS_H

#include "ir/model.h"
#include "lang/dymola/ast.h"

const Expr *dym_lower_scalar(Translation *translation, TermBuilder *builder, const Node *node);
/* What a NODE_VARIABLE, NODE_DER, NODE_NEW or NODE_INIT stands for. */
Ref dym_reference(Translation *translation, const Node *node, VarId var);
Term dym_lower_term(Translation *translation, const Node *node);
bool dym_check_node(Translation *translation, const Node *node);
void dym_lower_equation(Translation *translation, const EquationText *text); /* of translation->when, if there is one */
/* What an equation becomes once its sides are lowered; `left` is what it defines if it has a direction. */
void dym_add_equation(Translation *translation, const EquationText *text, bool is_directed, Term left, Term right,
                      DomainId domain);
void dym_lower_equations(Translation *translation);

#endif
