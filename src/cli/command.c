/* Parsing of command lines; see command.h. `--name value`, `--name=value`, `--` ends the options, `-` is an
 * argument. */
#define _GNU_SOURCE
#include "cli/command.h"
#include "base/bug.h"
#include "base/names.h"
#include "base/text.h"
#include "base/vec.h"
#include "koine/model.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *color_word(uint32_t k)
{
    static const char *const words[] = { "auto", "always", "never", NULL };
    return words[k];
}

const Option common_options[] = {
    { .name = "color",
      .value = "WHEN",
      .word = color_word,
      .help = "auto, always or never; auto: on a terminal, unless NO_COLOR is set" },
    { .name = "help", .help = "explain this command" },
    { 0 },
};

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    Arena *arena = arena_create(NULL);
    char *text;
    if (vasprintf(&text, format, args) >= 0) {
        fprintf(stderr, "koine: %s\n", text_shown(text, arena));
        free(text);
    }
    arena_destroy(arena);
    va_end(args);
}

void print_diagnostics(const Command *command, Diag *diag)
{
    diag_print(diag, stderr, (DiagStyle){ .colour = command->colour_err });
}

void print_message(int level, const char *text)
{
    const char *begin = level == KOINE_MESSAGE_WARNING ? "warning: " : level == KOINE_MESSAGE_OUTPUT ? "" : "error: ";
    fprintf(stderr, "%s%s%s", begin, text, text_ends_with(text, "\n") ? "" : "\n");
}

int error_status(const Diag *diag, int otherwise)
{
    DiagItem item;
    for (uint32_t k = 0; diag_item(diag, k, &item); k++)
        if (item.level == DIAG_ERROR && item.code == DIAG_FILE_UNREADABLE)
            return EXIT_ENVIRONMENT;
    return otherwise;
}

int usage_error(const Command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "koine %s: ", command->verb->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n  see 'koine help %s'\n", command->verb->name);
    va_end(args);
    return EXIT_USAGE;
}

int write_text(const char *path, const Text *text)
{
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    const bool is_written = file && fwrite(text->at, 1, text->n, file) == text->n;
    const int error = errno;
    const bool is_closed = !file || file == stdout || fclose(file) == 0;
    if (is_written && is_closed)
        return EXIT_GOOD;
    say("cannot write '%s': %s", path, strerror(is_written ? errno : error));
    return EXIT_ENVIRONMENT;
}

const char *nearest_word(const char *name, WordAt *word)
{
    uint32_t best = 3;
    const char *nearest = NULL;
    for (uint32_t k = 0; word(k); k++) {
        const char *candidate = word(k);
        const uint32_t distance = edit_distance(name, candidate, best);
        if (distance < best && distance < strlen(candidate)) {
            best = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

const Verb *verb_find(const char *name)
{
    for (uint32_t k = 0; verbs[k]; k++)
        if (strcmp(verbs[k]->name, name) == 0)
            return verbs[k];
    return NULL;
}

static const Option *option_in(const Option *options, const char *name)
{
    for (; options && options->name; options++)
        if (strcmp(options->name, name) == 0)
            return options;
    return NULL;
}

const Option *option_find(const Verb *verb, const char *name)
{
    const Option *option = option_in(verb->options, name);
    return option ? option : option_in(common_options, name);
}

static const char *nearest_option(const Verb *verb, const char *name)
{
    const Option *const lists[] = { verb->options, common_options };
    uint32_t best = 4;
    const char *nearest = NULL;
    for (uint32_t l = 0; l < 2; l++) {
        for (const Option *option = lists[l]; option && option->name; option++) {
            const uint32_t distance = edit_distance(name, option->name, best);
            if (distance < best && distance < strlen(option->name)) {
                best = distance;
                nearest = option->name;
            }
        }
    }
    return nearest;
}

static int unknown_option(const Command *command, const char *name)
{
    const char *nearest = nearest_option(command->verb, name);
    if (nearest)
        return usage_error(command, "there is no option --%s; did you mean --%s?", name, nearest);
    return usage_error(command, "there is no option --%s", name);
}

static int unknown_value(const Command *command, const Option *option, const char *value)
{
    const char *list = words_listed(option->word, ", ", command->arena);
    const char *nearest = nearest_word(value, option->word);
    if (nearest)
        return usage_error(command, "--%s cannot be '%s'; did you mean '%s'? (one of: %s)", option->name, value,
                           nearest, list);
    return usage_error(command, "--%s cannot be '%s'; one of: %s", option->name, value, list);
}

/* One option, at words[*k], by what stands behind its dashes; takes the next word where the value stands there. */
static int parse_option(Command *command, const char *word, int n_words, char *const *words, int *k, Given *given)
{
    const char *equals = strchr(word, '=');
    const char *name = arena_text(command->arena, word, equals ? (size_t)(equals - word) : strlen(word));
    const Option *option = option_find(command->verb, name);
    if (!option)
        return unknown_option(command, name);
    *given = (Given){ option->name, "" };
    if (!option->value)
        return equals ? usage_error(command, "--%s takes no value", name) : EXIT_GOOD;
    if (equals)
        given->value = equals + 1;
    else if (*k + 1 < n_words)
        given->value = words[++*k];
    else
        return usage_error(command, "--%s wants a value: --%s %s", name, name, option->value);
    if (option->word && !word_among(option->word, given->value))
        return unknown_value(command, option, given->value);
    return EXIT_GOOD;
}

/* The long name of an option as it stands on the command line: -h and, as compilers have it, -o FILE are short for one.
 * NULL: said. */
static const char *option_name(const Command *command, const char *word)
{
    if (word[1] == '-')
        return word + 2;
    if (strcmp(word, "-h") == 0)
        return "help";
    if (strcmp(word, "-o") == 0 && option_find(command->verb, "output"))
        return "output";
    usage_error(command, "there is no option %s; options have two dashes and a whole word", word);
    return NULL;
}

int command_parse(Command *command, int n_words, char *const *words)
{
    VEC(const char *) arguments = { 0 };
    VEC(Given) given = { 0 };
    bool has_options = true;
    for (int k = 0; k < n_words; k++) {
        const char *word = words[k];
        if (!has_options || word[0] != '-' || word[1] == 0) {
            vec_push(command->arena, &arguments, word);
        } else if (strcmp(word, "--") == 0) {
            has_options = false;
        } else {
            Given one;
            const char *name = option_name(command, word);
            const int status = name ? parse_option(command, name, n_words, words, &k, &one) : EXIT_USAGE;
            if (status != EXIT_GOOD)
                return status;
            vec_push(command->arena, &given, one);
        }
    }
    command->arguments = arguments.at;
    command->n_arguments = arguments.n;
    command->given = given.at;
    command->n_given = given.n;
    return EXIT_GOOD;
}

const char *command_option(const Command *command, const char *name)
{
    REQUIRE(option_find(command->verb, name) != NULL);
    for (uint32_t k = command->n_given; k-- > 0;)
        if (strcmp(command->given[k].name, name) == 0)
            return command->given[k].value;
    return NULL;
}

int command_whole(const Command *command, const char *name, const char *must, long least, long most, long *value)
{
    const char *text = command_option(command, name);
    if (!text)
        return EXIT_GOOD;
    char *end;
    *value = strtol(text, &end, 10);
    if (*end || end == text || *value < least || *value > most)
        return usage_error(command, "--%s %s, not '%s'", name, must, text);
    return EXIT_GOOD;
}
