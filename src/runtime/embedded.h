/* Embedded explicit Runge-Kutta pairs, whose error control is that of the difference of both methods; they work in
 * place on the block of the model.
 *
 * embedded.c holds what all of them share: step control, initial step, retreat from points that cannot be
 * evaluated. A method supplies one trial step and its interpolant. No allocation after create.
 * Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, II.4 to II.6. */
#ifndef KOINE_RUNTIME_EMBEDDED_H
#define KOINE_RUNTIME_EMBEDDED_H

#include "runtime/solver.h"

enum { EMBEDDED_MAX_SLOPES = 17, EMBEDDED_PARTS = 4 };

typedef struct {                 /* the states inside of the last step */
    double *coefficients;        /* of the polynomials, method->n_dense vectors */
    bool is_ready;               /* the coefficients are those of the present step */
    bool is_coarse;              /* the interpolant of this step is not good enough: parts of it are */
    uint64_t inner_step;         /* the step that `inner` repeats */
    struct KoineEmbedded *inner; /* repeats the step in parts; NULL: that was never needed */
    double *parts;               /* of each part that is made: the state where it begins, and its coefficients */
    uint32_t n_parts;
    double ends[EMBEDDED_PARTS + 1]; /* part k is from ends[k] to ends[k + 1] */
} KoineInterpolant;

typedef struct KoineEmbedded {
    KoineSolver base;
    const struct KoineEmbeddedMethod *method;
    KoineDerivatives derivatives;
    size_t n;
    double h;                       /* to try next */
    double last;                    /* length of the last step */
    double largest;                 /* step since the last restart, or the first one proposed */
    double usual;                   /* largest step before the last restart; 0: there was none */
    double log_old;                 /* log2 of the last accepted error */
    double growth;                  /* largest factor for the next step; 1 after a failed evaluation */
    double *y, *y_old;              /* at time and from */
    double *k[EMBEDDED_MAX_SLOPES]; /* slopes of the stages; k[0] belongs to y_old, the last one to y */
    double *spare;                  /* two vectors */
    KoineInterpolant interpolant;
    bool has_slope; /* k[n_slopes] is f(time, y): the first stage of the next step */
    uint64_t steps, rejected, evaluations;
} KoineEmbedded;

typedef struct KoineEmbeddedMethod {
    const KoineSolverKind *kind;
    uint32_t n_slopes; /* vectors k[0] .. k[n_slopes - 1] */
    uint32_t last;     /* of them, the slope at the end of the step */
    uint32_t n_dense;
    uint32_t stages; /* evaluations of a step */
    double exponent; /* error ~ h^(1/exponent) */
    double beta;     /* weight of the last error in the step control */
    double min_factor, max_factor;
    double stable;     /* h*lambda at the edge of stability */
    bool checks_dense; /* its interpolant may be far worse than its steps */
    /* Step of length h from (time, y_old); k[0] is set. Leaves the new state in y, its slope in k[last] and in the
     * block, and the square of the weighted error. */
    KoineStatus (*trial)(KoineEmbedded *pair, double h, double *error2);
    KoineStatus (*prepare)(KoineEmbedded *pair);                         /* dense := coefficients of this step */
    void (*interpolate)(const KoineEmbedded *pair, double s, double *x); /* s in [0, 1] */
    void (*polynomial)(const KoineEmbedded *pair, size_t i,
                       double *values);                    /* see KoineSolverKind; of degree n_dense */
    double (*stiffness)(const KoineEmbedded *pair);        /* h*|lambda| seen in the last step */
    bool (*has_cusp)(const KoineEmbedded *pair, double h); /* of the step tried: see dopri5.c; NULL: not looked for */
} KoineEmbeddedMethod;

extern const KoineEmbeddedMethod koine_dopri5, koine_dop853;

KoineStatus koine_embedded_create_of(const KoineEmbeddedMethod *method, const KoineProblem *problem,
                                     KoineSolver **solver);

/* Of an error of state i: a small state may be the fastest. */
static inline double koine_embedded_weight(const KoineEmbedded *pair, size_t i)
{
    return 1 / (pair->base.problem->atol[i] + pair->base.problem->tolerance * fabs(pair->y[i]));
}

/* h*|lambda| of the last step in units of the method's stability limit. */
double koine_embedded_stiffness(const KoineSolver *solver);

/* The step to try next: what is left of a run is counted in it. */
double koine_embedded_next_step(const KoineSolver *solver);

/* log2 to three digits: enough for step control, far cheaper than the library's. */
static inline double koine_rough_log2(double value)
{
    uint64_t bits;
    double m;
    memcpy(&bits, &value, sizeof bits);
    const double e = (double)((int)(bits >> 52) - 1023);
    bits = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000);
    memcpy(&m, &bits, sizeof m);
    /* cubic through log2 at 1, 4/3, 5/3, 2: continuous from one power of two to the next */
    return e + (m - 1) * (1.4189923 + (m - 1) * (-0.5729630 + (m - 1) * 0.1539707));
}

/* 2 to the power p to three digits; |p| below 1000. */
static inline double koine_rough_exp2(double p)
{
    const int64_t whole = (int64_t)(p + 1023); /* a positive number: the cast is floor */
    const double f = p + 1023 - (double)whole;
    const uint64_t bits = (uint64_t)whole << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power * (1 + f * (0.6959847 + f * (0.2249953 + f * 0.0790200)));
}

#endif
