/* B: the right-hand side alone. Both sides must agree in value before their times are compared. */
#include "bench.h"
#include "hand.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Hand *hand;
    uint32_t components; /* 0: the file of `hand`; else a line of so many SIMPLEX components */
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
    const Hand *hand;
    double *x, *dx;
} Theirs;

static bool run_theirs(void *context)
{
    const Theirs *t = context;
    void (*const slopes)(const double *, double *, const void *) = t->hand->slopes;
    for (int k = 0; k < BATCH; k++)
        slopes(t->x, t->dx, t->hand->parameters);
    return true;
}

/* The same point on both sides; states in Koine's order are found by name. */
static bool is_equal(const Subject *subject, KoineModel *model, const Theirs *t)
{
    const Hand *hand = t->hand;
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
    hand->slopes(t->x, t->dx, hand->parameters);
    for (uint32_t k = 0; k < hand->n; k++) {
        const double ours = dx[hand->names ? subject_state(subject, hand->names[k]) : k];
        if (!(fabs(ours - t->dx[k]) <= 1e-9 * (1 + fabs(t->dx[k]))))
            return false;
    }
    return true;
}

static void measure(const Bench *bench, const Row *row, Figure *figure)
{
    const Case *c = row->subject;
    const Hand *hand = c->hand;
    Subject subject;
    char path[PATH_SIZE];
    double seconds[2];
    if (c->components)
        generate_line(bench, c->components, path);
    else
        model_path(bench, hand->file, path);
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

static const Case lorenz = { &hand_lorenz, 0 }, van_der_pol = { &hand_van_der_pol, 0 };
static const Case line_100 = { &hand_heat_100, 100 }, line_10000 = { &hand_heat_10000, 10000 };
static const Case array_100 = { &hand_heat_100, 0 }, array_10000 = { &hand_heat_10000, 0 };

#define TIERS(name, interp, subject)                                                                                   \
    { "slopes/" name "/interp", AT_MOST, interp, "x", measure, subject, "interp" },                                    \
        { "slopes/" name "/tcc", AT_MOST, 3, "x", measure, subject, "tcc" },                                           \
    {                                                                                                                  \
        "slopes/" name "/cc", AT_MOST, 1.1, "x", measure, subject, "cc"                                                \
    }

static const Row rows[] = {
    TIERS("lorenz", 8, &lorenz),     TIERS("vanderpol", 8, &van_der_pol), TIERS("line100", 5, &line_100),
    TIERS("heat100", 5, &array_100), TIERS("line10000", 5, &line_10000),  TIERS("heat10000", 5, &array_10000),
};
const Group group_slopes = { "B. right-hand side alone (line: SIMPLEX components, heat: array equations)", rows,
                             sizeof rows / sizeof rows[0] };
