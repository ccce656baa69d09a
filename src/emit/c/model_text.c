/* See model_text.h. */
#include "emit/c/model_text.h"
#include "base/utf8.h"

static bool is_plain(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* How plain letters spell an umlaut; NULL: it is none. */
static const char *umlaut(uint32_t c)
{
    static const struct {
        uint32_t character;
        const char *spelling;
    } umlauts[] = { { 0xe4, "ae" }, { 0xf6, "oe" }, { 0xfc, "ue" }, { 0xc4, "Ae" },
                    { 0xd6, "Oe" }, { 0xdc, "Ue" }, { 0xdf, "ss" } };
    for (size_t k = 0; k < sizeof umlauts / sizeof *umlauts; k++)
        if (umlauts[k].character == c)
            return umlauts[k].spelling;
    return NULL;
}

static void add_character(Text *text, uint32_t c)
{
    if (umlaut(c))
        text_add(text, umlaut(c));
    else if (is_plain(c))
        text_char(text, (char)c);
    else if (text->n && text->at[text->n - 1] != '_')
        text_char(text, '_');
}

char *model_identifier(Arena *arena, const char *name)
{
    Text text = { .arena = arena };
    const char *end = name + strlen(name);
    uint32_t size;
    for (const char *at = name; at < end && text.n < MODEL_IDENTIFIER; at += size)
        add_character(&text, utf8_decode(at, end, &size));
    while (text.n && text.at[text.n - 1] == '_')
        text.at[--text.n] = 0;
    if (text.n == 0)
        text_add(&text, "v");
    return text.at;
}

static bool is_harmless(uint32_t c, char before)
{
    const bool is_half = (c == '*' || c == '/') && (before == '*' || before == '/');
    return c >= ' ' && c <= '~' && c != '\\' && c != '?' && c != '#' && !is_half;
}

void model_comment(Text *text, const char *comment)
{
    const char *end = comment + strlen(comment);
    uint32_t size;
    text_add(text, "/* ");
    for (const char *at = comment; at < end; at += size) {
        const uint32_t c = utf8_decode(at, end, &size);
        if (umlaut(c))
            text_add(text, umlaut(c));
        else
            text_char(text, is_harmless(c, text->at[text->n - 1]) ? (char)c : '_');
    }
    text_add(text, " */");
}

/* Printable ASCII that no compiler, preprocessor or reader takes for anything but itself inside of quotes. */
static bool is_quotable(unsigned char c)
{
    return is_plain(c) || (c && strchr(" _.,:;()[]{}<>=+-*%&|!'^~", c));
}

void model_string(Text *text, const char *string)
{
    text_char(text, '"');
    for (const char *at = string; *at; at++)
        if (is_quotable((unsigned char)*at))
            text_char(text, *at);
        else
            text_format(text, "\\%03o", (unsigned)(unsigned char)*at);
    text_char(text, '"');
}
