/* koine build: a model in a form for other programs. */
#include "cli/target.h"
#include "cli/verbs.h"
#include "driver/build.h"
#include "driver/words.h"
#include "formats/output.h"
#include <sys/stat.h>

/* What is there already stays as it is until the first bytes are written. */
static int write_file(const char *path, const Text *text)
{
    Output output;
    char why[512];
    if (output_text(&output, path, text))
        return EXIT_GOOD;
    output_failure(&output, why, sizeof why);
    say("%s", why);
    return EXIT_ENVIRONMENT;
}

static int write_folder(const char *path, const FolderFiles *files)
{
    const char *why;
    switch (folder_write(path, files, &why)) {
    case FOLDER_WRITTEN: return EXIT_GOOD;
    case FOLDER_FAILED: say("%s", why); return EXIT_ENVIRONMENT;
    case FOLDER_OTHER: break;
    }
    say("%s: name a folder that is empty, new, or was written by koine build", why);
    return EXIT_USAGE;
}

/* One file: the standard output, a name with an ending, or what is there and is no folder, as a device. */
static bool is_file(const char *target, const char *path)
{
    struct stat there;
    const bool is_there = stat(path, &there) == 0;
    return !compilation_makes_folder(target) || strcmp(path, "-") == 0 ||
           (is_there ? !S_ISDIR(there.st_mode) : text_ends_with(path, ".c"));
}

static int build(const Command *command, Compilation *c, CompileRequest *request)
{
    const char *name = command_option(command, "to"), *path = command_option(command, "output"), *why = NULL;
    const bool is_one = is_file(name, path);
    Text text = { .arena = c->arena };
    FolderFiles files = { .arena = c->arena };
    const bool is_made = compilation_load(c, request) && (is_one ? compilation_build(c, name, &text, &why)
                                                                 : compilation_build_folder(c, name, &files, &why));
    print_diagnostics(command, c->diag);
    if (is_made)
        return is_one ? write_file(path, &text) : write_folder(path, &files);
    if (!why)
        return error_status(c->diag, EXIT_MODEL);
    say("there is no target '%s' of this model: %s", name, why);
    return EXIT_ENVIRONMENT;
}

static int run_build(const Command *command)
{
    if (!command_option(command, "to"))
        return usage_error(command, "--to is missing; one of: %s",
                           words_listed(compilation_target_name, ", ", command->arena));
    if (!command_option(command, "output"))
        return usage_error(command, "--output is missing: the folder or file to write, or - for the standard output");
    return target_act(command, build);
}

static const Option options[] = {
    { .name = "to", .value = "TARGET", .word = compilation_target_name, .help = "what is made: {targets}" },
    { .name = "output",
      .value = "PATH",
      .help = "the folder that is written, or the file; - for the standard output; also -o PATH" },
    TARGET_COMPILED,
    { 0 },
};

static const Example examples[] = {
    { "koine build Ball.mdl --to c -o ball", "writes a folder with the whole model in C, and what executes it." },
    { "koine build Ball.mdl --to c -o ball.c", "writes the equations of the model as C." },
    { "koine build Ball.mdl --to c --evaluate-parameters -o -",
      "the same with numbers in place of parameters, printed." },
    { 0 },
};

const Verb verb_build = {
    .name = "build",
    .arguments = "FILE[:CLASS]",
    .summary = "write a model for other programs",
    .text = "Compiles the model and writes it in the form that --to names. A folder is a program of its own that needs "
            "nothing of Koine; its README.md says how it is built. A name that ends with .c is a file. What is there "
            "already is replaced, but not where the model is wrong, and not a folder with other files in it.",
    .least = 1,
    .most = 1,
    .options = options,
    .examples = examples,
    .run = run_build,
};
