/* See command.h. */
#define _GNU_SOURCE
#include "cli/command.h"
#include "koine/model.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int command_whole(const Command *command, const char *name, const char *must, long least, long most, long *value)
{
    const char *text = command_option(command, name);
    return !text || command_number(text, least, most, value)
               ? EXIT_GOOD
               : usage_error(command, "--%s %s, not '%s'", name, must, text);
}
