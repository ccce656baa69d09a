/* A comparison whose operands jump, or change their branch, in the instant of its own crossing or while it rests on its
 * border: it is what the operands say behind the jump. Values by hand, with every solver that controls its error. */
#include "run.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/comparisons/"

static const char *const SOLVERS[] = { "auto",
                                       "dopri5",
                                       "dop853",
                                       "cvode-bdf",
                                       "cvode-adams",
                                       "ida",
                                       "arkode-erk",
                                       "arkode-dirk",
                                       "simplex-fehlberg",
                                       "simplex-rk4",
                                       "simplex-bulirsch-stoer",
                                       "simplex-gauss",
                                       "simplex-rosenbrock" };
enum { N_SOLVERS = sizeof SOLVERS / sizeof *SOLVERS };

static const double ALLOWED = 1e-4; /* of durations, which times of crossings make inexact */

static RunResult *run_with(const char *path, const char *solver, double stop)
{
    RunResult *r = run_model(&(RunRequest){
        .path = path, .tier = "interp", .solver = solver, .stop = stop, .interval = stop / 50, .tolerance = 1e-6 });
    expect_done(r);
    return r;
}

static void expect_last(const RunResult *r, const char *name, double expected, double allowed, const char *what)
{
    const double actual = run_last(r, name);
    if (!(fabs(actual - expected) <= allowed))
        fail_msg("%s: %s is %.15g, expected %.15g", what, name, actual, expected);
    assert_true(fabs(actual - expected) <= allowed);
}

static void expect_of(const char *file, double stop, const char *name, double expected)
{
    char path[512], what[600];
    snprintf(path, sizeof path, HERE "%s", file);
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        RunResult *r = run_with(path, SOLVERS[k], stop);
        snprintf(what, sizeof what, "%s with %s", file, SOLVERS[k]);
        expect_last(r, name, expected, ALLOWED, what);
        run_free(r);
    }
}

/* The operand rests on the border, where a state, the time or a delayed signal makes it jump away. */
static void test_a_signal_that_jumps_from_its_border(void **state)
{
    (void)state;
    expect_of("overflow.dym", 2, "t", 1.5);
    expect_of("overflow.dym", 2, "n", 1);
    expect_of("Overflow.mdl", 2, "TOv", 1.5);
    expect_of("Overflow.mdl", 2, "N", 1);
    expect_of("timed_flow.dym", 3, "t", 2);
    expect_of("TimedFlow.mdl", 3, "TA", 2);
    expect_of("pulses.dym", 4, "t", 2);
    expect_of("DelayedFlow.mdl", 2, "TA", 0.5);
}

/* Five times of overflow, 25.5245 s together: by an integrator of its own with the modes written out. */
static void test_a_tank_that_overflows(void **state)
{
    (void)state;
    expect_of("tank.dym", 60, "n", 5);
    for (uint32_t k = 0; k < N_SOLVERS; k++) {
        RunResult *r = run_with(HERE "tank.dym", SOLVERS[k], 60);
        expect_last(r, "tt", 25.5245, 1e-2, SOLVERS[k]);
        run_free(r);
    }
}

/* The border is reached, and in the same instant the operand falls back. */
static void test_a_signal_that_jumps_back_where_it_crosses(void **state)
{
    (void)state;
    expect_of("Broken.mdl", 3, "D", 0);
    expect_of("broken.dym", 3, "d", 0);
    expect_of("sawtooth.dym", 10.5, "d", 0);
    expect_of("sawtooth.dym", 10.5, "e", 0);
    expect_of("sawtooth.dym", 10.5, "f", 10.5);
    expect_of("Sawtooth.mdl", 10.5, "D", 0);
    expect_of("Sawtooth.mdl", 10.5, "E", 0);
    expect_of("Sawtooth.mdl", 10.5, "F", 0);
    expect_of("relief.dym", 10, "t", 0);
    expect_of("relief.dym", 10, "n", 0);
}

/* The operand is the border and no more: by the branch, or by what an event makes of it in a later Takt. x = 3 sin(t)
 * is above 1 for pi - 2 asin(1/3) of a period, three times up to 20, and above 0.5 likewise. */
static void test_a_signal_against_its_own_limit(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    expect_of("Limited.mdl", 3, "D", 0);
    expect_of("limits.dym", 20, "t", 0);
    expect_of("limits.dym", 20, "s", 3 * (pi - 2 * asin(1.0 / 3)) + 20 - 6 * pi - asin(1.0 / 3));
    expect_of("limits.dym", 20, "r", 3 * (pi - 2 * asin(0.5 / 3)) + 20 - 6 * pi - asin(0.5 / 3));
    expect_of("FlatTable.mdl", 20, "NS", 0);
    expect_of("Stopped.mdl", 3, "D", 0);
    expect_of("stopped_sine.dym", 3, "d", 0);
}

/* From 1 on y = 2.5 + x: 3 up to 1.5, then 4. */
static void test_a_step_function_of_a_jump(void **state)
{
    (void)state;
    expect_of("steps.dym", 2, "d", 3.5);
}

static void test_a_time_that_moves_when_it_has_come(void **state)
{
    (void)state;
    expect_of("Postponed.mdl", 8, "D", 3);
    expect_of("postponed.dym", 8, "d", 3);
}

/* X comes to 1 a little before the time does, which is the stop: `T > 1` is not true yet. */
static void test_what_is_late_at_the_stop_stays_pending(void **state)
{
    (void)state;
    expect_of("Ends.mdl", 1, "D", 0);
}

static void check_tiers(const RunResult *r)
{
    expect_last(r, "TOv", 1.5, ALLOWED, "Overflow.mdl");
    expect_last(r, "N", 1, 0, "Overflow.mdl");
}

static void test_in_every_tier(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = HERE "Overflow.mdl", .stop = 2, .interval = 0.1, .tolerance = 1e-6 },
                     check_tiers);
}

/* --- x = 2 sin(t + 0.2) from 0 to 20, and comparisons of what is made of it --- */

typedef enum { NEVER, ALWAYS, ABOVE, BELOW } Truth; /* of the comparison: while x is above, or below, a border */

static const struct {
    const char *y, *comparison;
    Truth truth;
    double border;
    bool counts; /* nothing holds at a single point only */
} CASES[] = {
    { "min(3*x, 0.3)", "y > 0.3", NEVER, 0, true },
    { "min(3*x, 0.3)", "y >= 0.3", ABOVE, 0.1, true },
    { "min(3*x, 0.3)", "y < 0.3", BELOW, 0.1, true },
    { "min(3*x, 0.3)", "y <= 0.3", ALWAYS, 0, true },
    { "max(0, x - 0.7)", "y > 0", ABOVE, 0.7, true },
    { "max(0, x - 0.7)", "y < 0", NEVER, 0, true },
    { "max(0, x - 0.7)", "y <= 0", BELOW, 0.7, true },
    { "max(0, x - 0.7)", "y >= 0", ALWAYS, 0, true },
    { "max(-0.3, min(0.3, 3*x))", "y > 0.3", NEVER, 0, true },
    { "max(-0.3, min(0.3, 3*x))", "y < -0.3", NEVER, 0, true },
    { "max(-0.3, min(0.3, 3*x))", "y <= -0.3", BELOW, -0.1, true },
    { "abs(x)", "y > 0", ALWAYS, 0, false },
    { "abs(x)", "y <= 0", NEVER, 0, false },
    { "abs(x)", "y < 0", NEVER, 0, true },
    { "abs(x) + x", "y > 0", ABOVE, 0, true },
    { "abs(x) - x", "y < 0", NEVER, 0, true },
    { "if x > 0.7 then x - 0.7 else if x < -0.7 then x + 0.7 else 0", "y > 0", ABOVE, 0.7, true },
    { "if x > 0.7 then x - 0.7 else if x < -0.7 then x + 0.7 else 0", "y >= 0", ABOVE, -0.7, true },
    { "if 3*x < 0.3 then 3*x else 0.3", "y > 0.3", NEVER, 0, true },
    { "if 3*x > 0.3 then 0.3 else 3*x", "y > 0.3", NEVER, 0, true },
    { "if x > 0.1 then 0.3 else 3*x", "y > 0.3", NEVER, 0, true },
    { "if x >= 0.1 then 0.3 else 3*x", "0.3 < y", NEVER, 0, true },
    { "if x > 0.1 then 0.5 else 3*x", "y > 0.4", ABOVE, 0.1, true },
    { "if x > 0.1 then 0.2 else 3*x", "y > 0.3", NEVER, 0, true },
    { "if x > 0.1 then 0.2 else 3*x", "y >= 0.3", NEVER, 0, false },
    { "sign(x)", "y > 0", ABOVE, 0, true },
    { "sign(x)", "y >= 0", ABOVE, 0, true },
    { "max(x, 0.5) - max(x, 0.5)", "y > 0", NEVER, 0, true },
    { "max(2*x, 0.5) - x", "y > x", BELOW, 0.25, true },
};

/* How long, and how often, it holds. */
static double duration_of(Truth truth, double border, uint32_t *n)
{
    const double pi = 3.14159265358979323846, from = 0.2, to = 20.2, up = asin(border / 2);
    double sum = 0;
    *n = truth == ALWAYS;
    if (truth == NEVER || truth == ALWAYS)
        return truth == ALWAYS ? to - from : 0;
    for (int k = -1; k < 5; k++) {
        const double begin = fmax((truth == ABOVE ? up : pi - up) + 2 * pi * k, from),
                     end = fmin((truth == ABOVE ? pi - up : 2 * pi + up) + 2 * pi * k, to);
        sum += end > begin ? end - begin : 0;
        *n += end > begin;
    }
    return sum;
}

static void write_case(uint32_t k, const char *path)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(
        file,
        "model saturated\n  local x=%.17g, v=%.17g, y, n=0, d=0, B\n  y = %s\n  B = %s\n  der(x) = v\n  der(v) = -x\n"
        "  der(d) = if B then 1 else 0\n  when B then new(n) = n + 1 endwhen\nend\n",
        2 * sin(0.2), 2 * cos(0.2), CASES[k].y, CASES[k].comparison);
    fclose(file);
}

static void test_comparisons_of_saturated_signals(void **state)
{
    (void)state;
    char path[64], what[256];
    snprintf(path, sizeof path, "saturated-%ld.dym", (long)getpid());
    for (uint32_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        uint32_t n;
        const double duration = duration_of(CASES[k].truth, CASES[k].border, &n);
        write_case(k, path);
        for (uint32_t j = 0; j < N_SOLVERS; j++) {
            RunResult *r = run_with(path, SOLVERS[j], 20);
            snprintf(what, sizeof what, "%s, %s with %s", CASES[k].y, CASES[k].comparison, SOLVERS[j]);
            expect_last(r, "d", duration, 1e-3, what);
            if (CASES[k].counts)
                expect_last(r, "n", n, 0, what);
            run_free(r);
        }
    }
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_signal_that_jumps_from_its_border),
        cmocka_unit_test(test_a_tank_that_overflows),
        cmocka_unit_test(test_a_signal_that_jumps_back_where_it_crosses),
        cmocka_unit_test(test_a_signal_against_its_own_limit),
        cmocka_unit_test(test_a_step_function_of_a_jump),
        cmocka_unit_test(test_a_time_that_moves_when_it_has_come),
        cmocka_unit_test(test_what_is_late_at_the_stop_stays_pending),
        cmocka_unit_test(test_in_every_tier),
        cmocka_unit_test(test_comparisons_of_saturated_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
