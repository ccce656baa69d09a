/* Sanitised, unique names; see identifiers.h. */
#include "emit/c/identifiers.h"
#include "base/text.h"
#include "base/utf8.h"
#include "emit/c/prelude.h"
#include <ctype.h>

void identifiers_init(Identifiers *ids, const Code *code, Arena *arena)
{
    *ids = (Identifiers){ .code = code, .arena = arena, .taken = names_create(arena), .sections = names_create(arena) };
    ids->of_slot = NEW_ARRAY(arena, const char *, code->n_slots);
    for (uint32_t k = 0; k < code->n_sections; k++)
        names_text(ids->sections, code->sections[k].name);
}

static bool is_plain(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void add_character(Text *text, uint32_t c)
{
    static const struct {
        uint32_t character;
        const char *spelling;
    } umlauts[] = { { 0xe4, "ae" }, { 0xf6, "oe" }, { 0xfc, "ue" }, { 0xc4, "Ae" },
                    { 0xd6, "Oe" }, { 0xdc, "Ue" }, { 0xdf, "ss" } };
    for (size_t k = 0; k < sizeof umlauts / sizeof *umlauts; k++)
        if (umlauts[k].character == c) {
            text_add(text, umlauts[k].spelling);
            return;
        }
    if (is_plain(c))
        text_char(text, (char)c);
    else if (text->n && text->at[text->n - 1] != '_')
        text_char(text, '_');
}

static char *spell(Arena *arena, const char *name)
{
    enum { LONGEST = 63, SUFFIX = 24 }; /* significant in C17; what may be added below */
    Text text = { .arena = arena };
    const char *end = name + strlen(name);
    uint32_t size;
    if (*name >= '0' && *name <= '9')
        text_add(&text, "v");
    for (const char *at = name; at < end && text.n < LONGEST - SUFFIX; at += size)
        add_character(&text, utf8_decode(at, end, &size));
    while (text.n && text.at[text.n - 1] == '_')
        text.at[--text.n] = 0;
    if (text.n == 0)
        text_add(&text, "v");
    else if (text.at[0] == '_' || has_prelude_prefix(text.at))
        return arena_format(arena, "v_%s", text.at);
    return text.at;
}

/* Names the printer makes itself: t1, k7, and the parts of a section, derivatives_2. */
static bool is_made_by_printer(const Identifiers *ids, const char *name)
{
    size_t n = strlen(name);
    while (n && isdigit((unsigned char)name[n - 1]))
        n--;
    if (name[n] == 0)
        return false;
    if (n == 1)
        return *name == 't' || *name == 'k' || *name == 'u';
    NameId unused;
    return n > 1 && name[n - 1] == '_' && names_find(ids->sections, name, n - 1, &unused);
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
