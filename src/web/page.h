/* The page as bytes inside the program; made by embed.cmake from what web/ builds. */
#ifndef WEB_PAGE_H
#define WEB_PAGE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name, *type;
    const unsigned char *bytes;
    size_t size;
} PageFile;

extern const PageFile page_files[];
extern const uint32_t n_page_files;

#endif
