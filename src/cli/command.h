/* The command line as data: verbs and their options. Parsing, help, the man page and completion are all made from
 * the same table, so none of them can be wrong alone.
 *
 * A verb is one file with one Verb; main.c lists them. Data goes to stdout, everything else to stderr. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "base/vocabulary.h"
#include <stdbool.h>

enum {
    EXIT_GOOD = 0,
    EXIT_MODEL = 1,       /* the model is wrong; diagnostics were printed */
    EXIT_USAGE = 2,       /* the command line is wrong */
    EXIT_RUN = 3,         /* the run failed; results so far are kept */
    EXIT_ENVIRONMENT = 4, /* no disk, no memory, no compiler */
    EXIT_INTERRUPTED = 130
};

typedef struct {
    const char *name;  /* without the dashes */
    const char *value; /* what its value is called in help; NULL: a switch */
    const char *help;  /* {tiers}, {formats} ... stand for lists that help.c knows */
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
    int (*run)(const Command *command);     /* gives the exit status */
} Verb;

typedef struct {
    const char *name, *value; /* value "" for a switch */
} Given;

struct Command {
    const Verb *verb;
    Arena *arena;
    const char *const *arguments;
    uint32_t n_arguments;
    const Given *given; /* in the order of the command line */
    uint32_t n_given;
    bool colour_out, colour_err;
};

extern const Option common_options[]; /* of every verb */
extern const Verb *const verbs[];     /* ended by NULL */

const Verb *verb_find(const char *name);
const char *verb_word(uint32_t k); /* the name of a row; NULL after the last */
const Option *option_find(const Verb *verb, const char *name);

/* Fills in `command` for the words after the verb. Not EXIT_GOOD: said on stderr; the status. */
int command_parse(Command *command, int n_words, char *const *words);
/* The last value of an option, "" for a switch; NULL: not given. */
const char *command_option(const Command *command, const char *name);

/* The value of an option that is a whole number, which stays as it is where the option is not given. Not EXIT_GOOD: it
 * is none of these; said, with what it `must` be. */
int command_whole(const Command *command, const char *name, const char *must, long least, long most, long *value);

/* "koine run: ..." and where to read on; returns EXIT_USAGE. */
int usage_error(const Command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Output that did not reach its file is a failure, also when everything else went well: the status of the process. */
int close_stdout(int status);
/* The status after errors: that of the environment where the system could not read a file, else `otherwise`. */
int error_status(const Diag *diag, int otherwise);
/* All of them on stderr. */
void print_diagnostics(const Command *command, Diag *diag);
/* What a model says, KOINE_MESSAGE_..., as lines on stderr. */
void print_message(int level, const char *text);
/* "koine: ..." on stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Into a file, "-" for the standard output. Not EXIT_GOOD: said on stderr; the status. */
int write_text(const char *path, const Text *text);

/* The word nearest to `name` among those `word` gives; NULL: none is near. */
const char *nearest_word(const char *name, WordAt *word);

/* help.c */
void help_overview(void);
void help_verb(const Verb *verb, bool colour);

/* main.c */
_Noreturn void out_of_memory(size_t wanted);

#endif
