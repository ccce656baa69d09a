/* Reading the text form of a Model; docs/ir.md describes it, print.h writes it.
 *
 * Elements may stand in any order and use names that are declared later. Classes are read once and
 * composed for each instance. Several mistakes are reported in one go: after a mistake reading goes
 * on with the next line. Time and memory are linear in the size of the text. */
#ifndef IR_READ_H
#define IR_READ_H

#include "base/diag.h"
#include "ir/model.h"

/* Whether the text begins as the text form does (comments and blank lines aside). */
bool is_text_form(const char *text, size_t size);

/* The model in `source`; its names and expressions go into the pool, sources it names are added to `sources` (blank
 * text with the lines and columns that occur, unless the path is there already). NULL: already reported. */
Model *model_read(Pool *pool, Sources *sources, uint32_t source, Diag *diag);

/* A condition about the model, which is all of `source`. False: already reported. */
bool condition_read(Model *model, Sources *sources, uint32_t source, Diag *diag, Term *condition);

#endif
