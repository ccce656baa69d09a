/* KINSOL for nonlinear systems: Newton's method with the line search of that library, with our factors.
 *
 * One memory serves systems of every size: what a system does not use are unknowns with the equations u = 0, which hold
 * from the start. Nothing is allocated after create. Whether the result is a solution is not decided here. */
#include "systems.h"
#include <stdlib.h>

#ifdef KOINE_WITHOUT_SUNDIALS
struct Kinsol {
    uint32_t n;
};

Kinsol *koine_kinsol_create(uint32_t n)
{
    Kinsol *own = calloc(1, sizeof *own);
    if (own)
        own->n = n;
    return own;
}

void koine_kinsol_destroy(Kinsol *own)
{
    free(own);
}

/* One way less: the unknowns stay where they are. */
void koine_kinsol(Machine *m, const KoineSystem *s)
{
    (void)m, (void)s;
}
#else
#include <kinsol/kinsol.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

static const double SMALLEST_RESIDUAL = 1e-3; /* of the largest, for the scale of equations */
enum { MOST_STEPS = 200 };

struct Kinsol {
    uint32_t n;
    SUNContext context;
    void *memory;
    N_Vector u, u_scale, f_scale;
    SUNMatrix matrix; /* empty: the factors are ours */
    SUNLinearSolver linear;
    Machine *machine; /* of the call */
    const KoineSystem *s;
};

static void place(const Kinsol *own, N_Vector u)
{
    const double *at = N_VGetArrayPointer(u);
    for (uint32_t j = 0; j < own->s->n; j++)
        own->machine->slots[own->s->unknowns[j]].r = at[j];
}

static int residuals(N_Vector u, N_Vector f, void *data)
{
    const Kinsol *own = data;
    double *to = N_VGetArrayPointer(f);
    place(own, u);
    const bool is_finite = koine_residuals(own->machine, own->s);
    for (uint32_t j = 0; j < own->s->n; j++)
        to[j] = own->machine->slots[own->s->residuals[j]].r;
    for (uint32_t j = own->s->n; j < own->n; j++)
        to[j] = N_VGetArrayPointer(u)[j];
    return is_finite ? 0 : 1;
}

static int jacobian(N_Vector u, N_Vector f, SUNMatrix matrix, void *data, N_Vector work1, N_Vector work2)
{
    const Kinsol *own = data;
    (void)f, (void)matrix, (void)work1, (void)work2;
    place(own, u);
    koine_residuals(own->machine, own->s); /* what the factors depend on belongs to these unknowns */
    return koine_factor(own->machine, own->s) ? 0 : 1;
}

static SUNMatrix_ID matrix_id(SUNMatrix matrix)
{
    (void)matrix;
    return SUNMATRIX_CUSTOM;
}

static int matrix_zero(SUNMatrix matrix)
{
    (void)matrix;
    return 0;
}

static SUNLinearSolver_Type linear_type(SUNLinearSolver linear)
{
    (void)linear;
    return SUNLINEARSOLVER_DIRECT;
}

static int linear_setup(SUNLinearSolver linear, SUNMatrix matrix)
{
    (void)linear, (void)matrix;
    return 0;
}

static int linear_solve(SUNLinearSolver linear, SUNMatrix matrix, N_Vector x, N_Vector b, realtype tolerance)
{
    const Kinsol *own = linear->content;
    (void)matrix, (void)tolerance;
    memcpy(N_VGetArrayPointer(x), N_VGetArrayPointer(b), own->n * sizeof(double));
    koine_solve_factored(own->machine, own->s, N_VGetArrayPointer(x));
    return 0;
}

static void be_silent(int code, const char *module, const char *function, char *text, void *data)
{
    (void)code, (void)module, (void)function, (void)text, (void)data;
}

static bool create_vectors(Kinsol *own)
{
    own->u = N_VNew_Serial(own->n, own->context);
    own->u_scale = N_VNew_Serial(own->n, own->context);
    own->f_scale = N_VNew_Serial(own->n, own->context);
    own->matrix = SUNMatNewEmpty(own->context);
    own->linear = SUNLinSolNewEmpty(own->context);
    own->memory = KINCreate(own->context);
    return own->u && own->u_scale && own->f_scale && own->matrix && own->linear && own->memory;
}

Kinsol *koine_kinsol_create(uint32_t n)
{
    Kinsol *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    own->n = n;
    if (SUNContext_Create(NULL, &own->context) != 0 || !create_vectors(own))
        goto failed;
    own->matrix->ops->getid = matrix_id;
    own->matrix->ops->zero = matrix_zero;
    own->linear->content = own;
    own->linear->ops->gettype = linear_type;
    own->linear->ops->setup = linear_setup;
    own->linear->ops->solve = linear_solve;
    if (KINSetErrHandlerFn(own->memory, be_silent, NULL) || KINInit(own->memory, residuals, own->u) ||
        KINSetUserData(own->memory, own) || KINSetLinearSolver(own->memory, own->linear, own->matrix) ||
        KINSetJacFn(own->memory, jacobian) || KINSetNumMaxIters(own->memory, MOST_STEPS) ||
        KINSetMaxSetupCalls(own->memory, 1))
        goto failed;
    return own;
failed:
    koine_kinsol_destroy(own);
    return NULL;
}

void koine_kinsol_destroy(Kinsol *own)
{
    if (!own)
        return;
    if (own->memory)
        KINFree(&own->memory);
    if (own->linear) {
        own->linear->content = NULL;
        SUNLinSolFreeEmpty(own->linear);
    }
    if (own->matrix)
        SUNMatFreeEmpty(own->matrix);
    const N_Vector vectors[] = { own->u, own->u_scale, own->f_scale };
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        if (vectors[k])
            N_VDestroy(vectors[k]);
    if (own->context)
        SUNContext_Free(&own->context);
    free(own);
}

void koine_kinsol(Machine *m, const KoineSystem *s)
{
    Kinsol *own = m->spaces.workspace->kinsol;
    double *u = N_VGetArrayPointer(own->u), *u_scale = N_VGetArrayPointer(own->u_scale),
           *f_scale = N_VGetArrayPointer(own->f_scale), largest = 0;
    own->machine = m;
    own->s = s;
    if (!koine_residuals(m, s))
        return;
    koine_newton_scale(m, s);
    for (uint32_t j = 0; j < s->n; j++)
        largest = fmax(largest, fabs(m->slots[s->residuals[j]].r));
    for (uint32_t j = 0; j < own->n; j++) {
        u[j] = j < s->n ? m->slots[s->unknowns[j]].r : 0;
        u_scale[j] = j < s->n ? 1 / m->spaces.workspace->newton->scale[j] : 1;
        f_scale[j] = 1;
        if (j < s->n && largest > 0)
            f_scale[j] = 1 / fmax(fabs(m->slots[s->residuals[j]].r), SMALLEST_RESIDUAL * largest);
    }
    KINSol(own->memory, own->u, KIN_LINESEARCH, own->u_scale, own->f_scale);
    place(own, own->u);
}
#endif
