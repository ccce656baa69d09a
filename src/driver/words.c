/* The words of options, taken from the tables that know them; see words.h. */
#include "driver/words.h"
#include "base/text.h"
#include "emit/target.h"
#include "emit/tiers.h"
#include "lang/languages.h"
#include "passes/pipeline.h"

static const char *const systems_names[] = {
    [SYSTEMS_AUTO] = "auto", [SYSTEMS_TORN] = "torn", [SYSTEMS_WHOLE] = "whole", [SYSTEMS_SYMBOLIC] = "symbolic"
};

const char *compilation_systems_name(uint32_t k)
{
    return k < sizeof systems_names / sizeof *systems_names ? systems_names[k] : NULL;
}

uint8_t systems_choice(const char *name)
{
    for (uint32_t k = 0; name && k < sizeof systems_names / sizeof *systems_names; k++)
        if (strcmp(name, systems_names[k]) == 0)
            return (uint8_t)k;
    return SYSTEMS_AUTO;
}

const char *compilation_pass_name(uint32_t k)
{
    return k < pipeline_count() ? pipeline[k].name : NULL;
}

const char *compilation_pass_purpose(uint32_t k)
{
    return k < pipeline_count() ? pipeline[k].purpose : NULL;
}

const Profile *compilation_profile(uint32_t k)
{
    return language_profile(k);
}

const char *compilation_tier_word(uint32_t k)
{
    if (k == 0)
        return "auto";
    return tier_at(k - 1) ? tier_at(k - 1)->name : NULL;
}

const Vocabulary compilation_vocabulary = { compilation_profile, compilation_tier_word };

const char *compilation_tier_titles(Arena *arena)
{
    Text text = { .arena = arena };
    for (uint32_t k = 0; tier_at(k); k++)
        text_format(&text, "%s%s (%s)", k ? ", " : "", tier_at(k)->name, tier_at(k)->title);
    return text.at;
}

const char *compilation_target_name(uint32_t k)
{
    return build_target_at(k) ? build_target_at(k)->name : NULL;
}

const char *compilation_target_titles(Arena *arena)
{
    Text text = { .arena = arena };
    for (uint32_t k = 0; build_target_at(k); k++)
        text_format(&text, "%s%s (%s)", k ? ", " : "", build_target_at(k)->name, build_target_at(k)->summary);
    return text.at;
}
