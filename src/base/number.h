/* Powers of ten in 128 bits, for printing and reading doubles. Private to number_*.c and their test.
 *
 * Entry k - POWER_FIRST holds floor(10^k * 2^-r) with r = floor(log2(10^k)) - 127, so that its top
 * bit is set. The entry is exact for 0 <= k <= POWER_LAST_EXACT and too small by less than one unit
 * otherwise. tests/base/test_number.c computes the table anew with big integers and compares;
 * `base_test_number --print-powers` writes number_powers.c. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdint.h>

typedef struct {
    uint64_t high, low;
} Power;

enum {
    POWER_FIRST = -342,   /* reading: 9999999999999999999e-343 is below half of the smallest double */
    POWER_LAST = 324,     /* printing: the smallest double is 5 * 10^-324 */
    POWER_LAST_EXACT = 55 /* 5^55 < 2^128 < 5^56 */
};

extern const Power number_powers[POWER_LAST - POWER_FIRST + 1];

__extension__ typedef unsigned __int128 Wide;

/* floor(log2(10^k)), for |k| <= 1233. */
static inline int power_log2(int k)
{
    return (k * 1741647) >> 19;
}

#endif
