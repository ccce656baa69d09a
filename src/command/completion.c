/* Completion of command lines, as a script for bash. */
#include "command/command.h"
#include <string.h>

static void add_words(const char *condition, WordAt *word, Text *to)
{
    text_format(to, "        %s) COMPREPLY=($(compgen -W '", condition);
    for (uint32_t k = 0; word(k); k++)
        text_format(to, "%s%s", k ? " " : "", word(k));
    text_add(to, "' -- \"$word\")); return ;;\n");
}

static void add_values(const Verb *verb, const Option *options, Text *to)
{
    for (; options && options->name; options++) {
        if (!options->value)
            continue;
        const char *condition = arena_format(to->arena, "'%s --%s'", verb->name, options->name);
        if (options->word || options->listed)
            add_words(condition, options->word ? options->word : options->listed, to);
        else if (strncmp(options->value, "FILE", 4) == 0)
            text_format(to, "        %s) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", condition);
        else
            text_format(to, "        %s) return ;;\n", condition);
    }
}

static void add_options(const Option *options, Text *to)
{
    for (; options && options->name; options++)
        text_format(to, " --%s", options->name);
}

static void add_verb_names(const CommandSet *set, Text *to)
{
    for (uint32_t k = 0; set->verbs[k]; k++)
        text_format(to, "%s ", set->verbs[k]->name);
}

/* What is no option: names of verbs and topics for a verb that is about them, else files. */
static void add_arguments(const CommandSet *set, Text *to)
{
    bool is_first = true;
    for (uint32_t k = 0; set->verbs[k]; k++) {
        const Verb *verb = set->verbs[k];
        if (!verb->topics)
            continue;
        text_format(to, "        %s [ \"$verb\" = %s ]; then COMPREPLY=($(compgen -W '", is_first ? "if" : "elif",
                    verb->name);
        add_verb_names(set, to);
        for (uint32_t n = 0; verb->topics(n); n++)
            text_format(to, "%s%s", n ? " " : "", verb->topics(n));
        text_add(to, "' -- \"$word\"))\n");
        is_first = false;
    }
    text_add(to, is_first ? "        COMPREPLY=($(compgen -f -- \"$word\"))"
                          : "        else COMPREPLY=($(compgen -f -- \"$word\")); fi");
    text_add(to, "; return ;;\n");
}

void completion_script(const CommandSet *set, Text *to)
{
    text_format(to,
                "# bash completion for %s, made by '%s help --completion'\n_%s()\n{\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]-}\n"
                "    COMPREPLY=()\n    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W '",
                set->name, set->name, set->name);
    add_verb_names(set, to);
    text_add(to, "--help --version' -- \"$word\")); return\n    fi\n    case \"$verb $before\" in\n");
    for (uint32_t k = 0; set->verbs[k]; k++) {
        add_values(set->verbs[k], set->verbs[k]->options, to);
        add_values(set->verbs[k], set->options, to);
    }
    text_add(to, "    esac\n    case \"$word\" in -*) ;; *)\n");
    add_arguments(set, to);
    text_add(to, "    esac\n    case \"$verb\" in\n");
    for (uint32_t k = 0; set->verbs[k]; k++) {
        text_format(to, "        %s) COMPREPLY=($(compgen -W '", set->verbs[k]->name);
        add_options(set->verbs[k]->options, to);
        add_options(set->options, to);
        text_add(to, "' -- \"$word\")) ;;\n");
    }
    text_format(to, "    esac\n}\ncomplete -o filenames -F _%s %s ./%s\n", set->name, set->name, set->name);
}
