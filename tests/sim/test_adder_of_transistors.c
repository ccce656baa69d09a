/* The largest of the published problems: 39 transistors, 159 states, 247 equations in one system.
 *
 * Test Set for IVP Solvers, two bit adding unit; its reference was computed with tolerances of 1e-5, and its three
 * outputs count. The published text starts from the state of rest, which is reached here by beginning at -100 ns. It
 * charges two capacitances in another way than its own circuit (towards the wrong node): too little to be seen. */
#include "run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_two_bit_adder_in_residual_form(void **state)
{
    (void)state;
    RunResult *r = run_model(&(RunRequest){ .path = KOINE_SOURCE_DIR "/tests/sim/dae/adder.dym",
                                            .solver = "ida",
                                            .tier = "tcc",
                                            .start = -100,
                                            .stop = 320,
                                            .interval = 420,
                                            .tolerance = 1e-4 });
    expect_done(r);
    expect_near(run_last(r, "s0.V"), 0.2040419147264534, 1e-5);
    expect_near(run_last(r, "s1.V"), 0.4997238455712048e1, 5e-5);
    expect_near(run_last(r, "c.V"), 0.2038985905095614, 1e-5);
    run_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_bit_adder_in_residual_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
