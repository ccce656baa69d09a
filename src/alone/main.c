/* A model that stands alone: runs it and writes its results as CSV. README.md beside it tells what it takes. */
#include "alone/load.h"
#include "alone/rows.h"
#include "alone/set.h"
#include "base/text.h"
#include "koine/support.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>

extern const KoineAlone koine_alone; /* model.c */

/* As those of `koine run`. */
enum { GOOD = 0, WRONG_USAGE = 2, RUN_FAILED = 3, WRONG_ENVIRONMENT = 4, INTERRUPTED = 130 };

static volatile int interrupt;

static void on_signal(int number)
{
    interrupt = number;
}

typedef struct {
    KoineRunOptions options;
    uint64_t seed;
    const char *output, *variables;
    char **settings; /* of --set, in order */
    int n_settings;
} Wishes;

static int complain(const char *what, const char *value)
{
    fprintf(stderr, "model: %s '%s'; see --help\n", what, value);
    return WRONG_USAGE;
}

static int help(void)
{
    puts("--stop TIME         end of the simulated time; must be given\n"
         "--start TIME        its begin; default 0\n"
         "--interval TIME     distance of recorded points; default a 500th of the run\n"
         "--tolerance NUMBER  relative error allowed; default 1e-6\n"
         "--solver NAME       integration method; default auto\n"
         "--step TIME         step of solvers with fixed steps; default the interval\n"
         "--max-step TIME     largest step of the other solvers\n"
         "--set NAME=VALUE    a parameter, start value or guess; may be repeated\n"
         "--seed NUMBER       of random numbers; default 0\n"
         "--variables GLOB,.. what is recorded; default everything visible that changes\n"
         "--output FILE       the results; default the standard output\n\n"
         "Solvers:");
    for (uint32_t k = 0; koine_solver_name(k); k++)
        printf("  %-22s %s\n", koine_solver_name(k), koine_solver_description(k));
    return GOOD;
}

static bool read_number(const char *text, double *number)
{
    const char *end = text + strlen(text);
    return end != text && text_to_real(text, end, number) == end && isfinite(*number);
}

static double *number_of(Wishes *wishes, const char *name)
{
    const struct {
        const char *name;
        double *at;
    } numbers[] = { { "--stop", &wishes->options.stop },         { "--start", &wishes->options.start },
                    { "--interval", &wishes->options.interval }, { "--tolerance", &wishes->options.tolerance },
                    { "--step", &wishes->options.step },         { "--max-step", &wishes->options.max_step } };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (strcmp(numbers[k].name, name) == 0)
            return numbers[k].at;
    return NULL;
}

static bool is_solver(const char *name)
{
    bool found = false;
    for (uint32_t k = 0; koine_solver_name(k); k++)
        found |= strcmp(koine_solver_name(k), name) == 0;
    return found;
}

/* One option with its value. */
static int take(Wishes *wishes, const char *name, char *value)
{
    double *number = number_of(wishes, name);
    char *end = value;
    if (number)
        return read_number(value, number) ? GOOD : complain("there must be a number instead of", value);
    if (strcmp(name, "--output") == 0)
        wishes->output = value;
    else if (strcmp(name, "--variables") == 0)
        wishes->variables = value;
    else if (strcmp(name, "--set") == 0)
        wishes->settings[wishes->n_settings++] = value;
    else if (strcmp(name, "--seed") == 0 && (wishes->seed = strtoull(value, &end, 10), *end || end == value))
        return complain("there must be a whole number instead of", value);
    else if (strcmp(name, "--solver") == 0 && !is_solver(wishes->options.solver = value))
        return complain("there is no solver", value);
    else if (strcmp(name, "--seed") != 0 && strcmp(name, "--solver") != 0)
        return complain("there is no option", name);
    return GOOD;
}

static int read_words(Wishes *wishes, int n, char **words)
{
    int status = GOOD;
    for (int k = 1; k < n && status == GOOD; k += 2)
        status = k + 1 < n ? take(wishes, words[k], words[k + 1]) : complain("there is no value for", words[k]);
    if (status == GOOD && isnan(wishes->options.stop))
        return complain("there must be an option", "--stop TIME");
    return status;
}

static void on_message(void *context, const KoineModel *model, int level, const char *text)
{
    const Wishes *wishes = context;
    (void)model;
    FILE *to = level == KOINE_MESSAGE_OUTPUT && strcmp(wishes->output, "-") != 0 ? stdout : stderr;
    fprintf(to, "%s%s\n", level == KOINE_MESSAGE_WARNING ? "warning: " : "", text);
}

static int report(const KoineRunReport *r)
{
    if (r->end != KOINE_RUN_DONE && r->text[0])
        fprintf(stderr, "model: %s\n", r->text);
    switch (r->end) {
    case KOINE_RUN_DONE:
    case KOINE_RUN_TERMINATED: return GOOD;
    case KOINE_RUN_INTERRUPTED: return INTERRUPTED;
    case KOINE_RUN_FAILED: return RUN_FAILED;
    case KOINE_RUN_SINK: return WRONG_ENVIRONMENT;
    case KOINE_RUN_OPTIONS: break;
    }
    return WRONG_USAGE;
}

static int simulate(const KoineModelKind *kind, Wishes *wishes, Arena *arena)
{
    const double tolerance = wishes->options.tolerance > 0 ? wishes->options.tolerance : KOINE_USUAL_TOLERANCE;
    const KoineHost host = { .context = wishes, .seed = wishes->seed, .tolerance = tolerance, .message = on_message };
    KoineModel *model = NULL;
    char why[512];
    if (kind->create(kind, &host, &model) < 0 || !model) {
        fputs("model: there is not enough memory for an instance\n", stderr);
        return WRONG_ENVIRONMENT;
    }
    int status = GOOD;
    for (int k = 0; k < wishes->n_settings && status == GOOD; k++)
        if (!set_by_name(model, wishes->settings[k], why, sizeof why)) {
            fprintf(stderr, "model: %s\n", why);
            status = WRONG_USAGE;
        }
    KoineSink *const sinks[] = { rows_sink(wishes->output, wishes->variables, arena) };
    static KoineRunReport ended;
    wishes->options.sinks = sinks;
    wishes->options.n_sinks = 1;
    wishes->options.listener.interrupt = &interrupt;
    wishes->options.control.first_step = wishes->options.step;
    wishes->options.control.high_error = wishes->options.tolerance;
    wishes->options.control.low_error = 0.1 * wishes->options.tolerance;
    if (status == GOOD) {
        koine_simulate(model, &wishes->options, &ended);
        status = report(&ended);
    }
    kind->destroy(model);
    return status;
}

int main(int n, char **words)
{
    const struct sigaction action = { .sa_handler = on_signal };
    Wishes wishes = { .options = { .stop = NAN }, .output = "-" };
    if (n == 2 && strcmp(words[1], "--help") == 0)
        return help();
    wishes.settings = calloc((size_t)n, sizeof *wishes.settings);
    int status = wishes.settings ? read_words(&wishes, n, words) : WRONG_ENVIRONMENT;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is one that cannot be written */
    const char *missing = status == GOOD ? koine_alone_load(&koine_alone) : NULL;
    if (missing) {
        fprintf(stderr, "model: %s\n", missing);
        status = WRONG_ENVIRONMENT;
    }
    const KoineCode code = koine_alone_code(&koine_alone);
    KoineModelKind *kind = status == GOOD ? koine_machine_kind(koine_alone.program, &code) : NULL;
    Arena *arena = arena_create(NULL);
    if (kind)
        status = simulate(kind, &wishes, arena);
    else if (status == GOOD) {
        fputs("model: there is not enough memory for an instance\n", stderr);
        status = WRONG_ENVIRONMENT;
    }
    arena_destroy(arena);
    koine_machine_free(kind);
    free(wishes.settings);
    return status;
}
