/* Looking up profiles and what they set, by name; see profile.h. */
#include "base/profile.h"
#include "base/text.h"
#include <string.h>

const Profile *profile_find(ProfileAt *profiles, const char *name)
{
    for (uint32_t k = 0; profiles && profiles(k); k++)
        if (strcmp(profiles(k)->name, name) == 0)
            return profiles(k);
    return NULL;
}

const char *profile_names(ProfileAt *profiles, const char *separator, const char *last, Arena *arena)
{
    Text text = { .arena = arena };
    for (uint32_t k = 0; profiles && profiles(k); k++)
        text_format(&text, "%s%s", k == 0 ? "" : profiles(k + 1) ? separator : last, profiles(k)->name);
    return arena_text(arena, text.at, text.n);
}

const ProfileSetting *profile_setting(const Profile *profile, const char *name)
{
    for (const ProfileSetting *setting = profile->settings; setting && setting->name; setting++)
        if (strcmp(setting->name, name) == 0)
            return setting;
    return NULL;
}
