/* Tearing: the order is explicit, small systems against the least possible number of torn columns, known examples,
 * limits of error growth, work. */
#include "graphs.h"
#include "graph/tearing.h"

/* Each pair uses only columns of earlier pairs and torn ones; everything occurs once. */
static void check_tearing(const TearingProblem *p, const Tearing *found, Arena *arena)
{
    const Incidence *g = &p->rows;
    uint8_t *is_row = NEW_ARRAY(arena, uint8_t, g->rows + 1), *is_column = NEW_ARRAY(arena, uint8_t, g->rows + 1);
    for (uint32_t k = 0; k < g->rows; k++) {
        assert_false(is_row[found->row[k]]++);
        assert_false(is_column[found->column[k]]++);
    }
    for (uint32_t k = 0; k < found->n_inner; k++)
        is_column[found->column[k]] = 0;
    for (uint32_t k = 0; k < found->n_inner; k++) {
        const uint32_t row = found->row[k];
        bool is_solvable = false;
        for (uint32_t j = g->start[row]; j < g->start[row + 1]; j++) {
            if (g->index[j] == found->column[k])
                is_solvable = p->solvable[j];
            else
                assert_true(is_column[g->index[j]]);
        }
        assert_true(is_solvable);
        assert_false(p->is_kept && p->is_kept[row]);
        assert_false(p->is_torn && p->is_torn[found->column[k]]);
        is_column[found->column[k]] = 1;
    }
}

static uint8_t *all_solvable(const Incidence *g, Arena *arena)
{
    uint8_t *solvable = NEW_ARRAY(arena, uint8_t, incidence_entries(g) + 1);
    for (uint32_t k = 0; k < incidence_entries(g); k++)
        solvable[k] = 1;
    return solvable;
}

/* Whether everything else follows when the columns `torn` are known: rows with one unknown column compute it, whichever
 * is taken first. */
static bool is_enough(const TearingProblem *p, uint32_t torn)
{
    uint32_t known = torn, used = 0, n = p->rows.rows;
    for (bool any = true; any;) {
        any = false;
        for (uint32_t row = 0; row < n; row++) {
            uint32_t last = 0, n_unknown = 0;
            for (uint32_t k = p->rows.start[row]; k < p->rows.start[row + 1]; k++)
                if (!(known >> p->rows.index[k] & 1)) {
                    last = k;
                    n_unknown++;
                }
            if (used >> row & 1 || n_unknown != 1 || !p->solvable[last])
                continue;
            known |= 1u << p->rows.index[last];
            used |= 1u << row;
            any = true;
        }
    }
    return known == (1u << n) - 1;
}

static uint32_t least_torn(const TearingProblem *p)
{
    const uint32_t n = p->rows.rows;
    uint32_t least = n;
    for (uint32_t torn = 0; torn < 1u << n; torn++) {
        const uint32_t size = (uint32_t)__builtin_popcount(torn);
        if (size < least && is_enough(p, torn))
            least = size;
    }
    return least;
}

/* Random systems of up to 8 equations: valid always, and near the least number found by trying all sets. */
static void small_systems_are_near_the_least(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Random random = { 11 };
    uint64_t sum = 0, sum_least = 0, n_worse = 0;
    enum { ROUNDS = 1000 };
    for (int round = 0; round < ROUNDS; round++) {
        const ArenaMark mark = arena_mark(arena);
        const uint32_t n = 2 + random_below(&random, 7);
        Rows rows = { .arena = arena };
        for (uint32_t r = 0; r < n; r++) {
            row_begin(&rows);
            for (uint32_t c = 0; c < n; c++)
                if (c == r || random_below(&random, 100) < 25)
                    row_entry(&rows, c);
        }
        const Incidence g = rows_end(&rows, n);
        uint8_t *solvable = all_solvable(&g, arena);
        for (uint32_t k = 0; k < incidence_entries(&g); k++)
            solvable[k] = random_below(&random, 10) < 8;
        const TearingProblem p = { .rows = g, .solvable = solvable };
        const ArenaMark before = arena_mark(arena);
        const Tearing found = tear_system(&p, arena, NULL);
        check_tearing(&p, &found, arena);
        arena_reset(arena, before);
        const uint32_t torn = n - found.n_inner, least = least_torn(&p);
        assert_true(torn >= least);
        sum += torn;
        sum_least += least;
        n_worse += torn > least;
        arena_reset(arena, mark);
    }
    assert_true(sum * 100 <= sum_least * 110); /* at most a tenth more, and seldom */
    assert_true(n_worse * 100 <= ROUNDS * 20);
    arena_destroy(arena);
}

/* OT-062: examples whose sizes are known. */
static void known_examples(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    /* A ring x1 = f(x2), x2 = f(x3), ... needs one. */
    Rows ring = { .arena = arena };
    for (uint32_t k = 0; k < 100; k++) {
        row_begin(&ring);
        row_entry(&ring, k);
        row_entry(&ring, (k + 1) % 100);
    }
    const Incidence ring_rows = rows_end(&ring, 100);
    const TearingProblem ring_problem = { .rows = ring_rows, .solvable = all_solvable(&ring_rows, arena) };
    assert_int_equal(tear_system(&ring_problem, arena, NULL).n_inner, 99);
    /* A full system of n: all but one must be torn, the last follows. */
    Rows full = { .arena = arena };
    for (uint32_t k = 0; k < 10; k++) {
        row_begin(&full);
        for (uint32_t c = 0; c < 10; c++)
            row_entry(&full, c);
    }
    const Incidence full_rows = rows_end(&full, 10);
    const TearingProblem full_problem = { .rows = full_rows, .solvable = all_solvable(&full_rows, arena) };
    assert_int_equal(tear_system(&full_problem, arena, NULL).n_inner, 1);
    /* Tridiagonal: one unknown at an end shoots through. */
    Rows band = { .arena = arena };
    for (uint32_t k = 0; k < 50; k++) {
        row_begin(&band);
        for (uint32_t c = k ? k - 1 : 0; c < k + 2 && c < 50; c++)
            row_entry(&band, c);
    }
    const Incidence band_rows = rows_end(&band, 50);
    TearingProblem band_problem = { .rows = band_rows, .solvable = all_solvable(&band_rows, arena) };
    assert_int_equal(tear_system(&band_problem, arena, NULL).n_inner, 49);
    arena_destroy(arena);
}

/* Solved from one end, -x[k-1] + 3 x[k] - x[k+1] = b multiplies an error by 2.6 a row. */
static void growth_is_limited(void **state)
{
    (void)state;
    enum { N = 200 };
    Arena *arena = arena_create(NULL);
    Rows band = { .arena = arena };
    double magnitude[3 * N];
    for (uint32_t k = 0; k < N; k++) {
        row_begin(&band);
        for (uint32_t c = k ? k - 1 : 0; c < k + 2 && c < N; c++) {
            magnitude[band.index.n] = (c == k ? 3 : 1) * (k % 2 ? 1e-3 : 1) * (c % 3 ? 1e6 : 1); /* odd units */
            row_entry(&band, c);
        }
    }
    const Incidence g = rows_end(&band, N);
    TearingProblem p = { .rows = g, .solvable = all_solvable(&g, arena), .magnitude = magnitude, .most_growth = 1e6 };
    const Tearing found = tear_system(&p, arena, NULL);
    check_tearing(&p, &found, arena);
    double growth[N] = { 0 }, most = 0;
    for (uint32_t k = found.n_inner; k < N; k++)
        growth[found.column[k]] = 1;
    for (uint32_t k = 0; k < found.n_inner; k++) {
        const uint32_t row = found.row[k], column = found.column[k];
        double sum = 0;
        for (uint32_t c = row ? row - 1 : 0; c < row + 2 && c < N; c++)
            if (c != column)
                sum += (c == row ? 3 : 1) * growth[c];
        growth[column] = sum / (column == row ? 3 : 1);
        most = growth[column] > most ? growth[column] : most;
    }
    assert_true(most < 2e6 && most > 1e3); /* the limit, and no finer than needed */
    assert_true(N - found.n_inner > N / 20 && N - found.n_inner < N / 3);
    p.most_growth = 0;
    assert_int_equal(tear_system(&p, arena, NULL).n_inner, N - 1);
    arena_destroy(arena);
}

static void wishes_are_kept(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    Rows ring = { .arena = arena };
    for (uint32_t k = 0; k < 6; k++) {
        row_begin(&ring);
        row_entry(&ring, k);
        row_entry(&ring, (k + 1) % 6);
    }
    const Incidence g = rows_end(&ring, 6);
    const uint8_t is_torn[6] = { 0, 0, 0, 1, 0, 0 }, is_kept[6] = { 0, 0, 0, 1, 0, 0 };
    const TearingProblem p = { .rows = g, .solvable = all_solvable(&g, arena), .is_torn = is_torn, .is_kept = is_kept };
    const Tearing found = tear_system(&p, arena, NULL);
    check_tearing(&p, &found, arena);
    assert_int_equal(found.n_inner, 5);
    assert_int_equal(found.column[5], 3);
    assert_int_equal(found.row[5], 3);
    arena_destroy(arena);
}

/* Two rows could compute the same column: the plain one does, wherever it stands. */
static void plain_rows_are_used(void **state)
{
    (void)state;
    for (uint32_t plain = 0; plain < 2; plain++) {
        Arena *arena = arena_create(NULL);
        Rows rows = { .arena = arena };
        for (uint32_t k = 0; k < 2; k++) {
            row_begin(&rows);
            row_entry(&rows, 0);
            row_entry(&rows, 1);
        }
        const Incidence g = rows_end(&rows, 2);
        uint8_t solvable[4] = { 1, 1, 1, 1 };
        solvable[2 * plain] = solvable[2 * plain + 1] = TEARING_PLAIN;
        const TearingProblem p = { .rows = g, .solvable = solvable };
        const Tearing found = tear_system(&p, arena, NULL);
        check_tearing(&p, &found, arena);
        assert_int_equal(found.n_inner, 1);
        assert_int_equal(found.row[0], plain);
        arena_destroy(arena);
    }
}

static void work_is_linear(void **state)
{
    (void)state;
    uint64_t work[2] = { 0 };
    for (int round = 0; round < 2; round++) {
        Arena *arena = arena_create(NULL);
        Random random = { 5 };
        const uint32_t n = round ? SIZE_LARGE / 10 : SIZE_SMALL / 10;
        Rows rows = { .arena = arena };
        for (uint32_t k = 0; k < n; k++) { /* neighbours, and one far away */
            row_begin(&rows);
            row_entry(&rows, k);
            row_entry(&rows, (k + 1) % n);
            const uint32_t far = random_below(&random, n);
            if (far != k && far != (k + 1) % n)
                row_entry(&rows, far);
        }
        const Incidence g = rows_end(&rows, n);
        const TearingProblem p = { .rows = g, .solvable = all_solvable(&g, arena) };
        const Tearing found = tear_system(&p, arena, &work[round]);
        check_tearing(&p, &found, arena);
        assert_true(found.n_inner > n / 2);
        arena_destroy(arena);
    }
    assert_linear(work[0], work[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_systems_are_near_the_least),
        cmocka_unit_test(known_examples),
        cmocka_unit_test(growth_is_limited),
        cmocka_unit_test(wishes_are_kept),
        cmocka_unit_test(plain_rows_are_used),
        cmocka_unit_test(work_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
