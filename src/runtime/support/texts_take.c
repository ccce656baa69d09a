/* Texts that functions of C give: they may be anything. See koine/texts.h. */
#include "texts.h"
#include "koine/ops.h"
#include <string.h>

/* Bytes of the character that begins here, 0: none does. Strict: no overlong forms, no surrogates, nothing above
 * U+10FFFF. What follows the text is 0, so nothing behind it is read. */
static uint32_t size_of_character(const unsigned char *at)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const uint32_t size = at[0] < 0x80 ? 1 : at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : at[0] >= 0xc0 ? 2 : 0;
    uint32_t code = size == 1 ? at[0] : at[0] & (0xffu >> (size + 1));
    if (size == 0 || at[0] >= 0xf8)
        return 0;
    for (uint32_t k = 1; k < size; k++) {
        if ((at[k] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[k] & 0x3f);
    }
    return code < least[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : size;
}

uint32_t koine_text_take(KoineSlot *call, const char *text, int64_t *to)
{
    *to = KOINE_INTEGER_FAULT;
    if (!text)
        return KOINE_TEXT_ABSENT;
    const size_t n = strnlen(text, (size_t)KOINE_TEXT_LONGEST + 1);
    if (n > KOINE_TEXT_LONGEST)
        return KOINE_TEXT_LONG;
    for (uint32_t k = 0, size; k < n; k += size) {
        size = size_of_character((const unsigned char *)text + k);
        if (size == 0)
            return KOINE_TEXT_NO_UTF8;
    }
    *to = koine_texts_make(call, text, n);
    return *to == KOINE_INTEGER_FAULT ? KOINE_TEXT_LONG : KOINE_TEXT_TAKEN;
}
