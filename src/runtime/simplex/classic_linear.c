/* Linear systems of the implicit classic methods; see classic_linear.h. */
#include "runtime/solver.h"

#ifndef KOINE_WITHOUT_SUNDIALS
#include "runtime/simplex/classic_linear.h"
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

/* The system of all stages: full where that of one stage is, else entries of df/dx in every block and the diagonal. */
static KoineStatus make_all(KoineClassicLinear *system)
{
    const KoineLinear *linear = &system->linear;
    const sunindextype size = (sunindextype)system->stages * linear->n;
    const bool is_dense = SUNMatGetID(linear->matrix) == SUNMATRIX_DENSE;
    system->all = N_VNewEmpty_Serial(size, system->context);
    if (is_dense) {
        system->matrix = SUNDenseMatrix(size, size, system->context);
    } else {
        const sunindextype entries = (sunindextype)system->stages * system->stages * linear->n_entries + size;
        system->matrix = SUNSparseMatrix(size, size, entries, CSR_MAT, system->context);
    }
    if (!system->all || !system->matrix)
        return KOINE_FAILED;
    system->solver = is_dense ? SUNLinSol_Dense(system->all, system->matrix, system->context)
                              : SUNLinSol_KLU(system->all, system->matrix, system->context);
    return system->solver ? KOINE_OK : KOINE_FAILED;
}

static KoineStatus create(KoineClassic *classic, KoineClassicLinear *system)
{
    const KoineProblem *problem = classic->base.problem;
    const uint32_t n = problem->model->kind->tables->n_x;
    system->point = malloc(n * sizeof *system->point);
    system->lack = malloc(n * sizeof *system->lack);
    if (!system->point || !system->lack || SUNContext_Create(NULL, &system->context) != 0)
        return KOINE_FAILED;
    system->one = N_VNewEmpty_Serial(n, system->context);
    if (!system->one ||
        koine_linear_create(&system->linear, problem, KOINE_BY_X, problem->atol, system->one, system->context) < 0)
        return KOINE_FAILED;
    if (!system->linear.matrix) {
        snprintf(problem->text, problem->text_size,
                 "the model has %u states and does not say which derivative depends on which; cvode-bdf needs no "
                 "matrix",
                 (unsigned)n);
        return KOINE_FAILED;
    }
    if (SUNLinSolInitialize(system->linear.solver) != 0)
        return KOINE_FAILED;
    if (system->stages == 1)
        return KOINE_OK;
    TRY(make_all(system));
    return SUNLinSolInitialize(system->solver) == 0 ? KOINE_OK : KOINE_FAILED;
}

KoineStatus koine_classic_linear_create(KoineClassic *classic, uint32_t stages)
{
    KoineClassicLinear *system = malloc(sizeof *system);
    if (!system)
        return KOINE_FAILED;
    *system = (KoineClassicLinear){ .stages = stages, .time = NAN };
    classic->extra = system;
    return create(classic, system);
}

void koine_classic_linear_destroy(KoineClassic *classic)
{
    KoineClassicLinear *system = classic->extra;
    if (!system)
        return;
    koine_linear_destroy(&system->linear);
    if (system->solver)
        SUNLinSolFree(system->solver);
    if (system->matrix)
        SUNMatDestroy(system->matrix);
    if (system->one)
        N_VDestroy(system->one);
    if (system->all)
        N_VDestroy(system->all);
    if (system->context)
        SUNContext_Free(&system->context);
    free(system->point);
    free(system->lack);
    free(system);
}

void koine_classic_linear_forget(KoineClassic *classic)
{
    koine_classic_linear_of(classic)->time = NAN;
}

bool koine_classic_linear_visit(KoineClassic *classic, KoinePieces *pieces)
{
    KoineClassicLinear *system = koine_classic_linear_of(classic);
    KOINE_PIECE(pieces, system->factorisations);
    KOINE_PIECE(pieces, system->iterations);
    KOINE_PIECE(pieces, system->linear.evaluations);
    KOINE_PIECE(pieces, system->linear.jacobians);
    KOINE_PIECE(pieces, system->time);
    KOINE_PIECE(pieces, system->has_by_time);
    if (!isnan(system->time)) {
        koine_piece_numbers(pieces, system->point, classic->n);
        koine_piece_numbers(pieces, system->linear.values, system->linear.n_entries);
    }
    return SUNMatGetID(system->linear.matrix) == SUNMATRIX_DENSE;
}

void koine_classic_linear_statistics(const KoineClassic *classic, KoineRunStatistics *out)
{
    const KoineClassicLinear *system = koine_classic_linear_of(classic);
    out->integration.evaluations += system->linear.evaluations;
    out->integration.jacobians += system->linear.jacobians;
    out->integration.factorisations += system->factorisations;
    out->integration.nonlinear_iterations += system->iterations;
}

/* df/dx at the beginning of a step; a step and its repetition with half the size share it. */
static KoineStatus evaluate(KoineClassic *classic, const KoineClassicStep *step)
{
    KoineClassicLinear *system = koine_classic_linear_of(classic);
    const size_t bytes = classic->n * sizeof *system->point;
    if (system->time == step->time && memcmp(system->point, step->x, bytes) == 0)
        return KOINE_OK;
    system->time = NAN;
    system->has_by_time = false;
    classic->base.placed = NAN;
    const KoineStatus status = koine_linear_evaluate(&system->linear, step->time, step->x, step->slope);
    if (status != KOINE_OK)
        return status;
    memcpy(system->point, step->x, bytes);
    system->time = step->time;
    return KOINE_OK;
}

static KoineStatus set_up(KoineClassicLinear *system, SUNLinearSolver solver, SUNMatrix matrix)
{
    system->factorisations++;
    const int flag = SUNLinSolSetup(solver, matrix);
    return flag == 0 ? KOINE_OK : flag > 0 ? KOINE_RETRY : KOINE_FAILED; /* RETRY: singular with this step */
}

KoineStatus koine_classic_linear_factorise(KoineClassic *classic, const KoineClassicStep *step, double scale)
{
    KoineClassicLinear *system = koine_classic_linear_of(classic);
    const KoineStatus status = evaluate(classic, step);
    if (status != KOINE_OK)
        return status;
    system->inverse = 1 / scale;
    koine_linear_put(&system->linear, system->inverse, -1, system->linear.matrix);
    return set_up(system, system->linear.solver, system->linear.matrix);
}

static void put_all_dense(KoineClassicLinear *system, double h,
                          const double weights[KOINE_CLASSIC_STAGES][KOINE_CLASSIC_STAGES])
{
    const KoineLinear *linear = &system->linear;
    const size_t n = linear->n, size = n * system->stages;
    double *data = SM_DATA_D(system->matrix);
    SUNMatZero(system->matrix);
    for (uint32_t s = 0; s < system->stages; s++)
        for (uint32_t t = 0; t < system->stages; t++)
            for (uint32_t p = 0; p < linear->n_entries; p++)
                data[(t * n + linear->pattern.index[p]) * size + s * n + linear->row[p]] =
                    -h * weights[s][t] * linear->values[p];
    for (size_t k = 0; k < size; k++)
        data[k * size + k] += 1;
}

/* Row i of stage s; returns where the next row begins. */
static sunindextype put_row(KoineClassicLinear *system, uint32_t s, uint32_t i, sunindextype at, double h,
                            const double weights[KOINE_CLASSIC_STAGES])
{
    const KoineLinear *linear = &system->linear;
    double *data = SM_DATA_S(system->matrix);
    sunindextype *column = SM_INDEXVALS_S(system->matrix);
    bool has_diagonal = false;
    for (uint32_t t = 0; t < system->stages; t++)
        for (uint32_t p = linear->pattern.start[i]; p < linear->pattern.start[i + 1]; p++) {
            const bool is_diagonal = t == s && linear->pattern.index[p] == i;
            data[at] = (is_diagonal ? 1 : 0) - h * weights[t] * linear->values[p];
            column[at++] = (sunindextype)t * linear->n + linear->pattern.index[p];
            has_diagonal = has_diagonal || is_diagonal;
        }
    if (has_diagonal)
        return at;
    data[at] = 1;
    column[at] = (sunindextype)s * linear->n + i;
    return at + 1;
}

static void put_all_sparse(KoineClassicLinear *system, double h,
                           const double weights[KOINE_CLASSIC_STAGES][KOINE_CLASSIC_STAGES])
{
    sunindextype *start = SM_INDEXPTRS_S(system->matrix);
    sunindextype at = 0, row = 0;
    for (uint32_t s = 0; s < system->stages; s++)
        for (uint32_t i = 0; i < system->linear.n; i++) {
            start[row++] = at;
            at = put_row(system, s, i, at, h, weights[s]);
        }
    start[row] = at;
}

KoineStatus koine_classic_linear_factorise_all(KoineClassic *classic, const KoineClassicStep *step,
                                               const double weights[KOINE_CLASSIC_STAGES][KOINE_CLASSIC_STAGES])
{
    KoineClassicLinear *system = koine_classic_linear_of(classic);
    const KoineStatus status = evaluate(classic, step);
    if (status != KOINE_OK)
        return status;
    if (SUNMatGetID(system->matrix) == SUNMATRIX_DENSE)
        put_all_dense(system, step->h, weights);
    else
        put_all_sparse(system, step->h, weights);
    return set_up(system, system->solver, system->matrix);
}

static KoineStatus solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector view, double *vector)
{
    N_VSetArrayPointer(vector, view);
    const int flag = SUNLinSolSolve(solver, matrix, view, view, 0);
    return flag == 0 ? KOINE_OK : flag > 0 ? KOINE_RETRY : KOINE_FAILED;
}

/* Pivots mix rows: a quantity that is 1e16 times smaller than another one has that one's rounding, and KLU goes on with
 * the pivots of its first matrix. What the solution lacks, row by row, corrects it. */
static KoineStatus solve_one(KoineClassicLinear *system, double *vector)
{
    const KoineLinear *linear = &system->linear;
    const size_t n = linear->n;
    memcpy(system->lack, vector, n * sizeof *vector);
    KoineStatus status = solve(linear->solver, linear->matrix, system->one, vector);
    if (status != KOINE_OK || !koine_is_finite(vector, n))
        return status;
    koine_linear_lack(linear, system->inverse, -1, vector, system->lack);
    status = solve(linear->solver, linear->matrix, system->one, system->lack);
    for (size_t i = 0; status == KOINE_OK && i < n; i++)
        vector[i] += system->lack[i];
    return status;
}

KoineStatus koine_classic_linear_solve(KoineClassic *classic, double *vector)
{
    KoineClassicLinear *system = koine_classic_linear_of(classic);
    return system->stages == 1 ? solve_one(system, vector) : solve(system->solver, system->matrix, system->all, vector);
}

KoineStatus koine_classic_linear_damp(KoineClassic *classic, const KoineClassicStep *step)
{
    KoineClassicLinear *system = koine_classic_linear_of(classic);
    KoineStatus status = koine_classic_linear_factorise(classic, step, step->h);
    if (status != KOINE_OK)
        return status;
    memcpy(step->end, step->slope, classic->n * sizeof *step->end);
    status = solve_one(system, step->end);
    for (size_t i = 0; status == KOINE_OK && i < classic->n; i++)
        step->end[i] += step->x[i];
    return status;
}
#endif
