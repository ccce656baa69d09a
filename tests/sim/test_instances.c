/* Arrays of instances against the same instances written one by one: equal values, whatever the tier. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/instances/"

/* All quantities of the one are in the other by the same names, and each has the same value in every row, to the last
 * digit; of zeros, aliases may differ in their sign. */
static void expect_equal(const RunResult *one, const RunResult *other)
{
    expect_done(one);
    expect_done(other);
    assert_int_equal(one->n_rows, other->n_rows);
    for (uint32_t k = 0; k < one->n_columns; k++) {
        if (strcmp(one->names[k], "c.m") == 0 || strcmp(one->names[k], "l.n") == 0 || /* sizes depend on them */
            strncmp(one->names[k], "der(", 4) == 0)
            continue;
        const uint32_t column = run_column(other, one->names[k]);
        for (uint32_t row = 0; row < one->n_rows; row++)
            expect_near(one->rows[row].values[k], other->rows[row].values[column], 0);
    }
}

static void compare(RunRequest request, const char *other)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    for (int k = 0; k < 3; k++) {
        request.tier = tiers[k];
        RunRequest second = request;
        second.path = other;
        RunResult *a = run_model(&request), *b = run_model(&second);
        expect_equal(a, b);
        run_free(a);
        run_free(b);
    }
}

/* h = h0 - g t^2/2 down to 0, then v = e sqrt(2 g h0) upwards. */
static double height(double h0, double e, double t)
{
    double at = sqrt(2 * h0 / 9.81), v = sqrt(2 * 9.81 * h0);
    if (t < at)
        return h0 - 9.81 * t * t / 2;
    for (v *= e; at + 2 * v / 9.81 < t; v *= e)
        at += 2 * v / 9.81;
    return v * (t - at) - 9.81 * (t - at) * (t - at) / 2;
}

static void check_balls(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "b[1].h"), height(1, 0.8, 2), 1e-6);
    expect_near(run_last(r, "b[2].h"), height(2, 0.85, 2), 1e-6);
    expect_near(run_last(r, "b[3].h"), height(3, 0.9, 2), 1e-6);
    assert_int_equal(run_last(r, "b[1].n"), 3);
    expect_near(run_last(r, "b[3].E"), 9.81 * 3, 1e-15);
}

static void test_an_array_of_balls(void **state)
{
    (void)state;
    const RunRequest request = { .path = MODELS "balls.ir", .stop = 2, .interval = 0.1, .tolerance = 1e-9 };
    const RunRequest steps = { .path = MODELS "balls.ir", .stop = 2, .interval = 0.1, .solver = "rk4", .step = 0.01 };
    run_in_all_tiers(request, check_balls);
    compare(steps, MODELS "balls_written.ir");
}

/* line.ir with its cells one by one. */
static void write_line(FILE *to, int n)
{
    FILE *from = fopen(MODELS "line.ir", "r");
    char text[256];
    assert_non_null(from);
    while (fgets(text, sizeof text, from) && strncmp(text, "param N", 7) != 0)
        fputs(text, to);
    fclose(from);
    fputs("param N Integer = 1000\ninstance s Source\n", to);
    for (int k = 1; k <= n; k++)
        fprintf(to, "instance 'c[%d]' Cell (C = 0.002)\n", k);
    fputs("connect s.p 'c[1]'.a\n", to);
    for (int k = 1; k < n; k++)
        fprintf(to, "connect 'c[%d]'.b 'c[%d]'.a\n", k, k + 1);
    fputs("end Line\n", to);
}

static void test_a_line_by_one_connection(void **state)
{
    (void)state;
    char path[] = "/tmp/koine-line-XXXXXX.ir";
    const int file = mkstemps(path, 3);
    assert_true(file >= 0);
    FILE *to = fdopen(file, "w");
    write_line(to, 1000);
    fclose(to);
    compare((RunRequest){ .path = MODELS "line.ir", .stop = 0.2, .interval = 0.1 }, path);
    unlink(path);
}

/* k = {1, 2, 3} whole, by two steps: x = 1 + k t, and y begins with k. */
static void check_whole(const RunResult *r)
{
    expect_done(r);
    for (int k = 1; k <= 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "x[%d]", k);
        expect_near(run_last(r, name), 1 + k, 1e-12);
        snprintf(name, sizeof name, "y[%d]", k);
        expect_near(run_last(r, name), k, 0);
    }
}

/* l[2]: 2 V' = 1 - V from 1/4 on. */
static void check_structure(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "l[1].V"), 2.0 / 3, 1e-15);
    expect_near(run_last(r, "l[2].V"), 1 - 0.75 * exp(-1.0), 1e-8);
    expect_near(run_last(r, "l[2].q"), 0.375 * exp(-1.0), 1e-8);
    expect_near(run_last(r, "l[3].V"), 1, 0);
    expect_near(run_last(r, "l[3].q"), 7, 0);
    assert_int_equal(run_last(r, "l[2].n"), 1);
    assert_int_equal(run_last(r, "l[1].n"), 0);
    expect_near(run_last(r, "s[2].i"), run_last(r, "l[2].V") - 1, 1e-14);
}

static void test_each_instance_has_its_own_structure(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "structure.ir", .stop = 2, .interval = 1, .tolerance = 1e-10 },
                     check_structure);
}

/* x = x0 exp(-t) passes 0.8, 0.5, 0.3 and 0.25; z = z0 + t. */
static void check_branches(const RunResult *r)
{
    static const double z[] = { 3, 4 };
    expect_done(r);
    for (int p = 1; p <= 2; p++) {
        char name[32];
        snprintf(name, sizeof name, "p[%d].z", p);
        expect_near(run_last(r, name), z[p - 1] + 3, 1e-12);
        snprintf(name, sizeof name, "p[%d].n", p);
        assert_int_equal(run_last(r, name), p == 1);
        snprintf(name, sizeof name, "p[%d].m", p);
        assert_int_equal(run_last(r, name), 2);
        snprintf(name, sizeof name, "p[%d].k", p);
        expect_near(run_last(r, name), 0.25, 1e-8);
        snprintf(name, sizeof name, "p[%d].y", p);
        expect_near(run_last(r, name), -(p == 1 ? 1 : 0.4) * exp(-3.0), 1e-8);
    }
}

static void test_what_branches_have_counts_while_they_hold(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "branches.ir", .stop = 3, .interval = 1, .tolerance = 1e-10 },
                     check_branches);
}

/* w = (1, a) exp(-a t), and x of the second instance is twice that of the first. */
static void check_flags(const RunResult *r)
{
    expect_done(r);
    for (int k = 0; k < 4; k++) {
        const double a = 2 + k % 2;
        char name[32];
        snprintf(name, sizeof name, "%c[%d].y", k < 2 ? 'c' : 'd', k % 2 + 1);
        expect_near(run_last(r, name), (1 + a) * exp(-a), 1e-8);
        snprintf(name, sizeof name, "%c[%d].x", k < 2 ? 'c' : 'd', k % 2 + 1);
        expect_near(run_last(r, name), 5 * (k % 2 + 1), 1e-12);
    }
}

static void test_what_is_fixed_is_said_for_each_instance(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "flags.ir", .stop = 1, .interval = 1, .tolerance = 1e-10 },
                     check_flags);
}

static void test_what_is_given_a_whole_array_takes_each_element(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "whole.ir", .stop = 1, .interval = 1 }, check_whole);
}

static void test_elements_of_every_kind_that_instances_share(void **state)
{
    (void)state;
    compare((RunRequest){ .path = MODELS "zoo.ir", .stop = 3, .interval = 0.25, .solver = "rk4", .step = 0.01 },
            MODELS "zoo_written.ir");
}

static void test_arrays_in_arrays_with_loops_of_connections(void **state)
{
    (void)state;
    compare((RunRequest){ .path = MODELS "ladders.ir", .stop = 0.05, .interval = 0.01, .solver = "rk4", .step = 1e-4 },
            MODELS "ladders_written.ir");
}

/* C (x1)' = i and u = Vf + 0.001 i load the capacitors to the source less the diode's voltage. */
static void check_diodes(const RunResult *r)
{
    expect_done(r);
    expect_near(run_last(r, "c[1].x[1]"), 0.75 * (1 - exp(-10.0)), 1e-8);
    expect_near(run_last(r, "c[2].x[1]"), 1.75 * (1 - exp(-10.0 / 3)), 1e-8);
    expect_near(run_last(r, "total"), 0.75 * (1 - exp(-10.0)) + 1.75 * (1 - exp(-10.0 / 3)), 1e-8);
    expect_near(run_last(r, "first"), run_last(r, "d[1].u"), 0);
    expect_near(run_last(r, "d[2].u"), 2 - run_last(r, "c[2].V"), 1e-14);
}

static void test_what_has_regions_is_written_out(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = MODELS "diodes.ir", .stop = 0.01, .interval = 0.01, .tolerance = 1e-10 },
                     check_diodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_array_of_balls),
        cmocka_unit_test(test_a_line_by_one_connection),
        cmocka_unit_test(test_elements_of_every_kind_that_instances_share),
        cmocka_unit_test(test_arrays_in_arrays_with_loops_of_connections),
        cmocka_unit_test(test_what_has_regions_is_written_out),
        cmocka_unit_test(test_each_instance_has_its_own_structure),
        cmocka_unit_test(test_what_branches_have_counts_while_they_hold),
        cmocka_unit_test(test_what_is_fixed_is_said_for_each_instance),
        cmocka_unit_test(test_what_is_given_a_whole_array_takes_each_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
