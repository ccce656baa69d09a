/* Control of time and of step sizes: options and counters of the time grid and of the classic single-step methods.
 *
 * With all zeros time is continuous and steps are the solver's own. */
#ifndef KOINE_CONTROL_H
#define KOINE_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KOINE_ERROR_ADAPT, KOINE_ERROR_ESTIMATE, KOINE_ERROR_NONE }; /* adapt steps, only estimate, neither */

typedef struct {
    double resolution; /* time grid R: all instants, start, stop and output points lie at k*R; 0: what the host of the
                          model says. The host must name the same, or none at both: time is continuous */
    double max_time;   /* no stop time beyond it; 0: with a time grid 2147483647*R, else none */
    double first_step; /* of the classic methods: size of the first step, and after every restart; 0: `step` */
    double high_error, low_error; /* relative errors: above, the step is halved; below, the next is doubled;
                                     0: the tolerance, and a tenth of the high error */
    int error_mode;               /* KOINE_ERROR_... */
    uint32_t max_crossing;        /* search steps for one crossing on a time grid, Euler steps over a point that cannot
                                     be evaluated; 0: 200 */
} KoineTimeControl;

typedef struct {
#define KOINE_CONTROL_COUNTER(name, ...) uint64_t name;
#include "koine/statistics.def"
    double largest_error;          /* relative, as estimated, of all accepted steps; 0: none was estimated */
    char largest_error_state[128]; /* the state that had it */
} KoineControlStatistics;

#ifdef __cplusplus
}
#endif

#endif
