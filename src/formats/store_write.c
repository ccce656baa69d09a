#include "formats/store_write.h"
#include "formats/store_layout.h"
#include "formats/store_pack.h"
#include "formats/store_tile.h"

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static uint32_t most(uint64_t a, uint64_t b)
{
    return (uint32_t)(a > b ? a : b);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

typedef const char *(*TextOf)(const StoreTables *tables, uint32_t k);

static const char *name_of(const StoreTables *tables, uint32_t k)
{
    return tables->rows[k].name;
}

static const char *unit_of(const StoreTables *tables, uint32_t k)
{
    return tables->rows[k].unit;
}

static const char *comment_of(const StoreTables *tables, uint32_t k)
{
    return tables->rows[k].comment;
}

static const char *enumeration_of(const StoreTables *tables, uint32_t k)
{
    return tables->enumerations[k];
}

/* Texts of one length, filled up with zeros. */
static void write_texts(StoreFile *file, const char *path, const StoreTables *tables, TextOf text_of, uint32_t n,
                        Arena *arena)
{
    size_t longest = 1;
    for (uint32_t k = 0; k < n; k++)
        longest = most(longest, strlen(text_of(tables, k)));
    const hid_t type = H5Tcopy(H5T_C_S1);
    store_file_check(file, H5Tset_size(type, longest));
    store_file_check(file, H5Tset_strpad(type, H5T_STR_NULLPAD));
    store_file_check(file, H5Tset_cset(type, H5T_CSET_UTF8));
    const hsize_t extent = n, chunk = most(1, CHUNK_BYTES / longest);
    StoreDataset dataset = store_file_dataset(file, path, type, 1, 0, &extent, &chunk);
    const ArenaMark mark = arena_mark(arena);
    const size_t size = (size_t)chunk * longest;
    unsigned char *planes = file->planes, *packed = file->packed;
    if (longest > CHUNK_BYTES) { /* larger than any chunk of numbers */
        file->planes = NEW_ARRAY(arena, unsigned char, size);
        file->packed = NEW_ARRAY(arena, unsigned char, pack_bound(size));
    }
    char *bytes = NEW_ARRAY(arena, char, size);
    for (hsize_t begin = 0; begin < n; begin += chunk) {
        memset(bytes, 0, size);
        for (uint32_t k = 0; k < chunk && begin + k < n; k++) {
            const char *text = text_of(tables, (uint32_t)begin + k);
            memcpy(bytes + k * longest, text, strlen(text));
        }
        store_file_chunk(file, &dataset, &begin, bytes);
    }
    file->planes = planes;
    file->packed = packed;
    arena_reset(arena, mark);
    store_file_dataset_close(file, &dataset);
    H5Tclose(type);
}

static void write_table(StoreFile *file, const StoreTables *tables, Arena *arena)
{
    enum { ROWS = CHUNK_BYTES / (TABLE_COLUMNS * 4) };
    const hsize_t extent[2] = { tables->n_rows, TABLE_COLUMNS }, chunk[2] = { ROWS, TABLE_COLUMNS };
    StoreDataset dataset = store_file_dataset(file, "/variables/table", H5T_STD_I32LE, 2, 0, extent, chunk);
    const ArenaMark mark = arena_mark(arena);
    int32_t(*const rows)[TABLE_COLUMNS] = arena_alloc(arena, ROWS * sizeof *rows, _Alignof(int32_t));
    for (hsize_t at[2] = { 0, 0 }; at[0] < tables->n_rows; at[0] += ROWS) {
        memset(rows, 0, ROWS * sizeof *rows);
        for (uint32_t k = 0; k < ROWS && at[0] + k < tables->n_rows; k++)
            memcpy(rows[k], tables->rows[at[0] + k].table, sizeof *rows);
        store_file_chunk(file, &dataset, at, rows);
    }
    arena_reset(arena, mark);
    store_file_dataset_close(file, &dataset);
}

/* Bytes of a text that is not known when the dataset is made. */
static void write_text(StoreWriter *writer, StoreDataset *dataset, const char *text)
{
    const size_t size = strlen(text);
    if (writer->file.is_failed) /* there may be no dataset */
        return;
    store_file_extend(&writer->file, dataset, size);
    char *bytes = (char *)writer->room.tile; /* CHUNK_VALUES slots: more than a piece of text */
    const size_t piece = dataset->chunk[0];
    for (hsize_t begin = 0; begin < size; begin += piece) {
        memset(bytes, 0, piece);
        memcpy(bytes, text + begin, size - begin < piece ? size - begin : piece);
        store_file_chunk(&writer->file, dataset, &begin, bytes);
    }
}

/* ---- the datasets ------------------------------------------------------------------------------------------------ */

static hid_t change_type(StoreFile *file)
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct StoreChange));
    store_file_check(file, H5Tinsert(type, "column", offsetof(struct StoreChange, column), H5T_STD_U64LE));
    store_file_check(file, H5Tinsert(type, "row", offsetof(struct StoreChange, row), H5T_STD_U64LE));
    store_file_check(file, H5Tinsert(type, "value", offsetof(struct StoreChange, value), H5T_STD_I64LE));
    return type;
}

static void create_datasets(StoreWriter *w, uint32_t n_constants)
{
    StoreFile *file = &w->file;
    const hsize_t rows = w->block_rows;
    const hsize_t text_chunk = CHUNK_BYTES / 8, none = 0, change_chunk = CHUNK_CHANGES;
    w->data.begin = store_file_dataset(file, "/begin", H5T_STD_U8LE, 1, 0, &none, &text_chunk);
    w->data.end = store_file_dataset(file, "/end", H5T_STD_U8LE, 1, 0, &none, &text_chunk);
    w->data.blocks = store_file_dataset(file, "/blocks", H5T_STD_U64LE, 2, 0, (hsize_t[]){ 0, BLOCK_COLUMNS },
                                        (hsize_t[]){ 1, BLOCK_COLUMNS });
    w->data.values = store_file_dataset(file, "/values", H5T_IEEE_F64LE, 2, 1, (hsize_t[]){ w->n_dense, 0 },
                                        (hsize_t[]){ least(w->n_dense, CHUNK_VALUES / rows), rows });
    w->data.extremes = store_file_dataset(file, "/extremes", H5T_IEEE_F64LE, 3, 1, (hsize_t[]){ w->n_dense, 0, 2 },
                                          (hsize_t[]){ least(w->n_dense, CHUNK_VALUES / (2 * w->spans)), w->spans, 2 });
    w->data.first = store_file_dataset(file, "/first", H5T_STD_I64LE, 2, 1, (hsize_t[]){ w->n_changes, 0 },
                                       (hsize_t[]){ least(w->n_changes, CHUNK_FIRST), 1 });
    const hid_t type = change_type(file);
    w->data.changes = store_file_dataset(file, "/changes", type, 1, 0, &none, &change_chunk);
    H5Tclose(type);
    const hsize_t constants = n_constants, constant_chunk = CHUNK_FIRST;
    w->data.constants = store_file_dataset(file, "/constants", H5T_STD_I64LE, 1, 0, &constants, &constant_chunk);
}

static void choose_sizes(StoreWriter *w, Arena *arena)
{
    enum { LINE = 8 }; /* rows begin with cache lines */
    w->stride = ((uint64_t)w->n_dense + w->n_changes + LINE - 1) / LINE * LINE;
    const uint64_t row = sizeof(KoineSlot) * w->stride;
    w->block_rows = BLOCK_ROWS_MOST;
    while (w->block_rows > BLOCK_ROWS_LEAST && w->block_rows * row > BLOCK_BYTES)
        w->block_rows /= 2;
    w->spans = most(1, w->block_rows / SPAN_ROWS);
    w->room.tile = NEW_ARRAY(arena, KoineSlot, CHUNK_VALUES);
    w->room.pairs = NEW_ARRAY(arena, double, CHUNK_VALUES);
    w->room.firsts = NEW_ARRAY(arena, int64_t, CHUNK_FIRST);
    w->room.list = NEW_ARRAY(arena, struct StoreChange, CHUNK_CHANGES);
}

bool store_writer_open(StoreWriter *w, const char *path, bool is_confined, Arena *arena)
{
    if (!store_file_open(&w->file, path, is_confined))
        return false;
    choose_sizes(w, arena);
    return true;
}

bool store_writer_begin(StoreWriter *w, const StoreTables *tables, Arena *arena)
{
    StoreFile *file = &w->file;
    if (!store_file_create(file, arena))
        return false;
    file->planes = NEW_ARRAY(arena, unsigned char, CHUNK_BYTES);
    file->packed = NEW_ARRAY(arena, unsigned char, pack_bound(CHUNK_BYTES));
    const hid_t text = H5Tcopy(H5T_C_S1);
    static const char FORMAT[] = STORE_FORMAT;
    store_file_check(file, H5Tset_size(text, sizeof FORMAT - 1));
    store_file_attribute(file, "format", text, FORMAT);
    store_file_attribute(file, "version", H5T_NATIVE_INT, &(int){ STORE_VERSION });
    H5Tclose(text);
    const hid_t group = store_file_group(file, "/variables");
    create_datasets(w, tables->n_constants);
    write_texts(file, "/variables/name", tables, name_of, tables->n_rows, arena);
    write_texts(file, "/variables/unit", tables, unit_of, tables->n_rows, arena);
    write_texts(file, "/variables/comment", tables, comment_of, tables->n_rows, arena);
    write_texts(file, "/enumerations", tables, enumeration_of, tables->n_enumerations, arena);
    write_table(file, tables, arena);
    write_text(w, &w->data.begin, tables->begin);
    if (group >= 0)
        store_file_check(file, H5Gclose(group));
    store_file_share(file);
    return !file->is_failed;
}

void store_writer_constants(StoreWriter *w, const KoineSlot *slots, uint32_t n, Arena *arena)
{
    const ArenaMark mark = arena_mark(arena);
    KoineSlot *chunk = NEW_ARRAY(arena, KoineSlot, CHUNK_FIRST);
    for (hsize_t begin = 0; begin < n; begin += CHUNK_FIRST) {
        memset(chunk, 0, CHUNK_FIRST * sizeof *chunk);
        memcpy(chunk, slots + begin, least(n - begin, CHUNK_FIRST) * sizeof *chunk);
        store_file_chunk(&w->file, &w->data.constants, &begin, chunk);
    }
    arena_reset(arena, mark);
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

/* Columns first .. first + count - 1, one after the other. */
static void gather(const StoreWriter *w, const KoineSlot *rows, uint32_t n, uint32_t first, uint32_t count)
{
    const TileSource from = {
        .rows = rows + first,
        .stride = w->stride,
        .n_rows = n,
        .n_columns = count,
        .has_next = first + 2 * count <= w->n_dense + w->n_changes,
    };
    tile_gather(&from, w->block_rows, w->room.tile);
}

/* The pairs of one column of the tile, at its place in the chunk of pairs. */
static void add_extremes(StoreWriter *w, const KoineSlot *values, uint32_t n, uint32_t column)
{
    const uint32_t span = w->block_rows / w->spans, wide = (uint32_t)w->data.extremes.chunk[0];
    double *pairs = w->room.pairs + 2 * (size_t)w->spans * (column % wide);
    for (uint32_t k = 0; k < w->spans; k++)
        tile_extremes(values + k * span, k * span < n ? least(span, n - k * span) : 0, pairs + 2 * k);
    if ((column + 1) % wide == 0 || column + 1 == w->n_dense) {
        const hsize_t at[3] = { column - column % wide, w->n_blocks * w->spans, 0 };
        store_file_chunk(&w->file, &w->data.extremes, at, w->room.pairs);
    }
}

static void write_dense(StoreWriter *w, const KoineSlot *rows, uint32_t n)
{
    const uint32_t height = w->block_rows, wide = (uint32_t)w->data.values.chunk[0];
    store_file_extend(&w->file, &w->data.values, w->n_rows + n);
    store_file_extend(&w->file, &w->data.extremes, (w->n_blocks + 1) * w->spans);
    for (uint32_t first = 0; first < w->n_dense && !w->file.is_failed; first += wide) {
        const uint32_t count = least(wide, w->n_dense - first);
        if (count < wide)
            memset(w->room.tile, 0, CHUNK_VALUES * sizeof *w->room.tile);
        gather(w, rows, n, first, count);
        for (uint32_t c = 0; c < count; c++)
            add_extremes(w, w->room.tile + (size_t)c * height, n, first + c);
        store_file_chunk(&w->file, &w->data.values, (hsize_t[]){ first, w->n_blocks * height }, w->room.tile);
    }
}

static void write_list(StoreWriter *w)
{
    for (uint32_t k = w->room.n_list; k < CHUNK_CHANGES; k++)
        w->room.list[k] = (struct StoreChange){ CHANGE_NONE, 0, 0 };
    const hsize_t at = w->n_listed;
    store_file_extend(&w->file, &w->data.changes, at + CHUNK_CHANGES);
    store_file_chunk(&w->file, &w->data.changes, &at, w->room.list);
    w->n_listed += CHUNK_CHANGES;
    w->room.n_list = 0;
}

static void add_change(StoreWriter *w, uint32_t column, uint64_t row, int64_t value)
{
    w->room.list[w->room.n_list++] = (struct StoreChange){ column, row, value };
    if (w->room.n_list == CHUNK_CHANGES)
        write_list(w);
}

/* The values at the begin of the block, and what changes in it, column by column. */
static void write_changes(StoreWriter *w, const KoineSlot *rows, uint32_t n)
{
    const uint32_t height = w->block_rows, wide = CHUNK_VALUES / height, chunk = (uint32_t)w->data.first.chunk[0];
    store_file_extend(&w->file, &w->data.first, w->n_blocks + 1);
    for (uint32_t first = 0; first < w->n_changes && !w->file.is_failed; first += wide) {
        const uint32_t count = least(wide, w->n_changes - first);
        gather(w, rows, n, w->n_dense + first, count);
        for (uint32_t c = 0; c < count; c++) {
            const KoineSlot *values = w->room.tile + (size_t)c * height;
            const uint32_t column = first + c;
            w->room.firsts[column % chunk] = values[0].i;
            for (uint32_t r = 1; r < n; r++)
                if (values[r].i != values[r - 1].i)
                    add_change(w, column, w->n_rows + r, values[r].i);
            if ((column + 1) % chunk == 0 || column + 1 == w->n_changes)
                store_file_chunk(&w->file, &w->data.first, (hsize_t[]){ column - column % chunk, w->n_blocks },
                                 w->room.firsts);
        }
    }
    if (w->room.n_list > 0)
        write_list(w);
}

bool store_writer_block(StoreWriter *w, const KoineSlot *rows, uint32_t n, bool is_for_now)
{
    const uint64_t listed = w->n_listed;
    const uint64_t entry[BLOCK_COLUMNS] = { w->n_rows + n, listed };
    write_dense(w, rows, n);
    write_changes(w, rows, n);
    store_file_flush(&w->file);
    /* Whoever sees the entry finds all that it stands for. */
    store_file_extend(&w->file, &w->data.blocks, w->n_blocks + 1);
    store_file_chunk(&w->file, &w->data.blocks, (hsize_t[]){ w->n_blocks, 0 }, entry);
    store_file_flush(&w->file);
    if (w->file.is_failed)
        return false;
    if (is_for_now) {
        w->n_listed = listed;
        return true;
    }
    w->n_blocks++;
    w->n_rows += n;
    return true;
}

bool store_writer_end(StoreWriter *w, const char *end)
{
    if (end)
        write_text(w, &w->data.end, end);
    StoreDataset *const all[] = { &w->data.blocks,  &w->data.values,    &w->data.extremes, &w->data.first,
                                  &w->data.changes, &w->data.constants, &w->data.begin,    &w->data.end };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        store_file_dataset_close(&w->file, all[k]);
    return store_file_close(&w->file);
}
