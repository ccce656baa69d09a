/* Circuits of many ideal diodes that switch together, against a method of its own: nodal analysis, TR-BDF2 in equal
 * steps, Newton's method on the characteristics of the diodes. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define SWITCHING KOINE_SOURCE_DIR "/tests/sim/switching/"

/* ---- the reference ---- */
enum { MOST = 48 };
typedef struct {
    int from, to; /* nodes, 0 is ground */
    double value; /* conductance when it conducts, or capacitance */
} Branch;
typedef struct {
    int n_nodes, n_diodes, n_capacitors, n_resistors;
    Branch diodes[MOST], capacitors[MOST], resistors[MOST];
    double current[MOST]; /* into nodes, from outside */
    int driven;           /* node behind the resistance of the source */
} Net;

static void solve_dense(double a[MOST][MOST + 1], int n)
{
    for (int k = 1; k <= n; k++) {
        int best = k;
        for (int j = k + 1; j <= n; j++)
            best = fabs(a[j][k]) > fabs(a[best][k]) ? j : best;
        for (int j = 0; j <= n + 1; j++) {
            const double t = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = t;
        }
        for (int i = 1; i <= n; i++) {
            const double f = i == k ? 0 : a[i][k] / a[k][k];
            for (int j = k; f != 0 && j <= n + 1; j++)
                a[i][j] -= f * a[k][j];
        }
    }
    for (int k = 1; k <= n; k++)
        a[k][0] = a[k][n + 1] / a[k][k];
}

static void stamp(double a[MOST][MOST + 1], int n, const Branch *b, double g, double source)
{
    const int f = b->from, t = b->to;
    if (f)
        a[f][f] += g, a[f][n + 1] += source;
    if (t)
        a[t][t] += g, a[t][n + 1] -= source;
    if (f && t)
        a[f][t] -= g, a[t][f] -= g;
}

/* Node potentials v where the capacitors are conductances g with sources g*u[] (of voltage). */
static void solve_net(const Net *net, double factor, const double *u, double emf, double ri, double *v)
{
    bool on[MOST];
    for (int k = 0; k < net->n_diodes; k++)
        on[k] = v[net->diodes[k].from] >= v[net->diodes[k].to];
    for (int round = 0; round < 400; round++) {
        double a[MOST][MOST + 1] = { { 0 } };
        const int n = net->n_nodes;
        for (int k = 0; k < net->n_capacitors; k++) {
            const double g = factor * net->capacitors[k].value;
            stamp(a, n, &net->capacitors[k], g, g * u[k]);
        }
        for (int k = 0; k < net->n_resistors; k++)
            stamp(a, n, &net->resistors[k], net->resistors[k].value, 0);
        for (int k = 0; k < net->n_diodes; k++)
            stamp(a, n, &net->diodes[k], on[k] ? net->diodes[k].value : 1e-9, 0);
        for (int k = 1; k <= n; k++)
            a[k][n + 1] += net->current[k];
        a[net->driven][net->driven] += 1 / ri;
        a[net->driven][n + 1] += emf / ri;
        solve_dense(a, n);
        for (int k = 1; k <= n; k++)
            v[k] = a[k][0];
        int first = -1;
        for (int k = 0; k < net->n_diodes; k++) {
            const double across = v[net->diodes[k].from] - v[net->diodes[k].to];
            const bool is_wrong = on[k] ? across < -1e-12 : across > 1e-12;
            first = is_wrong && first < 0 ? k : first;
        }
        if (first < 0)
            return;
        for (int k = 0; k < net->n_diodes; k++)
            if (round < 20 || k == first)
                on[k] = v[net->diodes[k].from] >= v[net->diodes[k].to];
    }
    fail_msg("the reference does not settle");
}

/* Cockcroft and Walton's circuit as in the models: nodes 1 .. n+1 are p0 .. pn, then q1 .. qn. */
static void build_multiplier(Net *net, int n)
{
    *net = (Net){ .n_nodes = 2 * n + 1, .driven = 1 };
    for (int k = 0; k < n; k++) {
        const int p = 1 + k, q = k ? 1 + n + k : 0, p1 = p + 1, q1 = 2 + n + k;
        net->capacitors[net->n_capacitors++] = (Branch){ p, p1, 1e-5 };
        net->capacitors[net->n_capacitors++] = (Branch){ q, q1, 1e-5 };
        net->diodes[net->n_diodes++] = (Branch){ q, p1, 1e3 };
        net->diodes[net->n_diodes++] = (Branch){ p1, q1, 1e3 };
    }
    net->resistors[net->n_resistors++] = (Branch){ 2 * n + 1, 0, 1e-6 };
}

/* TR-BDF2: a trapezoidal step over 2 - sqrt(2) of h, then a backward difference. For capacitors C*du = i*dt. */
static void multiply(int n, double stop, int steps, double *u)
{
    Net net;
    build_multiplier(&net, n);
    const double h = stop / steps, part = 2 - sqrt(2), w = 314.15926535, ri = 10;
    double v[MOST] = { 0 }, current[MOST] = { 0 }, middle[MOST], history[MOST];
    memset(u, 0, (size_t)net.n_capacitors * sizeof *u);
    for (int step = 0; step < steps; step++) {
        const double t = step * h;
        for (int k = 0; k < net.n_capacitors; k++)
            history[k] = u[k] + part * h / 2 / net.capacitors[k].value * current[k];
        solve_net(&net, 2 / (part * h), history, 100 * sin(w * (t + part * h)), ri, v);
        for (int k = 0; k < net.n_capacitors; k++)
            middle[k] = v[net.capacitors[k].from] - v[net.capacitors[k].to];
        const double b = (1 - part) / (2 - part);
        for (int k = 0; k < net.n_capacitors; k++)
            history[k] = (middle[k] - (1 - part) * (1 - part) * u[k]) / (part * (2 - part));
        solve_net(&net, 1 / (b * h), history, 100 * sin(w * (t + h)), ri, v);
        for (int k = 0; k < net.n_capacitors; k++) {
            u[k] = v[net.capacitors[k].from] - v[net.capacitors[k].to];
            current[k] = net.capacitors[k].value / (b * h) * (u[k] - history[k]);
        }
    }
}

static void compare_multiplier(int n, const RunRequest *request, double step)
{
    double u[MOST];
    multiply(n, request->stop, (int)(request->stop / step), u);
    RunResult *r = run_model(request);
    expect_done(r);
    for (int k = 0; k < 2 * n; k++) {
        char name[16];
        snprintf(name, sizeof name, "c%d.u", k);
        expect_near(run_last(r, name), u[k], 5e-3);
    }
    run_free(r);
}

/* Two periods. Twice as many steps change the reference by less than 1.3e-3 V of 200 V. */
static void check_multiplier(int n, const char *path, const char *solver, double stop)
{
    const RunRequest request = { .path = path, .solver = solver, .stop = stop, .interval = 0.001, .tolerance = 1e-6 };
    compare_multiplier(n, &request, 5e-6);
}

/* Five periods: some diodes switch within a rounding of an extreme of the source, and no method can begin with a step
 * to there. Twice as many steps change the reference by 2.5e-3 V. */
static void test_s18_no_step_ends_one_rounding_behind_an_event(void **state)
{
    (void)state;
    const RunRequest request = {
        .path = SWITCHING "multiplier6.dym", .solver = "auto", .stop = 0.1, .interval = 0.0002, .tolerance = 1e-6
    };
    compare_multiplier(6, &request, 2.5e-6);
}

static void test_s18_multipliers_of_2_4_and_8_stages(void **state)
{
    (void)state;
    check_multiplier(2, SWITCHING "multiplier2.dym", "auto", 0.04);
    check_multiplier(4, SWITCHING "multiplier4.dym", "auto", 0.04);
    check_multiplier(8, SWITCHING "multiplier8.dym", "auto", 0.04);
    check_multiplier(2, SWITCHING "multiplier2.dym", "ida", 0.04);
    check_multiplier(4, SWITCHING "multiplier4.dym", "ida", 0.04);
    check_multiplier(4, SWITCHING "multiplier4.dym", "cvode-bdf", 0.04);
}

/* The voltages of the last stages are rounding while the first ones are charged: no search goes into that. */
static void test_s8_rounding_of_many_diodes_is_not_searched(void **state)
{
    double u[MOST];
    (void)state;
    multiply(10, 0.002, 800, u);
    RunResult *r = run_model(&(RunRequest){
        .path = SWITCHING "multiplier10.dym", .solver = "auto", .stop = 0.002, .interval = 0.002, .tolerance = 1e-6 });
    expect_done(r);
    for (int k = 0; k < 20; k++) {
        char name[16];
        snprintf(name, sizeof name, "c%d.u", k);
        expect_near(run_last(r, name), u[k], 5e-3);
    }
    assert_true(r->report.statistics.integration.root_evaluations < 1000000);
    run_free(r);
}

/* Values inside a step of this method are those of shorter steps: what rounds in the one must not round otherwise in
 * the other. */
static void test_s8_rounding_of_the_slopes_is_not_searched(void **state)
{
    double u[MOST];
    (void)state;
    multiply(2, 0.04, 8000, u);
    RunResult *r = run_model(&(RunRequest){ .path = SWITCHING "multiplier2.dym",
                                            .solver = "simplex-rosenbrock",
                                            .stop = 0.04,
                                            .interval = 0.001,
                                            .tolerance = 1e-6 });
    expect_done(r);
    for (int k = 0; k < 4; k++) {
        char name[16];
        snprintf(name, sizeof name, "c%d.u", k);
        expect_near(run_last(r, name), u[k], 1e-2);
    }
    assert_true(r->report.statistics.integration.steps < 40000);
    assert_true(r->report.statistics.integration.root_evaluations < 500000);
    run_free(r);
}

/* Where a diode is on its border rounding takes it to and fro between two combinations, of which either does: the
 * search ends when it comes to the first of them again. */
static void test_s18_a_search_that_goes_round_ends(void **state)
{
    (void)state;
    check_multiplier(8, SWITCHING "multiplier8_parts.dym", "auto", 0.04);
    RunResult *r = run_model(&(RunRequest){ .path = SWITCHING "multiplier8_parts.dym",
                                            .solver = "auto",
                                            .stop = 0.04,
                                            .interval = 0.001,
                                            .tolerance = 1e-6 });
    assert_true(r->report.statistics.events.state_events > 100);
    assert_true(r->report.statistics.model.mixed_combinations < 10 * r->report.statistics.events.state_events);
    run_free(r);
}

/* 40 diodes in series with 2 Ohm between 20 nodes with 5 Ohm to ground; the currents into the nodes jump at 1, and more
 * than 12 of the diodes have to change together. */
static void build_mesh(Net *net, bool is_later)
{
    *net = (Net){ .n_nodes = 20, .driven = 1, .n_diodes = 40 };
    for (int k = 0; k < 40; k++)
        net->diodes[k] = (Branch){ 1 + k % 20, 1 + (k * 7 + 3 + k / 20) % 20, 0.5 };
    for (int k = 0; k < 20; k++) {
        net->resistors[net->n_resistors++] = (Branch){ 1 + k, 0, 0.2 };
        net->current[1 + k] = is_later ? (k * 5) % 11 - 5.5 : (k * 3) % 7 - 2.5;
    }
}

/* 40 diodes, nearly all of which are on their borders when the first of them switches. */
static void test_s18_a_multiplier_of_20_stages(void **state)
{
    (void)state;
    check_multiplier(20, SWITCHING "multiplier20.dym", "auto", 0.006);
}

static void test_s18_forty_diodes_change_together(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = SWITCHING "mesh40.dym", .stop = 2, .interval = 0.5 });
    expect_done(r);
    double v[2][MOST] = { { 0 } };
    Net net;
    for (int later = 0; later < 2; later++) {
        build_mesh(&net, later);
        solve_net(&net, 1, NULL, 0, INFINITY, v[later]);
        for (int k = 1; k <= 20; k++) {
            char name[16];
            snprintf(name, sizeof name, "r%d.Va", k);
            expect_near(run_at(r, name, later ? 1.5 : 0.5), v[later][k], 2e-7); /* 1e-9 S of the reference */
        }
    }
    int n_changed = 0;
    for (int k = 0; k < 40; k++) {
        const Branch *d = &net.diodes[k];
        n_changed += (v[0][d->from] > v[0][d->to]) != (v[1][d->from] > v[1][d->to]);
    }
    assert_true(n_changed > 12);
    run_free(r);
}

/* ---- the buck converter, by the closed forms of its three linear circuits ---- */
typedef struct {
    double i, u; /* of the inductor and the capacitor */
} Buck;

/* L i' = e - r i - u, C u' = i - u/R after time t; L = C = 1e-4. */
static Buck flow(Buck x, double e, double r, double load, double t)
{
    const double l = 1e-4, c = 1e-4, a = -r / l, b = -1 / l, d = -1 / (load * c);
    const Buck rest = { e / (r + load), e * load / (r + load) };
    const double i = x.i - rest.i, u = x.u - rest.u, m = (a + d) / 2, det = a * d - b / c, q = m * m - det;
    double even, odd; /* exp(A t) = even + odd (A - m) */
    if (q > 0) {
        const double w = sqrt(q), slow = det / (m - w), fast = m - w;
        even = (exp(slow * t) + exp(fast * t)) / 2;
        odd = (exp(slow * t) - exp(fast * t)) / (2 * w);
    } else {
        const double w = sqrt(-q);
        even = exp(m * t) * cos(w * t);
        odd = exp(m * t) * sin(w * t) / w;
    }
    return (Buck){ rest.i + even * i + odd * ((a - m) * i + b * u), rest.u + even * u + odd * (i / c + (d - m) * u) };
}

/* State at the end of period n; *lapse is when the current ended first, or 0. */
static Buck buck_after(uint32_t n, double load, double snubber, double *lapse)
{
    const double period = 1 / 20000.0, duty = 0.4;
    Buck x = { 0, 0 };
    *lapse = 0;
    for (uint32_t k = 0; k < n; k++) {
        x = flow(x, 24, 0, load, duty * period);
        const double rest = (1 - duty) * period;
        double lo = 0, hi = 0;
        while (hi < rest && flow(x, 0, 0, load, hi).i >= 0) {
            lo = hi;
            hi += rest / 256;
        }
        if (hi >= rest) {
            x = flow(x, 0, 0, load, rest);
            continue;
        }
        for (int j = 0; j < 60; j++)
            *(flow(x, 0, 0, load, (lo + hi) / 2).i >= 0 ? &lo : &hi) = (lo + hi) / 2;
        *lapse = *lapse == 0 ? (k + duty) * period + hi : *lapse;
        x = flow(x, 0, 0, load, hi);
        x = flow(x, 0, snubber, load, rest - hi);
    }
    return x;
}

static void check_buck(const RunResult *r, double load, double snubber, double tolerance)
{
    double lapse;
    expect_done(r);
    for (uint32_t n = 1; n <= 200; n += n < 20 ? 1 : 20) {
        const Buck x = buck_after(n, load, snubber, &lapse);
        expect_near(run_at(r, "L.i", n / 20000.0), x.i, tolerance);
        expect_near(run_at(r, "C.u", n / 20000.0), x.u, tolerance);
    }
}

static void check_snubber(const RunResult *r)
{
    check_buck(r, 5, 1e5, 2e-5); /* auto becomes stiff while the snubber decides */
}

static void check_heavy(const RunResult *r)
{
    check_buck(r, 1, 0, 2e-6);
}

static void heavy_load(KoineModel *model)
{
    set_value(model, "R.R", 1);
}

/* At rest and at light load the current ends in some of the first periods; a snubber says what the potential behind the
 * switch is then. With the heavy load it never ends, and nothing but the ideal parts is needed. */
static void test_s18_a_buck_converter_of_ideal_parts(void **state)
{
    (void)state;
    RunRequest request = { .path = SWITCHING "buck_snubber.dym", .stop = 0.01, .interval = 0.00005, .tolerance = 1e-8 };
    run_in_all_tiers(request, check_snubber);
    request.solver = "cvode-bdf";
    RunResult *r = run_model(&request);
    check_buck(r, 5, 1e5, 2e-5); /* 200 periods with two restarts each */
    run_free(r);
    request.prepare = heavy_load;
    request.solver = NULL;
    request.path = SWITCHING "buck.dym";
    run_in_all_tiers(request, check_heavy);
    request.path = SWITCHING "buck_closed.dym";
    run_in_all_tiers(request, check_heavy);
}

/* Without snubber and with both open nothing says what the potential is, and the current would have to stay 0:
 * refused. */
static void test_s18_a_current_that_ends_behind_two_open_switches(void **state)
{
    (void)state;
    double lapse;
    RunResult *r =
        run_model(&(RunRequest){ .path = SWITCHING "buck.dym", .stop = 0.01, .interval = 0.00005, .tolerance = 1e-8 });
    assert_int_equal(r->report.end, KOINE_RUN_FAILED);
    buck_after(10, 5, 1e5, &lapse);
    expect_near(r->report.time, lapse, 1e-9);
    assert_non_null(strstr(r->report.text, "`dd.s < 0.0`"));
    assert_non_null(strstr(r->report.text, "T gives no solution, F gives T"));
    run_free(r);
}

/* 10 A sin(w t) from 2 ms behind the zero to the next one, in the positive halves only: of each period, the charge is
 * 10 (cos(0.2 pi) + 1)/w. */
static void check_thyristor(const RunResult *r)
{
    const double w = 314.15926535897931, pi = 3.14159265358979312, charge = 10 * (cos(0.2 * pi) + 1) / w;
    expect_done(r);
    for (int k = 1; k <= 3; k++)
        expect_near(run_at(r, "q", 0.02 * k - 0.005), k * charge, 1e-7);
    expect_near(run_at(r, "R.i", 0.001), 0, 0);
    expect_near(run_at(r, "R.i", 0.005), 10, 1e-9);
    expect_near(run_at(r, "T.u", 0.001), 100 * sin(w * 0.001), 1e-9);
    expect_near(run_at(r, "R.i", 0.013), 0, 0);
}

static void test_s18_a_thyristor(void **state)
{
    (void)state;
    run_in_all_tiers(
        (RunRequest){ .path = SWITCHING "thyristor.dym", .stop = 0.06, .interval = 0.001, .tolerance = 1e-9 },
        check_thyristor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_s18_multipliers_of_2_4_and_8_stages),
        cmocka_unit_test(test_s8_rounding_of_many_diodes_is_not_searched),
        cmocka_unit_test(test_s8_rounding_of_the_slopes_is_not_searched),
        cmocka_unit_test(test_s18_a_search_that_goes_round_ends),
        cmocka_unit_test(test_s18_no_step_ends_one_rounding_behind_an_event),
        cmocka_unit_test(test_s18_a_multiplier_of_20_stages),
        cmocka_unit_test(test_s18_forty_diodes_change_together),
        cmocka_unit_test(test_s18_a_buck_converter_of_ideal_parts),
        cmocka_unit_test(test_s18_a_current_that_ends_behind_two_open_switches),
        cmocka_unit_test(test_s18_a_thyristor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
