#include "koine_external.h"

/* How often a character is in a text; 0 for the empty text. */
int c_count(const char *text, const char *character, double scale, int *length)
{
    int n = 0;
    if (*character == 0)
        koine_fail("there is no character to be counted");
    for (const char *c = text; *c; c++)
        n += *c == *character;
    *length = (int)strlen(text);
    return (int)(scale * n);
}
