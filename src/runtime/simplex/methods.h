/* The rows of the classic single-step methods in the table of solvers. */
#ifndef KOINE_SIMPLEX_METHODS_H
#define KOINE_SIMPLEX_METHODS_H

#include "runtime/solver.h"

extern const KoineSolverKind koine_solver_simplex_euler, koine_solver_simplex_rk4, koine_solver_simplex_fehlberg,
    koine_solver_simplex_gauss, koine_solver_simplex_bulirsch_stoer, koine_solver_simplex_rosenbrock;

#endif
