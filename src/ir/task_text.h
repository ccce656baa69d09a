/* The task of a run, as text: "steady", "start steady", or a list like "unknown u, known der(v) = 2". */
#ifndef IR_TASK_TEXT_H
#define IR_TASK_TEXT_H

#include "base/diag.h"
#include "ir/model.h"

/* Adds what the text says to model->tasks. False: reported, at `span`. */
bool task_read(Model *model, const char *text, Span span, Diag *diag);

#endif
