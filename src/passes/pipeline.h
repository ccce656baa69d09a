/* The passes: one file each, one function each; pipeline.c is the table of their order and of what
 * they need and give. Names after `koine dump --after` are those of the table. */
#ifndef PASSES_PIPELINE_H
#define PASSES_PIPELINE_H

#include "base/diag.h"
#include "ir/schedule.h"

/* What holds for a Model, in the order in which passes bring it about. */
enum {
    FACT_DEFINED = 1 << 0,    /* every variable says how it gets its value */
    FACT_DELAYS = 1 << 1,     /* inputs and amounts of delays are variables */
    FACT_SIZED = 1 << 2,      /* dimensions and domains are numbers */
    FACT_ORDERED = 1 << 3,    /* variables, equations, regions, transitions in canonical order */
    FACT_CONNECTED = 1 << 4,  /* connections are equations */
    FACT_SPLIT = 1 << 5,      /* arrays that events and branches touch are scalars, reductions are written out */
    FACT_SOLVED = 1 << 6,     /* no equation holds in the steps of a transition only: they are assignments of it */
    FACT_FOLDED = 1 << 7,     /* constants folded */
    FACT_ALIAS_FREE = 1 << 8, /* no equation v = w or v = -w is left */
    FACT_EVENTS = 1 << 9,     /* every comparison that can change between events is a relation */
    FACT_MERGED = 1 << 10,    /* one equation a variable: regions became selectors */
    FACT_WHEN_FREE = 1 << 11, /* transitions have effect NEXT only */
    FACT_REDUCED = 1 << 12,   /* equations between states are differentiated */
    FACT_MATCHED = 1 << 13,   /* every unknown has its equation */
    FACT_SORTED = 1 << 14,    /* blocks exist, in topological order */
    FACT_REGULAR = 1 << 15,   /* no equation alone lacks its unknown in a branch */
    FACT_TORN = 1 << 16,      /* systems have explicit rows and residuals */
    FACT_PARTS = 1 << 17      /* parts exist */
};

/* AUTO: torn, small linear ones by formulas where nothing can vanish that is divided by; TORN: no formulas; WHOLE: all
 * unknowns are solved for together; SYMBOLIC: formulas wherever they can be written down */
typedef enum { SYSTEMS_AUTO, SYSTEMS_TORN, SYSTEMS_WHOLE, SYSTEMS_SYMBOLIC } SystemsChoice;

typedef struct { /* what reduce-index did; all 0: nothing */
    uint32_t index, n_differentiated;
} Reduced;

typedef struct { /* a choice that changes the structure: selector, bit or Boolean; and what it is in a mode */
    VarId var;
    int64_t value;
} FixedChoice;

typedef struct {
    const FixedChoice *fixed; /* by fix-modes; none: the model has one Schedule */
    uint32_t n_fixed;
    bool is_mode;     /* this is one of several Schedules, even if nothing is fixed in it */
    bool may_ask;     /* check-branches asks for choices to be fixed where it would refuse the model */
    VEC(VarId) asked; /* then the passes end without a message */
    /* With may_ask: combinations in which a system is singular, one behind the other, and where each ends. */
    VEC(FixedChoice) excluded;
    VEC(uint32_t) excluded_end;
    VEC(VarId) states;    /* of all modes: variables under der, before the index is reduced */
    uint32_t n_variables; /* that all modes have */
} ModeChoices;

typedef struct {    /* which derivatives are wanted, beside those by the states */
    bool is_wanted; /* by inputs and of outputs; else they are there if the model has Real inputs */
    /* Besides those at the top: by these inputs and parameters, of these variables; NULL: no others. */
    bool (*is_input)(void *context, const Model *model, VarId var);
    bool (*is_output)(void *context, const Model *model, VarId var);
    void *context;
} PortWish;

typedef struct {
    Model *model;
    Schedule *schedule; /* made by sort-blocks */
    uint32_t *matched;  /* match-equations: per equation the index of its unknown in `unknowns`, or ID_NONE */
    VEC(Ref) unknowns;
    Arena *arena;
    Arena *scratch; /* of the pass that runs */
    Diag *diag;
    Reduced reduced;
    bool has_pulses;           /* seen by lower-partitions, the first that looks at all variables */
    uint8_t systems;           /* SystemsChoice */
    bool splits_comparisons;   /* split-arrays: also arrays that could keep their comparisons; for tests */
    bool evaluates_parameters; /* evaluate-parameters: all but those that are to be kept */
    bool removes_unneeded;     /* remove-unneeded: what neither states, outputs, events nor `wants` need */
    bool (*wants)(void *context, const Model *model, VarId var); /* may be NULL: no more than the outputs */
    void *wants_context;
    PortWish ports;
    ModeChoices modes;
    bool is_initial; /* the initial system is matched and sorted, not the run's */
} Compile;

void number_streams(Compile *c); /* part of fill-definitions */
bool lower_functions(Compile *c);
bool size_functions(Compile *c);
bool lower_arrays(Compile *c);
bool lower_free(Compile *c);
bool lower_last(Compile *c);
bool lower_partitions(Compile *c);
bool lower_procedures(Compile *c);
bool lower_ticks(Compile *c);
bool lower_triggers(Compile *c);
bool lower_channels(Compile *c);
bool lower_pulses(Compile *c);
bool lower_terminal(Compile *c);
bool lower_assertions(Compile *c);
void check_texts(Compile *c);     /* texts of what moves are refused; part of fill-definitions */
void check_functions(Compile *c); /* what functions have that cannot be executed; part of fill-definitions */
bool fill_definitions(Compile *c);
bool apply_task(Compile *c);
bool lower_delays(Compile *c);
bool lower_foreigns(Compile *c);
bool evaluate_sizes(Compile *c);
bool order_model(Compile *c);
bool number_objects(Compile *c);
bool expand_connections(Compile *c);
bool decide_regions(Compile *c);
bool solve_whens(Compile *c);
bool split_arrays(Compile *c);
bool evaluate_parameters(Compile *c);
bool fold_constants(Compile *c);
bool eliminate_aliases(Compile *c);
bool fix_starts(Compile *c);
bool lower_whens(Compile *c);
bool find_events(Compile *c);
bool carry_rests(Compile *c);
void merge_residuals(Compile *c); /* part of merge-regions */
bool merge_regions(Compile *c);
bool fix_modes(Compile *c);
bool find_constraints(Compile *c);
bool reduce_index(Compile *c);
bool lower_homotopy(Compile *c);
bool match_equations(Compile *c);
bool sort_blocks(Compile *c);
bool find_joints(Compile *c);
bool check_systems(Compile *c);
bool check_branches(Compile *c);
bool tear_systems(Compile *c);
bool solve_small(Compile *c);
bool remove_unneeded(Compile *c);
bool build_parts(Compile *c);
bool build_jacobian(Compile *c);
bool build_ports(Compile *c);
bool build_initial(Compile *c);

typedef struct {
    const char *name;
    bool (*run)(Compile *c);
    uint32_t needs, gives; /* FACT_ bits */
    bool is_for_initial;   /* build-initial runs it for the initial system, too */
    const char *purpose;
} Pass;

extern const Pass pipeline[];
uint32_t pipeline_count(void);

/* Runs the passes in order. `after` (may be NULL) is called after each with its name; it returns false to stop
 * there without error. False: already reported. */
bool run_pipeline(Compile *c, bool (*after)(void *context, const Compile *c, const Pass *pass), void *context);

/* Runs the passes that are for the initial system, in the same order and in the memory of the pass that runs. */
bool run_initial_pipeline(Compile *c);

#endif
