/* Interning by open addressing on the hash of the text; see names.h. */
#include "base/names.h"
#include "base/ascii.h"
#include "base/map.h"
#include "base/vec.h"
#include <ctype.h>

typedef struct {
    const char *text;
    uint32_t length, hash;
} Entry;

struct Names {
    Arena *arena;
    VEC(Entry) entries;
    uint32_t *slots; /* entry + 1, or 0 */
    uint32_t n_slots;
};

static void place(Names *names, uint32_t entry)
{
    uint32_t slot = names->entries.at[entry].hash & (names->n_slots - 1);
    while (names->slots[slot])
        slot = (slot + 1) & (names->n_slots - 1);
    names->slots[slot] = entry + 1;
}

static void enlarge(Names *names, uint32_t n_slots)
{
    names->n_slots = n_slots;
    names->slots = NEW_ARRAY(names->arena, uint32_t, n_slots);
    for (uint32_t k = 0; k < names->entries.n; k++)
        place(names, k);
}

Names *names_create(Arena *arena)
{
    Names *names = NEW(arena, Names);
    names->arena = arena;
    enlarge(names, 256);
    names_add(names, "", 0);
    return names;
}

static bool look_up(const Names *names, const char *text, size_t length, uint32_t hash, NameId *found)
{
    for (uint32_t slot = hash & (names->n_slots - 1); names->slots[slot]; slot = (slot + 1) & (names->n_slots - 1)) {
        const Entry *entry = &names->entries.at[names->slots[slot] - 1];
        if (entry->hash == hash && entry->length == length && memcmp(entry->text, text, length) == 0) {
            found->index = names->slots[slot] - 1;
            return true;
        }
    }
    return false;
}

NameId names_add(Names *names, const char *text, size_t length)
{
    const uint32_t hash = (uint32_t)hash_bytes(text, length, 1);
    NameId name;
    if (look_up(names, text, length, hash, &name))
        return name;
    if ((names->entries.n + 1) * 2 > names->n_slots)
        enlarge(names, names->n_slots * 2);
    const Entry entry = { arena_text(names->arena, text, length), (uint32_t)length, hash };
    vec_push(names->arena, &names->entries, entry);
    place(names, names->entries.n - 1);
    return (NameId){ names->entries.n - 1 };
}

NameId names_text(Names *names, const char *text)
{
    return names_add(names, text, strlen(text));
}

bool names_find(const Names *names, const char *text, size_t length, NameId *found)
{
    return look_up(names, text, length, (uint32_t)hash_bytes(text, length, 1), found);
}

const char *names_of(const Names *names, NameId name)
{
    return names->entries.at[name.index].text;
}

uint32_t names_length(const Names *names, NameId name)
{
    return names->entries.at[name.index].length;
}

uint32_t names_count(const Names *names)
{
    return names->entries.n;
}

int natural_compare(const char *a, const char *b)
{
    while (*a && *b) {
        if (!is_digit(*a) || !is_digit(*b)) {
            if (*a != *b)
                return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++, b++;
            continue;
        }
        const char *a_begin = a, *b_begin = b;
        while (*a == '0')
            a++;
        while (*b == '0')
            b++;
        const char *a_digits = a, *b_digits = b;
        while (is_digit(*a))
            a++;
        while (is_digit(*b))
            b++;
        if (a - a_digits != b - b_digits)
            return a - a_digits < b - b_digits ? -1 : 1;
        const int order = memcmp(a_digits, b_digits, (size_t)(a - a_digits));
        if (order != 0)
            return order;
        if (a - a_begin != b - b_begin) /* equal values: fewer leading zeros first */
            return a - a_begin < b - b_begin ? -1 : 1;
    }
    return *a ? 1 : *b ? -1 : 0;
}

uint32_t edit_distance(const char *a, const char *b, uint32_t limit)
{
    enum { LONGEST = 64 };
    const size_t n = strlen(a), m = strlen(b);
    if (n >= LONGEST || m >= LONGEST)
        return limit;
    uint32_t row[LONGEST + 1];
    for (uint32_t j = 0; j <= m; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= m; j++) {
            const bool equal = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            uint32_t best = diagonal + (equal ? 0 : 1);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[m] < limit ? row[m] : limit;
}
