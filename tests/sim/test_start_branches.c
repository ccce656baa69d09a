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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_m7_equations_of_the_start_in_branches) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
