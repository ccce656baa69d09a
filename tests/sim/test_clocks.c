/* Equations of clocks and clocks whose times are not known before, in all tiers, against values computed by hand and
 * the formulas of the methods. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/clocks/"

/* At tick k of k1: e = x + u', u + v = e, u - 2v = x, so u = (2e + x)/3; at every second one also the other clock,
 * whose equations read u and n of this tick. */
static void check_partitions(const RunResult *r)
{
    expect_done(r);
    double u = 0, m = 0, s = 0;
    uint32_t n = 0;
    for (uint32_t k = 1; k < r->n_rows; k++) { /* the rows on the right side of each tick */
        const double *v = r->rows[k].values;
        if (r->rows[k].time != r->rows[k - 1].time)
            continue;
        const double x = v[run_column(r, "x")], e = x + u;
        u = (2 * e + x) / 3;
        if (n++ % 2 == 0) {
            m += n;
            s = u + s + 1;
        }
        expect_near(v[run_column(r, "e")], e, 1e-15);
        expect_near(v[run_column(r, "u")], u, 1e-15);
        expect_near(v[run_column(r, "v")], e - u, 1e-15);
        expect_near(v[run_column(r, "n")], n, 0);
        expect_near(v[run_column(r, "m")], m, 0);
        expect_near(v[run_column(r, "s")], s, 1e-14);
        expect_near(v[run_column(r, "r")], s - 1, 1e-14);
        expect_near(v[run_column(r, "a[1]")], 2, 0);
        expect_near(v[run_column(r, "a[2]")], 2 * pow(2, n), 0);
        expect_near(v[run_column(r, "iv")], 0.3, 1e-16);
    }
    expect_near(n, 11, 0);
}

static void test_equations_of_a_clock_hold_at_its_ticks(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "partitions.ir", .stop = 1, .interval = 1 }, check_partitions);
}

/* ---- methods: x' = y + t - x with y = 3 + 2t, and X' = -i X^2 ---- */
typedef double (*Slope)(double x, double t, int i);
static double slope_x(double x, double t, int i)
{
    (void)i;
    return 3 + 2 * t + t - x;
}

static double slope_X(double x, double t, int i)
{
    (void)t;
    return -i * x * x;
}

static double advance(int method, Slope f, int i, double x, double t, double h)
{
    const double k1 = f(x, t, i), k2 = f(x + h / 2 * k1, t + h / 2, i);
    const double k3 = f(x + h / 2 * k2, t + h / 2, i), k4 = f(x + h * k3, t + h, i);
    double next = x;
    switch (method) {
    case 1: return x + h * k1;
    case 2: return x + h * k2;
    case 3: return x + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6;
    default:
        for (int n = 0; n < 100; n++) /* contracts by h |f'| < 0.5 */
            next = x + (method == 4 ? h * f(next, t + h, i) : h / 2 * (k1 + f(next, t + h, i)));
        return next;
    }
}

static void check_methods(const RunResult *r)
{
    expect_done(r);
    for (int method = 1; method <= 5; method++) {
        double x[3] = { 1, 1, 1 };
        char name[32];
        for (uint32_t tick = 0; tick < 10; tick++) {
            x[0] = advance(method, slope_x, 0, x[0], tick * 0.1, 0.1);
            x[1] = advance(method, slope_X, 1, x[1], tick * 0.1, 0.1);
            x[2] = advance(method, slope_X, 2, x[2], tick * 0.1, 0.1);
        }
        snprintf(name, sizeof name, "x%d", method);
        expect_near(run_last(r, name), x[0], 1e-13);
        for (int k = 1; k < 3; k++) {
            snprintf(name, sizeof name, "X%d[%d]", method, k);
            expect_near(run_last(r, name), x[k], 1e-13);
        }
    }
}

static void test_methods_of_clocks_take_one_step_from_tick_to_tick(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "methods.ir", .stop = 1, .interval = 1 }, check_methods);
}

/* x = sin(2 pi t) rises through 0 at 1, 2, 3 and right behind the start. Ticks of k3 at 0.25, then after 0.1, 0.2 ...;
 * of k4 at (0 + 1 + 2 ...)/10. */
static void check_events(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "n"), 4, 0);
    expect_near(run_last(r, "m"), 4, 0);  /* n at its ticks 1 and 3 */
    expect_near(run_last(r, "p"), 90, 0); /* from the second tick on */
    expect_near(run_last(r, "q"), 3, 0);  /* ticks 1, 4, 7 of k4 */
    expect_near(run_at(r, "iv", 0.55), 0.7, 0);
    expect_near(run_at(r, "iv", 1.65), 1, 1e-6);
    expect_near(run_last(r, "iv"), 1, 1e-6);
    expect_near(run_last(r, "at5"), 3, 1e-6);
    double g = 1, h = 1, t3 = 0.25;
    int t4 = 0;
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double *v = r->rows[k].values, t = r->rows[k].time;
        if (v[run_column(r, "g")] > g) {
            expect_near(t, t3, 4e-16);
            expect_near(v[run_column(r, "i3")], g == 1 ? 0.1 : 0.1 * (g - 1), 1e-15);
            t3 += 0.1 * g++;
        }
        if (v[run_column(r, "h")] > h) {
            expect_near(t, t4 / 10.0, 0);
            expect_near(v[run_column(r, "at4")], t4 / 10.0, 0);
            expect_near(v[run_column(r, "i4")], h == 1 ? 0.1 : 0.1 * (h - 1), 1e-15);
            t4 += (int)h++;
        }
    }
    expect_near(g, 9, 0);
    expect_near(h, 9, 0);
}

static void test_clocks_of_events_and_with_changing_intervals(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "events.ir", .stop = 3.3, .interval = 0.55 }, check_events);
}

/* Exact fractions: the last tick up to 10 of each is the number that its fraction rounds to. 10*exp(-t) falls to where
 * its sine rises above 0.5 twice: to 5*pi/6 + 2*pi and to 5*pi/6. */
static void check_rates(const RunResult *r)
{
    static const struct {
        const char *count, *time;
        double n, at;
    } clocks[] = {
        { "na", "ta", 31, 10 },           { "nb", "tb", 71, 10 }, { "ns", "ts", 16, 10 }, /* every second of 1/3 */
        { "np", "tp", 211, 10 },                                                          /* three in 1/7 */
        { "nsh", "tsh", 30, 59.0 / 6 },                                                   /* from 1/6 on */
        { "nbk", "tbk", 30, 117.0 / 12 },                                                 /* a twelfth earlier */
        { "nss", "tss", 43, 10 },                                                         /* every 5/21 */
    };
    expect_done(r);
    for (size_t k = 0; k < sizeof clocks / sizeof *clocks; k++) {
        expect_near(run_last(r, clocks[k].count), clocks[k].n, 0);
        expect_near(run_last(r, clocks[k].time), clocks[k].at, 0);
    }
    const double pi = 3.14159265358979323846, first = -log((5 * pi / 6 + 2 * pi) / 10), second = -log(5 * pi / 60);
    expect_near(run_last(r, "nev"), 2, 0);
    expect_near(run_last(r, "tev"), second, 1e-6);
    expect_near(run_last(r, "iev"), second - first, 1e-6);
    expect_near(run_last(r, "ip"), 1.0 / 21, 0);
    expect_near(run_last(r, "sumb"), 355, 1e-12); /* 1/7 + 2/7 + ... + 70/7 */
}

static void test_rational_rates_and_clocks_derived_of_them(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "rates.ir", .stop = 10, .interval = 5 }, check_rates);
}

/* x = 25 + t, T = 2 x, Z = T x, D = x(t - 0.3), which is 25 up to 0.3. */
static void check_first(const RunResult *r)
{
    static const char *const names[] = { "a", "b", "c", "d", "g", "n", "m" };
    static const double values[] = { 25, 50, 25, 1250, 25, 25, 25 };
    expect_done(r);
    for (uint32_t k = 0; k < 7; k++)
        expect_near(run_at(r, names[k], 0), values[k], 0);
    expect_near(run_last(r, "a"), 25.25, 1e-12);
    expect_near(run_last(r, "b"), 50.5, 1e-12);
}

static void test_m3_before_the_start_is_what_is_at_the_start(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = KOINE_SOURCE_DIR "/tests/sim/clocks/first.ir", .stop = 0.3, .interval = 0.3 },
        check_first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equations_of_a_clock_hold_at_its_ticks),
        cmocka_unit_test(test_methods_of_clocks_take_one_step_from_tick_to_tick),
        cmocka_unit_test(test_clocks_of_events_and_with_changing_intervals),
        cmocka_unit_test(test_rational_rates_and_clocks_derived_of_them),
        cmocka_unit_test(test_m3_before_the_start_is_what_is_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
