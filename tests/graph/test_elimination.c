/* Numbers: rank, left over rows and open unknowns of small systems, and vectors that a matrix does not notice. */
#include "graphs.h"
#include "graph/elimination.h"
#include "graph/null_vector.h"
#include <math.h>

/* x + y = 3, 2x + 2y = right, z = 1: x and y are open, and there is a solution only for right = 6. */
static Elimination eliminate_pair(double right, double *a, Arena *arena)
{
    const double equations[] = { 1, 1, 0, 3, 2, 2, 0, right, 0, 0, 1, 1 };
    memcpy(a, equations, sizeof equations);
    return eliminate(3, a, arena);
}

static void rows_left_over_need_no_right_side(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    double a[12];
    assert_true(eliminate_pair(6, a, arena).can_be_met);
    assert_false(eliminate_pair(7, a, arena).can_be_met);
    assert_int_equal(eliminate_pair(7, a, arena).rank, 2);
    arena_destroy(arena);
}

static void open_columns_are_free_or_depend_on_free_ones(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    double a[12];
    bool is_open[3];
    const Elimination e = eliminate_pair(6, a, arena);
    list_open_columns(&e, is_open);
    assert_true(is_open[0]);
    assert_true(is_open[1]);
    assert_false(is_open[2]);
    arena_destroy(arena);
}

static void regular_systems_are_solved(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    double a[] = { 0, 2, 4, 1e6, 1e6, 3e6 }; /* 2y = 4, 1e6 (x + y) = 3e6 */
    const Elimination e = eliminate(2, a, arena);
    assert_int_equal(e.rank, 2);
    for (uint32_t k = 0; k < 2; k++) {
        const double *row = &e.matrix[e.row[k] * 3];
        assert_float_equal(row[2] / row[e.column[k]], e.column[k] == 0 ? 1 : 2, 1e-12);
    }
    arena_destroy(arena);
}

static SparseRow *sparse_rows(uint32_t n, const double *a, Arena *arena)
{
    SparseRow *rows = NEW_ARRAY(arena, SparseRow, n);
    for (uint32_t k = 0; k < n * n; k++)
        if (a[k] != 0)
            vec_push(arena, &rows[k / n], ((SparseEntry){ k % n, a[k] }));
    return rows;
}

/* A network of conductances of any size that nothing ties to ground: all potentials can change together. */
static void networks_without_ground_have_a_null_vector(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 7 };
    for (int round = 0; round < 200; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t n = 2 + random_below(&random, 20);
        double *a = NEW_ARRAY(arena, double, n *n), x[22];
        for (uint32_t k = 1; k < n; k++) {
            const uint32_t other = random_below(&random, k);
            const double g = pow(10, (double)random_below(&random, 3) - 1);
            a[k * n + k] += g;
            a[other * n + other] += g;
            a[k * n + other] -= g;
            a[other * n + k] -= g;
        }
        assert_true(find_null_vector(n, sparse_rows(n, a, arena), arena, x));
        for (uint32_t k = 1; k < n; k++)
            assert_float_equal(x[k] / x[0], 1, 1e-6);
        a[0] += 1; /* a resistor to ground */
        assert_false(find_null_vector(n, sparse_rows(n, a, arena), arena, x));
        arena_reset(arena, mark);
    }
    arena_destroy(arena);
}

/* Columns that do not take part are not in the vector. */
static void null_vectors_are_least(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    const double a[] = { 1, 1, 0, 0, 2, 2, 0, 5, 0, 0, 3, 1, 0, 0, 1, 2 };
    double x[4];
    assert_true(find_null_vector(4, sparse_rows(4, a, arena), arena, x));
    assert_float_equal(x[0], -x[1], 1e-12);
    assert_true(x[0] != 0);
    assert_true(x[2] == 0 && x[3] == 0);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_left_over_need_no_right_side),
        cmocka_unit_test(open_columns_are_free_or_depend_on_free_ones),
        cmocka_unit_test(regular_systems_are_solved),
        cmocka_unit_test(networks_without_ground_have_a_null_vector),
        cmocka_unit_test(null_vectors_are_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
