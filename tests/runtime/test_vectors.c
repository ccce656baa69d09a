/* The vector operations given to SUNDIALS have the bits of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/vectors.h"
#include <nvector/nvector_serial.h>
#include <string.h>
#include <sundials/sundials_context.h>

enum { LONGEST = 9, VECTORS = 4 };
static const double factors[] = { 0, 1, -1, 0.3, -0.3, 2, 7e-11, -3e200 };
enum { FACTORS = sizeof factors / sizeof factors[0] };

typedef struct {
    SUNContext context;
    N_Vector theirs[VECTORS], ours[VECTORS];
} Pair;

static double value(int k, int i)
{
    static const double special[] = { 0, -0.0, 1, -1, 1e-310, 1e300 };
    const int n = 7 * k + 3 * i;
    return n % 5 == 0 ? special[(k + i) % 6] : (n % 2 ? 1 : -1) * 0.1 * (1 + n) / (3 + i);
}

static void fill(Pair *pair)
{
    for (int k = 0; k < VECTORS; k++)
        for (int i = 0; i < NV_LENGTH_S(pair->ours[k]); i++)
            NV_Ith_S(pair->ours[k], i) = NV_Ith_S(pair->theirs[k], i) = value(k, i);
}

static Pair make(int n)
{
    Pair pair;
    assert_int_equal(SUNContext_Create(NULL, &pair.context), 0);
    for (int k = 0; k < VECTORS; k++) {
        pair.theirs[k] = N_VNew_Serial(n, pair.context);
        pair.ours[k] = N_VNew_Serial(n, pair.context);
        assert_non_null(pair.theirs[k]);
        assert_non_null(pair.ours[k]);
        koine_vectors_lean(pair.ours[k]);
    }
    fill(&pair);
    return pair;
}

static void drop(Pair *pair)
{
    for (int k = 0; k < VECTORS; k++) {
        N_VDestroy(pair->theirs[k]);
        N_VDestroy(pair->ours[k]);
    }
    SUNContext_Free(&pair->context);
}

static void check(const Pair *pair)
{
    for (int k = 0; k < VECTORS; k++)
        assert_memory_equal(NV_DATA_S(pair->ours[k]), NV_DATA_S(pair->theirs[k]),
                            (size_t)NV_LENGTH_S(pair->ours[k]) * sizeof(double));
}

static void test_sums_of_two_have_the_bits_of_sundials(void **state)
{
    static const int places[][3] = { { 0, 1, 2 }, { 0, 1, 0 }, { 0, 1, 1 }, { 0, 0, 1 }, { 2, 2, 2 } };
    (void)state;
    for (int n = 1; n <= LONGEST; n++) {
        Pair pair = make(n);
        for (int a = 0; a < FACTORS; a++)
            for (int b = 0; b < FACTORS; b++)
                for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
                    const int *at = places[p];
                    fill(&pair);
                    N_VLinearSum(factors[a], pair.ours[at[0]], factors[b], pair.ours[at[1]], pair.ours[at[2]]);
                    N_VLinearSum(factors[a], pair.theirs[at[0]], factors[b], pair.theirs[at[1]], pair.theirs[at[2]]);
                    check(&pair);
                }
        drop(&pair);
    }
}

static void test_sums_of_many_have_the_bits_of_sundials(void **state)
{
    (void)state;
    for (int n = 1; n <= LONGEST; n++) {
        Pair pair = make(n);
        for (int a = 0; a + 2 < FACTORS; a++) {
            double f[3];
            memcpy(f, factors + a, sizeof f);
            N_VLinearCombination(3, f, pair.ours, pair.ours[3]);
            N_VLinearCombination(3, f, pair.theirs, pair.theirs[3]);
            check(&pair);
            N_VScaleAddMulti(3, f, pair.ours[3], pair.ours, pair.ours);
            N_VScaleAddMulti(3, f, pair.theirs[3], pair.theirs, pair.theirs);
            check(&pair);
            fill(&pair);
            N_VScaleVectorArray(3, f, pair.ours, pair.ours + 1);
            N_VScaleVectorArray(3, f, pair.theirs, pair.theirs + 1);
            check(&pair);
        }
        drop(&pair);
    }
}

static void test_norms_and_clones_have_the_bits_of_sundials(void **state)
{
    (void)state;
    for (int n = 1; n <= LONGEST; n++) {
        Pair pair = make(n);
        N_Vector clone = N_VClone(pair.ours[0]);
        assert_ptr_equal(clone->ops->nvlinearsum, pair.ours[0]->ops->nvlinearsum);
        assert_ptr_not_equal(clone->ops->nvlinearsum, pair.theirs[0]->ops->nvlinearsum);
        const double ours = N_VWrmsNorm(pair.ours[0], pair.ours[1]);
        const double theirs = N_VWrmsNorm(pair.theirs[0], pair.theirs[1]);
        assert_memory_equal(&ours, &theirs, sizeof ours);
        for (int a = 0; a < FACTORS; a++) {
            N_VScale(factors[a], pair.ours[a % 2], pair.ours[2]);
            N_VScale(factors[a], pair.theirs[a % 2], pair.theirs[2]);
            check(&pair);
        }
        N_VDestroy(clone);
        drop(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_of_two_have_the_bits_of_sundials),
        cmocka_unit_test(test_sums_of_many_have_the_bits_of_sundials),
        cmocka_unit_test(test_norms_and_clones_have_the_bits_of_sundials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
