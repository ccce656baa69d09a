/* Texts of bounded size under construction: what does not fit is left out, and an ellipsis says so. A builder never
 * writes beyond the size it was given, and what it holds is always terminated. */
#ifndef SUPPORT_TEXT_H
#define SUPPORT_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *at;
    size_t size, n; /* of the room, with the terminating 0; of the text, without it */
    bool is_cut;    /* something did not fit: nothing more is added */
} KoineText;

KoineText koine_text_in(char *room, size_t size);        /* empty */
KoineText koine_text_behind(char *present, size_t size); /* goes on behind the text that stands there */
void koine_text_add(KoineText *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void koine_text_list(KoineText *text, const char *format, va_list list) __attribute__((format(printf, 2, 0)));

#endif
