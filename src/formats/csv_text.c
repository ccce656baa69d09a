#include "formats/csv_text.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void csv_add_name(Text *line, const char *name)
{
    const bool is_bare = name[0] && !is_blank(name[0]) && !is_blank(name[strlen(name) - 1]);
    if (is_bare && !strpbrk(name, ",\"\r\n")) {
        text_add(line, name);
        return;
    }
    text_char(line, '"');
    for (; *name; name++) {
        if (*name == '"')
            text_char(line, '"');
        text_char(line, *name);
    }
    text_char(line, '"');
}

void csv_add_text(Text *line, const char *text, size_t n)
{
    text_char(line, '"');
    for (size_t k = 0; k < n; k++) {
        if (text[k] == '"')
            text_char(line, '"');
        text_char(line, text[k]);
    }
    text_char(line, '"');
}

static size_t integer_to_text(int64_t value, char *to)
{
    char digits[24];
    size_t n = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[n++] = (char)('0' + rest % 10);
    while (rest /= 10);
    size_t length = 0;
    if (value < 0)
        to[length++] = '-';
    while (n > 0)
        to[length++] = digits[--n];
    return length;
}

size_t csv_slot_text(uint8_t type, bool is_negated, KoineSlot slot, char *to)
{
    if (type == KOINE_REAL)
        return real_to_text(is_negated ? -slot.r : slot.r, to);
    if (type == KOINE_BOOLEAN) {
        to[0] = is_negated != (slot.i != 0) ? '1' : '0';
        return 1;
    }
    /* the smallest integer has no positive counterpart and stays */
    return integer_to_text(is_negated ? (int64_t)(0 - (uint64_t)slot.i) : slot.i, to);
}
