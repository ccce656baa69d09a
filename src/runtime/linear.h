/* Jacobian and linear solver for the implicit methods.
 *
 * Dense below a size, KLU above where the model has a pattern, GMRES without matrix for large models that have
 * none. The Jacobian is the model's own where it has one, else coloured difference quotients.
 *
 * KOINE_BY_WHOLE: the matrix has the quantities between states and derivatives as unknowns, too. Vectors have the
 * states alone: the solver adds zeros on the right and drops what is not asked for. */
#ifndef KOINE_RUNTIME_LINEAR_H
#define KOINE_RUNTIME_LINEAR_H

#include "runtime/solver.h"
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nvector.h>

/* Columns of one colour share no row: one evaluation serves them all. */
typedef struct {
    uint32_t n;
    uint32_t *of_column;    /* per column: its colour */
    uint32_t *entries;      /* entries sorted by the colour of their column; NULL: the Jacobian is exact */
    uint32_t *entry_start;  /* per colour, and one more: its first place among the entries */
    uint32_t *columns;      /* columns sorted by colour */
    uint32_t *column_start; /* per colour, and one more: its first place among the columns */
} KoineLinearColours;

typedef struct { /* the structure of a sparse matrix */
    sunindextype *start, *column;
    sunindextype *diagonal; /* per column: where the entry of the diagonal is */
} KoineLinearSparse;

typedef struct KoineLinear {
    const KoineProblem *problem;
    int by;       /* KOINE_BY_X: f(t, x); KOINE_BY_DAE: also what the equations of w lack, with unknowns x and w;
                     KOINE_BY_WHOLE: see model.h */
    uint32_t n_x; /* rows that have the identity beside them */
    const double *atol;
    SUNMatrix matrix; /* NULL: matrix-free */
    SUNLinearSolver solver;
    uint32_t n, n_entries;
    KoinePattern pattern;  /* the model's, or a full one of our own */
    uint32_t *own_pattern; /* what `pattern` points to if it is ours */
    int64_t *position;     /* of every entry in the data of the matrix */
    uint32_t *row;         /* of every entry */
    KoineLinearSparse sparse;
    KoineLinearColours colours;
    double *values;        /* of df/dx, in the order of the pattern */
    double *point, *slope; /* work of the difference quotient */
    double norm;           /* largest row sum of the last df/dx; NAN: none yet. WHOLE: of df/dx along one direction */
    uint64_t jacobians, evaluations;
} KoineLinear;

/* `vector` is a template, `atol` has a tolerance for each of its elements. The caller destroys it, also after a
 * failure. */
KoineStatus koine_linear_create(KoineLinear *linear, const KoineProblem *problem, int by, const double *atol,
                                N_Vector vector, SUNContext context);
void koine_linear_destroy(KoineLinear *linear);

/* linear->values := df/dx at (time, x), where f(time, x) = f. */
KoineStatus koine_linear_evaluate(KoineLinear *linear, double time, const double *x, const double *f);

/* matrix := identity*i + scale*linear->values; the identity has zeros for w */
void koine_linear_put(const KoineLinear *linear, double i, double scale, SUNMatrix matrix);

/* b := b - (identity*i + scale*linear->values)*x, each row by itself. */
void koine_linear_lack(const KoineLinear *linear, double i, double scale, const double *x, double *b);

/* Both: matrix := identity*i + scale*df/dx at (time, x), where f(time, x) = f. */
KoineStatus koine_linear_fill(KoineLinear *linear, double time, const double *x, const double *f, double i,
                              double scale, SUNMatrix matrix);

#endif
