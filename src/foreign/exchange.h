/* What Koine and a component in a process of its own have in common: memory, and whose turn it is.
 *
 * The memory has no name and ends with the processes. A call is written into it, then it is the component's turn; the
 * answer is written into it, then it is Koine's. Whoever waits spins for a while, then sleeps. */
#ifndef FOREIGN_EXCHANGE_H
#define FOREIGN_EXCHANGE_H

#include "koine/model.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { EXCHANGE_MEMORY = 3, EXCHANGE_LIFE = 4 }; /* descriptors of the component's process */
enum { TURN_OF_KOINE, TURN_OF_COMPONENT };

typedef enum {
    CALL_CREATE,
    CALL_INITIALISE,
    CALL_EVALUATE,
    CALL_ACCEPT,
    CALL_ARRIVE,
    CALL_STEP,
    CALL_COMMIT,
    CALL_LEAVE,
    CALL_ADVANCE,
    CALL_DESTROY
} ExchangeCall;

typedef enum { ANSWER_DONE, ANSWER_MESSAGE } ExchangeAnswer;

typedef struct { /* where lists begin, as offsets in the memory */
    uint64_t x, der, roots, sizes, crossed, changes;
    uint64_t block;        /* of the component, as it is seen from here */
    uint64_t in, set, out; /* offsets in that block: inputs; what is set before the start; outputs */
    uint32_t n_in, n_set, n_out;
    uint64_t size;
} ExchangeLayout;

typedef struct {
    uint64_t seed;
    double resolution, iteration_tolerance, tolerance;
    uint32_t max_steps, max_cycles;
    char resources[4096];
} ExchangeHost;

typedef struct {
    uint32_t what, want, cause, n_changes; /* what: ExchangeCall */
    double time, step;
    bool has_x, has_crossed, has_changes, has_sizes;
} ExchangeQuestion;

typedef struct {
    uint32_t what;         /* ExchangeAnswer */
    int32_t status, level; /* level: of a message */
    double reached;
    KoineOutcome outcome;
} ExchangeReply;

typedef struct { /* what is written in turn has lines of the cache of its own */
    _Alignas(64) _Atomic uint32_t turn;
    _Atomic uint32_t sleeps[2]; /* by TURN_OF_... */
    uint32_t spins;             /* 1: there is another processor for the other side */
    uint64_t fingerprint;       /* of the tables that Koine knows */
    ExchangeLayout layout;
    _Alignas(64) ExchangeQuestion asked;
    _Alignas(64) ExchangeReply reply;
    _Alignas(64) ExchangeHost host;
    KoineFault fault;
    char message[4096];
} Exchange;

static inline void *exchange_at(Exchange *e, uint64_t offset)
{
    return (unsigned char *)e + offset;
}

/* Where everything lies, behind the Exchange; the numbers of the lists are set. */
void exchange_lay_out(ExchangeLayout *layout, const KoineTables *tables);
void exchange_give_turn(Exchange *e, uint32_t to);
/* Waits for the turn of `who` at most so many nanoseconds (0: as long as spinning pays); true: it has come. */
bool exchange_await(Exchange *e, uint32_t who, int64_t nanoseconds);
bool exchange_has_processors(void); /* more than one for this process */
int64_t exchange_clock(void);       /* nanoseconds */

#endif
