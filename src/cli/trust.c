/* koine trust: the folders whose foreign code may be executed. */
#include "cli/verbs.h"
#include "trust/trust.h"
#include <stdio.h>
#include <string.h>

static int list(const Command *command)
{
    TrustedFolders trusted;
    const char *why = NULL;
    if (!trust_read(&trusted, command->arena, &why)) {
        say("%s", why);
        return EXIT_ENVIRONMENT;
    }
    for (uint32_t k = 0; k < trusted.n; k++)
        puts(text_shown(trusted.folders[k], command->arena));
    if (trusted.n == 0)
        say("no folder is trusted: foreign code is executed where the command line says so, and nowhere else");
    return EXIT_GOOD;
}

static int run_trust(const Command *command)
{
    const bool removes = command_option(command, "remove");
    if (command_option(command, "list") || command->n_arguments == 0) {
        if (command->n_arguments || removes)
            return usage_error(command, "--list takes no folder");
        return list(command);
    }
    const char *why = NULL, *whole = NULL, *folder = command->arguments[0];
    const bool is_done =
        removes ? trust_remove(folder, command->arena, &whole, &why) : trust_add(folder, command->arena, &whole, &why);
    if (!is_done) {
        say("'%s' cannot be %s: %s", folder, removes ? "removed" : "trusted", why);
        return EXIT_ENVIRONMENT;
    }
    say(removes ? "%s is no longer trusted" : "C functions of models in %s may be compiled and executed from now on",
        whole);
    return EXIT_GOOD;
}

static const Option options[] = {
    { .name = "list", .help = "the folders that are trusted" },
    { .name = "remove", .help = "the folder is trusted no longer" },
    { 0 },
};

static const Example examples[] = {
    { "koine trust ~/models/pump", "models in this folder may have C functions, which are compiled and executed." },
    { "koine trust --list", "the folders that are trusted." },
    { "koine trust --remove ~/models/pump", "they may no longer." },
    { 0 },
};

const Verb verb_trust = {
    .name = "trust",
    .arguments = "[FOLDER]",
    .summary = "say whose C functions may be executed",
    .text =
        "A model is data, but the C functions that it names are code with all your rights. They are compiled, loaded "
        "and executed only where you say so: with --allow-external, by naming the C file itself on the command "
        "line, or for the models in a folder, and in folders below it, that you register here. Nothing that a "
        "model, an experiment or a bank says can do that.\n"
        "The list is kept in $XDG_CONFIG_HOME/koine/trusted or ~/.config/koine/trusted; `koine doctor --security` "
        "shows it, too.",
    .most = 1,
    .options = options,
    .examples = examples,
    .run = run_trust,
};
