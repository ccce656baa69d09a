/* From a file to an executable model: the few lines that connect languages, passes and tiers.
 *
 * A Compilation owns arena, names, sources, diagnostics, Model, Schedule and Program and lives as long as anyone
 * needs them: a running model, a later tier, a message. Nothing here prints or exits. */
#ifndef DRIVER_COMPILE_H
#define DRIVER_COMPILE_H

#include "base/diag.h"
#include "base/text.h"
#include "ir/language.h"
#include "koine/model.h"

typedef struct Compilation Compilation;

typedef struct {
    const char *name, *value; /* as written */
    bool is_nominal;          /* the usual size of the variable */
    const char *place;        /* "command line", or file and line of an experiment */
} CompileValue;

typedef struct {
    const char *path;                 /* of the file */
    const char *class_name;           /* NULL: the one in the file */
    const char *profile;              /* NULL: liberal */
    const Language *const *languages; /* besides the built-in ones, ended by NULL; may be NULL */
    const char *systems;              /* "auto" (also NULL), "torn" ...: see compilation_systems_name */
    bool evaluate_parameters;         /* parameters become numbers, but those that the model keeps */
    bool remove_unneeded;             /* only what states, outputs, events and `wanted` need is computed */
    const char *const *wanted;        /* patterns of names, ended by NULL; may be NULL */
    const char *const *versions;      /* of classes, in place of those in use (bank.h); may be NULL */
    const char *task;                 /* what is known and unknown (task.h); NULL: as usual */
    Span task_span;                   /* where it is said; SPAN_NONE: on the command line */
    const char *stop_when;            /* a condition that ends the run (stop.h); NULL: none */
    Span stop_span;
    const CompileValue *values; /* that will be set before the model runs (given.h) */
    uint32_t n_values;
} CompileRequest;

Compilation *compilation_create(OutOfMemory out_of_memory);
void compilation_destroy(Compilation *c);
Arena *compilation_arena(const Compilation *c);
Sources *compilation_sources(const Compilation *c);
Diag *compilation_diag(const Compilation *c);

/* `after` is called when the passes begin (pass NULL) and after each of them, by name. */
void compilation_watch(Compilation *c, void (*after)(void *context, const char *pass), void *context);

/* Text to Schedule. False: the diagnostics say why. */
bool compilation_load(Compilation *c, const CompileRequest *request); /* up to the Model */
bool compilation_schedule(Compilation *c);                            /* passes and program */

typedef enum { DUMP_MODEL, DUMP_SHAPES, DUMP_SCHEDULE, DUMP_C } DumpForm;
/* Runs the passes up to `after` (NULL: all; "load": none) and writes the text form. */
bool compilation_dump(Compilation *c, const char *after, DumpForm form, Text *to);
/* How systems of equations are solved: names for CompileRequest.systems; NULL after the last. */
const char *compilation_systems_name(uint32_t k);
/* Names for --after, in order; NULL after the last. */
const char *compilation_pass_name(uint32_t k);
const char *compilation_pass_purpose(uint32_t k);

/* The structure of the loaded model down to `depth` levels. As SVG it may have at most `most` boxes: false if it has
 * more; their number in *n. */
void compilation_structure_text(const Compilation *c, uint32_t depth, Text *to);
bool compilation_structure_svg(const Compilation *c, uint32_t depth, uint32_t most, uint32_t *n, Text *to);

/* Lists of the loaded model (symbols.h); of the text of the file also when it could not be loaded. */
/* Index, states, blocks, comparisons of the scheduled model; all blocks, or systems of equations only. */
void compilation_structure(const Compilation *c, bool has_all_blocks, bool is_json, Text *to);
typedef enum { LIST_SYMBOLS, LIST_CLASSES, LIST_HINTS } ListKind;
void compilation_list(const Compilation *c, ListKind kind, bool is_json, Text *to);
void compilation_listing(const Compilation *c, const char *path, bool has_numbers, bool has_no_messages, Text *to);

/* What stands behind a scheduled model, as JSON (explore.h). EXPLORE_BLOCKS: `first` and `most` of them;
 * EXPLORE_INCIDENCE: `most` cells a side; EXPLORE_VARIABLE: by `name`, false: there is none. */
typedef enum { EXPLORE_COMPONENTS, EXPLORE_VARIABLE, EXPLORE_BLOCKS, EXPLORE_INCIDENCE } ExploreKind;
typedef struct {
    const char *name;
    uint32_t first, most;
} ExploreRequest;
bool compilation_explore(const Compilation *c, ExploreKind kind, const ExploreRequest *request, Text *to);

typedef struct { /* figures of `koine check`; the names are the keys of its JSON */
    const char *model, *language;
    uint64_t variables, equations, states, parameters, aliases, blocks, largest_block, largest_torn, linear_systems,
        nonlinear_systems, formula_systems, root_functions, time_events, transitions, regions, instances, kernels,
        jacobian_entries, jacobian_colours, index, differentiated_equations, dummy_derivatives, state_sets;
    uint64_t bytes; /* memory the compilation holds */
} CompileReport;
CompileReport compilation_report(const Compilation *c);

/* Blocks of a scheduled model (inspect.h): the list of them, and one as it was solved in an instance that had `iterated`
 * and `trace` for its host. False: there is no block of that name. */
typedef struct {
    uint32_t block;
    bool is_initial;
    void *trace;
    void (*iterated)(void *context, const KoineModel *model, const KoineIterate *iterate);
} Inspected;
void compilation_list_starts(const Compilation *c, bool is_json, Text *to);
void compilation_list_blocks(const Compilation *c, bool is_complete, bool is_json, Text *to);
bool compilation_inspected(const Compilation *c, const char *name, Inspected *inspected);
void compilation_inspect(const Compilation *c, const Inspected *inspected, const KoineModel *model, double time,
                         const char *failure, bool is_json, Text *to);

/* The model in a tier: "auto", "interp", "tcc", "cc". NULL: *why says why not. Belongs to the compilation. */
const KoineModelKind *compilation_kind(Compilation *c, const char *tier, const char **why);
/* A compiler at work is ended when *interrupt becomes non-zero. */
void compilation_interrupt(Compilation *compilation, volatile const int *interrupt);
/* What `auto` did so far, for the statistics; "" for other tiers. */
const char *compilation_tier_note(const Compilation *c);
const char *compilation_language_name(uint32_t k); /* NULL after the last */

#endif
