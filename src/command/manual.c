/* The manual page, in the form man(7). */
#include "command/command.h"
#include <string.h>

static void add_text(const char *text, Text *to)
{
    bool is_line_start = true;
    for (; *text; text++) {
        if (text[0] == '\n' && text[1] == '\n') {
            text_add(to, "\n.PP\n");
            text += strspn(text, "\n") - 1;
            is_line_start = true;
            continue;
        }
        if (is_line_start && (*text == '.' || *text == '\''))
            text_add(to, "\\&");
        if (*text == '\\')
            text_add(to, "\\e");
        else if (*text == '-')
            text_add(to, "\\-");
        else
            text_char(to, *text);
        is_line_start = *text == '\n';
    }
    text_char(to, '\n');
}

static void add_options(const CommandSet *set, const Option *options, Text *to)
{
    for (; options && options->name; options++) {
        text_add(to, ".TP\n\\fB\\-\\-");
        for (const char *c = options->name; *c; c++)
            *c == '-' ? text_add(to, "\\-") : text_char(to, *c);
        text_add(to, "\\fR");
        if (options->value)
            text_format(to, " \\fI%s\\fR", options->value);
        text_char(to, '\n');
        add_text(help_of_option(set, options, to->arena), to);
        if (options->word)
            add_text(arena_format(to->arena, "One of: %s.", words_listed(options->word, ", ", to->arena)), to);
    }
}

static void add_verb(const CommandSet *set, const Verb *verb, Text *to)
{
    text_format(to, ".SS %s %s %s\n", set->name, verb->name, verb->arguments);
    add_text(verb->summary, to);
    text_add(to, ".PP\n");
    add_text(help_filled_in(set, verb->text, to->arena), to);
    add_options(set, verb->options, to);
    for (const Example *example = verb->examples; example && example->command; example++) {
        text_add(to, ".PP\n.EX\n");
        add_text(example->command, to);
        text_add(to, ".EE\n.RS\n");
        add_text(example->effect, to);
        text_add(to, ".RE\n");
    }
}

static void add_capitals(const char *name, Text *to)
{
    for (; *name; name++)
        text_char(to, *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name);
}

void manual_page(const CommandSet *set, Text *to)
{
    text_add(to, ".TH ");
    add_capitals(set->name, to);
    text_format(to,
                " 1 \"\" \"%s %s\" \"User commands\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n\\fICOMMAND\\fR "
                "[\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n%s\n.SH OPTIONS OF EVERY COMMAND\n",
                set->name, set->version, set->name, set->title, set->name, set->summary);
    add_options(set, set->options, to);
    text_add(to, ".SH COMMANDS\n");
    for (uint32_t k = 0; set->verbs[k]; k++)
        add_verb(set, set->verbs[k], to);
    text_add(to, ".SH EXIT STATUS\n");
    add_text(set->exit_status, to);
    text_format(to, ".SH ENVIRONMENT\n%s\n", set->environment);
}
