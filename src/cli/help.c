/* koine help: what the table of commands says of them, the manual page and completion; and the solvers. */
#include "base/bug.h"
#include "cli/verbs.h"
#include "driver/words.h"
#include "formats/result_file.h"
#include "koine/simulate.h"
#include <stdio.h>
#include <string.h>

/* Lists that texts of help name in braces, such as {tiers}: made from the tables, so that no list is written by hand.
 */
const char *help_list(const char *name, size_t length, Arena *arena)
{
    if (length == 7 && memcmp(name, "endings", 7) == 0)
        return words_listed(result_ending, " or ", arena);
    if (length == 7 && memcmp(name, "formats", 7) == 0)
        return result_formats_described(arena);
    if (length == 7 && memcmp(name, "targets", 7) == 0)
        return compilation_target_titles(arena);
    if (length == 5 && memcmp(name, "tiers", 5) == 0)
        return compilation_tier_titles(arena);
    BUG("help names a list that there is not");
}

void help_overview(void)
{
    Text text = { .arena = arena_create(out_of_memory) };
    help_verbs(&commands, &text);
    printf("koine: models in several languages, one simulator\n\nusage: koine COMMAND [ARGUMENTS] [OPTIONS]\n\n"
           "commands:\n%s\n'koine help COMMAND' explains a command with examples; 'koine --version' tells the version."
           "\n\nfirst steps:\n  koine run Ball.mdl --stop 6 --plot\n  koine check Ball.mdl\n",
           text.at);
    arena_destroy(text.arena);
}

/* Name and description of every solver: from the table of the runtime, so that none is missing. */
static void list_solvers(bool colour, Text *to)
{
    help_heading("Solvers", colour, to);
    for (uint32_t k = 0; koine_solver_name(k); k++)
        help_row(koine_solver_name(k), koine_solver_description(k), to);
}

static const char *topic(uint32_t k)
{
    return k == 0 ? "solvers" : NULL;
}

static int no_command(const Command *command, const char *name)
{
    const char *nearest = word_nearest(verb_word, name);
    return nearest ? usage_error(command, "there is no command '%s'; did you mean '%s'?", name, nearest)
                   : usage_error(command, "there is no command '%s'", name);
}

static int run_help(const Command *command)
{
    const char *name = command->n_arguments ? command->arguments[0] : NULL;
    const Verb *verb = name ? verb_find(&commands, name) : NULL;
    Text text = { .arena = command->arena };
    if (command_option(command, "man"))
        manual_page(&commands, &text);
    else if (command_option(command, "completion"))
        completion_script(&commands, &text);
    else if (!name)
        return help_overview(), EXIT_GOOD;
    else if (strcmp(name, topic(0)) == 0)
        list_solvers(command->colour_out, &text);
    else if (verb)
        help_verb(&commands, verb, command->colour_out, &text);
    else
        return no_command(command, name);
    fwrite(text.at, 1, text.n, stdout);
    return EXIT_GOOD;
}

static const Option help_options[] = {
    { .name = "man", .help = "print the manual page (man format)" },
    { .name = "completion", .help = "print the completion script for bash" },
    { 0 },
};

static const Example help_examples[] = {
    { "koine help run", "explains how to simulate a model." },
    { "koine help solvers", "lists the integration methods." },
    { "koine help --completion > ~/.local/share/bash-completion/completions/koine", "teaches bash the commands." },
    { 0 },
};

const Verb verb_help = {
    .name = "help",
    .arguments = "[COMMAND|solvers]",
    .summary = "explain a command",
    .text = "Lists the commands, or explains one of them with its options and examples; or lists the solvers.",
    .most = 1,
    .topics = topic,
    .options = help_options,
    .examples = help_examples,
    .run = run_help,
};
