/* Model: the unordered mathematics of a hybrid system, language-neutral.
 *
 * Variables, equations, regions, transitions, the time-driven elements, functions, the instance
 * tree, ports and connections. docs/ir.md is its manual and describes the text form;
 * docs/semantics.md says what it means. All references are by id; nothing is ever removed from the
 * arrays while ids are around (a dropped equation has kind EQUATION_DROPPED).
 *
 * A Term is an expression in use: a shape and the references its leaves stand for. */
#ifndef IR_MODEL_H
#define IR_MODEL_H

#include "base/ids.h"
#include "base/map.h"
#include "base/source.h"
#include "base/vec.h"
#include "ir/expr.h"

DEFINE_ID(VarId);
DEFINE_ID(EqId);
DEFINE_ID(RegionId);
DEFINE_ID(TransitionId);
DEFINE_ID(InstanceId);
DEFINE_ID(DomainId); /* index 0: the scalar domain */

#define VAR_NONE    ((VarId){ ID_NONE })
#define EQ_NONE     ((EqId){ ID_NONE })
#define REGION_NONE ((RegionId){ ID_NONE })
static inline bool var_is_none(VarId v)
{
    return v.index == ID_NONE;
}

/* ---- references and terms ---- */
typedef enum {
    REF_NOW,      /* v at this step */
    REF_PRE,      /* v at the previous step; at step 0 the left limit */
    REF_DER,      /* der(v) */
    REF_LAST,     /* v at the last accepted integrator step */
    REF_START,    /* start value of v; initial system only */
    REF_TIME,     /* the simulation time; var is none */
    REF_INITIAL,  /* true while the initial system is solved */
    REF_TERMINAL, /* true in the last instant */
    REF_FIRED,    /* transition `var.index` fires in this step */
    REF_TICK,     /* clock `var.index` ticks in this step */
    REF_INTERVAL, /* time between the last two ticks of clock `var.index` */
    REF_SEED,     /* tangent of v; made by build-jacobian */
    REF_SEED_DER, /* tangent of der(v) */
    REF_INFLOW,   /* of a stream member v: its value where something flows into the component; until
                     expand-connections, as the three below */
    REF_PASSING,  /* of a stream member v: its value in the direction of the flow */
    REF_IS_ROOT,  /* port `var.index` is the root of what its overdetermined members are connected to */
    REF_ROOTED    /* ... is nearer to that root than the port at the other end of its branch */
} RefKind;
typedef struct {
    VarId var;
    uint8_t kind; /* RefKind */
} Ref;
/* Its `var` is a variable, not another element or none. */
static inline bool ref_is_of_variable(Ref ref)
{
    return ref.kind <= REF_START || (ref.kind >= REF_SEED && ref.kind <= REF_PASSING);
}

typedef struct {
    const Expr *shape;  /* NULL: absent */
    uint32_t first_ref; /* leaf k is model->refs.at[first_ref + k] */
} Term;
#define TERM_NONE ((Term){ NULL, 0 })

/* ---- elements ---- */
typedef enum {
    VARIABILITY_CONSTANT,
    VARIABILITY_STRUCTURAL,
    VARIABILITY_PARAMETER,
    VARIABILITY_DISCRETE,
    VARIABILITY_CONTINUOUS
} Variability;
typedef enum {
    DEFINITION_NONE, /* not decided by the front end: the first pass decides */
    DEFINITION_NOW,
    DEFINITION_NEXT,
    DEFINITION_DER,
    DEFINITION_PULSE,
    DEFINITION_INPUT,
    DEFINITION_BINDING, /* parameters and constants */
    DEFINITION_CLOCKED,
    DEFINITION_FOREIGN
} Definition;
typedef enum { CAUSALITY_LOCAL, CAUSALITY_INPUT, CAUSALITY_OUTPUT, CAUSALITY_PARAMETER, CAUSALITY_PORT } Causality;
typedef enum { SELECT_NEVER, SELECT_AVOID, SELECT_DEFAULT, SELECT_PREFER, SELECT_ALWAYS } StateSelect;

typedef struct {
    NameId name; /* path = owner's path + name */
    InstanceId owner;
    Span span;
    Type type;          /* type.rank: number of dimensions */
    uint32_t first_dim; /* model->dims.at[first_dim ...], type.rank of them */
    uint8_t variability, definition, causality, select;
    bool is_fixed, is_protected, is_generated;
    bool is_free;      /* parameter, or discrete with a memory: the start determines it */
    bool is_kept;      /* parameter: stays one when parameters become numbers */
    bool is_condition; /* generated: the condition of one transition, read by nothing else */
    uint32_t clock;    /* CLOCKED: 1 + the clock in whose ticks it is computed; else 0 */
    uint8_t edge;      /* EdgeStart + 1 if an edge of it is watched (lower-whens), else 0 */
    bool is_synonym;   /* a parameter that stands for the one its binding names: to set it is to set that */
    Term binding, start, nominal, min, max; /* scalar terms; for arrays they hold for every element, or is EXPR_ARRAY */
    Term fixed, wishes; /* of arrays: is_fixed, and `select` as an Integer, for each element; absent: as these say */
    NameId unit, display_unit, quantity, comment;
    bool is_rate;    /* a task made it: it stands for the derivative of a state */
    bool is_guessed; /* where the search for it begins was given from outside */
    bool is_torn;    /* the user wants it to be iterated in the system that it is an unknown of, */
    VarId residual;  /* ... and the equation of this variable to be its residual; none: any */
    VarId origin;    /* generated: what it came from */
    VarId alias;     /* eliminated: the variable that holds its value, else none */
    bool is_negated; /* ... with opposite sign (Boolean: negation) */
} Variable;

typedef struct { /* one extent; structural */
    Term term;
    int64_t extent; /* -1: not evaluated yet */
} Dim;

typedef struct {
    NameId name;
    Term lo, step, hi;            /* structural Integer terms; step absent: 1 */
    int64_t first, stride, count; /* count -1: not evaluated yet */
} Iterator;
typedef struct {
    uint32_t first, n; /* in model->iterators, outermost first */
} Domain;

typedef enum {
    EQUATION_RESIDUAL,  /* lhs = rhs */
    EQUATION_EXPLICIT,  /* v := rhs or der(v) := rhs; lhs is a single leaf */
    EQUATION_ALGORITHM, /* body */
    EQUATION_ITERATION, /* v ~ f(v): the source's own fixed point formula */
    EQUATION_DROPPED    /* eliminated by a pass */
} EquationKind;
typedef enum { VALID_ALWAYS, VALID_INITIAL_ONLY, VALID_NOT_INITIAL } Validity;

/* Places of subexpressions, parallel to the source; pre-order: node, its descendants follow. */
typedef struct {
    Span span;
    const Expr *node; /* as it was when the front end made it */
    uint32_t n_below; /* number of descendants that follow */
} Occurrence;

typedef struct {
    Span span;
    const char *made_by; /* name of the pass that made it; NULL: the front end */
    EqId parent;         /* what it was made of */
    uint32_t first_occurrence, n_occurrences;
} Origin;

typedef struct {
    uint8_t kind;       /* EquationKind */
    uint8_t when_valid; /* Validity */
    uint16_t branch;    /* of region, from 1 */
    Term lhs, rhs;
    uint32_t body; /* EQUATION_ALGORITHM: statement */
    DomainId domain;
    RegionId region; /* or none */
    uint32_t when;   /* RESIDUAL: 1 + the transition that acts now in whose steps it holds; 0: it always does */
    uint32_t clock;  /* 1 + the clock in whose ticks it holds; 0: none */
    InstanceId owner;
    NameId name; /* label in the text form, may be empty */
    Origin origin;
} Equation;

/* Its left side says what it determines. */
static inline bool equation_is_directed(const Equation *e)
{
    return e->kind == EQUATION_EXPLICIT || e->kind == EQUATION_ITERATION;
}

typedef enum { REGION_CAUSAL, REGION_ACAUSAL, REGION_STRUCTURAL } RegionKind;
typedef struct {
    RegionId parent; /* or none */
    uint16_t parent_branch;
    uint8_t kind;
    bool has_else;
    uint32_t first_condition, n_conditions; /* model->conditions; branch k holds if condition k is the first true one */
    VarId selector;                         /* generated by merge-regions: 1-based branch, 0 = none */
    InstanceId owner;
    NameId name;
    Span span;
} Region;

typedef enum {
    TRIGGER_LEVEL,
    TRIGGER_EDGE,
    TRIGGER_TICK,
    TRIGGER_MESSAGE,
    TRIGGER_STEP,
    TRIGGER_INITIAL,
    TRIGGER_TERMINAL,
    TRIGGER_ENTRY
} Trigger;
typedef enum { EFFECT_NOW, EFFECT_NEXT } Effect;
typedef enum { FORM_SET, FORM_PROCEDURE } Form;
typedef enum { EDGE_START_CURRENT, EDGE_START_FALSE } EdgeStart;

typedef struct {
    Term target; /* a single leaf, REF_NOW of the variable, index terms if an element */
    Term guard;  /* absent: always */
    Term value;
    Span span;
} Assignment;

typedef enum { ACTION_DISPLAY, ACTION_TERMINATE, ACTION_WARNING, ACTION_SEND, ACTION_FAIL } ActionKind;
typedef struct {
    uint8_t kind;
    Term guard;
    NameId text;                /* format; %d %f %e %g %s with flags, checked by the front end */
    Term message;               /* String; if it is there it is the text as it stands, and there is no format */
    uint32_t first_arg, n_args; /* model->conditions holds the argument terms */
    uint32_t channel;           /* ACTION_SEND */
    int32_t priority;
    Span span;
} Action;

typedef struct {
    uint8_t trigger, effect, form, edge_start;
    uint16_t branch;
    uint16_t rank;                          /* within group: elsewhen; only the first active fires */
    uint32_t group;                         /* 0: none */
    uint32_t first_condition, n_conditions; /* LEVEL: one; EDGE: any that rises; in model->conditions */
    uint32_t first_assignment, n_assignments;
    uint32_t first_action, n_actions;
    uint32_t body;   /* FORM_PROCEDURE: statement */
    uint32_t object; /* TICK: clock, MESSAGE: channel, ENTRY: entry number */
    DomainId domain;
    RegionId region;
    InstanceId owner;
    NameId name;
    Origin origin;
} Transition;

typedef enum {
    RELATION_STATE,    /* root function */
    RELATION_TIME,     /* calendar: affine in time with discrete coefficients */
    RELATION_DISCRETE, /* operands discrete: literal, no root */
    RELATION_LITERAL
} RelationKind;
typedef struct { /* left > right (strict) or left >= right; made by find-events */
    Term left, right;
    Term slope, flip; /* TIME: d(left - right)/dt and the time where they are equal; discrete */
    bool is_strict;
    bool is_guarded; /* stands where another condition decides whether it counts: operands may have no value */
    bool is_joint;   /* where left equals right the equations are the same for both values; by find-joints, not in the
                        text form */
    uint8_t kind;
    uint16_t branch;
    RegionId region;
    DomainId domain;  /* one for each point of it: STATE or TIME, outside of regions */
    VarId bit;        /* generated Boolean that holds its value, an array with the shape of the domain */
    InstanceId owner; /* where it was met first */
    Origin origin;
} Relation;

typedef enum { STEP_FLOOR, STEP_CEIL, STEP_TRUNC, STEP_ROUND, STEP_INTERVAL } StepOp;
typedef struct {
    Term argument;
    Term slope, offset; /* TIME: argument = slope*time + offset */
    uint8_t op, kind;   /* StepOp, RelationKind */
    const Table *table; /* STEP_INTERVAL: the interval of it in which the argument lies */
    bool is_guarded;    /* as for relations */
    uint16_t branch;
    RegionId region;
    VarId value; /* generated Integer */
    InstanceId owner;
    Origin origin;
} StepFunction;

/* An equation that was differentiated and contains what changes at events: where its sides jump, the variables under
 * der in it jump, too, by what the differentiated equation says with the jump of lhs - rhs in the place of `rate`. Made
 * by reduce-index, not in the text form. */
typedef struct {
    Term lhs, rhs;
    VarId rate; /* none: it is differentiated again, and may not jump */
    Origin origin;
} Jump;

/* Constraints that leave open which of the quantities in them are states: chosen while the model runs, by the
 * constraint Jacobian; made by reduce-index. On each level some of the candidates are states: state k of the level
 * equals the candidate whose number, from 1, choice k holds; without a choice it is that candidate itself, which shall
 * be a state always. Levels go from the highest derivatives downwards. */
typedef struct {
    uint32_t n_rows, n_columns, n_entries, n_levels;
    const uint32_t *depth;        /* per row: how many levels its constraint takes part in; descending */
    const uint32_t *height;       /* per column: on how many levels it is a candidate */
    const double *weight;         /* per column: the smaller, the rather it is a state */
    const uint32_t *row, *column; /* per entry of the Jacobian */
    Term *entry;
    VarId *candidate;         /* n_columns a level; none above the height of a column */
    const uint32_t *n_states; /* per level */
    VarId *state, *choice;    /* of all levels; choice may be none */
    Span span;
} StateSet;

/* Whether anything is chosen; else it only watches states that are given. */
static inline bool state_set_is_chosen(const StateSet *s)
{
    for (uint32_t level = 0, at = 0; level < s->n_levels; level++)
        for (uint32_t k = 0; k < s->n_states[level]; k++, at++)
            if (!var_is_none(s->choice[at]))
                return true;
    return false;
}

typedef struct { /* messages that wait, in the order in which they are offered */
    NameId name;
    InstanceId owner;
    uint32_t capacity;
    bool by_priority;               /* the highest priority first; else only among those that are sent in one step */
    bool keep;                      /* the head stays until a transition takes it; else for one step */
    uint32_t first_field, n_fields; /* model->fields: PULSE variables that show the head */
    VarId head;                     /* Integer: number of the message that is up, 0: none; made by lower-channels */
    Span span;
} Channel;

typedef enum {
    CLOCK_SAMPLE,
    CLOCK_PERIODIC,
    CLOCK_EVENT,
    CLOCK_INFERRED,
    CLOCK_SUB,
    CLOCK_SUPER,
    CLOCK_SHIFT,
    CLOCK_BACK
} ClockKind;
/* How differential equations of a clock are solved: one step of a fixed method from tick to tick. */
typedef enum {
    METHOD_NONE,
    METHOD_EXPLICIT_EULER,
    METHOD_EXPLICIT_MIDPOINT,
    METHOD_EXPLICIT_RUNGE_KUTTA,
    METHOD_IMPLICIT_EULER,
    METHOD_IMPLICIT_TRAPEZOID
} ClockMethod;
typedef struct {
    NameId name;
    InstanceId owner;
    uint8_t kind, method;
    Term condition;                 /* EVENT: ticks where it becomes true */
    Term start;                     /* of the first tick; absent: 0 */
    Term interval;                  /* SAMPLE: Real, read at each tick if it changes; PERIODIC: Integer factor of n/m,
                                       likewise, absent: 1; EVENT: what interval() is at the first tick */
    int64_t numerator, denominator; /* PERIODIC, derived: exact */
    uint32_t base;                  /* derived: clock */
    Span span;
} Clock;

typedef enum { OCCASION_START, OCCASION_STEP, OCCASION_ENTRY } OccasionKind;
typedef struct { /* something from outside that the machine counts; made by lower-triggers, not in the text form */
    NameId name; /* of the first transition of an entry */
    InstanceId owner;
    uint8_t kind;   /* OccasionKind */
    uint32_t entry; /* OCCASION_ENTRY: its number */
    VarId count;    /* Integer: how often it has happened; moves in the first event step of the instant */
    Span span;
} Occasion;

typedef struct {
    NameId name;
    InstanceId owner;
    VarId output;
    Term input, amount, max; /* max: absent if the amount is a parameter */
    VarId since, until; /* of an amount that changes: what is read began then, and ends then; made by lower-delays, not
                           in the text form */
    Term position;      /* what the amount is a length of; absent: the time */
    Term back, forward; /* along a position: what goes in at the far end while forward is false; absent: never */
    VarId points, values; /* along a position: parameters that say what is there at the start, or none */
    Span span;
} Delay;

/* A component that Koine does not compute: a KoineModelKind of koine/model.h, made by whomever. Its states and root
 * functions join those of the whole. */
typedef enum { FOREIGN_IN, FOREIGN_OUT, FOREIGN_SET, FOREIGN_STATE } ForeignRole;
typedef struct {
    VarId var;
    NameId name;  /* in the component; empty: as the variable */
    uint8_t role; /* ForeignRole; SET: a parameter of it */
} ForeignPort;
typedef struct { /* both are places among the ports: the output depends on the input at once */
    uint32_t output, input;
} ForeignPath;
typedef struct {
    NameId name, file, symbol; /* the library, and the KoineModelKind in it */
    InstanceId owner;
    uint32_t first_port, n_ports, first_path, n_paths; /* in foreign_ports and foreign_paths */
    uint32_t n_roots;
    bool has_paths;                    /* they are known; else every output depends on every input */
    bool is_apart, is_lowered;         /* in a process of its own; its outputs have equations */
    VarId steps;                       /* Integer, made by lower-foreigns: event steps that it has made; or none */
    double limit, step;                /* seconds until an answer, if it is apart; of steps of its own; 0: none */
    const struct KoineModelKind *kind; /* NULL: not loaded; nobody has said yet that it may be */
    Span span;
} Foreign;

typedef struct { /* random numbers: random(key, position), positions of a draw from 65536*count on */
    NameId name;
    InstanceId owner;
    VarId key;   /* Integer parameter; its value is made by number-streams */
    VarId count; /* Integer, how often it was drawn from; the transition that draws adds 1. None: once, for a start
                    value */
    Span span;
} Stream;

typedef enum {
    STATEMENT_ASSIGN, /* target := value */
    STATEMENT_IF,     /* value: condition; inner, otherwise */
    STATEMENT_FOR,    /* domain; inner */
    STATEMENT_WHILE,
    STATEMENT_BREAK,
    STATEMENT_RETURN,
    STATEMENT_ASSERT,
    STATEMENT_TOGETHER, /* inner: assignments whose values are all computed before the first is done */
    STATEMENT_SEND      /* of what a transition executes */
} StatementKind;
typedef struct { /* a list by `next`; 0 ends it (statement 0 is unused) */
    uint8_t kind;
    Term target, value;
    DomainId domain;
    uint32_t inner, otherwise, next, action; /* SEND: 1 + its action, without guard, of no transition */
    NameId text;                             /* ASSERT: what is told, or */
    Term message;                            /* ... String; computed where the condition does not hold */
    Span span;
} Statement;

/* A function is closed: its fields and statements are a Model of their own, which nothing else refers to. So
 * expressions name it by its address, and composing models leaves it alone. */
enum { TEXTS_UNKNOWN, TEXTS_NONE, TEXTS_SOME }; /* whether a function works with texts */
struct Function {
    NameId name;
    uint32_t number; /* how many were made before it */
    struct Model *body;
    uint32_t n_inputs, n_outputs, n_locals; /* variables 0, 1, ... of body, in this order */
    uint32_t first;                         /* statement of body, 0: none */
    struct External *external;              /* the C function behind it (ir/external.h); NULL: none */
    struct Declared *declared;              /* its derivatives and inverses (ir/declared.h); NULL: none */
    uint32_t foreign; /* 1 + the component that it stands for: made by lower-foreigns, it has no body; or 0 */
    bool is_pure;
    Span span;
    Function *derivative;          /* made by function_derivative; NULL: not yet */
    bool has_no_value;             /* a derivative that cannot be had */
    bool is_rough;                 /* a derivative that is only close to it, see difference.h */
    Function *difference;          /* made by function_difference; NULL: not yet */
    const struct Routine *routine; /* made by routine.c; NULL: not yet */
    uint8_t texts;                 /* TEXTS_..., found by routine.c */
};

typedef enum { ASSERT_ERROR, ASSERT_WARNING } AssertLevel;
typedef struct {
    NameId name;
    InstanceId owner;
    Term condition;
    Term message;  /* String; computed where the condition does not hold */
    Term warns;    /* Boolean: it is a warning then; absent: as `level` says */
    uint8_t level; /* AssertLevel */
    DomainId domain;
    RegionId region;
    uint16_t branch;
    Span span;
} Assertion;

/* What is to be computed, where that is not the usual: derivatives of states and all that is not given. */
typedef enum {
    TASK_UNKNOWN, /* a state, input or parameter is computed; a state is no state then */
    TASK_KNOWN,   /* a variable or derivative is given: `value`, or from outside if that is absent */
    TASK_REST     /* a state is computed such that the run begins with derivative 0 */
} TaskKind;
typedef struct {
    uint8_t kind;
    Ref ref; /* REF_NOW, or REF_DER for KNOWN */
    Term value;
    Span span;
} Task;

typedef struct {
    NameId name, class_name;
    InstanceId parent; /* none for the top, which is instance 0 */
    uint32_t rank;     /* an array of instances has as many dimensions: the first ones of each of their variables */
    const char *language;
    Span span;
} Instance;

typedef enum { ROLE_POTENTIAL, ROLE_FLOW, ROLE_STREAM, ROLE_IN, ROLE_OUT, ROLE_PARAMETER, ROLE_PORT } Role;
typedef struct {
    VarId var;     /* none: an empty place, which fits everything; as a flow it takes what the others leave */
    uint32_t port; /* PORT: 1 + a port of the same owner, which is connected where this one is; else 0 */
    uint8_t role;
    bool is_negated; /* FLOW: positive out of the component */
} PortMember;
typedef struct {
    NameId name, connector;
    InstanceId owner;
    uint32_t first_member, n_members;
    uint32_t rank;      /* an array of ports has as many dimensions: the first ones of each of its members */
    Function *equality; /* overdetermined: 0 = f(members of one port, members of the other) says that they are equal;
                           else NULL */
    Span span;
} Port;
typedef struct { /* elements of an array of ports: index terms in model->conditions; 0: all of it */
    uint32_t first, n;
} PortIndex;
typedef struct { /* causal: source variable to sink variable; acausal: port to port */
    bool is_acausal;
    bool is_inside;     /* acausal, ports of one instance: connected inside of it, not outside */
    bool is_converting; /* causal: the value goes from the unit of `from` to that of `to` */
    VarId from, to;
    uint32_t port_a, port_b;
    PortIndex index_a, index_b;
    DomainId domain; /* acausal: one connection for each of its points */
    Span span;
} Connection;

/* What the graph of overdetermined ports is made of, besides the connections. */
typedef enum {
    ANCHOR_ROOT,      /* the members of port a are given: it is a root */
    ANCHOR_POTENTIAL, /* it may be one, the rather the smaller `priority` is */
    ANCHOR_BRANCH     /* equations of the component lead from port a to port b */
} AnchorKind;
typedef struct {
    uint8_t kind; /* AnchorKind */
    uint32_t port_a, port_b;
    int64_t priority;
    Span span;
} Anchor;

/* Memory in which term_make numbers the leaves of large shapes; between two calls it holds nothing. */
typedef struct {
    VEC(uint32_t) order; /* per leaf its new number; all are ID_NONE between two calls */
    VEC(uint32_t) list;  /* the leaves that occur; empty between two calls */
} TermWork;

typedef struct Model {
    Pool *pool;
    Arena *arena;
    Sources *sources;
    NameId name;
    const char *language;
    NameId time_unit; /* in which it counts the time; empty: it does not say */
    Span span;
    uint32_t facts; /* FACT_ bits of passes/pipeline.h */

    VEC(Ref) refs;
    uint32_t ref_kinds; /* bit k: a reference of RefKind k was made, which may be gone */
    VEC(Variable) variables;
    VEC(Dim) dims;
    VEC(Iterator) iterators;
    VEC(Domain) domains;
    VEC(Equation) equations;
    VEC(Region) regions;
    VEC(Term) conditions; /* of regions and transitions, arguments of actions */
    VEC(Transition) transitions;
    VEC(Assignment) assignments;
    VEC(Action) actions;
    VEC(Relation) relations;
    VEC(StepFunction) steps;
    VEC(StateSet) state_sets;
    VEC(Jump) jumps;
    VEC(Channel) channels;
    VEC(Occasion) occasions;
    VEC(Clock) clocks;
    VEC(Delay) delays;
    VEC(Foreign) foreigns;
    VEC(ForeignPort) foreign_ports;
    VEC(ForeignPath) foreign_paths;
    VEC(Stream) streams;
    VEC(Function *) functions; /* those that are called somewhere, or may be */
    VEC(VarId) fields;         /* of channels */
    VEC(Statement) statements;
    VEC(Assertion) assertions;
    VEC(Task) tasks; /* none are left after apply-task */
    bool has_task;   /* ... which says so: equations may be solved for what is not on their left side */
    VEC(Instance) instances;
    VEC(Port) ports;
    VEC(PortMember) members;
    VEC(Connection) connections;
    VEC(Anchor) anchors;
    VEC(Occurrence) occurrences;
    uint32_t n_groups; /* elsewhen groups are 1 .. n_groups */
    VarId seed;        /* of the random streams, made by fill-definitions; or none */
    VarId homotopy;    /* parameter from simplified to actual, made by lower-homotopy; or none */
    TermWork work;
} Model;

/* ---- building ---- */
Model *model_create(Pool *pool, Sources *sources, NameId name, const char *language, Span span);
/* A model that reads what `base` has and makes terms of its own, in a pool_overlay: nothing is written to `base`, which
 * must not change meanwhile. Nothing but terms may be added. */
Model *model_overlay(const Model *base, Arena *arena);
/* A variable with everything at its default; fill the row through model_var. Name must be new in its instance. */
VarId model_add_variable(Model *model, InstanceId owner, NameId name, Type type, Span span);
/* A discrete variable `$prefixN` of the top instance that a pass needs; defined now, hidden from results. */
VarId model_add_generated(Model *model, const char *prefix, uint32_t number, Type type, Span span);
Variable *model_var(const Model *model, VarId var);
void model_set_dims(Model *model, VarId var, uint32_t n, const Term *extents);
EqId model_add_equation(Model *model, EquationKind kind, Term lhs, Term rhs, Span span);
RegionId model_add_region(Model *model, RegionKind kind, RegionId parent, uint16_t parent_branch, uint32_t n_conditions,
                          const Term *conditions, bool has_else, Span span);
/* Conditions, assignments and actions are added with the transition; they are copied. */
TransitionId model_add_transition(Model *model, const Transition *head, uint32_t n_conditions, const Term *conditions,
                                  uint32_t n_assignments, const Assignment *assignments, uint32_t n_actions,
                                  const Action *actions);
uint32_t model_add_terms(Model *model, uint32_t n, const Term *terms); /* index in model->conditions */
DomainId model_add_domain(Model *model, uint32_t n, const Iterator *iterators);
void model_connect(Model *model, VarId from, VarId to, Span span);
/* A function without fields and statements, listed in the model; fields are added to its body, in order. */
Function *model_add_function(Model *model, NameId name, Span span);
/* Outputs and locals from `first` on that have no binding begin with 0, false or the first value. */
void function_begin_with_zero(Function *function, uint32_t first);
/* The same function once more, listed in the model: fields and statements may be changed. */
Function *function_copy(Model *model, const Function *of);
static inline uint32_t function_fields(const Function *function)
{
    return function->n_inputs + function->n_outputs + function->n_locals;
}

/* Terms. A TermBuilder numbers references in the order they are asked for; finish makes it canonical. */
typedef struct {
    Model *model;
    VEC(Ref) refs;
    Map numbers; /* of refs, once there are many: the first n_numbered */
    uint32_t n_numbered;
} TermBuilder;
TermBuilder term_builder(Model *model);
const Expr *term_leaf(TermBuilder *builder, Ref ref); /* the scalar variable, time, ... ; same ref, same leaf */
const Expr *term_element(TermBuilder *builder, Ref ref, uint32_t n, const Expr *const *index);
Term term_finish(TermBuilder *builder, const Expr *shape); /* the builder may be used again afterwards: refs cleared */
/* The shape with its leaves being refs[0..]: canonical numbering, unused leaves dropped, equal refs merged. */
Term term_make(Model *model, const Expr *shape, const Ref *refs);
/* The same for a shape and references of which the caller knows that they are so already. */
Term term_of_canonical(Model *model, const Expr *shape, const Ref *refs);
Term term_real(Model *model, double value);
Term term_integer(Model *model, int64_t value);
Term term_boolean(Model *model, bool value);
Term term_ref(Model *model, Ref ref); /* a single scalar leaf */
Term term_expr(Model *model, const Expr *leafless);
static inline bool term_is_absent(Term term)
{
    return term.shape == NULL;
}
/* Something may refer to what is no variable: a phase, a transition, a clock. */
static inline bool model_may_have(const Model *model, RefKind kind)
{
    return model->ref_kinds >> kind & 1;
}
static inline const Ref *term_refs(const Model *model, Term term)
{
    return model->refs.at ? model->refs.at + term.first_ref : NULL;
}
Type ref_type(const Model *model, Ref ref);
static inline Ref ref_now(VarId v)
{
    return (Ref){ v, REF_NOW };
}
static inline Ref ref_pre(VarId v)
{
    return (Ref){ v, REF_PRE };
}
static inline Ref ref_der(VarId v)
{
    return (Ref){ v, REF_DER };
}
static inline Ref ref_time(void)
{
    return (Ref){ VAR_NONE, REF_TIME };
}
static inline bool ref_equal(Ref a, Ref b)
{
    return a.kind == b.kind && a.var.index == b.var.index;
}
static inline uint64_t ref_key(Ref ref) /* for maps: different for different references */
{
    return (uint64_t)ref.kind << 32 | ref.var.index;
}

/* Begin of an expression that combines terms: their leaves are appended to the builder, the shape renumbered. */
const Expr *term_import(TermBuilder *builder, Term term);

/* ---- composition ---- */
/* Appends everything in `part` under a new instance `name` of instance `into_owner`; no expression is copied.
 * Returns the instance; variable v of part becomes (VarId){ v.index + *first_var }. */
InstanceId model_compose(Model *into, InstanceId into_owner, NameId name, const Model *part, Span span,
                         uint32_t *first_var);
/* Variable `name` of instance `owner`, or VAR_NONE. Linear: for tests and small models. */
VarId model_find(Model *model, InstanceId owner, NameId name);

/* ---- names: "a.b", "" for the top; "a[].b[,].x" where a and b are arrays of instances ---- */
char *instance_path(const Model *model, InstanceId instance, Arena *arena);
char *variable_path(const Model *model, VarId var, Arena *arena);
/* "Abstand < Radius" or the like: the term as text, in the notation of the text form. */
char *term_text(const Model *model, Term term, Arena *arena);
/* The same of a shape whose leaves are refs[0..], in canonical form or not. */
char *expr_text(const Model *model, const Expr *shape, const Ref *refs, Arena *arena);

/* The comparison of a relation, a number on the right: x <= 0, not 0 >= x. */
char *relation_text(const Model *model, const Relation *relation, Arena *arena);

/* The array is held by scalar variables, one an element: `alias` is the first, the others follow (split-arrays). */
static inline bool variable_is_split(const Model *model, VarId var)
{
    if (model->dims.n == 0) /* without a look at the variable: there is no array at all */
        return false;
    const Variable *v = &model->variables.at[var.index];
    return v->type.rank && !var_is_none(v->alias) && model->variables.at[v->alias.index].type.rank == 0;
}
/* Holds an element of a split array. */
static inline bool variable_is_element(const Model *model, VarId var)
{
    const Variable *v = &model->variables.at[var.index];
    return !var_is_none(v->origin) && v->type.rank == 0 && variable_is_split(model, v->origin);
}
/* The variables that hold what a reference reads: itself, or the elements of a split array; none for time and the
 * like. */
typedef struct {
    uint32_t first, n;
} Holders;
Holders ref_holders(const Model *model, Ref ref);
/* Number of scalar elements (dims must be evaluated). */
uint64_t variable_count(const Model *model, VarId var);
uint64_t domain_count(const Model *model, DomainId domain);

#endif
