/* Reading CSV; see csv.h. Two passes: the lines are counted, then the numbers go straight into their
 * columns. Each field takes a byte of the text, which bounds the memory by eight times its size. */
#include "formats/csv.h"
#include "base/bug.h"
#include "base/text.h"
#include "base/vec.h"
#include <math.h>

enum { MOST_REPORTED = 5, MOST_COLUMNS = 10 * 1000 * 1000 };

typedef struct {
    const char *path, *at, *end;
    uint64_t line;
    char separator;
    Arena *arena;
    Diag *diag;
    Text field; /* of the slow path: without quotes and blanks around */
    uint32_t reported;
    bool keeps_words, is_quoted; /* is_quoted: the last field was */
    uint8_t *has_texts;          /* per column: a field in quotes is no number */
    VEC(SeriesWord) words;
} Reader;

static bool is_line_end(const Reader *reader, const char *at)
{
    return at == reader->end || *at == '\n' || *at == '\r';
}

static bool is_field_end(const Reader *reader, const char *at)
{
    return is_line_end(reader, at) || *at == reader->separator;
}

static void skip_line_end(Reader *reader)
{
    if (reader->at < reader->end && *reader->at == '\r')
        reader->at++;
    if (reader->at < reader->end && *reader->at == '\n')
        reader->at++;
    reader->line++;
}

static void skip_blanks(Reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || (*reader->at == '\t' && reader->separator != '\t')))
        reader->at++;
}

/* A field in quotes, where a doubled quote is one; the reader stands after the closing quote. */
static bool read_quoted(Reader *reader)
{
    const uint64_t first_line = reader->line;
    for (reader->at++; reader->at < reader->end; reader->at++) {
        if (*reader->at == '"') {
            if (reader->at + 1 == reader->end || reader->at[1] != '"') {
                reader->at++;
                return true;
            }
            reader->at++;
        }
        reader->line += *reader->at == '\n';
        text_char(&reader->field, *reader->at);
    }
    diag_error(reader->diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s:%llu: a quote is not closed", reader->path,
               (unsigned long long)first_line);
    return false;
}

/* Leaves the field's text in reader->field and the reader at its end. */
static bool read_field(Reader *reader)
{
    reader->field.n = 0;
    text_add(&reader->field, "");
    skip_blanks(reader);
    reader->is_quoted = reader->at < reader->end && *reader->at == '"';
    if (reader->is_quoted) {
        if (!read_quoted(reader))
            return false;
        skip_blanks(reader);
        if (is_field_end(reader, reader->at))
            return true;
        diag_error(reader->diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s:%llu: text after a closing quote", reader->path,
                   (unsigned long long)reader->line);
        return false;
    }
    const char *begin = reader->at;
    while (!is_field_end(reader, reader->at))
        reader->at++;
    const char *stop = reader->at;
    while (stop > begin && (stop[-1] == ' ' || stop[-1] == '\t'))
        stop--;
    text_bytes(&reader->field, begin, (size_t)(stop - begin));
    return true;
}

static void report_number(Reader *reader, const char *name)
{
    if (reader->reported++ >= MOST_REPORTED)
        return;
    const int shown = reader->field.n < 40 ? (int)reader->field.n : 40;
    diag_error(reader->diag, DIAG_RESULT_NUMBER, SPAN_NONE, "%s:%llu: '%.*s' in column '%.80s' is not a number",
               reader->path, (unsigned long long)reader->line, shown, reader->field.at, name);
}

static bool read_number(Reader *reader, const char *name, uint32_t column, uint64_t row, double *value)
{
    const char *after = text_to_real(reader->at, reader->end, value);
    if (after != reader->at && is_field_end(reader, after)) {
        reader->at = after;
        return true;
    }
    if (!read_field(reader))
        return false;
    if (reader->field.n == 0) {
        *value = NAN;
        if (reader->is_quoted && column > 0 && !reader->keeps_words)
            reader->has_texts[column] = 1;
        return true;
    }
    const char *stop = reader->field.at + reader->field.n;
    if (text_to_real(reader->field.at, stop, value) == stop)
        return true;
    *value = NAN;
    if (reader->keeps_words && column > 0 && !memchr(reader->field.at, 0, reader->field.n)) {
        const SeriesWord word = { row, column, arena_text(reader->arena, reader->field.at, reader->field.n) };
        vec_push(reader->arena, &reader->words, word);
        return true;
    }
    if (reader->is_quoted && column > 0) {
        reader->has_texts[column] = 1;
        return true;
    }
    report_number(reader, name);
    return reader->reported < MOST_REPORTED;
}

static char find_separator(const Reader *reader)
{
    bool is_quoted = false, has_semicolon = false, has_tab = false;
    for (const char *at = reader->at; at < reader->end && (is_quoted || !is_line_end(reader, at)); at++) {
        is_quoted ^= *at == '"';
        if (is_quoted)
            continue;
        if (*at == ',')
            return ',';
        has_semicolon |= *at == ';';
        has_tab |= *at == '\t';
    }
    return has_semicolon ? ';' : has_tab ? '\t' : ',';
}

typedef VEC(SeriesColumn) Columns;

static bool read_header(Reader *reader, Columns *columns)
{
    bool is_all_numbers = true;
    for (;;) {
        if (!read_field(reader))
            return false;
        const char *stop = reader->field.at + reader->field.n;
        double ignored;
        is_all_numbers &= reader->field.n > 0 && text_to_real(reader->field.at, stop, &ignored) == stop;
        if (columns->n == MOST_COLUMNS) {
            diag_error(reader->diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s: more than %d columns", reader->path,
                       MOST_COLUMNS);
            return false;
        }
        if (memchr(reader->field.at, 0, reader->field.n)) {
            diag_error(reader->diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s:%llu: a name contains a zero byte",
                       reader->path, (unsigned long long)reader->line);
            return false;
        }
        const char *name = arena_text(reader->arena, reader->field.at, reader->field.n);
        const SeriesColumn column = { .name = name, .comment = "" };
        vec_push(reader->arena, columns, column);
        if (is_line_end(reader, reader->at))
            break;
        reader->at++;
    }
    if (is_all_numbers) {
        diag_error(reader->diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s: the first line has no names", reader->path);
        diag_help(reader->diag, "write the names of the columns into the first line: time,x,y");
        return false;
    }
    skip_line_end(reader);
    return true;
}

static uint64_t count_lines(const Reader *reader)
{
    uint64_t n = 1;
    for (const char *at = reader->at; at < reader->end; at++)
        n += *at == '\n' || *at == '\r';
    return n;
}

/* One line into row `row`; false: reported and not worth going on. */
static bool read_row(Reader *reader, const Columns *columns, double *values, uint64_t rows, uint64_t row)
{
    const uint64_t line = reader->line;
    for (uint32_t c = 0; c < columns->n; c++) {
        if (!read_number(reader, columns->at[c].name, c, row, &values[c * rows + row]))
            return false;
        const bool is_last = c + 1 == columns->n;
        if (is_line_end(reader, reader->at) != is_last) {
            diag_error(reader->diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s:%llu: %s than the %u fields of the first line",
                       reader->path, (unsigned long long)line, is_last ? "more" : "fewer", (unsigned)columns->n);
            return false;
        }
        if (!is_last)
            reader->at++;
    }
    skip_line_end(reader);
    return true;
}

/* A last line without line end was cut within a number, or behind one: nobody can tell. */
static void leave_out_cut_line(Reader *reader)
{
    const char *whole = reader->end;
    while (whole > reader->at && whole[-1] != '\n' && whole[-1] != '\r')
        whole--;
    if (whole == reader->end)
        return;
    diag_warning(reader->diag, DIAG_RESULT_SHORT, SPAN_NONE,
                 "%s: the last line has no end and may be cut; it is left out", reader->path);
    diag_help(reader->diag, "if it is whole, put a line break behind it");
    reader->end = whole;
}

/* What Strings were is no number. */
static void leave_out_texts(const Reader *reader, Columns *columns)
{
    uint32_t n = 0, n_texts = 0;
    const char *first = "";
    for (uint32_t c = 0; c < columns->n; c++) {
        if (!reader->has_texts[c]) {
            columns->at[n++] = columns->at[c];
            continue;
        }
        first = n_texts++ ? first : columns->at[c].name;
    }
    columns->n = n;
    if (n_texts == 0)
        return;
    diag_warning(reader->diag, DIAG_RESULT_TEXTS, SPAN_NONE, "%s: '%.80s'%s left out: texts are no numbers",
                 reader->path, first,
                 n_texts > 1 ? arena_format(reader->arena, " and %u more are", n_texts - 1) : " is");
    diag_help(reader->diag, "only numbers are drawn, compared and converted");
}

static Series *read_table(Reader given, const char *text, size_t size)
{
    Reader reader = given;
    const char *path = reader.path;
    Arena *arena = reader.arena;
    Diag *diag = reader.diag;
    reader.at = text;
    reader.end = text + size;
    reader.line = 1;
    reader.field.arena = arena;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        reader.at += 3;
    reader.separator = find_separator(&reader);
    skip_blanks(&reader);
    if (is_line_end(&reader, reader.at)) {
        diag_error(diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s: the first line is empty; it must have the names", path);
        return NULL;
    }
    Columns columns = { 0 };
    if (!read_header(&reader, &columns))
        return NULL;

    reader.has_texts = NEW_ARRAY(arena, uint8_t, columns.n);
    memset(reader.has_texts, 0, columns.n);
    leave_out_cut_line(&reader);
    const uint64_t most = (uint64_t)(reader.end - reader.at) / columns.n + 1;
    const uint64_t lines = count_lines(&reader);
    const uint64_t rows = lines < most ? lines : most;
    double *values = NEW_ARRAY(arena, double, rows *columns.n);
    uint64_t row = 0;
    while (reader.at < reader.end) {
        if (is_line_end(&reader, reader.at)) { /* empty lines are skipped */
            skip_line_end(&reader);
            continue;
        }
        REQUIRE(row < rows);
        if (!read_row(&reader, &columns, values, rows, row))
            return NULL;
        row++;
    }
    if (reader.reported > 0)
        return NULL;
    for (uint32_t c = 0; c < columns.n; c++)
        columns.at[c].values = values + c * rows;
    leave_out_texts(&reader, &columns);
    Series *series = NEW(arena, Series);
    *series = (Series){ columns.n, row, columns.at, NULL, reader.words.at, reader.words.n };
    return series;
}

Series *csv_read(const char *path, const char *text, size_t size, Arena *arena, Diag *diag)
{
    return read_table((Reader){ .path = path, .arena = arena, .diag = diag }, text, size);
}

Series *csv_read_words(const char *path, const char *text, size_t size, Arena *arena, Diag *diag)
{
    return read_table((Reader){ .path = path, .arena = arena, .diag = diag, .keeps_words = true }, text, size);
}
