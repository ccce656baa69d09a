/* Lists about a loaded model for people and programs: its quantities, its classes, and its text with messages. */
#ifndef EXPLAIN_SYMBOLS_H
#define EXPLAIN_SYMBOLS_H

#include "base/diag.h"
#include "base/text.h"
#include "ir/model.h"

/* Every quantity that can be named: path, use, time course, value set, start value, unit; a continuous state has a
 * second row for its derivative, X'. */
void symbols_text(const Model *model, Text *to);
void symbols_json(const Model *model, Text *to); /* an array of objects */
/* The classes a model is made of: name, number of components, file. */
void classes_text(const Model *model, Text *to);
void classes_json(const Model *model, Text *to);

typedef struct {
    bool has_numbers, has_no_messages, drops_earlier; /* lines that begin with $ in the text */
} ListingStyle;
/* The text of a source; below a line the messages about it, as lines that begin with $ (which SIMPLEX-MDL ignores). */
void listing(const Sources *sources, uint32_t source, const Diag *diag, ListingStyle style, Text *to);

typedef enum { LIST_SYMBOLS, LIST_CLASSES, LIST_HINTS } ListKind;
/* One of these lists, or that of hints.h. */
void model_list(const Model *model, ListKind kind, bool is_json, Text *to);

#endif
