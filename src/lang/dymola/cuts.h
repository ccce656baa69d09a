/* The cuts, nodes and paths of a class: they become shapes of points, and ports of the Model. */
#ifndef LANG_DYMOLA_CUTS_H
#define LANG_DYMOLA_CUTS_H

#include "lang/dymola/points.h"

typedef struct { /* a cut or a node */
    Ident name;
    Shape *shape;
    Map members; /* the variables (VarId) of a cut declared without them, by name, once they are known */
    bool has_members;
} ClassCut;

typedef struct {
    VEC(ClassCut) all;
    Map names;    /* the places in `all` */
    Shape *main;  /* the main cut, or NULL */
    Span main_at; /* its declaration */
} ClassCuts;

typedef struct {
    Ident name;
    Shape *from, *to;
} ClassPath;

typedef struct {
    VEC(ClassPath) all;
    Map names;                  /* the places in `all` */
    Shape *main_from, *main_to; /* the ends of the main path, or NULL */
    Span main_at;               /* its declaration */
} ClassPaths;

void dym_declare_cuts(Translation *translation);

#endif
