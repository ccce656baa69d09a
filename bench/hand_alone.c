#include "hand_alone.h"
#include "hand_slopes.h"
#include "models/external_drag.h"
#include <stddef.h>

/* As a C function of a model it is called, not written out. */
__attribute__((noinline)) static double drag(double v, double k)
{
    return external_drag(v, k);
}

static int external_slopes(double t, const double *x, double *dx, const void *parameters)
{
    (void)t;
    dx[0] = x[1];
    dx[1] = drag(x[1], *(const double *)parameters) - x[0];
    return 0;
}

__attribute__((visibility("default"))) const Alone *hand_alone(AloneModel model, uint32_t cells)
{
    static Heat heat;
    static Line line;
    static Alone many;
    static const char *const lorenz_names[] = { "X", "Y", "Z" }, *const van_der_pol_names[] = { "X", "V" };
    static const Alone small_lorenz = { 3, lorenz_names, &lorenz, lorenz_slopes },
                       small_van_der_pol = { 2, van_der_pol_names, &van_der_pol, van_der_pol_slopes };
    static const char *const pendulums_names[] = { "a", "b", "u", "v" };
    static const char *const arm_names[] = { "q1", "q2", "q3", "q4", "q5", "q6", "w1", "w2", "w3", "w4", "w5", "w6" };
    static const Alone small_pendulums = { 4, pendulums_names, &pendulums, pendulums_slopes },
                       small_arm = { 12, arm_names, &arm, arm_slopes };
    static const char *const external_names[] = { "x", "v" };
    static const double external_k = 0.3;
    static const Alone small_external = { 2, external_names, &external_k, external_slopes };
    static const Alone all_bodies = { 12 * BODIES, NULL, &bodies, bodies_slopes };
    switch (model) {
    case ALONE_LORENZ: return &small_lorenz;
    case ALONE_VAN_DER_POL: return &small_van_der_pol;
    case ALONE_PENDULUMS: return &small_pendulums;
    case ALONE_ARM: return &small_arm;
    case ALONE_EXTERNAL: return &small_external;
    case ALONE_BODIES: return &all_bodies;
    case ALONE_HEAT:
        heat = heat_100;
        heat.n = cells;
        many = (Alone){ cells, NULL, &heat, heat_slopes };
        return &many;
    case ALONE_LINE:
        line_fill(&line, cells);
        many = (Alone){ cells, NULL, &line, line_slopes };
        return &many;
    case ALONE_FUNCTION: many = (Alone){ 100, NULL, NULL, weighted_slopes }; return &many;
    }
    return NULL;
}
