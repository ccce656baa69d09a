/* From a file to an executable model: the few lines that connect languages, passes and tiers.
 *
 * A Compilation owns arena, names, sources, diagnostics, Model, Schedule and Program and lives as long as anyone
 * needs them: a running model, a later tier, a message. Nothing here prints or exits. */
#ifndef DRIVER_COMPILE_H
#define DRIVER_COMPILE_H

#include "base/diag.h"
#include "base/text.h"
#include "ir/given.h"
#include "ir/language.h"
#include "ir/schedule.h"
#include "koine/model.h"
#include "outside/outside.h"

typedef struct { /* by inputs, and of outputs; without a request they are there if the model has Real inputs */
    bool is_wanted;
    const char *const *parameters; /* also by these, and what follows from them; ended by NULL, may be NULL */
    const char *const *variables;  /* also of these */
} DerivativeRequest;

typedef struct {
    const char *path;                 /* of the file */
    const char *class_name;           /* NULL: the one in the file */
    const char *profile;              /* NULL: liberal */
    const Language *const *languages; /* besides the built-in ones, ended by NULL; may be NULL */
    const char *systems;              /* "auto" (also NULL), "torn" ...: see words.h */
    bool split_comparisons;           /* arrays that compare are treated element by element: for tests */
    bool evaluate_parameters;         /* parameters become numbers, but those that the model keeps */
    bool remove_unneeded;             /* only what states, outputs, events and `wanted` need is computed */
    const char *const *wanted;        /* patterns of names, ended by NULL; may be NULL */
    const char *const *versions;      /* of classes, in place of those in use (bank.h); may be NULL */
    const char *task;                 /* what is known and unknown (task.h); NULL: as usual */
    Span task_span;                   /* where it is said; SPAN_NONE: on the command line */
    const char *stop_when;            /* a condition that ends the run (stop.h); NULL: none */
    Span stop_span;
    ExternalPermission external;
    const GivenValue *values; /* that will be set before the model runs (ir/given.h) */
    uint32_t n_values;
    bool allows_modes; /* a model whose structure changes gets a Schedule a mode, see modes.h; else it is refused */
    DerivativeRequest derivatives;
} CompileRequest;

typedef struct { /* others read it */
    Arena *arena;
    Names *names;
    Sources *sources;
    Diag *diag;
    Pool *pool;
    CompileRequest request;
    Model *model;             /* once it is loaded */
    const Schedule *schedule; /* once the passes have run */
    struct Program *program;  /* once it is scheduled */
    struct CompilationTiers *tiers;
    struct ModeSet *modes;        /* NULL: there is one; else schedule and program are those of the first */
    const KoinePort *mode_states; /* of a mode: the states of all modes, where they stand in the tables */
    uint32_t n_mode_states;
    struct Externals *externals;       /* functions of C, once a tier has been asked for */
    volatile const int *interrupt;     /* ends a compiler at work; NULL: nothing does */
    struct ForeignLibraries *foreigns; /* components that Koine does not compute; NULL: there are none */
    /* Called when the passes begin (pass NULL) and after each of them, by name; may be NULL. */
    void (*watch)(void *context, const char *pass);
    void *watch_context;
} Compilation;

Compilation *compilation_create(OutOfMemory out_of_memory);
void compilation_destroy(Compilation *c);

/* Text to Model, Model to Schedule and Program. False: the diagnostics say why. */
bool compilation_load(Compilation *c, const CompileRequest *request);
bool compilation_schedule(Compilation *c);
/* The passes alone, up to `after`; NULL: all. */
bool compilation_run_passes(Compilation *c, const char *after);

/* The model in a tier: "auto", or the name of a row of emit/tiers.h. NULL: *why says why not; where functions of C are
 * missing or may not be executed, so do the diagnostics. Belongs to the compilation. */
const KoineModelKind *compilation_kind(Compilation *c, const char *tier, const char **why);
/* Symbols of functions of C that are loaded: "c_drag, erf"; NULL: there are none. */
const char *compilation_external_symbols(const Compilation *c);
/* A compiler at work is ended when *interrupt becomes non-zero. */
void compilation_interrupt(Compilation *compilation, volatile const int *interrupt);
/* What `auto` did so far, for the statistics; "" for other tiers. */
const char *compilation_tier_note(const Compilation *c);

#endif
