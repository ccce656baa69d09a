/* Reading of command lines. `--name value`, `--name=value`, `--` ends the options, `-` is an argument. */
#include "base/bug.h"
#include "base/names.h"
#include "base/vec.h"
#include "command/command.h"
#include <stdlib.h>
#include <string.h>

const Verb *verb_find(const CommandSet *set, const char *name)
{
    for (uint32_t k = 0; set->verbs[k]; k++)
        if (strcmp(set->verbs[k]->name, name) == 0)
            return set->verbs[k];
    return NULL;
}

static const Option *option_in(const Option *options, const char *name)
{
    for (; options && options->name; options++)
        if (strcmp(options->name, name) == 0)
            return options;
    return NULL;
}

const Option *option_find(const Command *command, const char *name)
{
    const Option *option = option_in(command->verb->options, name);
    return option ? option : option_in(command->set->options, name);
}

static const char *nearest_option(const Command *command, const char *name)
{
    const Option *const lists[] = { command->verb->options, command->set->options };
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

static const char *unknown_option(const Command *command, const char *name)
{
    const char *nearest = nearest_option(command, name);
    return nearest ? arena_format(command->arena, "there is no option --%s; did you mean --%s?", name, nearest)
                   : arena_format(command->arena, "there is no option --%s", name);
}

static const char *unknown_value(const Command *command, const Option *option, const char *value)
{
    const char *list = words_listed(option->word, ", ", command->arena);
    const char *nearest = word_nearest(option->word, value);
    return nearest ? arena_format(command->arena, "--%s cannot be '%s'; did you mean '%s'? (one of: %s)", option->name,
                                  value, nearest, list)
                   : arena_format(command->arena, "--%s cannot be '%s'; one of: %s", option->name, value, list);
}

/* The words of a command line, from the next one on. */
typedef struct {
    char *const *at;
    int n;
} Words;

/* One option, by what stands behind its dashes; takes the next word where the value stands there. NULL, or why not. */
static const char *parse_option(const Command *command, const char *word, Words *next, Given *given)
{
    Arena *arena = command->arena;
    const char *equals = strchr(word, '=');
    const char *name = arena_text(arena, word, equals ? (size_t)(equals - word) : strlen(word));
    const Option *option = option_find(command, name);
    if (!option)
        return unknown_option(command, name);
    *given = (Given){ option->name, "" };
    if (!option->value)
        return equals ? arena_format(arena, "--%s takes no value", name) : NULL;
    if (equals)
        given->value = equals + 1;
    else if (next->n-- > 0)
        given->value = *next->at++;
    else
        return arena_format(arena, "--%s wants a value: --%s %s", name, name, option->value);
    return option->word && !word_among(option->word, given->value) ? unknown_value(command, option, given->value)
                                                                   : NULL;
}

/* The long name of an option as it stands on the command line: -h and, as compilers have it, -o FILE are short for one.
 * NULL: it is none. */
static const char *option_name(const Command *command, const char *word)
{
    if (word[1] == '-')
        return word + 2;
    if (strcmp(word, "-h") == 0)
        return "help";
    return strcmp(word, "-o") == 0 && option_find(command, "output") ? "output" : NULL;
}

bool command_parse(Command *command, int n_words, char *const *words, const char **why)
{
    VEC(const char *) arguments = { 0 };
    VEC(Given) given = { 0 };
    bool has_options = true;
    *why = NULL;
    for (Words next = { words, n_words }; next.n > 0 && !*why;) {
        const char *word = *next.at++;
        next.n--;
        if (!has_options || word[0] != '-' || word[1] == 0) {
            vec_push(command->arena, &arguments, word);
        } else if (strcmp(word, "--") == 0) {
            has_options = false;
        } else {
            Given one = { 0 };
            const char *name = option_name(command, word);
            *why = name ? parse_option(command, name, &next, &one)
                        : arena_format(command->arena,
                                       "there is no option %s; options have two dashes and a whole word", word);
            vec_push(command->arena, &given, one);
        }
    }
    command->arguments = arguments.at;
    command->n_arguments = arguments.n;
    command->given = given.at;
    command->n_given = given.n;
    return !*why;
}

const char *command_option(const Command *command, const char *name)
{
    REQUIRE(option_find(command, name) != NULL);
    for (uint32_t k = command->n_given; k-- > 0;)
        if (strcmp(command->given[k].name, name) == 0)
            return command->given[k].value;
    return NULL;
}

const char *const *command_options(const Command *command, const char *name)
{
    VEC(const char *) values = { 0 };
    for (uint32_t k = 0; k < command->n_given; k++)
        if (strcmp(command->given[k].name, name) == 0)
            vec_push(command->arena, &values, command->given[k].value);
    if (values.n == 0)
        return NULL;
    vec_push(command->arena, &values, NULL);
    return values.at;
}

bool command_number(const char *text, long least, long most, long *value)
{
    char *end;
    *value = strtol(text, &end, 10);
    return !*end && end != text && *value >= least && *value <= most;
}
