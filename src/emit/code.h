/* Code: the arithmetic of a Schedule, ready for a tier.
 *
 * A kernel is a list of expressions over numbered leaves without any index left in it: leaf k of a
 * row is slot row[n_outputs + k] of the block, output k goes to slot row[k]. All outputs are
 * computed from the leaves as they were before (outputs never overlap leaves of the same kernel).
 * A run executes a kernel over n elements: by table (row after row, kernel->width numbers each) or,
 * when strides are given, affine: element i uses row[j] + i*strides[j] of its single row.
 * An iterator inside a kernel (EXPR_ITERATOR, level 0) has the value
 * (int32_t)row[width] + i*iterator_stride; the row then has one number more.
 * A section is a list of runs in order. */
#ifndef EMIT_CODE_H
#define EMIT_CODE_H

#include "ir/expr.h"
#include "koine/support.h"

enum { KERNEL_OUTPUTS = 16 };
typedef struct {
    uint32_t n_outputs, n_leaves, width; /* width = n_outputs + n_leaves */
    const Expr *const *outputs;          /* types: Real -> slot.r, all others -> slot.i */
    const int32_t *strides;              /* width entries, NULL: by table */
    bool has_iterator;
    int32_t iterator_stride;
    bool has_calls;      /* of functions: elements one by one, in order */
    bool is_shared;      /* some run has n > 1 or an event node calls it: emit a function of its own */
    const char *comment; /* "Ball.mdl:29: der(V) := G" or NULL: the (first) equation it was made of */
} Kernel;

typedef struct {
    uint32_t kernel;
    uint32_t row; /* first number in code->rows */
    uint32_t n;
    const char *comment; /* "Ball.mdl:29" or NULL: where the (first) equation stands */
} Run;

typedef struct {
    const char *name; /* "derivatives", "roots", ... a C identifier, unique */
    uint32_t first_run, n_runs;
} Section;

typedef struct {
    Pool *pool;
    const char *model_name;
    uint32_t n_kernels, n_runs, n_sections, n_rows, n_slots;
    const Kernel *kernels;
    const Run *runs;
    const Section *sections;
    const uint32_t *rows;
    const char *const
        *slot_names; /* n_slots: path of the variable that lives there ("Integ.Z", "der(Y)"), NULL: none */
    uint32_t n_routines;
    const struct Routine *const *routines; /* of all functions that are called, also by each other */
    uint32_t calls;                        /* slot of ROUTINE_CALL_SLOTS for them, KOINE_NONE: no calls */
    const struct Literals *literals;       /* numbers of the texts in expressions, see texts.h; NULL: there are none */
    uint32_t derivatives_section;          /* the derivatives part is exactly this section, else KOINE_NONE */
} Code;

/* ---- what tiers load (the table is tiers.h) ---- */
typedef struct Executable Executable; /* loaded code; owns what it needs */

/* NULL: not possible; *why says so in one line (no compiler, compiler's own message, ...). */
Executable *interp_load(const Code *code, const char **why, Arena *why_arena);
Executable *tcc_load(const Code *code, const char **why, Arena *why_arena);
Executable *cc_load(const Code *code, const char **why, Arena *why_arena);
/* The same, given up when *interrupt becomes non-zero; it may be NULL. */
Executable *cc_load_until(const Code *code, volatile const int *interrupt, const char **why, Arena *why_arena);
const KoineCode *executable_code(const Executable *executable);
void executable_destroy(Executable *executable);

#endif
