/* What transitions say when they take effect: output, warnings, the end of the run. */
#include "machine.h"
#include <string.h>

static void print_action(Machine *k, const KoineAction *a)
{
    char room[1024];
    KoineText text = koine_text_in(room, sizeof room);
    uint32_t arg = 0;
    for (const char *f = a->format; *f && !text.is_cut; f++) {
        if (*f != '%' || f[1] == '%') {
            koine_text_add(&text, "%c", *f);
            f += *f == '%';
            continue;
        }
        char one[32];
        size_t m = 0;
        while (*f && m + 4 < sizeof one && !strchr("dfegi", *f))
            if (*f != 'l')
                one[m++] = *f++;
            else
                f++;
        if (!*f || arg >= a->n_args)
            break;
        const KoineSlot value = k->m[a->args[arg]];
        if (a->types[arg] == KOINE_REAL) {
            one[m++] = *f == 'd' || *f == 'i' ? 'g' : *f;
            one[m] = 0;
            koine_text_add(&text, one, value.r);
        } else {
            memcpy(one + m, "lld", 4);
            koine_text_add(&text, one, (long long)value.i);
        }
        arg++;
    }
    if (a->kind == KOINE_ACTION_TERMINATE)
        k->instant->has_terminated = 1;
    if (k->model->host && k->model->host->message)
        k->model->host->message(k->model->host->context, k->model,
                                a->kind == KOINE_ACTION_WARNING ? KOINE_MESSAGE_WARNING : KOINE_MESSAGE_OUTPUT, room);
}

/* Which transition ended the run. */
static void note_end(Machine *k, const KoineTransition *t)
{
    const KoineProgram *p = k->program;
    KoineOrigin where = { 0 };
    if (p->explain.locate)
        p->explain.locate(p->explain.context, k->model, t->origin, &where);
    k->model->fault.place = where.place;
}

void koine_run_actions(Machine *k)
{
    const KoineProgram *p = k->program;
    for (uint32_t n = bitset_next(&k->wake.enabled, 0); n != UINT32_MAX; n = bitset_next(&k->wake.enabled, n + 1)) {
        const KoineTransition *t = &p->events.firings.transitions[n];
        for (uint32_t j = 0; j < t->n_actions; j++) {
            const KoineAction *a = &p->events.firings.actions[t->first_action + j];
            if (!k->m[a->guard].i)
                continue;
            print_action(k, a);
            if (a->kind == KOINE_ACTION_TERMINATE)
                note_end(k, t);
        }
    }
}
