/* Vectors, matrices and functions of Dymola, in all tiers. Expected values are closed forms or integrated here, from
 * scalar equations, by a classical Runge-Kutta method whose error is far below the tolerance. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/dymola/"
enum { MOST = 4, STEPS = 4000 };

static void integrate(void (*slope)(const double *x, double *dx), int n, double *x, double t)
{
    double k1[MOST], k2[MOST], k3[MOST], k4[MOST], z[MOST];
    const double h = t / STEPS;
    for (int step = 0; step < STEPS; step++) {
        slope(x, k1);
        for (int k = 0; k < n; k++)
            z[k] = x[k] + h / 2 * k1[k];
        slope(z, k2);
        for (int k = 0; k < n; k++)
            z[k] = x[k] + h / 2 * k2[k];
        slope(z, k3);
        for (int k = 0; k < n; k++)
            z[k] = x[k] + h * k3[k];
        slope(z, k4);
        for (int k = 0; k < n; k++)
            x[k] += h / 6 * (k1[k] + 2 * k2[k] + 2 * k3[k] + k4[k]);
    }
}

/* A free top: L' = -w x L with L = I w, I inverted by hand (its determinant is 2*(3 - 0.04) - 0.1*0.3 = 5.89). */
static void top_slope(const double *l, double *dl)
{
    const double w[3] = { (2.96 * l[0] - 0.3 * l[1] + 0.02 * l[2]) / 5.89, (-0.3 * l[0] + 6 * l[1] - 0.4 * l[2]) / 5.89,
                          (0.02 * l[0] - 0.4 * l[1] + 1.99 * l[2]) / 5.89 };
    dl[0] = w[2] * l[1] - w[1] * l[2];
    dl[1] = w[0] * l[2] - w[2] * l[0];
    dl[2] = w[1] * l[0] - w[0] * l[1];
}

static void check_top(const RunResult *r)
{
    double l[3] = { 2.2, 2.2, 1.9 };
    expect_done(r);
    integrate(top_slope, 3, l, 3);
    expect_near(run_last(r, "L[1]"), l[0], 1e-6);
    expect_near(run_last(r, "L[2]"), l[1], 1e-6);
    expect_near(run_last(r, "L[3]"), l[2], 1e-6);
    expect_near(run_last(r, "E"), (1 * 2.2 + 2 * 2.2 + 0.5 * 1.9) / 2, 1e-6);
}

static void test_a_free_top(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "top.dym", .stop = 3, .interval = 1, .tolerance = 1e-10 }, check_top);
}

/* The double pendulum in minimal coordinates: x = (q1, q2, q1', q2'). */
static void pendulum_slope(const double *x, double *dx)
{
    const double g = 9.81, l = 0.5, c1 = 0.25, c2 = 0.2, m1 = 1, m2 = 0.8, i1 = 0.02, i2 = 0.01;
    const double m11 = i1 + m1 * c1 * c1 + i2 + m2 * (l * l + c2 * c2 + 2 * l * c2 * cos(x[1]));
    const double m12 = i2 + m2 * (c2 * c2 + l * c2 * cos(x[1])), m22 = i2 + m2 * c2 * c2, h = m2 * l * c2 * sin(x[1]);
    const double f1 =
        h * (2 * x[2] * x[3] + x[3] * x[3]) - g * ((m1 * c1 + m2 * l) * sin(x[0]) + m2 * c2 * sin(x[0] + x[1]));
    const double f2 = -h * x[2] * x[2] - g * m2 * c2 * sin(x[0] + x[1]);
    const double determinant = m11 * m22 - m12 * m12;
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = (m22 * f1 - m12 * f2) / determinant;
    dx[3] = (m11 * f2 - m12 * f1) / determinant;
}

static void set_angles(KoineModel *model)
{
    set_value(model, "r1.q", 1);
    set_value(model, "r2.q", 0.5);
}

static void check_mechanics(const RunResult *r)
{
    double x[4] = { 1, 0.5, 0, 0 };
    expect_done(r);
    integrate(pendulum_slope, 4, x, 1);
    expect_near(run_last(r, "q1"), x[0], 1e-6);
    expect_near(run_last(r, "q2"), x[1], 1e-6);
    expect_near(run_last(r, "r2.qd"), x[3], 1e-5);
    /* the end of the first rod; the sum of forces at a flange */
    expect_near(run_last(r, "b1.rb0[1]"), 0.5 * sin(x[0]), 1e-6);
    expect_near(run_last(r, "b1.rb0[3]"), 0.5 * cos(x[0]), 1e-6);
    expect_near(run_last(r, "r1.fb[4]") + run_last(r, "b1.fa[4]") + run_last(r, "m1.fa[4]"), 0, 1e-9);
}

static void test_mechanics_in_vectors(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){
            .path = HERE "mechanics.dym", .stop = 1, .interval = 1, .tolerance = 1e-9, .prepare = set_angles },
        check_mechanics);
}

/* With parameters as numbers most of the elements are 0 or 1; of 311 equations 27 are left. */
static void check_small_mechanics(const RunResult *r)
{
    double x[4] = { 1, 0.5, 0, 0 };
    expect_done(r);
    integrate(pendulum_slope, 4, x, 1);
    expect_near(run_last(r, "q1"), x[0], 1e-6);
    expect_near(run_last(r, "q2"), x[1], 1e-6);
}

static void test_ot052_mechanics_with_numbers(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "mechanics.dym",
                                   .stop = 1,
                                   .interval = 1,
                                   .tolerance = 1e-9,
                                   .evaluate_parameters = true,
                                   .remove_unneeded = true,
                                   .prepare = set_angles },
                     check_small_mechanics);
}

/* The first cell starts at 101, all others at 1: the heat spreads evenly, and none is lost. */
static void heat_one(KoineModel *model)
{
    set_value(model, "T", 101); /* its first element */
}

static void check_line(const RunResult *r)
{
    double sum = 0;
    char name[16];
    expect_done(r);
    for (int k = 1; k <= 100; k++) {
        snprintf(name, sizeof name, "T[%d]", k);
        sum += run_last(r, name);
    }
    expect_near(sum, 200, 1e-6);
    expect_near(run_last(r, "q[50]"), 25 * (run_last(r, "T[49]") - run_last(r, "T[50]")), 1e-9);
    /* the slowest part decays with 4 k sin^2(pi/200); after it all others are gone: 1 + 1 + 2 cos(pi/200)^2 exp(..) */
    const double pi = 3.14159265358979323846, rate = 100 * pow(sin(pi / 200), 2);
    expect_near(run_last(r, "T[1]"), 2 + 2 * pow(cos(pi / 200), 2) * exp(-rate * 200), 1e-3);
}

static void test_a_line_of_cells(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = HERE "line.dym", .stop = 200, .interval = 200, .tolerance = 1e-8, .prepare = heat_one },
        check_line);
}

/* A p = b: (0.2, 0.6); A w = (t, 1): ((3 t - 1)/5, (2 - t)/5); the ring: 3 A x = b, x = p/3. */
static void check_solved(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "p[1]"), 0.2, 1e-12);
    expect_near(run_last(r, "p[2]"), 0.6, 1e-12);
    expect_near(run_last(r, "w[1]"), 1, 1e-12);
    expect_near(run_last(r, "w[2]"), 0, 1e-12);
    expect_near(run_last(r, "x[1]"), 0.2 / 3, 1e-12);
    expect_near(run_last(r, "x[2]"), 0.2, 1e-12);
    expect_near(run_last(r, "y[2]"), 2.2, 1e-12);
    expect_near(run_last(r, "z[1]"), 1.0 / 3, 1e-12);
}

static void test_equations_that_are_solved(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "solved.dym", .stop = 2, .interval = 1 }, check_solved);
}

/* v' = -v^2 from 1: v = 1/(1 + t); w is the real root of w^3 + w = 10 + v. */
static void check_functions(const RunResult *r)
{
    expect_done(r);
    for (double t = 0; t < 4.1; t += 1) {
        const double v = 1 / (1 + t), w = run_at(r, "w", t);
        expect_near(run_at(r, "v", t), v, 1e-7);
        expect_near(w * w * w + w, 10 + run_at(r, "v", t), 1e-6);
        expect_near(run_at(r, "d.f", t), v * v, 1e-6);
        expect_near(run_at(r, "a", t), fabs(1.5 - t), 1e-15);
        expect_near(run_at(r, "b", t), fmax(t, 2.5), 1e-15);
        expect_near(run_at(r, "c", t), fmin(t, 2.5), 1e-15);
        expect_near(run_at(r, "i", t), trunc(2 * t - 2.5), 0);
        expect_near(run_at(r, "j", t), trunc(1.5 * t) * trunc(1.5 * t), 0);
    }
}

static void test_ot040_functions_of_the_text(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "functions.dym", .stop = 4, .interval = 1, .tolerance = 1e-9 },
                     check_functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_free_top),
                                        cmocka_unit_test(test_mechanics_in_vectors),
                                        cmocka_unit_test(test_ot052_mechanics_with_numbers),
                                        cmocka_unit_test(test_a_line_of_cells),
                                        cmocka_unit_test(test_equations_that_are_solved),
                                        cmocka_unit_test(test_ot040_functions_of_the_text) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
