/* koine check: diagnostics and the figures of the analysed model. */
#include "cli/target.h"
#include "cli/verbs.h"
#include "study/findings.h"

static int check(const Command *command, Compilation *c, CompileRequest *request)
{
    const bool is_json = command_option(command, "json");
    const FindingsWanted wanted = { .symbols = command_option(command, "symbols"),
                                    .classes = command_option(command, "classes"),
                                    .structure = command_option(command, "structure"),
                                    .blocks = command_option(command, "blocks"),
                                    .segments = command_option(command, "segments"),
                                    .listing = command_option(command, "listing"),
                                    .line_numbers = command_option(command, "line-numbers"),
                                    .no_messages = command_option(command, "no-messages") };
    request->profile = command_option(command, "profile");
    if (request->profile && !profile_find(compilation_profile, request->profile))
        return no_profile(command, request->profile);
    Text text = { .arena = c->arena };
    const bool is_good = compilation_findings(c, request, &wanted, is_json, &text);
    if (!is_json)
        print_diagnostics(command, c->diag);
    fwrite(text.at, 1, text.n, stdout);
    return is_good ? EXIT_GOOD : error_status(c->diag, EXIT_MODEL);
}

static int run_check(const Command *command)
{
    return target_act(command, check);
}

static const Option options[] = {
    { .name = "json", .help = "figures and diagnostics as JSON on the standard output" },
    { .name = "symbols", .help = "list all quantities: use, time course, value set, start value, unit, derivatives" },
    { .name = "classes", .help = "list the classes the model is made of" },
    { .name = "structure", .help = "index, states, systems of equations, and comparisons that may chatter" },
    { .name = "blocks", .help = "the same with every block that is computed" },
    { .name = "segments",
      .help = "parts that can be executed one by one between given inputs, and which outputs depend on which inputs" },
    { .name = "listing", .help = "print the text, with the messages as $ lines below the lines they are about" },
    { .name = "line-numbers", .help = "with --listing: number the lines" },
    { .name = "no-messages", .help = "with --listing: the text alone" },
    { .name = "profile", .value = "NAME", .listed = profile_word, .help = "the reading of the original" },
    TARGET_COMPILED,
    { 0 },
};

static const Example examples[] = {
    { "koine check Ball.mdl", "tells what is wrong with the model, or how large it is." },
    { "koine check Ball.mdl --symbols", "all quantities of the model." },
    { "koine check circuit.dym --structure", "index, states, systems of equations, comparisons." },
    { "koine check Ball.mdl --listing --line-numbers", "the text with its messages, for printing." },
    { "koine check Ball.mdl --json", "the same as data for other programs." },
    { 0 },
};

const Verb verb_check = {
    .name = "check",
    .arguments = "FILE[:CLASS]",
    .summary = "find mistakes in a model, without running it",
    .text = "Reads and analyses the model. Mistakes are printed with their place and with advice; a model without "
            "mistakes is described by its figures: variables, equations, states, aliases removed, blocks, root "
            "functions, time events. Hints tell what components of SIMPLEX-MDL have and nothing needs: constants and "
            "sensors that nothing reads, open sensors of parts, states that nothing changes.",
    .least = 1,
    .most = 1,
    .options = options,
    .examples = examples,
    .run = run_check,
};
