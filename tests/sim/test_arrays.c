/* Arrays in events, branches, sums and initial equations, from the Model on and in SIMPLEX-MDL: every model runs in all
 * three tiers, with equal bits. Expected values: traces by hand and closed forms, given beside the assertion. */
#include "assertions.h"
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define MODELS KOINE_SOURCE_DIR "/tests/sim/arrays/"

static void assert_near(double actual, double expected, double tolerance)
{
    fail_if(!(fabs(actual - expected) <= tolerance), "%.12g, expected %.12g within %g", actual, expected, tolerance);
}

static void assert_same_run(const RunResult *a, const RunResult *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->n_columns, b->n_columns);
    for (uint32_t k = 0; k < a->n_rows; k++) {
        assert_memory_equal(&a->rows[k].time, &b->rows[k].time, sizeof(double));
        assert_memory_equal(a->rows[k].values, b->rows[k].values, a->n_columns * sizeof(double));
    }
}

/* The run of the interpreter; the other tiers gave the same bits. */
static RunResult *run(const char *name, double stop, double interval)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    char path[512];
    snprintf(path, sizeof path, "%s%s", MODELS, name);
    RunResult *first = NULL;
    for (int k = 0; k < 3; k++) {
        RunResult *r = run_model(&(RunRequest){
            .path = path, .tier = tiers[k], .stop = stop, .interval = interval, .every_event_step = true });
        fail_if(!r->is_compiled, "%s", r->messages);
        fail_if(r->report.end != KOINE_RUN_DONE, "%s", r->report.text);
        if (!first) {
            first = r;
            continue;
        }
        assert_same_run(first, r);
        run_free(r);
    }
    return first;
}

static double value_in_row(const RunResult *r, uint32_t row, const char *name)
{
    return r->rows[row].values[run_column(r, name)];
}

/* Phase k exchanges neighbours (i, i + 1) with i of the parity of k, all at once. */
static void test_events_over_a_range_exchange_elements(void **state)
{
    static const int trace[5][4] = { { 4, 3, 2, 1 }, { 4, 2, 3, 1 }, { 2, 4, 1, 3 }, { 2, 1, 4, 3 }, { 1, 2, 3, 4 } };
    (void)state;
    RunResult *r = run("sort.ir", 1, 1);
    bool seen[5] = { false };
    for (uint32_t k = 0; k < r->n_rows; k++) {
        const int phase = (int)value_in_row(r, k, "phase");
        assert_in_range(phase, 0, 4);
        seen[phase] = true;
        for (int i = 0; i < 4; i++) {
            char name[32];
            snprintf(name, sizeof name, "x[%d]", i + 1);
            assert_int_equal((int)value_in_row(r, k, name), trace[phase][i]);
        }
    }
    for (int k = 0; k < 5; k++)
        assert_true(seen[k]);
    run_free(r);
}

/* Tank i is emptied at 1/i, 2/i, ...: h[i] is the fraction of i*t, n[i] its whole part. */
static void test_events_and_comparisons_of_elements(void **state)
{
    (void)state;
    RunResult *r = run("tanks.ir", 1.75, 0.25);
    const double t = 1.75;
    double total = 0, largest = 0;
    int upto = 0;
    for (int i = 1; i <= 3; i++) {
        char name[32];
        const double h = i * t - floor(i * t);
        snprintf(name, sizeof name, "h[%d]", i);
        assert_near(run_last(r, name), h, 1e-9);
        snprintf(name, sizeof name, "y[%d]", i);
        assert_near(run_last(r, name), h > 0.5 ? 0.5 : h, 1e-9);
        snprintf(name, sizeof name, "upto[%d]", i);
        assert_near(run_last(r, name), upto += (int)floor(i * t), 0);
        for (int j = 1; j <= 2; j++) { /* the loop variable of the outer range is a value, too */
            snprintf(name, sizeof name, "m[%d]", 2 * (i - 1) + j); /* the harness counts by rows */
            assert_near(run_last(r, name), 10 * i + j + h, 1e-9);
        }
        total += h;
        largest = fmax(largest, h);
    }
    assert_near(run_last(r, "total"), total, 1e-9);
    assert_near(run_last(r, "largest"), largest, 1e-9);
    run_free(r);
}

static void test_initial_equations_over_a_range(void **state)
{
    (void)state;
    RunResult *r = run("begin.ir", 2, 1);
    for (int i = 1; i <= 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "x[%d]", i);
        assert_near(run_at(r, name, 0), 1 - i, 1e-12);
        assert_near(run_last(r, name), 1 - i * exp(-2.0), 1e-6);
    }
    run_free(r);
}

/* x[1] = -1 + t and x[i] = 0.5 - i/4 + t; c[i] is 10 - i, and 100 more once x[i] is above 1/8, at i/4 - 3/8. z begins
 * with 2 x[2] + c[3] + y[2, 3] + 100 y[1, 2] = 0 + 7 + 23 + 1200 and grows by x[5] - t = -3/4. */
static void test_starts_over_a_range_stay_whole(void **state)
{
    (void)state;
    RunResult *r = run("starts_of_cells.ir", 1, 0.5);
    assert_near(run_last(r, "c[1]"), 9, 0);
    for (int i = 2; i <= 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "x[%d]", i);
        assert_near(value_in_row(r, 0, name), 0.5 - 0.25 * i, 0);
        assert_near(run_last(r, name), 1.5 - 0.25 * i, 1e-12);
        snprintf(name, sizeof name, "c[%d]", i);
        assert_near(value_in_row(r, 0, name), 10 - i, 0);
        assert_near(run_last(r, name), 110 - i, 0);
    }
    assert_near(value_in_row(r, 0, "x[1]"), -1, 0);
    assert_near(value_in_row(r, 0, "s[1]"), 4, 0);
    assert_near(value_in_row(r, 0, "z"), 1230, 0);
    assert_near(run_last(r, "z"), 1229.25, 1e-12);
    run_free(r);
}

/* x = -1 + 2t up to 1, then t; it passes d = 0.5, 1 and 1.5 at 0.75, 1 and 1.5. Ranges of no value do nothing. */
static void test_ranges_of_one_value_and_of_none(void **state)
{
    (void)state;
    RunResult *r = run("few_cells.ir", 1.75, 1);
    assert_near(value_in_row(r, 0, "x[1]"), -1, 0);
    assert_near(value_in_row(r, 0, "d[1]"), 0.5, 0);
    assert_near(run_last(r, "x[1]"), 1.75, 1e-12);
    assert_near(run_last(r, "c[1]"), 3, 0);
    assert_near(run_last(r, "d[1]"), 2, 0);
    run_free(r);
}

/* At 1: v = 7 + i, 4w = 1 + v - i = 8 and u = 2i; at 3: v + w = 10 and v - w = 2(7 + i), n = 5i; at 5: u = (i -
 * 1)/2 and n is one more. What an equation does not set stays. */
static void test_equations_without_direction_in_groups(void **state)
{
    static const double times[] = { 2.5, 4.5, 7 };
    (void)state;
    for (int k = 0; k < 3; k++) {
        RunResult *r = run("groups_of_cells.ir", times[k], 1);
        for (int i = 1; i <= 2; i++) {
            const double expected[3][4] = { { 7 + i, 2, 2 * i, 0 },
                                            { 12 + i, -2 - i, 2 * i, 5 * i },
                                            { 12 + i, -2 - i, 0.5 * (i - 1), 5 * i + 1 } };
            for (int j = 0; j < 4; j++) {
                const char name[] = { "vwun"[j], '[', (char)('0' + i), ']', 0 };
                assert_near(run_last(r, name), expected[k][j], 1e-14);
            }
        }
        run_free(r);
    }
}

static void test_a_sum_of_many_terms(void **state)
{
    (void)state;
    RunResult *r = run("long.ir", 1, 1);
    assert_near(run_last(r, "s"), 12502500, 1e-3);
    run_free(r);
}

static void test_a_conflict_names_the_element(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = MODELS "conflict.ir", .stop = 1, .interval = 1 });
    assert_int_not_equal(r->report.end, KOINE_RUN_DONE);
    fail_if(!strstr(r->report.text, "two events assign 'x[3]' in one event step"), "%s", r->report.text);
    run_free(r);
}

/* A writer goes round the cells at t = 1, 2, 3, 4 and adds 0, 1, 2, 3; u[i] = i*exp(-t). */
static void test_elements_by_an_index_of_the_run(void **state)
{
    (void)state;
    RunResult *r = run("by_index.ir", 4.5, 0.5);
    const double cells[] = { 13, 21, 32 }, e = exp(-4.5);
    for (int i = 1; i <= 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "cell[%d]", i);
        assert_near(run_last(r, name), cells[i - 1], 0);
    }
    assert_near(run_last(r, "at"), 2, 0);
    assert_near(run_at(r, "read", 2.5), 21, 0); /* at = 3, place[3] = 2 */
    assert_near(run_last(r, "read"), 13, 0);    /* at = 2, place[2] = 1 */
    assert_near(run_last(r, "flow"), 2 * e, 1e-6);
    assert_near(run_last(r, "through[1]"), 100 * 3 * e + 1, 1e-4); /* place[1] = 3 */
    assert_near(run_at(r, "seen", 1.5), 0, 0);
    assert_near(run_last(r, "seen"), 1, 0);
    run_free(r);
}

static void set_at(KoineModel *model)
{
    set_value(model, "at", 4);
}

static void set_turn(KoineModel *model)
{
    set_value(model, "turn", 5);
}

static void assert_fault(const char *path, void (*prepare)(KoineModel *), const char *text)
{
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    for (int k = 0; k < 3; k++) {
        RunResult *r =
            run_model(&(RunRequest){ .path = path, .tier = tiers[k], .stop = 2, .interval = 1, .prepare = prepare });
        fail_if(!r->is_compiled, "%s", r->messages);
        assert_int_not_equal(r->report.end, KOINE_RUN_DONE);
        fail_if(!strstr(r->report.text, text), "%s: %s", tiers[k], r->report.text);
        run_free(r);
    }
}

/* Path, line, index and range are named; of nested ones the inner index. */
static void test_an_index_outside_is_a_fault(void **state)
{
    (void)state;
    assert_fault(MODELS "by_index.ir", set_at, "by_index.ir:14:1: index 4 of 'place' is outside 1 to 3");
    assert_fault(MODELS "outside.ir", NULL, "outside.ir:8:3: index 0 of 'x' is outside 1 to 2");
    assert_fault(MODELS "hidden.ir", NULL, "hidden.ir:13:1: index 3 of 'x' is outside 1 to 2");
    assert_fault(MODELS "outside.ir", set_turn, "outside.ir:8:3: index 5 of 'x' is outside 1 to 2");
}

/* ---- SIMPLEX-MDL ---- */
/* An array of quantities and an array of components are the same equations: every value has the same bits. */
static void test_quantities_and_components_are_the_same(void **state)
{
    (void)state;
    RunResult *a = run("HeatQ.mdl", 1, 0.1), *b = run("HeatC.mdl", 1, 0.1);
    assert_int_equal(a->n_rows, b->n_rows);
    for (int i = 1; i <= 12; i++) {
        char quantity[32], component[32];
        snprintf(quantity, sizeof quantity, "Temp[%d]", i);
        snprintf(component, sizeof component, "P[%d].Temp", i);
        for (uint32_t k = 0; k < a->n_rows; k++) {
            const double x = value_in_row(a, k, quantity), y = value_in_row(b, k, component);
            assert_memory_equal(&x, &y, sizeof x);
        }
    }
    /* heat is conserved; an insulated bar goes to its mean */
    double heat = 0;
    for (int i = 1; i <= 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "Temp[%d]", i);
        heat += run_last(a, name);
    }
    assert_near(heat, 150, 1e-6);
    run_free(a);
    run_free(b);
}

/* Exactly one of the three gates has its input equal to its output: it changes a unit of time later, and the next one
 * takes over. Outputs by hand. */
static void test_a_ring_of_gates_as_component_array(void **state)
{
    static const int trace[6][3] = { { 1, 0, 0 }, { 1, 0, 1 }, { 0, 0, 1 }, { 0, 1, 1 }, { 0, 1, 0 }, { 1, 1, 0 } };
    (void)state;
    RunResult *r = run("Ring.mdl", 12.5, 0.5);
    for (int t = 0; t <= 12; t++)
        for (int i = 0; i < 3; i++) {
            char name[32];
            snprintf(name, sizeof name, "G[%d].Out", i + 1);
            assert_near(run_at(r, name, t + 0.5), trace[t % 6][i], 0);
        }
    run_free(r);
}

/* After n shifts cell i holds n + 1 - i, or still 0. */
static void test_a_shift_register(void **state)
{
    (void)state;
    RunResult *r = run("Shift.mdl", 6.5, 0.5);
    for (int n = 0; n <= 6; n++)
        for (int i = 1; i <= 4; i++) {
            char name[32];
            snprintf(name, sizeof name, "Reg[%d]", i);
            assert_near(run_at(r, name, n + 0.5), n + 1 - i > 0 ? n + 1 - i : 0, 0);
        }
    run_free(r);
}

/* 3 4 2 1 has 5 pairs in wrong order, and bubble sort exchanges once for each. */
static void test_a_bubble_sort_by_computed_places(void **state)
{
    (void)state;
    RunResult *r = run("Bubble.mdl", 1, 1);
    for (int i = 1; i <= 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "a[%d]", i);
        assert_near(run_last(r, name), i, 0);
    }
    assert_near(run_last(r, "Swaps"), 5, 0);
    run_free(r);
}

/* red, green, blue, red, green at 1, ..., 5. x[i] = 1 + i*t up to 2; an element without equation does not move. */
static void test_the_values_of_a_set_as_indices(void **state)
{
    (void)state;
    RunResult *r = run("Sets.mdl", 5.5, 0.25);
    const double seen[] = { 2, 2, 1 }, weight[] = { 0.5, 1.5, 2 };
    for (int c = 0; c < 3; c++) {
        char name[32];
        snprintf(name, sizeof name, "Seen[%d]", c + 1);
        assert_near(run_last(r, name), seen[c], 0);
        snprintf(name, sizeof name, "y[%d]", c + 1);
        assert_near(run_at(r, name, 0.5), weight[c] * 1.5, 1e-9);
        assert_near(run_last(r, name), weight[c] * 2, 1e-9);
    }
    assert_near(run_last(r, "Mass"), 0.5 * 2 + 1.5 * 2 + 2, 1e-12);
    assert_near(run_at(r, "x[2]", 0.25), 1.5, 1e-9);
    assert_near(run_last(r, "still[1]"), 7, 0);
    assert_near(run_last(r, "still[2]"), 7 + 0.5 * 5.5, 1e-9);
    run_free(r);
}

static RunResult *run_cells(const char *name, const char *tier, const char *solver, bool is_split)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", MODELS, name);
    RunResult *r = run_model(&(RunRequest){ .path = path,
                                            .tier = tier,
                                            .solver = solver,
                                            .stop = 1.5,
                                            .interval = 0.05,
                                            .every_event_step = true,
                                            .split_comparisons = is_split });
    expect_done(r);
    return r;
}

/* Columns of both, but what passes made. */
static void assert_same_columns(const RunResult *a, const RunResult *b)
{
    uint32_t n_same = 0;
    assert_int_equal(a->n_rows, b->n_rows);
    for (uint32_t k = 0; k < a->n_columns; k++) {
        if (a->names[k][0] == '$')
            continue;
        const uint32_t other = run_column(b, a->names[k]);
        for (uint32_t j = 0; j < a->n_rows; j++) {
            assert_memory_equal(&a->rows[j].time, &b->rows[j].time, sizeof(double));
            assert_memory_equal(&a->rows[j].values[k], &b->rows[j].values[other], sizeof(double));
        }
        n_same++;
    }
    assert_true(n_same > 6);
}

/* M6: comparisons of array equations are relations over their range, with the bits of one relation a cell. States stand
 * in another order then, which solvers that sum over them see: so implicit ones run a model with one array. */
static void test_arrays_that_compare_stay_whole_with_the_same_bits(void **state)
{
    static const struct {
        const char *name, *solver;
    } runs[] = { { "slopes_by_cell.ir", "dopri5" },    { "slopes_by_cell.ir", "cvode-bdf" },
                 { "slopes_by_cell.ir", "rk4" },       { "stairs_of_cells.ir", "rk4" },
                 { "cells_and_waves.ir", "dopri5" },   { "cells_and_waves.ir", "cvode-bdf" },
                 { "cells_and_waves.ir", "rk4" },      { "events_by_cell.ir", "dopri5" },
                 { "events_by_cell.ir", "cvode-bdf" }, { "events_by_cell.ir", "rk4" },
                 { "pairs_of_cells.ir", "dopri5" },    { "pairs_of_cells.ir", "cvode-bdf" },
                 { "pairs_of_cells.ir", "rk4" } };
    static const char *const tiers[] = { "interp", "tcc", "cc" };
    (void)state;
    for (size_t k = 0; k < sizeof runs / sizeof runs[0]; k++) {
        RunResult *split = run_cells(runs[k].name, "interp", runs[k].solver, true);
        for (size_t j = 0; j < sizeof tiers / sizeof tiers[0]; j++) {
            RunResult *whole = run_cells(runs[k].name, tiers[j], runs[k].solver, false);
            assert_int_equal(whole->report.statistics.events.state_events,
                             split->report.statistics.events.state_events);
            assert_same_columns(whole, split);
            run_free(whole);
        }
        run_free(split);
    }
}

/* Closed form: cell i passes c = i/2 + 0.25 at c/i and has climbed half as fast since. */
static void test_each_cell_of_an_array_has_an_event_of_its_own(void **state)
{
    (void)state;
    RunResult *r = run_cells("slopes_by_cell.ir", "interp", "dopri5", false);
    assert_int_equal(r->report.statistics.events.state_events, 6);
    for (int i = 1; i <= 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "x[%d]", i);
        const double c = 0.5 * i + 0.25;
        assert_near(run_last(r, name), c + 0.5 * i * (1.5 - c / i), 1e-9);
    }
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays_that_compare_stay_whole_with_the_same_bits),
        cmocka_unit_test(test_each_cell_of_an_array_has_an_event_of_its_own),
        cmocka_unit_test(test_events_over_a_range_exchange_elements),
        cmocka_unit_test(test_events_and_comparisons_of_elements),
        cmocka_unit_test(test_initial_equations_over_a_range),
        cmocka_unit_test(test_starts_over_a_range_stay_whole),
        cmocka_unit_test(test_ranges_of_one_value_and_of_none),
        cmocka_unit_test(test_equations_without_direction_in_groups),
        cmocka_unit_test(test_a_sum_of_many_terms),
        cmocka_unit_test(test_elements_by_an_index_of_the_run),
        cmocka_unit_test(test_an_index_outside_is_a_fault),
        cmocka_unit_test(test_a_conflict_names_the_element),
        cmocka_unit_test(test_quantities_and_components_are_the_same),
        cmocka_unit_test(test_a_ring_of_gates_as_component_array),
        cmocka_unit_test(test_a_shift_register),
        cmocka_unit_test(test_a_bubble_sort_by_computed_places),
        cmocka_unit_test(test_the_values_of_a_set_as_indices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
