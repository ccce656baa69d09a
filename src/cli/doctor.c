/* koine doctor: whether everything Koine needs works here. Each tier is tried on a model of two lines. */
#include "base/text.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "driver/cache.h"
#include "trust/trust.h"
#include "study/trial.h"
#include "driver/words.h"
#include "experiment/catalogue.h"
#include "formats/written.h"
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

static bool row(const char *what, const char *result, bool is_good)
{
    printf("%-4s %-20s %s\n", is_good ? "ok" : "NO", what, result);
    return is_good;
}

static bool check_tiers(Arena *arena)
{
    bool is_good = true;
    for (uint32_t k = 1; compilation_tier_word(k); k++) { /* after auto */
        const char *tier = compilation_tier_word(k), *result = trial_of_tier(tier, out_of_memory, arena);
        is_good &= row(arena_format(arena, "tier %s", tier), result, strcmp(result, TRIAL_WORKS) == 0);
    }
    return is_good;
}

static bool check_cache(Arena *arena)
{
    CompiledCache cache;
    const char *why = NULL;
    if (!compiled_cache(&cache, arena, &why))
        return row("cache", why, false);
    return row("cache",
               arena_format(arena, "%s, %u models, %.1f MB", cache.path, cache.entries, (double)cache.bytes / 1e6),
               true);
}

static void show_trusted(Arena *arena)
{
    TrustedFolders trusted;
    const char *why = NULL;
    if (!trust_read(&trusted, arena, &why)) {
        row("C functions", why, false);
        return;
    }
    row("C functions", "compiled and executed only on your word: --allow-external, the file named, koine trust", true);
    for (uint32_t k = 0; k < trusted.n; k++)
        row("trusted folder", text_shown(trusted.folders[k], arena), true);
    if (trusted.n == 0)
        row("trusted folders", "none", true);
}

/* What holds a stranger's files, see docs/security.md. */
static int run_security(const Command *command)
{
    const CompilerWalls walls = compiler_walls(command->arena);
    const char *state = written_folder(command->arena);
    const char *catalogue = catalogue_path(command->arena);
    row("models", "data: no text of theirs reaches a compiler but as identifier or comment; checked before", true);
    show_trusted(command->arena);
    row("files they name", "below the current folder, no links, over nothing that Koine did not write", true);
    row("text files of ours", state ? state : "not known: neither XDG_STATE_HOME nor HOME is set", state != NULL);
    row("catalogue", catalogue, true);
    row("compiler's files",
        !walls.has_landlock ? "not walled: this system has no Landlock"
        : walls.is_walled   ? "Landlock: it writes to its work folder only"
                            : "not walled: CC names a compiler of your own, or cc is a wrapper",
        walls.has_landlock && walls.is_walled);
    row("compiler's network",
        !walls.has_seccomp ? "not walled: this system has no seccomp"
        : walls.is_walled  ? "seccomp: it has none"
                           : "not walled: CC names a compiler of your own, or cc is a wrapper",
        walls.has_seccomp && walls.is_walled);
    row("compiler's limits", "3600 s, 4 GB a file, 256 descriptors; ends with its run", true);
    row("viewer", "this machine only, an address with a secret that no list of arguments shows", true);
    row("viewer's files",
        walls.has_landlock ? "Landlock: reads the folders of what it was given, writes nothing, starts no program"
                           : "not walled: this system has no Landlock",
        walls.has_landlock);
    row("viewer's network",
        walls.has_seccomp ? "seccomp: answers at its port, makes no connection of its own"
                          : "not walled: this system has no seccomp",
        walls.has_seccomp);
    row("viewer's runs", "a process of ours starts them: this program, this model, settings of a list; ends with it",
        true);
    return check_cache(command->arena) ? EXIT_GOOD : EXIT_ENVIRONMENT;
}

static int run_doctor(const Command *command)
{
    if (command_option(command, "security"))
        return run_security(command);
    struct utsname system;
    uname(&system);
    row("koine", KOINE_VERSION, true);
    row("built with", KOINE_BUILT_WITH, true);
    row("system", arena_format(command->arena, "%s %s, %s", system.sysname, system.release, system.machine), true);
    const char *compiler = trial_compiler(command->arena);
    bool is_good = row("C compiler", compiler ? compiler : "none found: install gcc, or use a tier that needs none",
                       compiler != NULL);
    is_good &= check_tiers(command->arena);
    is_good &= check_cache(command->arena);
    const bool is_writable = access(".", W_OK) == 0;
    row("current folder", is_writable ? "writable" : "not writable: results need --output", is_writable);
    row("terminal",
        arena_format(command->arena, "%s, %u columns, %s, colours %s", terminal_is(stdout) ? "yes" : "no",
                     terminal_width(stdout), terminal_has_unicode() ? "Unicode" : "ASCII",
                     command->colour_out ? "on" : "off"),
        true);
    if (!is_good)
        puts("\nA tier that does not work is only missed by runs that ask for it.");
    return is_good ? EXIT_GOOD : EXIT_ENVIRONMENT;
}

static const Option options[] = {
    { .name = "security", .help = "what protects you from files of somebody else, and whether it is in force" },
    { 0 },
};

static const Example examples[] = {
    { "koine doctor --security", "what protects you from files of somebody else." },
    { "koine doctor", "one line for each thing Koine needs, and whether it works." },
    { 0 },
};

const Verb verb_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "tell whether everything works on this machine",
    .text = "Lists versions and tries every tier on a small model: {tiers}. "
            "The exit status is 0 when all of them work, else 4.",
    .options = options,
    .examples = examples,
    .run = run_doctor,
};
