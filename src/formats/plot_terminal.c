/* Plots of characters; see plot.h. Braille characters carry 2 x 4 dots each; marks of one character
 * take their place in ASCII, and where several series cannot be told apart by colour. */
#include "formats/plot_trace.h"
#include <math.h>
#include <stdlib.h>

enum { NARROWEST = 24, LOWEST = 8, MOST_MARKS = 8, COLOURS = 6 };

static const char MARKS[MOST_MARKS] = { '*', '+', 'o', 'x', '#', '@', '%', '=' };
static const char JUMP_MARK = ':';
static const int COLOUR_CODES[COLOURS] = { 36, 33, 35, 32, 34, 31 }; /* cyan yellow magenta green blue red */

typedef struct {
    Text text;
    const PlotOptions *options;
    bool has_marks; /* characters instead of dots */
    uint32_t width, height;
    uint32_t columns, rows; /* characters of the drawing area */
    uint32_t dots_x, dots_y;
    uint8_t *dots;    /* per character: braille bits, or the mark */
    uint8_t *colours; /* per character: series + 1, 0 for none */
    Arena *arena;
} Canvas;

/* Dot (0, 0) is at the lower left. */
static void put_dot(Canvas *canvas, int64_t x, int64_t y, uint32_t series, bool is_jump)
{
    static const uint8_t bits[2][4] = { { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 } };
    const uint32_t across = canvas->has_marks ? 1 : 2, down = canvas->has_marks ? 1 : 4;
    if (x < 0 || y < 0 || x >= canvas->dots_x || y >= canvas->dots_y)
        return;
    const uint32_t row = canvas->dots_y - 1 - (uint32_t)y;
    const size_t cell = (size_t)(row / down) * canvas->columns + (uint32_t)x / across;
    canvas->colours[cell] = (uint8_t)(series % COLOURS + 1);
    if (!canvas->has_marks)
        canvas->dots[cell] |= bits[x % 2][row % 4];
    else
        canvas->dots[cell] = (uint8_t)(is_jump ? JUMP_MARK : MARKS[series % MOST_MARKS]);
}

/* Bresenham's line; a jump has every second dot. */
static void put_line(Canvas *canvas, const int64_t from[2], const int64_t to[2], uint32_t series, bool is_jump)
{
    const int64_t dx = llabs(to[0] - from[0]), dy = -llabs(to[1] - from[1]);
    const int64_t sx = from[0] < to[0] ? 1 : -1, sy = from[1] < to[1] ? 1 : -1;
    int64_t x = from[0], y = from[1], error = dx + dy;
    for (int64_t k = 0;; k++) {
        const bool is_end = x == to[0] && y == to[1];
        if (is_end || k == 0) {
            put_dot(canvas, x, y, series, false);
        } else if (!is_jump || k % 2 == 0 || canvas->has_marks) {
            put_dot(canvas, x, y, series, is_jump);
        }
        if (is_end)
            return;
        const int64_t twice = 2 * error;
        if (twice >= dy) {
            error += dy;
            x += sx;
        }
        if (twice <= dx) {
            error += dx;
            y += sy;
        }
    }
}

static void draw_series(Canvas *canvas, const PlotPane *pane, uint32_t s, Range times, Range values)
{
    const ArenaMark mark = arena_mark(canvas->arena);
    const Trace trace = trace_series(&pane->series[s], times, canvas->dots_x, canvas->arena);
    int64_t last[2] = { 0, 0 };
    for (uint32_t i = 0; i < trace.n; i++) {
        const int64_t here[2] = { llround(range_share(times, trace.at[i].x) * (canvas->dots_x - 1)),
                                  llround(range_share(values, trace.at[i].y) * (canvas->dots_y - 1)) };
        if (trace.at[i].link == LINK_GAP)
            put_dot(canvas, here[0], here[1], s, false);
        else
            put_line(canvas, last, here, s, trace.at[i].link == LINK_JUMP);
        last[0] = here[0];
        last[1] = here[1];
    }
    arena_reset(canvas->arena, mark);
}

/* ---- layout ---- */

typedef struct {
    const char *text;
    uint32_t width;
} Label;

static Label *tick_labels(const Ticks *ticks, Arena *arena, uint32_t *widest)
{
    Label *labels = NEW_ARRAY(arena, Label, ticks->n + 1);
    *widest = 0;
    for (uint32_t k = 0; k < ticks->n; k++) {
        Text text = { .arena = arena };
        text_real(&text, tick_value(ticks, k));
        labels[k] = (Label){ text.at, (uint32_t)text.n };
        if (labels[k].width > *widest)
            *widest = labels[k].width;
    }
    return labels;
}

static void add_blanks(Text *text, uint32_t n)
{
    while (n-- > 0)
        text_char(text, ' ');
}

static void end_line(Text *text)
{
    while (text->n > 0 && text->at[text->n - 1] == ' ')
        text->n--;
    text_char(text, '\n');
}

static void begin_colour(Canvas *canvas, uint32_t colour)
{
    if (canvas->options->has_colour && colour > 0)
        text_format(&canvas->text, "\033[%dm", COLOUR_CODES[colour - 1]);
}

static void end_colour(Canvas *canvas, uint32_t colour)
{
    if (canvas->options->has_colour && colour > 0)
        text_add(&canvas->text, "\033[0m");
}

static void add_cell(Canvas *canvas, uint8_t cell)
{
    if (canvas->has_marks) {
        text_char(&canvas->text, cell ? (char)cell : ' ');
    } else if (cell == 0) {
        text_char(&canvas->text, ' ');
    } else { /* U+2800 + bits */
        const char braille[] = { (char)0xe2, (char)(0xa0 | cell >> 6), (char)(0x80 | (cell & 0x3f)) };
        text_bytes(&canvas->text, braille, sizeof braille);
    }
}

static void add_row(Canvas *canvas, uint32_t row)
{
    uint32_t current = 0;
    for (uint32_t c = 0; c < canvas->columns; c++) {
        const size_t cell = (size_t)row * canvas->columns + c;
        const uint32_t colour = canvas->dots[cell] ? canvas->colours[cell] : 0;
        if (colour != current) {
            end_colour(canvas, current);
            begin_colour(canvas, colour);
            current = colour;
        }
        add_cell(canvas, canvas->dots[cell]);
    }
    end_colour(canvas, current);
    end_line(&canvas->text);
}

/* Which line of the drawing, from the top, shows the value. */
static uint32_t row_of(const Canvas *canvas, Range values, double value)
{
    const uint32_t down = canvas->dots_y / canvas->rows;
    const uint32_t dot = (uint32_t)llround(range_share(values, value) * (canvas->dots_y - 1));
    return (canvas->dots_y - 1 - dot) / down;
}

static void add_rows(Canvas *canvas, const Ticks *ticks, Range values, const Label *labels, uint32_t widest)
{
    for (uint32_t row = 0; row < canvas->rows; row++) {
        const Label *label = NULL;
        for (uint32_t k = 0; k < ticks->n; k++)
            if (row_of(canvas, values, tick_value(ticks, k)) == row)
                label = &labels[k];
        add_blanks(&canvas->text, widest - (label ? label->width : 0));
        text_add(&canvas->text, label ? label->text : "");
        if (canvas->options->is_ascii)
            text_add(&canvas->text, label ? " +" : " |");
        else
            text_add(&canvas->text, label ? " ┤" : " │");
        add_row(canvas, row);
    }
}

static void add_time_axis(Canvas *canvas, Range times, uint32_t indent)
{
    uint32_t widest;
    Ticks ticks = ticks_inside(times, canvas->columns / 10 + 2);
    Label *labels = tick_labels(&ticks, canvas->arena, &widest);
    while ((widest + 2) * ticks.n > canvas->columns && ticks.n > 2) { /* labels must not touch */
        ticks = ticks_inside(times, ticks.n - 1);
        labels = tick_labels(&ticks, canvas->arena, &widest);
    }
    uint8_t *is_tick = NEW_ARRAY(canvas->arena, uint8_t, canvas->columns);
    uint32_t *at = NEW_ARRAY(canvas->arena, uint32_t, ticks.n + 1);
    for (uint32_t k = 0; k < ticks.n; k++) {
        at[k] = (uint32_t)llround(range_share(times, tick_value(&ticks, k)) * (canvas->columns - 1));
        is_tick[at[k]] = 1;
    }
    add_blanks(&canvas->text, indent);
    text_add(&canvas->text, canvas->options->is_ascii ? "+" : "└");
    for (uint32_t c = 0; c < canvas->columns; c++)
        text_add(&canvas->text, canvas->options->is_ascii ? (is_tick[c] ? "+" : "-") : (is_tick[c] ? "┬" : "─"));
    end_line(&canvas->text);

    const uint32_t origin = indent + 1; /* column of the canvas' first character */
    uint32_t done = 0;
    for (uint32_t k = 0; k < ticks.n; k++) {
        const uint32_t centre = origin + at[k], half = labels[k].width / 2;
        uint32_t begin = centre > half ? centre - half : 0;
        if (begin + labels[k].width > origin + canvas->columns)
            begin = origin + canvas->columns - labels[k].width;
        if (begin < done + (done ? 1 : 0) || labels[k].width > canvas->columns)
            continue;
        add_blanks(&canvas->text, begin - done);
        text_add(&canvas->text, labels[k].text);
        done = begin + labels[k].width;
    }
    end_line(&canvas->text);
}

enum { LEGEND_INDENT = 2, LEGEND_EXTRA = 5 /* mark, blanks */ };

/* The line of the legend on which each series is named; returns how many lines there are. */
static uint32_t legend_lines(const Canvas *canvas, const PlotPane *pane, const char *x_label, uint32_t *line_of)
{
    const uint32_t room = canvas->width - LEGEND_INDENT;
    uint32_t line = 0, used = plot_name_width(x_label) + 2; /* which stands at the end of the first line */
    for (uint32_t s = 0; s < pane->n_series; s++) {
        const char *name = plot_name(pane->series[s].name, canvas->arena);
        const uint32_t wanted = plot_name_width(name) + LEGEND_EXTRA;
        if (s > 0 && used + wanted > room) {
            line++;
            used = 0;
        }
        used += wanted;
        line_of[s] = line;
    }
    return line + 1;
}

/* Returns the width of what was added. */
static uint32_t add_legend_entry(Canvas *canvas, const PlotSeries *series, uint32_t s)
{
    const char *name = plot_name(series->name, canvas->arena);
    begin_colour(canvas, s % COLOURS + 1);
    if (canvas->has_marks)
        text_format(&canvas->text, " %c", MARKS[s % MOST_MARKS]);
    else
        text_add(&canvas->text, "──");
    end_colour(canvas, s % COLOURS + 1);
    text_format(&canvas->text, " %s  ", name);
    return plot_name_width(name) + LEGEND_EXTRA;
}

static void add_legend(Canvas *canvas, const PlotPane *pane, const char *x_label, const uint32_t *line_of,
                       uint32_t lines)
{
    for (uint32_t line = 0, s = 0; line < lines; line++) {
        uint32_t used = LEGEND_INDENT;
        add_blanks(&canvas->text, LEGEND_INDENT);
        for (; s < pane->n_series && line_of[s] == line; s++)
            used += add_legend_entry(canvas, &pane->series[s], s);
        if (line == 0) {
            const uint32_t width = plot_name_width(x_label);
            add_blanks(&canvas->text, canvas->width > used + width ? canvas->width - used - width : 0);
            text_add(&canvas->text, x_label);
        }
        end_line(&canvas->text);
    }
}

static void add_title(Canvas *canvas, const char *title, uint32_t indent)
{
    const char *name = plot_name(title, canvas->arena);
    const uint32_t width = plot_name_width(name);
    add_blanks(&canvas->text, indent + (width < canvas->columns ? (canvas->columns - width) / 2 : 0));
    text_add(&canvas->text, name);
    end_line(&canvas->text);
}

/* The ticks of a pane's values; false: there is nothing to plot. */
static bool scale_values(const PlotPane *pane, uint32_t rows, Range *values, Ticks *ticks)
{
    if (!value_range(pane, values))
        return false;
    *ticks = ticks_inside(*values, rows / 3 + 2);
    return true;
}

/* What a pane needs before it can be drawn. */
typedef struct {
    const char *x_label;
    uint32_t *line_of, legend; /* the line of each name, and how many lines */
    bool has_title, is_empty;
    uint32_t rows, widest;
    Range times, values;
    Ticks ticks;
    const Label *labels;
} Layout;

static Layout lay_out(const Canvas *canvas, const PlotPane *pane)
{
    const char *x_label = canvas->options->x_label ? canvas->options->x_label : "time";
    Layout layout = { .x_label = plot_name(x_label, canvas->arena), .has_title = pane->title && pane->title[0] };
    layout.line_of = NEW_ARRAY(canvas->arena, uint32_t, pane->n_series);
    layout.legend = legend_lines(canvas, pane, layout.x_label, layout.line_of);
    const uint32_t around = 2 + layout.has_title + layout.legend; /* the axis and its labels, title, legend */
    layout.rows = canvas->height > around + 4 ? canvas->height - around : 4;
    layout.is_empty =
        !time_range(pane, &layout.times) || !scale_values(pane, layout.rows, &layout.values, &layout.ticks);
    if (!layout.is_empty)
        layout.labels = tick_labels(&layout.ticks, canvas->arena, &layout.widest);
    return layout;
}

static void add_pane(Canvas *canvas, const PlotPane *pane, const Layout *layout, uint32_t widest)
{
    const PlotOptions *options = canvas->options;
    const uint32_t indent = widest + 2; /* label, blank, axis */
    canvas->columns = canvas->width > indent + 10 ? canvas->width - indent : 10;
    if (layout->has_title)
        add_title(canvas, pane->title, indent);
    if (layout->is_empty) {
        text_add(&canvas->text, "(there is nothing to plot)\n");
        return;
    }
    canvas->has_marks = options->is_ascii || (pane->n_series > 1 && !options->has_colour);
    canvas->rows = layout->rows;
    canvas->dots_x = canvas->columns * (canvas->has_marks ? 1 : 2);
    canvas->dots_y = canvas->rows * (canvas->has_marks ? 1 : 4);
    const size_t cells = (size_t)canvas->columns * canvas->rows;
    canvas->dots = NEW_ARRAY(canvas->arena, uint8_t, cells);
    canvas->colours = NEW_ARRAY(canvas->arena, uint8_t, cells);
    for (uint32_t s = pane->n_series; s-- > 0;) /* the first one lies on top */
        draw_series(canvas, pane, s, layout->times, layout->values);
    add_rows(canvas, &layout->ticks, layout->values, layout->labels, widest);
    add_time_axis(canvas, layout->times, indent - 1);
    add_legend(canvas, pane, layout->x_label, layout->line_of, layout->legend);
}

Text plot_terminal(const PlotPane *panes, uint32_t n_panes, const PlotOptions *options, Arena *arena)
{
    Canvas canvas = { .text = { .arena = arena }, .options = options, .arena = arena };
    canvas.width = options->width == 0 ? 80 : options->width < NARROWEST ? NARROWEST : options->width;
    canvas.height = options->height == 0 ? 20 : options->height < LOWEST ? LOWEST : options->height;
    text_add(&canvas.text, "");
    Layout *layouts = NEW_ARRAY(arena, Layout, n_panes);
    uint32_t widest = 0; /* the same for all panes, so that their time axes agree */
    for (uint32_t p = 0; p < n_panes; p++) {
        layouts[p] = lay_out(&canvas, &panes[p]);
        widest = layouts[p].widest > widest ? layouts[p].widest : widest;
    }
    for (uint32_t p = 0; p < n_panes; p++) {
        if (p > 0)
            text_char(&canvas.text, '\n');
        add_pane(&canvas, &panes[p], &layouts[p], widest);
    }
    return canvas.text;
}
