/* Instances of modes: made when a run comes to one, and that of the present one in the block of the whole; see modes.h.
 */
#include "modes.h"
#include <math.h>
#include <stdlib.h>

enum { MOST_KEPT = 32 };

/* ---- instances of modes ---- */
void koine_mode_destroy(const ModesKind *kind, Mode *mode)
{
    if (mode->model) {
        const KoineModelKind *inner = mode->model->kind;
        mode->model->block = mode->pristine;
        inner->destroy(mode->model);
        kind->modes->release(kind->modes->context, inner);
    }
    free(mode->place);
    free(mode->root);
    free(mode->x);
    free(mode->crossed);
    free(mode);
}

static bool is_of(const KoineTables *tables, uint32_t k, const KoinePort *port)
{
    const KoineVariable *v = &tables->variables[port->variable];
    return v->state >= 0 && (uint32_t)v->state + port->element == k;
}

/* States that all modes know have their places; others take those that are left. */
static bool place_states(const ModesKind *kind, Mode *mode)
{
    const KoineModes *modes = kind->modes;
    const KoineTables *tables = mode->model->kind->tables;
    bool *is_taken = calloc(modes->n_x + 1, sizeof *is_taken);
    for (uint32_t k = 0; is_taken && k < tables->n_x; k++) {
        mode->place[k] = KOINE_NONE;
        for (uint32_t j = 0; j < modes->n_x && mode->place[k] == KOINE_NONE; j++)
            if (!is_taken[j] && is_of(tables, k, &modes->states[j]))
                mode->place[k] = j;
        if (mode->place[k] != KOINE_NONE)
            is_taken[mode->place[k]] = true;
    }
    for (uint32_t k = 0, j = 0; is_taken && k < tables->n_x; k++) {
        while (mode->place[k] == KOINE_NONE && j < modes->n_x && is_taken[j])
            j++;
        if (mode->place[k] == KOINE_NONE && j < modes->n_x)
            mode->place[k] = j++;
    }
    const bool is_good = is_taken != NULL;
    free(is_taken);
    return is_good;
}

static void add_statistics(KoineModelStatistics *sum, const Mode *mode)
{
    KoineModelStatistics one;
    mode->model->kind->counts.statistics(mode->model, &one);
#define ADD(to, from)                       to += from
#define MOST(to, from)                      to = to > from ? to : from
#define KOINE_MODEL_COUNTER(name, how, ...) how(sum->name, one.name);
#include "koine/statistics.def"
#undef ADD
#undef MOST
    sum->largest_condition = fmax(sum->largest_condition, one.largest_condition);
    for (uint32_t k = 0; k < KOINE_BUCKETS; k++)
        sum->by_cycles[k] += one.by_cycles[k];
}

/* Of many that one goes which was entered longest ago. */
static void forget_one(const ModesKind *kind, Modal *modal)
{
    Mode **oldest = NULL;
    uint32_t n = 0;
    for (Mode **at = &modal->all; *at; at = &(*at)->next, n++)
        if (*at != modal->present && *at != modal->first && (!oldest || (*at)->used < (*oldest)->used))
            oldest = at;
    if (n < MOST_KEPT || !oldest || modal->is_counting)
        return;
    Mode *gone = *oldest;
    *oldest = gone->next;
    add_statistics(&modal->past, gone);
    koine_mode_destroy(kind, gone);
}

/* Takes over the reference to the kind. NULL: there is no memory. */
Mode *koine_mode_create(KoineModel *model, const KoineModelKind *inner)
{
    const ModesKind *kind = kind_of(model);
    Modal *modal = model->handles;
    const size_t n_x = inner->tables->n_x, n_roots = inner->tables->roots.n;
    Mode *mode = calloc(1, sizeof *mode);
    if (!mode)
        return NULL;
    mode->place = calloc(n_x + 1, sizeof *mode->place);
    mode->x = calloc(2 * n_x + 2 * n_roots + 1, sizeof *mode->x);
    mode->root = calloc(n_roots + 1, sizeof *mode->root);
    mode->crossed = calloc(n_roots + 1, 1);
    if (!mode->place || !mode->x || !mode->root || !mode->crossed ||
        inner->create(inner, model->host, &mode->model) != KOINE_OK) {
        mode->model = NULL;
        kind->modes->release(kind->modes->context, inner);
        koine_mode_destroy(kind, mode);
        return NULL;
    }
    mode->der = mode->x + n_x;
    mode->roots = mode->der + n_x;
    mode->sizes = mode->roots + n_roots;
    mode->pristine = mode->model->block;
    mode->size = mode->model->size;
    mode->number = machine_of(mode)->program->mode.number;
    const Mode *first = modal->first ? modal->first : mode;
    const KoineProgram *program = machine_of(mode)->program;
    mode->obstacle = koine_mode_obstacle(machine_of(first)->program, program);
    for (uint32_t k = 0; !mode->obstacle && k < n_roots; k++)
        mode->root[k] = koine_mode_root(&machine_of(first)->program->events.decisions, k, &program->events.decisions);
    if (n_x > kind->modes->n_x || !place_states(kind, mode)) {
        koine_mode_destroy(kind, mode);
        return NULL;
    }
    forget_one(kind, modal);
    mode->next = modal->all;
    mode->used = ++modal->clock;
    modal->all = mode;
    return mode;
}

/* ---- the block ---- */
static uint64_t *number_in(const KoineModel *model)
{
    return (uint64_t *)(void *)model->block;
}

/* The block is that of another mode: it was copied from elsewhere. */
static Mode *other_mode(KoineModel *model, uint64_t number)
{
    const ModesKind *kind = kind_of(model);
    const Modal *modal = model->handles;
    Mode *mode = modal->all;
    while (mode && mode->number != number)
        mode = mode->next;
    const KoineModelKind *inner = mode || !number ? NULL : kind->modes->again(kind->modes->context, number);
    return inner ? koine_mode_create(model, inner) : mode;
}

/* The present instance, in the block as it is; NULL: the block is that of a mode that nobody knows. */
Mode *koine_mode_present(KoineModel *model)
{
    const ModesKind *kind = kind_of(model);
    Modal *modal = model->handles;
    Mode *mode = modal->present;
    if (mode->number != *number_in(model))
        mode = other_mode(model, *number_in(model));
    if (!mode || model->size < kind->inner + mode->size)
        return NULL;
    modal->present = mode;
    mode->model->block = model->block + kind->inner;
    mode->model->size = model->size - kind->inner;
    mode->model->host = model->host;
    return mode;
}

/* The instance begins as it was created. False: there is no memory. */
bool koine_mode_put(KoineModel *model, Mode *mode)
{
    const ModesKind *kind = kind_of(model);
    Modal *modal = model->handles;
    const uint64_t wanted = kind->inner + mode->size;
    if (wanted > model->size) {
        unsigned char *block = aligned_alloc(KOINE_ALIGNMENT, wanted);
        if (!block)
            return false;
        memcpy(block, model->block, kind->inner);
        free(model->block);
        model->block = block;
        model->size = wanted;
    }
    memset(model->block + kind->inner, 0, model->size - kind->inner);
    memcpy(model->block + kind->inner, mode->pristine, mode->size);
    *number_in(model) = mode->number;
    mode->used = ++modal->clock;
    modal->present = mode;
    return koine_mode_present(model) != NULL;
}

void koine_modes_statistics(const KoineModel *model, KoineModelStatistics *out)
{
    const Modal *modal = model->handles;
    *out = modal->past;
    for (const Mode *mode = modal->all; mode; mode = mode->next)
        add_statistics(out, mode);
}
