/* The one interface between an executable model and whoever runs it.
 *
 * Interpreted models, generated C, imported FMUs and hand-written C all fill a KoineModelKind.
 * The runner never asks where a model came from. Everything is plain data; an instance is a head
 * and one relocatable memory block without pointers, so that a snapshot is a copy.
 *
 * Protocol: create; write parameters and starts by offset; initialise; then the first instant:
 * arrive(START), (step, commit while COMMIT is set), leave; then any number of evaluate / accept,
 * with arrive ... leave at events; destroy. docs/model-interface.md is the manual. */
#ifndef KOINE_MODEL_H
#define KOINE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KOINE_MODEL_VERSION 4u
#define KOINE_NO_OFFSET     UINT64_MAX

/* 0 good; > 0 recoverable: try a smaller step, or grow the block; < 0 stop.
 * The cause of a failure stands in model->fault. */
typedef int KoineStatus;
enum {
    KOINE_OK = 0,
    KOINE_RETRY = 1,     /* the trial point cannot be computed: take a smaller step */
    KOINE_GROW = 2,      /* only from accept, commit, leave: enlarge the block, call again */
    KOINE_FAILED = -1,   /* the model failed; see fault */
    KOINE_LIMIT = -2,    /* a limit was exceeded: event steps, iterations */
    KOINE_CONFLICT = -3, /* two transitions wrote one variable in one event step */
    KOINE_ABSENT = -4    /* the function is not supported by this model */
};

typedef enum {
    KOINE_REAL,        /* double */
    KOINE_INTEGER,     /* int64_t */
    KOINE_BOOLEAN,     /* int64_t, 0 or 1 */
    KOINE_ENUMERATION, /* int64_t, from 1 in declaration order */
    KOINE_STRING       /* int64_t, the number of a text; see KoineTextCalls */
} KoineType;

/* Every scalar of the block is one slot of eight bytes. */
typedef union {
    double r;  /* KOINE_REAL */
    int64_t i; /* all others */
} KoineSlot;

typedef enum {
    KOINE_VARIABILITY_CONSTANT,
    KOINE_VARIABILITY_STRUCTURAL,
    KOINE_VARIABILITY_PARAMETER,
    KOINE_VARIABILITY_DISCRETE,
    KOINE_VARIABILITY_CONTINUOUS
} KoineVariability;

typedef enum {
    KOINE_CAUSALITY_LOCAL,
    KOINE_CAUSALITY_INPUT,
    KOINE_CAUSALITY_OUTPUT,
    KOINE_CAUSALITY_PARAMETER
} KoineCausality;

enum {                                /* KoineVariable.flags */
       KOINE_VARIABLE_FIXED = 1,      /* the start value is binding */
       KOINE_VARIABLE_NEGATED = 2,    /* alias: the value is minus what the slot holds */
       KOINE_VARIABLE_DERIVATIVE = 4, /* row of der(v): its slot is in the dx part */
       KOINE_VARIABLE_HIDDEN = 8,     /* generated or protected: not recorded unless asked for */
       KOINE_VARIABLE_ALIAS = 16,     /* shares its slot with another row */
       KOINE_VARIABLE_SETTABLE = 32,  /* parameter or start value: may be written before initialise */
       KOINE_VARIABLE_GUESS = 64      /* computed; `set` is where the search for it begins, before initialise */
};

typedef struct {
    uint32_t source, line, column; /* line 0: no place */
} KoinePlace;

/* What stands at `set` of a start value that is computed unless one is written there: no number, and far beyond all
 * Integers that are meant. */
#define KOINE_NOT_GIVEN INT64_C(0x7ff8000000006b6f)

/* One row a variable, arrays are one row. Results, --set, FMI and SMP publish from here. */
typedef struct {
    const char *name, *unit, *comment; /* name: full path in the source's spelling; empty
                                          brackets take the first indices: element 2 of "c[].x" is c[2].x */
    uint64_t now, pre; /* byte offset in the block, or KOINE_NO_OFFSET; elements contiguous, row major */
    uint64_t set;      /* offset to write a start or parameter value to before initialise, or KOINE_NO_OFFSET */
    uint32_t count, first_dim, n_dims; /* elements; n_dims extents from tables->types.dims[first_dim] */
    uint32_t enumeration;              /* KOINE_ENUMERATION: index into tables->types.enumerations */
    uint8_t type, variability, causality, flags;
    int32_t state;                   /* index in x of its first element, or -1 */
    double start, nominal, min, max; /* nominal 0: none given; min and max infinite: none given */
    KoinePlace place;
} KoineVariable;

typedef struct {
    const char *name;
    uint32_t n;
    const char *const *values; /* value k has the number k + 1 */
} KoineEnumeration;

/* What a root, an equation or a transition is called in the user's text: for messages and profiles. */
typedef struct {
    const char *text; /* as in the source, e.g. "Abstand < Radius" */
    const char *path; /* instance that owns it, "" for the top */
    KoinePlace place;
} KoineOrigin;

/* Compressed rows: columns of row i are index[start[i]] .. index[start[i+1]-1]; colour of a column or NULL. */
typedef struct {
    uint32_t rows, columns;
    const uint32_t *start, *index, *colour;
    uint32_t n_colours;
} KoinePattern;

enum { /* KoineSegment.kind */
       KOINE_SEGMENT_INITIAL,
       KOINE_SEGMENT_STATE,      /* no input reaches it, outputs depend on it */
       KOINE_SEGMENT_ALGEBRAIC,  /* outputs depend on inputs through it */
       KOINE_SEGMENT_DERIVATIVE, /* it reaches no output, but derivatives */
       KOINE_SEGMENT_ROOTS,      /* it reaches comparisons alone */
       KOINE_SEGMENT_EVENT       /* it reaches only what events do */
};
typedef struct { /* a part between inputs and outputs, see docs/cli.md; none reads what a later one computes */
    const char *name;
    uint8_t kind;
    uint32_t n_in, n_out;
    const uint32_t *in, *out; /* numbers in tables->ports */
} KoineSegment;

enum { KOINE_ENTRY_CALLED };
typedef struct { /* entry points, by their numbers */
    const char *name;
    int64_t numerator, denominator; /* the number that the model gives it; 1 */
    uint8_t kind;                   /* KOINE_ENTRY_CALLED: somebody outside of the model calls it */
} KoineEntry;

enum { /* KoineTables.capabilities */
       KOINE_CAN_SNAPSHOT = 1,
       KOINE_CAN_ROLLBACK = 2,
       KOINE_HAS_OWN_SOLVER = 4,
       KOINE_NEEDS_STEP_EVENTS = 8, /* accept may ask for an instant */
       KOINE_IS_DAE = 16,
       KOINE_IS_AUTONOMOUS = 32, /* nothing continuous: no state, nothing that moves between events */
       KOINE_HAS_TERMINAL = 64   /* it is told when the run has come to its end: KOINE_AT_TERMINAL */
};

typedef struct { /* root functions: comparisons that a solver looks for */
    uint32_t n;
    const KoineOrigin *at;
    const uint8_t *regions; /* per root 1: it only selects what is integrated, no transition depends on it; or NULL */
    const uint32_t *states; /* per root 1 + the state that it is, but for its sign and what is constant between events;
                               0: it is something else; or NULL */
} KoineRootTable;

/* The unknowns of the algebraic systems that the derivatives need, see KOINE_WANT_RESIDUAL. */
typedef struct {
    uint32_t n;
    const uint64_t *at; /* byte offsets: where their values stand after an evaluation of the derivatives */
    const double *nominals;
} KoineUnknowns;

typedef struct { /* what the rows of variables say of their types */
    uint32_t n_dims, n_enumerations;
    const uint32_t *dims; /* extents, see KoineVariable.first_dim */
    const KoineEnumeration *enumerations;
} KoineTypes;

typedef struct { /* the user's text */
    uint32_t n_origins, n_sources;
    const KoineOrigin *origins; /* equations and transitions, as named by faults */
    const char *const *sources; /* file names */
} KoineSourceText;

typedef struct { /* parts of a model that can be called one by one */
    uint32_t n_segments, n_entries;
    const KoineSegment *segments;
    const KoineEntry *entries;
} KoineCallables;

typedef struct { /* what depends on what; no rows: that is not known */
    KoinePattern jacobian, input_jacobian, dae_jacobian, feedthrough, initial_feedthrough;
    /* feedthrough: which outputs depend at once on which inputs, numbers of any type and comparisons included */
    KoinePattern output_jacobian, through_jacobian; /* of outputs, by states and by inputs */
    KoinePattern whole_jacobian; /* instead of `jacobian` where that would be too full; see KOINE_BY_WHOLE */
} KoinePatterns;

typedef struct {
    uint32_t variable, element; /* its row; its element, from 0 */
} KoinePort;

/* Scalars that derivatives are taken by, and of: rows and columns of the patterns. None: the model has no Real inputs,
 * and nobody asked for derivatives when it was compiled. */
typedef struct {
    uint32_t n_inputs, n_outputs;
    const KoinePort *inputs;  /* also those that are not Real, with empty columns, and parameters that were asked for */
    const KoinePort *outputs; /* those at the top, with empty rows if they are not Real, and what was asked for */
} KoinePortTable;

typedef struct {
    const char *name, *guid;
    uint64_t block_size;
    uint64_t x, dx, time; /* byte offsets: n_x contiguous doubles each, and the time */
    uint32_t capabilities;
    uint32_t n_variables, n_x;
    uint32_t n_signals; /* that the runner samples, see KoineSignalCalls */
    const KoineVariable *variables;
    const uint32_t *state_variable; /* n_x: row in variables of each state */
    KoineRootTable roots;
    KoineUnknowns unknowns;
    KoineTypes types;
    KoineSourceText text;
    KoineCallables callables;
    KoinePatterns patterns;
    KoinePortTable ports;
} KoineTables;

/* Why a run failed: the numbers are those of the diagnostics and their pages (KN3101 ...). */
typedef enum {
    KOINE_CAUSE_NONE = 0, /* not told */
    KOINE_CAUSE_ZENO = 3101,
    KOINE_CAUSE_CHATTERING = 3102,
    KOINE_CAUSE_EVENT_STEPS = 3103,    /* the events at one time do not come to rest */
    KOINE_CAUSE_TIME_STANDS = 3104,    /* time events at one time without end */
    KOINE_CAUSE_CONFLICT = 3105,       /* two events assign one variable in one event step */
    KOINE_CAUSE_CROSSING = 3106,       /* a crossing is not found within the steps allowed */
    KOINE_CAUSE_SLIDING = 3107,        /* what chatters does so too often */
    KOINE_CAUSE_DIVISION = 3111,       /* by zero */
    KOINE_CAUSE_DOMAIN = 3112,         /* the argument of a function lies where it has no value */
    KOINE_CAUSE_NOT_FINITE = 3113,     /* a result that is too large, or none for another reason */
    KOINE_CAUSE_INDEX = 3114,          /* outside of its array */
    KOINE_CAUSE_TABLE = 3115,          /* the argument lies outside of the table */
    KOINE_CAUSE_FUNCTION = 3116,       /* a function of the model failed */
    KOINE_CAUSE_OVERFLOW = 3117,       /* of an Integer */
    KOINE_CAUSE_DISTRIBUTION = 3118,   /* a parameter of a random distribution */
    KOINE_CAUSE_SINGULAR = 3121,       /* linear equations without unique solution */
    KOINE_CAUSE_NO_CONVERGENCE = 3122, /* of nonlinear equations */
    KOINE_CAUSE_CYCLES = 3123,         /* an iteration formula does not settle */
    KOINE_CAUSE_NO_COMBINATION = 3124, /* of comparisons fits the equations */
    KOINE_CAUSE_INITIAL = 3125,        /* the initial equations do not settle */
    KOINE_CAUSE_START_VALUE = 3126,    /* that is not finite */
    KOINE_CAUSE_DEAD_TIME = 3127,      /* of a delay */
    KOINE_CAUSE_JUMP = 3128,           /* of a constraint, which the states cannot follow */
    KOINE_CAUSE_STATES = 3129,         /* that shall be states cannot be states here */
    KOINE_CAUSE_ASSERTION = 3130,      /* of the model does not hold */
    KOINE_CAUSE_CHANNEL = 3134,        /* a channel is full */
    KOINE_CAUSE_STEP_SIZE = 3131,      /* the step size vanished */
    KOINE_CAUSE_SOLVER = 3132,         /* the solver gave up */
    KOINE_CAUSE_MEMORY = 3133,
    KOINE_CAUSE_MODE = 3136,   /* a mode of the model cannot be entered, or does not end */
    KOINE_CAUSE_FOREIGN = 3140 /* a foreign component fails, crashes or does not answer */
} KoineCause;

enum { KOINE_FAULT_TEXT = 1024 };
typedef struct {
    int32_t origin;   /* index into tables->text.origins, or -1 */
    int32_t variable; /* row of the variable that could not be computed, or -1 */
    int32_t cause;    /* KoineCause */
    KoinePlace place; /* where in the text of the model; line 0: not known */
    char block[16];   /* the system of equations it happened in, as `koine inspect` calls it; or empty */
    double time;
    char text[KOINE_FAULT_TEXT]; /* one sentence with the values of the operands */
} KoineFault;

typedef struct KoineModel { /* generated code knows the first five members: keep their order */
    const struct KoineModelKind *kind;
    unsigned char *block; /* aligned to 64 bytes */
    uint64_t size;
    const struct KoineHost *host;
    void *handles; /* what cannot live in the block: external objects, solver workspace of algebraic systems */
    KoineFault fault;
} KoineModel;

typedef struct {
    KoineOrigin where; /* of the transition */
    int32_t variable;  /* row of what it assigns; -1: the transition itself, before its assignments */
    uint32_t element, event_step;
    KoineSlot before, after;
} KoineFiring;

enum { /* KoineIterate.way: where the iteration began, or what brought it there */
       KOINE_WAY_LAST,
       KOINE_WAY_START,
       KOINE_WAY_BESIDE,
       KOINE_WAY_KINSOL,
       KOINE_WAY_HOMOTOPY
};
typedef struct {
    uint32_t origin; /* of the system */
    uint32_t step;   /* 0: where it began */
    uint8_t way;
    double fraction,
        length;      /* of the step that led here: of a full one, and the length of that in scales; 0 if step is 0 */
    double residual; /* the largest, as it stands in its equation */
} KoineIterate;

typedef struct KoineHost { /* what the runner lends the model; fixed at create */
    void *context;
    const char *resources;
    uint64_t seed;
    double resolution;          /* time grid R: arrivals lie at k*R, and so does next_time; 0: exact */
    uint32_t max_steps;         /* event steps at one instant; 0: 1000 */
    uint32_t max_cycles;        /* cycles of an iteration formula; 0: 50 */
    double iteration_tolerance; /* relative change at which they end; 0: 1e-10 */
    double tolerance;           /* relative, of the run: that of nonlinear systems follows it; 0: they decide */
    void (*message)(void *context, const KoineModel *model, int level, const char *text);
    /* a transition fires, and what it assigns; event_step is the number of the step that ends with it. NULL: nobody
     * asks */
    void (*fired)(void *context, const KoineModel *model, const KoineFiring *firing);
    /* a point of the iteration for a nonlinear system; its unknowns stand in the block. NULL: nobody asks */
    void (*iterated)(void *context, const KoineModel *model, const KoineIterate *iterate);
    uint8_t wants_work;      /* 1: executions are counted, for kind->counts.work */
    uint32_t max_iterations; /* of loops of functions, and calls, in one call from an equation; 0: 20,000,000 */
    uint32_t max_calls;      /* that are nested, 1 to 1000; 0: 255 */
} KoineHost;
enum { KOINE_MESSAGE_OUTPUT, KOINE_MESSAGE_WARNING, KOINE_MESSAGE_ERROR };

enum { KOINE_WANT_DER = 1, KOINE_WANT_ROOTS = 2, KOINE_WANT_OUTPUTS = 4, KOINE_WANT_RESIDUAL = 8 };
typedef struct {
    double time;
    const double *x;  /* may be the block's own x. RESIDUAL: n_x states, then the unknowns, never the block's own */
    const double *dx; /* RESIDUAL: n_x; NULL: 0 */
    unsigned want;    /* RESIDUAL stands alone: f(x, w) - dx for the states, then what the equations of w lack */
    double *der, *roots, *residual; /* der may be the block's own dx; outputs go to their slots */
    double *root_sizes; /* ROOTS: what each was computed from is this large, so that rounding can be told; NULL: nobody
                           asks. A model that does not know leaves it as it is */
} KoineEvaluation;

typedef struct {                /* a scalar of the model gets another value from outside */
    uint32_t variable, element; /* row of an input or a state that is one of tables->n_x; its element, from 0 */
    KoineSlot value;            /* of that row: of an alias with opposite sign it is minus what the slot gets */
} KoineChange;

enum { /* KoineArrival.cause */
       KOINE_AT_START = 1,
       KOINE_AT_ROOTS = 2,
       KOINE_AT_TIME = 4,
       KOINE_AT_INPUT = 8,
       KOINE_AT_STEP = 16,
       KOINE_AT_ENTRY = 32,
       KOINE_AT_STOP = 64,      /* the run ends here: late time relations stay pending */
       KOINE_AT_TERMINAL = 256, /* the run has come to its end, and this is the last instant */
       KOINE_AT_CONTINUE = 128  /* first instant of a continued run: anything may have been written from outside */
};
typedef struct {
    double time;
    const double *x;
    unsigned cause;
    const uint8_t *crossed; /* AT_ROOTS: n_roots flags */
    uint32_t entry;         /* AT_ENTRY: row in tables->callables.entries */
    /* AT_INPUT: what changes here, once the left limits are taken; NULL: the inputs are written already, and any of
     * them may have changed */
    const KoineChange *changes;
    uint32_t n_changes;
} KoineArrival;

enum {                      /* KoineOutcome.flags */
       KOINE_COMMIT = 1,    /* step: there is something to commit */
       KOINE_CHANGED = 2,   /* leave: some slot differs from before the instant */
       KOINE_STATES = 4,    /* x was changed: read it from the block */
       KOINE_RESTART = 8,   /* the dynamics changed: restart the solver */
       KOINE_NOMINALS = 16, /* nominal values changed */
       KOINE_TERMINATE = 32 /* the model asks for the end of the run */
};
typedef struct {
    unsigned flags;
    uint32_t event_step; /* event steps committed at this instant */
    double next_time;    /* calendar head, INFINITY if none */
} KoineOutcome;

/* What a Jacobian is derived by. WHOLE: by the states x and by z, all that the equations of the derivatives define,
 * der(x) among it: row k of the states is der(x[k]) as a column of z; the rows behind them are what the equations lack.
 * So I - g*(df/dx) has the same solutions as the states of this matrix times -g with the identity added for x.
 * The last two are of the outputs, the others of the derivatives. */
enum { KOINE_BY_X, KOINE_BY_INPUT, KOINE_BY_DAE, KOINE_BY_WHOLE, KOINE_OUTPUTS_BY_X, KOINE_OUTPUTS_BY_INPUT };

struct KoineModelStatistics;

typedef enum {
    KOINE_WORK_EQUATION,
    KOINE_WORK_CONDITION, /* a comparison or step function, or when a transition fires */
    KOINE_WORK_EVENT,     /* a transition that fired */
    KOINE_WORK_ASSIGNMENT /* of a transition */
} KoineWorkKind;
typedef struct {       /* what one equation, condition, transition or assignment of one instance cost so far */
    KoineOrigin where; /* text: "" */
    uint8_t kind;
    uint64_t executions; /* exact; elements of arrays each */
    uint64_t operations; /* in all executions: those of the expression, an estimate of the time they took */
} KoineWork;

/* What a model may have beside the required functions, by subject. Every function may be NULL: absent. */

typedef struct { /* exact partial derivatives, by what KOINE_BY_... says */
    KoineStatus (*jacobian)(KoineModel *model, const KoineEvaluation *at, int by, double cj,
                            double *values); /* in pattern order */
    /* that matrix times seed */
    KoineStatus (*directional)(KoineModel *model, const KoineEvaluation *at, int by, const double *seed,
                               double *result);
    /* the transposed matrix times weights; X, INPUT and those of the outputs */
    KoineStatus (*adjoint)(KoineModel *model, const KoineEvaluation *at, int by, const double *weights, double *result);
    /* What is integrated as state k now, where states are chosen while the model runs; absent: tables->state_variable
     */
    KoinePort (*state)(const KoineModel *model, uint32_t k);
} KoinePartialCalls;

typedef struct { /* models of other tools: callable parts, their own solver, state outside of the block */
    KoineStatus (*segment)(KoineModel *model, uint32_t segment);
    /* Between two points of a run: the whole instant in which tables->callables.entries[entry] is called. A runner
     * that integrates makes the instant itself, see KoineArrival. ABSENT: there is no such entry. */
    KoineStatus (*entry)(KoineModel *model, uint32_t entry);
    KoineStatus (*advance)(KoineModel *model, double time, double step, double *reached);
    /* What is not in the block, in memory of the model that holds until the next call. NULL: copying the block is
     * enough, if the capabilities say CAN_SNAPSHOT */
    KoineStatus (*save)(KoineModel *model, void **state, uint64_t *size);
    KoineStatus (*restore)(KoineModel *model, const void *state, uint64_t size);
} KoineForeignCalls;

typedef struct { /* what an instance has done so far */
    /* work done by the model, for statistics; NULL: not counted */
    void (*statistics)(const KoineModel *model, struct KoineModelStatistics *out);
    /* visits what was executed since the instance was created, in no particular order; nothing unless the host wanted
     * it counted. Paths hold until `visit` returns. NULL: not counted */
    void (*work)(const KoineModel *model, void (*visit)(void *context, const KoineWork *work), void *context);
} KoineCountCalls;

typedef struct { /* crossings that need no event, or none at once */
    /* `root` alone has crossed since the last accepted point. OK: that changes nothing but the side of the root
     * function, which is changed now; there is no event. RETRY: it needs an instant; nothing was changed.
     * ABSENT: it always does. */
    KoineStatus (*flip)(KoineModel *model, uint32_t root);
    /* The comparison of `root` chatters: it changes at crossings that the runner finds well beyond its border, and at
     * other instants it keeps its value unless its operands jump; or it does not chatter any more. Absent: at every
     * instant it is decided literally. */
    void (*hold)(KoineModel *model, uint32_t root, uint8_t is_held);
} KoineCrossingCalls;

/* Dead time of continuous signals; absent: there is none, else all three are there and tables->n_signals says of how
 * many signals. The runner makes no step longer than longest_step, which it asks for when a run begins. After a step it
 * samples the signals at points of the step and hands those in rising order to remember, which may ask for GROW; the
 * last is the end of the step. */
typedef struct {
    double (*longest_step)(KoineModel *model);
    KoineStatus (*sample)(KoineModel *model, double time, const double *x, double *signals);
    KoineStatus (*remember)(KoineModel *model, double time, const double *signals);
} KoineSignalCalls;

typedef struct { /* what depends on the time alone */
    /* Time events that are found by a search; absent: the calendar head is all. Called behind an instant, and again
     * where a search has come to: returns the first time event not beyond `until`, or INFINITY, and in *searched how
     * far that is sure: `until`, or less when much is to be searched; the runner steps no further and asks again. */
    double (*look_ahead)(KoineModel *model, double until, double *searched);
    /* What the last time event was: the comparison or step function of the time. RETRY: that is not known. The text
     * holds as long as the kind. */
    KoineStatus (*last_event)(KoineModel *model, KoineOrigin *where);
    /* Extremes between two times, in order and at most so many, of what drives the derivatives and depends on the time
     * alone; absent: there is no such thing. Returns how many. */
    uint32_t (*extremes)(KoineModel *model, double from, double to, double *times, uint32_t most);
} KoineTimeCalls;

/* What an instance remembers besides its variables (positions of random streams, histories of dead times), for a run
 * that goes on with it. */
typedef struct {
    /* How many words that are, 0: nothing; written if there is room for them. */
    uint64_t (*store)(KoineModel *model, KoineSlot *to, uint64_t n_words);
    /* Before initialise; RETRY: not all of it was there, FAILED: these are no such words. */
    KoineStatus (*recall)(KoineModel *model, const KoineSlot *from, uint64_t n_words);
} KoineMemoryCalls;

/* What String variables hold: the slot has the number of a text. */
typedef struct {
    /* The bytes of the text, terminated by 0; they hold until the next call of any function of the instance. */
    const char *(*get)(KoineModel *model, KoineSlot value, size_t *n);
    /* The number of a text, to be written into a slot at once. FAILED: it is too long, or there is no memory; ABSENT:
     * the model has no texts. The block may move. */
    KoineStatus (*put)(KoineModel *model, const char *text, size_t n, KoineSlot *value);
} KoineTextCalls;

typedef struct KoineModelKind {
    uint32_t version, size; /* KOINE_MODEL_VERSION, sizeof(KoineModelKind) */
    const KoineTables *tables;
    /* required */
    KoineStatus (*create)(const struct KoineModelKind *kind, const KoineHost *host, KoineModel **model);
    void (*destroy)(KoineModel *model);
    KoineStatus (*initialise)(KoineModel *model, double time);             /* parameters, then the initial system */
    KoineStatus (*evaluate)(KoineModel *model, const KoineEvaluation *at); /* frozen bits, no side effects */
    KoineStatus (*accept)(KoineModel *model, double time, const double *x,
                          KoineOutcome *outcome);                          /* a completed step */
    KoineStatus (*arrive)(KoineModel *model, const KoineArrival *arrival); /* an instant begins */
    KoineStatus (*step)(KoineModel *model, KoineOutcome *outcome); /* evaluate what is dirty; COMMIT if enabled */
    KoineStatus (*commit)(KoineModel *model, KoineOutcome *outcome);
    KoineStatus (*leave)(KoineModel *model, KoineOutcome *outcome); /* restart decision, x written back to the block */
    /* optional: NULL means absent */
    KoineStatus (*derivatives)(
        KoineModel *model); /* time and x already in the block, dx left in the block; unchecked */
    KoinePartialCalls partial;
    KoineForeignCalls foreign; /* a kind for an older program may end here, see `size` */
    KoineCountCalls counts;
    KoineCrossingCalls crossings;
    KoineSignalCalls signals;
    KoineTimeCalls time;
    KoineMemoryCalls memory;
    KoineTextCalls texts;
} KoineModelKind;

/* How often something took so many goes: none, 1, 2, 3 to 4, 5 to 8, 9 to 16, 17 to 32, more. */
enum { KOINE_BUCKETS = 8 };
static inline uint32_t koine_bucket(uint64_t n)
{
    uint32_t bucket = 0;
    for (uint64_t bound = 0; bucket + 1 < KOINE_BUCKETS && n > bound; bound = bound ? 2 * bound : 1)
        bucket++;
    return bucket;
}

typedef struct KoineModelStatistics {
#define KOINE_MODEL_COUNTER(name, ...) uint64_t name;
#include "koine/statistics.def"
    double largest_condition;          /* of matrices that had to be looked at, estimated; 0: none had to */
    uint64_t by_cycles[KOINE_BUCKETS]; /* nonlinear systems and iteration formulas solved, by their iterations */
} KoineModelStatistics;

#ifdef __cplusplus
}
#endif

#endif
