/* Derivatives by inputs and of outputs: against central differences, in all tiers, along directions and backwards. */
#include "assertions.h"
#include "koine/linearize.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/derivatives/"

typedef struct {
    Compilation *compilation;
    const KoineModelKind *kind;
    const KoineTables *tables;
    KoineHost host;
    KoineModel *model;
    uint32_t n_x, n_u, n_y;
} Stage;

static Stage *set_up(const char *path, const char *tier, const char *const *parameters, const char *const *outputs)
{
    Stage *s = calloc(1, sizeof *s);
    const char *why = NULL;
    KoineRunReport report;
    s->compilation = compilation_create(NULL);
    const CompileRequest request = { .path = path,
                                     .task_span = SPAN_NONE,
                                     .derivatives = { true, parameters, outputs } };
    if (!compilation_load(s->compilation, &request) || !compilation_schedule(s->compilation)) {
        diag_print(s->compilation->diag, stderr, (DiagStyle){ 0 });
        fail_msg("%s does not compile", path);
    }
    s->kind = compilation_kind(s->compilation, tier, &why);
    assert_non_null(s->kind);
    s->tables = s->kind->tables;
    s->host = (KoineHost){ .tolerance = 1e-12 };
    assert_int_equal(s->kind->create(s->kind, &s->host, &s->model), KOINE_OK);
    const KoineRunOptions options = { .stop = 1e-6, .tolerance = 1e-10, .solver = "dopri5" };
    assert_int_equal(koine_simulate(s->model, &options, &report), KOINE_RUN_DONE);
    s->n_x = s->tables->n_x;
    s->n_u = s->tables->ports.n_inputs;
    s->n_y = s->tables->ports.n_outputs;
    return s;
}

static void tear_down(Stage *s)
{
    s->kind->destroy(s->model);
    compilation_destroy(s->compilation);
    free(s);
}

/* ---- Matrices --------------------------------------------------------------------------------------------------- */

static const KoinePattern *pattern_of(const Stage *s, int by)
{
    const KoinePatterns *p = &s->tables->patterns;
    return by == KOINE_BY_X           ? &p->jacobian
           : by == KOINE_BY_INPUT     ? &p->input_jacobian
           : by == KOINE_OUTPUTS_BY_X ? &p->output_jacobian
                                      : &p->through_jacobian;
}

static KoineEvaluation here(const Stage *s)
{
    double time;
    memcpy(&time, s->model->block + s->tables->time, sizeof time);
    return (KoineEvaluation){ .time = time, .x = (const double *)(const void *)(s->model->block + s->tables->x) };
}

/* Rows of numbers. */
static double *matrix_of(const Stage *s, int by)
{
    const KoinePattern *p = pattern_of(s, by);
    double *values = calloc(p->start[p->rows] + 1, sizeof *values),
           *full = calloc((size_t)p->rows * p->columns + 1, sizeof *full);
    const KoineEvaluation at = here(s);
    assert_int_equal(s->kind->partial.jacobian(s->model, &at, by, 0, values), KOINE_OK);
    for (uint32_t row = 0; row < p->rows; row++)
        for (uint32_t k = p->start[row]; k < p->start[row + 1]; k++)
            full[(size_t)row * p->columns + p->index[k]] = values[k];
    free(values);
    return full;
}

/* ---- Differences ------------------------------------------------------------------------------------------------ */

static double *slot(const Stage *s, KoinePort port)
{
    return (double *)(void *)(s->model->block + s->tables->variables[port.variable].now) + port.element;
}

static double sign(const Stage *s, KoinePort port)
{
    return s->tables->variables[port.variable].flags & KOINE_VARIABLE_NEGATED ? -1 : 1;
}

/* Derivatives, then outputs; parameters and what follows from them are computed anew by an instant. */
static void results(const Stage *s, bool is_anew, double *out)
{
    const KoineEvaluation at = here(s);
    KoineEvaluation full = at;
    double *x = malloc((s->n_x + 1) * sizeof *x);
    if (s->n_x)
        memcpy(x, at.x, s->n_x * sizeof *x);
    full.x = x;
    full.want = KOINE_WANT_DER | KOINE_WANT_OUTPUTS;
    full.der = out;
    if (is_anew) {
        const KoineArrival arrival = { .time = at.time, .x = x, .cause = KOINE_AT_CONTINUE };
        KoineOutcome outcome = { .flags = KOINE_COMMIT };
        assert_int_equal(s->kind->arrive(s->model, &arrival), KOINE_OK);
        while (outcome.flags & KOINE_COMMIT) {
            assert_int_equal(s->kind->step(s->model, &outcome), KOINE_OK);
            if (outcome.flags & KOINE_COMMIT)
                assert_int_equal(s->kind->commit(s->model, &outcome), KOINE_OK);
        }
        assert_int_equal(s->kind->leave(s->model, &outcome), KOINE_OK);
    }
    assert_int_equal(s->kind->evaluate(s->model, &full), KOINE_OK);
    for (uint32_t k = 0; k < s->n_y; k++)
        out[s->n_x + k] = sign(s, s->tables->ports.outputs[k]) * *slot(s, s->tables->ports.outputs[k]);
    free(x);
}

/* The column of the derivatives and outputs by what stands at `at`. */
static void difference(const Stage *s, double *at, double factor, bool is_anew, double *column)
{
    const uint32_t n = s->n_x + s->n_y;
    const double middle = *at, h = 1e-5 * (1 + fabs(middle));
    double *lo = malloc((n + 1) * sizeof *lo);
    *at = middle - h;
    results(s, is_anew, lo);
    *at = middle + h;
    results(s, is_anew, column);
    for (uint32_t k = 0; k < n; k++)
        column[k] = factor * (column[k] - lo[k]) / (2 * h);
    *at = middle;
    results(s, is_anew, lo);
    free(lo);
}

static bool is_parameter(const Stage *s, KoinePort port)
{
    return s->tables->variables[port.variable].variability <= KOINE_VARIABILITY_DISCRETE;
}

static void compare(const Stage *s, const double *column, uint32_t at, uint32_t n_columns, const double *derivatives,
                    const double *outputs, const char *name)
{
    for (uint32_t k = 0; k < s->n_x + s->n_y; k++) {
        const double exact = k < s->n_x ? derivatives[k * n_columns + at] : outputs[(k - s->n_x) * n_columns + at];
        if (!(fabs(exact - column[k]) < 2e-8 * (1 + fabs(exact))))
            fail_msg("%s: row %u by %s %u is %.12g, differences say %.12g", s->tables->name, k, name, at, exact,
                     column[k]);
    }
}

static void compare_with_differences(Stage *s)
{
    double *a = matrix_of(s, KOINE_BY_X), *b = matrix_of(s, KOINE_BY_INPUT), *c = matrix_of(s, KOINE_OUTPUTS_BY_X),
           *d = matrix_of(s, KOINE_OUTPUTS_BY_INPUT), *column = malloc((s->n_x + s->n_y + 1) * sizeof *column);
    for (uint32_t k = 0; k < s->n_x; k++) {
        difference(s, (double *)(void *)(s->model->block + s->tables->x) + k, 1, false, column);
        compare(s, column, k, s->n_x, a, c, "state");
    }
    for (uint32_t k = 0; k < s->n_u; k++) {
        const KoinePort port = s->tables->ports.inputs[k];
        if (s->tables->variables[port.variable].type != KOINE_REAL)
            continue;
        difference(s, slot(s, port), sign(s, port), is_parameter(s, port), column);
        compare(s, column, k, s->n_u, b, d, "input");
    }
    free(a);
    free(b);
    free(c);
    free(d);
    free(column);
}

/* ---- Directions ------------------------------------------------------------------------------------------------- */

/* w*(J*v) by directions, (J'*w)*v backwards, and the same from the matrix. */
static void compare_directions(Stage *s, int by)
{
    const KoinePattern *p = pattern_of(s, by);
    const KoineEvaluation at = here(s);
    double *v = malloc((p->columns + 1) * sizeof *v), *w = malloc((p->rows + 1) * sizeof *w),
           *forth = malloc((p->rows + 1) * sizeof *forth), *back = malloc((p->columns + 1) * sizeof *back),
           *full = matrix_of(s, by), one = 0, other = 0, third = 0, size = 1;
    for (uint32_t k = 0; k < p->columns; k++)
        v[k] = sin(1.0 + k);
    for (uint32_t k = 0; k < p->rows; k++)
        w[k] = cos(2.0 * k);
    assert_int_equal(s->kind->partial.directional(s->model, &at, by, v, forth), KOINE_OK);
    assert_int_equal(s->kind->partial.adjoint(s->model, &at, by, w, back), KOINE_OK);
    for (uint32_t k = 0; k < p->rows; k++) {
        one += w[k] * forth[k];
        size += fabs(w[k] * forth[k]);
        for (uint32_t j = 0; j < p->columns; j++)
            third += w[k] * full[(size_t)k * p->columns + j] * v[j];
    }
    for (uint32_t k = 0; k < p->columns; k++)
        other += back[k] * v[k];
    expect_near(other, one, 1e-13 * size);
    expect_near(third, one, 1e-13 * size);
    free(v);
    free(w);
    free(forth);
    free(back);
    free(full);
}

static void check(const char *path, const char *const *parameters, const char *const *outputs)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    double *first[4] = { NULL };
    for (int k = 0; k < 3; k++) {
        Stage *s = set_up(path, tiers[k], parameters, outputs);
        for (int by = 0; by < 4; by++) {
            static const int all[] = { KOINE_BY_X, KOINE_BY_INPUT, KOINE_OUTPUTS_BY_X, KOINE_OUTPUTS_BY_INPUT };
            double *full = matrix_of(s, all[by]);
            const size_t size = sizeof *full * pattern_of(s, all[by])->rows * pattern_of(s, all[by])->columns;
            if (k == 0)
                first[by] = full;
            else
                assert_memory_equal(full, first[by], size);
            if (k > 0)
                free(full);
            compare_directions(s, all[by]);
        }
        compare_with_differences(s);
        tear_down(s);
    }
    for (int by = 0; by < 4; by++)
        free(first[by]);
}

static void derivatives_by_inputs_are_exact(void **state)
{
    static const char *const models[] = { "loop", "newton", "arrays", "line", "events", "function" };
    (void)state;
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        char path[512];
        snprintf(path, sizeof path, MODELS "%s.ir", models[k]);
        check(path, NULL, NULL);
    }
}

static void derivatives_by_parameters_follow_their_bindings(void **state)
{
    (void)state;
    check(MODELS "newton.ir", (const char *const[]){ "k", NULL }, (const char *const[]){ "p", "q", "k2", NULL });
    check(MODELS "arrays.ir", (const char *const[]){ "c", NULL }, (const char *const[]){ "z", "x", NULL });
}

/* Of every variable, in models with chosen states, reduced index, tearing and tables: what outputs need is computed in
 * another list than what derivatives need, and nothing of that is the same for all directions. */
static void derivatives_of_all_variables_are_exact(void **state)
{
    static const char *const models[] = { "tests/sim/index/dead_point.dym", "tests/sim/index/fourbar.dym",
                                          "tests/sim/dymola/mechanics.dym", "examples/motor-dymola/motor.dym",
                                          "examples/pendulum/pendulum.dym", "tests/sim/ir/heat.ir",
                                          "tests/sim/ir/function_arrays.ir" };
    (void)state;
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
        char path[512];
        snprintf(path, sizeof path, KOINE_SOURCE_DIR "/%s", models[k]);
        check(path, NULL, (const char *const[]){ "*", NULL });
    }
}

/* MP-121: A0 = -1, B0 = 1, C0 = 2, D0 = 0.5, the output added to the input. */
static void mp_121_a_loop_is_resolved(void **state)
{
    (void)state;
    Stage *s = set_up(MODELS "loop.ir", "interp", NULL, NULL);
    double *a = matrix_of(s, KOINE_BY_X), *b = matrix_of(s, KOINE_BY_INPUT), *c = matrix_of(s, KOINE_OUTPUTS_BY_X),
           *d = matrix_of(s, KOINE_OUTPUTS_BY_INPUT);
    expect_near(a[0], 3, 1e-15);
    expect_near(b[0], 2, 1e-15);
    expect_near(c[0], 4, 1e-15);
    expect_near(d[0], 1, 1e-15);
    free(a);
    free(b);
    free(c);
    free(d);
    tear_down(s);
}

/* The library call: at a point of a run, as often as one likes, with eigenvalues. */
static void models_are_linearised_in_one_call(void **state)
{
    (void)state;
    Stage *s = set_up(MODELS "oscillator.ir", "interp", NULL, NULL);
    KoineReason why = { "" };
    KoineLinearModel *linear = koine_linear_model_create(s->kind, true, &why);
    assert_non_null(linear);
    for (int k = 0; k < 3; k++)
        assert_int_equal(koine_linearize(s->model, linear, &why), KOINE_OK);
    assert_int_equal(linear->n_states, 2);
    assert_string_equal(s->tables->variables[linear->states[0].variable].name, "v");
    assert_float_equal(linear->u[0], 0.5, 0);
    expect_near(linear->a[0], -2 * 0.125 * 3, 1e-15);
    expect_near(linear->a[1], -9, 1e-15);
    expect_near(linear->b[0], 9, 1e-15);
    /* w = 3, damping 0.125: -0.375 +- 3*sqrt(1 - 1/64)*i */
    expect_near(linear->eigenvalues[0], -0.375, 1e-14);
    expect_near(linear->eigenvalues[1], -3 * sqrt(1 - 1.0 / 64), 1e-14);
    expect_near(linear->eigenvalues[3], 3 * sqrt(1 - 1.0 / 64), 1e-14);
    koine_linear_model_free(linear);
    tear_down(s);
}

static void a_border_is_refused(void **state)
{
    (void)state;
    Stage *s = set_up(MODELS "events.ir", "interp", NULL, NULL);
    KoineReason why = { "" };
    KoineLinearModel *linear = koine_linear_model_create(s->kind, false, &why);
    double *v = slot(s, s->tables->ports.inputs[2]);
    assert_string_equal(s->tables->variables[s->tables->ports.inputs[2].variable].name, "v");
    assert_int_equal(koine_linearize(s->model, linear, &why), KOINE_OK);
    assert_null(linear->eigenvalues);
    *v = 1.0;
    assert_true(koine_linearize(s->model, linear, &why) != KOINE_OK);
    if (!strstr(why.text, "v > 1") || !strstr(why.text, "border"))
        fail_msg("'%s' names no border", why.text);
    *v = 0.5;
    assert_int_equal(koine_linearize(s->model, linear, &why), KOINE_OK);
    koine_linear_model_free(linear);
    tear_down(s);
}

static void a_model_without_derivatives_says_so(void **state)
{
    (void)state;
    Compilation *c = compilation_create(NULL);
    const CompileRequest request = { .path = KOINE_SOURCE_DIR "/tests/sim/ir/lorenz.ir", .task_span = SPAN_NONE };
    const char *no_tier = NULL;
    KoineReason why = { "" };
    assert_true(compilation_load(c, &request) && compilation_schedule(c));
    assert_null(koine_linear_model_create(compilation_kind(c, "interp", &no_tier), true, &why));
    assert_non_null(strstr(why.text, "without derivatives"));
    compilation_destroy(c);
}

/* C10, C11: what reaches what, for inputs and outputs of any type. */
static void c10_outputs_know_their_inputs(void **state)
{
    (void)state;
    Stage *s = set_up(MODELS "segments.ir", "interp", NULL, NULL);
    const KoinePattern *run = &s->tables->patterns.feedthrough, *start = &s->tables->patterns.initial_feedthrough;
    /* inputs d, on, u, v; outputs after, direct, mixed, quick, still */
    static const uint32_t starts[] = { 0, 0, 1, 3, 5, 5 }, columns[] = { 2, 0, 3, 1, 2 };
    assert_int_equal(run->rows, 5);
    assert_int_equal(run->columns, 4);
    assert_memory_equal(run->start, starts, sizeof starts);
    assert_memory_equal(run->index, columns, sizeof columns);
    assert_int_equal(start->start[1], 1); /* after = x, which is u at the start */
    assert_int_equal(start->index[0], 2);
    uint32_t kinds[6] = { 0 };
    for (uint32_t k = 0; k < s->tables->callables.n_segments; k++)
        kinds[s->tables->callables.segments[k].kind]++;
    assert_int_equal(kinds[KOINE_SEGMENT_STATE], 2);
    assert_int_equal(kinds[KOINE_SEGMENT_ALGEBRAIC], 4);
    assert_int_equal(kinds[KOINE_SEGMENT_DERIVATIVE], 1);
    assert_int_equal(start->start[4] - start->start[3], 2); /* quick, through its comparison */
    tear_down(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_by_inputs_are_exact),
        cmocka_unit_test(derivatives_by_parameters_follow_their_bindings),
        cmocka_unit_test(derivatives_of_all_variables_are_exact),
        cmocka_unit_test(mp_121_a_loop_is_resolved),
        cmocka_unit_test(models_are_linearised_in_one_call),
        cmocka_unit_test(a_border_is_refused),
        cmocka_unit_test(c10_outputs_know_their_inputs),
        cmocka_unit_test(a_model_without_derivatives_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
