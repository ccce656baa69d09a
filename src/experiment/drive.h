/* Inputs that follow signals: a model around a model.
 *
 * The signals are the columns of a table over time, by the names of the open inputs. A continuous input moves on
 * straight lines between the rows, any other one holds its value until the next row. Before the first row its values
 * hold, after the last one those of the last. Two rows of equal time are a jump. Every row at which a held value or a
 * slope changes is a time event: nothing is missed between the steps of a solver. */
#ifndef EXPERIMENT_DRIVE_H
#define EXPERIMENT_DRIVE_H

#include "base/diag.h"
#include "formats/series.h"
#include "koine/model.h"

typedef struct Drive Drive;

/* Compares the columns with the inputs of the model; of a native result (series_lazy) only those that have the name of
 * an input are read. NULL: reported. `path` and `span` are for messages. */
Drive *drive_create(const Series *signals, const KoineTables *tables, const char *path, Span span, Arena *arena,
                    Diag *diag);
/* The model with the inputs driven; it is used instead of `model`, which stays the caller's and must live as long. */
KoineModel *drive_model(Drive *drive, KoineModel *model);

#endif
