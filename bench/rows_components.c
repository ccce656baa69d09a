/* M: what a call of a foreign component costs more than calling its function, by the wall clock: the best of many. */
#include "bench.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LIBRARY KOINE_BUILD_DIR "/bench/koine-bench-component.so"

enum { CALLS = 10000, SAMPLES = 400, QUICK_SAMPLES = 100 };

/* ---- subjects: each call has another input ---- */
typedef struct {
    KoineModel *model;
    double *x;
} Whole;

static bool call_whole(void *context)
{
    const Whole *w = context;
    bool is_good = true;
    for (int k = 0; k < CALLS; k++) {
        *w->x = k;
        is_good &= w->model->kind->derivatives(w->model) == KOINE_OK;
    }
    return is_good;
}

static bool call_directly(void *context)
{
    const Whole *w = context;
    const KoineEvaluation at = { .want = KOINE_WANT_OUTPUTS };
    bool is_good = true;
    for (int k = 0; k < CALLS; k++) {
        *w->x = k;
        is_good &= w->model->kind->evaluate(w->model, &at) == KOINE_OK;
    }
    return is_good;
}

/* Nanoseconds a call. */
static double best_of(const Bench *bench, bool (*run)(void *context), Whole *subject)
{
    double best = INFINITY;
    for (int k = 0; k < (bench->is_quick ? QUICK_SAMPLES : SAMPLES); k++) {
        const double begun = wall_seconds();
        if (!run(subject))
            return NAN;
        best = fmin(best, wall_seconds() - begun);
    }
    return 1e9 * best / CALLS;
}

/* The derivative of x is `line` of x; NAN: the figure says why. */
static double measure_model(const Bench *bench, const Row *row, const char *line, Figure *figure)
{
    Subject subject;
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/component.ir", bench->folder);
    FILE *file = fopen(path, "w");
    fprintf(file,
            "koine-ir 1\nmodel Component\nvar x Real continuous start 1.0\nvar y Real continuous\n"
            "eq e1 der(x) = y\n%s\nend Component\n",
            line);
    fclose(file);
    if (!subject_open(&subject, path, row->tier, figure))
        return NAN;
    double best = NAN;
    Whole whole = { .model = subject_start(&subject) };
    if (whole.model && subject.kind->derivatives) {
        whole.x = (double *)(void *)(whole.model->block + subject.kind->tables->x);
        best = best_of(bench, call_whole, &whole);
        subject.kind->destroy(whole.model);
    } else
        no_figure(figure, "does not start");
    subject_close(&subject);
    return best;
}

static double measure_direct(const Bench *bench)
{
    void *library = dlopen(LIBRARY, RTLD_NOW);
    const KoineModelKind *kind = library ? dlsym(library, "gain_kind") : NULL;
    Whole whole = { .model = NULL };
    if (!kind || kind->create(kind, NULL, &whole.model) != KOINE_OK)
        return NAN;
    kind->initialise(whole.model, 0);
    whole.x = (double *)(void *)whole.model->block;
    const double best = best_of(bench, call_directly, &whole);
    kind->destroy(whole.model);
    dlclose(library);
    return best;
}

static void measure(const Bench *bench, const Row *row, Figure *figure)
{
    char line[PATH_SIZE];
    const char *words = row->subject;
    setenv("KOINE_COMPONENT", KOINE_BUILD_DIR "/koine-component", 0);
    snprintf(line, sizeof line, "foreign f \"%s\" \"gain_kind\" in (x = \"u\") out (y)%s", LIBRARY, words);
    const double with = measure_model(bench, row, line, figure),
                 without = measure_model(bench, row, "eq e2 y = -0.5*x", figure), direct = measure_direct(bench);
    figure->value = with - without - direct;
    figure->is_known = !isnan(figure->value);
    if (figure->is_known && *words)
        figure->value *= 1e-3;
    if (figure->is_known)
        note(figure, "model %.4g ns, as an equation %.3g ns, function %.3g ns", with, without, direct);
}

static const Row rows[] = {
    { "components/call/interp", AT_MOST, 20, "ns", measure, "", "interp" },
    { "components/call/cc", AT_MOST, 20, "ns", measure, "", "cc" },
    { "components/apart/cc", AT_MOST, 1, "us", measure, " apart", "cc" },
};
const Group group_components = { "M. calls of foreign components", rows, sizeof rows / sizeof rows[0] };
