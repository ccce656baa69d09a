/* The table of passes and the loop over it. */
#include "passes/pipeline.h"
#include "base/bug.h"

const Pass pipeline[] = {
    { "reject-unsupported", reject_unsupported, 0, FACT_SUPPORTED, 0, "refuse elements this version does not execute" },
    { "fill-definitions", fill_definitions, FACT_SUPPORTED, FACT_DEFINED, 0, "how each variable gets its value" },
    { "apply-task", apply_task, FACT_DEFINED, 0, 0, "what the task makes known and unknown" },
    { "lower-delays", lower_delays, FACT_DEFINED, FACT_DELAYS, 0, "inputs of delays become equations" },
    { "evaluate-sizes", evaluate_sizes, FACT_DELAYS, FACT_SIZED, 0, "dimensions and domains become numbers" },
    { "order-model", order_model, FACT_SIZED, FACT_ORDERED, 0, "canonical order, independent of the text's" },
    { "expand-connections", expand_connections, FACT_ORDERED, FACT_CONNECTED, 0, "connections become equations" },
    { "split-arrays", split_arrays, FACT_CONNECTED, FACT_SPLIT, 0, "arrays that need it become scalars" },
    { "solve-whens", solve_whens, FACT_SPLIT, FACT_SOLVED, 0, "when equations are solved for what they set" },
    { "evaluate-parameters", evaluate_parameters, FACT_SOLVED, 0, 0,
      "constants, and parameters on demand, as numbers" },
    { "fold-constants", fold_constants, FACT_SOLVED, FACT_FOLDED, 0, "simplify every term" },
    { "eliminate-aliases", eliminate_aliases, FACT_FOLDED, FACT_ALIAS_FREE, 0, "v = w and v = -w share one place" },
    { "find-events", find_events, FACT_ALIAS_FREE, FACT_EVENTS, 0, "comparisons become root functions or time events" },
    { "carry-rests", carry_rests, FACT_EVENTS, 0, 0, "times that are sums lose nothing by rounding" },
    { "merge-regions", merge_regions, FACT_EVENTS, FACT_MERGED, 0, "branches become selectors" },
    { "lower-whens", lower_whens, FACT_MERGED, FACT_WHEN_FREE, 0,
      "conditions get names, when equations become equations" },
    { "find-constraints", find_constraints, FACT_WHEN_FREE, 0, 0, "sums of equations between states alone" },
    { "reduce-index", reduce_index, FACT_WHEN_FREE, FACT_REDUCED, 0, "constraints between states are differentiated" },
    { "lower-homotopy", lower_homotopy, FACT_REDUCED, 0, 0, "simplified expressions serve the start only" },
    { "match-equations", match_equations, FACT_REDUCED, FACT_MATCHED, 0, "every unknown gets its equation" },
    { "sort-blocks", sort_blocks, FACT_MATCHED, FACT_SORTED, 0, "blocks in the order of computation" },
    { "find-joints", find_joints, FACT_SORTED, 0, 0, "comparisons on whose borders both sides agree" },
    { "check-branches", check_branches, FACT_SORTED, FACT_REGULAR, 0, "equations with branches, for all choices" },
    { "check-systems", check_systems, FACT_SORTED, 0, 0, "systems that are singular whatever the parameters" },
    { "remove-unneeded", remove_unneeded, FACT_SORTED, 0, 0, "on demand: only what states and outputs need" },
    { "tear-systems", tear_systems, FACT_REGULAR, FACT_TORN, 0, "few unknowns of a system are iterated" },
    { "solve-small", solve_small, FACT_TORN, 0, 0, "formulas for small linear systems" },
    { "build-parts", build_parts, FACT_TORN, FACT_PARTS, 0, "what each purpose needs" },
    { "build-initial", build_initial, FACT_PARTS, FACT_INITIAL, 0,
      "the initial system, when there are initial equations" },
    { "build-jacobian", build_jacobian, FACT_PARTS, FACT_JACOBIAN, 0, "sparsity and colours" },
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
        c->model->facts = (c->model->facts | pass->gives) & ~pass->breaks;
        if (after && !after(context, c, pass))
            return true;
    }
    return true;
}
