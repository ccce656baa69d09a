/* See watch.h. */
#include "emit/external/watch.h"
#include "ir/routine.h"
#include <locale.h>

static const int watched[WATCHED_SIGNALS] = { SIGINT, SIGTERM, SIGHUP,  SIGQUIT, SIGSEGV, SIGFPE,
                                              SIGBUS, SIGILL,  SIGABRT, SIGALRM, SIGCHLD, SIGPIPE };

void watch_begin(Watch *watch)
{
    const char *locale = setlocale(LC_ALL, NULL);
    const bool fits = locale && strlen(locale) < sizeof watch->locale;
    memcpy(watch->locale, fits ? locale : "", fits ? strlen(locale) + 1 : 1);
    for (uint32_t k = 0; k < WATCHED_SIGNALS; k++)
        sigaction(watched[k], NULL, &watch->actions[k]);
}

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
    if ((a->sa_flags & SA_SIGINFO) != (b->sa_flags & SA_SIGINFO))
        return false;
    return a->sa_flags & SA_SIGINFO ? a->sa_sigaction == b->sa_sigaction : a->sa_handler == b->sa_handler;
}

uint32_t watch_end(const Watch *watch)
{
    uint32_t kind = ROUTINE_NO_FAULT;
    const char *locale = setlocale(LC_ALL, NULL);
    if (watch->locale[0] && (!locale || strcmp(locale, watch->locale) != 0)) {
        kind = ROUTINE_LOCALE;
        setlocale(LC_ALL, watch->locale);
    }
    for (uint32_t k = 0; k < WATCHED_SIGNALS; k++) {
        struct sigaction now;
        if (sigaction(watched[k], NULL, &now) == 0 && !is_same(&now, &watch->actions[k])) {
            kind = ROUTINE_SIGNALS;
            sigaction(watched[k], &watch->actions[k], NULL);
        }
    }
    return kind;
}
