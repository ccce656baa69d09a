/* A compiled model in figures. */
#ifndef EXPLAIN_FIGURES_H
#define EXPLAIN_FIGURES_H

#include "ir/schedule.h"

struct Program;

typedef struct { /* figures of `koine check`; the names are the keys of its JSON */
    const char *model, *language;
    uint64_t variables, equations, states, parameters, aliases, blocks, largest_block, largest_torn, linear_systems,
        nonlinear_systems, formula_systems, root_functions, time_events, transitions, regions, instances, kernels,
        jacobian_entries, jacobian_colours, index, differentiated_equations, dummy_derivatives, state_sets;
    uint64_t bytes; /* memory the compilation holds */
} CompileReport;
/* `program` may be NULL, then there are no kernels. */
CompileReport compile_report(const Schedule *schedule, const struct Program *program, const Arena *arena);

#endif
