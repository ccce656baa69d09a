/* What functions have that cannot be executed is told by name. Part of fill-definitions. */
#include "ir/routine.h"
#include "passes/pipeline.h"

void check_functions(Compile *c)
{
    const Model *m = c->model;
    for (uint32_t k = 0; k < m->functions.n; k++) {
        Span where;
        const char *obstacle = function_obstacle(m->functions.at[k], &where);
        if (obstacle)
            diag_error(c->diag, DIAG_FUNCTION_FORM, where, "function %s cannot be executed: it has %s",
                       names_of(pool_names(m->pool), m->functions.at[k]->name), obstacle);
    }
}
