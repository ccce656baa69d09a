/* Rows of solvers that a runtime was built without: who asks for one is told what is missing. */
#ifndef KOINE_RUNTIME_ABSENT_H
#define KOINE_RUNTIME_ABSENT_H

#include "runtime/solver.h"

/* For KoineSolverKind.create: there is none. */
KoineStatus koine_absent_create(const KoineProblem *problem, KoineSolver **solver);

#define KOINE_ABSENT_SOLVER(variable, text_name)                                                                       \
    const KoineSolverKind koine_solver_##variable = { .name = text_name,                                               \
                                                      .description = "not here: it needs SUNDIALS",                    \
                                                      .create = koine_absent_create }

#endif
