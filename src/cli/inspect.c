/* koine inspect: one block of a model, as it was solved. */
#include "cli/settings.h"
#include "cli/target.h"
#include "cli/verbs.h"
#include "explain/inspect_run.h"
#include "explain/starts.h"
#include <math.h>

static int inspect(const Command *command, Compilation *c, const char *name, double time)
{
    const char *why;
    const Inspection of = inspection_of(c->schedule, c->program, c->sources, command_option(command, "json"));
    InspectedBlock what = { .time = time };
    if (!inspect_find(&of, name, &what.block, &what.is_initial)) {
        say("there is no block '%s'; the command without --block lists them", name);
        return EXIT_USAGE;
    }
    const KoineModelKind *kind = compilation_kind(c, "interp", &why);
    Text text = { .arena = c->arena };
    if (!kind && diag_errors(c->diag)) {
        print_diagnostics(command, c->diag);
        return EXIT_MODEL;
    }
    if (!kind || !inspect_at(&of, kind, &what, &text)) {
        say("there is not enough memory for an instance of the model");
        return EXIT_ENVIRONMENT;
    }
    fwrite(text.at, 1, text.n, stdout);
    return EXIT_GOOD;
}

/* The settings are those that 'koine run' would use. */
static int show_starts(const Command *command)
{
    RunSettings settings;
    Compilation *c = compilation_create(out_of_memory);
    int status = settings_read(command, c, &settings);
    if (status == EXIT_GOOD) {
        settings_finish(&settings, c);
        status = target_compile(command, &settings.request, c) ? EXIT_GOOD : EXIT_MODEL;
    }
    if (status == EXIT_GOOD) {
        Text text = { .arena = c->arena };
        list_starts(c->schedule, c->request.values, c->request.n_values, command_option(command, "json"), &text);
        fwrite(text.at, 1, text.n, stdout);
    }
    compilation_destroy(c);
    return status;
}

static int inspect_model(const Command *command, Compilation *c, CompileRequest *request)
{
    const char *name = command_option(command, "block"), *at = command_option(command, "time");
    double time = 0;
    if (at && (text_to_real(at, at + strlen(at), &time) != at + strlen(at) || !*at || !(time >= 0) || !isfinite(time)))
        return usage_error(command, "--time wants a number from 0 on, not '%s'", at);
    if (!target_compile(command, request, c))
        return EXIT_MODEL;
    if (name)
        return inspect(command, c, name, time);
    Text text = { .arena = c->arena };
    const Inspection of = inspection_of(c->schedule, c->program, c->sources, command_option(command, "json"));
    inspect_list(&of, command_option(command, "all"), &text);
    fwrite(text.at, 1, text.n, stdout);
    return EXIT_GOOD;
}

static int run_inspect(const Command *command)
{
    if (command_option(command, "starts"))
        return show_starts(command);
    if (command_option(command, "set"))
        return usage_error(command, "--set goes with --starts");
    return target_act(command, inspect_model);
}

static const Option options[] = {
    { .name = "block",
      .value = "NUMBER",
      .help = "show this block; 12 or b12: of the run, i12: of the initial system" },
    { .name = "time", .value = "TIME", .help = "with --block: run up to this time first; default the start" },
    { .name = "starts",
      .help = "list where states and unknowns begin, fixed, by a guess or by default, and who says so" },
    { .name = "set",
      .value = "NAME=VALUE",
      .repeats = true,
      .help = "with --starts: a start value, guess or nominal value, as for 'koine run'" },
    TARGET_EXTERNAL,
    { .name = "all", .help = "list all blocks, not only systems of equations" },
    { .name = "json", .help = "as JSON" },
    TARGET_TASK,
    TARGET_USE,
    TARGET_SYSTEMS,
    { 0 },
};

static const Example examples[] = {
    { "koine inspect circuit.dym", "lists the systems of equations that are solved together." },
    { "koine inspect circuit.dym --block 5", "equations, unknowns, Jacobian and iterates of block 5 at the start." },
    { "koine inspect circuit.dym --block 5 --time 0.1 --json", "the same at a later time, as data." },
    { "koine inspect reactor.dym --starts --set R1.T=350", "what a run with this setting would begin with." },
    { 0 },
};

const Verb verb_inspect = {
    .name = "inspect",
    .arguments = "FILE[:CLASS]",
    .summary = "look into the systems of equations of a model",
    .text =
        "Lists the blocks in which a model is solved: systems of equations that have to be solved together and, with "
        "--all, everything that is computed. With --block one of them is shown: its equations with their places, its "
        "unknowns, which of them are iterated and which follow explicitly, the Jacobian, and how the iteration went "
        "the last time it was solved. With --starts the states and the unknowns of nonlinear systems are listed: what "
        "each "
        "of them begins with, its nominal value, and whether the text, the experiment or the command line says so. "
        "Messages about failed "
        "iterations are best understood here.",
    .least = 1,
    .most = 1,
    .options = options,
    .examples = examples,
    .run = run_inspect,
};
