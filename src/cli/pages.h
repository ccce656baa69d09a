/* The pages of docs/diagnostics as data; the array is written by embed.cmake when the program is built. */
#ifndef CLI_PAGES_H
#define CLI_PAGES_H

#include <stdint.h>

typedef struct {
    uint32_t code;
    const char *text; /* UTF-8, terminated by 0 */
} Page;

extern const Page pages[];
extern const uint32_t n_pages;

#endif
