#include "alone/rows.h"
#include "base/text.h"
#include "formats/csv_text.h"
#include "formats/select.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FULL = 1 << 16 }; /* bytes that are written at once, at least */

typedef struct {
    KoineSink sink; /* first: the sink is this */
    Arena *arena;
    const char *path, *variables;
    Selection columns;
    const KoineTables *tables;
    Text lines; /* whole ones, not written yet */
    int file;
    off_t written;
    bool is_regular;
} Rows;

static KoineStatus fail(Rows *rows, int error)
{
    snprintf(rows->sink.error, sizeof rows->sink.error, "cannot write '%.100s': %s", rows->path, strerror(error));
    return KOINE_FAILED;
}

static KoineStatus flush(Rows *rows)
{
    size_t done = 0;
    while (done < rows->lines.n) {
        const ssize_t n = write(rows->file, rows->lines.at + done, rows->lines.n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            const int error = n < 0 ? errno : ENOSPC;
            if (rows->is_regular && ftruncate(rows->file, rows->written) != 0)
                return fail(rows, errno);
            return fail(rows, error);
        }
        done += (size_t)n;
    }
    rows->written += (off_t)done;
    rows->lines.n = 0;
    return KOINE_OK;
}

static void add_value(Rows *rows, const Column *column, const KoineModel *model)
{
    const KoineVariable *variable = &rows->tables->variables[column->variable];
    char digits[REAL_TEXT_SIZE];
    KoineSlot slot;
    memcpy(&slot, model->block + column->offset, sizeof slot);
    text_char(&rows->lines, ',');
    if (variable->type == KOINE_STRING) {
        size_t n;
        const char *text = model->kind->texts.get((KoineModel *)(uintptr_t)model, slot, &n);
        csv_add_text(&rows->lines, text, n);
        return;
    }
    text_bytes(&rows->lines, digits,
               csv_slot_text(variable->type, variable->flags & KOINE_VARIABLE_NEGATED, slot, digits));
}

static void add_names(Rows *rows)
{
    Text name = { .arena = rows->arena };
    text_add(&rows->lines, "time");
    for (uint32_t k = 0; k < rows->columns.n; k++) {
        name.n = 0;
        column_name(rows->tables, &rows->columns.at[k], &name);
        text_char(&rows->lines, ',');
        csv_add_name(&rows->lines, name.at);
    }
    text_char(&rows->lines, '\n');
}

static KoineStatus begin(KoineSink *sink, const KoineModel *model)
{
    Rows *rows = (Rows *)(void *)sink;
    SelectionMiss miss;
    const char *const *globs = NULL;
    const uint32_t n_globs = rows->variables ? globs_split(rows->variables, rows->arena, &globs) : 0;
    rows->tables = model->kind->tables;
    if (!select_columns(rows->tables, globs, n_globs, SELECT_TEXTS, rows->arena, &rows->columns, &miss)) {
        selection_miss_text(&miss, globs, sink->error, sizeof sink->error);
        return KOINE_FAILED;
    }
    rows->file = strcmp(rows->path, "-") == 0 ? dup(STDOUT_FILENO)
                                              : open(rows->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (rows->file < 0)
        return fail(rows, errno);
    struct stat state;
    rows->is_regular = strcmp(rows->path, "-") != 0 && fstat(rows->file, &state) == 0 && S_ISREG(state.st_mode);
    add_names(rows);
    return KOINE_OK;
}

static KoineStatus point(KoineSink *sink, const KoineModel *model, const KoinePoint *at)
{
    Rows *rows = (Rows *)(void *)sink;
    text_real(&rows->lines, at->time);
    for (uint32_t k = 0; k < rows->columns.n; k++)
        add_value(rows, &rows->columns.at[k], model);
    text_char(&rows->lines, '\n');
    return rows->lines.n < FULL ? KOINE_OK : flush(rows);
}

static KoineStatus end(KoineSink *sink, const KoineModel *model)
{
    Rows *rows = (Rows *)(void *)sink;
    (void)model;
    if (rows->file < 0)
        return KOINE_OK;
    const KoineStatus status = sink->error[0] ? KOINE_FAILED : flush(rows);
    const bool is_closed = close(rows->file) == 0;
    rows->file = -1;
    return status < 0 || is_closed ? status : fail(rows, errno);
}

KoineSink *rows_sink(const char *path, const char *variables, Arena *arena)
{
    Rows *rows = NEW(arena, Rows);
    *rows = (Rows){ .sink = { .begin = begin, .point = point, .end = end },
                    .arena = arena,
                    .path = path,
                    .variables = variables,
                    .lines = { .arena = arena },
                    .file = -1 };
    return &rows->sink;
}
