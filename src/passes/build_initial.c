/* build-initial: the initial system, matched and sorted like the run's, when the model has initial equations. */
#include "passes/pipeline.h"

bool build_initial(Compile *c)
{
    const Model *m = c->model;
    bool any = false;
    for (uint32_t k = 0; k < m->equations.n && !any; k++)
        any = m->equations.at[k].when_valid == VALID_INITIAL_ONLY && m->equations.at[k].kind != EQUATION_DROPPED;
    for (uint32_t k = 0; k < m->variables.n && !any; k++)
        any = m->variables.at[k].is_free;
    if (!any)
        return true;
    Compile initial = { .model = c->model,
                        .arena = c->arena,
                        .scratch = c->scratch,
                        .diag = c->diag,
                        .systems = c->systems,
                        .is_initial = true };
    if (!run_initial_pipeline(&initial))
        return false;
    c->schedule->initial = initial.schedule;
    return true;
}
