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
    Span joined_at; /* the first connection that names it */
} Point;

typedef struct {
    Ident name;
    uint8_t kind;     /* VarKind */
    bool is_implicit; /* known from a cut only */
    VarId var;
    Value value, nominal;
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

typedef struct { /* init(var) */
    VarId var;
    Span span;
    bool is_at_start; /* outside of whens */
} InitUse;

typedef struct { /* the when that is being lowered */
    uint32_t transition;
    VEC(Assignment) sets, inits;
    Map stand_ins; /* state -> the variable that stands for its value after the event */
} WhenUse;

/* One load. */
typedef struct {
    const LoadRequest *request;
    Pool *pool;
    Arena *arena;
    Names *names;
    Diag *diag;
    uint32_t *errors;
    bool is_strict;
    bool has_no_events; /* ifs are literal: nobody is told where they change */
    bool has_warned;    /* of it */
    uint32_t depth;
    const Class *all;           /* the text */
    uint32_t n_functions_ready; /* a function may call those before it */
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
    VEC(uint32_t) joined; /* sets of points, see graph/sets.h */
    VEC(uint32_t) types;  /* union-find over types */
    Map var_names, cut_names, path_names, object_names;
    Map var_types;       /* variable of the Model -> type node, for own variables */
    Map port_points;     /* port of an object -> point */
    Map remembered;      /* variables under new, those of objects too */
    VEC(VarId) memories; /* the same as a list */
    VEC(MemoryUse) uses; /* those that this class is the first to put under new */
    VEC(InitUse) inits;  /* those of objects too */
    WhenUse *when;       /* or NULL */
    Shape *main_cut, *main_from, *main_to;
    Span main_cut_at, main_path_at;
    bool is_good;
    bool has_arrays; /* some variable, also of objects, or some expression is no scalar */
};

#define NAME(unit, ident) names_of((unit)->load->names, (ident).name)

/* lower_functions.c */
void dym_lower_functions(Load *load);
const FunctionText *dym_find_user_function(const Load *load, const Node *node); /* NULL: none */
const Expr *dym_lower_user_call(Unit *unit, TermBuilder *builder, const Node *node, const FunctionText *function);

/* lower.c: NULL: already reported. */
Unit *dym_new_unit(Load *load, const Class *class);
void dym_declare(Unit *unit, const VarDecl *declared);
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

/* lower_events.c */
bool dym_has_init(const Node *node);
Ref dym_init_ref(Unit *unit, const Node *node, VarId var); /* what init(var) is in an equation */
void dym_take_inits(Unit *unit, const UnitObject *object);
void dym_settle_inits(Unit *unit); /* of the model to be built: states whose start an equation determines */
void dym_lower_when(Unit *unit, const When *text);

/* extent.c */
typedef struct {
    uint32_t rows, columns;
} Extent;
static inline bool extent_is_scalar(Extent e)
{
    return e.rows == 1 && e.columns == 1;
}
static inline bool extent_equal(Extent a, Extent b)
{
    return a.rows == b.rows && a.columns == b.columns;
}
enum {
    MOST_ROWS = 1000000, /* of a size in a text */
    MOST_MADE = 10000    /* elements that are written one by one */
};
typedef enum { MATRIX_NONE, MATRIX_CROSS, MATRIX_DIAG, MATRIX_EYE, MATRIX_SKEW, MATRIX_ZERO } MatrixFunction;
MatrixFunction dym_matrix_function(const Unit *unit, const Node *node);
bool dym_extent(Unit *unit, const Node *node, Extent *extent); /* false: already reported */
const char *dym_extent_text(Unit *unit, Extent extent);
Extent dym_variable_extent(const Unit *unit, VarId var);
bool dym_index_range(Unit *unit, const Node *index, uint32_t extent, uint32_t *first, uint32_t *last);
void dym_check_size(Unit *unit, const EquationText *text);
void dym_set_size(Unit *unit, VarId var, const Size *size);
void dym_copy_size(Unit *unit, VarId from, VarId to);

/* lower_matrix.c: for nodes and equations whose sizes fit */
bool dym_is_from_matrix(Unit *unit, const Node *node); /* a scalar that is made of vectors or an element of one */
const Expr *dym_lower_from_matrix(Unit *unit, TermBuilder *builder, const Node *node);
void dym_lower_matrix_equation(Unit *unit, const EquationText *text);

/* functions.c */
typedef struct {
    const char *name;
    uint8_t op, arity;
} FunctionRow;
const FunctionRow *dym_find_function(Unit *unit, const Node *node); /* NULL: already reported */
bool dym_check_call(Unit *unit, const Node *node);                  /* also of functions of the text */
bool dym_is_literal(const Unit *unit, const Node *node); /* noEvent(e), smooth(p, e): comparisons in e are no events */

/* lower_equations.c */
const Expr *dym_lower_scalar(Unit *unit, TermBuilder *builder, const Node *node);
Ref dym_reference(Unit *unit, const Node *node, VarId var); /* what a NODE_VARIABLE, NODE_DER, ... stands for */
Term dym_lower_term(Unit *unit, const Node *node);
bool dym_check_node(Unit *unit, const Node *node);
void dym_lower_equation(Unit *unit, const EquationText *text); /* of unit->when, if there is one */
/* What an equation becomes once its sides are lowered; `left` is what it defines if it has a direction. */
void dym_add_equation(Unit *unit, const EquationText *text, bool is_directed, Term left, Term right, DomainId domain);
void dym_lower_equations(Unit *unit);

#endif
