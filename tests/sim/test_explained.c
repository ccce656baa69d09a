/* Models with too little, too much, or contradictory in them: what is wrong, where, and what would help. */
#include "assertions.h"
#include "run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define HERE KOINE_SOURCE_DIR "/tests/sim/bad/"

/* All of the texts stand in the messages, in this order. */
static void expect_refused(const char *file, const char *const *texts)
{
    char path[256];
    snprintf(path, sizeof path, HERE "%s", file);
    RunResult *r = run_model(&(RunRequest){ .path = path, .stop = 0 });
    assert_false(r->is_compiled);
    const char *at = r->messages;
    for (; *texts; texts++) {
        const char *found = strstr(at, *texts);
        fail_if(!found, "'%s' is missing in\n%s", *texts, r->messages);
        at = found + strlen(*texts);
    }
    run_free(r);
}

static void test_ot046_circuit_without_ground(void **state)
{
    (void)state;
    expect_refused(
        "noground.dym",
        (const char *const[]){ "error KN2164: ", "equations do not determine their",
                               "unknowns: one of these 2 equations follows from the other\n", "nothing determines '",
                               "... together with '",
                               "help: potentials have a value only against a reference: connect one of them to it, "
                               "in a circuit to a Ground",
                               NULL });
}

static void test_ot046_voltage_sources_in_parallel(void **state)
{
    (void)state;
    expect_refused(
        "twosources.dym",
        (const char *const[]){ "error KN2112: too few equations: 2 unknowns have only 1 equation", "unknown 'V1.i'",
                               "help: nothing says how flows divide between ideal connections, as voltage sources "
                               "in parallel: give one of them a resistance",
                               "error KN2112: too many equations: 5 equations for 4 unknowns", "V1.V0 = 5", "V2.V0 = 6",
                               "help: the difference of two potentials is given twice, as by voltage sources in "
                               "parallel",
                               NULL });
}

static void test_ot046_current_sources_in_series(void **state)
{
    (void)state;
    expect_refused("twocurrents.dym",
                   (const char *const[]){
                       "twocurrents.dym:9:3: error KN2112: too many equations: 2 equations for 1 unknown", "I1.I0 = 5",
                       "help: a flow is given twice, as by current sources in series: remove one, or give "
                       "the difference another way",
                       "error KN2112: too few equations: 3 unknowns have only 2 equations", "unknown 'I1.Vb'",
                       "between two current sources in series a way for the difference is missing", NULL });
}

static void test_ot046_source_between_two_grounds(void **state)
{
    (void)state;
    expect_refused(
        "twogrounds.dym",
        (const char *const[]){ "error KN2110: 'V1.i' has no definition",
                               "error KN2112: too many equations: 4 equations for 3 unknowns",
                               "help: the difference of two potentials is given twice, as by voltage sources in "
                               "parallel, or a source between two Grounds",
                               NULL });
}

/* R2 is connected to nothing: its potentials have no reference. V1.V0 is forgotten: its equation is asked for. */
static void test_ot046_object_without_connection(void **state)
{
    (void)state;
    expect_refused("openend.dym",
                   (const char *const[]){ "error KN2112: too few equations: 2 unknowns have only 1 equation",
                                          "unknown 'R2.Va'", "help: potentials have a value only against a reference",
                                          "unknown 'R.Vb'", NULL });
}

/* x is fixed, and two initial equations want to determine x and y. */
static void test_overdetermined_start_names_fixed_values(void **state)
{
    (void)state;
    expect_refused(
        "toomany.ir",
        (const char *const[]){ "error KN2112: too many equations at the start: ", "the start value of 'x' is fixed",
                               "help: remove one of these initial equations, or let one of these start values be "
                               "free",
                               NULL });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ot046_circuit_without_ground),
        cmocka_unit_test(test_ot046_voltage_sources_in_parallel),
        cmocka_unit_test(test_ot046_current_sources_in_series),
        cmocka_unit_test(test_ot046_source_between_two_grounds),
        cmocka_unit_test(test_ot046_object_without_connection),
        cmocka_unit_test(test_overdetermined_start_names_fixed_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
