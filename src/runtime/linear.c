/* Jacobians and linear solvers; see linear.h. */
#include "runtime/solver.h"

#ifndef KOINE_WITHOUT_SUNDIALS
#include "runtime/linear.h"
#include <stdlib.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

static const uint32_t DENSE_BELOW = 16;   /* states: a dense factorisation is cheaper than bookkeeping */
static const uint32_t DENSE_LIMIT = 1000; /* states without a pattern: above, no matrix at all */
static const double SPARSE_SHARE = 0.25;  /* of entries: fuller matrices are solved dense */
#define NO_COLOUR UINT32_MAX

/* --- Pattern --- */

static KoineStatus make_full_pattern(KoineLinear *linear)
{
    const uint32_t n = linear->n;
    uint32_t *p = malloc(((size_t)n + 1 + (size_t)n * n) * sizeof *p);
    if (!p)
        return KOINE_FAILED;
    for (uint32_t i = 0; i <= n; i++)
        p[i] = i * n;
    for (uint32_t k = 0; k < n * n; k++)
        p[n + 1 + k] = k % n;
    linear->own_pattern = p;
    linear->pattern = (KoinePattern){ .rows = n, .columns = n, .start = p, .index = p + n + 1 };
    return KOINE_OK;
}

static KoineStatus find_rows(KoineLinear *linear)
{
    linear->row = malloc((linear->n_entries + 1) * sizeof *linear->row);
    linear->position = malloc((linear->n_entries + 1) * sizeof *linear->position);
    linear->values = malloc((linear->n_entries + 1) * sizeof *linear->values);
    if (!linear->row || !linear->position || !linear->values)
        return KOINE_FAILED;
    for (uint32_t i = 0; i < linear->n; i++)
        for (uint32_t p = linear->pattern.start[i]; p < linear->pattern.start[i + 1]; p++)
            linear->row[p] = i;
    return KOINE_OK;
}

/* --- Colours: columns of one colour share no row, so that one evaluation serves them all --- */

/* Entries sorted by column: start[j] .. start[j+1]-1 in `entry`. */
static void sort_by(uint32_t n_keys, uint32_t n, const uint32_t *key, uint32_t *start, uint32_t *sorted)
{
    memset(start, 0, ((size_t)n_keys + 1) * sizeof *start);
    for (uint32_t k = 0; k < n; k++)
        ++start[key[k] + 1];
    for (uint32_t j = 0; j < n_keys; j++)
        start[j + 1] += start[j];
    for (uint32_t k = 0; k < n; k++)
        sorted[start[key[k]]++] = k;
    for (uint32_t j = n_keys; j > 0; --j)
        start[j] = start[j - 1];
    start[0] = 0;
}

/* Greedy in the order of the columns. `work` holds n + 1 + n_entries + n values. */
static void colour_columns(KoineLinear *linear, uint32_t *work)
{
    const KoinePattern *pattern = &linear->pattern;
    uint32_t *start = work, *sorted = start + linear->n + 1, *taken = sorted + linear->n_entries;
    sort_by(linear->n, linear->n_entries, pattern->index, start, sorted);
    for (uint32_t j = 0; j < linear->n; j++) {
        linear->colours.of_column[j] = NO_COLOUR;
        taken[j] = NO_COLOUR;
    }
    linear->colours.n = 0;
    for (uint32_t j = 0; j < linear->n; j++) {
        for (uint32_t k = start[j]; k < start[j + 1]; k++) {
            const uint32_t row = linear->row[sorted[k]];
            for (uint32_t p = pattern->start[row]; p < pattern->start[row + 1]; p++)
                if (linear->colours.of_column[pattern->index[p]] != NO_COLOUR)
                    taken[linear->colours.of_column[pattern->index[p]]] = j;
        }
        uint32_t c = 0;
        while (c < linear->colours.n && taken[c] == j)
            c++;
        linear->colours.of_column[j] = c;
        if (c == linear->colours.n)
            linear->colours.n++;
    }
}

static KoineStatus find_colours(KoineLinear *linear)
{
    const size_t n = linear->n, entries = linear->n_entries;
    linear->colours.of_column = malloc(n * sizeof *linear->colours.of_column);
    uint32_t *work = malloc((2 * n + 1 + entries) * sizeof *work);
    if (!linear->colours.of_column || !work) {
        free(work);
        return KOINE_FAILED;
    }
    if (linear->pattern.colour) {
        memcpy(linear->colours.of_column, linear->pattern.colour, n * sizeof *linear->colours.of_column);
        linear->colours.n = linear->pattern.n_colours;
    } else if (linear->own_pattern) {
        for (uint32_t j = 0; j < n; j++)
            linear->colours.of_column[j] = j;
        linear->colours.n = linear->n;
    } else {
        colour_columns(linear, work);
    }
    free(work);
    return KOINE_OK;
}

static KoineStatus prepare_differences(KoineLinear *linear)
{
    const size_t n = linear->n, entries = linear->n_entries;
    TRY(find_colours(linear));
    linear->colours.entries = malloc((entries + 1) * sizeof *linear->colours.entries);
    linear->colours.entry_start = malloc(((size_t)linear->colours.n + 1) * sizeof *linear->colours.entry_start);
    linear->colours.columns = malloc(n * sizeof *linear->colours.columns);
    linear->colours.column_start = malloc(((size_t)linear->colours.n + 1) * sizeof *linear->colours.column_start);
    linear->point = malloc(2 * n * sizeof *linear->point);
    uint32_t *key = malloc((entries + 1) * sizeof *key);
    if (!linear->colours.entries || !linear->colours.entry_start || !linear->colours.columns ||
        !linear->colours.column_start || !linear->point || !key) {
        free(key);
        return KOINE_FAILED;
    }
    linear->slope = linear->point + n;
    for (size_t p = 0; p < entries; p++)
        key[p] = linear->colours.of_column[linear->pattern.index[p]];
    sort_by(linear->colours.n, linear->n_entries, key, linear->colours.entry_start, linear->colours.entries);
    sort_by(linear->colours.n, linear->n, linear->colours.of_column, linear->colours.column_start,
            linear->colours.columns);
    free(key);
    return KOINE_OK;
}

static const double NO_SIZE = 1e-50, USUAL_SIZE = 1e-3; /* of a state that has never moved */

/* Step in the direction of column j: half the digits of the larger of value and scale. */
static double increment(const KoineLinear *linear, const double *x, uint32_t j)
{
    const double size = linear->atol[j] / linear->problem->tolerance;
    const double scale = fmax(fabs(x[j]), size > NO_SIZE ? size : USUAL_SIZE);
    return sqrt(DBL_EPSILON) * fmax(scale, DBL_MIN / DBL_EPSILON);
}

/* Slope at x with the columns of colour c moved, by `sign` times their increment. */
static KoineStatus move_columns(KoineLinear *linear, double time, const double *x, uint32_t c, double sign)
{
    for (uint32_t k = linear->colours.column_start[c]; k < linear->colours.column_start[c + 1]; k++) {
        const uint32_t j = linear->colours.columns[k];
        linear->point[j] = x[j] + sign * increment(linear, x, j);
    }
    linear->evaluations++;
    return linear->by == KOINE_BY_DAE
               ? koine_residual_at(linear->problem->model, time, linear->point, NULL, linear->slope)
               : koine_derivatives_at(linear->problem->model, time, linear->point, linear->slope);
}

static KoineStatus difference_quotients(KoineLinear *linear, double time, const double *x, const double *f)
{
    memcpy(linear->point, x, linear->n * sizeof *x);
    for (uint32_t c = 0; c < linear->colours.n; c++) {
        double sign = 1;
        KoineStatus status = move_columns(linear, time, x, c, sign);
        if (status == KOINE_RETRY) /* on the edge of a domain one of the sides can be computed */
            status = move_columns(linear, time, x, c, sign = -1);
        if (status != KOINE_OK)
            return status;
        for (uint32_t k = linear->colours.entry_start[c]; k < linear->colours.entry_start[c + 1]; k++) {
            const uint32_t p = linear->colours.entries[k], i = linear->row[p], j = linear->pattern.index[p];
            linear->values[p] = (linear->slope[i] - f[i]) / (linear->point[j] - x[j]);
        }
        for (uint32_t k = linear->colours.column_start[c]; k < linear->colours.column_start[c + 1]; k++)
            linear->point[linear->colours.columns[k]] = x[linear->colours.columns[k]];
    }
    return KOINE_OK;
}

/* --- A solver for the states with a matrix of the whole --- */

typedef struct {
    SUNLinearSolver inner;
    N_Vector right, solution; /* of the whole */
    size_t n_x;
} Inside;

static SUNLinearSolver_Type whole_type(SUNLinearSolver solver)
{
    (void)solver;
    return SUNLINEARSOLVER_DIRECT;
}

static int whole_initialise(SUNLinearSolver solver)
{
    return SUNLinSolInitialize(((Inside *)solver->content)->inner);
}

static int whole_setup(SUNLinearSolver solver, SUNMatrix matrix)
{
    return SUNLinSolSetup(((Inside *)solver->content)->inner, matrix);
}

static int whole_solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, double tolerance)
{
    const Inside *inside = solver->content;
    N_VConst(0, inside->right);
    memcpy(N_VGetArrayPointer(inside->right), N_VGetArrayPointer(b), inside->n_x * sizeof(double));
    const int status = SUNLinSolSolve(inside->inner, matrix, inside->solution, inside->right, tolerance);
    memcpy(N_VGetArrayPointer(x), N_VGetArrayPointer(inside->solution), inside->n_x * sizeof(double));
    return status;
}

static int whole_free(SUNLinearSolver solver)
{
    Inside *inside = solver->content;
    if (inside->inner)
        SUNLinSolFree(inside->inner);
    if (inside->right)
        N_VDestroy(inside->right);
    if (inside->solution)
        N_VDestroy(inside->solution);
    free(inside);
    solver->content = NULL;
    SUNLinSolFreeEmpty(solver);
    return 0;
}

static KoineStatus make_whole(KoineLinear *linear, SUNContext context)
{
    Inside *inside = calloc(1, sizeof *inside);
    SUNLinearSolver const solver = inside ? SUNLinSolNewEmpty(context) : NULL;
    if (!solver) {
        free(inside);
        return KOINE_FAILED;
    }
    linear->solver = solver;
    solver->content = inside;
    solver->ops->gettype = whole_type;
    solver->ops->initialize = whole_initialise;
    solver->ops->setup = whole_setup;
    solver->ops->solve = whole_solve;
    solver->ops->free = whole_free;
    inside->n_x = linear->n_x;
    inside->right = N_VNew_Serial(linear->n, context);
    inside->solution = N_VNew_Serial(linear->n, context);
    inside->inner = inside->right && inside->solution ? SUNLinSol_KLU(inside->right, linear->matrix, context) : NULL;
    linear->point = malloc(2 * (size_t)linear->n_x * sizeof *linear->point);
    linear->slope = linear->point ? linear->point + linear->n_x : NULL;
    return inside->inner && linear->point ? KOINE_OK : KOINE_FAILED;
}

/* --- Matrix and solver --- */

static KoineStatus make_dense(KoineLinear *linear, N_Vector vector, SUNContext context)
{
    linear->matrix = SUNDenseMatrix(linear->n, linear->n, context);
    if (!linear->matrix)
        return KOINE_FAILED;
    linear->solver = SUNLinSol_Dense(vector, linear->matrix, context);
    for (uint32_t p = 0; p < linear->n_entries; p++)
        linear->position[p] = (int64_t)linear->pattern.index[p] * linear->n + linear->row[p];
    return linear->solver ? KOINE_OK : KOINE_FAILED;
}

static bool has_diagonal(const KoineLinear *linear, uint32_t i)
{
    for (uint32_t p = linear->pattern.start[i]; p < linear->pattern.start[i + 1]; p++)
        if (linear->pattern.index[p] == i)
            return true;
    return false;
}

/* Compressed rows of the pattern, with the diagonal, which I - gamma*J needs. */
static void build_structure(KoineLinear *linear)
{
    sunindextype at = 0;
    for (uint32_t i = 0; i < linear->n; i++) {
        linear->sparse.start[i] = at;
        for (uint32_t p = linear->pattern.start[i]; p < linear->pattern.start[i + 1]; p++) {
            if (linear->pattern.index[p] == i)
                linear->sparse.diagonal[i] = at;
            linear->position[p] = at;
            linear->sparse.column[at++] = linear->pattern.index[p];
        }
        if (!has_diagonal(linear, i)) {
            linear->sparse.diagonal[i] = at;
            linear->sparse.column[at++] = i;
        }
    }
    linear->sparse.start[linear->n] = at;
}

static KoineStatus make_sparse(KoineLinear *linear, N_Vector vector, SUNContext context)
{
    const size_t n = linear->n;
    size_t entries = linear->n_entries;
    for (uint32_t i = 0; i < linear->n; i++)
        entries += !has_diagonal(linear, i);
    linear->sparse.start = malloc((2 * n + 1 + entries) * sizeof *linear->sparse.start);
    linear->matrix = SUNSparseMatrix(linear->n, linear->n, (sunindextype)entries, CSR_MAT, context);
    if (!linear->sparse.start || !linear->matrix)
        return KOINE_FAILED;
    linear->sparse.diagonal = linear->sparse.start + n + 1;
    linear->sparse.column = linear->sparse.diagonal + n;
    build_structure(linear);
    memcpy(SM_INDEXPTRS_S(linear->matrix), linear->sparse.start, (n + 1) * sizeof *linear->sparse.start);
    memcpy(SM_INDEXVALS_S(linear->matrix), linear->sparse.column, entries * sizeof *linear->sparse.column);
    if (linear->by == KOINE_BY_WHOLE)
        return make_whole(linear, context);
    linear->solver = SUNLinSol_KLU(vector, linear->matrix, context);
    return linear->solver ? KOINE_OK : KOINE_FAILED;
}

KoineStatus koine_linear_create(KoineLinear *linear, const KoineProblem *problem, int by, const double *atol,
                                N_Vector vector, SUNContext context)
{
    const KoineModelKind *kind = problem->model->kind;
    const KoineTables *tables = kind->tables;
    const bool is_dae = by == KOINE_BY_DAE;
    *linear = (KoineLinear){ .problem = problem,
                             .by = by,
                             .n_x = tables->n_x,
                             .atol = atol,
                             .n = tables->n_x + (is_dae ? tables->unknowns.n : 0),
                             .norm = NAN };
    linear->pattern = is_dae ? tables->patterns.dae_jacobian : tables->patterns.jacobian;
    if (by == KOINE_BY_WHOLE) {
        linear->pattern = tables->patterns.whole_jacobian;
        linear->n = linear->pattern.rows;
        linear->n_entries = linear->pattern.start[linear->n];
        TRY(find_rows(linear));
        return make_sparse(linear, vector, context);
    }
    const bool has_pattern = linear->pattern.start && linear->pattern.rows == linear->n;
    if (!has_pattern && linear->n > DENSE_LIMIT) {
        linear->solver = SUNLinSol_SPGMR(vector, SUN_PREC_NONE, 0, context);
        return linear->solver ? KOINE_OK : KOINE_FAILED;
    }
    if (!has_pattern)
        TRY(make_full_pattern(linear));
    linear->n_entries = linear->pattern.start[linear->n];
    TRY(find_rows(linear));
    if (!has_pattern || !kind->partial.jacobian)
        TRY(prepare_differences(linear));
    const double share = (double)linear->n_entries / ((double)linear->n * linear->n);
    if (linear->n < DENSE_BELOW || (share > SPARSE_SHARE && linear->n <= DENSE_LIMIT))
        return make_dense(linear, vector, context);
    return make_sparse(linear, vector, context);
}

void koine_linear_destroy(KoineLinear *linear)
{
    if (linear->solver)
        SUNLinSolFree(linear->solver);
    if (linear->matrix)
        SUNMatDestroy(linear->matrix);
    free(linear->own_pattern);
    free(linear->position);
    free(linear->sparse.start);
    free(linear->row);
    free(linear->colours.entries);
    free(linear->colours.of_column);
    free(linear->colours.entry_start);
    free(linear->colours.columns);
    free(linear->colours.column_start);
    free(linear->values);
    free(linear->point);
    *linear = (KoineLinear){ .norm = NAN };
}

static void find_norm(KoineLinear *linear)
{
    double norm = 0;
    for (uint32_t i = 0; i < linear->n; i++) {
        double sum = 0;
        for (uint32_t p = linear->pattern.start[i]; p < linear->pattern.start[i + 1]; p++)
            sum += fabs(linear->values[p]);
        norm = fmax(norm, sum);
    }
    linear->norm = norm;
}

/* Signs that do not follow the order of the states, so that little cancels: a lower bound of the norm. */
static KoineStatus find_norm_along(KoineLinear *linear, const KoineEvaluation *at)
{
    KoineModel *model = linear->problem->model;
    uint64_t random = 1;
    for (uint32_t i = 0; i < linear->n_x; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        linear->point[i] = random >> 63 ? 1 : -1;
    }
    const KoineStatus status = model->kind->partial.directional(model, at, KOINE_BY_X, linear->point, linear->slope);
    linear->norm = 0;
    for (uint32_t i = 0; status == KOINE_OK && i < linear->n_x; i++)
        linear->norm = fmax(linear->norm, fabs(linear->slope[i]));
    return status;
}

static void put_dense(const KoineLinear *linear, double i, double scale, SUNMatrix matrix)
{
    double *data = SM_DATA_D(matrix);
    SUNMatZero(matrix);
    for (uint32_t p = 0; p < linear->n_entries; p++)
        data[linear->position[p]] = scale * linear->values[p];
    for (uint32_t k = 0; k < linear->n_x; k++)
        data[(size_t)k * linear->n + k] += i;
}

/* The structure is written again: SUNMatZero of the integrators does not keep it. */
static void put_sparse(const KoineLinear *linear, double i, double scale, SUNMatrix matrix)
{
    const size_t n = linear->n, entries = (size_t)linear->sparse.start[n];
    double *data = SM_DATA_S(matrix);
    memcpy(SM_INDEXPTRS_S(matrix), linear->sparse.start, (n + 1) * sizeof *linear->sparse.start);
    memcpy(SM_INDEXVALS_S(matrix), linear->sparse.column, entries * sizeof *linear->sparse.column);
    memset(data, 0, entries * sizeof *data);
    for (uint32_t p = 0; p < linear->n_entries; p++)
        data[linear->position[p]] = scale * linear->values[p];
    if (i != 0)
        for (size_t k = 0; k < linear->n_x; k++)
            data[linear->sparse.diagonal[k]] += i;
}

/* The values of df/dx a little beside x: at x itself one of them has no value, as that of a root at 0. Every state
 * moves by another share of its increment, so that no difference of two stays 0. */
static KoineStatus values_beside(KoineLinear *linear, double time, const double *x)
{
    KoineModel *model = linear->problem->model;
    const uint32_t n = linear->by == KOINE_BY_WHOLE ? linear->n_x : linear->n;
    double *point = malloc(n * sizeof *point);
    if (!point)
        return KOINE_FAILED;
    for (uint32_t j = 0; j < n; j++)
        point[j] = x[j] + increment(linear, x, j) * (1 + fmod(j * 0.6180339887498949, 1));
    const KoineEvaluation at = { .time = time, .x = point };
    const KoineStatus status = model->kind->partial.jacobian(model, &at, linear->by, 0, linear->values);
    free(point);
    return status;
}

KoineStatus koine_linear_evaluate(KoineLinear *linear, double time, const double *x, const double *f)
{
    KoineModel *model = linear->problem->model;
    const KoineEvaluation at = { .time = time, .x = x };
    KoineStatus status = linear->colours.entries
                             ? difference_quotients(linear, time, x, f)
                             : model->kind->partial.jacobian(model, &at, linear->by, 0, linear->values);
    linear->jacobians++;
    const bool is_infinite =
        status == KOINE_RETRY || (status == KOINE_OK && !koine_is_finite(linear->values, linear->n_entries));
    if (is_infinite && !linear->colours.entries)
        status = values_beside(linear, time, x);
    if (status != KOINE_OK)
        return status;
    if (!koine_is_finite(linear->values, linear->n_entries))
        return KOINE_RETRY;
    if (linear->by == KOINE_BY_WHOLE)
        return find_norm_along(linear, &at);
    find_norm(linear);
    return KOINE_OK;
}

void koine_linear_put(const KoineLinear *linear, double i, double scale, SUNMatrix matrix)
{
    if (SUNMatGetID(matrix) == SUNMATRIX_DENSE)
        put_dense(linear, i, scale, matrix);
    else
        put_sparse(linear, i, scale, matrix);
}

void koine_linear_lack(const KoineLinear *linear, double i, double scale, const double *x, double *b)
{
    const KoinePattern *pattern = &linear->pattern;
    for (uint32_t k = 0; k < linear->n; k++) {
        double sum = k < linear->n_x ? i * x[k] : 0;
        for (uint32_t p = pattern->start[k]; p < pattern->start[k + 1]; p++)
            sum += scale * linear->values[p] * x[pattern->index[p]];
        b[k] -= sum;
    }
}

KoineStatus koine_linear_fill(KoineLinear *linear, double time, const double *x, const double *f, double i,
                              double scale, SUNMatrix matrix)
{
    const KoineStatus status = koine_linear_evaluate(linear, time, x, f);
    if (status == KOINE_OK)
        koine_linear_put(linear, i, scale, matrix);
    return status;
}
#endif
