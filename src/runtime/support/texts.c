/* The table of texts in the block, and the operations on texts; see texts.h. */
#include "texts.h"
#include "objects.h"
#include "koine/ops.h"
#include "koine/text_format.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FEWEST_BYTES = 4096,
    ENTRY_BYTES = 64,         /* of the area for each entry */
    MOST_BYTES = 1 << 30,     /* of an area */
    RECORD = sizeof(uint64_t) /* what stands before the bytes of a text: its entry and its size */
};
static const uint32_t NO_ENTRY = UINT32_MAX;

typedef struct {
    uint32_t at;   /* place of the record, in words behind the first; a free entry: the next free one */
    uint32_t size; /* bytes; NO_ENTRY: it is free */
    uint32_t hash;
    uint32_t next; /* in its bucket */
} TextEntry;

/* The pieces of an area; all of it follows from the capacity. */
typedef struct {
    TextTable *head;
    TextEntry *entries;
    uint32_t *buckets; /* a power of 2 */
    unsigned char *bytes;
    uint32_t n_entries, n_buckets;
    uint64_t n_bytes;
    OutsideTexts **outside; /* what finds no room, numbered from n_entries on; NULL: nowhere */
} Area;

static uint32_t buckets_for(uint32_t n_entries)
{
    uint32_t n = 1;
    while (2 * n <= n_entries)
        n *= 2;
    return n;
}

static Area area_at(unsigned char *at, uint64_t capacity)
{
    Area a = { .head = (TextTable *)(void *)at, .n_entries = (uint32_t)(capacity / ENTRY_BYTES) };
    a.n_buckets = buckets_for(a.n_entries);
    uint64_t place = (sizeof(TextTable) + KOINE_ALIGNMENT - 1) / KOINE_ALIGNMENT * KOINE_ALIGNMENT;
    a.entries = (TextEntry *)(void *)(at + place);
    place += a.n_entries * sizeof(TextEntry);
    a.buckets = (uint32_t *)(void *)(at + place);
    place += (a.n_buckets * sizeof(uint32_t) + RECORD - 1) / RECORD * RECORD;
    a.bytes = at + place;
    a.n_bytes = capacity - place;
    return a;
}

static Area area_of(unsigned char *at)
{
    return area_at(at, ((const TextTable *)(const void *)at)->capacity);
}

/* With a place for what finds no room in it. */
static Area area_in(const KoineSlot *call)
{
    Area a = area_of((unsigned char *)(uintptr_t)call + call[KOINE_TEXT_PLACE].i);
    a.outside = koine_objects_texts_of(call);
    return a;
}

static TextTable *table_of(const Machine *m)
{
    return (TextTable *)(void *)(m->block + m->kind->offsets[AT_TEXTS]);
}

static bool has_texts(const Machine *m)
{
    return m->program->texts.slot != KOINE_NONE;
}

static uint64_t record_size(uint64_t n)
{
    return RECORD + (n + 1 + RECORD - 1) / RECORD * RECORD;
}

static uint32_t hash_of(const char *text, uint64_t n)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (uint64_t k = 0; k < n; k++)
        hash = (hash ^ (unsigned char)text[k]) * 16777619u;
    return hash;
}

/* ---- entries ---- */
static char *text_at(const Area *a, uint32_t entry)
{
    return (char *)a->bytes + (uint64_t)a->entries[entry].at * RECORD + RECORD;
}

static uint32_t find(const Area *a, const char *text, uint64_t n, uint32_t hash)
{
    uint32_t k = a->buckets[hash & (a->n_buckets - 1)];
    while (k && (a->entries[k].hash != hash || a->entries[k].size != n || memcmp(text_at(a, k), text, n) != 0))
        k = a->entries[k].next;
    return k;
}

static void enter(const Area *a, uint32_t entry)
{
    uint32_t *bucket = &a->buckets[a->entries[entry].hash & (a->n_buckets - 1)];
    a->entries[entry].next = *bucket;
    *bucket = entry;
}

static uint32_t take_entry(const Area *a)
{
    const uint32_t entry = a->head->n_free ? a->head->first_free : a->head->n_entries;
    if (a->head->n_free) {
        a->head->first_free = a->entries[entry].at;
        a->head->n_free--;
    } else
        a->head->n_entries++;
    return entry;
}

static int64_t fail(const Area *a, TextFailure failure, int64_t first, int64_t second, int64_t third)
{
    a->head->failure = failure;
    a->head->operands[0] = first;
    a->head->operands[1] = second;
    a->head->operands[2] = third;
    return KOINE_INTEGER_FAULT;
}

static bool has_room(const Area *a, uint64_t n)
{
    const TextTable *t = a->head;
    return (t->n_free > 0 || t->n_entries < a->n_entries) && t->used + record_size(n) <= a->n_bytes;
}

/* Room for a text of n bytes, which finish() makes a text; NULL: there is none. */
static char *room_for(const Area *a, uint64_t n)
{
    if (n > KOINE_TEXT_LONGEST) {
        fail(a, TEXT_TOO_LONG, (int64_t)n, 0, 0);
        return NULL;
    }
    if (has_room(a, n))
        return (char *)a->bytes + a->head->used + RECORD;
    char *room = a->outside ? koine_outside_room(a->outside, n) : NULL;
    if (!room)
        fail(a, TEXT_NO_MEMORY, 0, 0, 0);
    return room;
}

static int64_t finish_outside(const Area *a, uint64_t n, uint32_t hash)
{
    a->head->is_outside = 1;
    return KOINE_TEXT_TAG + a->n_entries + koine_outside_finish(*a->outside, n, hash);
}

/* Nothing equals it: what stands in the room behind the others is a text. */
static int64_t finish_inside(const Area *a, char *text, uint64_t n, uint32_t hash)
{
    const uint32_t entry = take_entry(a), record[] = { entry, (uint32_t)n };
    a->entries[entry] = (TextEntry){ (uint32_t)(a->head->used / RECORD), (uint32_t)n, hash, 0 };
    memcpy(text - RECORD, record, sizeof record);
    a->head->used += record_size(n);
    enter(a, entry);
    return KOINE_TEXT_TAG + entry;
}

/* The text of n bytes that stands in the room. */
static int64_t finish(const Area *a, uint64_t n)
{
    OutsideTexts *outside = a->outside ? *a->outside : NULL;
    char *text = outside && outside->room ? outside->room : (char *)a->bytes + a->head->used + RECORD;
    const bool is_outside = outside && text == outside->room;
    text[n] = 0;
    const uint32_t hash = hash_of(text, n), entry = n ? find(a, text, n, hash) : 0;
    if (entry || n == 0) {
        if (is_outside)
            koine_outside_drop(outside);
        return n ? KOINE_TEXT_TAG + entry : 0;
    }
    if (is_outside)
        return finish_outside(a, n, hash);
    const uint32_t known = a->head->is_outside && outside ? koine_outside_find(outside, text, n, hash) : 0;
    return known ? KOINE_TEXT_TAG + a->n_entries + known - 1 : finish_inside(a, text, n, hash);
}

static int64_t put(const Area *a, const char *text, uint64_t n)
{
    char *room = room_for(a, n);
    if (!room)
        return KOINE_INTEGER_FAULT;
    memcpy(room, text, n);
    return finish(a, n);
}

static const char *get(const Area *a, int64_t number, uint32_t *n)
{
    const uint64_t entry = (uint64_t)number - (uint64_t)KOINE_TEXT_TAG;
    *n = 0;
    if (entry >= a->n_entries && a->outside && *a->outside && entry - a->n_entries < (*a->outside)->n) {
        const OutsideText *text = &(*a->outside)->at[entry - a->n_entries];
        *n = text->size;
        return text->text;
    }
    if (entry == 0 || entry >= a->head->n_entries || a->entries[entry].size == NO_ENTRY)
        return "";
    *n = a->entries[entry].size;
    return text_at(a, (uint32_t)entry);
}

/* ---- operations ---- */
static bool is_inside(unsigned char c) /* of a character of UTF-8 */
{
    return (c & 0xc0) == 0x80;
}

static int64_t count_characters(const char *text, uint64_t n)
{
    int64_t count = 0;
    for (uint64_t k = 0; k < n; k++)
        count += !is_inside((unsigned char)text[k]);
    return count;
}

/* Where the character with this number, from 0, begins; n if there are not so many. */
static uint64_t place_of(const char *text, uint64_t n, int64_t number)
{
    uint64_t at = 0;
    while (at < n && is_inside((unsigned char)text[at]))
        at++;
    for (; number > 0 && at < n; number--)
        for (at++; at < n && is_inside((unsigned char)text[at]);)
            at++;
    return at;
}

static int64_t concat(const Area *a, int64_t left, int64_t right)
{
    uint32_t n_left, n_right;
    const char *first = get(a, left, &n_left), *second = get(a, right, &n_right);
    if (n_left == 0 || n_right == 0)
        return n_left ? left : right;
    char *room = room_for(a, (uint64_t)n_left + n_right);
    if (!room)
        return KOINE_INTEGER_FAULT;
    memcpy(room, first, n_left);
    memcpy(room + n_left, second, n_right);
    return finish(a, (uint64_t)n_left + n_right);
}

static int64_t compare(const Area *a, int64_t left, int64_t right)
{
    uint32_t n_left, n_right;
    const char *first = get(a, left, &n_left), *second = get(a, right, &n_right);
    const int order = memcmp(first, second, n_left < n_right ? n_left : n_right);
    return order ? (order > 0) - (order < 0) : (n_left > n_right) - (n_left < n_right);
}

static int64_t substring(const Area *a, int64_t text, int64_t first, int64_t last)
{
    uint32_t n;
    const char *from = get(a, text, &n);
    const int64_t length = count_characters(from, n);
    if (first < 1 || last > length || last < first - 1)
        return fail(a, TEXT_OUTSIDE, first, last, length);
    const uint64_t begin = place_of(from, n, first - 1), end = place_of(from, n, last);
    char *room = room_for(a, end - begin);
    if (!room)
        return KOINE_INTEGER_FAULT;
    memcpy(room, from + begin, end - begin);
    return finish(a, end - begin);
}

/* ---- formats ---- */
/* Whatever the decimal point of the process is, that of a text is a point. */
static uint64_t with_point(char *text, uint64_t n)
{
    uint64_t to = 0;
    for (uint64_t k = 0; k < n; k++) {
        const unsigned char c = (unsigned char)text[k];
        const bool is_usual = isalnum(c) || c == '+' || c == '-' || c == ' ' || c == '.';
        if (is_usual)
            text[to++] = text[k];
        else if (to == 0 || text[to - 1] != '.')
            text[to++] = '.';
    }
    return to;
}

typedef struct {
    bool is_real;
    KoineSlot value;
} TextNumber;

static int print_number(char *to, size_t size, const KoineTextFormat *f, TextNumber number)
{
    char form[32];
    const bool by_real = strchr("fFeEgG", f->letter) != NULL;
    const char *length = by_real || f->letter == 'c' ? "" : "ll";
    if (f->precision < 0)
        snprintf(form, sizeof form, "%%%s%d%s%c", f->flags, (int)f->width, length, f->letter);
    else
        snprintf(form, sizeof form, "%%%s%d.%d%s%c", f->flags, (int)f->width, (int)f->precision, length, f->letter);
    if (f->width == 0) { /* a 0 would be a flag */
        char *zero = form + 1 + strlen(f->flags);
        memmove(zero, zero + 1, strlen(zero));
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (by_real)
        return snprintf(to, size, form, number.is_real ? number.value.r : (double)number.value.i);
    return f->letter == 'c' ? snprintf(to, size, form, (int)number.value.i)
                            : snprintf(to, size, form, (long long)number.value.i);
#pragma GCC diagnostic pop
}

static int64_t format_number(const Area *a, TextNumber number, const char *format, uint32_t n_format)
{
    KoineTextFormat f;
    char few[64];
    if (!koine_read_format(format, n_format, number.is_real ? KOINE_FORMAT_REALS : KOINE_FORMAT_INTEGERS, &f))
        return fail(a, TEXT_NO_FORMAT, 0, 0, 0);
    if (f.letter == 'c' && (number.value.i < 1 || number.value.i > 127))
        return fail(a, TEXT_NO_FORMAT, 0, 0, 0);
    if (f.width > KOINE_TEXT_LONGEST || f.precision > KOINE_TEXT_LONGEST)
        return fail(a, TEXT_TOO_LONG, f.width > f.precision ? f.width : f.precision, 0, 0);
    const int n = print_number(few, sizeof few, &f, number);
    char *room = n < 0 ? NULL : room_for(a, (uint64_t)n);
    if (!room)
        return KOINE_INTEGER_FAULT;
    print_number(room, (size_t)n + 1, &f, number);
    return finish(a, strchr("fFeEgG", f.letter) ? with_point(room, (uint64_t)n) : (uint64_t)n);
}

static int64_t format_text(const Area *a, int64_t text, const char *format, uint32_t n_format)
{
    KoineTextFormat f;
    uint32_t n;
    const char *from = get(a, text, &n);
    if (!koine_read_format(format, n_format, KOINE_FORMAT_TEXTS, &f))
        return fail(a, TEXT_NO_FORMAT, 0, 0, 0);
    if (f.width > KOINE_TEXT_LONGEST)
        return fail(a, TEXT_TOO_LONG, f.width, 0, 0);
    const uint64_t used = f.precision < 0 ? n : place_of(from, n, f.precision);
    const int64_t length = count_characters(from, used);
    const bool is_left = strchr(f.flags, '-') != NULL;
    const uint64_t n_blanks = f.width > length ? (uint64_t)(f.width - length) : 0;
    char *room = room_for(a, used + n_blanks);
    if (!room)
        return KOINE_INTEGER_FAULT;
    memcpy(room + (is_left ? 0 : n_blanks), from, used);
    memset(room + (is_left ? used : 0), ' ', n_blanks);
    return finish(a, used + n_blanks);
}

int64_t koine_text_apply(KoineSlot *call, uint32_t op, const KoineSlot *args)
{
    const Area a = area_in(call);
    const bool is_real = op == KOINE_TEXT_FORMAT_REAL;
    const uint32_t n_args = op == KOINE_TEXT_LENGTH ? 1 : op == KOINE_TEXT_SUBSTRING ? 3 : 2;
    uint32_t n;
    for (uint32_t k = is_real; k < n_args; k++)
        if (args[k].i == KOINE_INTEGER_FAULT)
            return KOINE_INTEGER_FAULT;
    const char *second = n_args == 2 ? get(&a, args[1].i, &n) : get(&a, args[0].i, &n);
    switch ((KoineTextOp)op) {
    case KOINE_TEXT_CONCAT: return concat(&a, args[0].i, args[1].i);
    case KOINE_TEXT_COMPARE: return compare(&a, args[0].i, args[1].i);
    case KOINE_TEXT_LENGTH: return count_characters(second, n);
    case KOINE_TEXT_SUBSTRING: return substring(&a, args[0].i, args[1].i, args[2].i);
    case KOINE_TEXT_FORMAT_REAL:
    case KOINE_TEXT_FORMAT_INTEGER: return format_number(&a, (TextNumber){ is_real, args[0] }, second, n);
    case KOINE_TEXT_FORMAT_TEXT: return format_text(&a, args[0].i, second, n);
    }
    return KOINE_INTEGER_FAULT;
}

int64_t koine_texts_make(KoineSlot *call, const char *text, size_t n)
{
    const Area a = area_in(call);
    return put(&a, text, n);
}

const char *koine_text_at(const KoineSlot *call, int64_t number, uint32_t *n)
{
    const Area a = area_in(call);
    return get(&a, number, n);
}

/* ---- the area ---- */
uint64_t koine_texts_size(const KoineProgram *p)
{
    uint64_t bytes = 0, size = FEWEST_BYTES;
    if (p->texts.slot == KOINE_NONE)
        return 0;
    for (uint32_t k = 0; k < p->texts.n; k++)
        bytes += record_size(strlen(p->texts.at[k]));
    while (size / 2 < bytes || size / ENTRY_BYTES / 2 < p->texts.n + 1)
        size *= 2;
    return size;
}

uint64_t koine_texts_growth(const Machine *m)
{
    return has_texts(m) ? table_of(m)->capacity - koine_texts_size(m->program) : 0;
}

void koine_texts_begin(Machine *m)
{
    const KoineProgram *p = m->program;
    if (!has_texts(m))
        return;
    TextTable *t = table_of(m);
    *t = (TextTable){ .capacity = koine_texts_size(p), .n_entries = 1 };
    const Area a = area_of((unsigned char *)t);
    memset(a.entries, 0, (size_t)(a.bytes - (unsigned char *)a.entries));
    for (uint32_t k = 0; k < p->texts.n; k++)
        put(&a, p->texts.at[k], strlen(p->texts.at[k]));
    t->n_fixed = t->n_entries;
    m->slots[p->texts.slot].i =
        (int64_t)(m->kind->offsets[AT_TEXTS] - (p->texts.slot - KOINE_TEXT_PLACE) * sizeof(KoineSlot));
}

/* A word that is the number of a text keeps the text. */
static void mark(uint32_t n, uint8_t *is_held, const unsigned char *from, const unsigned char *end)
{
    for (; from + sizeof(uint64_t) <= end; from += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, from, sizeof word);
        word -= (uint64_t)KOINE_TEXT_TAG;
        if (word < n)
            is_held[word] = 1;
    }
}

/* Texts that stay move together. */
static void compact(const Area *a, const uint8_t *is_held)
{
    uint64_t to = 0;
    for (uint64_t from = 0; from < a->head->used;) {
        uint32_t record[2];
        memcpy(record, a->bytes + from, sizeof record);
        const uint64_t size = record_size(record[1]);
        if (is_held[record[0]]) {
            memmove(a->bytes + to, a->bytes + from, size);
            a->entries[record[0]].at = (uint32_t)(to / RECORD);
            to += size;
        } else
            a->entries[record[0]].size = NO_ENTRY;
        from += size;
    }
    a->head->used = to;
}

static void rebuild(const Area *a)
{
    TextTable *t = a->head;
    t->n_free = 0;
    memset(a->buckets, 0, a->n_buckets * sizeof *a->buckets);
    for (uint32_t k = t->n_entries; k-- > 1;)
        if (a->entries[k].size == NO_ENTRY) { /* the lowest is taken first */
            a->entries[k].at = t->first_free;
            t->first_free = k;
            t->n_free++;
        } else
            enter(a, k);
}

static OutsideTexts *outside_of(const Machine *m)
{
    OutsideTexts **texts = koine_objects_texts(m->spaces.store);
    return texts ? *texts : NULL;
}

/* Which texts are held, those outside of the block behind the entries of the area; NULL: no memory. */
static uint8_t *find_held(const Machine *m)
{
    const TextTable *t = table_of(m);
    const Area a = area_of((unsigned char *)table_of(m));
    const OutsideTexts *o = outside_of(m);
    const uint32_t n = a.n_entries + (o ? o->n : 0);
    uint8_t *is_held = calloc(n + (size_t)1, 1);
    if (!is_held)
        return NULL;
    memset(is_held, 1, t->n_fixed);
    mark(n, is_held, m->block, (const unsigned char *)t);
    mark(n, is_held, (const unsigned char *)t + t->capacity, m->block + m->model->size);
    return is_held;
}

/* Gives up what nobody holds. */
static void collect(const Machine *m, const uint8_t *is_held)
{
    const Area a = area_of((unsigned char *)table_of(m));
    compact(&a, is_held);
    rebuild(&a);
}

/* The block with a larger area; what lies behind the area moves on. */
static bool enlarge(Machine *m, uint64_t capacity)
{
    KoineModel *model = m->model;
    const uint64_t at = m->kind->offsets[AT_TEXTS], before = table_of(m)->capacity;
    const uint64_t size = (model->size + capacity - before + KOINE_ALIGNMENT - 1) / KOINE_ALIGNMENT * KOINE_ALIGNMENT;
    unsigned char *block = capacity > MOST_BYTES ? NULL : aligned_alloc(KOINE_ALIGNMENT, size);
    if (!block)
        return false;
    memset(block, 0, size);
    memcpy(block, model->block, at + sizeof(TextTable));
    const Area from = area_of(model->block + at), to = area_at(block + at, capacity);
    to.head->capacity = capacity;
    memcpy(to.entries, from.entries, from.head->n_entries * sizeof *to.entries);
    memcpy(to.bytes, from.bytes, from.head->used);
    memcpy(block + at + capacity, model->block + at + before, model->size - at - before);
    rebuild(&to);
    free(model->block);
    model->block = block;
    model->size = size;
    koine_machine_moved(model);
    return true;
}

static bool is_roomy(const TextTable *t, const Area *a, uint64_t part, uint64_t wanted)
{
    return a->n_bytes - t->used >= a->n_bytes / part + wanted &&
           t->n_free + (a->n_entries - t->n_entries) >= a->n_entries / part;
}

/* Behind it a quarter is free at least, beside what is wanted. */
static bool make_room(Machine *m, uint64_t wanted, uint32_t n_wanted)
{
    for (;;) {
        const TextTable *t = table_of(m);
        const Area a = area_of((unsigned char *)table_of(m));
        if (is_roomy(t, &a, 4, wanted) && a.n_entries - a.n_entries / 4 > n_wanted)
            return true;
        if (!enlarge(m, 2 * t->capacity))
            return false;
    }
}

static KoineStatus no_memory(Machine *m)
{
    return koine_because(m, KOINE_CAUSE_MEMORY,
                         koine_fault(m, KOINE_FAILED, KOINE_NONE, "no memory for the texts of the model"));
}

/* The texts that are held come in, each with the number that it has. first: that of the first one. */
static void bring_in(const Machine *m, const OutsideTexts *o, uint32_t first, const uint8_t *is_held)
{
    const Area a = area_of((unsigned char *)table_of(m));
    TextTable *t = a.head;
    for (uint32_t k = t->n_entries; k < first + o->n; k++)
        a.entries[k].size = NO_ENTRY;
    t->n_entries = first + o->n > t->n_entries ? first + o->n : t->n_entries;
    for (uint32_t k = 0; k < o->n; k++) {
        if (!is_held[k])
            continue;
        const uint32_t record[] = { first + k, o->at[k].size };
        unsigned char *to = a.bytes + t->used;
        memcpy(to, record, sizeof record);
        memcpy(to + RECORD, o->at[k].text, o->at[k].size + (size_t)1);
        a.entries[first + k] = (TextEntry){ (uint32_t)(t->used / RECORD), o->at[k].size, o->at[k].hash, 0 };
        t->used += record_size(o->at[k].size);
    }
    rebuild(&a);
}

KoineStatus koine_texts_settle(Machine *m, KoineStatus status)
{
    OutsideTexts *o = has_texts(m) ? outside_of(m) : NULL;
    if (!o || o->n == 0)
        return status;
    const Area before = area_of((unsigned char *)table_of(m));
    const uint32_t first = before.n_entries;
    uint8_t *is_held = find_held(m);
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < o->n && is_held; k++)
        bytes += is_held[first + k] ? record_size(o->at[k].size) : 0;
    if (is_held)
        collect(m, is_held);
    const bool is_good = is_held && (bytes == 0 || make_room(m, bytes, first + o->n));
    if (is_good && bytes)
        bring_in(m, o, first, is_held + first);
    table_of(m)->is_outside = 0;
    koine_outside_clear(o);
    free(is_held);
    return is_good ? status : no_memory(m);
}

KoineStatus koine_texts_tidy(Machine *m)
{
    const KoineStatus status = koine_texts_settle(m, KOINE_OK);
    const Area a = area_of((unsigned char *)table_of(m));
    if (status != KOINE_OK || is_roomy(a.head, &a, 4, 0))
        return status;
    uint8_t *is_held = find_held(m);
    if (is_held)
        collect(m, is_held);
    const bool is_good = is_held && make_room(m, a.n_bytes / 4, 0);
    free(is_held);
    return is_good ? KOINE_OK : no_memory(m);
}

void koine_texts_sweep(Machine *m)
{
    static const uint64_t MUCH = UINT64_C(1) << 20;
    enum { MANY = 10000 };
    OutsideTexts *o = has_texts(m) ? outside_of(m) : NULL;
    if (!o || (o->bytes < MUCH && o->n < MANY))
        return;
    const Area a = area_of((unsigned char *)table_of(m));
    uint8_t *is_held = find_held(m);
    bool any = !is_held;
    for (uint32_t k = 0; k < o->n && !any; k++)
        any = is_held[a.n_entries + k];
    if (!any) {
        table_of(m)->is_outside = 0;
        koine_outside_clear(o);
    }
    free(is_held);
}

bool koine_texts_failure(Machine *m, char *to, size_t size)
{
    TextTable *t = has_texts(m) ? table_of(m) : NULL;
    const long long a = t ? t->operands[0] : 0, b = t ? t->operands[1] : 0, n = t ? t->operands[2] : 0;
    const TextFailure failure = t ? (TextFailure)t->failure : TEXT_GOOD;
    if (failure == TEXT_GOOD)
        return false;
    if (failure == TEXT_TOO_LONG)
        snprintf(to, size, "a text of %lld bytes is longer than %d, the most that there may be", a, KOINE_TEXT_LONGEST);
    else if (failure == TEXT_OUTSIDE)
        snprintf(to, size, "characters %lld to %lld of a text that has %lld", a, b, n);
    else if (failure == TEXT_NO_MEMORY)
        snprintf(to, size, "no memory for the texts of the model");
    else
        snprintf(to, size,
                 "a format that does not suit what it is for: flags, width, precision and one letter, as 6.3f");
    t->failure = TEXT_GOOD;
    return true;
}

/* ---- from outside ---- */
const char *koine_texts_get(const Machine *m, int64_t number, uint32_t *n)
{
    *n = 0;
    if (!has_texts(m))
        return "";
    const Area a = area_of((unsigned char *)table_of(m));
    return get(&a, number, n);
}

const char *koine_machine_text(KoineModel *model, KoineSlot value, size_t *n)
{
    uint32_t size;
    const char *text = koine_texts_get(koine_machine_of(model), value.i, &size);
    *n = size;
    return text;
}

KoineStatus koine_machine_put_text(KoineModel *model, const char *text, size_t n, KoineSlot *value)
{
    Machine *m = koine_machine_of(model);
    if (!has_texts(m))
        return KOINE_ABSENT;
    if (n > KOINE_TEXT_LONGEST || koine_texts_settle(m, KOINE_OK) != KOINE_OK)
        return KOINE_FAILED;
    if (!make_room(m, record_size(n), 0))
        return KOINE_FAILED;
    const Area a = area_of((unsigned char *)table_of(m));
    value->i = put(&a, text, n);
    return value->i == KOINE_INTEGER_FAULT ? KOINE_FAILED : KOINE_OK;
}
