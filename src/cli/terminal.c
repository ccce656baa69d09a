#include "cli/terminal.h"
#include "base/text.h"
#include "cli/command.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_is(FILE *stream)
{
    return isatty(fileno(stream));
}

static bool is_dumb(void)
{
    const char *term = getenv("TERM");
    return !term || !*term || strcmp(term, "dumb") == 0;
}

bool terminal_has_colour(FILE *stream, const char *when)
{
    if (when && strcmp(when, "always") == 0)
        return true;
    if (when && strcmp(when, "never") == 0)
        return false;
    const char *refused = getenv("NO_COLOR");
    return !(refused && *refused) && !is_dumb() && terminal_is(stream);
}

bool terminal_has_unicode(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    if (is_dumb())
        return false;
    for (uint32_t k = 0; k < 3; k++) {
        const char *value = getenv(names[k]);
        if (value && *value) {
            const char *dot = strchr(value, '.');
            return dot && (strncasecmp(dot + 1, "utf-8", 5) == 0 || strncasecmp(dot + 1, "utf8", 4) == 0);
        }
    }
    return false;
}

uint32_t terminal_width(FILE *stream)
{
    struct winsize size;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    const long n = columns ? strtol(columns, NULL, 10) : 0;
    return n >= 20 && n <= 1000 ? (uint32_t)n : 80;
}

enum { WIDEST = 120 };

void draw_panes(const PlotPane *panes, uint32_t n_panes, const PlotOptions *size, FILE *to, bool colour, Arena *arena)
{
    const uint32_t width = terminal_width(to);
    const PlotOptions options = { .width = size && size->width ? size->width
                                           : width < WIDEST    ? width
                                                               : WIDEST,
                                  .height = size ? size->height : 0,
                                  .is_ascii = !terminal_has_unicode(),
                                  .has_colour = colour };
    const Text text = plot_terminal(panes, n_panes, &options, arena);
    fwrite(text.at, 1, text.n, to);
}

ProgressForm terminal_progress(ProgressForm wanted)
{
    return wanted == PROGRESS_BAR && (is_dumb() || !terminal_is(stderr)) ? PROGRESS_NONE : wanted;
}

/* ---- Interruption: the only writable globals; a signal handler has nothing else --------------------------------- */

static volatile int interrupted;
static volatile int told = -1; /* descriptor of whoever waits for the first signal */

static void on_signal(int number)
{
    (void)number;
    if (interrupted)
        _exit(EXIT_INTERRUPTED);
    interrupted = 1;
    const int error = errno, to = told;
    if (to >= 0)
        (void)!write(to, "", 1);
    errno = error;
}

void interrupt_tell(int descriptor)
{
    told = descriptor;
    if (interrupted && descriptor >= 0)
        (void)!write(descriptor, "", 1);
}

volatile const int *interrupt_watch(void)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    static const int signals[] = { SIGINT, SIGTERM, SIGQUIT, SIGHUP };
    sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) {
        struct sigaction before;
        if (sigaction(signals[k], NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* a shell may want it ignored */
            sigaction(signals[k], &action, NULL);
    }
    return &interrupted;
}

static void *await_end_of_input(void *nothing)
{
    char bytes[256];
    for (;;) {
        const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
    }
    kill(getpid(), SIGTERM);
    return nothing;
}

bool interrupt_with_input(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the first thread */
    const bool is_good = pthread_create(&thread, NULL, await_end_of_input, NULL) == 0 && pthread_detach(thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_good;
}
