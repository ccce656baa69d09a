/* What the parser makes of a text: classes, their declarations, connections and equations. */
#ifndef LANG_DYMOLA_AST_H
#define LANG_DYMOLA_AST_H

#include "base/map.h"
#include "base/names.h"
#include "base/source.h"
#include "base/vec.h"
#include "ir/expr.h"

typedef struct {
    NameId name;
    Span span;
} Ident;

/* ---- expressions ---- */
typedef enum {
    NODE_NUMBER,
    NODE_BOOLEAN,   /* number 0 or 1 */
    NODE_VARIABLE,  /* path; args: indices */
    NODE_DER,       /* the same */
    NODE_NEW,       /* the same */
    NODE_INIT,      /* the same */
    NODE_CALL,      /* op; args */
    NODE_FUNCTION,  /* path[0]; args */
    NODE_IF,        /* args: condition, then, else */
    NODE_ROW,       /* args: what stands side by side */
    NODE_MATRIX,    /* args: rows */
    NODE_TRANSPOSE, /* args: one */
    NODE_RANGE      /* of an index; args: first and last, or none: all */
} NodeKind;

typedef struct Node Node;
struct Node {
    uint8_t kind;
    uint8_t op; /* Op */
    uint16_t depth;
    uint32_t n_args, n_path;
    Span span;
    double number;
    const Ident *path;
    Node *const *args;
};

typedef struct {
    Node *left, *right;
    Span span;
} EquationText;
typedef VEC(EquationText) EquationTexts;
typedef VEC(Node *) Nodes;

typedef struct {
    Node *condition;
    EquationTexts equations;
    Span span;
} When;

/* ---- declarations ---- */
enum { DIMS_MOST = 2 };
typedef struct { /* of a vector or matrix; n 0: a scalar, or not said */
    uint32_t n, at[DIMS_MOST];
    Span span;
} Size;

typedef enum { KIND_PARAMETER, KIND_CONSTANT, KIND_LOCAL, KIND_TERMINAL, KIND_INPUT, KIND_OUTPUT } VarKind;
typedef enum { VALUE_NONE, VALUE_NUMBER, VALUE_BOOLEAN, VALUE_VARIABLE, VALUE_MATRIX } ValueKind;
typedef struct {
    uint8_t kind; /* ValueKind */
    double number;
    Ident variable;
    Span span;
    Size size;             /* MATRIX: rows and columns */
    const double *numbers; /* MATRIX: by rows */
} Value;

typedef struct {
    uint8_t kind; /* VarKind */
    Ident name;
    Size size;
    Value value;
    Value nominal; /* its usual size; VALUE_NONE: not said */
} VarDecl;

typedef struct {
    Ident name; /* empty: a place without variable */
    Size size;
    bool is_negated, is_through;
} CutItem;

typedef enum { CUT_NAMED, CUT_FLAT, CUT_LIST, CUT_EMPTY, CUT_BARE } CutKind;
typedef struct Cut Cut;
struct Cut { /* NAMED: name; FLAT: items; LIST: parts; EMPTY: `.`; BARE: declared without variables */
    uint8_t kind;
    Span span;
    Ident name;
    VEC(CutItem) items;
    VEC(Cut *) parts;
};

typedef struct {
    Ident name;
    Cut *cut;
    bool is_main, is_node;
} CutDecl;

typedef struct {
    Ident name; /* empty: only a main path */
    Cut *from, *to;
    bool is_main;
} PathDecl;

typedef struct {
    Ident name; /* empty: by position */
    Value value;
} ParamItem;

typedef struct Class Class;
typedef struct {
    Ident name;
    Class *class;
    VEC(ParamItem) params;
} Submodel;

/* ---- connections ---- */
typedef enum { JOIN_AT, JOIN_TO, JOIN_FROM, JOIN_PAR, JOIN_LOOP } Join;
typedef enum { WIRE_NAME, WIRE_CUT, WIRE_PATH, WIRE_LIST, WIRE_EMPTY, WIRE_JOIN } WireKind;
typedef struct Wire Wire;
/* NAME: path; CUT: path and its last is a cut; PATH: its last is a path; LIST: parts; JOIN: left, right */
struct Wire {
    uint8_t kind, join;
    bool is_reversed;
    uint16_t depth;
    uint32_t n_path;
    const Ident *path;
    Span span;
    VEC(Wire *) parts;
    Wire *left, *right;
};

/* ---- functions ---- */
typedef struct {
    Class *class; /* its variables: arguments, the value, called as the function is, and locals; its equations */
    uint32_t n_inputs;
    struct Function *made;
} FunctionText;

typedef struct { /* the functions of a text, in their order */
    VEC(FunctionText *) all;
    Map names; /* the places in `all` */
} FunctionTexts;

/* ---- directives ---- */
typedef struct {           /* variable tear name [residual] */
    Node *name, *residual; /* residual: NULL: none is given */
} Tear;

typedef struct {                  /* what stands after a model about its variables */
    Nodes unknowns, kept, states; /* `variable unknown`, `variable not evaluate`, `variable state` */
    VEC(Tear) tears;              /* `variable tear` */
} Directives;

/* ---- classes ---- */
typedef enum { EVENTS_UNSAID, EVENTS_ON, EVENTS_OFF } EventsOption;
enum { NAME_VARIABLE = 1, NAME_CONNECTABLE = 2, NAME_ARRAY = 4 };
typedef struct Translation Translation;
struct Class {
    Ident name;
    Class *super, *outer;
    bool is_class;  /* it is declared as a class; else it is an object at once */
    uint8_t events; /* EventsOption; of the whole text */
    VEC(Class *) classes;
    VEC(Submodel) submodels;
    VEC(VarDecl) variables;
    VEC(CutDecl) cuts;
    VEC(PathDecl) paths;
    VEC(Wire *) wires;
    EquationTexts equations;
    VEC(When *) whens;
    Directives directives;
    FunctionTexts functions;  /* of the outermost class: those of the text */
    Map known;                /* name -> NAME_ bits, of this body alone */
    Translation *translation; /* once it is made */
    bool has_failed;          /* the translation was tried and has errors */
};

#endif
