/* Any bytes as a name or message on its way out: JSON, XML, the terminal, CSV, names of files, comments and identifiers
 * of C. Each is what it must be whatever came in. */
#include "base/utf8.h"
#include "emit/c/model_text.h"
#include "formats/csv.h"
#include "formats/csv_text.h"
#include "formats/writing.h"
#include "json_strict.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void check_json(const char *value, Arena *arena)
{
    Text text = { .arena = arena };
    text_json(&text, value);
    const char *const end = strict_string(text.at);
    check(end && !*end && utf8_is_valid(text.at, text.n), "no JSON");
}

static void check_xml(const char *value, Arena *arena)
{
    Text text = { .arena = arena };
    text_add(&text, "");
    text_xml(&text, value);
    check(utf8_is_valid(text.at, text.n) && !strpbrk(text.at, "<>\"'"), "no XML");
    for (const char *at = text.at; *at; at++) {
        check((unsigned char)*at >= ' ' || *at == '\t' || *at == '\n', "a character that XML has not");
        check(*at != '&' || (at[1] && strchr("lgaq#", at[1]) && strchr(at, ';') && strchr(at, ';') - at < 7),
              "no entity");
    }
}

static void check_shown(const char *value, Arena *arena)
{
    const char *const shown = text_shown(value, arena);
    check(utf8_is_valid(shown, strlen(shown)), "not UTF-8");
    for (const char *at = shown; *at; at++)
        check((unsigned char)*at >= ' ' && *at != 0x7f &&
                  !((unsigned char)at[0] == 0xc2 && (unsigned char)at[1] >= 0x80 && (unsigned char)at[1] < 0xa0),
              "a control character");
}

/* A column of that name comes back. */
static void check_csv(const char *value, Arena *arena)
{
    Sources *const sources = sources_create(arena);
    Diag *const diag = diag_create(arena, sources);
    Text text = { .arena = arena };
    text_add(&text, "time,");
    csv_add_name(&text, value);
    text_add(&text, ",last\n0,1,2\n1,3,4\n");
    const Series *const series = csv_read("texts.csv", text.at, text.n, arena, diag);
    if (!series) /* refused, as any text with such a name would be: said, not misread */
        return;
    check(series->n_columns == 3 && series->n_rows == 2 && series_value(&series->columns[2], 1) == 4, "other columns");
    check(strcmp(series->columns[1].name, value) == 0, "another name");
}

static void check_file_name(const char *value, Arena *arena)
{
    const char *const name = writing_name(value, arena);
    check(*name && !strchr(".-~", *name) && !strpbrk(name, "/\\"), "no name of a file");
    for (const char *at = name; *at; at++)
        check((unsigned char)*at >= ' ' && *at != 0x7f, "a control character in the name of a file");
}

static void check_c(const char *value, Arena *arena)
{
    Text comment = { .arena = arena };
    model_comment(&comment, value);
    check(strstr(comment.at, "*/") == comment.at + comment.n - 2 && !strpbrk(comment.at, "\\?#\n\r") &&
              !strstr(comment.at + 1, "/*"),
          "no comment");
    for (const char *at = comment.at; *at; at++)
        check(*at >= ' ' && *at <= '~', "no plain character in a comment");
    const char *const name = model_identifier(arena, value);
    check(*name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")],
          "no identifier");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *const arena = arena_create(NULL);
    const char *const value = arena_text(arena, (const char *)data, size); /* up to the first 0 */
    check_json(value, arena);
    check_xml(value, arena);
    check_shown(value, arena);
    check_csv(value, arena);
    check_file_name(value, arena);
    check_c(value, arena);
    arena_destroy(arena);
    return 0;
}
