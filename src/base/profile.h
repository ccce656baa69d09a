/* Profiles: the readings of the originals of languages, and what runs like those begin with.
 *
 * Each language has at most one; the table of languages gives them one after the other to whoever has to know a
 * name. */
#ifndef BASE_PROFILE_H
#define BASE_PROFILE_H

#include "base/arena.h"

typedef struct {
    const char *name; /* of a control parameter */
    double value;
} ProfileSetting;

typedef struct {
    const char *name;
    const ProfileSetting *settings; /* what runs begin with, ended by a row without name; NULL: nothing */
} Profile;

/* Profile k, in the order of their names; NULL after the last. */
typedef const Profile *ProfileAt(uint32_t k);

/* NULL: there is none of that name, or none at all because `profiles` is NULL. */
const Profile *profile_find(ProfileAt *profiles, const char *name);

/* All names: "dymola, simplex" with the separators ", " and ", ", "dymola or simplex" with ", " and " or ". */
const char *profile_names(ProfileAt *profiles, const char *separator, const char *last, Arena *arena);

/* The value that a profile gives to a control parameter; NULL: it gives none. */
const ProfileSetting *profile_setting(const Profile *profile, const char *name);

#endif
