/* What the automatic choice asks of CVODE beyond the interface of solvers. */
#ifndef KOINE_RUNTIME_CVODE_H
#define KOINE_RUNTIME_CVODE_H

#include "runtime/solver.h"

/* Largest row sum of the last Jacobian of cvode-bdf: bounds its eigenvalues. NAN if there is none. */
double koine_cvode_norm(const KoineSolver *solver);

#endif
