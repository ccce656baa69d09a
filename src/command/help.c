/* Help for the terminal. */
#include "base/bug.h"
#include "command/command.h"
#include <string.h>

enum { WIDTH = 80, OPTION_COLUMN = 24 };

/* Braces of a name that is no word, as in x={1, 3}, stay as they are. */
const char *help_filled_in(const CommandSet *set, const char *text, Arena *arena)
{
    Text to = { .arena = arena };
    text_add(&to, "");
    while (*text) {
        const size_t before = strcspn(text, "{");
        text_bytes(&to, text, before);
        text += before;
        const size_t length = *text ? strspn(text + 1, "abcdefghijklmnopqrstuvwxyz") : 0;
        if (length && text[length + 1] == '}') {
            text_add(&to, set->list(text + 1, length, arena));
            text += length + 2;
        } else if (*text) {
            text_char(&to, *text++);
        }
    }
    return to.at;
}

const char *help_of_option(const CommandSet *set, const Option *option, Arena *arena)
{
    const char *text = help_filled_in(set, option->help, arena);
    return option->listed ? arena_format(arena, "%s: %s", text, words_listed(option->listed, ", ", arena)) : text;
}

static void add_wrapped(const char *text, uint32_t column, Text *to)
{
    text_wrapped(to, text, WIDTH, column, column);
    text_char(to, '\n');
}

void help_heading(const char *heading, bool colour, Text *to)
{
    text_format(to, "\n%s%s%s\n", colour ? "\033[1m" : "", heading, colour ? "\033[0m" : "");
}

void help_row(const char *name, const char *text, Text *to)
{
    text_format(to, "  %-*s", OPTION_COLUMN - 2, name);
    if (strlen(name) >= OPTION_COLUMN - 2)
        text_format(to, "\n%*s", OPTION_COLUMN, "");
    add_wrapped(text, OPTION_COLUMN, to);
}

/* The values of an option, unless its help names them already. */
static void add_words(const Option *option, Text *to)
{
    if (!option->word || strstr(option->help, option->word(0)) == option->help)
        return;
    uint32_t column = OPTION_COLUMN;
    text_format(to, "%*s", OPTION_COLUMN, "");
    for (uint32_t k = 0; option->word(k); k++) {
        const uint32_t length = (uint32_t)strlen(option->word(k)) + 2;
        if (column + length > WIDTH) {
            text_format(to, ",\n%*s", OPTION_COLUMN, "");
            column = OPTION_COLUMN;
        } else if (k > 0) {
            text_add(to, ", ");
        }
        text_add(to, option->word(k));
        column += length;
    }
    text_char(to, '\n');
}

static void add_options(const CommandSet *set, const Option *options, Text *to)
{
    for (; options && options->name; options++) {
        const char *value = options->value ? options->value : "";
        help_row(arena_format(to->arena, "--%s%s%s", options->name, *value ? " " : "", value),
                 help_of_option(set, options, to->arena), to);
        add_words(options, to);
    }
}

void help_verbs(const CommandSet *set, Text *to)
{
    for (uint32_t k = 0; set->verbs[k]; k++)
        text_format(to, "  %-10s %s\n", set->verbs[k]->name, set->verbs[k]->summary);
}

void help_verb(const CommandSet *set, const Verb *verb, bool colour, Text *to)
{
    text_format(to, "%s %s: %s\n\nusage: %s %s%s%s [OPTIONS]\n\n", set->name, verb->name, verb->summary, set->name,
                verb->name, verb->arguments[0] ? " " : "", verb->arguments);
    add_wrapped(help_filled_in(set, verb->text, to->arena), 0, to);
    help_heading("Options", colour, to);
    add_options(set, verb->options, to);
    add_options(set, set->options, to);
    if (!verb->examples || !verb->examples->command)
        return;
    help_heading("Examples", colour, to);
    for (const Example *example = verb->examples; example->command; example++) {
        text_format(to, "  %s\n      ", example->command);
        add_wrapped(example->effect, 6, to);
    }
}
