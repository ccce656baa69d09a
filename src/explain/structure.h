/* The structure of a model: components, what they sense and offer, and what is connected; as a text and as a
 * picture. */
#ifndef EXPLAIN_STRUCTURE_H
#define EXPLAIN_STRUCTURE_H

#include "base/text.h"
#include "formats/diagram.h"
#include "ir/model.h"

/* Components down to `depth` levels below the top; their number in *n. */
DiagramBox *structure_diagram(const Model *model, uint32_t depth, uint32_t *n, Arena *arena);
/* The same as SVG of at most `most` boxes: false if there are more; their number in *n. */
bool structure_svg(const Model *model, uint32_t depth, uint32_t most, Arena *arena, uint32_t *n, Text *to);
/* An indented tree of components with their sensors and where they come from, and outputs and where they go to. */
void structure_text(const Model *model, uint32_t depth, Text *to);

#endif
