/* Equations of the start, and of the time behind it, in branches: in all tiers, values by hand. */
#include "run.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MODEL KOINE_SOURCE_DIR "/tests/sim/start_branches/branches.ir"

static struct {
    double kind, a, x, y;
} chosen;

static void prepare(KoineModel *model)
{
    set_value(model, "kind", chosen.kind);
    set_value(model, "a", chosen.a);
}

/* x' = a - x from where the branch of the start says; s is what its equation behind the start says, not 3. */
static void check(const RunResult *r)
{
    expect_done(r);
    expect_near(run_at(r, "x", 0), chosen.x, 1e-9);
    expect_near(run_at(r, "y", 0), chosen.y, 1e-9);
    const double x = chosen.a + (chosen.x - chosen.a) * exp(-1);
    expect_near(run_last(r, "x"), x, 1e-6);
    expect_near(run_last(r, "z"), run_last(r, "x") + run_last(r, "y"), 1e-12);
    expect_near(run_last(r, "s"), x > 1, 0);
}

static void test_m7_equations_of_the_start_in_branches(void **state)
{
    static const double cases[][4] = {
        { 1, 2, 0.5, 2 }, /* y*y + x = 4.5 */
        { 2, 2, 2, 1 },   /* at rest */
        { 2, 4, 4, 2 },   { 3, 2, -7, 1 }, { 3, 4, 7, 3 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        chosen.kind = cases[k][0];
        chosen.a = cases[k][1];
        chosen.x = cases[k][2];
        chosen.y = cases[k][3];
        run_in_all_tiers((RunRequest){ .path = MODEL, .stop = 1, .interval = 1, .prepare = prepare }, check);
    }
}

/* The branch is chosen at pi and at 3 pi, where a jumps from 2 + t to 10: the lag starts at 2 + pi, and with n = 100 of
 * the event before at 102 + 3 pi; it rests while the branch is not chosen. */
static void check_again(const RunResult *r)
{
    const double pi = acos(-1);
    expect_done(r);
    expect_near(run_at(r, "lag.x", 3), 1, 0);
    expect_near(run_at(r, "lag.x", 4), 10 - (8 - pi) * exp(pi - 4), 1e-5);
    expect_near(run_at(r, "lag.x", 8), 10 - (8 - pi) * exp(-pi), 1e-5);
    expect_near(run_at(r, "lag.x", 10), 10 + (92 + 3 * pi) * exp(3 * pi - 10), 1e-4);
    expect_near(run_last(r, "n"), 200, 0);
}

static void test_t11_what_is_in_a_branch_starts_again_from_before_the_event(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = KOINE_SOURCE_DIR "/tests/sim/start_branches/again.ir",
                                   .stop = 10,
                                   .interval = 1,
                                   .tolerance = 1e-8 },
                     check_again);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_m7_equations_of_the_start_in_branches),
                                        cmocka_unit_test(
                                            test_t11_what_is_in_a_branch_starts_again_from_before_the_event) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
