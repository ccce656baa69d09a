#include "cli/target.h"
#include "base/names.h"
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

Target target_split(const char *text, Arena *arena)
{
    const char *const colon = strrchr(text, ':');
    if (!colon || colon == text || !colon[1] || strchr(colon, '/') || access(text, F_OK) == 0)
        return (Target){ text, NULL };
    return (Target){ arena_text(arena, text, (size_t)(colon - text)), colon + 1 };
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

bool target_exists(const Command *command, const Target *target)
{
    struct stat state;
    if (stat(target->path, &state) == 0)
        return true;
    const char *const nearest = nearest_file(target->path, command->arena);
    if (nearest)
        usage_error(command, "there is no file '%s'; did you mean '%s'?", target->path, nearest);
    else
        usage_error(command, "there is no file '%s'", target->path);
    return false;
}

bool target_compile(const Command *command, const Target *target, const char *profile, Compilation *c)
{
    const CompileRequest request = { .path = target->path, .class_name = target->class_name, .profile = profile };
    const bool is_good = compilation_load(c, &request) && compilation_schedule(c);
    diag_print(compilation_diag(c), stderr, (DiagStyle){ .colour = command->colour_err });
    return is_good;
}
