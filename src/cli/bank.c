/* koine bank: folders of component classes with versions. */
#include "base/text.h"
#include "cli/target.h"
#include "cli/verbs.h"
#include "bank/bank_list.h"
#include "bank/bank_switch.h"
#include "driver/words.h"

typedef struct {
    const Command *command;
    Arena *arena;
    Sources *sources;
    Diag *diag;
    BankCheck check;
} BankWork;

/* ---- check ---- */
static int run_check(BankWork *work, const char *folder, bool is_list)
{
    const BankCheckRequest request = { .folder = folder, .profile = command_option(work->command, "profile") };
    if (request.profile && !profile_find(compilation_profile, request.profile))
        return no_profile(work->command, request.profile);
    if (!bank_check(&work->check, &request, work->sources, work->diag, work->arena)) {
        print_diagnostics(work->command, work->diag);
        return EXIT_USAGE;
    }
    const BankCheck *check = &work->check;
    const bool is_good = diag_errors(work->diag) == 0 && check->n_wrong == 0;
    Text text = { .arena = work->arena };
    if (command_option(work->command, "json")) {
        bank_list_json(check, is_good, &text);
    } else if (is_list) {
        bank_list_text(check, &text);
    } else {
        print_diagnostics(work->command, work->diag);
        bank_check_text(check, &text);
    }
    fwrite(text.at, 1, text.n, stdout);
    return is_good || is_list ? EXIT_GOOD : EXIT_MODEL;
}

/* ---- use ---- */
static int no_such_version(const BankWork *work, const BankClass *class, const char *version)
{
    Text list = { .arena = work->arena };
    for (uint32_t k = 0; k < class->versions.n; k++)
        text_format(&list, "%s%s", k ? ", " : "", class->versions.at[k].name);
    if (!class->versions.at[0].name[0])
        return usage_error(work->command,
                           "the class '%s' is a single file without versions; a folder '%s' with one "
                           "file for each version would have them",
                           class->name, class->name);
    return usage_error(work->command, "the class '%s' has no version '%s'; it has %s", class->name, version, list.at);
}

static void say_change(const BankClass *class, const char *version)
{
    const bool was = class->active != ID_NONE;
    const char *before = was ? class->versions.at[class->active].name : "none";
    printf("%s: %s%s%s%s\n", class->name, version, was && strcmp(before, version) == 0 ? " (as before" : " (before: ",
           was && strcmp(before, version) == 0 ? "" : before, ")");
}

static int use_version(BankWork *work, const BankSwitch *wanted)
{
    SwitchReport report;
    switch (bank_switch(wanted, work->sources, work->arena, work->diag, &report)) {
    case SWITCH_DONE: break;
    case SWITCH_BAD_BANK: print_diagnostics(work->command, work->diag); return EXIT_MODEL;
    case SWITCH_NO_FOLDER: print_diagnostics(work->command, work->diag); return EXIT_USAGE;
    case SWITCH_NO_VERSION: return no_such_version(work, &report.classes.at[0], wanted->version);
    case SWITCH_NO_CLASS:
        return wanted->class_name
                   ? usage_error(work->command, "there is no class '%s' in the bank", wanted->class_name)
                   : usage_error(work->command, "no class of the bank has a version '%s'", wanted->version);
    case SWITCH_UNWRITTEN: say("%s", report.why); return EXIT_ENVIRONMENT;
    }
    for (uint32_t k = 0; k < report.classes.n; k++)
        say_change(&report.classes.at[k], wanted->version);
    return EXIT_GOOD;
}

static int run_use(BankWork *work)
{
    const Command *command = work->command;
    const bool is_all = command_option(command, "all");
    const uint32_t names = is_all ? 1 : 2, given = command->n_arguments - 1;
    if (given < names || given > names + 1)
        return usage_error(command,
                           is_all ? "koine bank use --all VERSION [FOLDER]" : "koine bank use CLASS VERSION [FOLDER]");
    const BankSwitch wanted = { .folder = given > names ? command->arguments[names + 1] : ".",
                                .class_name = is_all ? NULL : command->arguments[1],
                                .version = command->arguments[names] };
    return use_version(work, &wanted);
}

static int run_bank(const Command *command)
{
    BankWork work = { .command = command, .arena = command->arena };
    work.sources = sources_create(work.arena);
    work.diag = diag_create(work.arena, work.sources);
    const char *what = command->arguments[0];
    if (strcmp(what, "use") == 0)
        return run_use(&work);
    const bool is_list = strcmp(what, "list") == 0;
    if (!is_list && strcmp(what, "check") != 0)
        return usage_error(command, "bank has no '%s': list, check or use", what);
    if (command->n_arguments > 2)
        return usage_error(command, "'%s' is one argument too many", command->arguments[2]);
    return run_check(&work, command->n_arguments > 1 ? command->arguments[1] : ".", is_list);
}

static const Option options[] = {
    { .name = "all", .help = "with use: every class that has the version" },
    { .name = "json", .help = "with list and check: classes and diagnostics as JSON on the standard output" },
    { .name = "profile", .value = "NAME", .listed = profile_word, .help = "the reading of the original" },
    { 0 },
};

static const Example examples[] = {
    { "koine bank list gates", "classes, their versions (* is in use, ! is wrong), and who uses them." },
    { "koine bank check gates", "checks every version of every class; those that did not change are not read again." },
    { "koine bank use And Delay gates", "from now on the class And is its version Delay." },
    { "koine bank use --all Delay gates", "the same for all classes that have a version Delay." },
    { 0 },
};

const Verb verb_bank = {
    .name = "bank",
    .arguments = "list|check|use [CLASS VERSION] [FOLDER]",
    .summary = "list, check and switch component classes and their versions",
    .text = "A bank is a folder of component classes. A class is a file of its name, or a folder of its name with a "
            "file for each version, one of which is in use: the file koine.bank of the bank says which, and where "
            "classes are sought that are not there (docs/banks.md). A class of a bank is run as BANK:CLASS.",
    .least = 1,
    .most = 4,
    .options = options,
    .examples = examples,
    .run = run_bank,
};
