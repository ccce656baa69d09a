/* Sources; see source.h. Beside the begin of each line a source keeps the number of characters before every
 * STRIDE-th byte, so that a column costs the same in a line of ten bytes and in one of ten million. */
#include "base/source.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/vec.h"
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

enum { STRIDE = 256, FIRST_READ = 1 << 16 };

typedef struct {
    Source source;
    uint32_t *characters; /* before byte k * STRIDE; built together with source.lines */
} Entry;

struct Sources {
    Arena *arena;
    VEC(Entry *) entries; /* pointers: a Source does not move */
    Map by_path;          /* hash of the path, or the next free number after it */
};

bool source_is_same(const char *path, const char *other)
{
    struct stat first, second;
    return stat(path, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

Sources *sources_create(Arena *arena)
{
    Sources *sources = NEW(arena, Sources);
    sources->arena = arena;
    map_init(&sources->by_path, arena, 16);
    return sources;
}

/* The number under which the path stands in by_path or would stand. */
static uint64_t find_path(const Sources *sources, const char *path, uint32_t *id)
{
    uint64_t key = hash_bytes(path, strlen(path), 0);
    *id = SOURCE_NONE;
    for (uint32_t found; map_get(&sources->by_path, key, &found); key++)
        if (strcmp(sources->entries.at[found]->source.path, path) == 0) {
            *id = found;
            break;
        }
    return key;
}

static char *latin1_to_utf8(Arena *arena, const char *text, size_t size, size_t *converted)
{
    size_t longer = size;
    for (size_t k = 0; k < size; k++)
        longer += (unsigned char)text[k] >= 0x80;
    char *copy = arena_alloc(arena, longer + 1, 1);
    char *to = copy;
    for (size_t k = 0; k < size; k++)
        to += utf8_encode((unsigned char)text[k], to);
    *converted = longer;
    return copy;
}

/* `text` lives as long as the sources and is terminated. */
static uint32_t add(Sources *sources, const char *path, const char *text, size_t size)
{
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
    }
    const bool is_latin1 = !utf8_is_valid(text, size);
    if (is_latin1)
        text = latin1_to_utf8(sources->arena, text, size, &size);
    Entry *entry = NEW(sources->arena, Entry);
    entry->source = (Source){ .path = arena_text(sources->arena, path, strlen(path)),
                              .text = text,
                              .size = (uint32_t)size,
                              .was_latin1 = is_latin1 };
    uint32_t earlier;
    const uint64_t key = find_path(sources, path, &earlier);
    map_put(&sources->by_path, key, sources->entries.n);
    vec_push(sources->arena, &sources->entries, entry);
    return sources->entries.n - 1;
}

uint32_t sources_add_text(Sources *sources, const char *path, const char *text, size_t size)
{
    REQUIRE(size <= SOURCE_LARGEST);
    return add(sources, path, arena_text(sources->arena, text, size), size);
}

/* Whole content, terminated. A pipe has no size: then the buffer doubles. */
static SourceStatus read_all(Arena *arena, FILE *file, size_t expected, char **text, size_t *size)
{
    size_t capacity = expected ? expected + 1 : FIRST_READ; /* one more: to see the end */
    *text = arena_alloc(arena, capacity + 1, 1);
    *size = 0;
    for (;;) {
        const size_t got = fread(*text + *size, 1, capacity - *size, file);
        *size += got;
        if (*size > SOURCE_LARGEST)
            return SOURCE_TOO_LARGE;
        if (*size < capacity)
            return ferror(file) ? SOURCE_UNREADABLE : SOURCE_OK;
        *text = arena_grow(arena, *text, capacity + 1, capacity * 2 + 1, 1);
        capacity *= 2;
    }
}

static bool is_absent(int error)
{
    return error == ENOENT || error == ENOTDIR;
}

bool source_is_file(const char *path, unsigned mode)
{
    static const char *const handed[] = { "/dev/stdin", "/dev/fd/", "/proc/self/fd/" };
    for (size_t k = 0; k < sizeof handed / sizeof *handed; k++)
        if (strncmp(path, handed[k], strlen(handed[k])) == 0)
            return !S_ISDIR(mode);
    return S_ISREG(mode);
}

SourceStatus sources_open(Sources *sources, const char *path, uint32_t *id)
{
    find_path(sources, path, id);
    if (*id != SOURCE_NONE)
        return SOURCE_OK;
    struct stat about;
    if (stat(path, &about) != 0)
        return is_absent(errno) ? SOURCE_MISSING : SOURCE_UNREADABLE;
    if (!source_is_file(path, about.st_mode))
        return SOURCE_NO_FILE;
    const size_t expected = S_ISREG(about.st_mode) ? (size_t)about.st_size : 0;
    if (expected > SOURCE_LARGEST)
        return SOURCE_TOO_LARGE;
    FILE *file = fopen(path, "rb");
    if (!file)
        return is_absent(errno) ? SOURCE_MISSING : SOURCE_UNREADABLE;

    const ArenaMark mark = arena_mark(sources->arena);
    char *text;
    size_t size;
    const SourceStatus status = read_all(sources->arena, file, expected, &text, &size);
    fclose(file);
    if (status == SOURCE_OK)
        *id = add(sources, path, text, size);
    else
        arena_reset(sources->arena, mark);
    return status;
}

uint32_t sources_count(const Sources *sources)
{
    return sources->entries.n;
}

static Entry *entry_of(const Sources *sources, uint32_t id)
{
    REQUIRE(id < sources->entries.n);
    return sources->entries.at[id];
}

const Source *sources_get(const Sources *sources, uint32_t id)
{
    return &entry_of(sources, id)->source;
}

const char *source_hash(const Source *source, Arena *arena)
{
    return arena_format(arena, "%016llx", (unsigned long long)hash_bytes(source->text, source->size, 0));
}

void sources_set_language(Sources *sources, uint32_t id, const char *language)
{
    entry_of(sources, id)->source.language = language;
}

/* Whether a line ends with the byte at `at`; CR before LF does not end it yet. */
static bool ends_line(const char *text, uint32_t at)
{
    return text[at] == '\n' || (text[at] == '\r' && text[at + 1] != '\n');
}

/* A text of ASCII with line feeds, as nearly all are: bytes are characters, and the library finds the lines. */
static void index_plain_lines(const Sources *sources, Entry *entry)
{
    Source *source = &entry->source;
    const char *end = source->text + source->size;
    uint32_t n = 1, line = 1;
    for (const char *at = source->text; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        n++;
    source->lines = NEW_ARRAY(sources->arena, uint32_t, n);
    for (const char *at = source->text; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        source->lines[line++] = (uint32_t)(at + 1 - source->text);
    entry->characters = NEW_ARRAY(sources->arena, uint32_t, source->size / STRIDE + 1);
    for (uint32_t k = 0; k <= source->size / STRIDE; k++)
        entry->characters[k] = k * STRIDE;
    source->n_lines = n;
}

static void index_lines(const Sources *sources, Entry *entry)
{
    Source *source = &entry->source;
    uint32_t n = 1;
    if (source->size > 0 && utf8_ascii(source->text, source->size) == source->size &&
        !memchr(source->text, '\r', source->size)) {
        index_plain_lines(sources, entry);
        return;
    }
    for (uint32_t at = 0; at < source->size; at++)
        n += ends_line(source->text, at);
    source->lines = NEW_ARRAY(sources->arena, uint32_t, n);
    entry->characters = NEW_ARRAY(sources->arena, uint32_t, source->size / STRIDE + 1);
    uint32_t line = 1, characters = 0;
    for (uint32_t at = 0; at < source->size; at++) {
        if (at % STRIDE == 0)
            entry->characters[at / STRIDE] = characters;
        characters += !utf8_is_inside(source->text[at]);
        if (ends_line(source->text, at))
            source->lines[line++] = at + 1;
    }
    if (source->size % STRIDE == 0)
        entry->characters[source->size / STRIDE] = characters;
    source->n_lines = n;
}

static Entry *indexed_entry(const Sources *sources, uint32_t id)
{
    Entry *entry = entry_of(sources, id);
    if (!entry->source.lines)
        index_lines(sources, entry);
    return entry;
}

static uint32_t characters_between(const Entry *entry, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (uint32_t at = from; at < to; at++)
        n += !utf8_is_inside(entry->source.text[at]);
    return n;
}

static uint32_t characters_before(const Entry *entry, uint32_t offset)
{
    return entry->characters[offset / STRIDE] + characters_between(entry, offset / STRIDE * STRIDE, offset);
}

/* Index of the last item not greater than `value`; the first item is not greater. */
static uint32_t last_not_greater(const uint32_t *items, uint32_t n, uint32_t value)
{
    uint32_t low = 0, high = n;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (items[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static LineColumn place_of(const Sources *sources, uint32_t id, uint32_t offset)
{
    if (id == SOURCE_NONE)
        return (LineColumn){ 0, 0 };
    const Entry *entry = indexed_entry(sources, id);
    const Source *source = &entry->source;
    if (offset > source->size)
        offset = source->size;
    while (offset > 0 && utf8_is_inside(source->text[offset]))
        offset--;
    const uint32_t line = last_not_greater(source->lines, source->n_lines, offset);
    const uint32_t begin = source->lines[line];
    if (offset - begin < STRIDE) /* most lines: shorter than the way from the last count */
        return (LineColumn){ line + 1, characters_between(entry, begin, offset) + 1 };
    return (LineColumn){ line + 1, characters_before(entry, offset) - characters_before(entry, begin) + 1 };
}

LineColumn span_begin(const Sources *sources, Span span)
{
    return place_of(sources, span.source, span.begin);
}

LineColumn span_end(const Sources *sources, Span span)
{
    return place_of(sources, span.source, span.end);
}

/* End of the text of a line, before what terminates it. */
static uint32_t text_end(const Source *source, uint32_t line)
{
    if (line + 1 == source->n_lines)
        return source->size;
    const uint32_t after = source->lines[line + 1];
    const bool is_crlf =
        after - source->lines[line] >= 2 && source->text[after - 1] == '\n' && source->text[after - 2] == '\r';
    return after - (is_crlf ? 2 : 1);
}

uint32_t source_offset(const Sources *sources, uint32_t id, uint32_t line, uint32_t column)
{
    const Entry *entry = indexed_entry(sources, id);
    const Source *source = &entry->source;
    if (line == 0)
        return 0;
    if (line > source->n_lines)
        return source->size;
    const uint32_t begin = source->lines[line - 1];
    const uint32_t after = line < source->n_lines ? source->lines[line] : source->size + 1; /* first not allowed */
    const uint64_t wanted = (uint64_t)characters_before(entry, begin) + (column ? column - 1 : 0);
    if (wanted > UINT32_MAX)
        return text_end(source, line - 1);
    const uint32_t block = last_not_greater(entry->characters, source->size / STRIDE + 1, (uint32_t)wanted);
    uint32_t at = block * STRIDE, n = entry->characters[block];
    while (at < after && (n < wanted || (at < source->size && utf8_is_inside(source->text[at])))) {
        n += !utf8_is_inside(source->text[at]);
        at++;
    }
    return at < after ? at : text_end(source, line - 1);
}
