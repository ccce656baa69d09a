/* koine plot: results as a picture, in the terminal or as SVG. */
#include "base/map.h"
#include "base/vec.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "formats/select.h"
#include "formats/series.h"
#include <stdlib.h>

enum { SERIES_UNASKED = 6 };

typedef VEC(PlotSeries) SeriesList;

/* The name with the unit, where the file has it: "comment [unit]" in MAT. */
static const char *legend(const SeriesColumn *column, Arena *arena)
{
    const char *const open = strrchr(column->comment, '['), *const close = strrchr(column->comment, ']');
    if (!open || !close || close < open)
        return column->name;
    return arena_format(arena, "%s %.*s", column->name, (int)(close + 1 - open), open);
}

/* `known`: which names the list has, by their checksum or the next free number. */
static void add_column(const Command *command, const Series *results, uint32_t at, Map *known, SeriesList *list)
{
    const SeriesColumn *const column = &results->columns[at];
    const char *const name = legend(column, command->arena);
    uint64_t key = hash_bytes(name, strlen(name), 0);
    for (uint32_t k; map_get(known, key, &k); key++)
        if (strcmp(list->at[k].name, name) == 0)
            return;
    map_put(known, key, list->n);
    const PlotSeries series = { .name = name,
                                .times = results->columns[0].values,
                                .values = series_fetch(results, at, command->arena),
                                .n = results->n_rows,
                                .is_constant = column->is_constant };
    vec_push(command->arena, list, series);
}

/* The columns one glob names, in any capitals if none has those that were given; false: none. */
static bool add_matching(const Command *command, const Series *results, const char *glob, Map *known, SeriesList *list)
{
    static bool (*const ways[])(const char *, const char *) = { glob_matches, glob_matches_any_case };
    bool is_found = false;
    for (uint32_t way = 0; way < 2 && !is_found; way++)
        for (uint32_t c = 1; c < results->n_columns; c++)
            if (ways[way](glob, results->columns[c].name)) {
                add_column(command, results, c, known, list);
                is_found = true;
            }
    return is_found;
}

/* The columns one --variables names, in the order of its globs. */
static int select_series(const Command *command, const Series *results, const char *globs, SeriesList *list)
{
    const char *const *each;
    const uint32_t n = globs_split(globs, command->arena, &each);
    Map known;
    map_init(&known, command->arena, 16);
    for (uint32_t g = 0; g < n; g++) {
        const bool is_found = add_matching(command, results, each[g], &known, list);
        const char *const nearest = is_found ? NULL : series_nearest(results, each[g]);
        if (nearest)
            return usage_error(command, "no column matches '%s'; did you mean '%s'?", each[g], nearest);
        if (!is_found)
            return usage_error(command, "no column matches '%s'", each[g]);
    }
    return EXIT_GOOD;
}

typedef VEC(PlotPane) PaneList;

static int select_panes(const Command *command, const Series *results, PaneList *panes)
{
    for (uint32_t k = 0; k < command->n_given; k++) {
        if (strcmp(command->given[k].name, "variables") != 0)
            continue;
        SeriesList list = { 0 };
        const int status = select_series(command, results, command->given[k].value, &list);
        if (status != EXIT_GOOD)
            return status;
        vec_push(command->arena, panes, ((PlotPane){ "", list.at, list.n }));
    }
    if (panes->n > 0)
        return EXIT_GOOD;
    SeriesList list = { 0 };
    uint32_t n_changing = 0;
    Map known;
    map_init(&known, command->arena, 16);
    for (uint32_t c = 1; c < results->n_columns; c++) {
        if (results->columns[c].is_constant)
            continue;
        if (n_changing++ < SERIES_UNASKED)
            add_column(command, results, c, &known, &list);
    }
    if (n_changing > SERIES_UNASKED)
        say("%d of %u variables are drawn; --variables chooses others", SERIES_UNASKED, n_changing);
    if (list.n > 0)
        vec_push(command->arena, panes, ((PlotPane){ "", list.at, list.n }));
    return EXIT_GOOD;
}

static int write_svg(const char *path, const PaneList *panes, const PlotOptions *options, Arena *arena)
{
    const Text svg = plot_svg(panes->at, panes->n, options, arena);
    return write_text(path, &svg);
}

/* A size of a pane; 0: not given. */
static int read_size(const Command *command, const char *name, uint32_t *size)
{
    const char *const text = command_option(command, name);
    *size = 0;
    if (!text)
        return EXIT_GOOD;
    char *end;
    const long value = strtol(text, &end, 10);
    if (*end || end == text || value < 8 || value > 10000)
        return usage_error(command, "--%s must be a whole number from 8 to 10000, not '%s'", name, text);
    *size = (uint32_t)value;
    return EXIT_GOOD;
}

static int draw_results(const Command *command, const Series *results, PlotOptions *options)
{
    PaneList panes = { 0 };
    int status = select_panes(command, results, &panes);
    if (status != EXIT_GOOD)
        return status;
    const char *const title = command_option(command, "title");
    if (title && panes.n > 0)
        panes.at[0].title = title;
    const char *const output = command_option(command, "output");
    if (panes.n == 0 || results->n_rows == 0)
        say("'%s' has nothing to draw", command->arguments[0]);
    else if (output)
        status = write_svg(output, &panes, options, command->arena);
    else
        draw_panes(panes.at, panes.n, options, stdout, command->colour_out, command->arena);
    return status;
}

static int run_plot(const Command *command)
{
    PlotOptions options = { 0 };
    int status = read_size(command, "width", &options.width);
    if (status == EXIT_GOOD)
        status = read_size(command, "height", &options.height);
    if (status != EXIT_GOOD)
        return status;
    Sources *const sources = sources_create(command->arena);
    Diag *const diag = diag_create(command->arena, sources);
    const Series *const results = series_lazy(command->arguments[0], command->arena, diag);
    diag_print(diag, stderr, (DiagStyle){ .colour = command->colour_err });
    if (!results)
        return error_status(diag, EXIT_MODEL);
    status = draw_results(command, results, &options);
    series_done(results);
    return status;
}

static const Option options_of_plot[] = {
    { .name = "variables",
      .value = "GLOB,...",
      .repeats = true,
      .help = "what is drawn; each occurrence is a picture of its own" },
    { .name = "output", .value = "FILE.svg", .help = "write an SVG picture instead; - for the standard output" },
    { .name = "title", .value = "TEXT", .help = "above the first picture" },
    { .name = "width", .value = "N", .help = "characters, or pixels of an SVG" },
    { .name = "height", .value = "N", .help = "of each picture" },
    { 0 },
};

static const Example examples[] = {
    { "koine plot Ball.csv --variables Y,Y_Treppe", "draws two variables into one picture in the terminal." },
    { "koine plot Ball.mat --variables Y --variables Vy --output ball.svg", "two pictures below each other, as SVG." },
    { 0 },
};

const Verb verb_plot = {
    .name = "plot",
    .arguments = "FILE",
    .summary = "draw results in the terminal or as SVG",
    .text = "Reads a result (CSV, MAT or native, told apart by content; - is the standard input) and draws it.",
    .least = 1,
    .most = 1,
    .options = options_of_plot,
    .examples = examples,
    .run = run_plot,
};
