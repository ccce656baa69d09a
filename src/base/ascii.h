/* Letters and digits of ASCII, whatever the locale. */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include <stdbool.h>

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
/* A character of a name: a letter, a digit or '_'. */
static inline bool is_name_character(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}
static inline char small_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}
static inline char capital_letter(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

#endif
