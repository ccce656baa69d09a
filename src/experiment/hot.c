#include "experiment/hot.h"
#include "base/vec.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    Arena *arena;
    VEC(HotRow) rows;
} Gathered;

static void gather(void *context, const KoineWork *work)
{
    Gathered *all = context;
    HotRow row = { .work = *work, .text = "" };
    row.work.where.path = arena_text(all->arena, work->where.path, strlen(work->where.path));
    vec_push(all->arena, &all->rows, row);
}

/* ---- Sums ------------------------------------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_line(const void *left, const void *right)
{
    const KoineWork *a = &((const HotRow *)left)->work, *b = &((const HotRow *)right)->work;
    if (a->where.place.source != b->where.place.source)
        return compare(a->where.place.source, b->where.place.source);
    if (a->where.place.line != b->where.place.line)
        return compare(a->where.place.line, b->where.place.line);
    return compare(a->kind, b->kind);
}

static int by_component(const void *left, const void *right)
{
    return strcmp(((const HotRow *)left)->work.where.path, ((const HotRow *)right)->work.where.path);
}

typedef int Order(const void *left, const void *right);

static int by_cost(const HotRow *left, const HotRow *right, Order *otherwise)
{
    const KoineWork *a = &left->work, *b = &right->work;
    if (a->operations != b->operations)
        return compare(b->operations, a->operations);
    return a->executions != b->executions ? compare(b->executions, a->executions) : otherwise(left, right);
}

static int lines_by_cost(const void *left, const void *right)
{
    return by_cost(left, right, by_line);
}

static int components_by_cost(const void *left, const void *right)
{
    return by_cost(left, right, by_component);
}

/* Rows that are equal in `order` become one; a copy, sorted by `cost`. */
static HotRow *sum_up(const HotRow *rows, uint32_t n, Order *order, Order *cost, Arena *arena, uint32_t *left)
{
    HotRow *sums = NEW_ARRAY(arena, HotRow, n + 1);
    *left = 0;
    if (n == 0)
        return sums;
    memcpy(sums, rows, n * sizeof *sums);
    qsort(sums, n, sizeof *sums, order);
    for (uint32_t k = 0; k < n; k++) {
        if (k > 0 && order(&sums[*left - 1], &sums[k]) == 0) {
            sums[*left - 1].work.executions += sums[k].work.executions;
            sums[*left - 1].work.operations += sums[k].work.operations;
        } else {
            sums[(*left)++] = sums[k];
        }
    }
    qsort(sums, *left, sizeof *sums, cost);
    return sums;
}

/* The line without the space around it. */
static const char *line_text(const Sources *sources, KoinePlace place, Arena *arena)
{
    if (place.line == 0 || place.source >= sources_count(sources))
        return "";
    const Source *source = sources_get(sources, place.source);
    uint32_t begin = source_offset(sources, place.source, place.line, 1), end = begin;
    while (begin < source->size && (source->text[begin] == ' ' || source->text[begin] == '\t'))
        begin++;
    for (end = begin; end < source->size && source->text[end] != '\n' && source->text[end] != '\r';)
        end++;
    while (end > begin && (source->text[end - 1] == ' ' || source->text[end - 1] == '\t'))
        end--;
    return arena_text(arena, source->text + begin, end - begin);
}

Hot hot_collect(const KoineModel *model, const Sources *sources, Arena *arena)
{
    const KoineTables *tables = model->kind->tables;
    Hot hot = { .model = tables->name, .files = tables->text.sources, .n_files = tables->text.n_sources };
    Gathered all = { .arena = arena };
    if (model->kind->counts.work)
        model->kind->counts.work(model, gather, &all);
    hot.lines = sum_up(all.rows.at, all.rows.n, by_line, lines_by_cost, arena, &hot.n_lines);
    hot.components = sum_up(all.rows.at, all.rows.n, by_component, components_by_cost, arena, &hot.n_components);
    for (uint32_t k = 0; k < hot.n_lines; k++) {
        hot.operations += hot.lines[k].work.operations;
        hot.lines[k].text = line_text(sources, hot.lines[k].work.where.place, arena);
    }
    return hot;
}

/* ---- A table for people ----------------------------------------------------------------------------------------- */

static const char *kind_word(uint8_t kind)
{
    switch ((KoineWorkKind)kind) {
    case KOINE_WORK_EQUATION: return "equation";
    case KOINE_WORK_CONDITION: return "condition";
    case KOINE_WORK_EVENT: return "event";
    case KOINE_WORK_ASSIGNMENT: return "assignment";
    }
    return "";
}

static double share_of(const Hot *hot, const HotRow *row)
{
    return hot->operations ? (double)row->work.operations / (double)hot->operations : 0;
}

static const char *file_of(const Hot *hot, const HotRow *row)
{
    const KoinePlace *place = &row->work.where.place;
    return place->line && place->source < hot->n_files ? hot->files[place->source] : NULL;
}

static void add_figures(const Hot *hot, const HotRow *row, Text *text)
{
    text_format(text, "%7.1f %% %13llu %15llu  ", 100 * share_of(hot, row), (unsigned long long)row->work.executions,
                (unsigned long long)row->work.operations);
}

static void add_rest(uint32_t n, uint32_t most, const char *what, Text *text)
{
    if (n > most)
        text_format(text, "          and %u more %s\n", n - most, what);
}

void hot_table(const Hot *hot, uint32_t most, Text *text)
{
    text_add(text, "    share    executions      operations  line\n");
    for (uint32_t k = 0; k < hot->n_lines && k < most; k++) {
        const HotRow *row = &hot->lines[k];
        const char *file = file_of(hot, row);
        add_figures(hot, row, text);
        if (file)
            text_format(text, "%s:%u: %s: %s\n", file, row->work.where.place.line, kind_word(row->work.kind),
                        row->text);
        else
            text_format(text, "without a place: %s\n", kind_word(row->work.kind));
    }
    add_rest(hot->n_lines, most, "lines", text);
    text_add(text, "\n    share    executions      operations  component\n");
    for (uint32_t k = 0; k < hot->n_components && k < most; k++) {
        const char *path = hot->components[k].work.where.path;
        add_figures(hot, &hot->components[k], text);
        text_format(text, "%s\n", path[0] ? path : hot->model);
    }
    add_rest(hot->n_components, most, "components", text);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static void add_counts(const Hot *hot, const HotRow *row, Text *text)
{
    text_format(text,
                ", \"executions\": %llu, \"operations\": %llu, \"share\": ", (unsigned long long)row->work.executions,
                (unsigned long long)row->work.operations);
    text_real(text, share_of(hot, row));
    text_add(text, " }");
}

void hot_json(const Hot *hot, Text *text)
{
    text_add(text, "{\n  \"model\": ");
    text_json(text, hot->model);
    text_format(text, ",\n  \"operations\": %llu,\n  \"lines\": [", (unsigned long long)hot->operations);
    for (uint32_t k = 0; k < hot->n_lines; k++) {
        const HotRow *row = &hot->lines[k];
        const char *file = file_of(hot, row);
        text_format(text, "%s\n    { \"file\": ", k ? "," : "");
        if (file)
            text_json(text, file);
        else
            text_add(text, "null");
        text_format(text, ", \"line\": %u, \"what\": \"%s\", \"text\": ", row->work.where.place.line,
                    kind_word(row->work.kind));
        text_json(text, row->text);
        add_counts(hot, row, text);
    }
    text_add(text, "\n  ],\n  \"components\": [");
    for (uint32_t k = 0; k < hot->n_components; k++) {
        text_format(text, "%s\n    { \"component\": ", k ? "," : "");
        text_json(text, hot->components[k].work.where.path);
        add_counts(hot, &hot->components[k], text);
    }
    text_add(text, "\n  ]\n}\n");
}
