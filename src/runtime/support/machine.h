/* Private to runtime/support: an instance of the machine. */
#ifndef SUPPORT_MACHINE_H
#define SUPPORT_MACHINE_H

#include "bitset.h"
#include "koine/support.h"
#include "text.h"
#include "time_rule.h"

struct Component;                   /* a foreign component: components.h */
typedef struct JumpSpace JumpSpace; /* of jumps of constrained states */
typedef struct SetSpace SetSpace;   /* of state sets */
typedef struct Workspace Workspace; /* of algebraic systems: matrices, pivots */

enum { KOINE_CYCLE_WINDOW = 8 }; /* last steps before the limit in which states are compared */

typedef struct {        /* what an instant has done so far */
    uint8_t is_changed; /* some slot differs from before the instant */
    uint8_t is_restart; /* the dynamics changed */
    uint8_t has_states; /* states were changed */
    uint8_t has_terminated;
} InstantResult;

/* What one instant remembers; in the block. */
typedef struct {
    uint64_t step; /* counts event steps over the whole run: stamps of writers */
    uint32_t event_step;
    uint32_t n_pending;   /* assignments waiting for commit */
    uint32_t n_unsettled; /* variables whose pre slot may differ */
    uint32_t n_pinned;
    uint32_t n_heap;
    uint32_t n_widened; /* root functions with a widened band */
    uint32_t n_held;    /* ... and those of comparisons that chatter */
    uint32_t n_passing; /* messages that are up for this event step only */
    uint32_t served;    /* owner of the last time event, as in calendar_owner */
    InstantResult result;
    uint8_t at_stop, is_start, is_step;
    uint8_t has_pins; /* something may be pinned that a jump sets free */
    uint8_t has_left; /* the operands of root functions were evaluated at the arrival, with all else as it was before */
    uint8_t is_general; /* everything is evaluated, also what nothing has woken */
    uint8_t has_inputs; /* of sources: they are those after the last instant */
    uint8_t bend;       /* least bend of the segments that delays have gone on to; 0: something else happens, too */
    uint64_t recent[KOINE_CYCLE_WINDOW]; /* hashes of the states after the last steps, for naming cycles */
} Instant;

typedef enum {
    PIN_FREE,     /* it is decided by its operands */
    PIN_NEW,      /* it keeps its value; its operands have not been seen yet */
    PIN_SET,      /* it keeps its value while its operands are those it was pinned with */
    PIN_RELEASED, /* its operands have moved: it is decided by them, to the end of the instant */
} PinState;

typedef struct { /* of a relation or step function */
    double at;   /* operand difference (relation), argument (step), flip time or offset when it was pinned */
    double slope;
    uint8_t state; /* PinState */
} Pin;

typedef struct {
    double time;
    uint32_t place; /* in the heap, KOINE_NONE: not pending */
    uint8_t late;
    uint8_t is_open; /* nothing happens then: the search has come so far */
} Entry;

typedef struct {    /* of the history of a delay */
    double time;    /* or position */
    double entered; /* along a position: when it went in */
    KoineSlot value;
    uint8_t is_first; /* of a segment */
    uint8_t bend;     /* first of a segment: 0 the value jumps, 1 its slope, and so on */
} DelayPoint;

typedef struct {
    uint32_t n, capacity;  /* points */
    uint32_t segment, end; /* the points that are read */
    bool is_back;          /* along a position: it goes in at the far end */
} DelayState;
enum { KOINE_FIRST_POINTS = 64 }; /* of each delay, in a block that has not grown */

/* Of a group of comparisons that depend on what they decide, while it is evaluated; nothing of it lasts. */
enum { KOINE_VISITED = 64 };
typedef struct {
    uint32_t group; /* KOINE_NONE: none has changed a bit yet */
    uint32_t n_rounds;
    uint64_t seen[KOINE_VISITED];  /* hashes of the last combinations */
    uint8_t *start, *value, *best; /* per relation of the model: its bit when the evaluation began, what it is now, and
                                      in the combination that is contradicted least */
} Round;

typedef struct {
    const KoineTimeRule *rule;
    double resolution; /* what the host names; 0: time is continuous */
} MachineTime;

enum { KOINE_RESTLESS = 4 }; /* comparisons that are named then */

typedef struct {
    Pin *relations, *steps;
    uint32_t *numbers; /* of those that are pinned: relations, then n_relations + steps */
} Pins;

/* Per root: when its comparison changes beyond its border. */
typedef struct {
    double *widened; /* the extra band e; 0: none */
    uint8_t *held;   /* its comparison chatters */
    double *noise;   /* the rounding band of the largest operands it had; NULL: no systems are solved */
    uint8_t *flips;  /* with noise: crossings since it was beyond it */
} Bands;

typedef struct {
    Entry *entries;
    uint32_t *heap;
    struct TimeSearch *searches; /* per function of the time */
    KoineSlot *inputs;           /* of all functions: as they were when their searches began */
    double *ranges;              /* per source: least and greatest value so far */
    struct Cell *cells;          /* of the code being executed; nothing of it lasts */
} Calendar;

typedef struct {
    Bitset dirty, enabled; /* nodes to be evaluated; transitions that fire */
    uint64_t *jumped;      /* a bit per node: what it reads may have jumped in this instant; NULL: no root functions */
} Wake;

/* What the present event step assigns. */
typedef struct {
    uint64_t *stamps;  /* per writer */
    uint32_t *writers; /* per writer: the assignment that wrote last */
    uint32_t *pending; /* assignments */
    uint32_t *unsettled;
    uint8_t *is_unsettled;
} Writes;

typedef struct {
    DelayState *delays;
    bool is_recalled;   /* it comes from an earlier run, for the next start */
    uint32_t complaint; /* 1 + a delay whose amount is impossible, or that no value fits; 0: none */
    bool is_loop;       /* the latter */
} History;

/* Room for algebraic systems, state sets, jumps and the residual form. */
typedef struct {
    Workspace *workspace;
    SetSpace *set_space;          /* NULL: no state sets, no given starts */
    JumpSpace *jump_space;        /* NULL: nothing that was differentiated can jump */
    struct ObjectStore *store;    /* what it has outside of the block, see objects.h; NULL: nothing */
    double *residual_work;        /* n_x + 3*n_w */
    double *partials;             /* entries of a Jacobian, for directions backwards */
    uint8_t *is_solved;           /* per system of the run: it was solved at least once */
    bool is_searching;            /* no smaller step will help: nonlinear systems try all they know */
    struct Component *components; /* foreign ones */
    bool is_entering;             /* this mode has begun in the present event step */
    bool is_lost;                 /* no other mode is tried where combinations are excluded: there is none */
} Spaces;

typedef struct {
    uint32_t at[KOINE_RESTLESS], n; /* relations that changed in the last steps before the limit */
} Restless;

typedef struct {
    KoineModelStatistics statistics;
    KoineCounts *counts;  /* NULL: nobody wants them */
    uint64_t evaluations; /* of the derivatives part, for `upgrade` */
} Work;

typedef struct {       /* of a channel */
    uint32_t first, n; /* place of the first message in its ring, and how many wait, with the one that is up */
    uint32_t batch;    /* FIFO: messages that were sent before the present commit; nothing is put before them */
    bool is_up;        /* the first message is up */
    bool is_taken;     /* a transition fires that takes it */
    bool is_recalled;  /* the messages come from an earlier run, for the next start */
    int64_t number;    /* of the last message that was up */
} ChannelState;

typedef struct {
    ChannelState *states;
    KoineSlot *numbers; /* per channel: its defaults, then the messages: priority and fields of each */
} Channels;

typedef struct {
    const uint32_t *rows; /* first member: generated code finds it here */
    const KoineProgram *program;
    const KoineCode *code;
    KoineModel *model;
    const struct MachineKind *kind;
    unsigned char *block; /* the block the pointers below belong to */
    KoineSlot *slots;     /* the block as slots */
    Instant *instant;
    Pins pins;
    Bands bands;
    Calendar calendar;
    Wake wake;
    Writes writes;
    History history;
    Channels channels;
    Spaces spaces;
    Round round;
    Restless restless;
    Work work;
    MachineTime time;
} Machine;

/* At an accepted point: faster code, when the work done so far pays for it. */
void koine_consider_upgrade(Machine *m);

typedef struct { /* entries and columns of a Jacobian, sorted by the colour of the column */
    uint32_t n;
    uint32_t *start, *entry, *row, *column_start, *column;
} Colours;

enum { KOINE_ALIGNMENT = 64 }; /* of a block and of its pieces, in bytes: a line of the cache */

/* The pieces of a block, in this order: named slots come first, then what the machine remembers. */
enum {
    AT_INSTANT,
    AT_RELATION_PINS,
    AT_STEP_PINS,
    AT_PINNED,
    AT_WIDENED,
    AT_HELD,
    AT_NOISE,
    AT_FLIPS,
    AT_ENTRIES,
    AT_HEAP,
    AT_DIRTY,                              /* BITSET_LEVELS of them */
    AT_ENABLED = AT_DIRTY + BITSET_LEVELS, /* likewise */
    AT_JUMPED = AT_ENABLED + BITSET_LEVELS,
    AT_STAMPS,
    AT_WRITERS,
    AT_PENDING,
    AT_UNSETTLED,
    AT_IS_UNSETTLED,
    AT_ROUND,
    AT_SOLVED,
    AT_SEARCHES,
    AT_TIME_INPUTS,
    AT_RANGES,
    AT_CHANNELS,
    AT_MESSAGES,
    AT_DELAYS,
    AT_TEXTS,  /* grows */
    AT_POINTS, /* in a block whose texts have not grown; grows, too */
    AT_COUNT
};

typedef struct MachineKind {
    KoineModelKind kind;     /* first member */
    KoineModelKind counting; /* of instances that count: the same, no way around the machine */
    KoineTables tables;
    const KoineProgram *program;
    const KoineCode *code;
    uint64_t offsets[AT_COUNT]; /* where the pieces of the block begin, in bytes */
    uint64_t size;
    uint64_t *w; /* offsets of the unknowns of the systems in the derivatives part */
    double *w_nominal;
    Colours by_x, by_dae, by_input, out_by_x, out_by_input;
} MachineKind;

static inline void run_kernel(const Machine *m, uint32_t kernel, uint32_t row, uint32_t n)
{
    if (m->code->kernels)
        m->code->kernels[kernel](m->slots, m->rows + row, n);
    else
        m->code->run_kernel(m->code->context, kernel, m->slots, m->rows + row, n);
}

static inline void run_section(const Machine *m, uint32_t section)
{
    if (m->code->sections)
        m->code->sections[section](m->slots, m->rows);
    else
        m->code->run_section(m->code->context, section, m->slots);
}

/* Before residuals and Jacobian at another point than before. */
static inline void koine_prepare_system(const Machine *m, const KoineSystem *s)
{
    if (s->prepared_section != KOINE_NONE)
        run_section(m, s->prepared_section);
}

/* The run begins or goes on: time is what the host says. */
void koine_take_time(Machine *m);
void koine_limit_calls(Machine *m); /* the limits of functions are those of the host */

/* block.c */
void koine_lay_out(MachineKind *kind);
void koine_point_into(Machine *m, unsigned char *block, const uint64_t *at); /* at: offsets of the kind */
void koine_machine_moved(KoineModel *model);                                 /* the runner moved the block */
static inline Machine *koine_machine_of(KoineModel *model)
{
    Machine *m = model->handles;
    if (m->block != model->block)
        koine_machine_moved(model);
    if (m->spaces.store) /* the block may have been that of another instance */
        m->slots[m->program->objects.slot].i = (intptr_t)m->spaces.store;
    return m;
}
/* A function failed since the last look: a fault, if the value of `origin` (KOINE_NONE: of any moving block) needs it.
 * What is computed in vain, as the other side of a branch, may fail. */
KoineStatus koine_failed_call(Machine *m, KoineStatus status, uint32_t origin);
static inline KoineStatus koine_check_calls(Machine *m, KoineStatus status, uint32_t origin)
{
    const uint32_t calls = m->program->slots.calls;
    return calls == KOINE_NONE || !m->slots[calls].i ? KOINE_OK : koine_failed_call(m, status, origin);
}
/* A part: sections and systems in order. */
KoineStatus koine_run_part(Machine *m, const KoinePart *part);
KoineStatus koine_run_tangents(Machine *m);

/* residual.c: the derivatives part with the unknowns of its systems given */
bool koine_list_unknowns(MachineKind *kind); /* false: no memory */
KoineStatus koine_residual(Machine *m, const KoineEvaluation *at);
KoineStatus koine_residual_jacobian(Machine *m, const KoineEvaluation *at, double *values);

/* nodes.c */
KoineStatus koine_evaluate_node(Machine *m, const KoineNode *node);
KoineStatus koine_evaluate_dirty(Machine *m); /* the nodes that were woken, and those that they wake */
KoineStatus koine_evaluate_all(Machine *m);   /* every node once, nothing is committed: the values at the start */
bool koine_wants_step(Machine *m);

/* initialise.c */
KoineStatus koine_machine_initialise(KoineModel *model, double time);

/* arrive.c */
KoineStatus koine_machine_arrive(KoineModel *model, const KoineArrival *arrival);
bool koine_serve_late(Machine *m, double t); /* false: there is nothing that holds only after t */
void koine_wake_transitions(Machine *m, KoineTriggerKind trigger);

/* events.c */
KoineStatus koine_machine_step(KoineModel *model, KoineOutcome *outcome);
KoineStatus koine_machine_commit(KoineModel *model, KoineOutcome *outcome);
KoineStatus koine_machine_leave(KoineModel *model, KoineOutcome *outcome);
KoineStatus koine_machine_entry(KoineModel *model, uint32_t entry);
KoineStatus koine_machine_last_time_event(KoineModel *model, KoineOrigin *where);
KoineStatus koine_machine_flip(KoineModel *model, uint32_t root);
KoineStatus koine_fault(Machine *m, KoineStatus status, uint32_t origin, const char *text);
/* Says why, of the fault that was made last: koine_fault itself knows the cause only where an operation has no
 * value. */
static inline KoineStatus koine_because(Machine *m, KoineCause cause, KoineStatus status)
{
    m->model->fault.cause = cause;
    return status;
}

bool koine_decide(Machine *m, uint32_t relation,
                  bool *value); /* from its operands as they are; false: they have none */
void koine_set_bit(Machine *m, const KoineRelation *r, bool value);

/* borders.c: in serving crossings */
void koine_put_on_borders(Machine *m, const uint8_t *crossed);
/* The argument is inside of the present interval, or on an edge that belongs to it: a state was put there. */
bool koine_is_inside(const Machine *m, const KoineStep *s);

/* actions.c: what enabled transitions print, and whether one ends the run */
KoineStatus koine_run_actions(Machine *m);

/* channels.c: of a commit, in this order: the messages that were up go, others are sent, the next ones are shown */
void koine_take_messages(Machine *m);
KoineStatus koine_send(Machine *m, const KoineAction *a);
void koine_show_messages(Machine *m);
/* Before the commit: whether what is to be sent has values. */
KoineStatus koine_check_message(Machine *m, const KoineAction *a);
void koine_begin_channels(Machine *m); /* before the start: they are empty, or have messages of an earlier run */
KoineSlot *koine_waiting_message(const Machine *m, const KoineChannel *c,
                                 uint32_t k); /* priority and fields of one that waits */

/* components.c: foreign components */
bool koine_components_create(Machine *m); /* false: no memory, or one of them cannot be created */
void koine_components_destroy(Machine *m);
KoineStatus koine_begin_components(Machine *m);                         /* before the initial system */
KoineStatus koine_evaluate_component(Machine *m, const KoineSystem *s); /* between events */
KoineStatus koine_component_tangent(Machine *m, const KoineSystem *s);
KoineStatus koine_component_roots(Machine *m, double *roots, double *sizes); /* sizes may be NULL */
KoineStatus koine_arrive_components(Machine *m, const KoineArrival *arrival);
KoineStatus koine_step_component(Machine *m, const KoineNode *node);
bool koine_components_want(const Machine *m); /* something to commit */
KoineStatus koine_commit_components(Machine *m);
KoineStatus koine_leave_components(Machine *m, double *next_time); /* *next_time: at most that */
KoineStatus koine_accept_components(Machine *m, bool *wants_instant);

/* endless.c */
void koine_look_for_cycle(Machine *m, uint32_t limit); /* in each of the last steps before the limit */
void koine_note_restless(Machine *m, const KoineRelation *r);
KoineStatus koine_report_endless(Machine *m, uint32_t limit);
void koine_put_root(KoineText *text, const KoineTables *tables, uint32_t root); /* its text and place */
void koine_put_value(KoineText *text, uint8_t type, KoineSlot value);

/* mixed.c */
KoineStatus koine_decide_together(Machine *m,
                                  const KoineNode *node);  /* this relation, and those of its group that wait */
KoineStatus koine_count_round(Machine *m, uint32_t group); /* one of its step functions has changed */
KoineStatus koine_rescue(Machine *m, uint32_t node, KoineStatus status); /* the node failed: other bits may help */

void koine_wake_readers(Machine *m, uint32_t cell);

/* state_sets.c */
SetSpace *koine_set_space_create(const KoineProgram *program);
void koine_set_space_destroy(SetSpace *space);
void koine_begin_sets(Machine *m);         /* choices by the start values */
KoineStatus koine_settle_sets(Machine *m); /* constraints at the start; the best choices there */
/* After an accepted step, derivatives being evaluated. */
KoineStatus koine_look_at_sets(Machine *m, bool *wants_switch);
void koine_switch_sets(Machine *m); /* in an instant */

/* jumps.c */
JumpSpace *koine_jumps_create(const KoineProgram *program);
void koine_begin_jumps(Machine *m, bool is_wanted);   /* at the beginning of an instant, before anything is served */
KoineStatus koine_jump(Machine *m, bool *has_jumped); /* where an instant has come to rest */
void koine_note_set(Machine *m, uint32_t slot);       /* an event has set the state: what it is is said */

/* bands.c */
KoineStatus koine_root_functions(Machine *m, double *roots); /* RETRY: some have no value */
void koine_root_sizes(const Machine *m, double *sizes);      /* of the operands, after the functions */
void koine_widen_bands(Machine *m);                          /* on leaving an instant */
void koine_narrow_bands(Machine *m);                         /* after an accepted step */
void koine_measure_noise(Machine *m); /* likewise, before it: the operands are those of this point */
void koine_count_flip(Machine *m, uint32_t root);
bool koine_is_noise(const Machine *m, uint32_t root, double g); /* it crosses to and fro, and g is rounding */
void koine_machine_hold(KoineModel *model, uint32_t root, uint8_t is_held);

/* delays.c */
void koine_read_delays(Machine *m);                             /* outputs of moving delays at the time in the block */
KoineStatus koine_check_delays(Machine *m, KoineStatus status); /* `status` if an amount that changes is impossible */
KoineStatus koine_follow_delays(Machine *m); /* outputs by amounts that change, and all that depends on them */
bool koine_wants_pieces(Machine *m);         /* at an accepted point: some delay has left its piece without an event */
bool koine_switch_delay(Machine *m, uint32_t delay); /* to the next segment; the output has changed */
KoineStatus koine_reserve_points(Machine *m);        /* GROW: the block is too small for another point each */
KoineStatus koine_leave_delays(Machine *m);          /* jumps and bends of an instant; points are reserved */
void koine_spread_points(Machine *m);                /* after the block was made larger */
DelayPoint *koine_points(const Machine *m);          /* of all delays, capacity each; the rest of the block */
uint64_t koine_machine_memory(KoineModel *model, KoineSlot *to, uint64_t n_words);
KoineStatus koine_machine_recall(KoineModel *model, const KoineSlot *from, uint64_t n_words);
KoineStatus koine_begin_delays(Machine *m);   /* the history before the start */
KoineStatus koine_take_up_delays(Machine *m); /* a continued run */
KoineStatus koine_machine_sample(KoineModel *model, double time, const double *x, double *inputs);
KoineStatus koine_machine_remember(KoineModel *model, double time, const double *inputs);
double koine_machine_longest_step(KoineModel *model);

KoinePort koine_machine_state(const KoineModel *model, uint32_t k); /* state_sets.c */

/* partial.c: what a kind has of it; false: no memory. Numbers of the space that an instance needs */
bool koine_partial_begin(MachineKind *kind);
void koine_partial_end(MachineKind *kind);
uint64_t koine_partial_space(const MachineKind *kind);
void koine_set_point(Machine *m, double time, const double *x); /* the block is that of this point */

/* systems.c */
Workspace *koine_workspace_create(const KoineProgram *program);
void koine_workspace_destroy(Workspace *workspace);
KoineStatus koine_solve_system(Machine *m, uint32_t system);
KoineStatus koine_solve_tangent(Machine *m, uint32_t system);
KoineStatus koine_solve_rows(Machine *m, uint32_t system); /* the same; the tangents of its rows are computed */
KoineStatus koine_check_formulas(Machine *m); /* the parameters are known: formulas divide by nothing that is 0 */
void koine_keep_guesses(Machine *m);
void koine_begin_guesses(Machine *m);    /* before the start: the start values */
void koine_forget_solutions(Machine *m); /* the next solution of each system is its first one */

/* calendar.c */
void koine_calendar_put(Machine *m, uint32_t entry, double time, bool late);
void koine_calendar_remove(Machine *m, uint32_t entry);
/* An entry for what happens at `time` itself or, if late, just behind it, where the time rule serves that. */
void koine_calendar_at(Machine *m, uint32_t entry, double time, bool late);

/* time_events.c: comparisons and step functions whose operands depend on the time alone. `owner` as in
 * calendar_owner. */
/* Nothing it reads has changed, and it was not changed itself: it keeps its value. Else a search for the next change
 * begins here. */
bool koine_timed_is_known(Machine *m, uint32_t owner, Pin *p);
void koine_timed_stop(Machine *m, uint32_t owner);   /* its branch is not selected */
void koine_timed_resume(Machine *m, uint32_t owner); /* the search begins anew, the value stays */
void koine_timed_extend(Machine *m, uint32_t entry); /* an entry that is open: further by a piece */
bool koine_timed_is_blind(Machine *m,
                          uint32_t owner); /* it was left because there is no value: decide, do not change */
int64_t koine_timed_direction(const Machine *m, uint32_t step); /* of the crossing found */
void koine_timed_forget(Machine *m);                            /* all of them */

/* sources.c */
uint32_t koine_machine_extremes(KoineModel *model, double from, double to, double *times, uint32_t most);
double koine_machine_look_ahead(KoineModel *model, double until, double *searched);

/* Name of a slot of variable `row` (KOINE_NONE: it has none), with the indices of the element: "x[2,1]". */
void koine_slot_name(const KoineTables *tables, uint32_t row, uint32_t slot, char *to, size_t size);

#endif
