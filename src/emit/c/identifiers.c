/* Sanitised, unique names; see identifiers.h. */
#include "emit/c/identifiers.h"
#include "emit/c/model_text.h"
#include "emit/c/prelude.h"
#include <ctype.h>

void identifiers_init(Identifiers *ids, const Code *code, Arena *arena)
{
    *ids = (Identifiers){ .code = code, .arena = arena, .taken = names_create(arena), .sections = names_create(arena) };
    ids->of_slot = NEW_ARRAY(arena, const char *, code->n_slots);
    for (uint32_t k = 0; k < code->n_sections; k++)
        names_text(ids->sections, code->sections[k].name);
}

static char *spell(Arena *arena, const char *name)
{
    char *text = model_identifier(arena, name);
    const bool is_function = *text == 'f' && isdigit((unsigned char)text[1]); /* f2_Name */
    const bool is_ours = *text == '_' || is_function || has_prelude_prefix(text);
    return *text >= '0' && *text <= '9' ? arena_format(arena, "v%s", text)
           : is_ours                    ? arena_format(arena, "v_%s", text)
                                        : text;
}

/* Names the printer makes itself: t1, k7, and the parts of a section, derivatives_part_2. */
static bool is_made_by_printer(const Identifiers *ids, const char *name)
{
    static const char part[] = "_part_";
    const size_t n_part = sizeof part - 1;
    size_t n = strlen(name);
    while (n && isdigit((unsigned char)name[n - 1]))
        n--;
    if (name[n] == 0)
        return false;
    if (n == 1)
        return *name == 't' || *name == 'k' || *name == 'u';
    NameId unused;
    return n > n_part && memcmp(name + n - n_part, part, n_part) == 0 &&
           names_find(ids->sections, name, n - n_part, &unused);
}

static bool is_free(const Identifiers *ids, const char *name)
{
    NameId unused;
    return !names_find(ids->taken, name, strlen(name), &unused) &&
           !names_find(ids->sections, name, strlen(name), &unused) && !is_prelude_name(name) &&
           !is_made_by_printer(ids, name);
}

const char *identifier_of(Identifiers *ids, uint32_t slot)
{
    const char *name = ids->code->slot_names ? ids->code->slot_names[slot] : NULL;
    if (!name || ids->of_slot[slot])
        return ids->of_slot[slot];
    const char *base = spell(ids->arena, name), *chosen = base;
    if (!is_free(ids, chosen))
        chosen = arena_format(ids->arena, "%s_", base);
    if (!is_free(ids, chosen))
        chosen = arena_format(ids->arena, "%s_at_%u", base, slot);
    for (uint32_t k = 2; !is_free(ids, chosen); k++)
        chosen = arena_format(ids->arena, "%s_at_%u_%u", base, slot, k);
    names_text(ids->taken, chosen);
    ids->of_slot[slot] = chosen;
    ids->n_used++;
    return chosen;
}
