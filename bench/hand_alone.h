/* The right-hand sides alone, twice: linked into this program, and loaded from a shared object.
 *
 * A call into a module that lies far away costs about a nanosecond more than a near one (its target is harder to
 * predict), as much as the whole arithmetic of a small model. So the near one is compared with the interpreter, which
 * is near, and the far one with compiled models, which are loaded as well. */
#ifndef BENCH_HAND_ALONE_H
#define BENCH_HAND_ALONE_H

#include <stdint.h>

typedef struct {
    uint32_t n;
    const char *const *names; /* of the states in Koine's model; NULL: in the same order */
    const void *parameters;
    int (*slopes)(double t, const double *x, double *dx, const void *parameters); /* 0: good */
} Alone;

typedef enum {
    ALONE_LORENZ,
    ALONE_VAN_DER_POL,
    ALONE_PENDULUMS,
    ALONE_ARM,
    ALONE_BODIES,
    ALONE_HEAT,
    ALONE_LINE,
    ALONE_EXTERNAL,
    ALONE_FUNCTION
} AloneModel;
typedef const Alone *AloneFind(AloneModel model, uint32_t cells); /* cells: of HEAT and LINE */
AloneFind hand_alone;

#endif
