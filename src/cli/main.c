/* The command `koine`: finds the verb, parses its options, runs it. A new verb is one file and one row here. */
#include "base/names.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include <signal.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const Verb *const verbs[] = {
    &verb_check,   &verb_run,       &verb_plot,    &verb_convert, &verb_compare, &verb_runs,  &verb_linearize,
    &verb_bank,    &verb_structure, &verb_inspect, &verb_view,    &verb_report,  &verb_build, &verb_dump,
    &verb_explain, &verb_doctor,    &verb_cache,   &verb_trust,   &verb_help,    NULL,
};

static const char *color_word(uint32_t k)
{
    static const char *const words[] = { "auto", "always", "never", NULL };
    return words[k];
}

static const Option common_options[] = {
    { .name = "color",
      .value = "WHEN",
      .word = color_word,
      .help = "auto, always or never; auto: on a terminal, unless NO_COLOR is set" },
    { .name = "help", .help = "explain this command" },
    { 0 },
};

const CommandSet commands = {
    .name = "koine",
    .version = KOINE_VERSION,
    .title = "modelling and simulation of hybrid systems",
    .summary = "Koine reads models in several languages, analyses them and runs them.",
    .exit_status =
        "0 good; 1 the model is wrong, diagnostics were printed; 2 the command line is wrong; 3 the run failed, the "
        "results so far are kept; 4 the environment fails: no disk, no memory, no compiler; 130 interrupted, results "
        "kept.",
    .environment = ".TP\nNO_COLOR\nno colours, unless asked for.",
    .verbs = verbs,
    .options = common_options,
    .list = help_list,
};

const char *verb_word(uint32_t k)
{
    return verbs[k] ? verbs[k]->name : NULL;
}

_Noreturn void out_of_memory(size_t wanted)
{
    fprintf(stderr, "koine: out of memory (%zu bytes more were needed)\n", wanted);
    _exit(EXIT_ENVIRONMENT);
}

static int unknown_verb(const char *name)
{
    const char *nearest = word_nearest(verb_word, name);
    if (name[0] == '-')
        say("there is no option %s before a command; 'koine help' lists the commands", name);
    else if (nearest)
        say("there is no command '%s'; did you mean '%s'?", name, nearest);
    else if (strchr(name, '.'))
        say("there is no command '%s'; to simulate a model: koine run %s", name, name);
    else
        say("there is no command '%s'; 'koine help' lists them", name);
    return EXIT_USAGE;
}

static int run_verb(const Verb *verb, int n_words, char *const *words, Arena *arena)
{
    Command command = { .set = &commands, .verb = verb, .arena = arena };
    const char *why;
    if (!command_parse(&command, n_words, words, &why))
        return usage_error(&command, "%s", why);
    const char *when = command_option(&command, "color");
    command.colour_out = terminal_has_colour(stdout, when);
    command.colour_err = terminal_has_colour(stderr, when);
    if (command_option(&command, "help")) {
        Text text = { .arena = arena };
        help_verb(&commands, verb, command.colour_out, &text);
        fwrite(text.at, 1, text.n, stdout);
        return EXIT_GOOD;
    }
    if (command.n_arguments < verb->least)
        return usage_error(&command, "%s is missing: koine %s %s", verb->arguments, verb->name, verb->arguments);
    if (command.n_arguments > verb->most)
        return usage_error(&command, "'%s' is one argument too many", command.arguments[verb->most]);
    return verb->run(&command);
}

static int run_words(int n_words, char *const *words, Arena *arena)
{
    if (n_words == 0) {
        help_overview();
        return EXIT_USAGE;
    }
    if (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0) {
        help_overview();
        return EXIT_GOOD;
    }
    if (strcmp(words[0], "--version") == 0) {
        puts("koine " KOINE_VERSION);
        return EXIT_GOOD;
    }
    const Verb *verb = verb_find(&commands, words[0]);
    return verb ? run_verb(verb, n_words - 1, words + 1, arena) : unknown_verb(words[0]);
}

int close_stdout(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    say("cannot write to the standard output: %s", strerror(errno));
    return status == EXIT_GOOD ? EXIT_ENVIRONMENT : status;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of its writer, not the end */
    Arena *arena = arena_create(out_of_memory);
    const int status = close_stdout(run_words(argc > 0 ? argc - 1 : 0, argv + 1, arena));
    arena_destroy(arena);
    return status;
}
