/* A component as it was written, private to this folder.
 *
 * The parser fills what the text says; the checker fills the fields marked "check"; lowering reads
 * both. Lists are arrays in source order. Names keep their spelling; they are the same if they
 * differ only in capitals, which the checker decides. */
#ifndef LANG_SIMPLEX_AST_H
#define LANG_SIMPLEX_AST_H

#include "base/source.h"
#include "base/unit.h"
#include "base/vec.h"
#include "ir/model.h"

typedef struct {
    NameId name;
    Span span;
} Ident;

/* ---- expressions ---- */
typedef enum { COURSE_CONSTANT, COURSE_DISCRETE, COURSE_CONTINUOUS } Course;

typedef enum {
    NODE_NUMBER,  /* u.number */
    NODE_LOGICAL, /* u.truth */
    NODE_NAME,    /* u.name */
    NODE_TIME,    /* T */
    NODE_UNARY,   /* op: NEG, NOT; u.operand[0] */
    NODE_BINARY,  /* op: ADD, SUB, MUL, DIV, AND, OR; u.operand */
    NODE_COMPARE, /* op: a relation; u.operand */
    NODE_CALL,    /* u.call */
    NODE_REDUCE,  /* op: ADD, MUL, MIN, MAX, AND, OR; u.reduce */
    NODE_LOOP     /* u.loop; made of a name by the checker */
} NodeKind;

typedef struct Node Node;
typedef struct { /* FOR name FROM from TO to BY by */
    Ident name;
    Node *from, *to, *by; /* by NULL: 1 */
    Span span;
    /* check */
    Type type;                    /* INTEGER or a value set, whose values are numbered from 1 */
    int64_t first, stride, count; /* as last evaluated */
    bool is_constant;             /* the range does not depend on loops around it */
    bool is_bad;
    bool is_known; /* it has a value at the moment: */
    int64_t value;
    /* lower */
    bool is_symbolic; /* a loop variable of the Model: */
    uint32_t level;
} Loop;
typedef VEC(Loop *) Loops; /* outermost first */

typedef struct { /* ARRAY [n1, n2]; n 0: no array */
    uint32_t n;
    Node **nodes;
    Span span;
    /* check */
    bool is_bad;
    int64_t *extent;
    Type *sets; /* of each index: INTEGER, or the set whose values are the indices */
    uint64_t count;
} Sizes;

struct Node {
    uint8_t kind;   /* NodeKind */
    uint8_t op;     /* Op */
    uint16_t depth; /* at least that of the expression it becomes */
    Span span;
    /* check */
    uint8_t course; /* Course */
    bool has_time;  /* T occurs, other than inside a comparison */
    bool is_bad;    /* something below was reported: nothing more to say */
    Type type;
    union {
        double number;
        bool truth;
        struct {
            NameId name;
            uint32_t n; /* indices */
            Node **index;
            uint32_t symbol; /* check */
        } name;
        struct {
            Loop *loop;
            Node *body;
        } reduce;
        Loop *loop;
        Node *operand[2];
        struct {
            Ident name;
            uint32_t n;
            Node **args;
            uint32_t function; /* check: standard function, or ID_NONE ... */
            uint32_t symbol;   /* ... and the table, or ID_NONE ... */
            uint8_t draw;      /* ... and the distribution, a Draw */
        } call;
    } u;
};
enum { NODE_DEPTH = 2000 }; /* of expressions; below EXPR_DEPTH */

/* ---- statements ---- */
typedef enum {
    STMT_ALGEBRAIC,  /* u.define:  target := value */
    STMT_DERIVATIVE, /* u.define:  target' := value */
    STMT_NEXT,       /* u.define:  target^ := value, in events only */
    STMT_DISPLAY,    /* u.display, in events only */
    STMT_STOP,       /* in events only: the run ends */
    STMT_IF,         /* u.choice */
    STMT_FOR,        /* u.repeat */
    STMT_WHENEVER    /* u.event, not in events */
} StmtKind;

typedef struct Stmt Stmt;
typedef struct {
    Node *condition; /* NULL: ELSE */
    Stmt *body;
    Span span;
} Branch;
struct Stmt {
    uint8_t kind; /* StmtKind */
    Span span;
    Stmt *next;
    union {
        struct {
            Ident target;
            uint32_t n; /* indices */
            Node **index;
            Node *value;
            uint32_t symbol; /* check; ID_NONE: reported */
        } define;
        struct {
            NameId format; /* check: made one of the Model's */
            Span format_span;
            uint32_t n;
            Node **args;
            char *letters; /* check: of the conversions, one for each argument */
        } display;
        struct {
            uint32_t n; /* with ELSE */
            Branch *branches;
        } choice;
        struct {
            Node *condition;
            Stmt *body;
            bool has_draw; /* check: a random number is drawn in it */
        } event;
        struct {
            Loop *loop;
            Stmt *body;
        } repeat;
    } u;
};
enum { STATEMENT_DEPTH = 200 };

/* ---- declarations of a basic component ---- */
typedef enum { VALUE_NONE, VALUE_NUMBER, VALUE_LOGICAL, VALUE_NAME, VALUE_EXPRESSION } ValueKind;
typedef struct {
    uint8_t kind; /* ValueKind */
    bool truth;
    double number;
    NameId name;
    Node *node; /* VALUE_NAME, VALUE_EXPRESSION: as an expression */
    Span span;
} Value;

typedef enum { USE_CONSTANT, USE_STATE, USE_DEPENDENT, USE_SENSOR } Use;
typedef struct {
    Ident name;
    Sizes sizes;
    uint8_t use; /* Use */
    bool is_continuous;
    uint8_t range; /* TypeKind; TYPE_ENUM: the set is `set` */
    Ident set;
    Ident unit;    /* as it was written between the brackets; empty: none */
    Value initial; /* of an array: of each element, unless they have values of their own: */
    VEC(Value) initials;
    Value nominal; /* its usual size; VALUE_NONE: not said */
    /* check */
    const Unit *physical; /* NULL: not known */
    bool is_bad;          /* its value set is unknown */
    Type type;
    const Expr *start;        /* the initial value; NULL: none */
    Node *computed;           /* ... or an expression of constants */
    uint64_t first_slot;      /* of its elements, in all elements of the component */
    const bool *has_equation; /* per element: its derivative is defined somewhere */
    /* lower */
    VarId var;
} Quantity;

typedef struct { /* DIMENSION name := value */
    Ident name;
    Node *value;
    int64_t number; /* check */
} DimensionDecl;

typedef struct {
    Ident name;
    bool is_ordered;
    VEC(Ident) values;
    Type type; /* check */
} ValueSet;

typedef struct {
    double value;
    Span span;
} TablePoint;
typedef struct {
    Ident name;
    uint8_t method; /* TableMethod */
    VEC(TablePoint) x, y;
    Ident unit_x, unit_y;
    const Unit *physical_x, *physical_y; /* check; NULL: not known */
} TableDecl;

/* ---- high level components ---- */
typedef struct {
    Ident name, class_name;
    Sizes sizes;
} SubDecl;
typedef struct { /* `quantity` or `sub.quantity`; sub.name is empty for the first */
    Ident sub, quantity;
    uint32_t n; /* indices of sub */
    Node **index;
    int64_t *number;     /* compose: their values */
    uint32_t n_elements; /* indices of the quantity */
    Node **element;
    int64_t *element_number; /* compose */
    Span span;
} Path;
typedef struct { /* from --> to;  one row for each member of a list */
    Path from, to;
    bool is_repeated; /* `from` stands in the row before: the same list */
    Loops loops;      /* around it */
} Link;
typedef VEC(Link) Links;
typedef struct {
    Ident name;
    Path source;
} Equivalence;
typedef struct {
    Path target;
    Value value;
    Loops loops;
} Initial;
typedef VEC(Initial) Initials;

typedef struct Procedure Procedure; /* see procedure.h */
typedef struct {
    Ident name;
    Span span; /* the head */
    bool is_high_level;
    bool is_function; /* the file holds the first of its procedures, for all components */
    VEC(DimensionDecl) dimensions;
    /* basic */
    Ident time_unit;
    NameId counted_in; /* check: unit of the time, empty if nothing has a unit */
    VEC(ValueSet) sets;
    VEC(TableDecl) tables;
    VEC(Procedure *) procedures;
    VEC(Quantity) quantities;
    Stmt *statements;
    /* high level */
    VEC(SubDecl) subs;
    Links inputs; /* from.sub is empty */
    VEC(Equivalence) equivalences;
    Links connections;
    Initials initials;
} Component;

#endif
