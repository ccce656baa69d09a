/* Diagrams as SVG; see diagram.h. */
#include "formats/diagram.h"
#include <math.h>

enum { MARGIN = 24, PORT = 9, CORNER = 6 };

static const char STYLE[] =
    "<style>\n"
    "svg { font: 11px system-ui, 'DejaVu Sans', sans-serif; }\n"
    ".back { fill: #ffffff; } .frame { fill: #f6f8fa; stroke: #b9c2cc; } g g .frame { fill: #edf1f5; }\n"
    "g g g .frame { fill: #f6f8fa; }\n"
    ".box { fill: #ffffff; stroke: #5b6b7c; stroke-width: 1.3; } .rule { stroke: #d9dfe5; }\n"
    ".name { font-size: 14px; font-weight: 600; fill: #1f2933; } .note { fill: #6b7885; } .label { fill: #3c4854; }\n"
    ".wire { fill: none; stroke: #2f6f9f; stroke-width: 1.5; } .tip, .joint { fill: #2f6f9f; }\n"
    ".output { fill: #1f2933; stroke: #1f2933; } .input { fill: #ffffff; stroke: #1f2933; stroke-width: 1.3; }\n"
    "@media (prefers-color-scheme: dark) { .back { fill: #16181b; } .frame { fill: #1d2024; stroke: #4a535d; }\n"
    "  g g .frame { fill: #23272c; } g g g .frame { fill: #1d2024; }\n"
    "  .box { fill: #262a30; stroke: #8794a2; } .rule { stroke: #3a4149; } .name { fill: #e8ecf0; }\n"
    "  .note { fill: #9aa6b2; } .label { fill: #c8d0d8; } .wire { stroke: #6bb3e0; } .tip, .joint { fill: #6bb3e0; }\n"
    "  .output { fill: #e8ecf0; stroke: #e8ecf0; } .input { fill: #16181b; stroke: #e8ecf0; } }\n"
    "</style>\n";

/* name="value"; printf would follow the locale. */
static void add_number(Text *text, const char *name, double value)
{
    text_format(text, " %s=\"", name);
    text_real(text, round(value * 100) / 100);
    text_char(text, '"');
}

typedef struct {
    double x, y, width, height, radius; /* radius: of the corners */
} Rectangle;

static void add_rectangle(Text *text, const char *class, const Rectangle *r)
{
    text_format(text, "<rect class=\"%s\"", class);
    add_number(text, "x", r->x);
    add_number(text, "y", r->y);
    add_number(text, "width", r->width);
    add_number(text, "height", r->height);
    if (r->radius > 0)
        add_number(text, "rx", r->radius);
    text_add(text, "/>\n");
}

static void add_label(Text *text, const char *class, const char *anchor, double x, double y, const char *label)
{
    if (!label[0])
        return;
    text_format(text, "<text class=\"%s\" text-anchor=\"%s\"", class, anchor);
    add_number(text, "x", x);
    add_number(text, "y", y);
    text_char(text, '>');
    text_xml(text, label);
    text_add(text, "</text>\n");
}

static void add_pair(Text *text, const char *command, double x, double y)
{
    text_add(text, command);
    text_real(text, round(x * 100) / 100);
    text_char(text, ' ');
    text_real(text, round(y * 100) / 100);
}

/* ---- wires ---- */
static double distance(DiagramPoint a, DiagramPoint b)
{
    return fabs(a.x - b.x) + fabs(a.y - b.y);
}

static DiagramPoint towards(DiagramPoint from, DiagramPoint to, double by)
{
    const double d = distance(from, to);
    if (d == 0)
        return from;
    return (DiagramPoint){ from.x + (to.x - from.x) * by / d, from.y + (to.y - from.y) * by / d };
}

static void add_wire(Text *text, const DiagramWire *wire, double x, double y)
{
    const DiagramPoint *p = wire->points.at;
    const uint32_t n = wire->points.n;
    if (n < 2)
        return;
    text_add(text, "<path class=\"wire\" d=\"");
    add_pair(text, "M", x + p[0].x + PORT / 2.0, y + p[0].y);
    for (uint32_t k = 1; k + 1 < n; k++) {
        const double r = fmin(CORNER, fmin(distance(p[k - 1], p[k]), distance(p[k], p[k + 1])) / 2);
        const DiagramPoint a = towards(p[k], p[k - 1], r), b = towards(p[k], p[k + 1], r);
        add_pair(text, "L", x + a.x, y + a.y);
        add_pair(text, "Q", x + p[k].x, y + p[k].y);
        add_pair(text, " ", x + b.x, y + b.y);
    }
    const double end = x + p[n - 1].x - PORT / 2.0 - 1;
    add_pair(text, "L", end - 5, y + p[n - 1].y);
    text_add(text, "\"/>\n<path class=\"tip\" d=\"");
    add_pair(text, "M", end, y + p[n - 1].y);
    add_pair(text, "l", -8, -4);
    add_pair(text, "l", 0, 8);
    text_add(text, "z\"/>\n");
}

/* ---- boxes ---- */
/* Outputs stand on the right side of a box, inputs on the left one. */
static void add_ports(Text *text, const DiagramBox *box, double x, double y, bool is_output)
{
    const DiagramPort *ports = is_output ? box->outputs : box->inputs;
    const uint32_t n = is_output ? box->n_outputs : box->n_inputs;
    const bool is_frame = box->n_children > 0;
    const double border = is_output ? x + box->width : x;
    for (uint32_t k = 0; k < n; k++) {
        const double at = y + ports[k].y, side = is_output ? -1 : 1;
        add_rectangle(text, is_output ? "output" : "input",
                      &(Rectangle){ border - PORT / 2.0, at - PORT / 2.0, PORT, PORT, 0 });
        add_label(text, "label", is_output ? "end" : "start", border + side * 9, at + (is_frame ? -7 : 4),
                  ports[k].label);
    }
}

static void add_box(Text *text, const DiagramBox *box, double x, double y)
{
    const bool is_frame = box->n_children > 0;
    text_add(text, "<g>\n");
    add_rectangle(text, is_frame ? "frame" : "box", &(Rectangle){ x, y, box->width, box->height, is_frame ? 8 : 5 });
    if (is_frame) {
        add_label(text, "name", "start", x + 14, y + 24, box->name);
        add_label(text, "note", "end", x + box->width - 14, y + 24, box->note);
    } else {
        add_label(text, "name", "middle", x + box->width / 2, y + (box->note[0] ? 19 : 26), box->name);
        add_label(text, "note", "middle", x + box->width / 2, y + 34, box->note);
        if (box->n_inputs + box->n_outputs > 0) {
            text_add(text, "<path class=\"rule\" d=\"");
            add_pair(text, "M", x + 1, y + 42);
            add_pair(text, "l", box->width - 2, 0);
            text_add(text, "\"/>\n");
        }
    }
    for (uint32_t k = 0; k < box->n_children; k++)
        add_box(text, &box->children[k], x + box->children[k].x, y + box->children[k].y);
    for (uint32_t k = 0; k < box->n_wires; k++)
        add_wire(text, &box->wires[k], x, y);
    for (uint32_t k = 0; k < box->joints.n; k++) {
        text_add(text, "<circle class=\"joint\" r=\"2.8\"");
        add_number(text, "cx", x + box->joints.at[k].x);
        add_number(text, "cy", y + box->joints.at[k].y);
        text_add(text, "/>\n");
    }
    add_ports(text, box, x, y, false);
    add_ports(text, box, x, y, true);
    text_add(text, "</g>\n");
}

Text diagram_svg(const DiagramBox *box, Arena *arena)
{
    Text text = { .arena = arena };
    const double width = ceil(box->width) + 2 * MARGIN, height = ceil(box->height) + 2 * MARGIN;
    text_add(&text, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    add_number(&text, "width", width);
    add_number(&text, "height", height);
    text_add(&text, " viewBox=\"0 0 ");
    text_real(&text, width);
    text_char(&text, ' ');
    text_real(&text, height);
    text_add(&text, "\">\n<title>");
    text_xml(&text, box->name);
    text_add(&text, "</title>\n");
    text_add(&text, STYLE);
    add_rectangle(&text, "back", &(Rectangle){ 0, 0, width, height, 0 });
    add_box(&text, box, MARGIN, MARGIN);
    text_add(&text, "</svg>\n");
    return text;
}
