/* Points: the places of a class that can be connected.
 *
 * They are its own cuts without parts, its nodes, and the cuts of its objects as they are used. A cut with parts is a
 * Shape, a tree whose leaves are points; so is each end of a path. Connections unite points to sets. */
#ifndef LANG_DYMOLA_POINTS_H
#define LANG_DYMOLA_POINTS_H

#include "lang/dymola/ast.h"

typedef enum { SHAPE_POINT, SHAPE_LIST, SHAPE_EMPTY } ShapeKind;
typedef struct Shape Shape;
struct Shape { /* the form of a cut; POINT: point; LIST: parts; EMPTY: a place that is left open */
    uint8_t kind;
    uint32_t point;
    uint32_t n;
    Shape *const *parts;
};

typedef struct {
    uint32_t port;    /* the port of the Model; ID_NONE: a cut or node without variables */
    bool is_own;      /* the point is a cut of the class itself, seen from inside */
    bool is_node;     /* the point is a node of the class */
    bool is_bare_cut; /* the cut gets the variables of what it is connected to */
    Ident name;
    Span joined_at; /* the first connection that names the point */
} Point;

typedef struct {
    VEC(Point) all;
    VEC(uint32_t) joined; /* the sets of connected points, see graph/sets.h */
    Map of_port;          /* the points of the ports of objects, by port */
} Points;

uint32_t dym_add_point(Translation *translation, Point point);
Shape *dym_point_shape(Translation *translation, uint32_t point);

#endif
