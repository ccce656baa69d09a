/* Help for the terminal, the manual page and bash completion, all from the table of verbs. */
#include "base/bug.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "driver/words.h"
#include "formats/result_file.h"
#include "koine/simulate.h"
#include <stdio.h>

enum { WIDTH = 80, OPTION_COLUMN = 24 };

static const char exit_text[] =
    "0 good; 1 the model is wrong, diagnostics were printed; 2 the command line is wrong; 3 the run failed, the "
    "results so far are kept; 4 the environment fails: no disk, no memory, no compiler; 130 interrupted, results "
    "kept.";

static void print_wrapped(const char *text, uint32_t column, Arena *arena)
{
    Text wrapped = { .arena = arena };
    text_wrapped(&wrapped, text, WIDTH, column, column);
    text_char(&wrapped, '\n');
    fputs(wrapped.at, stdout);
}

/* Lists that texts of help name in braces, such as {tiers}: made from the tables, so that no list is written by hand.
 */
static const char *list_named(const char *name, size_t length, Arena *arena)
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

/* A text of help with its lists in place. Braces of a name that is no word, as in x={1, 3}, stay as they are. */
static const char *filled_in(const char *text, Arena *arena)
{
    Text to = { .arena = arena };
    text_add(&to, "");
    while (*text) {
        const size_t before = strcspn(text, "{");
        text_bytes(&to, text, before);
        text += before;
        const size_t length = *text ? strspn(text + 1, "abcdefghijklmnopqrstuvwxyz") : 0;
        if (length && text[length + 1] == '}') {
            text_add(&to, list_named(text + 1, length, arena));
            text += length + 2;
        } else if (*text) {
            text_char(&to, *text++);
        }
    }
    return to.at;
}

/* The help of an option with its lists, and the names that it ends with. */
static const char *help_of(const Option *option, Arena *arena)
{
    const char *text = filled_in(option->help, arena);
    return option->listed ? arena_format(arena, "%s: %s", text, words_listed(option->listed, ", ", arena)) : text;
}

static void print_heading(const char *heading, bool colour)
{
    printf("\n%s%s%s\n", colour ? "\033[1m" : "", heading, colour ? "\033[0m" : "");
}

/* The values of an option, unless its help names them already. */
static void print_words(const Option *option)
{
    if (!option->word || strstr(option->help, option->word(0)) == option->help)
        return;
    uint32_t column = OPTION_COLUMN;
    printf("%*s", OPTION_COLUMN, "");
    for (uint32_t k = 0; option->word(k); k++) {
        const uint32_t length = (uint32_t)strlen(option->word(k)) + 2;
        if (column + length > WIDTH) {
            printf(",\n%*s", OPTION_COLUMN, "");
            column = OPTION_COLUMN;
        } else if (k > 0) {
            fputs(", ", stdout);
        }
        fputs(option->word(k), stdout);
        column += length;
    }
    putchar('\n');
}

static void print_options(const Option *options, Arena *arena)
{
    for (; options && options->name; options++) {
        char left[64];
        const int length = snprintf(left, sizeof left, "  --%s%s%s", options->name, options->value ? " " : "",
                                    options->value ? options->value : "");
        printf("%-*s", OPTION_COLUMN, left);
        if (length >= OPTION_COLUMN)
            printf("\n%*s", OPTION_COLUMN, "");
        print_wrapped(help_of(options, arena), OPTION_COLUMN, arena);
        print_words(options);
    }
}

void help_overview(void)
{
    puts(
        "koine: models in several languages, one simulator\n\nusage: koine COMMAND [ARGUMENTS] [OPTIONS]\n\ncommands:");
    for (uint32_t k = 0; verbs[k]; k++)
        printf("  %-10s %s\n", verbs[k]->name, verbs[k]->summary);
    puts("\n'koine help COMMAND' explains a command with examples; 'koine --version' tells the version.\n\n"
         "first steps:\n  koine run Ball.mdl --stop 6 --plot\n  koine check Ball.mdl");
}

void help_verb(const Verb *verb, bool colour)
{
    Arena *arena = arena_create(out_of_memory);
    printf("koine %s: %s\n\nusage: koine %s%s%s [OPTIONS]\n\n", verb->name, verb->summary, verb->name,
           verb->arguments[0] ? " " : "", verb->arguments);
    print_wrapped(filled_in(verb->text, arena), 0, arena);
    print_heading("Options", colour);
    print_options(verb->options, arena);
    print_options(common_options, arena);
    if (verb->examples && verb->examples->command) {
        print_heading("Examples", colour);
        for (const Example *example = verb->examples; example->command; example++) {
            printf("  %s\n      ", example->command);
            print_wrapped(example->effect, 6, arena);
        }
    }
    arena_destroy(arena);
}

/* ---- Manual page: man(7) --------------------------------------------------------------------------------------- */

static void man_text(const char *text)
{
    bool is_line_start = true;
    for (; *text; text++) {
        if (text[0] == '\n' && text[1] == '\n') {
            fputs("\n.PP\n", stdout);
            text += strspn(text, "\n") - 1;
            is_line_start = true;
            continue;
        }
        if (is_line_start && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        is_line_start = *text == '\n';
    }
    putchar('\n');
}

static void man_options(const Option *options, Arena *arena)
{
    for (; options && options->name; options++) {
        fputs(".TP\n\\fB\\-\\-", stdout);
        for (const char *c = options->name; *c; c++)
            *c == '-' ? (void)fputs("\\-", stdout) : (void)putchar(*c);
        fputs("\\fR", stdout);
        if (options->value)
            printf(" \\fI%s\\fR", options->value);
        putchar('\n');
        man_text(help_of(options, arena));
        if (options->word)
            man_text(arena_format(arena, "One of: %s.", words_listed(options->word, ", ", arena)));
    }
}

static void man_verb(const Verb *verb, Arena *arena)
{
    printf(".SS koine %s %s\n", verb->name, verb->arguments);
    man_text(verb->summary);
    fputs(".PP\n", stdout);
    man_text(filled_in(verb->text, arena));
    man_options(verb->options, arena);
    for (const Example *example = verb->examples; example && example->command; example++) {
        fputs(".PP\n.EX\n", stdout);
        man_text(example->command);
        fputs(".EE\n.RS\n", stdout);
        man_text(example->effect);
        fputs(".RE\n", stdout);
    }
}

static void print_man(Arena *arena)
{
    puts(".TH KOINE 1 \"\" \"koine " KOINE_VERSION
         "\" \"User commands\"\n.SH NAME\nkoine \\- modelling and simulation of "
         "hybrid systems\n.SH SYNOPSIS\n.B koine\n\\fICOMMAND\\fR [\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n.SH "
         "DESCRIPTION\n"
         "Koine reads models in several languages, analyses them and runs them.\n.SH OPTIONS OF EVERY COMMAND");
    man_options(common_options, arena);
    puts(".SH COMMANDS");
    for (uint32_t k = 0; verbs[k]; k++)
        man_verb(verbs[k], arena);
    puts(".SH EXIT STATUS");
    man_text(exit_text);
    puts(".SH ENVIRONMENT\n.TP\nNO_COLOR\nno colours, unless asked for.");
}

/* ---- Completion ------------------------------------------------------------------------------------------------ */

static void complete_words(const char *condition, WordAt *word)
{
    printf("        %s) COMPREPLY=($(compgen -W '", condition);
    for (uint32_t k = 0; word(k); k++)
        printf("%s%s", k ? " " : "", word(k));
    puts("' -- \"$word\")); return ;;");
}

static void complete_values(const Verb *verb, const Option *options)
{
    for (; options && options->name; options++) {
        if (!options->value)
            continue;
        char condition[96];
        snprintf(condition, sizeof condition, "'%s --%s'", verb->name, options->name);
        if (options->word || options->listed)
            complete_words(condition, options->word ? options->word : options->listed);
        else if (strncmp(options->value, "FILE", 4) == 0)
            printf("        %s) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", condition);
        else
            printf("        %s) return ;;\n", condition);
    }
}

static void complete_options(const Option *options)
{
    for (; options && options->name; options++)
        printf(" --%s", options->name);
}

static void print_completion(void)
{
    puts("# bash completion for koine, made by 'koine help --completion'\n_koine()\n{\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]-}\n"
         "    COMPREPLY=()\n    if [ \"$COMP_CWORD\" = 1 ]; then");
    fputs("        COMPREPLY=($(compgen -W '", stdout);
    for (uint32_t k = 0; verbs[k]; k++)
        printf("%s ", verbs[k]->name);
    puts("--help --version' -- \"$word\")); return\n    fi\n    case \"$verb $before\" in");
    for (uint32_t k = 0; verbs[k]; k++) {
        complete_values(verbs[k], verbs[k]->options);
        complete_values(verbs[k], common_options);
    }
    puts("    esac\n    case \"$word\" in -*) ;; *)");
    fputs("        if [ \"$verb\" = help ]; then COMPREPLY=($(compgen -W '", stdout);
    for (uint32_t k = 0; verbs[k]; k++)
        printf("%s ", verbs[k]->name);
    puts("solvers' -- \"$word\"))\n        else COMPREPLY=($(compgen -f -- \"$word\")); fi; return ;;\n    esac\n"
         "    case \"$verb\" in");
    for (uint32_t k = 0; verbs[k]; k++) {
        printf("        %s) COMPREPLY=($(compgen -W '", verbs[k]->name);
        complete_options(verbs[k]->options);
        complete_options(common_options);
        puts("' -- \"$word\")) ;;");
    }
    puts("    esac\n}\ncomplete -o filenames -F _koine koine ./koine");
}

/* ---- koine help ------------------------------------------------------------------------------------------------ */

/* Name and description of every solver: from the table of the runtime, so that none is missing. */
static void help_solvers(bool colour, Arena *arena)
{
    print_heading("Solvers", colour);
    for (uint32_t k = 0; koine_solver_name(k); k++) {
        printf("  %-*s", OPTION_COLUMN - 2, koine_solver_name(k));
        if (strlen(koine_solver_name(k)) >= OPTION_COLUMN - 2)
            printf("\n%*s", OPTION_COLUMN, "");
        print_wrapped(koine_solver_description(k), OPTION_COLUMN, arena);
    }
}

static int run_help(const Command *command)
{
    if (command_option(command, "man")) {
        print_man(command->arena);
        return EXIT_GOOD;
    }
    if (command_option(command, "completion")) {
        print_completion();
        return EXIT_GOOD;
    }
    if (command->n_arguments == 0) {
        help_overview();
        return EXIT_GOOD;
    }
    const char *name = command->arguments[0];
    if (strcmp(name, "solvers") == 0) {
        help_solvers(command->colour_out, command->arena);
        return EXIT_GOOD;
    }
    const Verb *verb = verb_find(name);
    if (verb) {
        help_verb(verb, command->colour_out);
        return EXIT_GOOD;
    }
    const char *nearest = nearest_word(name, verb_word);
    if (nearest)
        return usage_error(command, "there is no command '%s'; did you mean '%s'?", name, nearest);
    return usage_error(command, "there is no command '%s'", name);
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
    .options = help_options,
    .examples = help_examples,
    .run = run_help,
};
