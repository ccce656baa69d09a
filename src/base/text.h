/* Text under construction, and numbers as text. Nothing here depends on the locale. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/arena.h"
#include <stdbool.h>
#include <stdio.h>

typedef struct {
    Arena *arena;
    char *at; /* terminated by 0 once something was added */
    size_t n, capacity;
} Text;

void text_add(Text *text, const char *more);
void text_bytes(Text *text, const char *more, size_t size);
void text_char(Text *text, char c);
void text_format(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_real(Text *text, double value);       /* shortest text that reads back exactly; "inf", "nan" */
void text_real_point(Text *text, double value); /* the same, always recognisable as Real: "1.0", "1e+30" */
void text_integer(Text *text, int64_t value);
/* The text for a terminal: characters of control and bytes that are no UTF-8 are shown as \xNN. */
const char *text_shown(const char *text, Arena *arena);
/* Words at most so wide, the first line from `column` on, the others behind `indent` blanks. Empty lines stay. */
void text_wrapped(Text *text, const char *words, uint32_t width, uint32_t column, uint32_t indent);
/* For SVG and HTML, in texts and attributes. Always UTF-8. */
void text_xml(Text *text, const char *value);
void text_json(Text *text, const char *value); /* quoted and escaped */
/* a[2].x[3] of "a[].x" and 2, 3: empty brackets take the first indices, those that are left follow. */
void text_element(Text *text, const char *name, size_t length, uint32_t n, const uint32_t *index);
/* The other way: the indices in "a[2].x[3]" as an element of "a[].x"; how many, 0: it is none. Bytes are compared, or
 * letters without their case. */
uint32_t text_read_element(const char *text, size_t length, const char *name, bool any_case, uint32_t *index,
                           uint32_t most);
bool text_ends_with(const char *text, const char *end);

enum { REAL_TEXT_SIZE = 32 };
/* Shortest decimal text that reads back to exactly `value`; not terminated; returns its length. */
size_t real_to_text(double value, char *to);
/* Reads a decimal number without regard to the locale; returns the end, or `from` when there is none. */
const char *text_to_real(const char *from, const char *end, double *value);

#endif
