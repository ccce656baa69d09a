/* Loading the code of tiers, and climbing to faster ones while a model runs; see loaded_tiers.h. */
#include "emit/loaded_tiers.h"
#include "emit/tiers.h"
#include <stdio.h>

struct LoadedTier {
    Executable *executable; /* NULL: not loaded yet */
    KoineModelKind *kind;
    KoineCode automatic; /* what `auto` runs: the tier's code and how to go on */
};

static const KoineCode *code_of(Tiers *tiers, const Program *program, uint32_t row, const char **why, Arena *arena)
{
    struct LoadedTier *loaded = &tiers->rows[row];
    if (!loaded->executable)
        loaded->executable = tier_at(row)->load(program_code(program), tiers->interrupt, why, arena);
    return loaded->executable ? executable_code(loaded->executable) : NULL;
}

static const KoineModelKind *kind_of(Tiers *tiers, const Program *program, uint32_t row, const char **why, Arena *arena)
{
    struct LoadedTier *loaded = &tiers->rows[row];
    if (loaded->kind)
        return loaded->kind;
    const KoineCode *code = code_of(tiers, program, row, why, arena);
    if (!code)
        return NULL;
    loaded->kind = koine_machine_kind(program_data(program), code);
    if (!loaded->kind)
        *why = "out of memory";
    return loaded->kind;
}

/* ---- auto ---- */
static void note(Tiers *tiers, const char *text, const char *tier, const char *why)
{
    char before[sizeof tiers->note];
    memcpy(before, tiers->note, sizeof before);
    snprintf(tiers->note, sizeof tiers->note, "%.250s%s%.40s %.80s%s%.130s", before, before[0] ? "; " : "", text, tier,
             why ? ": " : "", why ? why : "");
}

static bool is_mostly_loops(const Program *program)
{
    const KoineProgram *data = program_data(program);
    return 2 * data->parts.loop_work > data->parts.work;
}

/* The row that `auto` climbs to from row `present`; that of no tier: it stays. */
static uint32_t next_row(const Program *program, uint32_t present)
{
    uint32_t row = present + 1;
    while (tier_at(row) &&
           (tier_at(row)->pays_at == TIER_NEVER || (tier_at(row)->is_slow_in_loops && is_mostly_loops(program))))
        row++;
    return row;
}

static const KoineCode *upgrade(void *context);

/* The code of a row, made the one that `auto` runs from now on. */
static const KoineCode *settle_in(Tiers *tiers, uint32_t row, const KoineCode *code)
{
    KoineCode *automatic = &tiers->rows[row].automatic;
    const Tier *next = tier_at(next_row(tiers->program, row));
    *automatic = *code;
    if (next) {
        automatic->upgrade = upgrade;
        automatic->upgrade_context = tiers;
        automatic->upgrade_at = next->pays_at;
    }
    tiers->present = row;
    return automatic;
}

/* A tier that refuses the text ends the climb: what one compiler does not take for ours is not shown to another. */
static const KoineCode *upgrade(void *context)
{
    Tiers *tiers = context;
    const char *why = NULL;
    const uint32_t row = next_row(tiers->program, tiers->present);
    Arena *scratch = arena_create_like(tiers->arena); /* whoever ends the run meanwhile uses that one */
    const KoineCode *code = code_of(tiers, tiers->program, row, &why, scratch);
    note(tiers, code ? "moved to" : "no", tier_at(row)->name, code ? NULL : why);
    arena_destroy(scratch);
    if (!code) {
        tiers->rows[tiers->present].automatic.upgrade = NULL; /* nothing better is to be had: do not ask again */
        return NULL;
    }
    return settle_in(tiers, row, code);
}

static const KoineModelKind *automatic_kind(Tiers *tiers, const Program *program, const char **why, Arena *arena)
{
    if (tiers->automatic_kind)
        return tiers->automatic_kind;
    const KoineCode *code = code_of(tiers, program, 0, why, arena);
    if (!code)
        return NULL;
    tiers->program = program;
    tiers->arena = arena;
    note(tiers, "began with", tier_at(0)->name, NULL);
    tiers->automatic_kind = koine_machine_kind(program_data(program), settle_in(tiers, 0, code));
    return tiers->automatic_kind;
}

void tiers_init(Tiers *tiers, Arena *arena)
{
    *tiers = (Tiers){ .rows = NEW_ARRAY(arena, struct LoadedTier, tier_count()) };
}

const KoineModelKind *tiers_kind(Tiers *tiers, const Program *program, const char *tier, const char **why, Arena *arena)
{
    *why = NULL;
    if (strcmp(tier, "auto") == 0)
        return automatic_kind(tiers, program, why, arena);
    for (uint32_t k = 0; tier_at(k); k++)
        if (strcmp(tier, tier_at(k)->name) == 0)
            return kind_of(tiers, program, k, why, arena);
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
    for (uint32_t k = 0; tier_at(k); k++) {
        koine_machine_free(tiers->rows[k].kind);
        executable_destroy(tiers->rows[k].executable);
        tiers->rows[k] = (struct LoadedTier){ 0 };
    }
    *tiers = (Tiers){ .rows = tiers->rows };
}
