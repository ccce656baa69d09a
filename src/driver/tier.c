#include "driver/tier.h"
#include <stdio.h>

/* Operations after which the next tier pays: an interpreted one costs about a nanosecond more than a compiled one;
 * tcc needs some ten milliseconds, cc some tenths of a second. */
static const uint64_t TCC_PAYS = 30000000, CC_PAYS = 600000000;

static const char *const names[] = { [TIER_INTERP] = "interp", [TIER_TCC] = "tcc", [TIER_CC] = "cc" };

static Executable *load(const Tiers *tiers, Tier tier, const Code *code, const char **why, Arena *arena)
{
    switch (tier) {
    case TIER_INTERP: return interp_load(code, why, arena);
    case TIER_TCC: return tcc_load(code, why, arena);
    case TIER_CC: return cc_load_until(code, tiers->interrupt, why, arena);
    }
    return NULL;
}

static const KoineCode *code_of(Tiers *tiers, const Program *program, Tier tier, const char **why, Arena *arena)
{
    if (!tiers->loaded[tier])
        tiers->loaded[tier] = load(tiers, tier, program_code(program), why, arena);
    return tiers->loaded[tier] ? executable_code(tiers->loaded[tier]) : NULL;
}

static const KoineModelKind *kind_of(Tiers *tiers, const Program *program, Tier tier, const char **why, Arena *arena)
{
    if (tiers->kinds[tier])
        return tiers->kinds[tier];
    const KoineCode *code = code_of(tiers, program, tier, why, arena);
    if (!code)
        return NULL;
    tiers->kinds[tier] = koine_machine_kind(program_data(program), code);
    if (!tiers->kinds[tier])
        *why = "out of memory";
    return tiers->kinds[tier];
}

/* ---- auto ---- */
static void note(Tiers *tiers, const char *text, const char *why)
{
    char before[sizeof tiers->note];
    memcpy(before, tiers->note, sizeof before);
    snprintf(tiers->note, sizeof tiers->note, "%.250s%s%.120s%s%.130s", before, before[0] ? "; " : "", text,
             why ? ": " : "", why ? why : "");
}

/* The interpreter's loops over many elements are vectorised and faster than what tcc makes of them. */
static bool is_mostly_loops(const Program *program)
{
    const KoineProgram *data = program_data(program);
    return 2 * data->loop_work > data->work;
}

/* A tier that refuses the text ends the climb: what one compiler does not take for ours is not shown to another. */
static const KoineCode *upgrade(void *context)
{
    Tiers *tiers = context;
    const char *why = NULL;
    const Tier tier = tiers->present == TIER_TCC || is_mostly_loops(tiers->program) ? TIER_CC : TIER_TCC;
    Arena *const scratch = arena_create_like(tiers->arena); /* whoever ends the run meanwhile uses that one */
    const KoineCode *code = code_of(tiers, tiers->program, tier, &why, scratch);
    if (!code)
        note(tiers, tier == TIER_TCC ? "no tcc" : "no cc", why);
    arena_destroy(scratch);
    if (!code) {
        tiers->automatic[tiers->present].upgrade = NULL; /* nothing better is to be had: do not ask again */
        return NULL;
    }
    tiers->automatic[tier] = *code;
    if (tier != TIER_CC) {
        tiers->automatic[tier].upgrade = upgrade;
        tiers->automatic[tier].upgrade_context = tiers;
        tiers->automatic[tier].upgrade_at = CC_PAYS;
    }
    note(tiers, tier == TIER_TCC ? "moved to tcc" : "moved to cc", NULL);
    tiers->present = tier;
    return &tiers->automatic[tier];
}

static const KoineModelKind *automatic_kind(Tiers *tiers, const Program *program, const char **why, Arena *arena)
{
    if (tiers->automatic_kind)
        return tiers->automatic_kind;
    const KoineCode *code = code_of(tiers, program, TIER_INTERP, why, arena);
    if (!code)
        return NULL;
    tiers->program = program;
    tiers->arena = arena;
    tiers->present = TIER_INTERP;
    tiers->automatic[TIER_INTERP] = *code;
    tiers->automatic[TIER_INTERP].upgrade = upgrade;
    tiers->automatic[TIER_INTERP].upgrade_context = tiers;
    tiers->automatic[TIER_INTERP].upgrade_at = is_mostly_loops(program) ? CC_PAYS : TCC_PAYS;
    note(tiers, "began with interp", NULL);
    tiers->automatic_kind = koine_machine_kind(program_data(program), &tiers->automatic[TIER_INTERP]);
    return tiers->automatic_kind;
}

const KoineModelKind *tiers_kind(Tiers *tiers, const Program *program, const char *tier, const char **why, Arena *arena)
{
    *why = NULL;
    if (strcmp(tier, "auto") == 0)
        return automatic_kind(tiers, program, why, arena);
    for (uint32_t k = 0; k < TIER_COUNT; k++)
        if (strcmp(tier, names[k]) == 0)
            return kind_of(tiers, program, (Tier)k, why, arena);
    *why = "no such tier";
    return NULL;
}

const char *tiers_note(const Tiers *tiers)
{
    return tiers->note;
}

void tiers_release(Tiers *tiers)
{
    koine_machine_free(tiers->automatic_kind);
    for (uint32_t k = 0; k < TIER_COUNT; k++) {
        koine_machine_free(tiers->kinds[k]);
        executable_destroy(tiers->loaded[k]);
    }
    *tiers = (Tiers){ 0 };
}
