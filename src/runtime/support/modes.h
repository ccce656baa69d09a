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

typedef struct Mode {
    struct Mode *next;
    KoineModel *model;
    unsigned char *pristine; /* its block as it was created */
    uint64_t size;
    uint64_t number;
    uint64_t used;        /* when it was entered last */
    uint64_t last_step;   /* of Modal.n_steps: in which the instance was in it last */
    const char *obstacle; /* it cannot follow the others, and why; NULL: it can */
    uint32_t *place;      /* per state of it: where it stands among the states of all modes */
    uint32_t *root;       /* per root function of the first mode: its number here */
    double *x, *der, *roots, *sizes;
    uint8_t *crossed;
} Mode;

typedef struct { /* of an instance */
    Mode *all, *present, *first;
    uint64_t clock;
    bool is_counting;          /* executions: then none goes */
    KoineModelStatistics past; /* of instances that are no more */
    KoineSlot *left, *shown;   /* values of all rows: on the left of the event; as they were shown last */
    uint32_t n_switches;       /* in this instant */
    uint64_t n_steps;          /* event steps so far */
} Modal;

static inline const ModesKind *kind_of(const KoineModel *model)
{
    return (const ModesKind *)(const void *)model->kind;
}

static inline Machine *machine_of(const Mode *mode)
{
    return koine_machine_of(mode->model);
}

static inline double *states_in(const KoineModel *model)
{
    return (double *)(void *)(model->block + model->kind->tables->x);
}

/* modes_instances.c. Takes over the reference to the kind. NULL: there is no memory. */
Mode *koine_mode_create(KoineModel *model, const KoineModelKind *inner);
void koine_mode_destroy(const ModesKind *kind, Mode *mode);
/* The present instance, in the block as it is; NULL: the block is that of a mode that nobody knows. */
Mode *koine_mode_present(KoineModel *model);
/* The instance becomes the present one, as it was created. False: there is no memory. */
bool koine_mode_put(KoineModel *model, Mode *mode);
void koine_modes_statistics(const KoineModel *model, KoineModelStatistics *out);

/* An event step has come to values that are not those of the mode: nothing has fired. In KoineOutcome.flags. */
enum { KOINE_MODE_ENDS = 1 << 30 };

static inline bool koine_choices_are(const Machine *m, const KoineFixedChoice *at, uint32_t n)
{
    bool are = true;
    for (uint32_t k = 0; k < n && are; k++)
        are = m->slots[at[k].slot].i == at[k].value;
    return are;
}

static inline bool koine_mode_holds(const Machine *m)
{
    const KoineMode *mode = &m->program->mode;
    bool holds = koine_choices_are(m, mode->at, mode->n);
    for (uint32_t k = 0; k < mode->n_excluded && holds && !m->spaces.is_lost; k++)
        holds = !koine_choices_are(m, mode->excluded[k].at, mode->excluded[k].n);
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
