/* Appending to a text of bounded size; see text.h. */
#include "text.h"
#include <stdio.h>
#include <string.h>

static const char ELLIPSIS[] = "...";

/* The last letters give way; of a letter of several bytes no part is left. */
static void cut(KoineText *text)
{
    const size_t length = sizeof ELLIPSIS - 1;
    text->is_cut = true;
    text->n = text->size - 1;
    size_t from = text->n > length ? text->n - length : 0;
    while (from > 0 && ((unsigned char)text->at[from] & 0xc0) == 0x80)
        from--;
    const size_t dots = text->n - from < length ? text->n - from : length;
    memcpy(text->at + from, ELLIPSIS, dots);
    text->n = from + dots;
    text->at[text->n] = '\0';
}

KoineText koine_text_in(char *room, size_t size)
{
    if (size)
        room[0] = '\0';
    return (KoineText){ .at = room, .size = size, .is_cut = size == 0 };
}

KoineText koine_text_behind(char *present, size_t size)
{
    const size_t n = strnlen(present, size);
    return (KoineText){ .at = present, .size = size, .n = n, .is_cut = n >= size };
}

void koine_text_list(KoineText *text, const char *format, va_list list)
{
    if (text->is_cut)
        return;
    const size_t room = text->size - text->n;
    const int length = vsnprintf(text->at + text->n, room, format, list);
    if (length < 0)
        text->at[text->n] = '\0';
    else if ((size_t)length < room)
        text->n += (size_t)length;
    else
        cut(text);
}

void koine_text_add(KoineText *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    koine_text_list(text, format, list);
    va_end(list);
}
