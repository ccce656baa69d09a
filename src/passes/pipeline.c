/* The table of passes and the loop over it. */
#include "passes/pipeline.h"
#include "base/bug.h"

/* Name, function, what it needs and gives, whether it is run for the initial system too, purpose. */
const Pass pipeline[] = {
    { "lower-functions", lower_functions, 0, 0, false, "arrays in functions are said by elements" },
    { "evaluate-sizes", evaluate_sizes, 0, FACT_SIZED, false, "dimensions and domains become numbers" },
    { "size-functions", size_functions, FACT_SIZED, 0, false, "functions get the sizes of their arguments" },
    { "lower-free", lower_free, FACT_SIZED, 0, false, "parameters that the start determines are variables" },
    { "lower-arrays", lower_arrays, FACT_SIZED, 0, false, "arrays in terms are said by elements" },
    { "lower-last", lower_last, 0, 0, false, "values at the last accepted step are variables" },
    { "lower-partitions", lower_partitions, 0, 0, false, "equations of a clock hold in the steps of its ticks" },
    { "lower-procedures", lower_procedures, 0, 0, false, "statements in order become assignments that hold at once" },
    { "lower-ticks", lower_ticks, 0, 0, false, "clocks become comparisons with the time" },
    { "lower-triggers", lower_triggers, 0, 0, false, "transitions of the start, of steps and entries become edges" },
    { "lower-channels", lower_channels, 0, 0, false, "transitions of messages ask for the head of a channel" },
    { "lower-pulses", lower_pulses, 0, 0, false, "what holds for one step only is a value and a count" },
    { "lower-terminal", lower_terminal, 0, 0, false, "transitions of the end are edges" },
    { "lower-assertions", lower_assertions, 0, 0, false, "assertions become transitions" },
    { "fill-definitions", fill_definitions, 0, FACT_DEFINED, false, "how each variable gets its value" },
    { "apply-task", apply_task, FACT_DEFINED, 0, false, "what the task makes known and unknown" },
    { "lower-delays", lower_delays, FACT_DEFINED, FACT_DELAYS, false, "inputs of delays become equations" },
    { "lower-foreigns", lower_foreigns, FACT_DEFINED, 0, false,
      "what foreign components give is defined by equations" },
    { "order-model", order_model, FACT_DELAYS, FACT_ORDERED, false, "canonical order, independent of the text's" },
    { "number-objects", number_objects, FACT_ORDERED, 0, false, "each external object has a constructor of its own" },
    { "expand-connections", expand_connections, FACT_ORDERED, FACT_CONNECTED, false, "connections become equations" },
    { "decide-regions", decide_regions, FACT_CONNECTED, 0, false,
      "branches whose conditions are known before the run" },
    { "split-arrays", split_arrays, FACT_CONNECTED, FACT_SPLIT, false, "arrays that need it become scalars" },
    { "solve-whens", solve_whens, FACT_SPLIT, FACT_SOLVED, false, "when equations are solved for what they set" },
    { "evaluate-parameters", evaluate_parameters, FACT_SOLVED, 0, false,
      "constants, and parameters on demand, as numbers" },
    { "fold-constants", fold_constants, FACT_SOLVED, FACT_FOLDED, false, "simplify every term" },
    { "eliminate-aliases", eliminate_aliases, FACT_FOLDED, FACT_ALIAS_FREE, false, "v = w and v = -w share one place" },
    { "fix-starts", fix_starts, FACT_ALIAS_FREE, 0, false, "fixed starts of what is no state are initial equations" },
    { "find-events", find_events, FACT_ALIAS_FREE, FACT_EVENTS, false,
      "comparisons become root functions or time events" },
    { "carry-rests", carry_rests, FACT_EVENTS, 0, false, "times that are sums lose nothing by rounding" },
    { "merge-regions", merge_regions, FACT_EVENTS, FACT_MERGED, false, "branches become selectors" },
    { "lower-whens", lower_whens, FACT_MERGED, FACT_WHEN_FREE, false,
      "conditions get names, when equations become equations" },
    { "fix-modes", fix_modes, FACT_WHEN_FREE, 0, false, "choices that change the structure have the values of a mode" },
    { "find-constraints", find_constraints, FACT_WHEN_FREE, 0, false, "sums of equations between states alone" },
    { "reduce-index", reduce_index, FACT_WHEN_FREE, FACT_REDUCED, false,
      "constraints between states are differentiated" },
    { "lower-homotopy", lower_homotopy, FACT_REDUCED, 0, false, "simplified expressions serve the start only" },
    { "match-equations", match_equations, FACT_REDUCED, FACT_MATCHED, true, "every unknown gets its equation" },
    { "sort-blocks", sort_blocks, FACT_MATCHED, FACT_SORTED, true, "blocks in the order of computation" },
    { "find-joints", find_joints, FACT_SORTED, 0, false, "comparisons on whose borders both sides agree" },
    { "check-branches", check_branches, FACT_SORTED, FACT_REGULAR, false, "equations with branches, for all choices" },
    { "check-systems", check_systems, FACT_SORTED, 0, true, "systems that are singular whatever the parameters" },
    { "remove-unneeded", remove_unneeded, FACT_SORTED, 0, false, "on demand: only what states and outputs need" },
    { "tear-systems", tear_systems, FACT_REGULAR, FACT_TORN, true, "few unknowns of a system are iterated" },
    { "solve-small", solve_small, FACT_TORN, 0, true, "formulas for small linear systems" },
    { "build-parts", build_parts, FACT_TORN, FACT_PARTS, false, "what each purpose needs" },
    { "build-initial", build_initial, FACT_PARTS, 0, false, "the initial system, when there are initial equations" },
    { "build-jacobian", build_jacobian, FACT_PARTS, 0, false, "sparsity and colours" },
    { "build-ports", build_ports, FACT_PARTS, 0, false, "what depends on inputs, and outputs on what" },
};

uint32_t pipeline_count(void)
{
    return sizeof pipeline / sizeof pipeline[0];
}

bool run_pipeline(Compile *c, bool (*after)(void *context, const Compile *c, const Pass *pass), void *context)
{
    for (uint32_t k = 0; k < pipeline_count(); k++) {
        const Pass *pass = &pipeline[k];
        REQUIRE((c->model->facts & pass->needs) == pass->needs);
        c->scratch = arena_create_like(c->arena);
        const bool good = pass->run(c) && diag_errors(c->diag) == 0;
        arena_destroy(c->scratch);
        c->scratch = NULL;
        if (!good)
            return false;
        c->model->facts |= pass->gives;
        if (after && !after(context, c, pass))
            return true;
    }
    return true;
}

bool run_initial_pipeline(Compile *c)
{
    for (uint32_t k = 0; k < pipeline_count(); k++)
        if (pipeline[k].is_for_initial && !pipeline[k].run(c))
            return false;
    return true;
}
