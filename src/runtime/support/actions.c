/* What transitions say when they take effect: output, warnings, the end of the run. */
#include "texts.h"
#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 1024 };

static const char *text_of(const Machine *m, const KoineAction *a, uint32_t arg)
{
    uint32_t ignored;
    return koine_texts_get(m, m->slots[a->args[arg]].i, &ignored);
}

static void format_text(const Machine *m, const KoineAction *a, char room[TEXT_SIZE])
{
    KoineText text = koine_text_in(room, TEXT_SIZE);
    uint32_t arg = 0;
    if (!a->format) {
        koine_text_add(&text, "%s", text_of(m, a, 0));
        return;
    }
    for (const char *f = a->format; *f && !text.is_cut; f++) {
        if (*f != '%' || f[1] == '%') {
            koine_text_add(&text, "%c", *f);
            f += *f == '%';
            continue;
        }
        char one[32];
        size_t length = 0;
        while (*f && length + 4 < sizeof one && !strchr("dfegis", *f))
            if (*f != 'l')
                one[length++] = *f++;
            else
                f++;
        if (!*f || arg >= a->n_args)
            break;
        const KoineSlot value = m->slots[a->args[arg]];
        if (a->types[arg] == KOINE_STRING) {
            memcpy(one + length, "s", 2);
            koine_text_add(&text, one, text_of(m, a, arg));
        } else if (a->types[arg] == KOINE_REAL) {
            one[length++] = *f == 'd' || *f == 'i' || *f == 's' ? 'g' : *f;
            one[length] = 0;
            koine_text_add(&text, one, value.r);
        } else {
            memcpy(one + length, "lld", 4);
            koine_text_add(&text, one, (long long)value.i);
        }
        arg++;
    }
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

static KoineStatus fail(Machine *m, const KoineTransition *t, const char *text)
{
    const KoineStatus status = koine_fault(m, KOINE_FAILED, KOINE_NONE, text);
    note_end(m, t);
    return koine_because(m, KOINE_CAUSE_ASSERTION, status);
}

static KoineStatus run_action(Machine *m, const KoineTransition *t, const KoineAction *a)
{
    if (a->kind == KOINE_ACTION_SEND)
        return koine_send(m, a);
    const KoineHost *host = m->model->host;
    char text[TEXT_SIZE];
    format_text(m, a, text);
    if (a->kind == KOINE_ACTION_FAIL)
        return fail(m, t, text);
    if (a->kind == KOINE_ACTION_TERMINATE)
        m->instant->result.has_terminated = 1;
    if (host && host->message && a->kind == KOINE_ACTION_WARNING) {
        char timed[TEXT_SIZE + 32];
        snprintf(timed, sizeof timed, "%s (at time %g)", text, m->slots[m->program->slots.time].r);
        host->message(host->context, m->model, KOINE_MESSAGE_WARNING, timed);
    } else if (host && host->message)
        host->message(host->context, m->model, KOINE_MESSAGE_OUTPUT, text);
    if (a->kind == KOINE_ACTION_TERMINATE)
        note_end(m, t);
    return KOINE_OK;
}

KoineStatus koine_run_actions(Machine *m)
{
    const KoineProgram *p = m->program;
    for (uint32_t n = bitset_next(&m->wake.enabled, 0); n != UINT32_MAX; n = bitset_next(&m->wake.enabled, n + 1)) {
        const KoineTransition *t = &p->events.firings.transitions[n];
        for (uint32_t j = 0; j < t->n_actions; j++) {
            const KoineAction *a = &p->events.firings.actions[t->first_action + j];
            const KoineStatus status = m->slots[a->guard].i ? run_action(m, t, a) : KOINE_OK;
            if (status != KOINE_OK)
                return status;
        }
    }
    return KOINE_OK;
}
