/* What verbs share: the table of commands, exit statuses, and what is said on the standard error.
 *
 * A verb is one file with one Verb; main.c lists them. Data goes to stdout, everything else to stderr. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/diag.h"
#include "command/command.h"

enum {
    EXIT_GOOD = 0,
    EXIT_MODEL = 1,       /* the model is wrong; diagnostics were printed */
    EXIT_USAGE = 2,       /* the command line is wrong */
    EXIT_RUN = 3,         /* the run failed; results so far are kept */
    EXIT_ENVIRONMENT = 4, /* no disk, no memory, no compiler */
    EXIT_INTERRUPTED = 130
};

/* main.c */
extern const CommandSet commands;
WordAt verb_word; /* the names of verbs */
_Noreturn void out_of_memory(size_t wanted);
/* Output that did not reach its file is a failure, also when everything else went well: the status of the process. */
int close_stdout(int status);

/* The value of an option that is a whole number, which stays as it is where the option is not given. Not EXIT_GOOD: it
 * is none of these; said, with what it `must` be. */
int command_whole(const Command *command, const char *name, const char *must, long least, long most, long *value);

/* "koine run: ..." and where to read on; returns EXIT_USAGE. */
int usage_error(const Command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
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

/* help.c */
const char *help_list(const char *name, size_t length, Arena *arena); /* of CommandSet */
void help_overview(void);

#endif
