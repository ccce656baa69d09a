/* Values: of own variables, and what objects are given for their parameters. */
#ifndef LANG_DYMOLA_VALUES_H
#define LANG_DYMOLA_VALUES_H

#include "lang/dymola/objects.h"
#include "lang/dymola/variables.h"

/* false: reported. */
bool dym_check_value(Translation *translation, const Value *value, VarId var); /* fits in size */
bool dym_check_nominal(Translation *translation, const ClassVariable *var);
/* The parameter of the object's class that the item sets, if its value fits; NULL: reported. */
const ClassVariable *dym_check_parameter(Translation *translation, const ClassObject *object, uint32_t item);

void dym_lower_values(Translation *translation);     /* of own variables, whose types are known */
void dym_lower_parameters(Translation *translation); /* of objects */

#endif
