/* Diagnostics; see diag.h. */
#include "base/diag.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/vec.h"
#include <stdarg.h>
#include <stdlib.h>

enum {
    LIMIT_DEFAULT = 50,
    NOTES_MOST = 20, /* kept for one diagnostic */
    SET_MOST = 1000, /* equations, variables kept for one diagnostic */
    WINDOW = 100,    /* columns shown of a source line */
    TAB_COLUMNS = 8  /* at most; for the window only, the caret line repeats the tabs */
};

typedef struct {
    DiagLevel level;
    DiagCode code;
    Span span;
    const char *message; /* this and all other texts are valid UTF-8 */
    VEC(DiagPlace) notes;
    uint32_t notes_left_out;
    VEC(DiagPlace) equations, variables;
    const char *help; /* NULL: none; several are joined by a line feed */
    uint32_t order;   /* of reporting */
    bool is_printed;
} Item;

typedef struct {
    uint32_t errors, warnings;
} Counts;

struct Diag {
    Arena *arena;
    const Sources *sources;
    VEC(Item *) items;
    Map by_content;       /* hash of level, code, span and message; or the next free number after it */
    Item *last;           /* NULL: the last one was not kept, its notes are not kept either */
    bool has_last;        /* something was reported */
    uint32_t limit;       /* of errors, and of warnings */
    Counts reported;      /* without repetitions */
    Counts left_out;      /* beyond the limit */
    Counts left_out_said; /* by diag_print */
};

/* ---- Collecting ------------------------------------------------------------------------------------------------ */

Diag *diag_create(Arena *arena, const Sources *sources)
{
    Diag *diag = NEW(arena, Diag);
    diag->arena = arena;
    diag->sources = sources;
    diag->limit = LIMIT_DEFAULT;
    map_init(&diag->by_content, arena, LIMIT_DEFAULT);
    return diag;
}

void diag_set_limit(Diag *diag, uint32_t errors)
{
    diag->limit = errors;
}

/* A name cut in the middle or a path in another encoding must not spoil the output. */
static char *valid_utf8(Arena *arena, const char *text)
{
    const size_t size = strlen(text);
    if (utf8_is_valid(text, size))
        return arena_text(arena, text, size);
    Text copy = { .arena = arena };
    const char *end = text + size;
    uint32_t length;
    for (const char *at = text; at < end; at += length) {
        if (utf8_decode(at, end, &length) == UTF8_BAD)
            text_add(&copy, UTF8_REPLACEMENT);
        else
            text_bytes(&copy, at, length);
    }
    return copy.at;
}

static char *format_message(Arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    REQUIRE(length >= 0);
    char *text = arena_alloc(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, args);
    return utf8_is_valid(text, (size_t)length) ? text : valid_utf8(arena, text);
}

static bool span_equal(Span a, Span b)
{
    return a.source == b.source && a.begin == b.begin && a.end == b.end;
}

static bool item_equal(const Item *a, const Item *b)
{
    return a->level == b->level && a->code == b->code && span_equal(a->span, b->span) &&
           strcmp(a->message, b->message) == 0;
}

static bool is_repeated(const Diag *diag, const Item *item, uint64_t *key)
{
    *key = hash_bytes(item->message, strlen(item->message), hash_mix(item->level, item->code));
    *key = hash_mix(hash_mix(hash_mix(*key, item->span.source), item->span.begin), item->span.end);
    for (uint32_t found; map_get(&diag->by_content, *key, &found); ++*key)
        if (item_equal(diag->items.at[found], item))
            return true;
    return false;
}

static void report(Diag *diag, DiagLevel level, DiagCode code, Span span, const char *format, va_list args)
{
    const ArenaMark mark = arena_mark(diag->arena);
    const Item item = { .level = level,
                        .code = code,
                        .span = span,
                        .message = format_message(diag->arena, format, args),
                        .order = diag->items.n };
    diag->has_last = true;
    diag->last = NULL;
    uint64_t key;
    if (is_repeated(diag, &item, &key)) {
        arena_reset(diag->arena, mark);
        return;
    }
    const bool is_error = level == DIAG_ERROR;
    uint32_t *reported = is_error ? &diag->reported.errors : &diag->reported.warnings;
    uint32_t *left_out = is_error ? &diag->left_out.errors : &diag->left_out.warnings;
    if ((*reported)++ - *left_out >= diag->limit) {
        ++*left_out;
        arena_reset(diag->arena, mark);
        return;
    }
    diag->last = NEW(diag->arena, Item);
    *diag->last = item;
    map_put(&diag->by_content, key, diag->items.n);
    vec_push(diag->arena, &diag->items, diag->last);
}

void diag_error(Diag *diag, DiagCode code, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(diag, DIAG_ERROR, code, span, format, args);
    va_end(args);
}

void diag_warning(Diag *diag, DiagCode code, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(diag, DIAG_WARNING, code, span, format, args);
    va_end(args);
}

void diag_note(Diag *diag, Span span, const char *format, ...)
{
    REQUIRE(diag->has_last);
    Item *item = diag->last;
    if (!item)
        return;
    if (item->notes.n == NOTES_MOST) {
        item->notes_left_out++;
        return;
    }
    va_list args;
    va_start(args, format);
    const DiagPlace note = { span, format_message(diag->arena, format, args) };
    va_end(args);
    vec_push(diag->arena, &item->notes, note);
}

void diag_equation(Diag *diag, Span span, const char *text)
{
    REQUIRE(diag->has_last);
    if (!diag->last || diag->last->equations.n >= SET_MOST)
        return;
    const DiagPlace place = { span, valid_utf8(diag->arena, text) };
    vec_push(diag->arena, &diag->last->equations, place);
}

void diag_variable(Diag *diag, Span span, const char *name)
{
    REQUIRE(diag->has_last);
    if (!diag->last || diag->last->variables.n >= SET_MOST)
        return;
    const DiagPlace place = { span, valid_utf8(diag->arena, name) };
    vec_push(diag->arena, &diag->last->variables, place);
}

void diag_help(Diag *diag, const char *format, ...)
{
    REQUIRE(diag->has_last);
    Item *item = diag->last;
    if (!item)
        return;
    va_list args;
    va_start(args, format);
    const char *help = format_message(diag->arena, format, args);
    va_end(args);
    item->help = item->help ? arena_format(diag->arena, "%s\n%s", item->help, help) : help;
}

uint32_t diag_errors(const Diag *diag)
{
    return diag->reported.errors;
}

uint32_t diag_warnings(const Diag *diag)
{
    return diag->reported.warnings;
}

bool diag_item(const Diag *diag, uint32_t k, DiagItem *item)
{
    if (k >= diag->items.n)
        return false;
    const Item *kept = diag->items.at[k];
    *item =
        (DiagItem){ kept->level, kept->code, { kept->span, kept->message }, kept->notes.n, kept->notes.at, kept->help };
    return true;
}

/* ---- Order ----------------------------------------------------------------------------------------------------- */

static int compare_numbers(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_items(const void *left, const void *right)
{
    const Item *a = *(Item *const *)left, *b = *(Item *const *)right;
    int order = compare_numbers(a->span.source, b->span.source); /* SOURCE_NONE comes last */
    if (order == 0)
        order = compare_numbers(a->span.begin, b->span.begin);
    if (order == 0)
        order = compare_numbers(a->span.end, b->span.end);
    if (order == 0)
        order = compare_numbers(a->code, b->code);
    return order ? order : compare_numbers(a->order, b->order);
}

typedef struct {
    Item **at;
    uint32_t n;
} Sorted;

static Sorted sort_items(const Diag *diag, Arena *arena, bool with_printed)
{
    Sorted sorted = { NEW_ARRAY(arena, Item *, diag->items.n), 0 };
    for (uint32_t k = 0; k < diag->items.n; k++)
        if (with_printed || !diag->items.at[k]->is_printed)
            sorted.at[sorted.n++] = diag->items.at[k];
    if (sorted.n > 1)
        qsort(sorted.at, sorted.n, sizeof *sorted.at, compare_items);
    return sorted;
}

/* ---- Text ------------------------------------------------------------------------------------------------------ */

typedef struct {
    const Sources *sources;
    Text *text;
    bool colour;
} Printer;

#define COLOUR_BOLD    "\x1b[1m"
#define COLOUR_RED     "\x1b[1;31m"
#define COLOUR_MAGENTA "\x1b[1;35m"
#define COLOUR_CYAN    "\x1b[1;36m"
#define COLOUR_GREEN   "\x1b[1;32m"
#define COLOUR_END     "\x1b[0m"

static void begin_colour(Printer *p, const char *colour)
{
    if (p->colour)
        text_add(p->text, colour);
}

static void end_colour(Printer *p)
{
    begin_colour(p, COLOUR_END);
}

/* Control characters and changes of the writing direction would act on the terminal instead of being seen. */
static bool is_unsafe(uint32_t c)
{
    return (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == UTF8_BAD;
}

static void add_printable(Text *text, const char *at, const char *end)
{
    uint32_t size;
    for (; at < end; at += size) {
        if (is_unsafe(utf8_decode(at, end, &size)))
            text_add(text, UTF8_REPLACEMENT);
        else
            text_bytes(text, at, size);
    }
}

/* Lines after the first are indented. */
static void add_message(Printer *p, const char *message, const char *indent)
{
    for (;;) {
        const char *end = message + strcspn(message, "\n");
        add_printable(p->text, message, end);
        text_char(p->text, '\n');
        if (!*end)
            return;
        text_add(p->text, indent);
        message = end + 1;
    }
}

static void add_place(Printer *p, Span span)
{
    if (span.source == SOURCE_NONE)
        return;
    const LineColumn at = span_begin(p->sources, span);
    const char *path = sources_get(p->sources, span.source)->path;
    begin_colour(p, COLOUR_BOLD);
    add_printable(p->text, path, path + strlen(path));
    text_format(p->text, ":%u:%u:", at.line, at.column);
    end_colour(p);
    text_char(p->text, ' ');
}

static uint32_t columns_of(const char *at, const char *end, uint32_t *size)
{
    const uint32_t c = utf8_decode(at, end, size);
    return c == '\t' ? TAB_COLUMNS : is_unsafe(c) ? 1 : utf8_width(c);
}

/* Steps back from `from`, at most `columns` and not before `begin`; the columns passed in *passed. */
static const char *step_back(const char *begin, const char *from, uint32_t columns, uint32_t *passed)
{
    uint32_t characters = 0;
    *passed = 0;
    while (from > begin && characters++ < 4 * WINDOW) { /* combining marks take no column */
        const char *before = from - 1;
        while (before > begin && utf8_is_inside(*before))
            before--;
        uint32_t size;
        const uint32_t width = columns_of(before, from, &size);
        if (*passed + width > columns)
            break;
        *passed += width;
        from = before;
    }
    return from;
}

static bool is_line_end(const char *at, const char *end)
{
    return at == end || *at == '\n' || *at == '\r';
}

static const char *step_on(const char *from, const char *end, uint32_t columns, uint32_t *passed)
{
    uint32_t characters = 0;
    *passed = 0;
    while (!is_line_end(from, end) && characters++ < 4 * WINDOW) {
        uint32_t size;
        const uint32_t width = columns_of(from, end, &size);
        if (*passed + width > columns)
            break;
        *passed += width;
        from += size;
    }
    return from;
}

/* What is shown of a line, and where the carets go; pointers into the source text. */
typedef struct {
    const char *begin, *end;
    const char *mark, *mark_end;
    bool is_cut_before, is_cut_after;
} Excerpt;

static Excerpt find_excerpt(const Sources *sources, Span span)
{
    const Source *source = sources_get(sources, span.source);
    const char *end = source->text + source->size;
    const LineColumn place = span_begin(sources, span);
    const char *line = source->text + source_offset(sources, span.source, place.line, 1);
    Excerpt e = { .mark = source->text + source_offset(sources, span.source, place.line, place.column) };
    if (e.mark > line && e.mark[-1] == '\r')
        e.mark--; /* between CR and LF: the line has ended already */
    uint32_t before, after;
    step_on(e.mark, end, WINDOW, &after);
    const uint32_t room = after < WINDOW * 2 / 3 ? WINDOW - after : WINDOW / 3; /* before the mark */
    e.begin = step_back(line, e.mark, room, &before);
    e.end = step_on(e.mark, end, WINDOW - before, &after);
    e.is_cut_before = e.begin > line;
    e.is_cut_after = !is_line_end(e.end, end);
    const char *span_last = source->text + (span.end < source->size ? span.end : source->size);
    e.mark_end = span_last < e.end ? span_last : e.end;
    while (e.mark_end > e.mark && (e.mark_end[-1] == ' ' || e.mark_end[-1] == '\t'))
        e.mark_end--;
    return e;
}

static bool is_blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at == end;
}

static const char CUT[] = "...";

/* Below each character as many signs as it has columns; a tab stays a tab. */
static void add_signs(Text *text, const char *at, const char *end, char sign)
{
    uint32_t size;
    for (; at < end; at += size) {
        const uint32_t columns = columns_of(at, end, &size);
        if (*at == '\t')
            text_char(text, '\t');
        else
            for (uint32_t k = 0; k < columns; k++)
                text_char(text, sign);
    }
}

static void add_excerpt(Printer *p, Span span)
{
    static const char INDENT[] = "    ";
    if (span.source == SOURCE_NONE)
        return;
    const Excerpt e = find_excerpt(p->sources, span);
    const char *shown_end = e.end;
    while (shown_end > e.begin && !e.is_cut_after && is_blank(shown_end - 1, shown_end))
        shown_end--;
    if (shown_end == e.begin)
        return; /* an empty line shows nothing */
    text_add(p->text, INDENT);
    text_add(p->text, e.is_cut_before ? CUT : "");
    add_printable(p->text, e.begin, shown_end);
    text_add(p->text, e.is_cut_after ? CUT : "");
    text_char(p->text, '\n');
    text_add(p->text, INDENT);
    if (e.is_cut_before)
        add_signs(p->text, CUT, CUT + strlen(CUT), ' ');
    add_signs(p->text, e.begin, e.mark, ' ');
    begin_colour(p, COLOUR_GREEN);
    const size_t carets = p->text->n;
    add_signs(p->text, e.mark, e.mark_end, '^');
    if (p->text->n == carets)
        text_char(p->text, '^');
    end_colour(p);
    text_char(p->text, '\n');
}

static const char *level_word(DiagLevel level)
{
    switch (level) {
    case DIAG_ERROR: return "error";
    case DIAG_WARNING: return "warning";
    case DIAG_NOTE: return "note";
    }
    BUG("unknown DiagLevel");
}

static void add_note(Printer *p, const DiagPlace *note)
{
    text_add(p->text, "  ");
    begin_colour(p, COLOUR_CYAN);
    text_add(p->text, "note:");
    end_colour(p);
    text_char(p->text, ' ');
    add_place(p, note->span);
    add_message(p, note->message, "    ");
    add_excerpt(p, note->span);
}

static DiagPlace further_notes(Arena *arena, const Item *item)
{
    return (DiagPlace){ SPAN_NONE, arena_format(arena, "and %u more", item->notes_left_out) };
}

static void add_help(Printer *p, const char *help)
{
    text_add(p->text, "  ");
    begin_colour(p, COLOUR_GREEN);
    text_add(p->text, "help:");
    end_colour(p);
    text_char(p->text, ' ');
    add_message(p, help, "        ");
}

static void add_item(Printer *p, const Item *item)
{
    add_place(p, item->span);
    begin_colour(p, item->level == DIAG_ERROR ? COLOUR_RED : COLOUR_MAGENTA);
    text_format(p->text, "%s KN%04u:", level_word(item->level), (unsigned)item->code);
    end_colour(p);
    text_char(p->text, ' ');
    add_message(p, item->message, "    ");
    add_excerpt(p, item->span);
    for (uint32_t k = 0; k < item->notes.n; k++)
        add_note(p, &item->notes.at[k]);
    if (item->notes_left_out) {
        const DiagPlace more = further_notes(p->text->arena, item);
        add_note(p, &more);
    }
    if (item->help)
        add_help(p, item->help);
}

/* "3 more errors and 1 more warning are not shown"; NULL: nothing was left out. */
static char *describe_left_out(Arena *arena, Counts counts)
{
    if (counts.errors == 0 && counts.warnings == 0)
        return NULL;
    Text text = { .arena = arena };
    if (counts.errors)
        text_format(&text, "%u more error%s", counts.errors, counts.errors == 1 ? "" : "s");
    if (counts.errors && counts.warnings)
        text_add(&text, " and ");
    if (counts.warnings)
        text_format(&text, "%u more warning%s", counts.warnings, counts.warnings == 1 ? "" : "s");
    text_add(&text, counts.errors + counts.warnings == 1 ? " is not shown" : " are not shown");
    return text.at;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void add_json_text(Text *text, const char *key, const char *value)
{
    text_format(text, ", \"%s\": ", key);
    if (value)
        text_json(text, value);
    else
        text_add(text, "null");
}

static void add_json_place(Text *text, const Sources *sources, Span span)
{
    if (span.source == SOURCE_NONE) {
        text_add(text, ", \"file\": null, \"line\": null, \"column\": null, \"end_line\": null, \"end_column\": null");
        return;
    }
    const LineColumn begin = span_begin(sources, span), end = span_end(sources, span);
    add_json_text(text, "file", valid_utf8(text->arena, sources_get(sources, span.source)->path));
    text_format(text, ", \"line\": %u, \"column\": %u, \"end_line\": %u, \"end_column\": %u", begin.line, begin.column,
                end.line, end.column);
}

static void add_json_named(Text *text, const Sources *sources, const char *key, const DiagPlace *note)
{
    text_format(text, "{\"%s\": ", key);
    text_json(text, note->message);
    add_json_place(text, sources, note->span);
    text_char(text, '}');
}

static void add_json_note(Text *text, const Sources *sources, const DiagPlace *note)
{
    add_json_named(text, sources, "message", note);
}

static void add_json_set(Text *text, const Sources *sources, const char *set, const char *key, const DiagPlace *places,
                         uint32_t n)
{
    if (n == 0)
        return;
    text_format(text, ", \"%s\": [", set);
    for (uint32_t k = 0; k < n; k++) {
        text_add(text, k ? ", " : "");
        add_json_named(text, sources, key, &places[k]);
    }
    text_char(text, ']');
}

static void add_json_item(Text *text, const Sources *sources, const Item *item)
{
    text_format(text, "{\"code\": \"KN%04u\", \"level\": \"%s\"", (unsigned)item->code, level_word(item->level));
    add_json_text(text, "message", item->message);
    add_json_place(text, sources, item->span);
    text_add(text, ", \"notes\": [");
    for (uint32_t k = 0; k < item->notes.n; k++) {
        text_add(text, k ? ", " : "");
        add_json_note(text, sources, &item->notes.at[k]);
    }
    if (item->notes_left_out) {
        const DiagPlace more = further_notes(text->arena, item);
        text_add(text, ", ");
        add_json_note(text, sources, &more);
    }
    text_char(text, ']');
    add_json_text(text, "help", item->help);
    add_json_set(text, sources, "equations", "text", item->equations.at, item->equations.n);
    add_json_set(text, sources, "variables", "name", item->variables.at, item->variables.n);
    text_char(text, '}');
}

static void add_json(Text *text, const Diag *diag, Sorted items, Counts left_out)
{
    text_char(text, '[');
    for (uint32_t k = 0; k < items.n; k++) {
        text_add(text, k ? ",\n " : "");
        add_json_item(text, diag->sources, items.at[k]);
    }
    const char *more = describe_left_out(text->arena, left_out);
    if (more) {
        text_add(text, items.n ? ",\n " : "");
        text_add(text, "{\"code\": null, \"level\": \"note\"");
        add_json_text(text, "message", more);
        add_json_place(text, diag->sources, SPAN_NONE);
        text_add(text, ", \"notes\": [], \"help\": null}");
    }
    text_char(text, ']');
}

char *diag_json(Diag *diag, Arena *arena)
{
    Text text = { .arena = arena };
    add_json(&text, diag, sort_items(diag, arena, true), diag->left_out);
    return text.at;
}

/* ---- Printing -------------------------------------------------------------------------------------------------- */

static void write_text(Text *text, FILE *to)
{
    fwrite(text->at, 1, text->n, to);
    text->n = 0;
}

void diag_print(Diag *diag, FILE *to, DiagStyle style)
{
    Text text = { .arena = diag->arena };
    const Sorted items = sort_items(diag, diag->arena, false);
    const Counts left_out = { diag->left_out.errors - diag->left_out_said.errors,
                              diag->left_out.warnings - diag->left_out_said.warnings };
    if (style.json) {
        add_json(&text, diag, items, left_out);
        text_char(&text, '\n');
        write_text(&text, to);
    } else {
        Printer printer = { diag->sources, &text, style.colour };
        for (uint32_t k = 0; k < items.n; k++) {
            add_item(&printer, items.at[k]);
            write_text(&text, to);
        }
        const char *more = describe_left_out(diag->arena, left_out);
        if (more)
            fprintf(to, "%s\n", more);
    }
    for (uint32_t k = 0; k < items.n; k++)
        items.at[k]->is_printed = true;
    diag->left_out_said = diag->left_out;
}

/* ---- Table of codes -------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t code;
    const char *title;
} Row;

static const Row TABLE[] = {
#define DIAG(code, name, title) { code, title },
#include "base/diag.def"
#undef DIAG
};
enum { TABLE_ROWS = sizeof TABLE / sizeof *TABLE };

const char *diag_title(uint32_t code)
{
    for (uint32_t k = 0; k < TABLE_ROWS; k++)
        if (TABLE[k].code == code)
            return TABLE[k].title;
    return NULL;
}

uint32_t diag_code_at(uint32_t k)
{
    return k < TABLE_ROWS ? TABLE[k].code : 0;
}
