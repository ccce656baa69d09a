/* The sink that writes MAT files; see mat.h. */
#include "formats/mat.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "formats/mat_layout.h"
#include "formats/output.h"
#include "formats/select.h"

static const uint64_t MAT_LIMIT = INT32_MAX;

typedef struct { /* one row of data_1 or data_2 */
    uint64_t offset;
    uint8_t type;
    bool is_inverted; /* a Boolean's negation, which no sign can express */
} DataRow;

typedef struct {
    VEC(DataRow) rows; /* without the time in front */
    Map by_slot;
} DataMatrix;

typedef struct {
    KoineSink sink; /* first: the sink is the writer */
    MatOptions options;
    Arena *arena;
    Output output;
    DataMatrix fixed, varying;                /* data_1, data_2 */
    uint64_t stop_time_at, count_at, data_at; /* places in the file */
    double last_time;
    uint64_t n_points;
    bool is_open, has_data;
} MatWriter;

static KoineStatus fail(MatWriter *writer)
{
    output_failure(&writer->output, writer->sink.error, sizeof writer->sink.error);
    return KOINE_FAILED;
}

static int32_t matrix_type(int number, int class)
{
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    return (first ? 0 : 1000) + 10 * number + class;
}

static void write_head(MatWriter *writer, const char *name, int32_t type, size_t rows, size_t columns)
{
    const MatHead head = { type, (int32_t)rows, (int32_t)columns, 0, (int32_t)strlen(name) + 1 };
    output_bytes(&writer->output, &head, sizeof head);
    output_bytes(&writer->output, name, strlen(name) + 1);
}

static void write_aclass(MatWriter *writer)
{
    static const char *const rows[ACLASS_ROWS] = { "Atrajectory", "1.1", "", "binTrans" };
    write_head(writer, "Aclass", matrix_type(MAT_UINT8, MAT_TEXT), ACLASS_ROWS, ACLASS_COLUMNS);
    for (size_t c = 0; c < ACLASS_COLUMNS; c++)
        for (size_t r = 0; r < ACLASS_ROWS; r++)
            output_bytes(&writer->output, c < strlen(rows[r]) ? &rows[r][c] : " ", 1);
}

/* Texts of different length in one buffer, for the matrices name and description. */
typedef struct {
    Text bytes;
    VEC(size_t) begins;
    size_t longest;
} Texts;

static void texts_begin(Texts *texts)
{
    vec_push(texts->bytes.arena, &texts->begins, texts->bytes.n);
}

static void texts_end(Texts *texts)
{
    const size_t length = texts->bytes.n - texts->begins.at[texts->begins.n - 1];
    if (length > texts->longest)
        texts->longest = length;
}

static void write_texts(MatWriter *writer, const char *name, const Texts *texts)
{
    const size_t rows = texts->longest ? texts->longest : 1;
    write_head(writer, name, matrix_type(MAT_UINT8, MAT_TEXT), rows, texts->begins.n);
    char *padding = NEW_ARRAY(writer->arena, char, rows);
    for (uint32_t i = 0; i < texts->begins.n; i++) {
        const size_t begin = texts->begins.at[i];
        const size_t end = i + 1 < texts->begins.n ? texts->begins.at[i + 1] : texts->bytes.n;
        output_bytes(&writer->output, texts->bytes.at + begin, end - begin);
        output_bytes(&writer->output, padding, rows - (end - begin));
    }
}

/* "comment [unit]", with the values of an enumeration: "{1 closed, 2 open}". */
static void add_description(const KoineTables *tables, const KoineVariable *variable, Text *text)
{
    const size_t begin = text->n;
    if (variable->comment)
        text_add(text, variable->comment);
    if (variable->unit && variable->unit[0])
        text_format(text, "%s[%s]", text->n > begin ? " " : "", variable->unit);
    if (variable->type != KOINE_ENUMERATION || variable->enumeration >= tables->types.n_enumerations)
        return;
    const KoineEnumeration *enumeration = &tables->types.enumerations[variable->enumeration];
    text_add(text, text->n > begin ? " {" : "{");
    for (uint32_t k = 0; k < enumeration->n; k++)
        text_format(text, "%s%u %s", k ? ", " : "", (unsigned)k + 1, enumeration->values[k]);
    text_char(text, '}');
}

/* The row of the matrix that holds the column's values, from 1 on, the time being 1; negative: with minus. */
static int32_t place_column(MatWriter *writer, const KoineVariable *variable, uint64_t offset, DataMatrix *matrix)
{
    const bool is_negated = variable->flags & KOINE_VARIABLE_NEGATED;
    const bool is_inverted = is_negated && variable->type == KOINE_BOOLEAN;
    const int32_t sign = is_negated && !is_inverted ? -1 : 1;
    uint32_t row;
    const uint64_t key = offset * 2 + is_inverted;
    if (!map_get(&matrix->by_slot, key, &row)) {
        const DataRow added = { offset, variable->type, is_inverted };
        row = matrix->rows.n;
        vec_push(writer->arena, &matrix->rows, added);
        map_put(&matrix->by_slot, key, row);
    }
    return sign * (int32_t)(row + 2);
}

typedef struct {
    int32_t matrix, column, interpolation, extrapolation;
} DataInfo;

static KoineStatus write_directory(MatWriter *writer, const KoineTables *tables, const Selection *selection)
{
    Texts names = { .bytes = { .arena = writer->arena } }, descriptions = { .bytes = { .arena = writer->arena } };
    DataInfo *info = NEW_ARRAY(writer->arena, DataInfo, selection->n + 1);
    info[0] = (DataInfo){ 0, 1, 0, -1 }; /* the abscissa of all matrices */
    texts_begin(&names);
    text_add(&names.bytes, "time");
    texts_end(&names);
    texts_begin(&descriptions);
    texts_end(&descriptions);
    for (uint32_t i = 0; i < selection->n; i++) {
        const Column *column = &selection->at[i];
        const KoineVariable *variable = &tables->variables[column->variable];
        const bool is_fixed = variable->variability <= KOINE_VARIABILITY_PARAMETER;
        texts_begin(&names);
        column_name(tables, column, &names.bytes);
        texts_end(&names);
        texts_begin(&descriptions);
        add_description(tables, variable, &descriptions.bytes);
        texts_end(&descriptions);
        DataMatrix *matrix = is_fixed ? &writer->fixed : &writer->varying;
        info[i + 1] = (DataInfo){ is_fixed ? 1 : 2, place_column(writer, variable, column->offset, matrix), 0, -1 };
    }
    const uint64_t n = selection->n + 1;
    if (names.longest * n > MAT_LIMIT || descriptions.longest * n > MAT_LIMIT || sizeof *info * n > MAT_LIMIT) {
        snprintf(writer->sink.error, sizeof writer->sink.error,
                 "too many variables for a MAT file: %llu; write CSV or choose fewer with --variables",
                 (unsigned long long)n);
        return KOINE_FAILED;
    }
    write_aclass(writer);
    write_texts(writer, "name", &names);
    write_texts(writer, "description", &descriptions);
    write_head(writer, "dataInfo", matrix_type(MAT_INT32, MAT_NUMERIC), 4, n);
    output_bytes(&writer->output, info, sizeof *info * n);
    return writer->output.failure ? fail(writer) : KOINE_OK;
}

static KoineStatus mat_begin(KoineSink *sink, const KoineModel *model)
{
    MatWriter *writer = (MatWriter *)sink;
    const MatOptions *options = &writer->options;
    const KoineTables *tables = model->kind->tables;
    Selection selection;
    SelectionMiss miss;
    if (!select_columns(tables, options->globs, options->n_globs, SELECT_PARAMETERS, writer->arena, &selection,
                        &miss)) {
        selection_miss_text(&miss, options->globs, sink->error, sizeof sink->error);
        return KOINE_FAILED;
    }
    if (strcmp(options->path, "-") == 0) {
        snprintf(sink->error, sizeof sink->error, "a MAT file cannot be written to the standard output");
        return KOINE_FAILED;
    }
    if (!output_open(&writer->output, options->path, false, options->is_confined))
        return fail(writer);
    writer->is_open = true;
    map_init(&writer->fixed.by_slot, writer->arena, 64);
    map_init(&writer->varying.by_slot, writer->arena, selection.n);
    output_buffer(&writer->output, writer->arena, (size_t)(selection.n + 1) * sizeof(double));
    return write_directory(writer, tables, &selection);
}

static double row_value(const DataRow *row, const KoineModel *model)
{
    KoineSlot slot;
    memcpy(&slot, model->block + row->offset, sizeof slot);
    if (row->type == KOINE_REAL)
        return slot.r;
    if (row->type == KOINE_BOOLEAN)
        return row->is_inverted != (slot.i != 0);
    return (double)slot.i;
}

/* data_1 and the head of data_2, once the parameters have their values: at the first point. */
static bool begin_data(MatWriter *writer, const KoineModel *model, double time)
{
    Output *output = &writer->output;
    const size_t n = writer->fixed.rows.n;
    write_head(writer, "data_1", matrix_type(MAT_DOUBLE, MAT_NUMERIC), n + 1, 2);
    for (int end = 0; end < 2; end++) {
        if (end == 1)
            writer->stop_time_at = output->written + output->used;
        output_bytes(output, &time, sizeof time);
        for (size_t i = 0; i < n; i++) {
            const double value = row_value(&writer->fixed.rows.at[i], model);
            output_bytes(output, &value, sizeof value);
        }
    }
    writer->count_at = output->written + output->used + offsetof(MatHead, columns);
    write_head(writer, "data_2", matrix_type(MAT_DOUBLE, MAT_NUMERIC), writer->varying.rows.n + 1, 0);
    writer->data_at = output->written + output->used;
    writer->has_data = true;
    return output_flush(output);
}

/* Makes the file consistent with the points that have been written out. */
static bool patch_counts(MatWriter *writer)
{
    const int32_t count = (int32_t)writer->n_points;
    return output_patch(&writer->output, writer->count_at, &count, sizeof count) &&
           output_patch(&writer->output, writer->stop_time_at, &writer->last_time, sizeof writer->last_time);
}

static KoineStatus mat_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    MatWriter *writer = (MatWriter *)sink;
    Output *output = &writer->output;
    if (!writer->has_data && !begin_data(writer, model, point->time))
        return fail(writer);
    const size_t record = (writer->varying.rows.n + 1) * sizeof(double);
    const uint64_t limit = writer->options.limit ? writer->options.limit : MAT_LIMIT;
    if ((writer->n_points + 1) * record > limit) {
        snprintf(
            sink->error, sizeof sink->error,
            "a MAT file holds at most %llu points of %zu variables; write CSV, a longer interval or fewer variables",
            (unsigned long long)(limit / record), (size_t)writer->varying.rows.n + 1);
        return KOINE_FAILED;
    }
    char *at = output_room(output);
    memcpy(at, &point->time, sizeof(double));
    for (uint32_t i = 0; i < writer->varying.rows.n; i++) {
        const double value = row_value(&writer->varying.rows.at[i], model);
        at += sizeof value;
        memcpy(at, &value, sizeof value);
    }
    output->used += record;
    writer->n_points++;
    writer->last_time = point->time;
    if (output->used < output->full)
        return KOINE_OK;
    return output_flush(output) && patch_counts(writer) ? KOINE_OK : fail(writer);
}

static KoineStatus mat_end(KoineSink *sink, const KoineModel *model)
{
    MatWriter *writer = (MatWriter *)sink;
    if (!writer->is_open)
        return KOINE_OK;
    writer->is_open = false;
    if (!writer->has_data) /* a run that failed before its first point */
        output_forget(&writer->output);
    if (!writer->has_data && !writer->output.failure && model && !writer->output.has_older)
        begin_data(writer, model, 0);
    if (output_flush(&writer->output) && writer->has_data)
        patch_counts(writer);
    return output_close(&writer->output) ? KOINE_OK : fail(writer);
}

KoineSink *mat_sink(const MatOptions *options, Arena *arena)
{
    MatWriter *writer = NEW(arena, MatWriter);
    writer->options = *options;
    writer->arena = arena;
    writer->sink.context = writer;
    writer->sink.wants_event_steps = options->every_event_step;
    writer->sink.begin = mat_begin;
    writer->sink.point = mat_point;
    writer->sink.end = mat_end;
    return &writer->sink;
}
