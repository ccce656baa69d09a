/* Whose turn it is; see exchange.h. */
#define _GNU_SOURCE
#include "foreign/exchange.h"
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t lay(uint64_t *end, uint64_t n, uint64_t size)
{
    const uint64_t at = (*end + 63) / 64 * 64; /* no line of the cache has parts of two lists */
    *end = at + n * size;
    return at;
}

void exchange_lay_out(ExchangeLayout *layout, const KoineTables *tables)
{
    uint64_t end = sizeof(Exchange);
    layout->x = lay(&end, tables->n_x, sizeof(double));
    layout->der = lay(&end, tables->n_x, sizeof(double));
    layout->roots = lay(&end, tables->roots.n, sizeof(double));
    layout->sizes = lay(&end, tables->roots.n, sizeof(double));
    layout->crossed = lay(&end, tables->roots.n, 1);
    layout->changes = lay(&end, layout->n_in, sizeof(KoineChange));
    layout->in = lay(&end, layout->n_in, sizeof(uint64_t));
    layout->set = lay(&end, layout->n_set, sizeof(uint64_t));
    layout->out = lay(&end, layout->n_out, sizeof(uint64_t));
    layout->block = lay(&end, tables->block_size, 1);
    layout->size = end;
}

int64_t exchange_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool exchange_has_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

static void pause_a_little(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static bool is_turn(const Exchange *e, uint32_t who)
{
    return atomic_load_explicit(&e->turn, memory_order_acquire) == who;
}

/* Longer than most answers take, and than Koine computes between two calls. */
static bool spin(const Exchange *e, uint32_t who)
{
    enum { AT_ONCE = 64, BETWEEN = 16, NANOSECONDS = 50000 };
    for (uint32_t k = 0; k < AT_ONCE && e->spins; k++) {
        if (is_turn(e, who))
            return true;
        pause_a_little();
    }
    for (const int64_t end = exchange_clock() + NANOSECONDS; e->spins && exchange_clock() < end;)
        for (uint32_t k = 0; k < BETWEEN; k++) {
            if (is_turn(e, who))
                return true;
            pause_a_little();
        }
    return is_turn(e, who);
}

void exchange_give_turn(Exchange *e, uint32_t to)
{
    atomic_store(&e->turn, to);
    if (atomic_load(&e->sleeps[to]))
        syscall(SYS_futex, &e->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool exchange_await(Exchange *e, uint32_t who, int64_t nanoseconds)
{
    if (nanoseconds == 0)
        return spin(e, who);
    const struct timespec most = { (time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000) };
    atomic_store(&e->sleeps[who], 1);
    if (atomic_load(&e->turn) != who)
        syscall(SYS_futex, &e->turn, FUTEX_WAIT, 1 - who, &most, NULL, 0);
    atomic_store(&e->sleeps[who], 0);
    return is_turn(e, who);
}
