/* See linearize.h. */
#include "koine/linearize.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef KOINE_WITHOUT_LAPACK
/* LAPACK: eigenvalues of a general matrix. */
void dgeev_(const char *left, const char *right, const int *n, double *a, const int *lda, double *wr, double *wi,
            double *vl, const int *ldvl, double *vr, const int *ldvr, double *work, const int *lwork, int *info);
#endif

static const double BORDER = 1e-9; /* a comparison is on its border where its sides are equal to so many parts */
static const double LEAST = 1e-29; /* ... and where both are 0: root functions are not less than 1e-30 then */
static const uint64_t MOST_NUMBERS = UINT64_C(1) << 27; /* of the four matrices: a gigabyte */
enum { WORK_PER_STATE = 16 }; /* numbers that dgeev works with: more than its least, enough for blocks */

typedef struct {
    double *values; /* of the fullest pattern */
    double *roots, *sizes;
    double *copy, *re, *im, *lapack; /* eigenvalues: the matrix that is destroyed, and what comes out */
    double *seed;
    uint32_t n_lapack;
} Work;

static KoineStatus refuse(KoineReason *why, KoineStatus status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (why)
        vsnprintf(why->text, sizeof why->text, format, list);
    va_end(list);
    return status;
}

/* ---- room ---- */
static uint64_t fullest(const KoinePatterns *p)
{
    const KoinePattern *const all[] = { &p->jacobian, &p->input_jacobian, &p->output_jacobian, &p->through_jacobian };
    uint64_t most = 1;
    for (uint32_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (all[k]->start && all[k]->start[all[k]->rows] > most)
            most = all[k]->start[all[k]->rows];
    return most;
}

static double *take(double **at, uint64_t n)
{
    double *const begin = *at;
    *at += n;
    return begin;
}

KoineLinearModel *koine_linear_model_create(const KoineModelKind *kind, bool wants_eigenvalues, KoineReason *why)
{
    const KoineTables *t = kind->tables;
    const uint64_t n = t->n_x, n_u = t->ports.n_inputs, n_y = t->ports.n_outputs, roots = t->roots.n;
    if (!kind->partial.jacobian || !kind->partial.directional || !t->patterns.input_jacobian.start) {
        refuse(why, KOINE_ABSENT, "the model \"%.100s\" was compiled without derivatives by inputs", t->name);
        return NULL;
    }
    if ((n + n_y) > MOST_NUMBERS / (n + n_u + 1)) {
        refuse(why, KOINE_ABSENT, "%llu states, %llu inputs and %llu outputs give matrices of more than a gigabyte",
               (unsigned long long)n, (unsigned long long)n_u, (unsigned long long)n_y);
        return NULL;
    }
    const uint64_t values = fullest(&t->patterns), eigen = wants_eigenvalues ? n * (n + 2 + 2 + WORK_PER_STATE) : 0;
    const uint64_t all = n + n_u + n_y + (n + n_y) * (n + n_u) + values + 2 * roots + 2 * n + eigen + 1;
    KoineLinearModel *linear =
        calloc(1, sizeof *linear + sizeof(Work) + all * sizeof(double) + n * sizeof *linear->states);
    if (!linear) {
        refuse(why, KOINE_FAILED, "no memory for matrices of %llu numbers", (unsigned long long)all);
        return NULL;
    }
    Work *work = (Work *)(void *)(linear + 1);
    double *at = (double *)(void *)(work + 1);
    linear->n_states = (uint32_t)n;
    linear->n_inputs = (uint32_t)n_u;
    linear->n_outputs = (uint32_t)n_y;
    linear->x = take(&at, n);
    linear->u = take(&at, n_u);
    linear->y = take(&at, n_y);
    linear->a = take(&at, n * n);
    linear->b = take(&at, n * n_u);
    linear->c = take(&at, n_y * n);
    linear->d = take(&at, n_y * n_u);
    work->values = take(&at, values);
    work->roots = take(&at, roots);
    work->sizes = take(&at, roots);
    work->seed = take(&at, 2 * n);
    if (wants_eigenvalues) {
        linear->eigenvalues = take(&at, 2 * n);
        work->copy = take(&at, n * n);
        work->re = take(&at, n);
        work->im = take(&at, n);
        work->n_lapack = (uint32_t)(WORK_PER_STATE * n);
        work->lapack = take(&at, WORK_PER_STATE * n);
    }
    linear->states = (KoinePort *)(void *)at;
    linear->work = work;
    return linear;
}

void koine_linear_model_free(KoineLinearModel *linear)
{
    free(linear);
}

/* ---- the point ---- */
static double slot_of(const KoineModel *model, KoinePort port)
{
    const KoineVariable *v = &model->kind->tables->variables[port.variable];
    KoineSlot slot;
    memcpy(&slot, model->block + v->now + port.element * sizeof slot, sizeof slot);
    const double value = v->type == KOINE_REAL ? slot.r : (double)slot.i;
    return v->flags & KOINE_VARIABLE_NEGATED ? -value : value;
}

/* What the states are, which may be another choice at another time. */
static void name_states(const KoineModel *model, KoineLinearModel *linear)
{
    const KoineTables *t = model->kind->tables;
    for (uint32_t k = 0; k < linear->n_states; k++) {
        const uint32_t row = t->state_variable[k];
        const uint64_t first = t->variables[row].now, own = t->x + k * sizeof(double);
        linear->states[k] = model->kind->partial.state
                                ? model->kind->partial.state(model, k)
                                : (KoinePort){ row, (uint32_t)((own - first) / sizeof(KoineSlot)) };
    }
}

static KoineStatus check_borders(const KoineModel *model, const KoineLinearModel *linear, KoineReason *why)
{
    const KoineTables *t = model->kind->tables;
    const Work *work = linear->work;
    for (uint32_t k = 0; k < t->roots.n; k++) {
        const KoineOrigin *root = &t->roots.at[k];
        if (!(fabs(work->roots[k]) <= BORDER * work->sizes[k] + LEAST))
            continue;
        return refuse(why, KOINE_RETRY,
                      "'%.80s'%s%.60s (line %u) is on its border at time %.9g: on both sides of it the derivatives are "
                      "different ones",
                      root->text, root->path && *root->path ? " of " : "", root->path ? root->path : "",
                      (unsigned)root->place.line, linear->time);
    }
    return KOINE_OK;
}

static KoineStatus take_point(KoineModel *model, KoineLinearModel *linear, KoineEvaluation *at, KoineReason *why)
{
    const KoineTables *t = model->kind->tables;
    const Work *work = linear->work;
    memcpy(&linear->time, model->block + t->time, sizeof linear->time);
    if (t->n_x)
        memcpy(linear->x, model->block + t->x, t->n_x * sizeof *linear->x);
    *at = (KoineEvaluation){ .time = linear->time,
                             .x = linear->x,
                             .want = KOINE_WANT_DER | KOINE_WANT_OUTPUTS | (t->roots.n ? KOINE_WANT_ROOTS : 0),
                             .der = work->seed,
                             .roots = work->roots,
                             .root_sizes = work->sizes };
    for (uint32_t k = 0; k < t->roots.n; k++)
        work->sizes[k] = 0;
    const KoineStatus status = model->kind->evaluate(model, at);
    if (status != KOINE_OK)
        return refuse(why, status, "the model cannot be evaluated at time %.9g: %.180s", linear->time,
                      model->fault.text);
    for (uint32_t k = 0; k < linear->n_inputs; k++)
        linear->u[k] = slot_of(model, t->ports.inputs[k]);
    for (uint32_t k = 0; k < linear->n_outputs; k++)
        linear->y[k] = slot_of(model, t->ports.outputs[k]);
    name_states(model, linear);
    return check_borders(model, linear, why);
}

/* ---- matrices ---- */
static KoineStatus fill(KoineModel *model, const KoineEvaluation *at, int by, const KoinePattern *pattern,
                        const Work *work, double *full)
{
    if (pattern->rows == 0 || pattern->columns == 0)
        return KOINE_OK;
    const KoineStatus status = model->kind->partial.jacobian(model, at, by, 0, work->values);
    if (status != KOINE_OK)
        return status;
    memset(full, 0, (size_t)pattern->rows * pattern->columns * sizeof *full);
    for (uint32_t row = 0; row < pattern->rows; row++)
        for (uint32_t k = pattern->start[row]; k < pattern->start[row + 1]; k++)
            full[(size_t)row * pattern->columns + pattern->index[k]] = work->values[k];
    return KOINE_OK;
}

/* A matrix that nobody wanted to keep in one piece: column after column. */
static KoineStatus fill_by_columns(KoineModel *model, const KoineEvaluation *at, const KoineLinearModel *linear)
{
    const uint32_t n = linear->n_states;
    const Work *work = linear->work;
    double *seed = work->seed, *column = seed + n;
    for (uint32_t j = 0; j < n; j++) {
        memset(seed, 0, n * sizeof *seed);
        seed[j] = 1;
        const KoineStatus status = model->kind->partial.directional(model, at, KOINE_BY_X, seed, column);
        if (status != KOINE_OK)
            return status;
        for (uint32_t i = 0; i < n; i++)
            linear->a[(size_t)i * n + j] = column[i];
    }
    return KOINE_OK;
}

static bool are_finite(const double *values, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (!isfinite(values[k]))
            return false;
    return true;
}

/* ---- eigenvalues ---- */
#ifdef KOINE_WITHOUT_LAPACK
static KoineStatus find_eigenvalues(const KoineLinearModel *linear, KoineReason *why)
{
    (void)linear;
    return refuse(why, KOINE_ABSENT, "eigenvalues need LAPACK, and this program was built without it");
}
#else
static int compare_pairs(const void *left, const void *right)
{
    const double *a = left, *b = right;
    for (int k = 0; k < 2; k++)
        if (a[k] != b[k])
            return a[k] < b[k] ? -1 : 1;
    return 0;
}

static KoineStatus find_eigenvalues(const KoineLinearModel *linear, KoineReason *why)
{
    const Work *work = linear->work;
    const int n = (int)linear->n_states, one = 1, n_work = (int)work->n_lapack;
    int info = 0;
    for (int i = 0; i < n; i++) /* columns first */
        for (int j = 0; j < n; j++)
            work->copy[(size_t)j * (size_t)n + (size_t)i] = linear->a[(size_t)i * (size_t)n + (size_t)j];
    dgeev_("N", "N", &n, work->copy, &n, work->re, work->im, NULL, &one, NULL, &one, work->lapack, &n_work, &info);
    if (info != 0)
        return refuse(why, KOINE_FAILED, "the eigenvalues of the matrix were not found");
    for (int k = 0; k < n; k++) {
        linear->eigenvalues[2 * k] = work->re[k];
        linear->eigenvalues[2 * k + 1] = work->im[k];
    }
    qsort(linear->eigenvalues, linear->n_states, 2 * sizeof *linear->eigenvalues, compare_pairs);
    return KOINE_OK;
}
#endif

KoineStatus koine_linearize(KoineModel *model, KoineLinearModel *linear, KoineReason *why)
{
    const KoinePatterns *p = &model->kind->tables->patterns;
    const Work *work = linear->work;
    const size_t n = linear->n_states, n_u = linear->n_inputs, n_y = linear->n_outputs;
    KoineEvaluation at;
    KoineStatus status = take_point(model, linear, &at, why);
    if (status != KOINE_OK)
        return status;
    status = p->jacobian.start ? fill(model, &at, KOINE_BY_X, &p->jacobian, work, linear->a)
                               : fill_by_columns(model, &at, linear);
    if (status == KOINE_OK)
        status = fill(model, &at, KOINE_BY_INPUT, &p->input_jacobian, work, linear->b);
    if (status == KOINE_OK)
        status = fill(model, &at, KOINE_OUTPUTS_BY_X, &p->output_jacobian, work, linear->c);
    if (status == KOINE_OK)
        status = fill(model, &at, KOINE_OUTPUTS_BY_INPUT, &p->through_jacobian, work, linear->d);
    if (status == KOINE_OK && !are_finite(linear->a, (n + n_y) * (n + n_u)))
        status = KOINE_RETRY;
    if (status != KOINE_OK)
        return refuse(why, status, "the equations are singular at time %.9g: derivatives are not finite%s%.150s",
                      linear->time, model->fault.text[0] ? ": " : "", model->fault.text);
    return linear->eigenvalues && n ? find_eigenvalues(linear, why) : KOINE_OK;
}
