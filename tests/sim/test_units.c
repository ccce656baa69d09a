/* Units on connections: values of one kind are converted, others are passed on with a warning. Expected values: by hand
 * from the definitions of the units. */
#include "run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define UNITS KOINE_SOURCE_DIR "/tests/sim/simplex/units/"

/* Way = 1500 T mm. */
static void check_pair(const RunResult *r)
{
    assert_string_equal(r->messages, "");
    for (int k = 0; k <= 4; k++) {
        const double time = 0.5 * k, way = 1500 * time;
        expect_near(run_at(r, "Way", time), way, 1e-6);
        expect_near(run_at(r, "Nehmer.X", time), way / 1000, 1e-9);
        expect_near(run_at(r, "Nehmer.Rest", time), 10 - way / 1000, 1e-9);
        expect_near(run_at(r, "Nehmer.Any", time), way, 1e-6);      /* no unit: as it is */
        expect_near(run_at(r, "Mess.Way", time), way / 1000, 1e-9); /* the unit of A.X, the first of its list */
        expect_near(run_at(r, "Mess.A.X", time), way / 1000, 1e-9);
        expect_near(run_at(r, "Mess.B.Gap", time), way / 10, 1e-7); /* cm */
        expect_near(run_at(r, "Mess.Rest", time), 10 - way / 1000, 1e-9);
        expect_near(run_at(r, "Nehmer.Gap", time), 25, 1e-12); /* a constant: 250 mm */
        expect_near(run_at(r, "Nehmer.Temp", time), 293.15 + 0.001 * way, 1e-9);
        expect_near(run_at(r, "Nehmer.Omega", time), 3.14159265358979323846, 1e-12); /* 30/min are pi/s */
    }
}

static void test_connections_convert(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = UNITS "Paar.mdl", .stop = 2, .interval = 0.5 }, check_pair);
}

static void check_wrong(const RunResult *r)
{
    assert_non_null(strstr(r->messages, "Falsch.mdl:4:18: warning KN1226: `Nehmer.X` is in m, but `Geber.Mass` in kg"));
    assert_non_null(strstr(r->messages, "these are different kinds of quantities"));
    assert_non_null(strstr(r->messages, "Falsch.mdl:5:15: warning KN1226: `Nehmer.K` is in s, but `Geber.N` in min"));
    assert_non_null(strstr(r->messages, "an INTEGER is not converted"));
    expect_near(run_last(r, "Nehmer.X"), 2, 0);
    expect_near(run_last(r, "Nehmer.K"), 2, 0);
}

static void test_what_does_not_fit_is_passed_on(void **state)
{
    (void)state;
    run_in_all_tiers((RunRequest){ .path = UNITS "Falsch.mdl", .stop = 1, .interval = 1 }, check_wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connections_convert),
        cmocka_unit_test(test_what_does_not_fit_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
