/* The list of the classes of a checked bank, as text and as JSON; see bank_list.h. */
#include "bank/bank_list.h"
#include <string.h>

/* Which classes have the k-th in one of their versions in use. */
typedef struct {
    VEC(uint32_t) users;
} UsedBy;

static UsedBy *find_users(const BankCheck *check)
{
    UsedBy *used = NEW_ARRAY(check->arena, UsedBy, check->classes.n);
    for (uint32_t k = 0; k < check->classes.n; k++) {
        const CheckedFile *file = bank_check_active(check, k);
        for (uint32_t j = 0; file && j < file->record.n_uses; j++) {
            const char *name = file->record.uses[j].name;
            uint32_t at;
            if (map_get(&check->class_by_name, hash_bytes(name, strlen(name), 3), &at) &&
                strcmp(check->classes.at[at].name, name) == 0)
                vec_push(check->arena, &used[at].users, k);
        }
    }
    return used;
}

void bank_list_text(const BankCheck *check, Text *text)
{
    const UsedBy *used = find_users(check);
    size_t widest = 5, widest_versions = 8;
    Text *versions = NEW_ARRAY(text->arena, Text, check->classes.n);
    for (uint32_t k = 0; k < check->classes.n; k++) {
        const BankClass *class = &check->classes.at[k];
        versions[k].arena = text->arena;
        for (uint32_t j = 0; j < class->versions.n; j++) {
            const char *name = class->versions.at[j].name;
            text_format(&versions[k], "%s%s%s%s", j ? " " : "", j == class->active && name[0] ? "*" : "",
                        name[0] ? name : "-", bank_check_file(check, k, j)->record.is_good ? "" : "!");
        }
        widest = strlen(class->name) > widest ? strlen(class->name) : widest;
        widest_versions = versions[k].n > widest_versions ? versions[k].n : widest_versions;
    }
    text_format(text, "%-*s  %-*s  used by\n", (int)widest, "class", (int)widest_versions, "versions");
    for (uint32_t k = 0; k < check->classes.n; k++) {
        text_format(text, "%-*s  %-*s ", (int)widest, check->classes.at[k].name, (int)widest_versions, versions[k].at);
        for (uint32_t j = 0; j < used[k].users.n; j++)
            text_format(text, " %s", check->classes.at[used[k].users.at[j]].name);
        text_char(text, '\n');
    }
}

void bank_list_json(const BankCheck *check, bool is_good, Text *text)
{
    const UsedBy *used = find_users(check);
    text_format(text, "{\"koine\":\"%s\",\"bank\":", KOINE_VERSION);
    text_json(text, check->request.folder);
    text_format(text, ",\"good\":%s,\"files\":%u,\"translated\":%u,\"classes\":[", is_good ? "true" : "false",
                check->n_own, check->n_translated);
    for (uint32_t k = 0; k < check->classes.n; k++) {
        const BankClass *class = &check->classes.at[k];
        text_add(text, k ? ",\n{\"name\":" : "\n{\"name\":");
        text_json(text, class->name);
        text_add(text, ",\"versions\":[");
        for (uint32_t j = 0; j < class->versions.n; j++) {
            text_add(text, j ? ",{\"name\":" : "{\"name\":");
            text_json(text, class->versions.at[j].name);
            text_add(text, ",\"file\":");
            text_json(text, class->versions.at[j].path);
            text_format(text, ",\"active\":%s,\"good\":%s}", j == class->active ? "true" : "false",
                        bank_check_file(check, k, j)->record.is_good ? "true" : "false");
        }
        const CheckedFile *active = bank_check_active(check, k);
        text_add(text, "],\"uses\":[");
        for (uint32_t j = 0; active && j < active->record.n_uses; j++) {
            text_add(text, j ? "," : "");
            text_json(text, active->record.uses[j].name);
        }
        text_add(text, "],\"used_by\":[");
        for (uint32_t j = 0; j < used[k].users.n; j++) {
            text_add(text, j ? "," : "");
            text_json(text, check->classes.at[used[k].users.at[j]].name);
        }
        text_add(text, "]}");
    }
    text_add(text, "],\"diagnostics\":");
    text_add(text, diag_json(check->diag, text->arena));
    text_add(text, "\n}\n");
}

void bank_check_text(const BankCheck *check, Text *text)
{
    text_format(text, "%u classes in %u files", check->classes.n, check->n_own);
    if (check->n_wrong)
        text_format(text, ", %u of them wrong", check->n_wrong);
    else
        text_add(text, " are good");
    text_format(text, "; translated %u of %u\n", check->n_translated, check->files.n);
}
