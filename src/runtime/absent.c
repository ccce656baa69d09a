/* A runtime that was built without SUNDIALS; see absent.h. */
#include "runtime/absent.h"

#ifdef KOINE_WITHOUT_SUNDIALS
#include "runtime/cvode.h"
#include <stdio.h>

KoineStatus koine_absent_create(const KoineProblem *problem, KoineSolver **solver)
{
    *solver = NULL;
    snprintf(problem->text, problem->text_size,
             "this runtime was built without SUNDIALS; dopri5, dop853, rk4 and others need nothing");
    return KOINE_FAILED;
}

double koine_cvode_norm(const KoineSolver *solver)
{
    (void)solver;
    return NAN;
}

KOINE_ABSENT_SOLVER(cvode_bdf, "cvode-bdf");
KOINE_ABSENT_SOLVER(cvode_adams, "cvode-adams");
KOINE_ABSENT_SOLVER(ida, "ida");
KOINE_ABSENT_SOLVER(arkode_erk, "arkode-erk");
KOINE_ABSENT_SOLVER(arkode_dirk, "arkode-dirk");
#endif
