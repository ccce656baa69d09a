/* Private to runtime/support: instances of the modes of a model, and what one takes over from another. */
#ifndef SUPPORT_MODES_H
#define SUPPORT_MODES_H

#include "koine/modes.h"
#include "machine.h"

typedef struct {
    KoineModelKind kind; /* first member */
    const KoineModes *modes;
    KoineTables tables;
    KoineVariable *variables;
    uint32_t *state_variable;
    uint64_t values, inner; /* offsets in the block */
    uint32_t n_values;      /* of all rows */
} ModesKind;

/* All but its tables. */
void koine_modes_calls(KoineModelKind *kind);

/* An event step has come to values that are not those of the mode: nothing has fired. In KoineOutcome.flags. */
enum { KOINE_MODE_ENDS = 1 << 30 };

static inline bool koine_mode_holds(const Machine *m)
{
    const KoineMode *mode = &m->program->mode;
    bool holds = true;
    for (uint32_t k = 0; k < mode->n && holds; k++)
        holds = m->slots[mode->at[k].slot].i == mode->at[k].value;
    return holds;
}

/* What stands in the way of `to` going on where `from` stands; NULL: nothing. */
const char *koine_mode_obstacle(const KoineProgram *from, const KoineProgram *to);
/* The number in one program of a root function of another. */
uint32_t koine_mode_root(const KoineDecisions *of, uint32_t root, const KoineDecisions *in);
/* `to`, as it was created, goes on in the event step of `from`. `left`: per row of the tables and element what it was
 * on the left of the event. */
KoineStatus koine_mode_carry(Machine *to, Machine *from, const KoineSlot *left);
/* Values of all rows, elements one behind the other, as the user sees them. */
void koine_mode_values(const Machine *m, KoineSlot *values);
/* Jumps of a mode that begins: from the values it has, as far as its constraints do not hold. */
void koine_enter_jumps(Machine *m);

#endif
