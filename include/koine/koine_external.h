/* For C functions that models of Koine call: how they fail, and where they put texts that they return.
 *
 *     #include "koine_external.h"
 *
 *     double c_level(double volume)
 *     {
 *         if (volume < 0)
 *             return koine_fail("the volume is negative"), 0;
 *         ...
 *
 * Koine finds this header by itself. Everything in it is defined here: nothing is to be linked. A function that has
 * failed returns as usual; what it returns does not count. */
#ifndef KOINE_EXTERNAL_H
#define KOINE_EXTERNAL_H

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#define KOINE_EXTERNAL_THREAD thread_local
#else
#define KOINE_EXTERNAL_THREAD _Thread_local
#endif
#define KOINE_EXTERNAL_SHARED __attribute__((weak, visibility("default")))

typedef struct {
    int has_failed;
    char failure[500];
    void *texts; /* a list: each begins with the address of the next one */
} KoineExternalState;

#ifndef KOINE_EXTERNAL_TYPES_ONLY
/* Read by Koine after each call: that of the present thread, and how often any thread has failed. */
KOINE_EXTERNAL_SHARED int koine_external_failures;
KOINE_EXTERNAL_SHARED KoineExternalState *koine_external_state(void)
{
    static KOINE_EXTERNAL_THREAD KoineExternalState state;
    return &state;
}

/* The function has failed, and the run, unless it was only a trial, ends with this text. The first one counts. */
static inline void koine_fail(const char *text)
{
    KoineExternalState *state = koine_external_state();
    if (state->has_failed)
        return;
    state->has_failed = 1;
    strncpy(state->failure, text ? text : "", sizeof state->failure - 1);
    __atomic_fetch_add(&koine_external_failures, 1, __ATOMIC_RELAXED);
}

/* Memory for a text of n characters, and 0 behind them, that a function returns. Koine copies it and gives the memory
 * back. NULL: there is none, and the function has failed. */
static inline char *koine_text(size_t n)
{
    KoineExternalState *state = koine_external_state();
    void **memory = n < (size_t)-1 - sizeof(void *) ? (void **)calloc(1, sizeof(void *) + n + 1) : NULL;
    if (!memory) {
        koine_fail("there is no memory for a text");
        return NULL;
    }
    memory[0] = state->texts;
    state->texts = memory;
    return (char *)(memory + 1);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
