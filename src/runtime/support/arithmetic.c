/* How the processor computes: rounding, traps, what becomes of tiny numbers. Functions of others must leave it as it
 * was, or all that is computed behind them is something else. */
#include "koine/support.h"
#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#if defined(__x86_64__)
/* Everything in the register but the flags of what has happened. */
static const uint32_t MODE = 0xffc0;

uint32_t koine_arithmetic_mode(void)
{
    return _mm_getcsr() & MODE;
}

uint32_t koine_arithmetic_nearest(void)
{
    return _mm_getcsr() & MODE & ~0x6000u;
}

void koine_arithmetic_restore(uint32_t mode)
{
    fesetround((int)(mode >> 13 & 3) << 10); /* of the older unit, too, which libm has use for */
    _mm_setcsr((_mm_getcsr() & ~MODE) | mode);
}
#else
uint32_t koine_arithmetic_mode(void)
{
    return (uint32_t)fegetround();
}

uint32_t koine_arithmetic_nearest(void)
{
    return FE_TONEAREST;
}

void koine_arithmetic_restore(uint32_t mode)
{
    fesetround((int)mode);
}
#endif
