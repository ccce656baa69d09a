/* The models as a good engineer writes them by hand: static functions, parameters in a struct, CVODE called
 * directly with an exact Jacobian, dense for few states and KLU for many, as Koine does it. */
#ifndef BENCH_HAND_H
#define BENCH_HAND_H

#include <cvode/cvode.h>
#include <cvode/cvode_ls.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    const char *name;
    const char *file; /* in bench/models; NULL: generated */
    uint32_t n;
    const char *const *names; /* of the states in Koine's model; NULL: in the same order */
    const double *start;      /* n, NULL: all 0 */
    double stop;
    const void *parameters;
    CVRhsFn callback; /* the same for CVODE */
    CVLsJacFn jacobian;
    uint32_t n_entries; /* of a sparse Jacobian; 0: dense */
    bool is_stiff;
    CVRootFn root; /* NULL: no events */
    void (*event)(double *x, const void *parameters);
    /* exact to more digits than any solver delivers, from `start` to `stop` */
    void (*reference)(const double *start, double stop, double *x);
} Hand;

extern const Hand hand_lorenz, hand_van_der_pol, hand_arenstorf, hand_ball, hand_heat_100, hand_heat_10000;

typedef struct {
    int method; /* CV_BDF, CV_ADAMS */
    double tolerance, stop;
    const double *start; /* NULL: that of the problem */
    double *end;         /* NULL: not wanted */
    long steps;          /* out */
    uint32_t events;
} HandRun;
/* Relative tolerance as given; absolute ones as Koine takes them for states without nominal value. */
bool hand_run(const Hand *hand, HandRun *run);

#endif
