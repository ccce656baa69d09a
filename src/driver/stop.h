/* The condition that ends a run, as text: "h < 0.1 and time > 5". */
#ifndef DRIVER_STOP_H
#define DRIVER_STOP_H

#include "base/diag.h"
#include "ir/model.h"
#include "koine/model.h"

/* Adds an event to the model that ends the run where the condition becomes true. False: reported; messages show the
 * text itself, and `span` as the place that says it. */
bool stop_read(Model *model, Sources *sources, const char *text, Span span, Diag *diag);
/* Whether a run that stopped there was ended by such a condition, and not by its model. */
bool stop_is_place(const KoineTables *tables, const KoinePlace *place);

#endif
