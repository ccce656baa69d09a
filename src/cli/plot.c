/* koine plot: results as a picture, in the terminal or as SVG. */
#include "base/vec.h"
#include "cli/terminal.h"
#include "cli/results.h"
#include "cli/verbs.h"
#include "formats/plot_columns.h"
#include <stdlib.h>

enum { SERIES_UNASKED = 6 };

typedef VEC(PlotPane) PaneList;

static int no_column(const Command *command, const Series *results, const char *glob)
{
    const char *nearest = series_nearest(results, glob);
    return nearest ? usage_error(command, "no column matches '%s'; did you mean '%s'?", glob, nearest)
                   : usage_error(command, "no column matches '%s'", glob);
}

static int select_panes(const Command *command, const Series *results, PaneList *panes)
{
    PlotPane pane;
    for (uint32_t k = 0; k < command->n_given; k++) {
        if (strcmp(command->given[k].name, "variables") != 0)
            continue;
        const char *unknown = plot_named(results, command->given[k].value, command->arena, &pane);
        if (unknown)
            return no_column(command, results, unknown);
        vec_push(command->arena, panes, pane);
    }
    if (panes->n > 0)
        return EXIT_GOOD;
    const uint32_t n_changing = plot_unasked(results, SERIES_UNASKED, command->arena, &pane);
    if (n_changing > SERIES_UNASKED)
        say("%d of %u variables are drawn; --variables chooses others", SERIES_UNASKED, n_changing);
    if (pane.n_series > 0)
        vec_push(command->arena, panes, pane);
    return EXIT_GOOD;
}

static int write_svg(const char *path, const PaneList *panes, const PlotOptions *options, Arena *arena)
{
    const Text svg = plot_svg(panes->at, panes->n, options, arena);
    return write_text(path, &svg);
}

static int draw_results(const Command *command, const Series *results, PlotOptions *options)
{
    PaneList panes = { 0 };
    int status = select_panes(command, results, &panes);
    if (status != EXIT_GOOD)
        return status;
    const char *title = command_option(command, "title");
    if (title && panes.n > 0)
        panes.at[0].title = title;
    const char *output = command_option(command, "output");
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
    static const char must[] = "must be a whole number from 8 to 10000";
    long width = 0, height = 0;
    int status = command_whole(command, "width", must, 8, 10000, &width);
    if (status == EXIT_GOOD)
        status = command_whole(command, "height", must, 8, 10000, &height);
    if (status != EXIT_GOOD)
        return status;
    options.width = (uint32_t)width;
    options.height = (uint32_t)height;
    const Series *results;
    status = read_results(command, 1, &results);
    if (status == EXIT_GOOD)
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
