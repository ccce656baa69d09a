/* koine build: a model in a form for other programs. */
#include "cli/target.h"
#include "cli/verbs.h"
#include "driver/build.h"
#include "driver/words.h"
#include "formats/output.h"

/* What is there already stays as it is until the first bytes are written. */
static int write_file(const char *path, const Text *text)
{
    Output output;
    char why[512];
    if (output_text(&output, path, text))
        return EXIT_GOOD;
    output_failure(&output, why, sizeof why);
    say("%s", why);
    return EXIT_ENVIRONMENT;
}

static int build(const Command *command, Compilation *c, CompileRequest *request)
{
    const char *name = command_option(command, "to"), *why = NULL;
    Text text = { .arena = c->arena };
    const bool is_made = compilation_load(c, request) && compilation_build(c, name, &text, &why);
    print_diagnostics(command, c->diag);
    if (is_made)
        return write_file(command_option(command, "output"), &text);
    if (!why)
        return error_status(c->diag, EXIT_MODEL);
    say("there is no target '%s' of this model: %s", name, why);
    return EXIT_ENVIRONMENT;
}

static int run_build(const Command *command)
{
    if (!command_option(command, "to"))
        return usage_error(command, "--to is missing; one of: %s",
                           words_listed(compilation_target_name, ", ", command->arena));
    if (!command_option(command, "output"))
        return usage_error(command, "--output is missing: the file to write, or - for the standard output");
    return target_act(command, build);
}

static const Option options[] = {
    { .name = "to", .value = "TARGET", .word = compilation_target_name, .help = "what is made: {targets}" },
    { .name = "output",
      .value = "FILE",
      .help = "the file that is written, over one that is there; - for the standard output; also -o FILE" },
    TARGET_TASK,
    TARGET_ANALYSIS,
    TARGET_USE,
    TARGET_SYSTEMS,
    { 0 },
};

static const Example examples[] = {
    { "koine build Ball.mdl --to c -o ball.c", "writes the equations of the model as C." },
    { "koine build Ball.mdl --to c --evaluate-parameters -o -",
      "the same with numbers in place of parameters, printed." },
    { 0 },
};

const Verb verb_build = {
    .name = "build",
    .arguments = "FILE[:CLASS]",
    .summary = "write a model for other programs",
    .text = "Compiles the model and writes it in the form that --to names. A file that is there already is replaced, "
            "but not where the model is wrong.",
    .least = 1,
    .most = 1,
    .options = options,
    .examples = examples,
    .run = run_build,
};
