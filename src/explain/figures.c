/* Counting what a compiled model consists of, and the figures as text and JSON; see figures.h. */
#include "explain/figures.h"
#include "emit/program.h"

/* An unknown that is no derivative: with one the index is at least 1. */
static bool is_algebraic(const Variable *v)
{
    return v->definition == DEFINITION_NOW && v->variability == VARIABILITY_CONTINUOUS && var_is_none(v->alias) &&
           !v->is_generated;
}

CompileReport compile_report(const Schedule *s, const Program *program, const Arena *arena)
{
    const Model *m = s->model;
    CompileReport r = { .model = names_of(pool_names(m->pool), m->name),
                        .language = m->language,
                        .equations = s->figures.n_equations,
                        .aliases = s->figures.n_aliases,
                        .blocks = s->blocks.n,
                        .largest_block = s->figures.largest_block,
                        .root_functions = s->figures.n_roots,
                        .time_events = s->figures.n_calendar,
                        .transitions = m->transitions.n,
                        .regions = m->regions.n,
                        .instances = m->instances.n,
                        .index = s->figures.index,
                        .differentiated_equations = s->figures.n_differentiated,
                        .dummy_derivatives = s->figures.n_differentiated, /* one for each equation that was added */
                        .bytes = arena_bytes(arena) };
    for (uint32_t k = 0; k < m->variables.n; k++) {
        r.variables += !m->variables.at[k].is_generated;
        /* names of passes begin with $ */
        r.parameters += m->variables.at[k].definition == DEFINITION_BINDING && !m->variables.at[k].is_generated &&
                        names_of(pool_names(m->pool), m->variables.at[k].name)[0] != '$';
        r.index |= is_algebraic(&m->variables.at[k]) && s->figures.index == 0;
    }
    for (uint32_t k = 0; k < m->state_sets.n; k++)
        r.state_sets += state_set_is_chosen(&m->state_sets.at[k]);
    for (uint32_t k = 0; k < s->states.n; k++)
        r.states += variable_count(m, s->states.at[k]);
    for (uint32_t k = 0; k < s->blocks.n; k++) {
        const Block *b = &s->blocks.at[k];
        const bool is_system = b->kind == BLOCK_LINEAR || b->kind == BLOCK_NEWTON;
        const uint32_t torn =
            is_system ? block_rows(b).n_rows - block_rows(b).n_inner : block_solved(b).n_rows - block_solved(b).n_inner;
        r.largest_torn = torn > r.largest_torn ? torn : r.largest_torn;
        r.formula_systems += block_solved(b).n_rows > 0;
        r.linear_systems += s->blocks.at[k].kind == BLOCK_LINEAR;
        r.nonlinear_systems += s->blocks.at[k].kind == BLOCK_NEWTON || s->blocks.at[k].kind == BLOCK_ITERATE;
    }
    if (s->has_jacobian) {
        r.jacobian_entries = s->jacobian.start[s->jacobian.n];
        r.jacobian_colours = s->jacobian.n_colours;
    }
    if (program)
        r.kernels = program_code(program)->n_kernels;
    return r;
}

void figures_text(const CompileReport *report, Text *text)
{
    text_format(text, "%-18s %s\n%-18s %s\n", "model", report->model, "language", report->language);
#define FIGURE_LINE(name, title) text_format(text, "%-18s %llu\n", title, (unsigned long long)report->name);
    COMPILE_FIGURES(FIGURE_LINE)
#undef FIGURE_LINE
}

void figures_json(const CompileReport *report, Text *text)
{
    const char *between = "{";
#define FIGURE_KEY(name, title)                                                                                        \
    text_format(text, "%s\"%s\":%llu", between, #name, (unsigned long long)report->name);                              \
    between = ",";
    COMPILE_FIGURES(FIGURE_KEY)
#undef FIGURE_KEY
    text_char(text, '}');
}
