/* The static rules of SIMPLEX-MDL for basic components: spec 2.3 to 2.9.
 *
 * Fills the "check" fields of the Component. Each mistake is reported once: what depends on it is
 * marked bad and passed over in silence. */
#ifndef LANG_SIMPLEX_CHECK_H
#define LANG_SIMPLEX_CHECK_H

#include "ir/language.h"
#include "lang/simplex/scope.h"

typedef struct {
    Scope scope;
    Pool *pool;
    Arena *arena;
    Diag *diag;
    uint32_t *errors;
    Component *component;
    Resolver *resolver; /* of functions that have files of their own */
    bool is_in_branch;  /* in the body of IF */
    bool is_in_event;   /* in the body of WHENEVER everything counts as discrete */
    Loops loops;        /* around what is checked */
    uint32_t n_points;  /* of loops, so far */
    Stmt *event;        /* around what is checked, or NULL */
    bool may_draw;      /* in the value of an assignment of an event, or in a condition there */
    bool is_in_reduction;
    bool has_bad_target; /* some equation defines nothing known: what it meant to define is not reported again */
} Checker;

/* ---- check.c ---- */
bool mdl_check_basic(Checker *checker); /* false: reported */

/* ---- check_expression.c ---- */
void mdl_check_expression(Checker *checker, Node *node);
/* `value`, already checked, becomes the value of `target`: value set and time course. */
void mdl_check_assignable(Checker *checker, const Quantity *target, const Node *value);
void mdl_check_condition(Checker *checker, Node *condition, const char *keyword);
const char *mdl_set_text(const Pool *pool, Type type, Arena *arena); /* "REAL", "the set `Colour`" */

/* ---- random.c ---- */
/* A call of a distribution: checks it; false: the name is none. */
bool mdl_check_draw(Checker *checker, Node *node);
bool mdl_is_draw(const Names *names, const Node *node);
bool mdl_has_draw(const Names *names, const Node *node); /* somewhere in an initial value */
/* The initial value that `path` gets from a call whose arguments are numbers. False: reported. */
bool mdl_compose_draw(Checker *checker, Model *model, Node *node, const char *path, Term *value);

/* ---- check_delay.c ---- */
bool mdl_is_delay(const Checker *checker, const Node *node); /* DELAY (…), unless the component has its own DELAY */
/* `value` is one that stands where it can: its arguments. */
void mdl_check_delay(Checker *checker, Node *value);
void mdl_report_delay_place(Checker *checker, Node *node); /* it stands where it cannot */

/* ---- check_value.c ---- */
/* The value as an expression of the type; NULL: reported as not in the value set of `name`. */
const Expr *mdl_check_value(Scope *scope, Pool *pool, const Value *value, Type type, NameId name);

/* ---- check_array.c ---- */
/* A number that is known before the run: literals, dimensions, values of sets, loop variables that are known. */
bool mdl_static_value(Scope *scope, const Component *component, const Loops *loops, const Node *node, int64_t *value);
/* The same for Reals: also / and standard functions. */
bool mdl_static_number(Scope *scope, const Component *component, const Loops *loops, const Node *node, double *value);
bool mdl_loop_range(Scope *scope, const Component *component, const Loops *loops, Loop *loop);
/* for (more = begin; more; more = next): the loop variable is known meanwhile. */
bool mdl_loop_begin(Scope *scope, const Component *component, const Loops *loops, Loop *loop);
bool mdl_loop_next(Loop *loop);
bool mdl_check_range(Scope *scope, const Component *component, const Loops *loops, Loop *loop);
bool mdl_open_loop(Checker *checker, Loop *loop); /* false: reported; to be closed in any case */
void mdl_close_loop(Checker *checker);
bool mdl_count_point(Checker *checker, const Loop *loop); /* false: there are too many, which is reported */
Loop *mdl_find_loop(Checker *checker, NameId name);
void mdl_check_dimensions(Scope *scope, Component *component);
void mdl_check_sizes(Scope *scope, Pool *pool, const Component *component, Sizes *sizes);
bool mdl_check_index(Checker *checker, const Sizes *sizes, Ident name, uint32_t n, Node *const *index);
void mdl_check_reduction(Checker *checker, Node *node);
char *mdl_element_text(Arena *arena, const char *name, const Sizes *sizes, uint64_t number); /* "x[2,1]" */

/* ---- check_display.c ---- */
void mdl_check_display(Checker *checker, Stmt *statement);

/* ---- check_units.c ---- */
void mdl_check_units(Checker *checker); /* whether they fit; warnings but for units that cannot be read */

/* ---- check_definitions.c ---- */
/* In every region one equation for each dependent, at most one for each derivative and, in an event, at most one
 * assignment to a state. */
void mdl_check_definitions(Checker *checker);

#endif
