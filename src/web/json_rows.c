/* Reading the members of an object that Koine has written; see json_rows.h. */
#include "web/json_rows.h"
#include "base/utf8.h"

enum { DEPTH_MOST = 8 };

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* Behind a string; NULL: it does not end. */
static const char *string_end(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && !*++at)
            return NULL;
    return *at ? at + 1 : NULL;
}

static const char *value_end(const char *at)
{
    if (*at == '"')
        return string_end(at);
    if (*at != '{' && *at != '[')
        return at + strcspn(at, ",]} \t\r\n");
    for (uint32_t depth = 0; *at;) {
        if (*at == '"') {
            at = string_end(at);
            if (!at)
                return NULL;
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
        if (depth == 0)
            return at;
    }
    return NULL;
}

/* ---- strictly ---- */
static const char *check_value(const char *at, uint32_t depth);

/* What follows a backslash in a string. */
static bool is_escape(const char *at)
{
    return *at == 'u' ? strspn(at + 1, "0123456789abcdefABCDEF") >= 4 : *at && strchr("\"\\/bfnrt", *at);
}

static const char *check_string(const char *at)
{
    const char *end = *at == '"' ? string_end(at) : NULL;
    for (at++; end && at < end; at++)
        if ((unsigned char)*at < ' ' || (*at == '\\' && !is_escape(++at)))
            return NULL;
    return end;
}

static const char *skip_digits(const char *at)
{
    return at + strspn(at, "0123456789");
}

/* Behind a number; NULL: it is none. */
static const char *check_number(const char *at)
{
    at += *at == '-';
    const char *end = *at == '0' ? at + 1 : skip_digits(at);
    if (end == at)
        return NULL;
    if (*end == '.') {
        at = end + 1;
        end = skip_digits(at);
        if (end == at)
            return NULL;
    }
    if (*end != 'e' && *end != 'E')
        return end;
    at = end + 1 + (end[1] == '+' || end[1] == '-');
    end = skip_digits(at);
    return end == at ? NULL : end;
}

/* Behind an object or array that begins here; NULL: it is none. */
static const char *check_list(const char *at, uint32_t depth)
{
    const bool is_object = *at == '{';
    const char close = is_object ? '}' : ']';
    at = skip_space(at + 1);
    if (*at == close)
        return at + 1;
    for (;; at = skip_space(at + 1)) {
        if (is_object) {
            at = check_string(at);
            if (!at || *(at = skip_space(at)) != ':')
                return NULL;
            at = skip_space(at + 1);
        }
        at = check_value(at, depth + 1);
        if (!at)
            return NULL;
        at = skip_space(at);
        if (*at == close)
            return at + 1;
        if (*at != ',')
            return NULL;
    }
}

static const char *check_value(const char *at, uint32_t depth)
{
    enum { DEEPEST = 64 };
    static const char *const words[] = { "true", "false", "null" };
    if (depth == DEEPEST)
        return NULL;
    if (*at == '{' || *at == '[')
        return check_list(at, depth);
    if (*at == '"')
        return check_string(at);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strncmp(at, words[k], strlen(words[k])) == 0)
            return at + strlen(words[k]);
    return check_number(at);
}

bool json_is_object(const char *text)
{
    const char *at = skip_space(text), *end = *at == '{' ? check_value(at, 0) : NULL;
    return end && !*skip_space(end) && utf8_is_valid(text, strlen(text));
}

/* ---- rows ---- */
static const char *unquote(const char *from, const char *end, Arena *arena)
{
    if (*from != '"')
        return arena_text(arena, from, (size_t)(end - from));
    Text text = { .arena = arena };
    text_add(&text, "");
    for (from++; from < end - 1; from++) {
        if (*from == '\\')
            from++;
        text_char(&text, from[-1] == '\\' && *from == 'n' ? '\n' : *from);
    }
    return text.at ? text.at : "";
}

static void add_object(const char *at, const char *prefix, uint32_t depth, Arena *arena, JsonRows *rows)
{
    at = skip_space(at);
    if (*at != '{' || depth == DEPTH_MOST)
        return;
    for (at = skip_space(at + 1); *at == '"'; at = skip_space(at + 1)) {
        const char *key_end = string_end(at);
        if (!key_end)
            return;
        const char *key = arena_format(arena, "%s%s", prefix, unquote(at, key_end, arena));
        at = skip_space(key_end);
        if (*at != ':')
            return;
        at = skip_space(at + 1);
        const char *end = value_end(at);
        if (!end || end == at)
            return;
        if (*at == '{')
            add_object(at, arena_format(arena, "%s.", key), depth + 1, arena, rows);
        else
            vec_push(arena, rows, ((JsonRow){ key, unquote(at, end, arena) }));
        at = skip_space(end);
        if (*at != ',')
            return;
    }
}

void json_rows(const char *text, Arena *arena, JsonRows *rows)
{
    if (text)
        add_object(text, "", 0, arena, rows);
}

const char *json_row(const JsonRows *rows, const char *key)
{
    for (uint32_t k = 0; k < rows->n; k++)
        if (strcmp(rows->at[k].key, key) == 0)
            return strcmp(rows->at[k].value, "null") == 0 ? NULL : rows->at[k].value;
    return NULL;
}
