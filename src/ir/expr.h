/* Expressions: typed, hash-consed, without places and without names.
 *
 * Equal expressions are one node, so comparing is comparing pointers, and what is computed for a
 * node is computed once. An expression refers to variables only by leaf number: leaf k is the k-th
 * reference of whoever owns the expression (see Term in model.h). So an expression is a *shape*
 * that all instances of a class share. In canonical form leaves are numbered 0, 1, ... in the order
 * of their first occurrence, left to right.
 *
 * The builders check types and fold nothing: what a front end writes is what is kept. simplify.h
 * folds. Nesting is limited to EXPR_DEPTH so that walkers may recurse; expr_too_deep tells. */
#ifndef IR_EXPR_H
#define IR_EXPR_H

#include "base/arena.h"
#include "base/names.h"
#include "ir/table.h"
#include <stdbool.h>

typedef enum { TYPE_REAL, TYPE_INTEGER, TYPE_BOOLEAN, TYPE_ENUM, TYPE_STRING, TYPE_OBJECT } TypeKind;
typedef struct {
    uint8_t kind;         /* TypeKind */
    uint8_t rank;         /* 0: scalar */
    uint16_t enumeration; /* TYPE_ENUM, TYPE_OBJECT: index in the pool's enumerations */
} Type;

#define REAL_TYPE    ((Type){ TYPE_REAL, 0, 0 })
#define INTEGER_TYPE ((Type){ TYPE_INTEGER, 0, 0 })
#define BOOLEAN_TYPE ((Type){ TYPE_BOOLEAN, 0, 0 })
#define STRING_TYPE  ((Type){ TYPE_STRING, 0, 0 })
static inline Type enum_type(uint32_t enumeration)
{
    return (Type){ TYPE_ENUM, 0, (uint16_t)enumeration };
}
/* What C functions made, and nobody else looks into: a number that stands for it (koine/objects.h). */
static inline Type object_type(uint32_t enumeration)
{
    return (Type){ TYPE_OBJECT, 0, (uint16_t)enumeration };
}
static inline bool type_equal(Type a, Type b)
{
    return a.kind == b.kind && a.rank == b.rank && a.enumeration == b.enumeration;
}

typedef enum {
#define OP(name, ...) OP_##name,
#include "ir/op.def"
#undef OP
    OP_COUNT
} Op;
/* What op.def says of the arguments of an operation, and of its course. */
typedef enum {
    TAKES_NUMBERS,
    TAKES_REALS,
    TAKES_INTEGERS,
    TAKES_BOOLEANS,
    TAKES_VALUE,
    TAKES_ORDERED,
    TAKES_EQUAL,
    TAKES_ELEMENT
} OpTakes;
typedef enum { COURSE_SMOOTH, COURSE_KINK, COURSE_STEP, COURSE_CUT, COURSE_STILL } OpCourse;
const char *op_text(Op op);
uint32_t op_arity(Op op);
OpTakes op_takes(Op op);
OpCourse op_course(Op op);
uint32_t op_cost(Op op);            /* in additions */
Type op_type(Op op, Type operands); /* of its value */
bool op_is_relation(Op op);
bool op_by_text(const char *text, uint32_t arity, Op *op);

/* What an Integer operation gives when there is no result (division by zero, conversion out of range). */
#define INTEGER_FAULT INT64_MIN

typedef enum {
    EXPR_REAL,     /* u.real */
    EXPR_INTEGER,  /* u.integer */
    EXPR_BOOLEAN,  /* u.integer, 0 or 1 */
    EXPR_ENUM,     /* u.integer, from 1; type.enumeration says of what */
    EXPR_STRING,   /* u.text */
    EXPR_LEAF,     /* u.leaf; args: indices, none = the whole. Those that are vectors leave a dimension each */
    EXPR_ITERATOR, /* u.iterator: level of the owner's domain, 0 = outermost; Integer */
    EXPR_CALL,     /* op; args. Of arrays element by element, a scalar with each. Relations carry is_literal: true for
                      ever literal (noEvent) */
    EXPR_TABLE,    /* u.table; op: order of the derivative; args: argument, and the interval if it is frozen; Real */
    EXPR_IF,       /* args: condition, then, otherwise; only the chosen one is evaluated */
    EXPR_REDUCE,   /* op ADD, MUL, MIN, MAX, AND, OR; args: body, lo, step, hi; u.iterator: level inside the body */
    EXPR_ARRAY,    /* args: elements */
    EXPR_FUNCTION, /* u.function, args, result, element. One function is one object: see Function in model.h */
    EXPR_TEXT,     /* op: TextOp; args */
    EXPR_RANGE,    /* args: lo, step, hi; a vector of Integers. None: all of a dimension, as an index */
    EXPR_EACH,     /* args: body, lo, step, hi; u.iterator: level inside the body; the array of what the body gives */
    EXPR_WHOLE,    /* op: WholeOp; args. What it does is said by elements in lower-arrays */
} ExprKind;

typedef enum {
#define WHOLE(name, ...) WHOLE_##name,
#include "ir/whole.def"
#undef WHOLE
    WHOLE_COUNT
} WholeOp;

typedef enum {                 /* operations on texts */
               TEXT_CONCAT,    /* String, String: one behind the other */
               TEXT_COMPARE,   /* String, String: Integer, -1, 0 or 1 by the order of their bytes */
               TEXT_LENGTH,    /* String: Integer, the number of its characters */
               TEXT_SUBSTRING, /* String, Integer, Integer: from one character to another, counted from 1 */
               TEXT_FORMAT,    /* Real, Integer or String, and a String: by a format of C, as "6.3f" */
               TEXT_OPS
} TextOp;

typedef struct Expr Expr;
typedef struct Function Function;
struct Expr {
    uint8_t kind; /* ExprKind */
    uint8_t op;   /* EXPR_CALL, EXPR_REDUCE: Op; EXPR_TABLE: order; EXPR_TEXT: TextOp */
    bool is_literal : 1;
    bool has_index : 1;  /* some leaf below has index expressions or some iterator occurs */
    bool has_call : 1;   /* some function is called, or operation on texts */
    bool is_checked : 1; /* an Integer or String that an operation may leave without value */
    bool has_hiding : 1; /* ... is compared somewhere below, which hides that */
    bool has_whole : 1;  /* below is what lower-arrays says by elements: an operation on arrays, a slice */
    Type type;
    uint32_t id;       /* dense number in its pool */
    uint32_t n_leaves; /* 1 + largest leaf number below, 0 if there is none */
    uint16_t depth;
    uint16_t n_args;
    uint32_t hash;
    uint32_t result, element; /* EXPR_FUNCTION: number of the output; where that is an array and the node is not, the
                                 number of its element in the order of rows; both from 0 */
    union {
        double real;
        int64_t integer;
        NameId text;
        uint32_t leaf, iterator;
        const Function *function;
        const Table *table;
    } u;
    const Expr *args[];
};

enum { EXPR_DEPTH = 4000 };

typedef struct {
    NameId name;
    bool is_ordered;
    bool is_object; /* it has no values: the name of a type of external objects */
    uint32_t n;
    const NameId *values; /* value k has the number k + 1 */
} Enumeration;

typedef struct Pool Pool; /* all expressions, enumerations, tables and names of one compilation */

Pool *pool_create(Arena *arena, Names *names);
/* A pool that adds expressions of its own to those that `base` has now: equal expressions are one node in both, and
 * nothing is written to `base`, which may grow meanwhile. Enumerations and tables are those of `base`. */
Pool *pool_overlay(const Pool *base, Arena *arena);
Arena *pool_arena(const Pool *pool);
Names *pool_names(const Pool *pool);
uint32_t pool_count(const Pool *pool); /* number of nodes; ids are below it */
const Expr *pool_node(const Pool *pool, uint32_t id);
uint32_t pool_enumeration(Pool *pool, const Enumeration *enumeration); /* equal name, order and values: the same one */
uint32_t pool_n_enumerations(const Pool *pool);
uint32_t pool_count_function(Pool *pool); /* one more function; how many there were before */
const Enumeration *pool_get_enumeration(const Pool *pool, uint32_t index);
/* Name, method, outside, n, x and y are given and copied; equal ones are the same one. */
const Table *pool_table(Pool *pool, const Table *table);
uint32_t pool_n_tables(const Pool *pool);
const Table *pool_get_table(const Pool *pool, uint32_t index);

const Expr *expr_real(Pool *pool, double value);
const Expr *expr_integer(Pool *pool, int64_t value);
const Expr *expr_boolean(Pool *pool, bool value);
const Expr *expr_enum(Pool *pool, uint32_t enumeration, int64_t number);
const Expr *expr_string(Pool *pool, NameId text);
const Expr *expr_leaf(Pool *pool, uint32_t leaf, Type type); /* scalar, or the whole array if type.rank > 0 */
/* Indices are Integers, or vectors of them, expr_range and the like: then it is an array. */
const Expr *expr_element(Pool *pool, uint32_t leaf, Type scalar, uint32_t n, const Expr *const *index);
const Expr *expr_iterator(Pool *pool, uint32_t level);
const Expr *expr_range(Pool *pool, const Expr *lo, const Expr *step, const Expr *hi);
const Expr *expr_all(Pool *pool); /* all of a dimension, as an index */
const Expr *expr_each(Pool *pool, uint32_t level, const Expr *body, const Expr *lo, const Expr *step, const Expr *hi);
const char *whole_text(WholeOp op);
bool whole_by_text(const char *text, size_t length, WholeOp *op);
bool whole_takes(WholeOp op, uint32_t n); /* so many arguments */
/* The type of the operation on these; false: they do not suit it. */
bool whole_type(WholeOp op, uint32_t n, const Expr *const *args, Type *type);
const Expr *expr_whole(Pool *pool, WholeOp op, uint32_t n, const Expr *const *args);
/* Whether argument k is a number that the size of an array, or an index, depends on. */
bool expr_takes_size(const Expr *e, uint32_t k);
/* The value of the leaf matters, not only its size. */
bool expr_reads_value(const Expr *e, uint32_t leaf);
/* Arguments must have the types the operation wants (Integer and Real do not mix: use OP_REAL). */
const Expr *expr_call(Pool *pool, Op op, uint32_t n, const Expr *const *args);
const Expr *expr_unary(Pool *pool, Op op, const Expr *a);
const Expr *expr_binary(Pool *pool, Op op, const Expr *a, const Expr *b);
const Expr *expr_literal_relation(Pool *pool, Op op, const Expr *a, const Expr *b); /* noEvent */
const Expr *expr_if(Pool *pool, const Expr *condition, const Expr *then, const Expr *otherwise);
const Expr *expr_reduce(Pool *pool, Op op, uint32_t level, const Expr *body, const Expr *lo, const Expr *step,
                        const Expr *hi);
const Expr *expr_array(Pool *pool, uint32_t n, const Expr *const *elements);
const Expr *expr_function(Pool *pool, const Function *function, uint32_t result, Type type, uint32_t n,
                          const Expr *const *args);
/* The same call, of what it gives the element with this number. */
const Expr *expr_function_element(Pool *pool, const Expr *call, uint32_t element, Type type);
/* The table, or its derivative of that order, at `argument`; interval NULL: the one the argument lies in. */
const Expr *expr_table(Pool *pool, const Table *table, uint32_t order, const Expr *argument, const Expr *interval);
const char *text_op_name(TextOp op); /* as in String.length(s) */
uint32_t text_op_arity(TextOp op);
Type text_op_type(TextOp op);                                      /* of the result */
bool text_op_fits(TextOp op, uint32_t n, const Expr *const *args); /* the types of the arguments */
const Expr *expr_text_op(Pool *pool, TextOp op, uint32_t n, const Expr *const *args);
/* The value as a text: numbers with the least format of C that is said of them, "%g" and "%d"; true, false, and the
 * names of an enumeration; a String itself. */
const Expr *expr_to_text(Pool *pool, const Expr *e);
const Expr *expr_to_real(Pool *pool, const Expr *e); /* Real: itself; Integer literal: Real literal; else real(e) */
/* The same node with other arguments (and the same literal flag, leaf number, ...). */
const Expr *expr_with_args(Pool *pool, const Expr *e, const Expr *const *args);
/* The same node, every relation below marked literal. */
const Expr *expr_no_event(Pool *pool, const Expr *e);

/* The node itself is a comparison, literal or not, or a call with a corner or a jump. */
bool expr_is_corner(const Expr *e);

bool expr_too_deep(const Expr *a, const Expr *b); /* an operation on them would pass EXPR_DEPTH */
bool expr_is_constant(const Expr *e);             /* a literal */
bool expr_is_literal(const Expr *e);              /* ... or an array of literals in braces */
/* Element `number`, from 0 and in the order of rows, of an array in braces; what is no such array is every element. */
const Expr *expr_array_element(const Expr *e, uint64_t number);
bool expr_is_real(const Expr *e, double value); /* the Real literal, sign of zero disregarded */
/* A total order that does not depend on the order of creation: kinds, operations, values, leaves, arguments. */
int expr_compare(const Pool *pool, const Expr *a, const Expr *b);
/* Leaf k becomes map[k] (leaf numbers); n_leaves entries. */
const Expr *expr_renumber(Pool *pool, const Expr *e, const uint32_t *map);

#endif
