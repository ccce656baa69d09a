/* The sink that writes CSV; see csv.h. A cell keeps the text of its last value: what did not change
 * since the line before, as most discrete variables, is copied and not printed again. */
#include "formats/csv.h"
#include "base/text.h"
#include "formats/csv_text.h"
#include "formats/output.h"
#include "formats/select.h"

typedef struct {
    uint64_t offset; /* of the slot in the block */
    KoineSlot last;
    uint8_t type, length;
    bool is_negated;
    char text[REAL_TEXT_SIZE];
} Cell;

typedef struct {
    KoineSink sink; /* first: the sink is the writer */
    CsvOptions options;
    Arena *arena;
    Output output;
    Cell *cells;
    uint32_t n_cells;
    bool is_open, has_row, has_texts;
} CsvWriter;

enum { CELL_SIZE = REAL_TEXT_SIZE + 1 };

static KoineStatus fail(CsvWriter *writer)
{
    output_failure(&writer->output, writer->sink.error, sizeof writer->sink.error);
    return KOINE_FAILED;
}

static void write_header(CsvWriter *writer, const KoineTables *tables, const Selection *selection)
{
    Text line = { .arena = writer->arena }, name = { .arena = writer->arena };
    text_add(&line, "time");
    for (uint32_t i = 0; i < selection->n; i++) {
        name.n = 0;
        column_name(tables, &selection->at[i], &name);
        text_char(&line, ',');
        csv_add_name(&line, name.at);
    }
    text_char(&line, '\n');
    const size_t row = (size_t)(selection->n + 1) * CELL_SIZE + 1;
    output_buffer(&writer->output, writer->arena, line.n > row ? line.n : row);
    memcpy(output_room(&writer->output), line.at, line.n);
    writer->output.used += line.n;
}

static void print_cell(Cell *cell, KoineSlot slot)
{
    cell->length = (uint8_t)csv_slot_text(cell->type, cell->is_negated, slot, cell->text);
    cell->last = slot;
}

static KoineStatus csv_begin(KoineSink *sink, const KoineModel *model)
{
    CsvWriter *writer = (CsvWriter *)sink;
    const KoineTables *tables = model->kind->tables;
    Selection selection;
    SelectionMiss miss;
    const unsigned flags = SELECT_TEXTS | (writer->options.has_parameters ? SELECT_PARAMETERS : 0);
    if (!select_columns(tables, writer->options.globs, writer->options.n_globs, flags, writer->arena, &selection,
                        &miss)) {
        selection_miss_text(&miss, writer->options.globs, sink->error, sizeof sink->error);
        return KOINE_FAILED;
    }
    if (!output_open(&writer->output, writer->options.path, true, writer->options.is_confined))
        return fail(writer);
    writer->is_open = true;
    writer->n_cells = selection.n;
    writer->cells = NEW_ARRAY(writer->arena, Cell, selection.n);
    for (uint32_t i = 0; i < selection.n; i++) {
        const KoineVariable *variable = &tables->variables[selection.at[i].variable];
        writer->cells[i].offset = selection.at[i].offset;
        writer->cells[i].type = variable->type;
        writer->has_texts |= variable->type == KOINE_STRING;
        writer->cells[i].is_negated = variable->flags & KOINE_VARIABLE_NEGATED;
        print_cell(&writer->cells[i], (KoineSlot){ .i = 0 });
    }
    write_header(writer, tables, &selection);
    return KOINE_OK;
}

/* A row with Strings, which are as long as they are. */
static KoineStatus text_point(CsvWriter *writer, const KoineModel *model, const KoinePoint *point)
{
    const ArenaMark mark = arena_mark(writer->arena);
    Text line = { .arena = writer->arena };
    char number[REAL_TEXT_SIZE];
    text_bytes(&line, number, real_to_text(point->time, number));
    for (uint32_t i = 0; i < writer->n_cells; i++) {
        const Cell *cell = &writer->cells[i];
        KoineSlot slot;
        size_t n;
        memcpy(&slot, model->block + cell->offset, sizeof slot);
        text_char(&line, ',');
        if (cell->type == KOINE_STRING) {
            /* The cast is for `get`, which may note that the block has moved. */
            const char *text = model->kind->texts.get((KoineModel *)(uintptr_t)model, slot, &n);
            csv_add_text(&line, text, n);
        } else
            text_bytes(&line, number, csv_slot_text(cell->type, cell->is_negated, slot, number));
    }
    text_char(&line, '\n');
    writer->has_row = true;
    output_bytes(&writer->output, line.at, line.n);
    arena_reset(writer->arena, mark);
    return output_record_end(&writer->output) ? KOINE_OK : fail(writer);
}

static KoineStatus csv_point(KoineSink *sink, const KoineModel *model, const KoinePoint *point)
{
    CsvWriter *writer = (CsvWriter *)sink;
    if (writer->has_texts)
        return text_point(writer, model, point);
    char *at = output_room(&writer->output);
    at += real_to_text(point->time, at);
    for (uint32_t i = 0; i < writer->n_cells; i++) {
        Cell *cell = &writer->cells[i];
        KoineSlot slot;
        memcpy(&slot, model->block + cell->offset, sizeof slot);
        if (slot.i != cell->last.i)
            print_cell(cell, slot);
        *at++ = ',';
        memcpy(at, cell->text, REAL_TEXT_SIZE); /* a fixed size is one or two moves */
        at += cell->length;
    }
    *at++ = '\n';
    writer->has_row = true;
    writer->output.used = (size_t)(at - writer->output.buffer);
    return output_record_end(&writer->output) ? KOINE_OK : fail(writer);
}

static KoineStatus csv_end(KoineSink *sink, const KoineModel *model)
{
    (void)model;
    CsvWriter *writer = (CsvWriter *)sink;
    if (!writer->is_open)
        return KOINE_OK;
    writer->is_open = false;
    if (!writer->has_row)
        output_forget(&writer->output);
    return output_close(&writer->output) ? KOINE_OK : fail(writer);
}

KoineSink *csv_sink(const CsvOptions *options, Arena *arena)
{
    CsvWriter *writer = NEW(arena, CsvWriter);
    writer->options = *options;
    writer->arena = arena;
    writer->sink.context = writer;
    writer->sink.wants_event_steps = options->every_event_step;
    writer->sink.begin = csv_begin;
    writer->sink.point = csv_point;
    writer->sink.end = csv_end;
    return &writer->sink;
}
