/* A compiled model in figures. */
#ifndef EXPLAIN_FIGURES_H
#define EXPLAIN_FIGURES_H

#include "base/text.h"
#include "ir/schedule.h"

struct Program;

/* A row for each figure: its field, which is its key in the JSON, and what it is called for people. */
#define COMPILE_FIGURES(FIGURE)                                                                                        \
    FIGURE(variables, "variables")                                                                                     \
    FIGURE(equations, "equations")                                                                                     \
    FIGURE(states, "continuous states")                                                                                \
    FIGURE(parameters, "parameters")                                                                                   \
    FIGURE(aliases, "aliases removed")                                                                                 \
    FIGURE(blocks, "blocks")                                                                                           \
    FIGURE(largest_block, "largest block")                                                                             \
    FIGURE(largest_torn, "after tearing")                                                                              \
    FIGURE(linear_systems, "linear systems")                                                                           \
    FIGURE(nonlinear_systems, "nonlinear systems")                                                                     \
    FIGURE(formula_systems, "solved by formulas")                                                                      \
    FIGURE(index, "index")                                                                                             \
    FIGURE(differentiated_equations, "differentiations")                                                               \
    FIGURE(dummy_derivatives, "dummy derivatives")                                                                     \
    FIGURE(state_sets, "state sets")                                                                                   \
    FIGURE(root_functions, "root functions")                                                                           \
    FIGURE(time_events, "time events")                                                                                 \
    FIGURE(transitions, "transitions")                                                                                 \
    FIGURE(regions, "regions")                                                                                         \
    FIGURE(instances, "instances")                                                                                     \
    FIGURE(kernels, "kernels")                                                                                         \
    FIGURE(jacobian_entries, "Jacobian entries")                                                                       \
    FIGURE(jacobian_colours, "Jacobian colours")                                                                       \
    FIGURE(bytes, "bytes of memory")

typedef struct {
    const char *model, *language;
#define FIGURE_FIELD(name, title) uint64_t name;
    COMPILE_FIGURES(FIGURE_FIELD) /* `bytes` are those that the compilation holds */
#undef FIGURE_FIELD
} CompileReport;
/* `program` may be NULL, then there are no kernels. */
CompileReport compile_report(const Schedule *schedule, const struct Program *program, const Arena *arena);
void figures_text(const CompileReport *report, Text *text);
void figures_json(const CompileReport *report, Text *text); /* an object of the figures alone */

#endif
