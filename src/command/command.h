/* A command line as data: verbs with their options, and what is made of such a table: reading of command lines, help,
 * the manual page, completion. None of them can be wrong alone. Nothing here knows a verb, prints, or ends a program.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include "base/text.h"
#include "base/vocabulary.h"

typedef struct {
    const char *name;  /* without the dashes */
    const char *value; /* what its value is called in help; NULL: a switch */
    const char *help;  /* {tiers}, {formats} ... stand for lists: CommandSet.list */
    WordAt *word;      /* the values it can have, NULL after the last; NULL: any */
    WordAt *listed;    /* names that the help ends with, NULL after the last; NULL: none */
    bool repeats;      /* every occurrence counts; else the last one wins */
} Option;

typedef struct {
    const char *command, *effect;
} Example;

typedef struct Command Command;

typedef struct {
    const char *name, *arguments, *summary; /* "run", "FILE[:CLASS]", "simulate a model" */
    const char *text;                       /* paragraphs separated by empty lines; lines are not broken by hand */
    uint32_t least, most;                   /* number of arguments */
    const Option *options;                  /* ended by a row without name */
    const Example *examples;                /* ended by a row without command */
    WordAt *topics;                         /* names of verbs, and these, are its arguments; NULL: files are */
    int (*run)(const Command *command);     /* gives the exit status */
} Verb;

typedef struct {
    const char *name, *version, *title; /* of the program: "koine", "0.1.0", "modelling and simulation ..." */
    const char *summary;                /* what it does, in a sentence */
    const char *exit_status;            /* what its exit status says */
    const char *environment;            /* paragraphs of man(7) about variables of the environment */
    const Verb *const *verbs;           /* ended by NULL */
    const Option *options;              /* of every verb; ended by a row without name */
    /* The list that help names in braces. */
    const char *(*list)(const char *name, size_t length, Arena *arena);
} CommandSet;

typedef struct {
    const char *name, *value; /* value "" for a switch */
} Given;

struct Command {
    const CommandSet *set;
    const Verb *verb;
    Arena *arena;
    const char *const *arguments;
    uint32_t n_arguments;
    const Given *given; /* in the order of the command line */
    uint32_t n_given;
    bool colour_out, colour_err;
};

const Verb *verb_find(const CommandSet *set, const char *name);
/* An option of the verb, or of every verb; NULL: there is none of this name. */
const Option *option_find(const Command *command, const char *name);

/* Fills in `command` for the words after the verb. False: *why. */
bool command_parse(Command *command, int n_words, char *const *words, const char **why);
/* The last value of an option, "" for a switch; NULL: not given. */
const char *command_option(const Command *command, const char *name);
/* Values of an option that repeats, ended by NULL; NULL: there are none. */
const char *const *command_options(const Command *command, const char *name);
/* A whole number. */
bool command_number(const char *text, long least, long most, long *value);

/* The help of a verb, with headings set off on a terminal that shows colours. */
void help_verb(const CommandSet *set, const Verb *verb, bool colour, Text *to);
void help_heading(const char *heading, bool colour, Text *to);
/* Rows of a name and what it is, as those of options. */
void help_row(const char *name, const char *text, Text *to);
/* All verbs in a row each. */
void help_verbs(const CommandSet *set, Text *to);
void manual_page(const CommandSet *set, Text *to);       /* in the form man(7) */
void completion_script(const CommandSet *set, Text *to); /* for bash */

/* Texts of help with lists in the place of their names. */
const char *help_filled_in(const CommandSet *set, const char *text, Arena *arena);
const char *help_of_option(const CommandSet *set, const Option *option, Arena *arena);

#endif
