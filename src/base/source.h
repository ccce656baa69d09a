/* Source files and places in them.
 *
 * A file is read as bytes and kept as UTF-8: a byte order mark is dropped, text that is not valid
 * UTF-8 is taken as Latin-1 and converted (the source says so). Lines end with LF, CRLF or CR.
 * A Span is a range of bytes of one source; line and column (both from 1, column in characters,
 * a tab counts as one) are computed when somebody asks. The arena must not be reset to a mark older
 * than a source or than the first question for a place in it. */
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H

#include "base/arena.h"
#include <stdbool.h>

typedef struct {
    uint32_t source; /* index in Sources; SOURCE_NONE: no place */
    uint32_t begin, end;
} Span;
#define SOURCE_NONE    UINT32_MAX
#define SPAN_NONE      ((Span){ SOURCE_NONE, 0, 0 })

#define SOURCE_LARGEST ((size_t)1 << 30) /* bytes */

typedef struct {
    const char *path;     /* as the user gave it */
    const char *language; /* set by the reader; for the text form */
    const char *text;     /* UTF-8, terminated by 0 (may contain further zeros: use size) */
    uint32_t size;
    bool was_latin1;
    uint32_t *lines; /* begin of each line, built on first need */
    uint32_t n_lines;
} Source;

typedef struct Sources Sources;
typedef struct {
    uint32_t line, column;
} LineColumn;

typedef enum { SOURCE_OK, SOURCE_MISSING, SOURCE_UNREADABLE, SOURCE_TOO_LARGE, SOURCE_NO_FILE } SourceStatus;

/* Whether what is there is read: a file on a disk, or what a shell hands over. Other things (folders, pipes, devices)
 * may have no end, or wait for ever. `mode` is that of stat. */
bool source_is_file(const char *path, unsigned mode);

/* Whether both names lead to one file that is there. */
bool source_is_same(const char *path, const char *other);

Sources *sources_create(Arena *arena);
/* The same path twice is one source; so is a path given to sources_add_text before (unsaved text of an editor).
 * *id is SOURCE_NONE when the status is not SOURCE_OK. */
SourceStatus sources_open(Sources *sources, const char *path, uint32_t *id);
uint32_t sources_add_text(Sources *sources, const char *path, const char *text, size_t size);
uint32_t sources_count(const Sources *sources);
const Source *sources_get(const Sources *sources, uint32_t id);
const char *source_hash(const Source *source, Arena *arena); /* of its text: 16 hexadecimal digits */
void sources_set_language(Sources *sources, uint32_t id, const char *language);
/* Line and column of the first byte, and of the first byte after the span; 0, 0 without a source. */
LineColumn span_begin(const Sources *sources, Span span);
LineColumn span_end(const Sources *sources, Span span);
/* The place given by line and column (as in the text form); clamped to the text. */
uint32_t source_offset(const Sources *sources, uint32_t id, uint32_t line, uint32_t column);

static inline Span span_join(Span a, Span b)
{
    if (a.source == SOURCE_NONE)
        return b;
    if (b.source != a.source)
        return a;
    return (Span){ a.source, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end };
}

#endif
