#include "cli/target.h"
#include "study/named.h"
#include <errno.h>
#include <sys/stat.h>

/* What an option says that not every verb has; NULL: nothing. */
static const char *option_if_any(const Command *command, const char *name)
{
    return option_find(command, name) ? command_option(command, name) : NULL;
}

static bool find_in_bank(const Command *command, CompileRequest *request)
{
    Sources *sources = sources_create(command->arena);
    Diag *diag = diag_create(command->arena, sources);
    const bool is_found = named_find_in_bank(request, command->arena, sources, diag);
    print_diagnostics(command, diag);
    return is_found;
}

/* The value of --systems, where a verb has it, is known. */
static bool check_systems(const Command *command)
{
    const char *given = option_if_any(command, "systems");
    bool is_known = !given;
    for (uint32_t k = 0; !is_known && compilation_systems_name(k); k++)
        is_known = strcmp(given, compilation_systems_name(k)) == 0;
    if (!is_known)
        usage_error(command, "--systems takes auto, torn, whole or symbolic, not '%s'", given);
    return is_known;
}

bool target_find(const Command *command, CompileRequest *request)
{
    struct stat state;
    if (!check_systems(command))
        return false;
    if (stat(request->path, &state) == 0)
        return !S_ISDIR(state.st_mode) || find_in_bank(command, request);
    if (errno != ENOENT && errno != ENOTDIR) {
        usage_error(command, "cannot read '%s': %s", request->path, strerror(errno));
        return false;
    }
    const char *nearest = named_nearest_file(request->path, command->arena);
    if (nearest)
        usage_error(command, "there is no file '%s'; did you mean '%s'?", request->path, nearest);
    else
        usage_error(command, "there is no file '%s'", request->path);
    return false;
}

void target_take_options(const Command *command, CompileRequest *request)
{
    const char *const *const versions = command_options(command, "use");
    request->systems = option_if_any(command, "systems");
    request->evaluate_parameters = option_if_any(command, "evaluate-parameters");
    request->remove_unneeded = option_if_any(command, "remove-unneeded");
    request->task = option_if_any(command, "task");
    request->task_span = request->stop_span = SPAN_NONE;
    if (versions)
        request->versions = versions;
    request->external = (ExternalPermission){ .allows_all = option_if_any(command, "allow-external"),
                                              .files = command_options(command, "external"),
                                              .counts_trust = option_find(command, "allow-external") };
}

bool target_read(const Command *command, const char *text, CompileRequest *request)
{
    *request = (CompileRequest){ 0 };
    named_split(request, text, command->arena);
    target_take_options(command, request);
    return target_find(command, request);
}

bool target_compile(const Command *command, const CompileRequest *request, Compilation *c)
{
    const bool is_good = compilation_load(c, request) && compilation_schedule(c);
    print_diagnostics(command, c->diag);
    return is_good;
}

int target_act(const Command *command, int (*act)(const Command *command, Compilation *c, CompileRequest *request))
{
    CompileRequest request;
    if (!target_read(command, command->arguments[0], &request))
        return EXIT_USAGE;
    Compilation *c = compilation_create(out_of_memory);
    const int status = act(command, c, &request);
    compilation_destroy(c);
    return status;
}

const char *profile_word(uint32_t k)
{
    const Profile *profile = compilation_profile(k);
    return profile ? profile->name : NULL;
}

int no_profile(const Command *command, const char *name)
{
    return usage_error(command, "there is no profile '%s'; one of: %s", name,
                       profile_names(compilation_profile, ", ", ", ", command->arena));
}
