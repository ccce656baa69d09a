/* The table of solvers, and what all of them need of a model. */
#include "runtime/simplex/methods.h"

static const KoineSolverKind *const solvers[] = {
    &koine_solver_auto,
    &koine_solver_dopri5,
    &koine_solver_dop853,
    &koine_solver_cvode_bdf,
    &koine_solver_cvode_adams,
    &koine_solver_ida,
    &koine_solver_arkode_erk,
    &koine_solver_arkode_dirk,
    &koine_solver_euler,
    &koine_solver_heun,
    &koine_solver_rk4,
    &koine_solver_simplex_euler,
    &koine_solver_simplex_rk4,
    &koine_solver_simplex_fehlberg,
    &koine_solver_simplex_gauss,
    &koine_solver_simplex_bulirsch_stoer,
    &koine_solver_simplex_rosenbrock,
};
enum { N_SOLVERS = sizeof solvers / sizeof solvers[0] };

const KoineSolverKind *koine_find_solver(const char *name)
{
    for (uint32_t k = 0; k < N_SOLVERS; k++)
        if (strcmp(solvers[k]->name, name) == 0)
            return solvers[k];
    return NULL;
}

const char *koine_solver_name(uint32_t k)
{
    return k < N_SOLVERS ? solvers[k]->name : NULL;
}

const char *koine_solver_description(uint32_t k)
{
    return k < N_SOLVERS ? solvers[k]->description : NULL;
}

static KoineStatus derivatives_by_evaluate(KoineModel *model)
{
    const KoineEvaluation at = {
        .time = *koine_time(model), .x = koine_states(model), .want = KOINE_WANT_DER, .der = koine_slopes(model)
    };
    return model->kind->evaluate(model, &at);
}

KoineDerivatives koine_derivatives_of(const KoineModelKind *kind)
{
    return kind->derivatives ? kind->derivatives : derivatives_by_evaluate;
}

bool koine_is_finite(const double *values, size_t n)
{
    double sum[4] = { 0, 0, 0, 0 }; /* 0 times a value is 0 unless it is infinite or NaN; four sums hide latency */
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += 0.0 * values[i + k];
    for (; i < n; i++)
        sum[0] += 0.0 * values[i];
    return sum[0] + sum[1] + sum[2] + sum[3] == 0.0;
}

KoineStatus koine_derivatives_at(KoineModel *model, double time, const double *x, double *der)
{
    const KoineModelKind *kind = model->kind;
    const size_t n = kind->tables->n_x;
    KoineStatus status;
    if (kind->derivatives) {
        double *states = koine_states(model);
        if (x != states)
            memcpy(states, x, n * sizeof *x);
        *koine_time(model) = time;
        status = kind->derivatives(model);
        if (der != koine_slopes(model))
            memcpy(der, koine_slopes(model), n * sizeof *der);
    } else {
        const KoineEvaluation at = { .time = time, .x = x, .want = KOINE_WANT_DER, .der = der };
        status = kind->evaluate(model, &at);
    }
    if (status == KOINE_OK && !koine_is_finite(der, n))
        return KOINE_RETRY;
    return status;
}

KoineStatus koine_residual_at(KoineModel *model, double time, const double *y, const double *dx, double *residual)
{
    const KoineEvaluation at = { .time = time, .x = y, .dx = dx, .want = KOINE_WANT_RESIDUAL, .residual = residual };
    return model->kind->evaluate(model, &at);
}

void koine_hermite(size_t n, double s, double h, const double *const ends[2], const double *const slopes[2], double *x)
{
    const double *a = ends[0], *b = ends[1], *da = slopes[0], *db = slopes[1];
    const double r = 1 - s;
    KOINE_INDEPENDENT
    for (size_t i = 0; i < n; i++) {
        const double change = b[i] - a[i];
        x[i] = a[i] + s * (change + r * (r * (h * da[i] - change) + s * (change - h * db[i])));
    }
}
