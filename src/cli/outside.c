/* See outside.h. Handlers only write and leave. */
#include "cli/outside.h"
#include "cli/command.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *volatile symbols_at_work; /* NULL: nothing is executed */

static void say_quickly(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

static void say_what_ran(const char *what)
{
    say_quickly(what);
    say_quickly(symbols_at_work);
    say_quickly("\n");
}

/* exit was called while the run went on. */
static void on_exit_inside(void)
{
    if (!symbols_at_work)
        return;
    say_what_ran("koine: the run was ended by an exit that is not Koine's; functions of C are: ");
    _exit(EXIT_RUN);
}

static void on_crash(int signal_number)
{
    if (symbols_at_work)
        say_what_ran("koine: the process crashes while functions of C are executed: ");
    raise(signal_number); /* its usual effect, which SA_RESETHAND has put back */
}

void outside_begin(const char *symbols)
{
    static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    if (!symbols)
        return;
    symbols_at_work = symbols;
    atexit(on_exit_inside);
    for (size_t k = 0; k < sizeof crashes / sizeof *crashes; k++) {
        struct sigaction action = { .sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND };
        sigaction(crashes[k], &action, NULL);
    }
}

void outside_end(void)
{
    symbols_at_work = NULL;
}
