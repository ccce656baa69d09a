/* koine dump: the model as Koine sees it, in its text form. */
#include "cli/target.h"
#include "cli/verbs.h"
#include "driver/dump.h"
#include "driver/words.h"

static const char *after_word(uint32_t k)
{
    return k == 0 ? "load" : compilation_pass_name(k - 1);
}

static int list_passes(void)
{
    printf("%-20s %s\n", "load", "as the language gave it");
    for (uint32_t k = 0; compilation_pass_name(k); k++)
        printf("%-20s %s\n", compilation_pass_name(k), compilation_pass_purpose(k));
    return EXIT_GOOD;
}

static DumpForm form_of(const Command *command)
{
    return command_option(command, "shapes")     ? DUMP_SHAPES
           : command_option(command, "schedule") ? DUMP_SCHEDULE
           : command_option(command, "program")  ? DUMP_PROGRAM
           : command_option(command, "c")        ? DUMP_C
                                                 : DUMP_MODEL;
}

static int check_form(const Command *command)
{
    static const char *const forms[] = { "shapes", "schedule", "program", "c" };
    const char *given = NULL;
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        if (!command_option(command, forms[k]))
            continue;
        if (given)
            return usage_error(command, "--shapes, --schedule, --program and --c exclude each other");
        given = forms[k];
    }
    if (command_option(command, "after") && given && form_of(command) != DUMP_SHAPES)
        return usage_error(command, "--after has no meaning with --%s, which comes after all passes", given);
    return EXIT_GOOD;
}

static int dump(const Command *command, Compilation *c, CompileRequest *request)
{
    const char *after = command_option(command, "after");
    Text text = { .arena = c->arena };
    const bool is_good =
        compilation_load(c, request) && compilation_dump(c, after ? after : "load", form_of(command), &text);
    print_diagnostics(command, c->diag);
    if (is_good)
        fwrite(text.at, 1, text.n, stdout);
    return is_good ? EXIT_GOOD : EXIT_MODEL;
}

static int run_dump(const Command *command)
{
    if (command_option(command, "passes"))
        return list_passes();
    if (command->n_arguments == 0)
        return usage_error(command, "FILE[:CLASS] is missing");
    const int status = check_form(command);
    return status == EXIT_GOOD ? target_act(command, dump) : status;
}

static const Option options[] = {
    { .name = "after", .value = "PASS", .word = after_word, .help = "the model after this pass; without it as loaded" },
    { .name = "shapes", .help = "equations of equal form written once, with their rows" },
    { .name = "schedule", .help = "what is computed, in which order" },
    { .name = "program", .help = "how it is laid out in memory: slots, kernels, parts, events, in words" },
    { .name = "c", .help = "the generated C" },
    { .name = "passes", .help = "list the passes in their order" },
    TARGET_COMPILED,
    { 0 },
};

static const Example examples[] = {
    { "koine dump Ball.mdl --after find-events", "the model once its comparisons have become events." },
    { "koine dump circuit.dym --schedule --evaluate-parameters --remove-unneeded",
      "the few statements that are left when parameters are numbers and only outputs are wanted." },
    { "koine dump Ball.mdl --c", "the C code that the tiers tcc and cc compile." },
    { 0 },
};

const Verb verb_dump = {
    .name = "dump",
    .arguments = "FILE[:CLASS]",
    .summary = "show a model inside the compiler",
    .text = "Prints the common representation of a model in a text form that can be read back (docs/ir.md), its "
            "schedule, the program made from it, or its C code.",
    .least = 0,
    .most = 1,
    .options = options,
    .examples = examples,
    .run = run_dump,
};
