#include "formats/live.h"
#include "base/text.h"
#include "formats/select.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIVE_SIZE = 16 << 20, ROWS_LEAST = 64, ROWS_MOST = 1 << 17 };
static const uint64_t MAGIC = 0x316576696c6e6f6b; /* "konlive1" */

/* The begin of the file; then the texts (name, unit, comment and "d" or "c" of each column, ended by zeros), padded to
 * eight bytes, then `capacity` rows. Rows below n_rows are whole; while every second one is given up, `turn` is odd. */
typedef struct {
    _Atomic uint64_t magic; /* written last */
    uint64_t n_columns, capacity, rows_at, size;
    _Atomic uint64_t turn, n_rows;
} LiveHead;

/* ---- the sink ---- */
typedef struct {
    uint64_t offset;
    uint32_t variable;
} LiveSource;

typedef struct {
    KoineSink sink; /* first: the sink is the writer */
    const char *path;
    const char *const *globs;
    uint32_t n_globs;
    Arena *arena;
    LiveSource *sources;
    uint32_t n_sources;
    LiveHead *head; /* NULL: the file could not be made */
    double *rows;
    uint64_t stride, seen; /* every stride-th point is kept */
} LiveWriter;

static Text column_texts(const KoineTables *tables, const Selection *selection, Arena *arena)
{
    Text texts = { .arena = arena }, name = { .arena = arena };
    text_bytes(&texts, "time\0\0\0c", 9);
    for (uint32_t k = 0; k < selection->n; k++) {
        const KoineVariable *v = &tables->variables[selection->at[k].variable];
        name.n = 0;
        column_name(tables, &selection->at[k], &name);
        const char *const parts[] = { name.at, v->unit ? v->unit : "", v->comment ? v->comment : "",
                                      v->variability == KOINE_VARIABILITY_CONTINUOUS ? "c" : "d" };
        for (uint32_t p = 0; p < 4; p++)
            text_bytes(&texts, parts[p], strlen(parts[p]) + 1);
    }
    while (texts.n % 8)
        text_char(&texts, 0);
    return texts;
}

/* The space is taken at once: a full disk must not show when a page is written to. */
static LiveHead *create_file(const char *path, const Text *texts, uint64_t n_columns)
{
    const uint64_t row = n_columns * sizeof(double), rows_at = sizeof(LiveHead) + texts->n;
    uint64_t capacity = LIVE_SIZE / row;
    capacity = capacity < ROWS_LEAST ? ROWS_LEAST : capacity > ROWS_MOST ? ROWS_MOST : capacity;
    capacity -= capacity % 2;
    const uint64_t size = rows_at + capacity * row;
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return NULL;
    void *at = MAP_FAILED;
    if (posix_fallocate(file, 0, (off_t)size) == 0)
        at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED)
        return NULL;
    LiveHead *head = at;
    *head = (LiveHead){ .n_columns = n_columns, .capacity = capacity, .rows_at = rows_at, .size = size };
    memcpy(head + 1, texts->at, texts->n);
    atomic_store_explicit(&head->magic, MAGIC, memory_order_release);
    return head;
}

static KoineStatus live_begin(KoineSink *sink, const KoineModel *model)
{
    LiveWriter *w = (LiveWriter *)sink;
    const KoineTables *tables = model->kind->tables;
    Selection selection;
    SelectionMiss miss;
    if (!select_columns(tables, w->globs, w->n_globs, 0, w->arena, &selection, &miss))
        return KOINE_OK; /* the result's own sink says so */
    w->n_sources = selection.n;
    w->sources = NEW_ARRAY(w->arena, LiveSource, selection.n + 1);
    for (uint32_t k = 0; k < selection.n; k++)
        w->sources[k] = (LiveSource){ selection.at[k].offset, selection.at[k].variable };
    const Text texts = column_texts(tables, &selection, w->arena);
    w->head = create_file(w->path, &texts, (uint64_t)selection.n + 1);
    if (w->head)
        w->rows = (double *)((unsigned char *)w->head + w->head->rows_at);
    w->stride = 1;
    return KOINE_OK;
}

static void thin_out(LiveWriter *w)
{
    const uint64_t n = w->head->n_columns, rows = atomic_load_explicit(&w->head->n_rows, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->head->turn, 1, memory_order_acq_rel);
    for (uint64_t k = 1; 2 * k < rows; k++)
        memcpy(w->rows + k * n, w->rows + 2 * k * n, n * sizeof(double));
    atomic_store_explicit(&w->head->n_rows, rows / 2, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->head->turn, 1, memory_order_acq_rel);
    w->stride *= 2;
}

static KoineStatus live_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    LiveWriter *w = (LiveWriter *)sink;
    if (!w->head || w->seen++ % w->stride)
        return KOINE_OK;
    uint64_t row = atomic_load_explicit(&w->head->n_rows, memory_order_relaxed);
    if (row == w->head->capacity) {
        thin_out(w);
        row /= 2;
        w->seen = 1;
    }
    double *to = w->rows + row * w->head->n_columns;
    to[0] = point->time;
    for (uint32_t k = 0; k < w->n_sources; k++) {
        KoineSlot slot;
        memcpy(&slot, model->block + w->sources[k].offset, sizeof slot);
        to[k + 1] = column_value(&model->kind->tables->variables[w->sources[k].variable], slot);
    }
    atomic_store_explicit(&w->head->n_rows, row + 1, memory_order_release);
    return KOINE_OK;
}

static KoineStatus live_end(KoineSink *sink, const KoineModel *model)
{
    (void)model;
    LiveWriter *w = (LiveWriter *)sink;
    if (w->head)
        munmap(w->head, w->head->size);
    w->head = NULL;
    return KOINE_OK;
}

KoineSink *live_sink(const char *path, const char *const *globs, uint32_t n_globs, Arena *arena)
{
    LiveWriter *w = NEW(arena, LiveWriter);
    *w = (LiveWriter){ .sink = { .context = w, .begin = live_begin, .point = live_point, .end = live_end },
                       .path = path,
                       .globs = globs,
                       .n_globs = n_globs,
                       .arena = arena };
    return &w->sink;
}

/* ---- the reader ---- */
struct LiveFile {
    LiveHead *head;
    uint64_t n_columns, capacity, n_rows;
    LiveColumn *columns;
    double *rows; /* the copy */
};

/* The texts of the columns, which a damaged file may not have. */
static bool read_columns(LiveFile *file, const char *at, const char *end, Arena *arena)
{
    file->columns = NEW_ARRAY(arena, LiveColumn, file->n_columns);
    for (uint64_t k = 0; k < file->n_columns; k++) {
        const char *parts[4];
        for (uint32_t p = 0; p < 4; p++) {
            const char *zero = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
            if (!zero)
                return false;
            parts[p] = arena_text(arena, at, (size_t)(zero - at));
            at = zero + 1;
        }
        file->columns[k] = (LiveColumn){ parts[0], parts[1], parts[2], parts[3][0] == 'd' };
    }
    return true;
}

LiveFile *live_open(const char *path, Arena *arena, const char **error)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat state;
    if (descriptor < 0 || fstat(descriptor, &state) != 0) {
        *error = arena_format(arena, "cannot read '%s': %s", path, strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        return NULL;
    }
    const uint64_t size = (uint64_t)state.st_size;
    void *at = size > sizeof(LiveHead) ? mmap(NULL, size, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
    close(descriptor);
    *error = arena_format(arena, "'%s' is no preview of a run, or of one that has just begun", path);
    if (at == MAP_FAILED)
        return NULL;
    LiveFile *file = NEW(arena, LiveFile);
    file->head = at;
    const bool is_whole = atomic_load_explicit(&file->head->magic, memory_order_acquire) == MAGIC &&
                          file->head->size == size && file->head->rows_at > sizeof(LiveHead) &&
                          file->head->rows_at <= size && file->head->n_columns > 0 && file->head->n_columns < size &&
                          file->head->capacity <= (size - file->head->rows_at) / sizeof(double) / file->head->n_columns;
    if (is_whole) {
        file->n_columns = file->head->n_columns;
        file->capacity = file->head->capacity;
    }
    const char *texts = (const char *)(file->head + 1);
    if (!is_whole || !read_columns(file, texts, (const char *)at + file->head->rows_at, arena)) {
        munmap(at, size);
        return NULL;
    }
    file->rows = NEW_ARRAY(arena, double, file->capacity * file->n_columns);
    return file;
}

void live_close(LiveFile *file)
{
    munmap(file->head, file->head->size);
}

uint32_t live_columns(const LiveFile *file)
{
    return (uint32_t)file->n_columns;
}

LiveColumn live_column(const LiveFile *file, uint32_t column)
{
    return file->columns[column];
}

uint64_t live_refresh(LiveFile *file)
{
    enum { TRIES = 4 };
    const double *rows = (const double *)((const unsigned char *)file->head + file->head->rows_at);
    for (int k = 0; k < TRIES; k++) {
        const uint64_t turn = atomic_load_explicit(&file->head->turn, memory_order_acquire);
        const uint64_t n = atomic_load_explicit(&file->head->n_rows, memory_order_acquire);
        if (turn % 2 || n > file->capacity)
            continue;
        memcpy(file->rows, rows, n * file->n_columns * sizeof(double));
        if (atomic_load_explicit(&file->head->turn, memory_order_acquire) == turn)
            return file->n_rows = n;
    }
    /* every try met a thinning: what is there may be mixed, so nothing of it is shown this time */
    return file->n_rows = 0;
}

void live_read(const LiveFile *file, uint32_t column, uint64_t first, uint64_t n, double *to)
{
    for (uint64_t k = 0; k < n; k++)
        to[k] = file->rows[(first + k) * file->n_columns + column];
}
