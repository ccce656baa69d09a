/* Serial vectors of SUNDIALS with faster operations. */
#ifndef KOINE_RUNTIME_VECTORS_H
#define KOINE_RUNTIME_VECTORS_H

#include <sundials/sundials_nvector.h>

/* All vectors that the solver clones from a serial one have its operations. */
void koine_vectors_lean(N_Vector vector);

#endif
