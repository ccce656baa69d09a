/* The classic single-step methods of SIMPLEX: what they share.
 *
 * A method makes one step of a given size; classic.c halves and doubles that size by the rules of the document:
 * the relative error of a step is that of its worst state, estimated from a better value, which is the method's
 * own or that of two steps of half the size. The run goes on with the value of the method, not with the better one.
 * A value inside a step is that of a shorter step from the same beginning: as good as a step, and what the document
 * does when it searches for events. */
#ifndef KOINE_SIMPLEX_CLASSIC_H
#define KOINE_SIMPLEX_CLASSIC_H

#include "runtime/simplex/methods.h"
#include "runtime/simplex/points.h"

enum { KOINE_CLASSIC_WORK = 10 };

typedef struct KoineClassic KoineClassic;

typedef struct {
    double time, h;
    const double *x, *slope; /* at time */
    double *end;             /* to be set: the state at time + h */
    double *better;          /* the same with a smaller error; NULL: not asked for */
} KoineClassicStep;

typedef struct {
    const KoineSolverKind *kind;
    uint32_t n_work;                              /* vectors that it needs */
    bool has_estimate;                            /* it can set `better` */
    KoineStatus (*create)(KoineClassic *classic); /* what it needs beside vectors; NULL: nothing */
    void (*destroy)(KoineClassic *classic);
    void (*forget)(KoineClassic *classic); /* another model from here on; NULL: nothing to forget */
    KoineStatus (*step)(KoineClassic *classic, const KoineClassicStep *step); /* RETRY: a smaller step may do */
    KoineStatus (*damp)(KoineClassic *classic,
                        const KoineClassicStep *step); /* one of implicit Euler; NULL: explicit */
    /* see KoineSolverKind; NULL: nothing is remembered from one step to the next */
    bool (*visit)(KoineClassic *classic, KoinePieces *pieces);
    void (*statistics)(const KoineClassic *classic, KoineRunStatistics *out);
} KoineClassicMethod;

typedef struct {            /* relative errors of steps */
    double last;            /* of the last trial; INFINITY: unsolved */
    uint32_t worst;         /* the state that had it */
    double largest;         /* of all steps */
    uint32_t largest_worst; /* the state that had it */
} KoineClassicErrors;

typedef struct {
    uint64_t steps, rejected, evaluations, halvings, doublings;
} KoineClassicCounts;

struct KoineClassic {
    KoineSolver base;
    const KoineClassicMethod *method;
    size_t n;
    double *y, *y_old;         /* at time and from */
    double *slope, *slope_old; /* there */
    double *better, *middle;   /* a better value at time, the value after half of the step */
    double *work[KOINE_CLASSIC_WORK];
    void *extra;      /* of the method */
    double regular;   /* step, where no goal cuts it */
    double usual;     /* largest step since the last restart */
    bool has_slope;   /* `slope` is valid */
    bool wants_error; /* steps are judged */
    bool is_restless; /* something fast is left over, to be damped before the next step */
    bool is_unsolved; /* set by an implicit method that returns RETRY: its equations have not been solved */
    KoineClassicErrors errors;
    KoineClassicCounts counts;
};

KoineStatus koine_classic_create(const KoineClassicMethod *method, const KoineProblem *problem, KoineSolver **solver);
void koine_classic_destroy(KoineSolver *solver);
KoineStatus koine_classic_restart(KoineSolver *solver, double time, const double *x);
KoineStatus koine_classic_advance(KoineSolver *solver, double goal);
KoineStatus koine_classic_interpolate(KoineSolver *solver, double time, double *x);
void koine_classic_limit(KoineSolver *solver, double h);
bool koine_classic_visit(KoineSolver *solver, KoinePieces *pieces);
void koine_classic_statistics(const KoineSolver *solver, KoineRunStatistics *out);

/* Derivatives at (time, x). */
KoineStatus koine_classic_slope(KoineClassic *classic, double time, const double *x, double *slope);

/* Scale of state i: smaller values count as this large when errors are judged. */
static inline double koine_classic_floor(const KoineProblem *problem, size_t i)
{
    return problem->atol[i] / problem->tolerance;
}

#define KOINE_CLASSIC_ROW(word, text_name, text)                                                                       \
    static KoineStatus create_##word(const KoineProblem *problem, KoineSolver **solver)                                \
    {                                                                                                                  \
        return koine_classic_create(&word, problem, solver);                                                           \
    }                                                                                                                  \
    const KoineSolverKind koine_solver_simplex_##word = {                                                              \
        .name = text_name,                                                                                             \
        .description = text,                                                                                           \
        .never_passes = true,                                                                                          \
        .stops_at_points = true,                                                                                       \
        .create = create_##word,                                                                                       \
        .destroy = koine_classic_destroy,                                                                              \
        .restart = koine_classic_restart,                                                                              \
        .advance = koine_classic_advance,                                                                              \
        .interpolate = koine_classic_interpolate,                                                                      \
        .limit = koine_classic_limit,                                                                                  \
        .visit = koine_classic_visit,                                                                                  \
        .statistics = koine_classic_statistics,                                                                        \
    }

#endif
