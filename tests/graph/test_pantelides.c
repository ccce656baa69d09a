/* The least differentiations by their definition: enumeration of all small ones whose highest derivatives can be
 * matched; known systems; and that a chain costs what it is long. */
#include "graphs.h"
#include "graph/matching.h"
#include "graph/pantelides.h"
#include <string.h>

enum { MOST = 4, DEEPEST = 3 };

typedef struct {
    uint32_t n;
    int order[MOST][MOST]; /* -1: not there */
} Small;

/* Can every row have the highest derivative of a column of its own, differentiated so often? By enumeration. */
static bool is_matched(const Small *s, const uint32_t *times, const uint32_t *highest, uint32_t row, uint32_t used)
{
    if (row == s->n)
        return true;
    for (uint32_t c = 0; c < s->n; c++)
        if (s->order[row][c] >= 0 && (uint32_t)s->order[row][c] + times[row] == highest[c] && !(used >> c & 1) &&
            is_matched(s, times, highest, row + 1, used | 1u << c))
            return true;
    return false;
}

static bool is_solvable(const Small *s, const uint32_t *times, uint32_t *highest)
{
    memset(highest, 0, MOST * sizeof *highest);
    for (uint32_t r = 0; r < s->n; r++)
        for (uint32_t c = 0; c < s->n; c++)
            if (s->order[r][c] >= 0) {
                const uint32_t own = (uint32_t)s->order[r][c] + times[r];
                highest[c] = own > highest[c] ? own : highest[c];
                if ((uint32_t)s->order[r][c] > highest[c])
                    highest[c] = (uint32_t)s->order[r][c];
            }
    return is_matched(s, times, highest, 0, 0);
}

static Pantelides run(const Small *s, Arena *arena)
{
    VEC(uint32_t) index = { 0 };
    VEC(uint32_t) order = { 0 };
    uint32_t *start = NEW_ARRAY(arena, uint32_t, s->n + 1);
    for (uint32_t r = 0; r < s->n; r++) {
        for (uint32_t c = 0; c < s->n; c++)
            if (s->order[r][c] >= 0) {
                vec_push(arena, &index, c);
                vec_push(arena, &order, (uint32_t)s->order[r][c]);
            }
        start[r + 1] = index.n;
    }
    const Incidence g = { s->n, s->n, start, index.at };
    return pantelides(&g, order.at, NULL, 8, arena, NULL);
}

/* The sum over all rows is least, and then every single one is: the least solution is unique (Pryce). */
static void check_least(const Small *s, const Pantelides *found)
{
    uint32_t times[MOST] = { 0 }, highest[MOST], n = 1;
    for (uint32_t k = 0; k < s->n; k++)
        n *= DEEPEST + 1;
    bool any = false;
    for (uint32_t code = 0; code < n; code++) {
        for (uint32_t k = 0, rest = code; k < s->n; k++, rest /= DEEPEST + 1)
            times[k] = rest % (DEEPEST + 1);
        if (!is_solvable(s, times, highest))
            continue;
        any = true;
        assert_true(found->is_complete);
        for (uint32_t k = 0; k < s->n; k++)
            assert_true(found->differentiated[k] <= times[k]);
    }
    if (!found->is_complete) {
        assert_false(any);
        return;
    }
    memcpy(times, found->differentiated, s->n * sizeof *times);
    assert_true(is_solvable(s, times, highest));
    for (uint32_t k = 0; k < s->n; k++)
        assert_int_equal(highest[k], found->highest[k]);
}

static void random_systems_have_the_least_solution(void **state)
{
    (void)state;
    Random random = { 11 };
    for (uint32_t round = 0; round < 3000; round++) {
        Arena *arena = arena_create(NULL);
        Small s = { .n = 1 + random_below(&random, MOST) };
        for (uint32_t r = 0; r < s.n; r++)
            for (uint32_t c = 0; c < s.n; c++)
                s.order[r][c] = random_below(&random, 2) ? -1 : (int)random_below(&random, 2);
        const Pantelides found = run(&s, arena);
        check_least(&s, &found);
        arena_destroy(arena);
    }
}

/* x, y, F: x'' = F x, y'' = F y - g, x^2 + y^2 = L^2. */
static void the_pendulum_is_differentiated_twice(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    const Small s = { 3, { { 2, -1, 0 }, { -1, 2, 0 }, { 0, 0, -1 } } };
    const Pantelides found = run(&s, arena);
    assert_true(found.is_complete);
    assert_int_equal(found.differentiated[0] + found.differentiated[1], 0);
    assert_int_equal(found.differentiated[2], 2);
    assert_int_equal(found.most, 2);
    arena_destroy(arena);
}

/* Two equations for one quantity: no differentiation helps, the limit ends it. */
static void a_singular_system_ends_at_the_limit(void **state)
{
    (void)state;
    Arena *arena = arena_create(NULL);
    const Small s = { 2, { { 0, -1 }, { 0, -1 } } };
    assert_false(run(&s, arena).is_complete);
    arena_destroy(arena);
}

/* n inertias, rigidly coupled: J w_k' = T_k - T_(k+1), w_k = w_(k+1). */
static uint64_t chain_work(uint32_t n)
{
    Arena *arena = arena_create(NULL);
    const uint32_t rows = 2 * n - 1;
    uint32_t *start = NEW_ARRAY(arena, uint32_t, rows + 1), *index = NEW_ARRAY(arena, uint32_t, 5 * n),
             *order = NEW_ARRAY(arena, uint32_t, 5 * n), e = 0, row = 0;
    for (uint32_t k = 0; k < n; k++) {
        index[e] = k;
        order[e++] = 1;
        if (k)
            index[e++] = n + k - 1;
        if (k + 1 < n)
            index[e++] = n + k;
        start[++row] = e;
    }
    for (uint32_t k = 0; k + 1 < n; k++) {
        index[e++] = k;
        index[e++] = k + 1;
        start[++row] = e;
    }
    const Incidence g = { rows, rows, start, index };
    uint64_t work = 0;
    const Pantelides found = pantelides(&g, order, NULL, 8, arena, &work);
    assert_true(found.is_complete);
    assert_int_equal(found.most, 1);
    arena_destroy(arena);
    return work;
}

static void a_chain_costs_what_it_is_long(void **state)
{
    (void)state;
    const uint64_t few = chain_work(1000), many = chain_work(16000);
    assert_true(many < 16 * few * 3 / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems_have_the_least_solution),
        cmocka_unit_test(the_pendulum_is_differentiated_twice),
        cmocka_unit_test(a_singular_system_ends_at_the_limit),
        cmocka_unit_test(a_chain_costs_what_it_is_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
