/* What a loaded model has and does not need: no mistakes, but often the traces of one. */
#ifndef EXPLAIN_HINTS_H
#define EXPLAIN_HINTS_H

#include "base/text.h"
#include "ir/model.h"

/* Of components of SIMPLEX-MDL: constants and sensors that nothing reads, open sensors of parts, states that nothing
 * changes. Nothing is written where there are none; as JSON then an empty list. */
void hints_text(const Model *model, Text *to);
void hints_json(const Model *model, Text *to);

#endif
