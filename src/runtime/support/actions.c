/* What transitions say when they take effect: output, warnings, the end of the run. */
#include "machine.h"
#include <stdio.h>
#include <string.h>

static void print_action(Machine *k, const KoineAction *a)
{
    char text[1024];
    size_t n = 0;
    uint32_t arg = 0;
    for (const char *f = a->format; *f && n + 64 < sizeof text; f++) {
        if (*f != '%') {
            text[n++] = *f;
            continue;
        }
        if (f[1] == '%') {
            text[n++] = *f++;
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
            n += (size_t)snprintf(text + n, sizeof text - n, one, value.r);
        } else {
            memcpy(one + m, "lld", 4);
            n += (size_t)snprintf(text + n, sizeof text - n, one, (long long)value.i);
        }
        if (n >= sizeof text)
            n = sizeof text - 1;
        arg++;
    }
    text[n] = 0;
    if (a->kind == KOINE_ACTION_TERMINATE)
        k->instant->has_terminated = 1;
    if (k->model->host && k->model->host->message)
        k->model->host->message(k->model->host->context, k->model,
                                a->kind == KOINE_ACTION_WARNING ? KOINE_MESSAGE_WARNING : KOINE_MESSAGE_OUTPUT, text);
}

void koine_run_actions(Machine *k)
{
    const KoineProgram *p = k->program;
    if (p->n_actions == 0)
        return;
    for (uint32_t n = bitset_next(&k->enabled, 0); n != UINT32_MAX; n = bitset_next(&k->enabled, n + 1)) {
        const KoineTransition *t = &p->transitions[n];
        for (uint32_t j = 0; j < t->n_actions; j++)
            if (k->m[p->actions[t->first_action + j].guard].i)
                print_action(k, &p->actions[t->first_action + j]);
    }
}
