/* Counts the assertions that each test of a program executes. A test that makes none proves nothing: it fails.
 *
 * The linker sends every call of cmocka's assertions, and the call that runs a group, through the functions here
 * (--wrap in CMakeLists.txt), so that no test has to know of it. If the environment variable KOINE_ASSERTIONS names a
 * file, each test that passes adds the line `PROGRAM<tab>TEST<tab>COUNT`; tools/check-coverage compares them with the
 * ledgers. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "assertions.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static unsigned long made;              /* by the running test */
static const struct CMUnitTest *listed; /* the tests as the program lists them */
static const struct CMUnitTest *run;    /* the one that runs */

void assertion_made(void)
{
    made++;
}

/* ---- the assertions ---- */
#define COUNTED(name, parameters, arguments)                                                                           \
    void __real_##name parameters;                                                                                     \
    void __wrap_##name parameters;                                                                                     \
    void __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        made++;                                                                                                        \
        __real_##name arguments;                                                                                       \
    }

typedef LargestIntegralType Number;
COUNTED(_assert_true, (Number result, const char *text, const char *file, int line), (result, text, file, line))
COUNTED(_assert_return_code, (Number result, size_t size, Number error, const char *text, const char *file, int line),
        (result, size, error, text, file, line))
COUNTED(_assert_float_equal, (float a, float b, float epsilon, const char *file, int line), (a, b, epsilon, file, line))
COUNTED(_assert_float_not_equal, (float a, float b, float epsilon, const char *file, int line),
        (a, b, epsilon, file, line))
COUNTED(_assert_int_equal, (Number a, Number b, const char *file, int line), (a, b, file, line))
COUNTED(_assert_int_not_equal, (Number a, Number b, const char *file, int line), (a, b, file, line))
COUNTED(_assert_string_equal, (const char *a, const char *b, const char *file, int line), (a, b, file, line))
COUNTED(_assert_string_not_equal, (const char *a, const char *b, const char *file, int line), (a, b, file, line))
COUNTED(_assert_memory_equal, (const void *a, const void *b, size_t size, const char *file, int line),
        (a, b, size, file, line))
COUNTED(_assert_memory_not_equal, (const void *a, const void *b, size_t size, const char *file, int line),
        (a, b, size, file, line))
COUNTED(_assert_in_range, (Number value, Number least, Number most, const char *file, int line),
        (value, least, most, file, line))
COUNTED(_assert_not_in_range, (Number value, Number least, Number most, const char *file, int line),
        (value, least, most, file, line))

/* ---- the tests ---- */
static void record(void)
{
    const char *path = getenv("KOINE_ASSERTIONS");
    FILE *file = path && *path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s\t%s\t%lu\n", program_invocation_short_name, run->name,
            made); /* one write: programs run at once */
    fclose(file);
}

/* Stands for the setup of every test: cmocka calls it once for each, in the order of the list. */
static int begin(void **state)
{
    run = run ? run + 1 : listed;
    made = 0;
    return run->setup_func ? run->setup_func(state) : 0;
}

static void counted_test(void **state)
{
    run->test_func(state);
    if (made == 0)
        fail_msg("%s makes no assertion", run->name);
    record();
}

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
                                   CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
                                   CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
                                   CMFixtureFunction teardown)
{
    struct CMUnitTest *counted = malloc((n + 1) * sizeof *counted);
    if (!counted)
        return 1;
    for (size_t k = 0; k < n; k++) {
        counted[k] = tests[k];
        counted[k].setup_func = begin;
        counted[k].test_func = counted_test;
    }
    listed = tests;
    run = NULL;
    const int failed = __real__cmocka_run_group_tests(name, counted, n, setup, teardown);
    free(counted);
    return failed;
}
