/* Sources and places of the text form; see read_reader.h.
 *
 * A source whose text is not among the sources becomes a blank text that is just large enough for the places
 * that occur. So a place survives reading and printing without its file. */
#include "base/text.h"
#include "ir/read_reader.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { MOST_LINES = 10000, MOST_BYTES = 1 << 20 };
#else
enum { MOST_LINES = 20000000, MOST_BYTES = 1 << 29 }; /* of a blank source */
#endif
enum { MOST_SOURCES = 100000 };

typedef struct {
    VEC(uint32_t) widths; /* of each line: largest column */
    uint64_t bytes;
} Blank;

/* source 0 "Ball.mdl" simplex: behind the keyword. */
bool reader_parse_source(Reader *r)
{
    int64_t number;
    NameId path, language = { 0 };
    const Span span = reader_token_span(r);
    uint32_t earlier;
    if (!reader_parse_integer(r, 0, MOST_SOURCES, &number))
        return false;
    if (number != r->head.files.ids.n) {
        reader_report(r, DIAG_IR_PLACE, span, "sources are numbered from 0 in their order");
        HELP(r, "write source %u", r->head.files.ids.n);
        return false;
    }
    if (!reader_parse_string(r, &path))
        return false;
    if (!reader_is_element_end(r) && !reader_parse_plain_or_string(r, &language))
        return false;
    if (map_get(&r->head.files.numbers, path.index, &earlier))
        return reader_report(r, DIAG_IR_DECLARED_TWICE, span, "this is the path of source %u already", earlier);
    map_put(&r->head.files.numbers, path.index, (uint32_t)number);
    vec_push(r->arena, &r->head.files.ids, SOURCE_NONE);
    vec_push(r->arena, &r->head.files.paths, path);
    vec_push(r->arena, &r->head.files.languages, language);
    return true;
}

static void widen(Reader *r, Blank *blank, const Place *place)
{
    if (place->line == 0 || place->line > MOST_LINES || place->column > MOST_BYTES)
        return;
    while (blank->widths.n < place->line && blank->bytes < MOST_BYTES) {
        vec_push(r->arena, &blank->widths, 0);
        blank->bytes++;
    }
    if (blank->widths.n < place->line)
        return;
    uint32_t *width = &blank->widths.at[place->line - 1];
    if (place->column <= *width || blank->bytes + place->column - *width > MOST_BYTES)
        return;
    blank->bytes += place->column - *width;
    *width = place->column;
}

static uint32_t add_blank(Reader *r, const Blank *blank, const char *path)
{
    char *text = arena_alloc(r->arena, blank->bytes + 1, 1);
    char *to = text;
    for (uint32_t k = 0; k < blank->widths.n; k++) {
        memset(to, ' ', blank->widths.at[k]);
        to += blank->widths.at[k];
        *to++ = '\n';
    }
    return sources_add_text(r->sources, path, text, (size_t)(to - text));
}

static bool has_place(const Sources *sources, uint32_t id, uint32_t line, uint32_t column)
{
    const Span span = { id, source_offset(sources, id, line, column), 0 };
    const LineColumn found = span_begin(sources, span);
    return found.line == line && found.column == column;
}

/* Whether the text has all the places; it has not when it is another version of it. */
static bool has_places(const Reader *r, uint32_t id, const Blank *blank)
{
    for (uint32_t k = 0; k < blank->widths.n; k++)
        if (blank->widths.at[k] && !has_place(r->sources, id, k + 1, blank->widths.at[k]))
            return false;
    return true;
}

/* Every @ in the text that could be a place: those in comments and texts do no harm. */
static void find_places(Reader *r, Blank *blanks)
{
    const char *text = r->lexer.text, *end = text + r->lexer.end;
    for (const char *at = text; (at = memchr(at, '@', (size_t)(end - at)));) {
        Place place;
        uint32_t behind;
        if (lexer_read_place(text, (uint32_t)(at - text), &behind, &place) && place.source < r->head.files.ids.n)
            widen(r, &blanks[place.source], &place);
        at = text + behind;
    }
}

/* The latest source with the path that has the places, or SOURCE_NONE. */
static uint32_t find_source(const Reader *r, const char *path, const Blank *blank)
{
    for (uint32_t id = sources_count(r->sources); id-- > 0;)
        if (strcmp(sources_get(r->sources, id)->path, path) == 0 && has_places(r, id, blank))
            return id;
    return SOURCE_NONE;
}

void reader_open_sources(Reader *r)
{
    const uint32_t n = r->head.files.ids.n;
    if (n == 0)
        return;
    Blank *blanks = NEW_ARRAY(r->arena, Blank, n);
    find_places(r, blanks);
    const uint32_t n_known = sources_count(r->sources);
    for (uint32_t k = 0; k < n; k++) {
        const char *path = names_of(r->names, r->head.files.paths.at[k]);
        uint32_t id = n_known > 1 ? find_source(r, path, &blanks[k]) : SOURCE_NONE;
        if (id == SOURCE_NONE)
            id = add_blank(r, &blanks[k], path);
        if (!name_is_empty(r->head.files.languages.at[k]))
            sources_set_language(r->sources, id, names_of(r->names, r->head.files.languages.at[k]));
        r->head.files.ids.at[k] = id;
    }
}

/* The offset of a place without counting characters: right where the line up to there is ASCII. */
static bool find_offset(const Source *source, const Place *place, uint32_t *offset)
{
    if (!source->lines || place->line == 0 || place->line > source->n_lines || place->column == 0)
        return false;
    const uint32_t begin = source->lines[place->line - 1];
    const uint32_t after = place->line < source->n_lines ? source->lines[place->line] : source->size + 1;
    if (place->column > after - begin)
        return false;
    *offset = begin + place->column - 1;
    for (uint32_t at = begin; at <= *offset; at++)
        if ((unsigned char)source->text[at] >= 0x80 || (at > begin && source->text[at - 1] == '\r'))
            return false;
    return true;
}

bool reader_place_span(Reader *r, const Token *token, Span *span)
{
    const Place *place = &token->u.place;
    const Span at = { r->source, token->begin, token->end };
    uint32_t offset;
    if (place->source >= r->head.files.ids.n) {
        reader_report(r, DIAG_IR_PLACE, at, "there is no source %u", place->source);
        HELP(r, "declare it at the head: source %u \"path\" language", r->head.files.ids.n);
        return false;
    }
    const uint32_t id = r->head.files.ids.at[place->source];
    const Source *source = sources_get(r->sources, id);
    if (!find_offset(source, place, &offset)) {
        if (!has_place(r->sources, id, place->line, place->column)) {
            reader_report(r, DIAG_IR_PLACE, at, "the source has no line %u with a column %u", place->line,
                          place->column);
            HELP(r, "lines and columns count from 1 and lie inside the text");
            return false;
        }
        offset = source_offset(r->sources, id, place->line, place->column);
    }
    *span = (Span){ id, offset, offset < source->size ? offset + 1 : source->size };
    return true;
}
