/* The variables of a class and their names: own ones, those of objects, those of cuts that took their variables over.
 */
#ifndef LANG_DYMOLA_VARIABLES_H
#define LANG_DYMOLA_VARIABLES_H

#include "ir/model.h"
#include "lang/dymola/ast.h"

typedef struct {
    Ident name;
    uint8_t kind;     /* VarKind */
    bool is_implicit; /* no declaration names the variable, only a cut */
    VarId var;
    Value value, nominal;
    uint32_t type; /* the node of its type, see types.h */
} ClassVariable;

typedef struct {
    VEC(ClassVariable) all;
    Map names; /* the places in `all` */
} ClassVariables;

void dym_declare(Translation *translation, const VarDecl *declared);
VarId dym_declare_in_cut(Translation *translation, const CutItem *item); /* unless it is declared already */
bool dym_is_time(const Translation *translation, const Node *node);
VarId dym_find_variable(Translation *translation, const Ident *path, uint32_t n); /* none: already reported */

#endif
