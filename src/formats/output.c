#include "formats/output.h"
#include "formats/replace.h"
#include "formats/writing.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t OUTPUT_PIECE = (size_t)256 * 1024; /* one write(2) */

bool output_open(Output *output, const char *path, bool is_lines, bool is_confined)
{
    *output = (Output){ .path = path, .file = -1, .is_lines = is_lines };
    const bool is_standard = strcmp(path, "-") == 0;
    output->file =
        is_standard ? STDOUT_FILENO : writing_open(path, is_confined ? WRITING_CONFINED : 0, &output->refusal);
    if (output->file < 0) {
        output->failure = output->refusal ? EACCES : errno;
        return false;
    }
    struct stat status;
    output->is_regular = !is_standard && fstat(output->file, &status) == 0 && S_ISREG(status.st_mode);
    output->has_older = output->is_regular && status.st_size > 0;
    return true;
}

void output_buffer(Output *output, Arena *arena, size_t record)
{
    output->full = OUTPUT_PIECE;
    output->capacity = OUTPUT_PIECE + record;
    output->buffer = NEW_ARRAY(arena, char, output->capacity);
}

/* Of the first `n` bytes of the buffer, which reached the file, only whole records may stay. */
static void cut_to_records(Output *output, size_t n)
{
    if (!output->is_regular)
        return;
    while (n > 0 && !(output->is_lines && output->buffer[n - 1] == '\n'))
        n--;
    /* When this fails too, the failure to write is still the one to report. */
    if (ftruncate(output->file, (off_t)(output->written + n)) == 0)
        output->written += n;
}

/* Others may ask later who wrote this. */
static void note(Output *output, uint64_t size)
{
    if (!output->head.n)
        output->head = written_head(output->buffer, output->used);
    written_note(output->path, output->head, size);
}

/* Writes the buffer to `file`; *done: how much of it arrived. */
static bool write_buffer(Output *output, int file, size_t *done)
{
    for (*done = 0; *done < output->used;) {
        const ssize_t n = write(file, output->buffer + *done, output->used - *done);
        if (n >= 0) {
            *done += (size_t)n;
        } else if (errno != EINTR) {
            output->failure = errno;
            return false;
        }
    }
    return true;
}

/* An older file stays as it is until the first part of the new one is on the disk. */
static bool replace_older(Output *output, Replacement *replacement)
{
    size_t done;
    if (!write_buffer(output, replacement->file, &done)) {
        replace_give_up(replacement);
        return false;
    }
    if (!replace_finish(replacement)) {
        output->failure = errno;
        return false;
    }
    output->file = replacement->file;
    output->written = done;
    return true;
}

static bool cut_older(Output *output)
{
    if (!output->is_cut && output->is_regular && ftruncate(output->file, 0) != 0)
        output->failure = errno;
    output->is_cut = true;
    return output->failure == 0;
}

static bool append(Output *output)
{
    size_t done;
    if (!cut_older(output))
        return false;
    if (!write_buffer(output, output->file, &done)) {
        cut_to_records(output, done);
        return false;
    }
    output->written += done;
    return true;
}

void output_forget(Output *output)
{
    if (output->has_older && !output->is_cut)
        output->used = 0;
}

bool output_flush(Output *output)
{
    if (output->failure || output->used == 0)
        return output->failure == 0;
    const bool is_first = output->written == 0;
    if (is_first && output->is_regular)
        written_announce(output->path, written_head(output->buffer, output->used));
    Replacement replacement;
    if (output->has_older && !output->is_cut && replace_begin(&replacement, output->path, output->file)) {
        output->is_cut = true;
        if (!replace_older(output, &replacement))
            return false;
    } else if (!append(output)) {
        return false;
    }
    if (is_first && output->is_regular) {
        note(output, WRITTEN_OPEN);
        written_announce(output->path, (WrittenHead){ 0 });
    }
    output->used = 0;
    return true;
}

void output_bytes(Output *output, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0 && !output->failure) {
        if (output->used == output->capacity && !output_flush(output))
            return;
        const size_t room = output->capacity - output->used;
        const size_t piece = size < room ? size : room;
        memcpy(output_room(output), at, piece);
        output->used += piece;
        at += piece;
        size -= piece;
    }
}

bool output_patch(Output *output, uint64_t at, const void *bytes, size_t size)
{
    if (output->failure)
        return false;
    ssize_t n;
    do
        n = pwrite(output->file, bytes, size, (off_t)at);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)size)
        output->failure = n < 0 ? errno : EIO;
    return output->failure == 0;
}

bool output_close(Output *output)
{
    if (output->file < 0)
        return output->failure == 0;
    output_flush(output);
    if (output->head.n)
        note(output, output->written);
    const bool is_standard = output->file == STDOUT_FILENO && strcmp(output->path, "-") == 0;
    if (!is_standard && close(output->file) != 0 && !output->failure && errno != EINTR)
        output->failure = errno;
    output->file = -1;
    return output->failure == 0;
}

void output_failure(const Output *output, char *text, size_t size)
{
    char reason[128];
    if (strerror_r(output->failure, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", output->failure);
    const bool is_standard = strcmp(output->path, "-") == 0;
    if (output->refusal)
        snprintf(text, size, "cannot write '%.*s': %s", 100, output->path, output->refusal);
    else if (is_standard)
        snprintf(text, size, "cannot write to the standard output: %s", reason);
    else
        snprintf(text, size, "cannot write '%.*s': %s", 120, output->path, reason);
}

bool output_text(Output *output, const char *path, const Text *text)
{
    enum { PIECE = 1 << 16 };
    if (!output_open(output, path, false, false))
        return false;
    output_buffer(output, text->arena, PIECE);
    output_bytes(output, text->at, text->n);
    return output_close(output);
}
