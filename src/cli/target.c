#include "cli/target.h"
#include "base/names.h"
#include "bank/bank.h"
#include "driver/words.h"
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

Target target_split(const char *text, Arena *arena)
{
    const char *const colon = strrchr(text, ':');
    if (!colon || colon == text || !colon[1] || strchr(colon, '/') || access(text, F_OK) == 0)
        return (Target){ .path = text };
    return (Target){ .path = arena_text(arena, text, (size_t)(colon - text)), .class_name = colon + 1 };
}

/* The file of the same folder whose name is most like it; NULL: none is near. */
static const char *nearest_file(const char *path, Arena *arena)
{
    const char *const slash = strrchr(path, '/');
    const size_t folder_size = slash ? (size_t)(slash - path) + 1 : 0;
    DIR *const folder = opendir(slash ? arena_text(arena, path, folder_size) : ".");
    if (!folder)
        return NULL;
    uint32_t best = 4;
    const char *nearest = NULL;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const uint32_t distance = edit_distance(path + folder_size, entry->d_name, best);
        if (distance < best && distance < strlen(entry->d_name)) {
            best = distance;
            nearest = arena_format(arena, "%.*s%s", (int)folder_size, path, entry->d_name);
        }
    }
    closedir(folder);
    return nearest;
}

/* A folder with a class, or the folder of a class: the file of the version in use. */
static bool find_in_bank(const Command *command, Target *target)
{
    Arena *const arena = command->arena;
    Sources *const sources = sources_create(arena);
    Diag *const diag = diag_create(arena, sources);
    const BanksRequest request = { .sources = sources, .versions = target_versions(command, target) };
    BankHit hit = { 0 };
    const bool is_found =
        bank_find_entry(banks_create(&request, arena), target->path, target->class_name, &hit, diag) &&
        diag_errors(diag) == 0;
    diag_print(diag, stderr, (DiagStyle){ .colour = command->colour_err });
    if (is_found) {
        target->path = hit.path;
        target->class_name = hit.class_name;
    }
    return is_found;
}

static const char *given_systems(const Command *command)
{
    return option_find(command->verb, "systems") ? command_option(command, "systems") : NULL;
}

/* The value of --systems, where a verb has it, is known. */
static bool check_systems(const Command *command)
{
    const char *const given = given_systems(command);
    bool is_known = !given;
    for (uint32_t k = 0; !is_known && compilation_systems_name(k); k++)
        is_known = strcmp(given, compilation_systems_name(k)) == 0;
    if (!is_known)
        usage_error(command, "--systems takes auto, torn, whole or symbolic, not '%s'", given);
    return is_known;
}

bool target_find(const Command *command, Target *target)
{
    struct stat state;
    if (!check_systems(command))
        return false;
    if (stat(target->path, &state) == 0)
        return !S_ISDIR(state.st_mode) || find_in_bank(command, target);
    if (errno != ENOENT && errno != ENOTDIR) {
        usage_error(command, "cannot read '%s': %s", target->path, strerror(errno));
        return false;
    }
    const char *const nearest = nearest_file(target->path, command->arena);
    if (nearest)
        usage_error(command, "there is no file '%s'; did you mean '%s'?", target->path, nearest);
    else
        usage_error(command, "there is no file '%s'", target->path);
    return false;
}

const char *const *target_versions(const Command *command, const Target *target)
{
    VEC(const char *) versions = { 0 };
    for (uint32_t k = 0; k < command->n_given; k++)
        if (strcmp(command->given[k].name, "use") == 0)
            vec_push(command->arena, &versions, command->given[k].value);
    for (const char *at = versions.n == 0 && target->use ? target->use : ""; *at;) {
        at += strspn(at, ", ");
        const size_t length = strcspn(at, ", ");
        if (length)
            vec_push(command->arena, &versions, arena_text(command->arena, at, length));
        at += length;
    }
    vec_push(command->arena, &versions, NULL);
    return versions.at;
}

/* A switch that not every verb has. */
static bool is_asked(const Command *command, const char *name)
{
    return option_find(command->verb, name) && command_option(command, name);
}

static const char *place_of(Span span, const Sources *sources, Arena *arena)
{
    if (span.source == SOURCE_NONE)
        return "command line";
    return arena_format(arena, "%s:%u", sources_get(sources, span.source)->path, span_begin(sources, span).line);
}

void target_take_settings(Target *target, const Experiment *experiment, const Sources *sources, Arena *arena)
{
    const uint32_t n = experiment->part.settings.n, n_all = n + experiment->errors.nominals.n;
    GivenValue *const values = NEW_ARRAY(arena, GivenValue, n_all + 1);
    for (uint32_t k = 0; k < n_all; k++) {
        const Setting *const setting =
            k < n ? &experiment->part.settings.at[k] : &experiment->errors.nominals.at[k - n];
        values[k] = (GivenValue){ .name = setting->name,
                                  .value = setting->value,
                                  .is_nominal = k >= n,
                                  .place = place_of(setting->span, sources, arena) };
    }
    target->values = values;
    target->n_values = n_all;
}

CompileRequest target_request(const Command *command, const Target *target)
{
    const char *const task = option_find(command->verb, "task") ? command_option(command, "task") : NULL;
    return (CompileRequest){ .path = target->path,
                             .class_name = target->class_name,
                             .systems = given_systems(command),
                             .evaluate_parameters = is_asked(command, "evaluate-parameters"),
                             .remove_unneeded = is_asked(command, "remove-unneeded"),
                             .wanted = target->wanted,
                             .versions = target_versions(command, target),
                             .task = task ? task : target->task,
                             .task_span = task || !target->task ? SPAN_NONE : target->task_span,
                             .stop_when = target->stop_when,
                             .stop_span = target->stop_when ? target->stop_span : SPAN_NONE,
                             .values = target->values,
                             .n_values = target->n_values };
}

bool target_compile(const Command *command, const Target *target, const char *profile, Compilation *c)
{
    CompileRequest request = target_request(command, target);
    request.profile = profile;
    const bool is_good = compilation_load(c, &request) && compilation_schedule(c);
    diag_print(c->diag, stderr, (DiagStyle){ .colour = command->colour_err });
    return is_good;
}

const char *profile_word(uint32_t k)
{
    const Profile *const profile = compilation_profile(k);
    return profile ? profile->name : NULL;
}

int no_profile(const Command *command, const char *name)
{
    return usage_error(command, "there is no profile '%s'; one of: %s", name,
                       profile_names(compilation_profile, ", ", ", ", command->arena));
}
