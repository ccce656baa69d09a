/* A class on its way to a Model.
 *
 * A class is lowered once, with what it inherits copied into it; its objects are composed of its Model. Points are the
 * places that can be connected: its own cuts without parts, its nodes, and the cuts of its objects as they are used. */
#ifndef LANG_DYMOLA_UNIT_H
#define LANG_DYMOLA_UNIT_H

#include "ir/language.h"
#include "lang/dymola/ast.h"
#include "lang/dymola/report.h"

typedef enum { SHAPE_POINT, SHAPE_LIST, SHAPE_EMPTY } ShapeKind;
typedef struct Shape Shape;
struct Shape { /* of a cut */
    uint8_t kind;
    uint32_t point;
    uint32_t n;
    Shape *const *parts;
};

typedef struct {
    uint32_t port; /* of the Model; ID_NONE: a cut or node without variables */
    bool is_own;   /* a cut of the class itself, seen from inside */
    bool is_node;
    bool is_bare_cut; /* gets the variables of what it is connected to */
    Ident name;
    uint32_t parent; /* union-find */
    Span joined_at;  /* the first connection that names it */
} Point;

typedef struct {
    Ident name;
    uint8_t kind;     /* VarKind */
    bool is_implicit; /* known from a cut only */
    VarId var;
    Value value;
    uint32_t type; /* node, see types.c */
} UnitVar;

typedef struct {
    Ident name;
    Shape *shape;
    Map members; /* of a cut without variables: name -> VarId, once it is known */
    bool has_members;
} UnitCut;

typedef struct {
    Ident name;
    Shape *from, *to;
} UnitPath;

typedef struct {
    Ident name;
    const Submodel *text;
    Unit *unit;
    InstanceId instance;
    uint32_t first_var, first_port;
} UnitObject;

typedef struct { /* the first new(var) of a class */
    VarId var;
    Span span;
} MemoryUse;

/* One load. */
typedef struct {
    const LoadRequest *request;
    Pool *pool;
    Arena *arena;
    Names *names;
    Diag *diag;
    uint32_t *errors;
    bool is_strict;
    uint32_t depth;
} Load;

struct Unit {
    Load *load;
    Arena *arena;
    Diag *diag;
    uint32_t *errors;
    Model *model;
    VEC(const Class *) chain; /* with the classes inherited from, the first ancestor first */
    VEC(UnitVar) vars;
    VEC(UnitCut) cuts;
    VEC(UnitPath) paths;
    VEC(UnitObject) objects;
    VEC(Point) points;
    VEC(uint32_t) types; /* union-find over types */
    Map var_names, cut_names, path_names, object_names;
    Map var_types;       /* variable of the Model -> type node, for own variables */
    Map port_points;     /* port of an object -> point */
    Map remembered;      /* variables under new, those of objects too */
    VEC(VarId) memories; /* the same as a list */
    VEC(MemoryUse) uses; /* those that this class is the first to put under new */
    Shape *main_cut, *main_from, *main_to;
    Span main_cut_at, main_path_at;
    bool is_good;
};

#define NAME(unit, ident) names_of((unit)->load->names, (ident).name)

/* lower.c: NULL: already reported. */
Unit *dym_lower_class(Load *load, Class *class, Span wanted_at);
/* Through variables that nothing is connected to are left alone if an equation of another object names them, or sets
 * the potential of their cut: `object.V = ...`. */
void dym_leave_addressed(Model *model, Arena *arena);

/* lower_cuts.c: cuts, nodes and paths become shapes and ports. */
void dym_lower_cuts(Unit *unit);
Shape *dym_point_shape(Unit *unit, uint32_t point);
uint32_t dym_add_point(Unit *unit, Point point);

/* lower_connections.c */
void dym_join_wires(Unit *unit);       /* connections join points; cuts without variables get theirs */
void dym_emit_connections(Unit *unit); /* sets of points become connections of ports */

/* types.c */
enum { TYPE_NODE_REAL, TYPE_NODE_BOOLEAN };
uint32_t dym_new_type(Unit *unit);
uint32_t dym_type_of(Unit *unit, VarId var);
void dym_unify(Unit *unit, uint32_t a, uint32_t b, Span where);
void dym_infer_types(Unit *unit); /* from values, equations, connections; Real where nothing tells */

/* names.c */
bool dym_is_time(const Unit *unit, const Node *node);
VarId dym_find_variable(Unit *unit, const Ident *path, uint32_t n); /* none: already reported */

/* lower_memory.c */
bool dym_is_remembered(const Unit *unit, VarId var);
void dym_take_memories(Unit *unit, const UnitObject *object);
void dym_find_memories(Unit *unit); /* before equations are lowered */

/* lower_equations.c */
typedef struct {
    const char *name;
    uint8_t op, arity;
} FunctionRow;
const FunctionRow *dym_find_function(Unit *unit, const Node *node); /* NULL: already reported */
void dym_lower_equations(Unit *unit);

#endif
