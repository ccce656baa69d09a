/* What transitions say when they take effect: output, warnings, the end of the run. */
#include "machine.h"
#include <string.h>

static void print_action(Machine *m, const KoineAction *a)
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
        size_t length = 0;
        while (*f && length + 4 < sizeof one && !strchr("dfegi", *f))
            if (*f != 'l')
                one[length++] = *f++;
            else
                f++;
        if (!*f || arg >= a->n_args)
            break;
        const KoineSlot value = m->slots[a->args[arg]];
        if (a->types[arg] == KOINE_REAL) {
            one[length++] = *f == 'd' || *f == 'i' ? 'g' : *f;
            one[length] = 0;
            koine_text_add(&text, one, value.r);
        } else {
            memcpy(one + length, "lld", 4);
            koine_text_add(&text, one, (long long)value.i);
        }
        arg++;
    }
    if (a->kind == KOINE_ACTION_TERMINATE)
        m->instant->result.has_terminated = 1;
    if (m->model->host && m->model->host->message)
        m->model->host->message(m->model->host->context, m->model,
                                a->kind == KOINE_ACTION_WARNING ? KOINE_MESSAGE_WARNING : KOINE_MESSAGE_OUTPUT, room);
}

/* Which transition ended the run. */
static void note_end(Machine *m, const KoineTransition *t)
{
    const KoineProgram *p = m->program;
    KoineOrigin where = { 0 };
    if (p->explain.locate)
        p->explain.locate(p->explain.context, m->model, t->origin, &where);
    m->model->fault.place = where.place;
}

void koine_run_actions(Machine *m)
{
    const KoineProgram *p = m->program;
    for (uint32_t n = bitset_next(&m->wake.enabled, 0); n != UINT32_MAX; n = bitset_next(&m->wake.enabled, n + 1)) {
        const KoineTransition *t = &p->events.firings.transitions[n];
        for (uint32_t j = 0; j < t->n_actions; j++) {
            const KoineAction *a = &p->events.firings.actions[t->first_action + j];
            if (!m->slots[a->guard].i)
                continue;
            print_action(m, a);
            if (a->kind == KOINE_ACTION_TERMINATE)
                note_end(m, t);
        }
    }
}
