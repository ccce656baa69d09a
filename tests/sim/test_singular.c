/* Systems that are singular, at any size: told when the model is compiled, or when it runs, and never solved to numbers
 * that are nothing but rounding. Networks of conductances are written here: node potentials V, branch currents i,
 * currents s from outside that sum to 0. Node 0 is bound to the reference by a conductance g. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static char path[64];
static uint32_t seed;
static uint32_t next_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

typedef struct {
    uint32_t nodes, chords;
    double g;       /* of node 0; 0: its value only */
    bool has_g;     /* false: there is no such equation */
    bool is_moving; /* the matrix changes with the time */
} Network;

static void write_network(Network n)
{
    snprintf(path, sizeof path, "/tmp/koine-singular-%d.ir", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "koine-ir 1\nmodel m\n");
    if (n.has_g)
        fprintf(file, "param g Real = %.17g\nvar ig Real continuous now\neq eg ig = g*V0\n", n.g);
    const uint32_t branches = n.nodes + n.chords;
    seed = 1;
    for (uint32_t k = 0; k < n.nodes; k++)
        fprintf(file, "var V%u Real continuous now\n", k);
    uint32_t *from = calloc(branches, sizeof *from), *to = calloc(branches, sizeof *to);
    assert_non_null(from);
    assert_non_null(to);
    for (uint32_t k = 0; k < branches; k++) {
        from[k] = k < n.nodes ? k : next_number() % n.nodes;
        to[k] = k < n.nodes ? (k + 1) % n.nodes : (from[k] + 1 + next_number() % (n.nodes - 1)) % n.nodes;
        fprintf(file, "var i%u Real continuous now\neq b%u %.3f*i%u = (V%u - V%u)%s\n", k, k,
                1 + next_number() % 99000 / 1000.0, k, from[k], to[k],
                n.is_moving && k == 0 ? "*(2.0 + sin(time))" : "");
    }
    for (uint32_t node = 0; node < n.nodes; node++) {
        fprintf(file, "eq n%u 0.0%s%s", node,
                node == 0   ? " + sin(time)"
                : node == 1 ? " - sin(time)"
                            : "",
                node == 0 && n.has_g ? " - ig" : "");
        for (uint32_t k = 0; k < branches; k++)
            if (from[k] == node || to[k] == node)
                fprintf(file, " %c i%u", from[k] == node ? '-' : '+', k);
        fprintf(file, " = 0.0\n");
    }
    fprintf(file, "end m\n");
    fclose(file);
    free(from);
    free(to);
}

static RunResult *run_network(Network n)
{
    write_network(n);
    RunResult *r = run_model(&(RunRequest){ .path = path, .stop = 1, .interval = 0.25, .tier = "interp" });
    unlink(path);
    return r;
}

static void expect_text(const char *text, const char *part)
{
    fail_if(!strstr(text, part), "'%s' is not in: %s", part, text);
}

/* Whatever the conductances are, potentials are determined up to a constant only. */
static void test_a_network_without_reference_is_refused_at_any_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 5, 60, 500 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        RunResult *r = run_network((Network){ .nodes = sizes[k], .chords = sizes[k] });
        assert_false(r->is_compiled);
        expect_text(r->messages, "KN2164");
        expect_text(r->messages, "nothing determines 'V");
        run_free(r);
    }
}

/* With the value 0 the reference is lost while the model runs; dense and sparse, torn and whole. */
static void test_a_reference_that_is_lost_by_a_value_is_told(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 4, 12, 40, 200, 1000 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int is_moving = 0; is_moving < 2; is_moving++) {
            RunResult *r = run_network(
                (Network){ .nodes = sizes[k], .chords = sizes[k] / 4, .has_g = true, .is_moving = is_moving });
            assert_true(r->is_compiled);
            assert_int_equal(r->report.end, KOINE_RUN_FAILED);
            expect_text(r->report.text, "no unique solution");
            run_free(r);
        }
}

/* A weak reference is one: V0 = (sum of what comes from outside)/g = 0. */
static void test_a_weak_reference_is_enough(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 4, 12, 40, 200, 1000 };
    static const double conductances[] = { 1, 1e-6, 1e-9 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t j = 0; j < sizeof conductances / sizeof *conductances; j++) {
            RunResult *r = run_network((Network){
                .nodes = sizes[k], .chords = sizes[k] / 4, .has_g = true, .g = conductances[j], .is_moving = true });
            expect_done(r);
            expect_near(run_last(r, "V0"), 0, 1e-12 / conductances[j]);
            run_free(r);
        }
}

/* What explicit rows cancel is rounding, too: b = (0.1 + 0.2 - 0.3) x is 0 for all that is known about the numbers. */
static void test_rounding_left_by_explicit_rows_is_no_pivot(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/koine-singular-%d.ir", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(
        "koine-ir 1\nmodel m\nparam p Real = 0.1\nparam q Real = 0.2\nparam r Real = 0.3\n"
        "var x Real continuous now\nvar a Real continuous now\nvar b Real continuous now\nvar c Real continuous now\n"
        "eq e1 a = p*x + c\neq e2 b = a + q*x\neq e3 r*x - b = 1.0 + sin(time) - c\neq e4 c = 0.5*a - 0.5*p*x\nend m\n",
        file);
    fclose(file);
    for (int k = 0; k < 2; k++) {
        RunResult *r = run_model(&(RunRequest){
            .path = path, .stop = 1, .interval = 0.5, .systems = k ? "whole" : "torn", .tier = "interp" });
        assert_true(r->is_compiled);
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        run_free(r);
    }
    unlink(path);
}

/* ---- nonlinear systems that are nearly singular at their solution ---- */
static const long double VT = 0.04L, IS = 1e-9L;

/* Potential behind the source resistor, given the one of the negative side. */
static long double inner_potential(long double x, long double u, long double source)
{
    long double low = -40, high = 40;
    for (int k = 0; k < 90; k++) {
        const long double v = (low + high) / 2;
        *(source - v + IS * (expl((x - v) / VT) - expl((v - x - u) / VT)) > 0 ? &low : &high) = v;
    }
    return (low + high) / 2;
}

/* Currents into the negative side; ones cancel, so that the exponentials count however small they are. */
static double negative_side(double u, double source)
{
    long double low = -40, high = 5;
    for (int k = 0; k < 90; k++) {
        const long double x = (low + high) / 2, v = inner_potential(x, u, source);
        *(expl((v - x - u) / VT) + expl((-x - u) / VT) - expl((x - v) / VT) - expl(x / VT) > 0 ? &low : &high) = x;
    }
    return (double)((low + high) / 2);
}

/* Every row is right (by bisection, above), torn and whole; where rounding would decide, the run ends and says so. */
static void test_a_solution_that_is_rounding_is_refused(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        RunResult *r = run_model(&(RunRequest){ .path = KOINE_SOURCE_DIR "/tests/sim/dymola/exponential_bridge.dym",
                                                .stop = 0.01,
                                                .interval = 0.0002,
                                                .tier = "interp",
                                                .systems = whole ? "whole" : "torn" });
        assert_int_equal(r->report.end, KOINE_RUN_FAILED);
        assert_true(r->report.time > 0.007);
        fail_if(!strstr(r->report.text, "hardly determine") && !strstr(r->report.text, "does not get on"), "%s",
                r->report.text);
        for (uint32_t k = 1; k < r->n_rows; k++) {
            const double *v = r->rows[k].values;
            const double x = negative_side(v[run_column(r, "C.u")], v[run_column(r, "U0.V0")]);
            expect_near(v[run_column(r, "C.Vb")], x, 2e-3);
        }
        run_free(r);
    }
}

/* ---- what seems singular and is not ---- */
static void write_text(const char *text)
{
    snprintf(path, sizeof path, "/tmp/koine-singular-%d.dym", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The difference of the equations is y = x + sin(t); then 2 x' = -x - cos(t), x(0) = 1. */
static void check_difference(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time, x = -0.2 * cos(t) - 0.4 * sin(t) + 1.2 * exp(-t / 2);
        expect_near(r->rows[k].values[run_column(r, "x")], x, 1e-7);
        expect_near(r->rows[k].values[run_column(r, "y")], x + sin(t), 1e-7);
    }
}

static void test_sums_of_derivatives_hide_a_constraint(void **state)
{
    (void)state;
    write_text("model hidden\n local x = 1, y = 1\n der(x) + der(y) = -x\n der(x) + der(y) = -y + sin(Time)\nend\n");
    run_in_all_tiers((RunRequest){ .path = path, .stop = 2, .interval = 0.25, .tolerance = 1e-9 }, check_difference);
    unlink(path);
}

/* An ideal transformer, 0.1 and 0.4 H without leakage, at 10 sin(100 t) V behind 2 ohms, with a load of 10 ohms: the
 * flux f = 0.1 ip + 0.2 is follows f' = Vp = (0.05 V0 - f)/0.09. */
static void check_transformer(const RunResult *r)
{
    expect_done(r);
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const double t = r->rows[k].time, a = 1 / 0.09, w = 100, scale = 0.5 * a / (a * a + w * w);
        const double vp = scale * (a * w * cos(w * t) + w * w * sin(w * t) - a * w * exp(-a * t));
        expect_near(r->rows[k].values[run_column(r, "Vp")], vp, 1e-5);
        expect_near(r->rows[k].values[run_column(r, "Vs")], 2 * vp, 1e-5);
    }
}

static void test_an_ideal_transformer_in_numbers(void **state)
{
    (void)state;
    write_text("model transformer\n local ip = 0, is = 0, Vp, Vs\n 0.1*der(ip) + 0.2*der(is) = Vp\n"
               " 0.2*der(ip) + 0.4*der(is) = Vs\n 10*sin(100*Time) - 2*ip = Vp\n Vs = -10*is\nend\n");
    run_in_all_tiers((RunRequest){ .path = path, .stop = 0.1, .interval = 0.01, .tolerance = 1e-9 }, check_transformer);
    unlink(path);
}

/* ---- states in a singular position ---- */
#define INDEX KOINE_SOURCE_DIR "/tests/sim/index/"

static const char *const solvers[] = { "auto", "dopri5",     "dop853",      "cvode-bdf",        "cvode-adams",
                                       "ida",  "arkode-erk", "arkode-dirk", "simplex-fehlberg", "simplex-rosenbrock" };

/* The crank comes to its dead point at t = 2.18 and turns back, the rod goes on. The reference is the motion written
 * for the angle of the rod alone, J(b) b'' + J'(b) b'^2/2 = Q, by the classical Runge-Kutta method with 300,000
 * steps. */
static void test_ot070_a_crank_turns_back_in_its_dead_point(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        RunResult *r = run_model(&(RunRequest){
            .path = INDEX "dead_point.dym", .solver = solvers[k], .stop = 3, .interval = 0.25, .tolerance = 1e-8 });
        expect_done(r);
        expect_near(run_last(r, "b"), -1.6303640298865416, 1e-6);
        expect_near(run_last(r, "wb"), 0.0547946427863294, 1e-6);
        expect_near(run_last(r, "a"), 0.8460532568543516, 1e-6);
        run_free(r);
    }
}

/* With the angle of the crank as the state the rod has two places for it, and none beyond. */
static void test_ot068_named_states_in_a_dead_point_end_the_run(void **state)
{
    static const double tolerances[] = { 1e-3, 1e-6, 1e-9 };
    (void)state;
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++)
        for (size_t j = 0; j < sizeof tolerances / sizeof *tolerances; j++) {
            RunResult *r = run_model(&(RunRequest){ .path = INDEX "dead_point_named.dym",
                                                    .solver = solvers[k],
                                                    .stop = 3,
                                                    .interval = 0.25,
                                                    .tolerance = tolerances[j] });
            assert_int_equal(r->report.fault.cause, KOINE_CAUSE_STATES);
            assert_true(r->report.time < 2.182);
            run_free(r);
        }
}

/* One state is named, the other chosen: the same motion as with both chosen, and the energy is kept. */
static void test_ot068_a_named_state_beside_a_chosen_one(void **state)
{
    static const char *const wishes[] = { "", "variable state x, vx\n" };
    double x[2];
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        char text[800];
        snprintf(text, sizeof text,
                 "model sphere\n local x=0.3, y=0.2, z=-0.9327379053088815, vx=0.5, vy=-1, vz, F, E\n der(x) = vx\n"
                 " der(y) = vy\n der(z) = vz\n der(vx) = -F*x\n der(vy) = -F*y\n der(vz) = -F*z - 9.81\n"
                 " x*x + y*y + z*z = 1\n E = (vx*vx + vy*vy + vz*vz)/2 + 9.81*z\nend\n%s",
                 wishes[k]);
        write_text(text);
        RunResult *r = run_model(&(RunRequest){ .path = path, .stop = 10, .interval = 1, .tolerance = 1e-9 });
        expect_done(r);
        const double vz = (0.5 * 0.3 - 0.2) / 0.9327379053088815;
        expect_near(run_last(r, "E"), (0.25 + 1 + vz * vz) / 2 - 9.81 * 0.9327379053088815, 1e-6);
        x[k] = run_last(r, "x");
        run_free(r);
        unlink(path);
    }
    expect_near(x[1], x[0], 1e-7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_network_without_reference_is_refused_at_any_size),
        cmocka_unit_test(test_a_reference_that_is_lost_by_a_value_is_told),
        cmocka_unit_test(test_a_weak_reference_is_enough),
        cmocka_unit_test(test_rounding_left_by_explicit_rows_is_no_pivot),
        cmocka_unit_test(test_a_solution_that_is_rounding_is_refused),
        cmocka_unit_test(test_sums_of_derivatives_hide_a_constraint),
        cmocka_unit_test(test_an_ideal_transformer_in_numbers),
        cmocka_unit_test(test_ot070_a_crank_turns_back_in_its_dead_point),
        cmocka_unit_test(test_ot068_named_states_in_a_dead_point_end_the_run),
        cmocka_unit_test(test_ot068_a_named_state_beside_a_chosen_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
