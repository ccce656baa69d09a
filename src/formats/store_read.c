#include "formats/store_read.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/store_layout.h"
#include "formats/store_pack.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

static StoreHand *hand_for(Store *store, const Hdf5Dataset *dataset)
{
    return &store->hands[dataset == &store->data.values    ? HAND_VALUES
                         : dataset == &store->data.changes ? HAND_CHANGES
                                                           : HAND_OTHER];
}

/* Decodes a chunk unless it is the one at hand. */
static bool open_chunk(Store *store, const Hdf5Dataset *dataset, uint64_t k)
{
    StoreHand *hand = hand_for(store, dataset);
    if (hand->dataset == dataset && hand->chunk == k)
        return true;
    hand->dataset = NULL;
    if (!hdf5_chunk(&store->file, dataset, k, &hand->scratch)) {
        store->info.n_damaged += k < dataset->n_chunks && dataset->chunks[k].is_there;
        return false;
    }
    hand->dataset = dataset;
    hand->chunk = k;
    return true;
}

/* Of the chunk that was opened last for this dataset. */
static void take_elements(Store *store, const Hdf5Dataset *dataset, uint64_t first, uint64_t n, void *to)
{
    unshuffle(hand_for(store, dataset)->scratch.planes, dataset->elements, dataset->width, first, n, to);
}

static void forget_hands(Store *store)
{
    for (int k = 0; k < STORE_HANDS; k++)
        store->hands[k].dataset = NULL;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

typedef struct {
    Store *store;
    const char *path;
    Arena *arena;
    Diag *diag;
} Opening;

static bool damaged(const Opening *o, const char *what)
{
    diag_error(o->diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s: %s", o->path, what);
    return false;
}

static bool refuse(const Opening *o, Hdf5Status status, const char *what)
{
    if (status == HDF5_OTHER)
        return damaged(o, "this HDF5 file is not a result of Koine");
    diag_error(o->diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s: %s cannot be read: the file is damaged or was cut off",
               o->path, what);
    return false;
}

static bool open_dataset(const Opening *o, const char *name, Arena *arena, int rank, uint32_t width, Hdf5Dataset *d)
{
    const Hdf5Status status = hdf5_dataset(&o->store->file, name, arena, d);
    if (status != HDF5_GOOD)
        return refuse(o, status, name);
    if (d->rank != rank || (width && d->width != width))
        return refuse(o, HDF5_OTHER, name);
    return true;
}

/* All elements of a dataset that grows along its first dimension. NULL: reported. */
static void *read_whole(const Opening *o, const char *name, int rank, uint32_t width, uint64_t *n)
{
    Hdf5Dataset d;
    if (!open_dataset(o, name, o->arena, rank, width, &d))
        return NULL;
    const uint64_t row = d.elements / d.chunk[0] * d.width;
    *n = d.extent[0];
    if (d.growing != 0 || d.n_chunks * d.chunk[0] < *n || row == 0)
        return refuse(o, HDF5_DAMAGED, name), NULL;
    unsigned char *bytes = arena_alloc(o->arena, *n * row + 1, 8); /* ended by 0 */
    for (uint64_t k = 0; k < d.n_chunks; k++) {
        const uint64_t first = k * d.chunk[0], count = *n - first < d.chunk[0] ? *n - first : d.chunk[0];
        if (!open_chunk(o->store, &d, k))
            return refuse(o, HDF5_DAMAGED, name), NULL;
        take_elements(o->store, &d, 0, count * (row / d.width), bytes + first * row);
    }
    forget_hands(o->store); /* d goes */
    return bytes;
}

/* Texts of equal length as texts of their own. NULL: reported. */
static const char **read_texts(const Opening *o, const char *name, uint64_t *n)
{
    Hdf5Dataset d;
    if (!open_dataset(o, name, o->arena, 1, 0, &d))
        return NULL;
    *n = d.extent[0];
    if (d.n_chunks * d.chunk[0] < *n || *n >= UINT32_MAX)
        return refuse(o, HDF5_DAMAGED, name), NULL;
    const char **const texts = NEW_ARRAY(o->arena, const char *, *n + 1);
    char *text = hdf5_allocate(d.width);
    bool is_good = text;
    for (uint64_t k = 0; k < *n && is_good; k++) {
        is_good = open_chunk(o->store, &d, k / d.chunk[0]);
        if (!is_good)
            break;
        take_elements(o->store, &d, k % d.chunk[0], 1, text);
        texts[k] = arena_text(o->arena, text, strnlen(text, d.width));
    }
    free(text);
    forget_hands(o->store);
    if (!is_good)
        refuse(o, HDF5_DAMAGED, name);
    return is_good ? texts : NULL;
}

typedef struct {
    const char *name;
    const char **labels;
    uint32_t n;
} Enumeration;

static Enumeration split_enumeration(const char *text, Arena *arena)
{
    VEC(const char *) lines = { 0 };
    for (;;) {
        const size_t n = strcspn(text, "\n");
        vec_push(arena, &lines, arena_text(arena, text, n));
        if (!text[n])
            break;
        text += n + 1;
    }
    return (Enumeration){ lines.at[0], lines.at + 1, lines.n - 1 };
}

static bool is_row_good(const Store *store, const int32_t *row, uint64_t n_enumerations)
{
    const int64_t columns[3] = { [STORE_CONSTANT] = (int64_t)store->data.constants.extent[0],
                                 [STORE_DENSE] = store->shape.n_dense,
                                 [STORE_CHANGES] = store->shape.n_changes };
    return row[TABLE_STORAGE] >= 0 && row[TABLE_STORAGE] <= STORE_CHANGES && row[TABLE_COLUMN] >= 0 &&
           row[TABLE_COLUMN] < columns[row[TABLE_STORAGE]] && row[TABLE_TYPE] >= KOINE_REAL &&
           row[TABLE_TYPE] <= KOINE_ENUMERATION && row[TABLE_VARIABILITY] >= 0 &&
           row[TABLE_VARIABILITY] <= KOINE_VARIABILITY_CONTINUOUS && row[TABLE_CAUSALITY] >= 0 &&
           row[TABLE_CAUSALITY] <= KOINE_CAUSALITY_PARAMETER && row[TABLE_ENUMERATION] < (int64_t)n_enumerations;
}

static bool read_variables(const Opening *o)
{
    Store *store = o->store;
    uint64_t n[5];
    const char **const names = read_texts(o, "/variables/name", &n[0]);
    const char **const units = names ? read_texts(o, "/variables/unit", &n[1]) : NULL;
    const char **const comments = units ? read_texts(o, "/variables/comment", &n[2]) : NULL;
    const char **const texts = comments ? read_texts(o, "/enumerations", &n[3]) : NULL;
    const int32_t(*const table)[TABLE_COLUMNS] = texts ? read_whole(o, "/variables/table", 2, 4, &n[4]) : NULL;
    if (!table)
        return false;
    if (n[0] == 0 || n[1] != n[0] || n[2] != n[0] || n[4] != n[0])
        return damaged(o, "the tables of variables do not fit together");
    Enumeration *enumerations = NEW_ARRAY(o->arena, Enumeration, n[3]);
    for (uint64_t k = 0; k < n[3]; k++)
        enumerations[k] = split_enumeration(texts[k], o->arena);
    StoreVariable *variables = NEW_ARRAY(o->arena, StoreVariable, n[0]);
    map_init(&store->by_name, o->arena, (uint32_t)n[0]);
    for (uint32_t k = 0; k < n[0]; k++) {
        const int32_t *row = table[k];
        if (!is_row_good(store, row, n[3]))
            return damaged(o, "the table of variables names columns that do not exist");
        variables[k] = (StoreVariable){ .name = names[k], .unit = units[k], .comment = comments[k] };
        variables[k].storage = (uint8_t)row[TABLE_STORAGE];
        variables[k].column = (uint32_t)row[TABLE_COLUMN];
        variables[k].is_negated = row[TABLE_NEGATED] != 0;
        variables[k].type = (uint8_t)row[TABLE_TYPE];
        variables[k].variability = (uint8_t)row[TABLE_VARIABILITY];
        variables[k].causality = (uint8_t)row[TABLE_CAUSALITY];
        if (row[TABLE_ENUMERATION] >= 0) {
            const Enumeration *e = &enumerations[row[TABLE_ENUMERATION]];
            variables[k].enumeration = e->name;
            variables[k].labels = e->labels;
            variables[k].n_labels = e->n;
        }
        const uint64_t hash = hash_bytes(names[k], strlen(names[k]), 0);
        uint32_t known;
        if (!map_get(&store->by_name, hash, &known))
            map_put(&store->by_name, hash, k);
    }
    store->info.variables = variables;
    store->info.n_variables = (uint32_t)n[0];
    if (variables[0].storage != STORE_DENSE || variables[0].column != 0)
        return damaged(o, "the first variable is not the time");
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool open_columns(const Opening *o)
{
    Store *s = o->store;
    Arena *arena = s->index;
    if (!open_dataset(o, "/blocks", arena, 2, 8, &s->data.blocks) ||
        !open_dataset(o, "/values", arena, 2, 8, &s->data.values) ||
        !open_dataset(o, "/extremes", arena, 3, 8, &s->data.extremes) ||
        !open_dataset(o, "/first", arena, 2, 8, &s->data.first) ||
        !open_dataset(o, "/changes", arena, 1, sizeof(StoreChange), &s->data.changes) ||
        !open_dataset(o, "/constants", arena, 1, 8, &s->data.constants))
        return false;
    const bool is_good =
        s->data.blocks.chunk[0] == 1 && s->data.blocks.chunk[1] == BLOCK_COLUMNS && s->data.values.growing == 1 &&
        s->data.extremes.growing == 1 && s->data.first.growing == 1 && s->data.first.chunk[1] == 1 &&
        s->data.extremes.chunk[2] == 2 && s->data.extremes.extent[2] == 2 && s->data.values.extent[0] >= 1 &&
        s->data.values.extent[0] == s->data.extremes.extent[0] && s->data.first.extent[0] >= MARK_COLUMNS &&
        s->data.values.extent[0] < INT32_MAX && s->data.first.extent[0] < INT32_MAX &&
        s->data.values.chunk[1] % s->data.extremes.chunk[1] == 0 && s->data.values.chunk[1] <= UINT32_MAX;
    if (!is_good)
        return refuse(o, HDF5_OTHER, "/values");
    s->shape.n_dense = (uint32_t)s->data.values.extent[0];
    s->shape.n_changes = (uint32_t)s->data.first.extent[0];
    s->shape.block_rows = (uint32_t)s->data.values.chunk[1];
    s->shape.span_rows = s->shape.block_rows / (uint32_t)s->data.extremes.chunk[1];
    return true;
}

/* Blocks up to the last whose entry can be read. Those before it are full. */
static void read_blocks(Store *s)
{
    s->n_blocks = 0;
    s->info.n_rows = 0;
    s->info.is_closed = s->file.promised > 0;
    s->block_changes = NEW_ARRAY(s->index, uint64_t, s->data.blocks.n_chunks + 1);
    for (uint64_t k = 0; k < s->data.blocks.n_chunks; k++) {
        uint64_t entry[BLOCK_COLUMNS];
        s->block_changes[k] = CHANGE_NONE;
        if (!open_chunk(s, &s->data.blocks, k))
            continue;
        take_elements(s, &s->data.blocks, 0, BLOCK_COLUMNS, entry);
        const uint64_t first = k * s->shape.block_rows;
        if (entry[BLOCK_ROWS] <= first || entry[BLOCK_ROWS] > first + s->shape.block_rows ||
            entry[BLOCK_CHANGES] > s->data.changes.extent[0] || entry[BLOCK_CHANGES] % s->data.changes.chunk[0] != 0)
            continue;
        s->block_changes[k] = entry[BLOCK_CHANGES];
        s->n_blocks = k + 1;
        s->info.n_rows = entry[BLOCK_ROWS];
        if (entry[BLOCK_ROWS] < first + s->shape.block_rows)
            break;
    }
    s->block_changes[s->n_blocks] = s->data.changes.extent[0];
}

static bool is_whole(const Store *s, const Hdf5Dataset *d, uint64_t block, uint64_t chunks)
{
    for (uint64_t k = block * chunks; k < (block + 1) * chunks; k++)
        if (k >= d->n_chunks || !d->chunks[k].is_there || d->chunks[k].address > s->file.size ||
            d->chunks[k].size > s->file.size - d->chunks[k].address)
            return false;
    return true;
}

static void report_lost(const Store *s, const Opening *o, bool is_index_damaged)
{
    if (s->file.size < s->file.promised)
        diag_warning(o->diag, DIAG_RESULT_LOST, SPAN_NONE,
                     "%s: the file was cut off: %llu of %llu bytes are there; %llu rows can be read, in %llu of them "
                     "something is lost",
                     o->path, (unsigned long long)s->file.size, (unsigned long long)s->file.promised,
                     (unsigned long long)s->info.n_rows, (unsigned long long)s->info.lost_rows);
    else
        diag_warning(o->diag, DIAG_RESULT_LOST, SPAN_NONE,
                     "%s: the file is damaged; in %llu of %llu rows%s something is lost", o->path,
                     (unsigned long long)s->info.lost_rows, (unsigned long long)s->info.n_rows,
                     is_index_damaged ? ", and in all after them," : "");
    diag_help(o->diag, "what is lost reads as nan; run the experiment again or copy the file again, when it matters");
}

static void count_lost(Store *s, const Opening *o)
{
    s->info.lost_rows = 0;
    for (uint64_t b = 0; b < s->n_blocks; b++)
        if (!is_whole(s, &s->data.values, b, s->data.values.across) ||
            !is_whole(s, &s->data.first, b, s->data.first.across) || s->block_changes[b] == CHANGE_NONE) {
            const uint64_t end = (b + 1) * s->shape.block_rows;
            s->info.lost_rows += (end < s->info.n_rows ? end : s->info.n_rows) - b * s->shape.block_rows;
        }
    const bool is_index_damaged = s->data.blocks.is_index_damaged || s->data.values.is_index_damaged ||
                                  s->data.first.is_index_damaged || s->data.changes.is_index_damaged;
    if (o && (s->info.lost_rows || is_index_damaged || s->file.size < s->file.promised))
        report_lost(s, o, is_index_damaged);
}

/* The text of /end, or NULL: the run goes on, was killed, or the end of the file is lost. */
static const char *read_end(Store *store, Arena *arena)
{
    uint64_t n = 0;
    const ArenaMark mark = arena_mark(store->index);
    const Opening quiet = { store, store->path, arena, diag_create(store->index, sources_create(store->index)) };
    const char *end = read_whole(&quiet, "/end", 1, 1, &n);
    arena_reset(store->index, mark);
    return n > 0 ? end : NULL;
}

static bool read_provenance(const Opening *o)
{
    uint64_t n = 0;
    o->store->info.begin = read_whole(o, "/begin", 1, 1, &n);
    o->store->info.end = read_end(o->store, o->arena);
    return o->store->info.begin;
}

static bool open_store(const Opening *o)
{
    Store *s = o->store;
    const Hdf5Status status = hdf5_open(&s->file, s->descriptor);
    int32_t version = 0;
    if (status == HDF5_NOT_HDF5)
        return damaged(o, "this is not an HDF5 file");
    if (status != HDF5_GOOD)
        return refuse(o, status, "the begin of the file");
    const Hdf5Status has_version = hdf5_number(&s->file, "version", &version);
    if (has_version != HDF5_GOOD)
        return refuse(o, has_version, "the root of the file");
    if (version != STORE_VERSION) {
        diag_error(o->diag, DIAG_RESULT_DAMAGED, SPAN_NONE, "%s: this result has version %d; version %d is known here",
                   o->path, (int)version, STORE_VERSION);
        return false;
    }
    if (!open_columns(o))
        return false;
    if (!read_variables(o) || !read_provenance(o))
        return false;
    read_blocks(s);
    count_lost(s, o);
    return true;
}

static void report_unreadable(Diag *diag, const char *path, int error)
{
    char reason[128];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", error);
    diag_error(diag, error == ENOENT ? DIAG_FILE_MISSING : DIAG_FILE_UNREADABLE, SPAN_NONE, "cannot read '%s': %s",
               path, reason);
}

bool store_is_file(const void *bytes, size_t size)
{
    return hdf5_is_file(bytes, size);
}

static Store *open_descriptor(int descriptor, const char *path, bool is_unchecked, Arena *arena, Diag *diag)
{
    Store *store = NEW(arena, Store);
    store->path = arena_text(arena, path, strlen(path));
    store->arena = arena;
    store->index = arena_create_like(arena);
    store->descriptor = descriptor;
    store->file.is_unchecked = is_unchecked;
    const Opening opening = { store, path, arena, diag };
    if (open_store(&opening))
        return store;
    store_close(store);
    return NULL;
}

Store *store_open(const char *path, Arena *arena, Diag *diag)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return report_unreadable(diag, path, errno), NULL;
    return open_descriptor(descriptor, path, false, arena, diag);
}

Store *store_open_unchecked(int descriptor, Arena *arena, Diag *diag)
{
    return open_descriptor(descriptor, "fuzz.h5", true, arena, diag);
}

void store_close(Store *store)
{
    close(store->descriptor);
    for (int k = 0; k < STORE_HANDS; k++)
        hdf5_scratch_free(&store->hands[k].scratch);
    free(store->times.at);
    store->times.at = NULL;
    arena_destroy(store->index);
}

const StoreInfo *store_info(const Store *store)
{
    return &store->info;
}

uint32_t store_find(const Store *store, const char *name)
{
    uint32_t k;
    if (!map_get(&store->by_name, hash_bytes(name, strlen(name), 0), &k))
        return UINT32_MAX;
    for (; k < store->info.n_variables; k++) /* of two names with one hash the first is in the map */
        if (strcmp(store->info.variables[k].name, name) == 0)
            return k;
    return UINT32_MAX;
}

bool store_refresh(Store *s)
{
    const uint64_t before = s->info.n_rows;
    const bool had_end = s->info.end;
    Store fresh = *s;
    fresh.index = arena_create_like(s->arena);
    forget_hands(&fresh);
    Sources *sources = sources_create(fresh.index);
    const Opening opening = { &fresh, s->path, fresh.index, diag_create(fresh.index, sources) };
    const bool is_good = hdf5_open(&fresh.file, s->descriptor) == HDF5_GOOD && open_columns(&opening) &&
                         fresh.shape.n_dense == s->shape.n_dense && fresh.shape.n_changes == s->shape.n_changes &&
                         fresh.shape.block_rows == s->shape.block_rows && fresh.shape.span_rows == s->shape.span_rows;
    if (is_good)
        read_blocks(&fresh);
    forget_hands(&fresh);                           /* what they point to is in `fresh` */
    memcpy(s->hands, fresh.hands, sizeof s->hands); /* they may have grown */
    if (!is_good || fresh.info.n_rows < before) {   /* read in the middle of a change: next time */
        arena_destroy(fresh.index);
        return false;
    }
    arena_destroy(s->index);
    *s = fresh;
    count_lost(s, NULL);
    if (!had_end)
        s->info.end = read_end(s, s->arena);
    return s->info.n_rows > before || had_end != (s->info.end != NULL);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

typedef struct {
    uint64_t first, n; /* rows in all */
    KoineSlot *to;
    KoineSlot lost;
} Range;

/* The part of block b that belongs to the range. */
static void cut(const Store *s, const Range *range, uint64_t b, uint64_t *first, uint64_t *n)
{
    const uint64_t begin = b * s->shape.block_rows, end = begin + s->shape.block_rows, last = range->first + range->n;
    *first = begin > range->first ? begin : range->first;
    *n = (end < last ? end : last) - *first;
}

static void fill(const Range *range, uint64_t first, uint64_t n, KoineSlot value)
{
    for (uint64_t k = 0; k < n; k++)
        range->to[first - range->first + k] = value;
}

static void read_dense(Store *s, uint32_t column, uint64_t b, const Range *range)
{
    uint64_t first, n;
    cut(s, range, b, &first, &n);
    const uint64_t wide = s->data.values.chunk[0];
    if (open_chunk(s, &s->data.values, b * s->data.values.across + column / wide))
        take_elements(s, &s->data.values, column % wide * s->shape.block_rows + first % s->shape.block_rows, n,
                      range->to + (first - range->first));
    else
        fill(range, first, n, range->lost);
}

static StoreChange change_at(Store *s, uint64_t k)
{
    StoreChange change;
    take_elements(s, &s->data.changes, k, 1, &change);
    return change;
}

/* The first chunk of the block that may have changes of the column; they are sorted by column. */
static uint64_t find_chunk(Store *s, uint64_t from, uint64_t to, uint64_t column)
{
    const uint64_t last = s->data.changes.elements - 1;
    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;
        if (open_chunk(s, &s->data.changes, middle) && change_at(s, last).column < column)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Applies the changes of a column in block b to what is behind them. False: some are lost. */
static bool apply_changes(Store *s, uint32_t column, uint64_t b, uint64_t first, uint64_t n, KoineSlot *to)
{
    const uint64_t wide = s->data.changes.chunk[0];
    uint64_t end = s->block_changes[b + 1];
    for (uint64_t k = b + 2; end == CHANGE_NONE && k <= s->n_blocks; k++)
        end = s->block_changes[k];
    if (s->block_changes[b] == CHANGE_NONE)
        return false;
    const uint64_t last_chunk = (end + wide - 1) / wide;
    uint64_t next = first; /* first row that does not have its value yet */
    KoineSlot value = to[0];
    bool is_past = false;
    for (uint64_t k = find_chunk(s, s->block_changes[b] / wide, last_chunk, column); k < last_chunk && !is_past; k++) {
        if (!open_chunk(s, &s->data.changes, k))
            return false;
        for (uint64_t i = 0; i < wide && !is_past; i++) {
            const StoreChange change = change_at(s, i);
            is_past = change.column > column || (change.column == column && change.row >= first + n);
            if (is_past || change.column < column)
                continue;
            for (; next < change.row; next++)
                to[next - first] = value;
            value.i = change.value;
        }
    }
    for (; next < first + n; next++)
        to[next - first] = value;
    return true;
}

static void read_changes(Store *s, uint32_t column, uint64_t b, const Range *range)
{
    uint64_t first, n;
    cut(s, range, b, &first, &n);
    const uint64_t wide = s->data.first.chunk[0];
    KoineSlot *to = range->to + (first - range->first);
    if (!open_chunk(s, &s->data.first, b * s->data.first.across + column / wide)) {
        fill(range, first, n, range->lost);
        return;
    }
    take_elements(s, &s->data.first, column % wide, 1, to);
    if (!apply_changes(s, column, b, first, n, to))
        fill(range, first, n, range->lost);
}

/* The column as it is stored, without the sign of an alias. */
static void read_column(Store *s, StoreStorage storage, uint32_t column, const Range *range)
{
    if (storage == STORE_CONSTANT) {
        KoineSlot value = range->lost; /* or not written yet: the run has just begun */
        if (open_chunk(s, &s->data.constants, column / s->data.constants.chunk[0]))
            take_elements(s, &s->data.constants, column % s->data.constants.chunk[0], 1, &value);
        fill(range, range->first, range->n, value);
        return;
    }
    const uint64_t end = range->first + range->n;
    for (uint64_t b = range->first / s->shape.block_rows; b * s->shape.block_rows < end && range->n > 0; b++) {
        if (storage == STORE_DENSE)
            read_dense(s, column, b, range);
        else
            read_changes(s, column, b, range);
    }
}

static KoineSlot lost_value(const StoreVariable *v)
{
    return v->type == KOINE_REAL ? (KoineSlot){ .r = (double)NAN } : (KoineSlot){ .i = INT64_MIN };
}

void store_slots(Store *store, uint32_t variable, uint64_t first, uint64_t n, KoineSlot *slots)
{
    const StoreVariable *v = &store->info.variables[variable];
    const Range range = { first, n, slots, lost_value(v) };
    read_column(store, (StoreStorage)v->storage, v->column, &range);
    for (uint64_t k = 0; k < n && v->is_negated; k++) {
        if (v->type == KOINE_REAL)
            slots[k].r = -slots[k].r;
        else if (slots[k].i != range.lost.i)
            slots[k].i = v->type == KOINE_BOOLEAN ? !slots[k].i : (int64_t) - (uint64_t)slots[k].i;
    }
}

_Static_assert(sizeof(double) == sizeof(KoineSlot), "a slot becomes a number in place");

void store_values(Store *store, uint32_t variable, uint64_t first, uint64_t n, double *values)
{
    KoineSlot *slots = (KoineSlot *)(void *)values;
    store_slots(store, variable, first, n, slots);
    if (store->info.variables[variable].type == KOINE_REAL)
        return;
    for (uint64_t k = 0; k < n; k++) {
        const int64_t value = slots[k].i;
        slots[k].r = value == INT64_MIN ? (double)NAN : (double)value;
    }
}

void store_read_spans(Store *s, uint32_t column, uint64_t first, uint64_t n, StorePair *pairs)
{
    const uint64_t wide = s->data.extremes.chunk[0], high = s->data.extremes.chunk[1];
    for (uint64_t k = first; k < first + n; k++) {
        StorePair *pair = &pairs[k - first];
        *pair = (StorePair){ (double)NAN, (double)NAN };
        if (open_chunk(s, &s->data.extremes, k / high * s->data.extremes.across + column / wide))
            take_elements(s, &s->data.extremes, (column % wide * high + k % high) * 2, 2, pair);
    }
}

void store_kinds(Store *store, uint64_t first, uint64_t n, uint8_t *kinds, uint32_t *event_steps)
{
    enum { PIECE = 1024 };
    KoineSlot slots[PIECE];
    while (n > 0) {
        const uint64_t piece = n < PIECE ? n : PIECE;
        const Range range = { first, piece, slots, { .i = 0 } };
        if (kinds)
            read_column(store, STORE_CHANGES, COLUMN_KIND, &range);
        for (uint64_t k = 0; k < piece && kinds; k++)
            *kinds++ = (uint8_t)slots[k].i;
        if (event_steps)
            read_column(store, STORE_CHANGES, COLUMN_EVENT_STEP, &range);
        for (uint64_t k = 0; k < piece && event_steps; k++)
            *event_steps++ = (uint32_t)slots[k].i;
        first += piece;
        n -= piece;
    }
}
