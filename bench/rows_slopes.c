/* B: the right-hand side alone. Both sides must agree in value before their times are compared. */
#include "bench.h"
#include "hand_alone.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *file; /* NULL: a line of SIMPLEX components */
    AloneModel model;
    uint32_t cells;
} Case;

enum { BATCH = 64 }; /* evaluations a call, so that the harness itself does not count */

static bool run_ours(void *context)
{
    KoineModel *model = context;
    KoineStatus (*const derivatives)(KoineModel *) = model->kind->derivatives;
    for (int k = 0; k < BATCH; k++)
        if (derivatives(model) != KOINE_OK)
            return false;
    return true;
}

typedef struct {
    const Alone *hand;
    double *x, *dx;
} Theirs;

static bool run_theirs(void *context)
{
    const Theirs *t = context;
    int (*const slopes)(double, const double *, double *, const void *) = t->hand->slopes;
    for (int k = 0; k < BATCH; k++)
        if (slopes(0, t->x, t->dx, t->hand->parameters) != 0)
            return false;
    return true;
}

/* The same point on both sides; states in Koine's order are found by name. */
static bool is_equal(const Subject *subject, KoineModel *model, const Theirs *t)
{
    const Alone *hand = t->hand;
    double *x = (double *)(void *)(model->block + subject->kind->tables->x);
    const double *dx = (const double *)(const void *)(model->block + subject->kind->tables->dx);
    if (subject->kind->tables->n_x != hand->n)
        return false;
    for (uint32_t k = 0; k < hand->n; k++) {
        t->x[k] = 0.5 + 0.25 * sin(k + 1.0);
        x[hand->names ? subject_state(subject, hand->names[k]) : k] = t->x[k];
    }
    if (subject->kind->derivatives(model) != KOINE_OK)
        return false;
    hand->slopes(0, t->x, t->dx, hand->parameters);
    for (uint32_t k = 0; k < hand->n; k++) {
        const double ours = dx[hand->names ? subject_state(subject, hand->names[k]) : k];
        if (!(fabs(ours - t->dx[k]) <= 1e-9 * (1 + fabs(t->dx[k]))))
            return false;
    }
    return true;
}

/* Loaded as compiled models are, or near as the interpreter is. */
static const Alone *find_hand(const Bench *bench, const Case *c, const char *tier)
{
    static void *module;
    if (strcmp(tier, "interp") == 0)
        return hand_alone(c->model, c->cells);
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%.*s-hand.so", PATH_SIZE - 16, bench->self);
    module = module ? module : dlopen(path, RTLD_NOW);
    AloneFind *find = NULL;
    if (module)
        *(void **)(void *)&find = dlsym(module, "hand_alone");
    return find ? find(c->model, c->cells) : NULL;
}

static void measure(const Bench *bench, const Row *row, Figure *figure)
{
    const Case *c = row->subject;
    const Alone *hand = find_hand(bench, c, row->tier);
    Subject subject;
    char path[PATH_SIZE];
    double seconds[2];
    if (!hand) {
        no_figure(figure, "%s-hand.so cannot be loaded", bench->self);
        return;
    }
    if (c->file)
        model_path(bench, c->file, path);
    else
        generate_line(bench, c->cells, path);
    if (!subject_open(&subject, path, row->tier, figure))
        return;
    KoineModel *model = subject_start(&subject);
    Theirs theirs = { hand, calloc(hand->n, sizeof(double)), calloc(hand->n, sizeof(double)) };
    if (!model || !subject.kind->derivatives) {
        no_figure(figure, "does not start");
    } else if (!is_equal(&subject, model, &theirs)) {
        no_figure(figure, "the derivatives differ from those by hand");
    } else if (measure_both(bench, &(Work){ run_ours, model }, &(Work){ run_theirs, &theirs }, seconds)) {
        figure->value = seconds[0] / seconds[1];
        figure->is_known = true;
        note(figure, "%.4g ns, hand %.4g ns", 1e9 * seconds[0] / BATCH, 1e9 * seconds[1] / BATCH);
    }
    if (model)
        subject.kind->destroy(model);
    free(theirs.x);
    free(theirs.dx);
    subject_close(&subject);
}

static const Case lorenz = { "Lorenz.mdl", ALONE_LORENZ, 0 }, van_der_pol = { "VanDerPol.mdl", ALONE_VAN_DER_POL, 0 };
static const Case pendulums = { "Pendulums.dym", ALONE_PENDULUMS, 0 }, arm = { "Arm.dym", ALONE_ARM, 0 };
static const Case bodies_100 = { "bodies100.ir", ALONE_BODIES, 0 };
static const Case line_100 = { NULL, ALONE_LINE, 100 }, line_10000 = { NULL, ALONE_LINE, 10000 };
static const Case array_100 = { "heat100.ir", ALONE_HEAT, 100 }, array_10000 = { "heat10000.ir", ALONE_HEAT, 10000 };
static const Case function_100 = { "function100.ir", ALONE_FUNCTION, 100 }; /* an array is the argument of a function */

static const Case external = { "External.ir", ALONE_EXTERNAL, 0 };

#define TIERS(name, interp, cc, subject)                                                                               \
    { "slopes/" name "/interp", AT_MOST, interp, "x", measure, subject, "interp" },                                    \
        { "slopes/" name "/tcc", AT_MOST, 3, "x", measure, subject, "tcc" },                                           \
    {                                                                                                                  \
        "slopes/" name "/cc", AT_MOST, cc, "x", measure, subject, "cc"                                                 \
    }

static const Row rows[] = {
    TIERS("lorenz", 8, 1.1, &lorenz),
    TIERS("vanderpol", 8, 1.1, &van_der_pol),
    TIERS("pendulums", 3, 1.4, &pendulums),
    TIERS("arm", 3, 1.1, &arm),
    TIERS("line100", 5, 1.1, &line_100),
    TIERS("heat100", 5, 1.1, &array_100),
    { "slopes/bodies100/interp", AT_MOST, 5, "x", measure, &bodies_100, "interp" },
    { "slopes/bodies100/tcc", AT_MOST, 5, "x", measure, &bodies_100, "tcc" },
    { "slopes/bodies100/cc", AT_MOST, 1.2, "x", measure, &bodies_100, "cc" },
    TIERS("line10000", 5, 1.1, &line_10000),
    TIERS("heat10000", 5, 1.1, &array_10000),
    TIERS("external", 15, 1.1, &external),
    TIERS("function100", 8, 1.1, &function_100),
};
const Group group_slopes = { "B. right-hand side alone (line: SIMPLEX components, heat: array equations)", rows,
                             sizeof rows / sizeof rows[0] };
