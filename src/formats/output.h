/* A file being written in large pieces, each of whole records.
 *
 * The file has its final name from the start, so that an interrupted run keeps what it wrote. Bytes
 * collect in a buffer that reaches the file when it is full at the end of a record. When the disk
 * fills up the file is cut back to whole records. A failure is remembered: later calls do nothing
 * and return false. */
#ifndef FORMATS_OUTPUT_H
#define FORMATS_OUTPUT_H

#include "base/text.h"
#include "formats/written.h"
#include <stdbool.h>

typedef struct {
    const char *path;
    char *buffer;
    size_t used, full, capacity; /* bytes; from `full` on the end of a record writes the buffer out */
    uint64_t written;
    int file;            /* descriptor, or -1 */
    int failure;         /* errno of the first failure, or 0 */
    const char *refusal; /* why it may not be written, or NULL; failure is set too */
    WrittenHead head;    /* what is noted of the begin */
    bool has_older;      /* there are bytes of an older file */
    bool is_cut;         /* which are gone */
    bool is_lines;       /* records are lines */
    bool is_regular;     /* can be cut and patched */
} Output;

/* `path` "-" is the standard output. Confined: named by a model or an experiment, see formats/writing.h. An older file
 * stays as it is until something is written. */
bool output_open(Output *output, const char *path, bool is_lines, bool is_confined);
/* Gives the output a buffer for records of at most `record` bytes. */
void output_buffer(Output *output, Arena *arena, size_t record);
/* At least `record` free bytes; the caller advances `used`. */
static inline char *output_room(Output *output)
{
    return output->buffer + output->used;
}
/* Any number of bytes, through the buffer. */
void output_bytes(Output *output, const void *bytes, size_t size);
bool output_flush(Output *output);
/* What lies in the buffer counts for nothing: where nothing was written out an older file stays as it is. */
void output_forget(Output *output);
static inline bool output_record_end(Output *output)
{
    return output->used < output->full || output_flush(output);
}
/* Replaces bytes that have been written out. */
bool output_patch(Output *output, uint64_t at, const void *bytes, size_t size);
/* Writes the rest out and closes; also after failures. */
bool output_close(Output *output);
/* Writes a whole file. False: output_failure. */
bool output_text(Output *output, const char *path, const Text *text);
/* "cannot write 'x.csv': No space left on device" */
void output_failure(const Output *output, char *text, size_t size);

#endif
