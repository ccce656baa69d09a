/* The files of library/dymola, made part of the program by the build: @el.lib finds them from anywhere. */
#ifndef LANG_DYMOLA_LIBRARY_H
#define LANG_DYMOLA_LIBRARY_H

typedef struct {
    const char *name, *text;
} LibraryFile;

extern const LibraryFile dym_library[]; /* ended by a NULL name */

#endif
