/* The implicit ones of the classic methods in a runtime that was built without SUNDIALS. */
#include "runtime/absent.h"
#include "runtime/simplex/methods.h"

#ifdef KOINE_WITHOUT_SUNDIALS
KOINE_ABSENT_SOLVER(simplex_gauss, "simplex-gauss");
KOINE_ABSENT_SOLVER(simplex_rosenbrock, "simplex-rosenbrock");
#endif
