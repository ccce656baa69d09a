/* What executable models are made of: a program (plain data), code (a tier's functions), and the
 * machine that turns both into a KoineModelKind.
 *
 * The machine does everything that is not arithmetic: event steps driven by change, relations with
 * their bands and pins, the calendar, transitions, algebraic systems. It is the same for all tiers,
 * so that tiers differ in the execution of kernels and sections only and agree in every bit.
 * Everything a running model remembers lies in its block (model.h). */
#ifndef KOINE_SUPPORT_H
#define KOINE_SUPPORT_H

#include "koine/api.h"
#include "koine/model.h"
#include "koine/modes.h"
#include "koine/texts.h"
#include <stdbool.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KOINE_NONE UINT32_MAX

/* ---- code: what a tier supplies ----
 * A kernel computes its outputs from slots; a row lists their positions in the block: first the
 * outputs, then the leaves. A section is straight-line code over the whole block. */
typedef void (*KoineSectionFunction)(KoineSlot *m, const uint32_t *rows);
typedef void (*KoineKernelFunction)(KoineSlot *m, const uint32_t *row, uint32_t n);
typedef struct KoineCode {
    const char *tier;
    /* native tiers: one function each; the interpreter leaves them NULL and fills the two below */
    const KoineSectionFunction *sections;
    const KoineKernelFunction *kernels;
    void *context;
    void (*run_section)(void *context, uint32_t section, KoineSlot *m);
    void (*run_kernel)(void *context, uint32_t kernel, KoineSlot *m, const uint32_t *row, uint32_t n);
    KoineStatus (*derivatives)(KoineModel *model); /* optional: the whole derivatives part in one call */
    /* optional: faster code for the same program, asked for once `upgrade_at` operations were done; NULL: none */
    const struct KoineCode *(*upgrade)(void *upgrade_context);
    void *upgrade_context;
    uint64_t upgrade_at;
} KoineCode;

/* ---- program: what is computed ---- */
typedef struct { /* a part is a list of these: either a section or an algebraic system */
    uint32_t section, system;
} KoinePartStep;
typedef struct {
    uint32_t n;
    const KoinePartStep *steps;
} KoinePart;

typedef struct { /* what a branch of a system depends on */
    uint32_t slot;
    bool is_boolean;
    const char *name; /* for messages */
} KoineChoice;

enum { KOINE_DENSE_MOST = 30 }; /* unknowns that are iterated: larger systems are sparse */
typedef enum { KOINE_SYSTEM_LINEAR, KOINE_SYSTEM_NEWTON, KOINE_SYSTEM_ITERATE, KOINE_SYSTEM_FOREIGN } KoineSystemKind;

typedef struct {      /* how residuals and explicit rows change with the unknowns */
    uint32_t section; /* computes the entries that are not constant */
    uint32_t n_entries, n_inputs;
    const uint32_t *row, *column, *entry; /* n_entries: places, and the slot of the entry */
    uint32_t basis; /* slots, 1 + n_entries: a flag, and the entries that the pivots were chosen for, so that equal
                       blocks give equal results; KOINE_NONE: solved dense, n <= KOINE_DENSE_MOST */
    const uint32_t *inputs; /* slots that the section reads: while they keep their values, so do the entries */
    uint32_t n_sets;        /* sets of factors that are kept, at least 1: more if only branches change the entries */
} KoineSystemJacobian;

typedef struct {                          /* derivatives of the unknowns along the seeds of everything else */
    uint32_t section;                     /* computes the derivatives of residuals and right sides; KOINE_NONE: none */
    const uint32_t *residuals, *unknowns; /* n + n_inner slots each */
} KoineSystemTangent;

typedef struct {             /* where a search for the unknowns may begin and go */
    const uint32_t *starts;  /* n slots: where else than at the guesses it may begin */
    const uint8_t *is_given; /* n; 1: before the start of a run the unknown itself holds its start */
    const double *bounds;    /* n pairs, least and greatest value; NULL: none are given */
} KoineNewtonSystem;

typedef struct {                    /* formulas that are repeated until nothing changes */
    const uint32_t *kernels, *rows; /* n: unknown := kernel, in this order */
} KoineIteratedSystem;

typedef enum { KOINE_GIVES_OUTPUTS, KOINE_GIVES_DERIVATIVES, KOINE_GIVES_STEPS } KoineForeignGives;
typedef struct { /* no equations: a foreign component computes the unknowns, see KoineForeign */
    uint32_t component;
    uint8_t gives;
    const uint32_t *at; /* n: OUTPUTS: numbers of its outputs; DERIVATIVES: of its states */
} KoineForeignSystem;

/* n unknowns are iterated. Of a torn system n_inner others follow explicitly, one after the other, whenever the
 * residuals are computed; their places are n .. n + n_inner - 1, in order. Row and column of the Jacobian are places:
 * an entry of a residual's row is its partial derivative, one of an explicit row that of the right side. Entries of
 * explicit rows come first, in order. */
typedef struct {
    uint8_t kind; /* KoineSystemKind */
    uint32_t n, n_inner;
    const uint32_t *unknowns;  /* n + n_inner slots */
    const uint32_t *residuals; /* n slots; ITERATE: they hold the new values */
    const uint32_t *guesses;   /* n slots: last accepted solution, the start of the iteration */
    const double *nominals;    /* n */
    const uint32_t *cells;     /* n + n_inner: cell of each unknown */
    const char *const *names;  /* n + n_inner: unknowns, for messages */
    const uint8_t *types;      /* n + n_inner: KoineType; other than Real in ITERATE only */
    uint32_t prepared_section; /* what residuals and Jacobian need and no unknown changes; KOINE_NONE: nothing */
    uint32_t residual_section; /* explicit rows, then residuals */
    /* after solving: unknowns that the chosen branch of an equation gives directly, as i in 0 = if Open then i else u,
       have that value exactly, so that comparisons do not see what rounding left; KOINE_NONE: there are none */
    uint32_t exact_section;
    KoineSystemJacobian jacobian;
    KoineSystemTangent tangent;
    uint32_t n_choices;
    const KoineChoice *choices;
    uint32_t origin;
    union {
        KoineNewtonSystem newton;    /* NEWTON */
        KoineIteratedSystem iterate; /* ITERATE */
        KoineForeignSystem foreign;  /* FOREIGN */
    } u;
} KoineSystem;

typedef enum {
    KOINE_NODE_ASSIGN,     /* kernel, row, n: outputs from `output` on */
    KOINE_NODE_CALL,       /* kernel, row: all results of a call, which several nodes read */
    KOINE_NODE_SYSTEM,     /* object: system */
    KOINE_NODE_RELATION,   /* object: relation */
    KOINE_NODE_STEP,       /* object: step function */
    KOINE_NODE_TRANSITION, /* object: transition: enabled or not */
    KOINE_NODE_GUARD       /* as ASSIGN of one value: the condition of the level transition `object` alone */
} KoineNodeKind;
typedef struct {
    uint8_t kind;
    bool is_real;            /* ASSIGN: the output is Real */
    bool is_moving;          /* it depends on time or x */
    uint32_t kernel, row, n; /* ASSIGN, GUARD, CALL: rows of the kernel */
    uint32_t output, stride; /* ASSIGN: slot of the first element and distance of the next */
    uint32_t cell;           /* what it defines: cell whose readers wake up */
    uint32_t object; /* as the kind says; ASSIGN: number of values, one row of a call's array has all its elements */
    uint32_t origin;
    uint32_t variable; /* ASSIGN: row in the tables, for messages; KOINE_NONE */
} KoineNode;

typedef struct { /* a kernel that is executed for one row */
    uint32_t kernel, row;
} KoinePiece;

/* ---- functions of the time ----
 * What depends on the time, parameters and discrete variables alone is also there as code for intervals: of a whole
 * interval of the time it gives an interval that holds all values and one that holds all slopes. So a crossing is
 * found, or proved to be absent, whatever steps a solver makes. Instruction k computes cell k from cells before it. */
typedef enum {
    KOINE_TIME_NUMBER, /* numbers[a] */
    KOINE_TIME_NOW,
    KOINE_TIME_REAL,    /* input a, a Real */
    KOINE_TIME_INTEGER, /* input a, anything else: its number */
    KOINE_TIME_NEG,     /* of cell a */
    KOINE_TIME_ADD,     /* of cells a and b, as all with two operands */
    KOINE_TIME_SUB,
    KOINE_TIME_MUL,
    KOINE_TIME_DIV,
    KOINE_TIME_POW,
    KOINE_TIME_ABS,
    KOINE_TIME_MIN,
    KOINE_TIME_MAX,
    KOINE_TIME_SIGN,
    KOINE_TIME_FLOOR,
    KOINE_TIME_CEIL,
    KOINE_TIME_TRUNC,
    KOINE_TIME_ROUND,
    KOINE_TIME_SQRT,
    KOINE_TIME_EXP,
    KOINE_TIME_LOG,
    KOINE_TIME_LOG10,
    KOINE_TIME_SIN,
    KOINE_TIME_COS,
    KOINE_TIME_TAN,
    KOINE_TIME_ASIN,
    KOINE_TIME_ACOS,
    KOINE_TIME_ATAN,
    KOINE_TIME_ATAN2,
    KOINE_TIME_SINH,
    KOINE_TIME_COSH,
    KOINE_TIME_TANH,
    KOINE_TIME_NOT, /* truth values: 0, 1 */
    KOINE_TIME_AND,
    KOINE_TIME_OR,
    KOINE_TIME_GREATER, /* a > b */
    KOINE_TIME_GREATER_EQUAL,
    KOINE_TIME_EQUAL,
    KOINE_TIME_IF,     /* a: condition, b, c */
    KOINE_TIME_TABLE,  /* tables[c] at cell a; in the interval of the table that cell b says, KOINE_NONE: its own */
    KOINE_TIME_BROKEN, /* the same of a table that jumps at its points */
    KOINE_TIME_OPS
} KoineTimeOp;
typedef struct {
    uint32_t op, a, b, c;
} KoineTimeInstruction;
typedef struct {
    uint32_t n;
    uint32_t left, right; /* cells of the operands; right KOINE_NONE: there is one only */
    const KoineTimeInstruction *instructions;
    const double *numbers;
    const double *const *tables; /* as koine_lookup wants them */
} KoineTimeCode;

typedef struct {           /* a function of the time: its code and what it reads beside the time */
    uint32_t code;         /* in the program's time_codes */
    uint32_t inputs, n_in; /* slots, that only events change ... */
    uint32_t n_pieces;     /* ... and kernels that compute them */
    const KoinePiece *pieces;
    uint32_t saved; /* index of its first input among those of all functions */
} KoineTimeFunction;

/* What a comparison and a step function have in common: both are decided at events only, from operands that a kernel
 * computes, and found by a root function or a time event. */
typedef struct {
    bool is_time;         /* it depends on the time alone and affinely: a calendar entry, no root function */
    bool is_guarded;      /* operands may have no value: it keeps what it has decided then */
    uint32_t kernel, row; /* outputs: its operands */
    uint32_t slope;       /* is_time: slot of its slope over the time */
    uint32_t cell, node;  /* of what it decides; its place among the nodes */
    uint32_t selector;    /* slot, KOINE_NONE: always active */
    int32_t branch;
    uint32_t root;     /* index of its root function, of a step function the first of two; KOINE_NONE: it has none */
    uint32_t calendar; /* entry of the calendar; if it depends on the time alone */
    uint32_t timed;    /* the same, but not affinely: function of the time, or KOINE_NONE */
    uint32_t mixed;    /* group it decides together with, or KOINE_NONE */
    double band;       /* relative width of the rounding band */
    uint32_t origin;   /* in tables->roots.at or origins */
} KoineDecision;

typedef struct { /* left > right (strict) or left >= right */
    KoineDecision decision;
    bool is_strict;
    bool is_joint;        /* where left equals right both values of it give the same equations */
    bool is_border;       /* it says only that a delay reads another piece of a history */
    bool may_be_quiet;    /* its bit is read by discrete scalar nodes only: some flips change nothing */
    uint32_t left, right; /* slots of the operands; not if it is a time relation ... */
    uint32_t flip;        /* ... which has, beside its slope, the time when it changes */
    uint32_t bit;         /* slot of its value */
    uint32_t state;       /* slot of the state that is compared with what is constant between events, or KOINE_NONE */
} KoineRelation;

typedef enum { KOINE_STEP_FLOOR, KOINE_STEP_CEIL, KOINE_STEP_TRUNC, KOINE_STEP_ROUND, KOINE_STEP_INTERVAL } KoineStepOp;
typedef struct {
    KoineDecision decision;
    uint8_t op;
    const double *table; /* INTERVAL: as koine_lookup wants it */
    uint32_t argument;   /* slot; not of a step function of the time ... */
    uint32_t offset;     /* ... whose argument is slope*time + offset */
    uint32_t value;      /* slot */
} KoineStep;

typedef struct { /* nodes that depend on each other by way of comparisons: evaluated until all of these fit */
    uint32_t first_node, n_nodes;
    uint32_t n_relations, n_steps; /* decisions among the nodes, the last ones of them */
    const uint32_t *relations;
} KoineMixed;

typedef struct {
    uint32_t kernel, row;   /* outputs: guard (Boolean), value; KOINE_NONE: `shared` of the transition computes them */
    uint32_t guard, buffer; /* slots that hold them; guard KOINE_NONE: always */
    uint32_t target, cell;
    uint32_t writer; /* index of the target among all targets of assignments: two writers are found by it */
    uint32_t pre;    /* index among the variables with pre slot, or KOINE_NONE */
    bool is_state, feeds_dynamics, is_real;
    uint32_t origin, variable;
} KoineNext;

typedef enum {
    KOINE_TRIGGER_LEVEL,
    KOINE_TRIGGER_EDGE,
    KOINE_TRIGGER_INITIAL,
    KOINE_TRIGGER_STEP /* tested after accepted steps */
} KoineTriggerKind;
typedef struct {
    uint8_t kind; /* KOINE_ACTION_... */
    const char *format;
    uint32_t kernel, row; /* outputs: guard, then the arguments */
    uint32_t guard, n_args;
    const uint32_t *args; /* slots */
    const uint8_t *types; /* KoineType of each */
    uint32_t channel;     /* SEND */
    int32_t priority;
    uint32_t origin;
} KoineAction;
enum {
    KOINE_ACTION_DISPLAY,
    KOINE_ACTION_TERMINATE,
    KOINE_ACTION_WARNING,
    KOINE_ACTION_FAIL,
    KOINE_ACTION_SEND /* the arguments become a message of the channel */
};

typedef struct {
    uint8_t trigger;
    uint32_t n_conditions;
    const uint32_t *conditions; /* their slots; EDGE: then as many pre slots */
    uint32_t first_next, n_next, first_action, n_actions;
    uint32_t channel; /* it takes the message that is up in this channel; KOINE_NONE */
    uint32_t origin;
    uint32_t n_shared;
    const KoinePiece *shared; /* computed first when it fires: calls of which several of its values need results */
} KoineTransition;

enum { KOINE_PRE_START, KOINE_PRE_CURRENT, KOINE_PRE_FALSE }; /* start value; value at the start; false */
typedef struct {                                              /* a variable whose earlier value is read */
    uint32_t now, pre, n;                                     /* slots */
    uint32_t cell;                                            /* of pre(v) */
    uint32_t variable;                                        /* row in the tables, for messages; KOINE_NONE */
    bool is_continuous;                                       /* takes the left limit when an instant begins */
    uint8_t start;                                            /* KOINE_PRE_...: what it is before the start */
} KoinePre;

typedef struct {                         /* output(time) = input(time - amount) */
    uint32_t output, input, amount, max; /* slots; the amount, max at most, is a parameter unless `since` is there */
    uint32_t since, until; /* slots, Real: begin and end of the smooth piece that is read; KOINE_NONE: the amount is a
                              parameter, and the calendar knows when the next piece begins */
    uint32_t cell, since_cell, until_cell; /* the first is that of the output */
    uint32_t position;                     /* slot: the amount is a length along this; KOINE_NONE: along the time */
    uint32_t forward; /* slot, Boolean: false while the input goes in at the far end; KOINE_NONE: never */
    uint32_t n_points;
    const uint32_t *profile; /* slots of n_points points and as many values: what is there at the start */
    uint32_t variable;       /* of the output: row in the tables */
    bool has_start;          /* before the start: its start value; else what the input is at the start */
    bool is_real;            /* what is delayed; else whole numbers, Boolean or of an enumeration */
    const char *name;        /* of the output, for messages */
} KoineDelay;

typedef struct {    /* the instants of a cause */
    uint32_t cause; /* KOINE_AT_START, KOINE_AT_STEP, KOINE_AT_ENTRY */
    uint32_t entry; /* KOINE_AT_ENTRY: row in tables->callables.entries */
    uint32_t count; /* slot, Integer: how many there were */
    uint32_t cell;  /* of the count */
} KoineOccasion;

typedef struct { /* messages that wait; the first one is up: its fields show it to the model for one event step */
    uint32_t capacity, n_fields;
    const uint32_t *fields, *field_cells; /* n_fields: slots, and their cells */
    uint32_t head, head_cell;             /* slot, Integer: number of the message that is up, 0: none */
    uint32_t first;                       /* of its numbers among those of all channels */
    bool by_priority;                     /* the highest first; else only among those that are sent in one event step */
    bool keep;                            /* a message stays up until a transition takes it */
    const char *name;
    uint32_t receiver; /* origin of the first transition that takes its messages, or KOINE_NONE */
} KoineChannel;

typedef struct {      /* random numbers */
    uint32_t count;   /* slot: how often it was drawn from */
    const char *name; /* with its path */
} KoineStream;

/* Which of the candidates are states is chosen while the model runs: after steps, by the constraint Jacobian. On each
 * level some of the candidates are states; levels go from the highest derivatives downwards. */
typedef struct {
    uint32_t n_rows, n_columns, n_entries, n_levels;
    const uint32_t *depth;      /* n_rows: on how many levels the constraint takes a candidate away; descending */
    const uint32_t *height;     /* n_columns: on how many levels it is a candidate */
    const double *weight;       /* n_columns: the smaller, the rather it is a state */
    const double *start_weight; /* the same, for the choice at the start */
    const uint32_t *row, *column, *entry; /* n_entries of the Jacobian; entry: slot */
    uint32_t section;                     /* computes the entries, after the derivatives part */
    const uint32_t *candidate;            /* n_levels*n_columns slots */
    const uint32_t *n_states;             /* n_levels */
    const uint32_t *state, *choice; /* slots, of all levels: the state, the number of its candidate from 1; KOINE_NONE:
                                       the state is a candidate itself, and shall stay it */
    const uint32_t *state_cell, *choice_cell;
    const char *const *names; /* n_columns, for messages */
} KoineStateSet;

typedef struct {             /* a start value that is no state's: constraints may say otherwise */
    uint32_t slot, variable; /* row in the tables */
    bool is_declared;        /* else it is given if it is not 0 */
} KoineGivenStart;

typedef struct {          /* start values that are computed where none are given */
    uint32_t slot, given; /* the first, and the first place for given ones: KOINE_NOT_GIVEN until then */
    uint32_t n;
} KoineComputedStart;

typedef struct {          /* an equation that was differentiated: its sides may jump at events */
    uint32_t kernel, row; /* outputs: left, right */
    uint32_t left, right; /* slots */
    uint32_t rate;        /* slot of what stands for the jump in the differentiated equation; KOINE_NONE: none can */
    const char *name;     /* of a variable in it, for messages */
} KoineJump;

typedef struct { /* n slots from `slot` on hold `value` when an instance is created */
    uint32_t slot, n;
    KoineSlot value;
} KoineConstant;

typedef struct {                          /* executions since an instance was created; only when somebody wants them */
    uint64_t derivatives, roots, outputs; /* of the parts */
    uint64_t *nodes, *transitions, *systems; /* evaluated; fired; residuals computed or cycles */
} KoineCounts;

/* Where things lie in the block, and what they are before a run. */
/* So many slots behind KoineSlots.calls stands by how much the limits of a run differ from these, the usual ones. */
enum { KOINE_CALLS_MORE_STEPS = 5, KOINE_CALLS_MORE_BESIDE = 6 };
enum { KOINE_CALLS_STEPS = 20000000, KOINE_CALLS_BESIDE = 1024, KOINE_CALLS_ROOM = 1 << 18 };
typedef struct {
    uint32_t n;        /* named slots, from the start of the block; machine state follows */
    uint32_t time;     /* slot of the time */
    uint32_t n_x;      /* number of states */
    uint32_t x, dx;    /* slots of the first state and of its derivative; n_x each */
    uint32_t seed_x;   /* slot of the first seed of the tangents, n_x of them; KOINE_NONE: no tangents */
    uint32_t seed_dx;  /* slot of the first tangent of a derivative, n_x of them; KOINE_NONE: no tangents */
    uint32_t initial;  /* slot of the phase flag, or KOINE_NONE */
    uint32_t terminal; /* slot: 1 in the last instant; KOINE_NONE: nobody reads it */
    uint32_t seed;     /* slot of the seed of random numbers, or KOINE_NONE */
    uint32_t homotopy; /* slot: 1, less while the initial system is found from a simplified one; or KOINE_NONE */
    uint32_t calls;    /* slot: nonzero, a function failed; KOINE_NONE: none is called. See KOINE_CALLS_... */
    uint32_t n_constants, n_streams, n_given_starts, n_computed_starts;
    const KoineConstant *constants; /* values written at create, also those behind --set */
    const KoineStream *streams;
    const KoineGivenStart *given_starts;
    const KoineComputedStart *computed_starts;
} KoineSlots;

typedef struct {        /* values to look at, each with what it belongs to */
    uint32_t n;         /* number of pairs */
    const uint32_t *at; /* pairs: slot, origin */
} KoineChecks;

typedef struct {             /* the Jacobian tables->patterns.whole_jacobian */
    uint32_t section;        /* computes the entries that are not constant; KOINE_NONE: there is no such Jacobian */
    const uint32_t *entries; /* in the order of the pattern: slot, or KOINE_NONE: the entry is constant */
    const double *constants; /* in the order of the pattern: the value of an entry that is constant */
} KoineWhole;

typedef struct {   /* of a scalar of tables->ports */
    uint32_t slot; /* of its tangent; KOINE_NONE: it is always 0 */
    bool is_negated;
} KoinePortSlot;

/* Derivatives by inputs and of outputs: as slopes and tangents, but along inputs, too, and on to the outputs. The step
 * of a system stands behind the section that computes the tangents of its rows. */
typedef struct {
    uint32_t n_inputs, n_outputs;
    const KoinePortSlot *inputs, *outputs;
    KoinePart slopes, tangents;               /* after derivatives */
    KoinePart output_slopes, output_tangents; /* after these and outputs */
} KoinePorts;

/* What each purpose of a run executes, in which order. */
typedef struct {
    KoinePart parameters;  /* bindings, in dependency order */
    KoinePart starts;      /* start values to states and discrete variables */
    KoinePart initial;     /* the initial system, when it is more than start values */
    KoinePart derivatives; /* time, x -> dx */
    KoinePart roots;       /* what the root functions need, complete */
    KoinePart outputs;     /* the rest of what is recorded; after derivatives */
    KoinePart slopes;      /* what tangents need at a point, whatever the seeds; after derivatives */
    KoinePart tangents;    /* seeds of x -> tangents of dx */
    KoineWhole whole;
    KoinePorts ports;
    KoineChecks finite;   /* Real values of the outputs part that must be finite */
    uint32_t n_rows;      /* numbers in rows */
    const uint32_t *rows; /* the rows of all kernels */
    uint64_t work;        /* operations in the derivatives part, roughly: what `auto` counts */
    uint64_t loop_work;   /* of these, in loops over many elements */
} KoineParts;

/* Nodes in topological order, and the cells between them: what nodes read and define. */
typedef struct {
    uint32_t n_nodes, n_cells, n_moving, n_pres;
    const KoineNode *nodes;
    const uint32_t *readers_start, *readers; /* per cell: the nodes that read it */
    const uint32_t *moving;                  /* nodes that depend on time or x */
    const uint8_t *feeds_dynamics;           /* per cell: a change asks for a restart */
    const uint32_t *cell_pre;                /* per cell: index in pres of the variable it holds, or KOINE_NONE */
    const KoinePre *pres;                    /* variables whose earlier value is read */
} KoineGraph;

/* Comparisons and step functions. An owner is a relation, or n_relations + a step function. */
typedef struct {
    uint32_t n_relations, n_steps, n_mixed, n_roots, n_calendar;
    const KoineRelation *relations;
    const KoineStep *steps;
    const KoineMixed *mixed;        /* in the order of their nodes */
    const uint32_t *root_owner;     /* per root function; a step function owns two */
    const uint32_t *calendar_owner; /* per entry of the calendar */
} KoineDecisions;

static inline const KoineDecision *koine_decision_of(const KoineDecisions *decisions, uint32_t owner)
{
    return owner < decisions->n_relations ? &decisions->relations[owner].decision
                                          : &decisions->steps[owner - decisions->n_relations].decision;
}

/* Functions of the time alone, as code for intervals. */
typedef struct {
    uint32_t n_codes, n_functions, n_sources;
    uint32_t n_inputs;   /* inputs of all functions */
    uint32_t most_cells; /* cells of the largest code */
    const KoineTimeCode *codes;
    const KoineTimeFunction *functions;
    const uint32_t *sources; /* functions that drive the derivatives: their largest parts of the time alone */
} KoineTimeFunctions;

/* Transitions and what they do. */
typedef struct {
    uint32_t n_transitions, n_nexts, n_actions;
    uint32_t n_writers; /* targets of assignments */
    uint32_t n_step_conditions;
    const KoineTransition *transitions;
    const KoineNext *nexts;
    const KoineAction *actions;
    const uint32_t *step_conditions; /* nodes of the conditions that are tested after accepted steps */
} KoineFirings;

typedef struct {
    uint32_t n, n_moving;         /* delays whose output moves come first */
    uint32_t n_changing, n_along; /* with an amount that changes, or along a position; of these the latter */
    const KoineDelay *at;
} KoineDelays;

typedef struct {
    uint32_t n;
    bool has_initial; /* something reads the flag of the start, which falls when the first instant begins */
    const KoineOccasion *at;
} KoineOccasions;

typedef struct {    /* an input or state, which somebody outside of the model may change */
    uint32_t row;   /* in the tables */
    uint32_t cell;  /* its cell; of an array the first one */
    bool has_cells; /* every element has a cell of its own */
    bool is_state;
} KoineOpen;
typedef struct {
    uint32_t n;
    uint32_t n_numbers; /* that all of them can hold */
    const KoineChannel *at;
} KoineChannels;

/* What happens at events. */
typedef struct {
    KoineGraph graph;
    KoineDecisions decisions;
    KoineTimeFunctions timed;
    KoineFirings firings;
    KoineDelays delays;
    KoineOccasions occasions;
    uint32_t n_open;
    const KoineOpen *open; /* in the order of their rows */
    KoineChannels channels;
} KoineEvents;

typedef struct { /* what may jump at events because it was differentiated */
    uint32_t n, n_held;
    const KoineJump *at;
    const uint32_t *held; /* slots of what does not jump by itself in the equations of jumps */
} KoineJumps;

/* Equations that are solved together: algebraic systems, and constraints between states. */
typedef struct {
    uint32_t n;
    uint32_t n_run; /* systems behind these belong to the initial part */
    const KoineSystem *at;
    KoineChecks regular; /* of systems that were solved by formulas: the slot holds 0, or less than rounding errors,
                            where the parameters make the system singular */
    uint32_t n_sets;
    const KoineStateSet *sets; /* where states are chosen while the model runs */
    KoineJumps jumps;
} KoineSystems;

/* ---- foreign components: models of other kinds inside of this one ---- */
typedef struct {                /* one value in both blocks */
    uint32_t slot;              /* here */
    uint32_t seed;              /* here: slot of its seed, KOINE_NONE: it has none */
    uint32_t variable, element; /* there: row, and element of it */
    uint64_t at;                /* there: byte offset; of a parameter: where it is set */
    uint8_t type;               /* KoineType */
    bool is_negated;
    double start;     /* STATES: where it begins there, unless something else is said here */
    uint32_t cell;    /* of what it is here */
    const char *name; /* there, for messages */
} KoineForeignLink;
typedef struct {
    uint32_t n;
    const KoineForeignLink *at;
} KoineForeignLinks;
typedef struct {
    const KoineModelKind *const *kind; /* where it stands: it may be loaded behind the program */
    const char *name, *file, *symbol;  /* with its path; its library, as named from the working folder */
    bool is_apart;                     /* in a process of its own */
    uint32_t n_roots, first_root;      /* the first in tables->roots */
    double step;                       /* it advances by itself, so much each time; 0: it does not */
    KoineForeignLinks inputs, outputs, parameters, states;
    const uint8_t *paths; /* outputs.n rows of inputs.n: 1: it depends on the input at once; NULL: all may */
    uint32_t n_nodes;
    const uint32_t *nodes; /* of the event graph, that compute what it gives */
    KoinePlace place;
} KoineForeign;
typedef struct {
    uint32_t n, n_roots; /* roots: of all together */
    const KoineForeign *at;
} KoineForeigns;

/* What a run says about the model in the user's words. Every function may be NULL. */
typedef struct {
    void *context;
    /* explains a fault: fills model->fault from the node or equation `origin` */
    void (*fault)(void *context, KoineModel *model, uint32_t origin);
    /* a function failed while `origin` was computed: whether that matters to its value */
    bool (*matters)(void *context, const KoineModel *model, uint32_t origin);
    /* where the node or equation `origin` stands in the user's text: path and place; its text is "". The path holds
       until the next call */
    void (*locate)(void *context, const KoineModel *model, uint32_t origin, KoineOrigin *where);
    /* row `row` of the system `origin` in the user's text: place and equation */
    void (*describe)(void *context, const KoineModel *model, uint32_t origin, uint32_t row, char *to, size_t size);
    /* why the system `origin` is singular: what is not determined, which equations depend on each other; "": that is
       not known */
    void (*blame)(void *context, const KoineModel *model, uint32_t origin, char *to, size_t size);
    /* attributes counts to the user's text */
    void (*attribute)(void *context, const KoineCounts *counts, void (*visit)(void *context, const KoineWork *work),
                      void *visit_context);
} KoineExplain;

/* Where nobody knows the text of the model, from tables->text.origins: place, what is computed there, no operands. */
void koine_tell_fault(void *context, KoineModel *model, uint32_t origin);
void koine_tell_place(void *context, const KoineModel *model, uint32_t origin, KoineOrigin *where);

typedef struct {   /* texts of the model: text k has the number KOINE_TEXT_TAG + k + 1 in every instance */
    uint32_t slot; /* says where all texts are, see KOINE_TEXT_PLACE; KOINE_NONE: the model has none */
    uint32_t n;
    const char *const *at;
} KoineLiterals;

typedef struct {   /* external objects, see koine/objects.h */
    uint32_t slot; /* which store has them, and texts without room; KOINE_NONE: the model has neither */
    uint32_t n;
} KoineObjects;

typedef struct KoineProgram {
    const KoineTables *tables;
    KoineSlots slots;
    KoineLiterals texts;
    KoineObjects objects;
    KoineParts parts;
    KoineEvents events;
    KoineSystems systems;
    KoineForeigns foreigns;
    KoineMode mode;
    KoineExplain explain;
} KoineProgram;

/* A kind that runs `program` with `code`, which must outlive it; freed by koine_machine_free. NULL: out of memory. */
KOINE_API KoineModelKind *koine_machine_kind(const KoineProgram *program, const KoineCode *code);
KOINE_API void koine_machine_free(KoineModelKind *kind);

/* ---- functions of others ----
 * The mode of arithmetic of this thread (rounding, traps, tiny numbers), and how it is put back. */
KOINE_API uint32_t koine_arithmetic_mode(void);
KOINE_API void koine_arithmetic_restore(uint32_t mode);
KOINE_API uint32_t koine_arithmetic_nearest(void); /* the present mode, but rounding to the nearest */

/* ---- a model that stands alone: what `koine build --to c -o FOLDER` writes ---- */
/* koine_text_apply, as compiled code calls it. */
typedef int64_t (*KoineTextFunction)(KoineSlot *call, uint32_t op, const KoineSlot *args);

typedef struct { /* what generated C exports as koine_table; the interpreter has none of it */
    uint64_t n_sections, n_kernels;
    const KoineSectionFunction *sections;
    const KoineKernelFunction *kernels; /* NULL for kernels that nobody asks for */
    KoineTextFunction *text;            /* where the code wants koine_text_apply; NULL: it has no operations on texts */
} KoineCompiled;

typedef struct KoineAlone {
    const KoineProgram *program;
    const KoineCompiled *compiled;
    KoineStatus (*derivatives)(KoineModel *model); /* see KoineCode */
    void (*prepare)(void);                         /* functions of C; NULL: there are none */
    const KoineModelKind **kinds;                  /* of the foreign components, once koine_alone_load has found them */
} KoineAlone;

static inline KoineCode koine_alone_code(const KoineAlone *model)
{
    KoineCode code;
    if (model->prepare)
        model->prepare();
    memset(&code, 0, sizeof code);
    code.tier = "c";
    code.sections = model->compiled->sections;
    code.kernels = model->compiled->kernels;
    code.derivatives = model->derivatives;
    if (model->compiled->text)
        *model->compiled->text = koine_text_apply;
    return code;
}

#ifdef __cplusplus
}
#endif

#endif
