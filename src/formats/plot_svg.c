/* Plots as SVG; see plot.h. */
#include "formats/plot_trace.h"
#include <math.h>

enum { COLOURS = 7, MARGIN = 14, TITLE = 26, AXIS = 40, LEGEND_LINE = 20, LEGEND_MARK = 26, LEGEND_GAP = 18 };
static const double DIGIT_WIDTH = 7.2, LETTER_WIDTH = 7.0; /* pixels of the 12 pixel font, on average */
static const double PADDING = 0.04;                        /* above and below the values, as a share */

/* M. Okabe and K. Ito's palette, distinguishable for all kinds of colour vision, on white and on black. */
static const char *const PALETTE[COLOURS] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                              "#e69f00", "#56b4e9", "#8c8c8c" };
static const char *const DASHES[] = { "", "7 3", "2 3", "9 3 2 3" }; /* beyond seven series */

static const char STYLE[] = "<style>\n"
                            "svg { font: 12px system-ui, 'DejaVu Sans', sans-serif; }\n"
                            ".back { fill: #ffffff; } .ink { fill: #333333; } .title { font-size: 14px; }\n"
                            ".grid { stroke: #e3e3e3; } .axis { stroke: #8a8a8a; }\n"
                            ".grid, .axis { fill: none; stroke-width: 1; shape-rendering: crispEdges; }\n"
                            ".line { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round; }\n"
                            ".jump { fill: none; stroke-width: 1; stroke-dasharray: 2 3; }\n"
                            "@media (prefers-color-scheme: dark) { .back { fill: #1b1b1d; } .ink { fill: #d8d8d8; }\n"
                            "  .grid { stroke: #343438; } .axis { stroke: #8a8a8a; } }\n"
                            "</style>\n";

typedef struct {
    Text text;
    Arena *arena;
    double left, top, width, height; /* of the drawing area */
    Range times, values;
} Drawing;

/* A coordinate with two decimals; printf would follow the locale. */
static void add_coordinate(Text *text, double value)
{
    text_real(text, round(value * 100) / 100);
}

static void add_point(Text *text, char command, double x, double y)
{
    text_char(text, command);
    add_coordinate(text, x);
    text_char(text, ' ');
    add_coordinate(text, y);
}

static double x_of(const Drawing *drawing, double time)
{
    return drawing->left + range_share(drawing->times, time) * drawing->width;
}

static double y_of(const Drawing *drawing, double value)
{
    return drawing->top + (1 - range_share(drawing->values, value)) * drawing->height;
}

static void add_text(Drawing *drawing, const char *attributes, double x, double y, const char *content)
{
    Text *text = &drawing->text;
    text_format(text, "<text class=\"ink%s x=\"", attributes);
    add_coordinate(text, x);
    text_add(text, "\" y=\"");
    add_coordinate(text, y);
    text_add(text, "\">");
    text_xml(text, plot_name(content, drawing->arena));
    text_add(text, "</text>\n");
}

static void add_tick_text(Drawing *drawing, const char *attributes, double x, double y, double value)
{
    char digits[REAL_TEXT_SIZE + 1];
    digits[real_to_text(value, digits)] = 0;
    add_text(drawing, attributes, x, y, digits);
}

/* Grid lines lie on half pixels, where they are one pixel wide. */
static double crisp(double x)
{
    return floor(x) + 0.5;
}

static void add_grid(Drawing *drawing, const Ticks *x_ticks, const Ticks *y_ticks)
{
    Text *text = &drawing->text;
    const double right = drawing->left + drawing->width, bottom = drawing->top + drawing->height;
    text_add(text, "<path class=\"grid\" d=\"");
    for (uint32_t k = 0; k < y_ticks->n; k++) {
        const double y = crisp(y_of(drawing, tick_value(y_ticks, k)));
        add_point(text, 'M', drawing->left, y);
        add_point(text, 'L', right, y);
    }
    for (uint32_t k = 0; k < x_ticks->n; k++) {
        const double x = crisp(x_of(drawing, tick_value(x_ticks, k)));
        add_point(text, 'M', x, drawing->top);
        add_point(text, 'L', x, bottom);
    }
    text_add(text, "\"/>\n<path class=\"axis\" d=\"");
    add_point(text, 'M', crisp(drawing->left), drawing->top);
    add_point(text, 'L', crisp(drawing->left), crisp(bottom));
    add_point(text, 'L', right, crisp(bottom));
    text_add(text, "\"/>\n");
    for (uint32_t k = 0; k < y_ticks->n; k++) {
        const double value = tick_value(y_ticks, k);
        add_tick_text(drawing, "\" text-anchor=\"end\"", drawing->left - 7, y_of(drawing, value) + 4, value);
    }
    for (uint32_t k = 0; k < x_ticks->n; k++) {
        const double value = tick_value(x_ticks, k);
        add_tick_text(drawing, "\" text-anchor=\"middle\"", x_of(drawing, value), bottom + 17, value);
    }
}

static void add_stroke(Text *text, uint32_t s)
{
    text_format(text, " stroke=\"%s\"", PALETTE[s % COLOURS]);
    const char *dash = DASHES[s / COLOURS % 4];
    if (dash[0])
        text_format(text, " stroke-dasharray=\"%s\"", dash);
}

/* Two paths: the lines, and the jumps between them. */
static void add_series(Drawing *drawing, const PlotSeries *series, uint32_t s)
{
    const Trace trace = trace_series(series, drawing->times, (uint32_t)drawing->width, drawing->arena);
    Text lines = { .arena = drawing->arena }, jumps = { .arena = drawing->arena };
    text_add(&lines, "");
    text_add(&jumps, "");
    for (uint32_t i = 0; i < trace.n; i++) {
        const double x = x_of(drawing, trace.at[i].x), y = y_of(drawing, trace.at[i].y);
        const bool is_alone = trace.at[i].link != LINK_LINE && (i + 1 == trace.n || trace.at[i + 1].link != LINK_LINE);
        if (trace.at[i].link == LINK_JUMP) {
            add_point(&jumps, 'M', x_of(drawing, trace.at[i - 1].x), y_of(drawing, trace.at[i - 1].y));
            add_point(&jumps, 'L', x, y);
        }
        add_point(&lines, trace.at[i].link == LINK_LINE ? 'L' : 'M', x, y);
        if (is_alone)
            text_add(&lines, "h0"); /* with round ends a line without length is a dot */
    }
    Text *text = &drawing->text;
    if (jumps.n > 0) {
        text_format(text, "<path class=\"jump\" stroke=\"%s\" d=\"%s\"/>\n", PALETTE[s % COLOURS], jumps.at);
    }
    text_add(text, "<path class=\"line\"");
    add_stroke(text, s);
    text_format(text, " d=\"");
    text_bytes(text, lines.at, lines.n);
    text_add(text, "\"/>\n");
}

/* Places the names from `left` on, in as many lines as needed; returns their height. Draws only when asked. */
static double legend(Drawing *drawing, const PlotPane *pane, double left, double right, double top, bool is_drawn)
{
    double x = left, y = top + LEGEND_LINE / 2.0;
    Text *text = &drawing->text;
    for (uint32_t s = 0; s < pane->n_series; s++) {
        const char *name = pane->series[s].name;
        const double width = LEGEND_MARK + LETTER_WIDTH * plot_name_width(plot_name(name, drawing->arena));
        if (x > left && x + width > right) {
            x = left;
            y += LEGEND_LINE;
        }
        if (is_drawn) {
            text_add(text, "<path class=\"line\"");
            add_stroke(text, s);
            text_add(text, " d=\"");
            add_point(text, 'M', x, y);
            text_add(text, "h18\"/>\n");
            add_text(drawing, "\"", x + LEGEND_MARK - 2, y + 4, name);
        }
        x += width + LEGEND_GAP;
    }
    return y + LEGEND_LINE / 2.0 - top;
}

static double widest_label(const Ticks *ticks)
{
    size_t widest = 1;
    for (uint32_t k = 0; k < ticks->n; k++) {
        char digits[REAL_TEXT_SIZE];
        const size_t n = real_to_text(tick_value(ticks, k), digits);
        widest = n > widest ? n : widest;
    }
    return DIGIT_WIDTH * (double)widest;
}

/* The padded range of a pane and its ticks; false: there is nothing to plot. */
static bool scale_values(const PlotPane *pane, double height, Range *values, Ticks *ticks)
{
    if (!value_range(pane, values))
        return false;
    const double padding = PADDING * (values->high - values->low);
    values->low -= padding;
    values->high += padding;
    *ticks = ticks_inside(*values, (uint32_t)(height / 50) + 2);
    return true;
}

/* Room for the labels on the left, the same for all panes so that their time axes agree. */
static double left_edge(const PlotPane *panes, uint32_t n_panes, double height)
{
    double widest = 0;
    for (uint32_t p = 0; p < n_panes; p++) {
        Range values;
        Ticks ticks;
        if (scale_values(&panes[p], height, &values, &ticks))
            widest = fmax(widest, widest_label(&ticks));
    }
    return round(MARGIN + widest + 8);
}

static Ticks time_ticks(const Drawing *drawing)
{
    uint32_t most = (uint32_t)(drawing->width / 80) + 2;
    Ticks ticks = ticks_inside(drawing->times, most);
    while (most > 2 && (widest_label(&ticks) + 16) * ticks.n > drawing->width)
        ticks = ticks_inside(drawing->times, --most);
    return ticks;
}

static void add_pane(Drawing *drawing, const PlotPane *pane, const char *x_label, double top, double bottom)
{
    const bool has_title = pane->title && pane->title[0];
    const double right = drawing->left + drawing->width;
    Ticks y_ticks;
    if (has_title)
        add_text(drawing, " title\"", MARGIN, top + MARGIN + 6, pane->title);
    if (!time_range(pane, &drawing->times) || !scale_values(pane, bottom - top, &drawing->values, &y_ticks)) {
        add_text(drawing, "\"", MARGIN, (top + bottom) / 2, "there is nothing to plot");
        return;
    }
    const double legend_top = top + MARGIN / 2.0 + (has_title ? TITLE : 0);
    drawing->top = round(legend_top + legend(drawing, pane, drawing->left, right, legend_top, false) + 6);
    drawing->height = fmax(40, bottom - AXIS - drawing->top);
    const Ticks x_ticks = time_ticks(drawing);
    add_grid(drawing, &x_ticks, &y_ticks);
    for (uint32_t s = pane->n_series; s-- > 0;) /* the first one lies on top */
        add_series(drawing, &pane->series[s], s);
    legend(drawing, pane, drawing->left, right, legend_top, true);
    add_text(drawing, "\" text-anchor=\"middle\"", drawing->left + drawing->width / 2,
             drawing->top + drawing->height + 33, x_label);
}

Text plot_svg(const PlotPane *panes, uint32_t n_panes, const PlotOptions *options, Arena *arena)
{
    Drawing drawing = { .text = { .arena = arena }, .arena = arena };
    const uint32_t width = options->width == 0 ? 900 : options->width < 200 ? 200 : options->width;
    const uint32_t height = options->height == 0 ? 360 : options->height < 120 ? 120 : options->height;
    const uint32_t n = n_panes ? n_panes : 1;
    drawing.left = left_edge(panes, n_panes, height);
    drawing.width = fmax(40, width - drawing.left - MARGIN - 8);
    text_format(&drawing.text,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n", width,
                height * n, width, height * n);
    text_add(&drawing.text, STYLE);
    text_add(&drawing.text, "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n");
    for (uint32_t p = 0; p < n_panes; p++)
        add_pane(&drawing, &panes[p], options->x_label ? options->x_label : "time", (double)p * height,
                 (double)(p + 1) * height);
    text_add(&drawing.text, "</svg>\n");
    return drawing.text;
}
