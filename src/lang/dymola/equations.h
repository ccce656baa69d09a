/* Equations and the expressions in them become equations and terms of the Model. */
#ifndef LANG_DYMOLA_EQUATIONS_H
#define LANG_DYMOLA_EQUATIONS_H

#include "ir/model.h"
#include "lang/dymola/ast.h"

const Expr *dym_lower_scalar(Translation *translation, TermBuilder *builder, const Node *node);
/* What a NODE_VARIABLE, NODE_DER, NODE_NEW or NODE_INIT stands for. */
Ref dym_reference(Translation *translation, const Node *node, VarId var);
Term dym_lower_term(Translation *translation, const Node *node);
/* What may stand in an equation, in the condition of a when; false: reported. */
bool dym_check_equation(Translation *translation, const EquationText *text);
bool dym_check_condition(Translation *translation, const Node *condition);
bool dym_check_expression(Translation *translation, const Node *node);
bool dym_is_of_arrays(Translation *translation, const EquationText *text);
bool dym_is_bare(Translation *translation, const Node *node); /* a variable that an equation may define */
void dym_lower_equation(Translation *translation, const EquationText *text); /* of translation->when, if there is one */
/* What an equation becomes once its sides are lowered; `left` is what it defines if it has a direction. */
void dym_add_equation(Translation *translation, const EquationText *text, bool is_directed, Term left, Term right,
                      DomainId domain);
void dym_lower_equations(Translation *translation);

#endif
