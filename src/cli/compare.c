/* koine compare: whether two results are the same, signal by signal, within a tube. */
#include "cli/results.h"
#include "cli/verbs.h"
#include "formats/compare_results.h"
#include "formats/select.h"
#include <math.h>

enum { MOST_SHOWN = 10, MOST_DRAWN = 6 };

static int draw_worst(const Command *command, const Comparison *c, const char *path)
{
    PlotPane panes[MOST_DRAWN];
    const uint32_t n = comparison_panes(c, command->arguments, MOST_DRAWN, panes);
    const Text svg = plot_svg(panes, n, &(PlotOptions){ 0 }, c->arena);
    return write_text(path, &svg);
}

static int report(const Command *command, const Comparison *c)
{
    const bool is_same = c->has_same_times && c->n_different == 0 && c->missing.n == 0;
    Text text = { .arena = c->arena };
    comparison_text(c, MOST_SHOWN, &text);
    fwrite(text.at, 1, text.n, stdout);
    Text summary = { .arena = c->arena };
    comparison_summary(c, command->arguments[1], &summary);
    say("%s", summary.at);
    const char *svg = command_option(command, "svg");
    const int drawn = svg && c->pairs.n ? draw_worst(command, c, svg) : EXIT_GOOD;
    return drawn != EXIT_GOOD ? drawn : is_same ? EXIT_GOOD : EXIT_MODEL;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int read_number(const Command *command, const char *name, double otherwise, double *value)
{
    const char *text = command_option(command, name);
    *value = otherwise;
    if (!text)
        return EXIT_GOOD;
    const char *end = text + strlen(text);
    if (text_to_real(text, end, value) == end && *text && *value >= 0 && isfinite(*value))
        return EXIT_GOOD;
    return usage_error(command, "--%s must be a number that is not negative, not '%s'", name, text);
}

static int compare(const Command *command, Comparison *c)
{
    if (c->reference->n_rows == 0 || c->other->n_rows == 0) {
        say("'%s' has no points", command->arguments[c->reference->n_rows == 0 ? 0 : 1]);
        return EXIT_MODEL;
    }
    compare_results(c);
    if (c->pairs.n == 0 && c->missing.n == 0) {
        say("there is no signal to compare");
        return EXIT_USAGE;
    }
    return report(command, c);
}

static int run_compare(const Command *command)
{
    Comparison c = { .arena = command->arena };
    int status = read_number(command, "tube", 2e-3, &c.tube);
    if (status == EXIT_GOOD)
        status = read_number(command, "absolute", c.tube > 0 ? 1e-9 : 0, &c.absolute);
    if (status != EXIT_GOOD)
        return status;
    const char *globs = command_option(command, "variables");
    if (globs)
        c.n_globs = globs_split(globs, command->arena, &c.globs);
    const Series *results[2];
    status = read_results(command, 2, results);
    c.reference = results[0];
    c.other = results[1];
    if (status == EXIT_GOOD)
        status = compare(command, &c);
    series_done(c.reference);
    series_done(c.other);
    return status;
}

static const Option options_of_compare[] = {
    { .name = "tube",
      .value = "NUMBER",
      .help = "size of the tube as a part of the range of time and of the signal; default 0.002; 0: the same bits" },
    { .name = "absolute", .value = "NUMBER", .help = "a difference that never counts; default 1e-9" },
    { .name = "variables", .value = "GLOB,...", .help = "what is compared; default everything" },
    { .name = "svg", .value = "FILE", .help = "draw the signals that differ most, both results in one picture" },
    { 0 },
};

static const Example examples[] = {
    { "koine compare reference.csv ball.h5",
      "says which signals leave the tube around the reference; status 1 if any." },
    { "koine compare a.h5 b.h5 --tube 0", "wants the same points and the same numbers." },
    { "koine compare a.csv b.csv --svg difference.svg", "draws the worst pairs." },
    { 0 },
};

const Verb verb_compare = {
    .name = "compare",
    .arguments = "REFERENCE OTHER",
    .summary = "compare two results signal by signal",
    .text =
        "Each signal of the first result must be in the second one, and stay inside a tube around the first: at each "
        "time the values that the reference has a little earlier and later, and a little more on both sides. The "
        "signals that leave it furthest are printed, with how far they are from what the reference has, how much "
        "is allowed, and where. The exit status is 1 if a signal differs or is missing, or if the results do not "
        "cover the same time.",
    .least = 2,
    .most = 2,
    .options = options_of_compare,
    .examples = examples,
    .run = run_compare,
};
