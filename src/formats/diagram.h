/* Diagrams of boxes with ports and wires, boxes inside boxes; laid out here and written as SVG.
 *
 * Flow is from left to right: inputs are on the left side of a box, outputs on the right. Boxes stand in columns, wires
 * run in the channels between columns and, where they pass a column, in lanes of their own: no wire crosses a box and
 * no two boxes overlap. */
#ifndef FORMATS_DIAGRAM_H
#define FORMATS_DIAGRAM_H

#include "base/text.h"
#include "base/vec.h"

typedef struct {
    double x, y;
} DiagramPoint;

typedef struct {
    const char *label;
    double y; /* of its middle, from the top of its box; made by the layout */
} DiagramPort;

#define DIAGRAM_FRAME                                                                                                  \
    UINT32_MAX /* as an end of a wire: the box around; one of its inputs as a source, outputs as a target */

typedef struct {
    uint32_t from, from_port, to, to_port; /* children and positions of their outputs and inputs */
    VEC(DiagramPoint) points;              /* made by the layout */
} DiagramWire;

typedef struct DiagramBox DiagramBox;
struct DiagramBox {
    const char *name, *note;
    uint32_t n_inputs, n_outputs, n_children, n_wires;
    DiagramPort *inputs, *outputs; /* hollow and filled */
    DiagramBox *children;
    DiagramWire *wires;
    VEC(DiagramPoint) joints;   /* where wires fork; made by the layout */
    double x, y, width, height; /* from the corner of the box around; made by the layout */
};

void diagram_layout(DiagramBox *box, Arena *arena);
/* A self-contained document of a box that was laid out; colours follow the reader's light or dark preference. */
Text diagram_svg(const DiagramBox *box, Arena *arena);
double diagram_text_width(const char *text, double size);

#endif
