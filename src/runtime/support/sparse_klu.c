/* Sparse factors by KLU; see sparse.h. */
#include "sparse.h"

#ifndef KOINE_WITHOUT_KLU
#include <klu.h>
#include <stdlib.h>

struct SparsePlan {
    klu_common common;
    klu_symbolic *symbolic; /* NULL: singular by structure, every factorisation will say so */
};

static klu_numeric *numeric_of(SparseFactors *factors)
{
    return (klu_numeric *)(void *)factors;
}

static void forget_plan(SparsePlan *plan)
{
    if (!plan)
        return;
    klu_free_symbolic(&plan->symbolic, &plan->common);
    free(plan);
}

static SparsePlan *make_plan(const SparseMatrix *a, double tolerance)
{
    SparsePlan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    klu_defaults(&plan->common);
    plan->common.tol = tolerance;
    plan->symbolic = klu_analyze(a->n, a->start, a->index, &plan->common);
    if (plan->symbolic || plan->common.status == KLU_SINGULAR)
        return plan;
    forget_plan(plan);
    return NULL;
}

static void forget(SparsePlan *plan, SparseFactors *factors)
{
    klu_numeric *numeric = numeric_of(factors);
    klu_free_numeric(&numeric, &plan->common);
}

static SparseStatus factor(SparsePlan *plan, const SparseMatrix *a, SparseFactors **factors)
{
    forget(plan, *factors);
    *factors = NULL;
    if (!plan->symbolic)
        return SPARSE_SINGULAR;
    klu_numeric *numeric = klu_factor(a->start, a->index, a->values, plan->symbolic, &plan->common);
    if (numeric && plan->common.status == KLU_OK) {
        *factors = (SparseFactors *)(void *)numeric;
        return SPARSE_GOOD;
    }
    const bool is_out_of_memory = plan->common.status == KLU_OUT_OF_MEMORY;
    klu_free_numeric(&numeric, &plan->common);
    return is_out_of_memory ? SPARSE_NO_MEMORY : SPARSE_SINGULAR;
}

static bool refactor(SparsePlan *plan, const SparseMatrix *a, SparseFactors *factors, double least_growth)
{
    klu_common *common = &plan->common;
    return klu_refactor(a->start, a->index, a->values, plan->symbolic, numeric_of(factors), common) &&
           common->status == KLU_OK &&
           klu_rgrowth(a->start, a->index, a->values, plan->symbolic, numeric_of(factors), common) &&
           common->rgrowth > least_growth;
}

static void solve(SparsePlan *plan, SparseFactors *factors, double *b)
{
    klu_solve(plan->symbolic, numeric_of(factors), plan->symbolic->n, 1, b, &plan->common);
}

static SparsePivots pivots(const SparsePlan *plan, const SparseFactors *factors)
{
    const klu_numeric *numeric = (const klu_numeric *)(const void *)factors;
    return (SparsePivots){ numeric->Udiag, numeric->Rs, numeric->Pnum, plan->symbolic->Q };
}

const SparseMethod koine_sparse_klu = { make_plan, forget_plan, factor, refactor, solve, pivots, forget };
#endif
