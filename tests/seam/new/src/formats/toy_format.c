/* A format of results of a few lines, to prove the seam: a table behind a first line that marks it. */
#include "formats/csv.h"
#include "formats/csv_text.h"
#include "formats/output.h"
#include "formats/result_file.h"
#include "formats/select.h"

#define MARK "toy result\n"

typedef struct {
    KoineSink sink; /* first: the sink is the writer */
    ResultOptions options;
    Arena *arena;
    Output output;
    Selection columns;
} ToyWriter;

static KoineStatus give_line(ToyWriter *w, Text *line)
{
    text_char(line, '\n');
    output_bytes(&w->output, line->at, line->n);
    if (output_record_end(&w->output))
        return KOINE_OK;
    output_failure(&w->output, w->sink.error, sizeof w->sink.error);
    return KOINE_FAILED;
}

static KoineStatus begin(KoineSink *sink, const KoineModel *model)
{
    enum { RECORD = 1 << 12 };
    ToyWriter *const w = (ToyWriter *)sink;
    SelectionMiss miss;
    if (!select_columns(model->kind->tables, w->options.globs, w->options.n_globs, SELECT_PARAMETERS, w->arena,
                        &w->columns, &miss)) {
        selection_miss_text(&miss, w->options.globs, sink->error, sizeof sink->error);
        return KOINE_FAILED;
    }
    if (!output_open(&w->output, w->options.path, true, w->options.is_confined)) {
        output_failure(&w->output, sink->error, sizeof sink->error);
        return KOINE_FAILED;
    }
    output_buffer(&w->output, w->arena, RECORD);
    Text line = { .arena = w->arena };
    text_add(&line, MARK "time");
    for (uint32_t k = 0; k < w->columns.n; k++) {
        Text name = { .arena = w->arena };
        column_name(model->kind->tables, &w->columns.at[k], &name);
        text_char(&line, ',');
        csv_add_name(&line, name.at);
    }
    return give_line(w, &line);
}

static KoineStatus point(KoineSink *sink, const KoineModel *model, const KoinePoint *at)
{
    ToyWriter *const w = (ToyWriter *)sink;
    const KoineVariable *const variables = model->kind->tables->variables;
    Text line = { .arena = w->arena };
    text_real(&line, at->time);
    for (uint32_t k = 0; k < w->columns.n; k++) {
        const KoineVariable *const v = &variables[w->columns.at[k].variable];
        char text[REAL_TEXT_SIZE];
        KoineSlot slot;
        memcpy(&slot, model->block + w->columns.at[k].offset, sizeof slot);
        const size_t n = csv_slot_text(v->type, v->flags & KOINE_VARIABLE_NEGATED, slot, text);
        text_char(&line, ',');
        text_bytes(&line, text, n);
    }
    return give_line(w, &line);
}

static KoineStatus end(KoineSink *sink, const KoineModel *model)
{
    (void)model;
    return output_close(&((ToyWriter *)sink)->output) ? KOINE_OK : KOINE_FAILED;
}

static KoineSink *create_sink(const ResultOptions *options, Arena *arena)
{
    ToyWriter *const w = NEW(arena, ToyWriter);
    *w = (ToyWriter){ .sink = { .context = w, .begin = begin, .point = point, .end = end }, .options = *options };
    w->arena = arena;
    return &w->sink;
}

static bool is_file(const void *bytes, size_t size)
{
    return size >= sizeof MARK - 1 && memcmp(bytes, MARK, sizeof MARK - 1) == 0;
}

static Series *read_table(const char *path, const char *bytes, size_t size, Arena *arena, Diag *diag)
{
    return csv_read(path, bytes + sizeof MARK - 1, size - (sizeof MARK - 1), arena, diag);
}

const ResultFormat toy_format = {
    .remark = "a toy",
    .begins_as = "TOY",
    .holds = RESULT_HOLDS_PARAMETERS,
    .sink = create_sink,
    .is_file = is_file,
    .read = read_table,
};
