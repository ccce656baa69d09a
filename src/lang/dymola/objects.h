/* The objects of a class: other classes, translated before, whose Models are composed into its own. */
#ifndef LANG_DYMOLA_OBJECTS_H
#define LANG_DYMOLA_OBJECTS_H

#include "ir/model.h"
#include "lang/dymola/ast.h"

typedef struct {
    Ident name;
    const Submodel *text;
    Translation *translation;
    InstanceId instance;
    uint32_t first_var, first_port; /* where those of the object begin in the Model of the class */
} ClassObject;

typedef struct {
    VEC(ClassObject) all;
    Map names; /* the places in `all` */
} ClassObjects;

void dym_declare_object(Translation *translation, const Submodel *submodel);

#endif
