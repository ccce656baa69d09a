/* V18: an external object is made once, where the run begins, and nothing else becomes of it: what holds one is a
 * scalar parameter, and a constructor or another such parameter says which one. */
#include "ir/external.h"
#include "ir/verify_checks.h"

static void report(Verifier *v, const Variable *var, const char *what)
{
    REPORT(v, DIAG_OBJECT_USE, var->span, "'%s' is an external object, and %s",
           names_of(pool_names(v->model->pool), var->name), what);
    diag_help(v->diag, "write it as a parameter that a constructor makes: param t Table = open_table(\"file\")");
}

static bool is_made(Term binding)
{
    if (term_is_absent(binding))
        return false;
    return binding.shape->kind == EXPR_LEAF ||
           (binding.shape->kind == EXPR_FUNCTION && function_is_constructor(binding.shape->u.function));
}

void verify_object(Verifier *v, const Variable *var)
{
    if (var->type.kind != TYPE_OBJECT)
        return;
    if (var->type.rank > 0)
        report(v, var, "an array of them is nothing that there is");
    else if (var->variability != VARIABILITY_PARAMETER ||
             (var->definition != DEFINITION_BINDING && var->definition != DEFINITION_NONE))
        report(v, var, "does not stay the same while a run lasts");
    else if (var->causality == CAUSALITY_INPUT || var->causality == CAUSALITY_OUTPUT)
        report(v, var, "cannot go into the model or out of it");
    else if (!is_made(var->binding))
        report(v, var, "no constructor makes it");
}
